"""The command line. Parses, calls, prints; no logic."""

from kakurenbo.cli.main import VERBS, command_line, main

__all__ = ["VERBS", "command_line", "main"]
