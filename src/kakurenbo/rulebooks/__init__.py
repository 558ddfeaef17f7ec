"""The rules of four contests."""
