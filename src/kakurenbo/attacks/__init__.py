"""Attacks: from what the rules give an attacker to a guess at the secret; one folder per family of
knowledge and guess.
"""
