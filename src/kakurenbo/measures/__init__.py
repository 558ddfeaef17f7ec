"""How much of the original a release keeps, and what it claims to protect: functions of (original, released)."""
