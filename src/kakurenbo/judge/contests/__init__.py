"""Contests: rounds, phases, teams, schedules, quotas, and who may do what."""
