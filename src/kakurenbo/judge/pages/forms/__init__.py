"""What people fill in; rules decide about it."""
