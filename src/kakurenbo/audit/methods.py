"""The methods that make a release of any table, by name: which there are, what each takes, and whether it fits a table."""

from __future__ import annotations

from kakurenbo.audit.anonymizing import PROBE, misfit
from kakurenbo.audit.frames import Frame
from kakurenbo.audit.schema import TableSchema
from kakurenbo.contest import Anonymizer, rulebooks_for
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import text
from kakurenbo.methods import registry
from kakurenbo.methods.parameters import make, parameters_of

_GROUP = "anonymizers"
_COLUMNS = "columns"  # the parameter by which methods are told which columns they are about


def table_methods() -> tuple[str, ...]:
    """Names of the anonymizers that take numbers and words, sorted; others are made for the data of one contest."""
    return tuple(
        name for name in registry.names(_GROUP) if registry.load(_GROUP, name).accepts(PROBE)
    )


def load_table_method(name: str) -> type[Anonymizer]:
    """The class of a method for tables.

    Raises
    ------
    UsageError
        Where there is none of this name, with the names that there are.
    """
    if name in registry.names(_GROUP):
        cls: type[Anonymizer] = registry.load(_GROUP, name)
        if cls.accepts(PROBE):
            return cls
        shown = {"method": name, "rulebooks": rulebooks_for(cls), "methods": table_methods()}
        raise UsageError("usage.no_table_method", **shown)
    known = table_methods()
    if near := registry.nearest_name(name, known):
        raise UsageError("usage.near_table_method", method=name, near=near, methods=known)
    raise UsageError("usage.unknown_table_method", method=name, methods=known)


def build_table_method(told: str) -> Anonymizer:
    """A method for tables with its parameters, from ``NAME:param=value,...``.

    Raises
    ------
    UsageError
        Where there is no such method, or it has no such parameter, with those that it has.
    ParameterError
        Where a value is not what a parameter takes.
    """
    name, given = registry.name_of(told), registry.settings_of(told)
    cls = load_table_method(name)
    known = parameters_of(cls)
    for wrong in given:
        if wrong not in [one.name for one in known]:
            takes = [
                text("usage.takes", parameter=one.name, expectation=one.expectation)
                for one in known
            ]
            code = "usage.method_parameter" if known else "usage.method_without_parameters"
            raise UsageError(code, method=name, parameter=wrong, takes="; ".join(takes))
    return make(cls, given)


def check_fit(frame: Frame, schema: TableSchema, method: Anonymizer) -> None:
    """Raise :class:`UsageError` where a method cannot run on this machine or on this table, with what to do about it."""
    if lacking := method.lacking():
        raise UsageError(lacking)
    reason = misfit(frame, schema, method)
    if not reason:
        return
    # Defaults of some methods name columns of the contest that they come from.
    own = _COLUMNS in {one.name for one in parameters_of(type(method))} - method.given
    code = "usage.table_misfit_columns" if own else "usage.table_misfit"
    raise UsageError(code, file=frame.name, reason=reason)
