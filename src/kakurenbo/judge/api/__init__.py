"""The API under ``/api/v1``: thin routes over rules and queries; ``app.api`` is mounted by the address book of ``serve``."""
