"""People: accounts, tokens, sessions."""
