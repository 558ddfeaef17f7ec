"""Attacks on pwscup2024: who a row of ratings belongs to, and which rating is hidden in it."""
