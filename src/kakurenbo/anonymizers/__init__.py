"""Methods that make releases."""
