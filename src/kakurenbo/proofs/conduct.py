"""Was a contest held by its own rules: the order, times and limits of what its log tells, entry by entry."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from kakurenbo.contest import ANONYMIZE
from kakurenbo.proofs.archive import LOG, LogFile, SubmissionRow
from kakurenbo.proofs.differences import Difference
from kakurenbo.proofs.ledger import PHASE_STATES, Ledger
from kakurenbo.proofs.quotas import Quota

Entry = Mapping[str, Any]
Key = tuple[str, str]
"""A phase: its round, and its kind."""
_RECEIVED, _CHOSEN = "submission.received", "submission.chosen"
_CLOCKS = timedelta(seconds=2)
"""So far the clocks of the processes that hold a contest may be apart."""
_BEFORE = {"phase.opened": "waiting", "phase.closed": "open", "phase.sealed": "sealing"}
_AFTER_THE_END = frozenset(
    {
        "submission.judged",
        "submission.withdrawn",
        "target.sealed",
        "announcement.made",
        "member.joined",
        "job.parked",
        "job.rerun",
        "rejudging.asked",
        "rejudging.applied",
        "rejudging.cancelled",
        "standings.final",
    }
)
"""What may still happen when a contest is over: work that was under way or is done again, and words."""


def check_conduct(entries: Sequence[Entry], log: LogFile) -> None:
    """Hold what a log tells against the schedule and the limits that it tells.

    A rehearsal goes at its own pace: of it the order is checked, and no time.

    Raises
    ------
    Difference
        For the first entry that the rules of the contest did not allow.
    """
    course = _Course()
    for entry in entries:
        try:
            course.go_on(entry)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise Difference("verification.bad_entry", LOG, _name(entry)) from None
    for entry, earlier in _tries(entries):
        quota = _quota(course.phases, course.zone, entry)
        moments = [one.received_at for one in earlier]
        if quota.left(moments, _received_at(entry)).exhausted:
            raise Difference(
                "verification.too_many_tries", LOG, _name(entry), len(moments) + 1, _limits(quota)
            )
    _check_signing_times(entries, log)


def check_tries_on_targets(
    entries: Sequence[Entry], ledger: Ledger, rows: Sequence[SubmissionRow]
) -> None:
    """Whether nobody tried a target of a round more often than allowed; ``rows`` is what was handed in for it."""
    known = {row.id: row for row in rows}
    for entry, earlier in _tries(entries):
        body = entry["body"]
        if body["submission"] not in known:
            continue
        quota = _quota(ledger.phases, str(ledger.made["zone"]), entry)
        tries: Counter[str] = Counter()
        for one in earlier:
            tries.update(one.targets(known[one.id]) or [""])
        named = [file.target for file in known[body["submission"]].files if file.target]
        for target in quota.exceeded_on(tries, named):
            here = tries[target] + (tries[""] if target else 0) + max(1, named.count(target))
            what = f"{_name(entry)}, target {target}" if target else _name(entry)
            raise Difference("verification.too_many_tries", LOG, what, here, quota.per_target)


# -- order and times -------------------------------------------------------------------------------------------------------


@dataclass
class _Course:
    """Where a contest is, as far as its log was read."""

    zone: str = ""
    rehearsal: bool = False
    made: bool = False
    ended: bool = False
    rejudging: Mapping[str, Any] = field(default_factory=dict)
    """The one that is being put into effect, of which so many entries are still to come."""
    still_to_come: int = 0
    last: datetime | None = None
    prepared: set[str] = field(default_factory=set)
    phases: dict[Key, dict[str, Any]] = field(default_factory=dict)
    out: set[Key] = field(default_factory=set)
    """Rounds and teams that were disqualified in them."""

    def go_on(self, entry: Entry) -> None:
        kind, at = entry["kind"], _moment(entry["at"])
        if self.last is not None and at < self.last:
            raise Difference(
                "verification.time_goes_back", LOG, _name(entry), entry["at"], self.last.isoformat()
            )
        self.last = at
        if self.ended and kind not in _AFTER_THE_END:
            raise Difference("verification.after_the_end", LOG, _name(entry), kind)
        if not self.made and kind != "contest.made":
            raise Difference("verification.out_of_order", LOG, _name(entry), kind, "contest.made")
        self._check_rejudged(entry)
        step = _STEPS.get(kind)
        if step is not None:
            step(self, entry)

    def _check_rejudged(self, entry: Entry) -> None:
        """The judgings of a rejudging follow it at once, as many as it says, and there are no others of it."""
        kind, body = entry["kind"], entry["body"]
        of = body.get("rejudging") if kind == "submission.judged" else None
        if (of is not None or self.still_to_come) and (
            not self.still_to_come or of != self.rejudging["rejudging"]
        ):
            raise Difference("verification.out_of_order", LOG, _name(entry), kind)
        self.still_to_come -= of is not None

    def _apply(self, entry: Entry) -> None:
        self.rejudging, self.still_to_come = entry["body"], int(entry["body"]["entries"])

    def _make(self, entry: Entry) -> None:
        if self.made:
            raise Difference("verification.out_of_order", LOG, _name(entry), entry["kind"])
        body = entry["body"]
        self.made, self.zone, self.rehearsal = True, body["zone"], bool(body["rehearsal"])
        self.phases = {
            (one["round"], one["phase"]): {**one, "state": "waiting"} for one in body["phases"]
        }

    def _prepare(self, entry: Entry) -> None:
        name = entry["body"]["round"]
        if name in self.prepared:
            raise Difference("verification.out_of_order", LOG, _name(entry), entry["kind"])
        self.prepared.add(name)

    def _reschedule(self, entry: Entry) -> None:
        self._phase(entry).update({name: entry["body"][name] for name in ("opens_at", "closes_at")})

    def _turn(self, entry: Entry) -> None:
        phase, kind = self._phase(entry), entry["kind"]
        if phase["state"] != _BEFORE[kind] or (
            kind == "phase.opened" and not self._may_open(phase)
        ):
            raise Difference("verification.out_of_order", LOG, _name(entry), kind)
        due = {"phase.opened": "opens_at", "phase.closed": "closes_at"}.get(kind)
        if (
            due is not None
            and not self.rehearsal
            and _moment(entry["at"]) + _CLOCKS < _moment(phase[due])
        ):
            raise Difference(
                "verification.before_its_time", LOG, _name(entry), entry["at"], phase[due]
            )
        phase["state"] = PHASE_STATES[kind]

    def _may_open(self, phase: Mapping[str, Any]) -> bool:
        """A phase opens with data, and after those before it."""
        same = [one for one in self.phases.values() if one["round"] == phase["round"]]
        earlier = [one for one in same if _moment(one["opens_at"]) < _moment(phase["opens_at"])]
        return phase["round"] in self.prepared and all(one["state"] == "closed" for one in earlier)

    def _decide(self, entry: Entry) -> None:
        key = (entry["body"]["round"], entry["body"]["team"])
        (self.out.discard if entry["kind"] == "entry.reinstated" else self.out.add)(key)

    def _seal(self, entry: Entry) -> None:
        if self.phases[entry["body"]["round"], ANONYMIZE]["state"] not in ("sealing", "closed"):
            raise Difference("verification.sealed_too_early", LOG, _name(entry))

    def _play(self, entry: Entry) -> None:
        """Something is handed in, or chosen: by a team that takes part, in a phase that is open."""
        body, phase = entry["body"], self._phase(entry)
        at = _received_at(entry) if entry["kind"] == _RECEIVED else _moment(body["at"])
        if (body["round"], body["team"]) in self.out:
            raise Difference(
                "verification.received_of_disqualified", LOG, _name(entry), body["team"]
            )
        times = {"here": at.isoformat(), "should_be": f"{phase['opens_at']} – {phase['closes_at']}"}
        late = not self.rehearsal and at >= _moment(phase["closes_at"])
        early = not self.rehearsal and at < _moment(phase["opens_at"])
        if late or phase["state"] in ("sealing", "closed"):
            raise Difference("verification.received_late", LOG, _name(entry), **times)
        if early or phase["state"] == "waiting":
            raise Difference("verification.received_early", LOG, _name(entry), **times)
        if at > _moment(entry["at"]) + _CLOCKS:
            raise Difference(
                "verification.before_its_time", LOG, _name(entry), entry["at"], at.isoformat()
            )

    def _end(self, entry: Entry) -> None:
        if any(phase["state"] != "closed" for phase in self.phases.values()):
            raise Difference("verification.out_of_order", LOG, _name(entry), entry["kind"])
        self.ended = True

    def _phase(self, entry: Entry) -> dict[str, Any]:
        return self.phases[entry["body"]["round"], entry["body"]["phase"]]


_STEPS: Mapping[str, Callable[[_Course, Entry], None]] = {
    "contest.made": _Course._make,
    "round.prepared": _Course._prepare,
    "phase.rescheduled": _Course._reschedule,
    **dict.fromkeys(_BEFORE, _Course._turn),
    **dict.fromkeys(("entry.disqualified", "entry.reinstated"), _Course._decide),
    **dict.fromkeys((_RECEIVED, _CHOSEN), _Course._play),
    "target.sealed": _Course._seal,
    "rejudging.applied": _Course._apply,
    "contest.ended": _Course._end,
}


def _check_signing_times(entries: Sequence[Entry], log: LogFile) -> None:
    """Nothing is signed before it happened."""
    for signed in log.checkpoints:
        last = entries[signed.size - 1]["at"] if signed.size else signed.at
        try:
            early = _moment(signed.at) + _CLOCKS < _moment(last)
        except ValueError:
            raise Difference(
                "verification.not_a_time", LOG, f"checkpoint {signed.size}, at", signed.at
            ) from None
        if early:
            raise Difference(
                "verification.before_its_time", LOG, f"checkpoint {signed.size}", signed.at, last
            )


# -- tries -----------------------------------------------------------------------------------------------------------------


@dataclass
class _Try:
    """A submission while the log goes on: whether it costs a try by now, and which of its judgings is in effect."""

    id: str
    received_at: datetime
    counts: bool = True
    withdrawn: bool = False
    judgings: int = 0
    judged: bool = False

    def targets(self, row: SubmissionRow) -> list[str]:
        """What it was a try on: the guesses found good; before it is judged, as the names of its files tell."""
        made = sorted(row.judgings, key=lambda one: _moment(one.made_at))
        if self.judged and "targets" in (result := made[self.judgings - 1].result):
            return [one["target"] for one in result["targets"]]
        return [file.target for file in row.files if file.target]


def _tries(entries: Sequence[Entry]) -> Iterator[tuple[Entry, list[_Try]]]:
    """Each entry that tells of a submission, with those of the same team and phase that cost a try when it came."""
    tries: dict[str, _Try] = {}
    own: dict[tuple[str, str, str], list[_Try]] = defaultdict(list)
    for entry in entries:
        kind, body = entry["kind"], entry["body"]
        if kind == _RECEIVED:
            earlier = own[body["round"], body["phase"], body["team"]]
            yield entry, [one for one in earlier if one.counts]
            tries[body["submission"]] = _Try(body["submission"], _received_at(entry))
            earlier.append(tries[body["submission"]])
        elif (one := tries.get(body.get("submission", ""))) is not None:
            if kind == "submission.withdrawn":
                one.withdrawn, one.counts = True, False
            elif kind == "submission.judged":
                one.judgings += 1
                one.judged = one.counts = body["verdict"] == "scored"
            elif kind == "job.rerun" and body["kind"] == "judge" and not one.withdrawn:
                one.judged, one.counts = False, True


def _quota(phases: Mapping[Key, Mapping[str, Any]], zone: str, entry: Entry) -> Quota:
    phase = phases[entry["body"]["round"], entry["body"]["phase"]]
    return Quota(
        phase["tries_in_all"],
        phase["tries_per_day"],
        phase["tries_per_target"],
        phase["reset_hour"],
        zone,
    )


def _limits(quota: Quota) -> str:
    told = {"tries_in_all": quota.in_all, "tries_per_day": quota.per_day}
    return ", ".join(f"{name} = {limit}" for name, limit in told.items() if limit is not None)


# -- in common -------------------------------------------------------------------------------------------------------------


def _received_at(entry: Entry) -> datetime:
    return _moment(entry["body"]["received_at"])


def _moment(told: str) -> datetime:
    """A time with an offset."""
    at = datetime.fromisoformat(told)
    if at.tzinfo is None:
        raise ValueError(told)
    return at


def _name(entry: Entry) -> str:
    return f"entry {entry['number']}"
