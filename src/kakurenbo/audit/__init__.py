"""What a planned release gives away: every attack of kakurenbo on any table, without a contest.

``kakurenbo.audit(original, release, holdout=...)`` is :func:`kakurenbo.audit.api.audit`: the package itself can be called.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Audit(ModuleType):
    """The package as a function, because the verb and the package have one name."""

    def __call__(self, *tables: Any, **options: Any) -> Any:
        from kakurenbo.audit.api import audit

        return audit(*tables, **options)


sys.modules[__name__].__class__ = _Audit
