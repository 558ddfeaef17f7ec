"""``kakurenbo`` and ``python -m kakurenbo``: from their first line on Ctrl-C ends them with its exit code, and no traceback."""

from __future__ import annotations

import os
import signal

INTERRUPTED = 130


def main() -> None:
    """Run the command line; whoever presses Ctrl-C while it is still being loaded is not shown what was being loaded."""
    signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    from kakurenbo.cli import main as run_command_line

    run_command_line()


if __name__ == "__main__":
    main()
