"""What teams hand in: bytes that never change, and which of them count."""
