"""Tournaments as resumable jobs."""

from kakurenbo.arena.plan import Job, Plan, make_plan
from kakurenbo.arena.pool import Workers, cluster, processes
from kakurenbo.arena.runner import ProgressListener, Settings, Tally
from kakurenbo.arena.store import Result
from kakurenbo.arena.teams_file import Entrant, TeamsFile, default_teams, read_teams_file, teams_of
from kakurenbo.arena.tournament import Tournament, play_tournament, stored_plan

__all__ = [
    "Entrant",
    "Job",
    "Plan",
    "ProgressListener",
    "Result",
    "Settings",
    "Tally",
    "TeamsFile",
    "Tournament",
    "Workers",
    "cluster",
    "default_teams",
    "make_plan",
    "play_tournament",
    "processes",
    "read_teams_file",
    "stored_plan",
    "teams_of",
]
