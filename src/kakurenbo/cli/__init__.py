"""Commands: parse, call, print."""

from kakurenbo.cli.main import VERBS, command_line, main

__all__ = ["VERBS", "command_line", "main"]
