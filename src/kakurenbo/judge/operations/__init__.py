"""What whoever keeps a judge running does with it as a whole: backup and restore."""
