"""Tournaments: a plan of content-hashed jobs, played on any executor, resumable, with a report at the end."""

from kakurenbo.arena.executors import Workers, cluster, processes, serial
from kakurenbo.arena.field import Entrant, Field, default_field, read_field
from kakurenbo.arena.plan import Job, Plan, make_plan
from kakurenbo.arena.running import Settings, Tally, Tell
from kakurenbo.arena.store import Result, json_bytes
from kakurenbo.arena.tournament import Tournament, hold, stored_plan

__all__ = [
    "Entrant",
    "Field",
    "Job",
    "Plan",
    "Result",
    "Settings",
    "Tally",
    "Tell",
    "Tournament",
    "Workers",
    "cluster",
    "default_field",
    "hold",
    "json_bytes",
    "make_plan",
    "processes",
    "read_field",
    "serial",
    "stored_plan",
]
