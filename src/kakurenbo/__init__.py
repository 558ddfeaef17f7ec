"""kakurenbo (かくれんぼ): contests in which teams anonymize personal data and attack each other's releases."""

__version__ = "0.1.0"
