"""Tournaments: a plan of content-hashed jobs, played by processes that share no secrets, resumable, with a report."""

from kakurenbo.arena.executors import Workers, cluster, processes
from kakurenbo.arena.plan import Job, Plan, make_plan
from kakurenbo.arena.ranges import Space, read_space
from kakurenbo.arena.running import ProgressListener, Settings, Tally
from kakurenbo.arena.store import Result
from kakurenbo.arena.teams_file import Entrant, TeamsFile, default_teams, read_teams_file, teams_of
from kakurenbo.arena.tournament import Tournament, play_tournament, stored_plan
from kakurenbo.arena.tuning import Search, Tuned, TunedLine, default_attacks, listed_attacks, tune

__all__ = [
    "Entrant",
    "Job",
    "Plan",
    "ProgressListener",
    "Result",
    "Search",
    "Settings",
    "Space",
    "Tally",
    "TeamsFile",
    "Tournament",
    "Tuned",
    "TunedLine",
    "Workers",
    "cluster",
    "default_attacks",
    "default_teams",
    "listed_attacks",
    "make_plan",
    "play_tournament",
    "processes",
    "read_space",
    "read_teams_file",
    "stored_plan",
    "teams_of",
    "tune",
]
