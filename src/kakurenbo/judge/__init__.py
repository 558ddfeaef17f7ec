"""Web platform that holds contests."""
