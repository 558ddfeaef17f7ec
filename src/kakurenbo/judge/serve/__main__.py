"""``python -m kakurenbo.judge.serve PLAN CREDENTIALS``: the supervisor in a process of its own, as which ``serve`` goes on.

The command line watches for Ctrl-C in a thread of its own and has much in memory; a supervisor wants neither.
"""

from __future__ import annotations

import os
import sys

from kakurenbo.core.errors import KakurenboError
from kakurenbo.core.messages import text
from kakurenbo.judge.operations import logs
from kakurenbo.judge.serve.credentials import Credentials
from kakurenbo.judge.serve.plan import Plan
from kakurenbo.judge.serve.processes import give_memory_back
from kakurenbo.judge.serve.supervisor import Supervisor

_DONE, _UNUSABLE = 0, 2
_PRIVATE = 0o077  # whatever the judge writes is for nobody else on the machine


def main(arguments: list[str]) -> int:
    """Serve; the exit code of the verb."""
    os.umask(_PRIVATE)
    give_memory_back()
    plan = Plan.from_text(arguments[0])
    logs.begin(plan.log)
    try:
        Supervisor(plan, Credentials.inherited(arguments[1])).run()
    except KakurenboError as error:
        print(text("cli.error", message=str(error)), file=sys.stderr)
        return _UNUSABLE
    return _DONE


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
