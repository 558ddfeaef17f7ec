"""Release audits of any table.

``kakurenbo.audit(original, release, holdout=...)`` is :func:`kakurenbo.audit.api.audit`: the package itself can be called.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from inspect import Signature


class _Audit(ModuleType):
    """The package as a function, because the verb and the package have one name."""

    def __call__(self, *tables: Any, **options: Any) -> Any:
        from kakurenbo.audit.api import audit

        return audit(*tables, **options)

    @property
    def __signature__(self) -> Signature:
        """What editors and notebooks show of the call."""
        import inspect  # takes longer to load than all the rest of this module

        from kakurenbo.audit.api import audit

        return inspect.signature(audit)


sys.modules[__name__].__class__ = _Audit
