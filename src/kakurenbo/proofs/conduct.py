"""Was a contest held by its own rules: the order, times and limits of what its log tells, entry by entry."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from kakurenbo.contest import ANONYMIZE
from kakurenbo.proofs.archive import LOG, LogFile, SubmissionRow
from kakurenbo.proofs.differences import Difference
from kakurenbo.proofs.ledger import Ledger
from kakurenbo.proofs.quotas import Quota

Entry = Mapping[str, Any]
_RECEIVED, _CHOSEN = "submission.received", "submission.chosen"
_CLOCKS = timedelta(seconds=2)
"""So far the clocks of the processes that hold a contest may be apart."""
_BEFORE = {"phase.opened": "waiting", "phase.closed": "open", "phase.sealed": "sealing"}
_SEALING = ("sealing", "closed")
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


def check_conduct(entries: Sequence[Entry], log: LogFile) -> Ledger:
    """Return what a log says happened, after checking it against the schedule and the limits in the log.

    A rehearsal goes at its own pace: of it the order is checked, and no time.

    Raises
    ------
    Difference
        For the first entry that the rules of the contest did not allow.
    """
    ledger = Ledger()
    order = _Order(ledger)
    for entry in entries:
        try:
            order.check(entry)
            ledger.add(entry)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise Difference("verification.bad_entry", LOG, _name(entry)) from None
    for entry, earlier in _tries(entries):
        quota = _quota(ledger, entry)
        moments = [submission.received_at for submission in earlier]
        if quota.left(moments, _received_at(entry)).exhausted:
            count = len(moments) + 1
            raise Difference(
                "verification.too_many_tries", LOG, _name(entry), count, _limits(quota)
            )
    _check_signing_times(entries, log)
    return ledger


def check_tries_on_targets(
    entries: Sequence[Entry], ledger: Ledger, rows: Sequence[SubmissionRow]
) -> None:
    """Whether nobody tried a target of a round more often than allowed; ``rows`` is what was handed in for it."""
    known = {row.id: row for row in rows}
    for entry, earlier in _tries(entries):
        body = entry["body"]
        if body["submission"] not in known:
            continue
        quota = _quota(ledger, entry)
        tries: Counter[str] = Counter()
        for one in earlier:
            tries.update(one.targets(known[one.id]) or [""])
        named = [file.target for file in known[body["submission"]].files if file.target]
        for target in quota.exceeded_on(tries, named):
            here = tries[target] + (tries[""] if target else 0) + max(1, named.count(target))
            what = f"{_name(entry)}, target {target}" if target else _name(entry)
            raise Difference("verification.too_many_tries", LOG, what, here, quota.per_target)


# -- order and times -------------------------------------------------------------------------------------------------------


class _Order:
    """Checks an entry against what the ledger holds of those before it."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._last: datetime | None = None
        # The rejudging that is being put into effect, and how many of its judgings are still to come.
        self._rejudging: Mapping[str, Any] = {}
        self._judgings_to_come = 0

    def check(self, entry: Entry) -> None:
        kind, at = entry["kind"], _moment(entry["at"])
        if self._last is not None and at < self._last:
            before = self._last.isoformat()
            raise Difference("verification.time_goes_back", LOG, _name(entry), entry["at"], before)
        self._last = at
        if self._ledger.ended_at is not None and kind not in _AFTER_THE_END:
            raise Difference("verification.after_the_end", LOG, _name(entry), kind)
        if not self._ledger.made and kind != "contest.made":
            raise Difference("verification.out_of_order", LOG, _name(entry), kind, "contest.made")
        if not self._is_in_order(entry):
            raise Difference("verification.out_of_order", LOG, _name(entry), kind)
        if kind in _BEFORE:
            self._check_time(entry)
        elif kind in (_RECEIVED, _CHOSEN):
            self._check_submission(entry)
        elif kind == "target.sealed" and self._phases(entry)[ANONYMIZE]["state"] not in _SEALING:
            raise Difference("verification.sealed_too_early", LOG, _name(entry))

    def _is_in_order(self, entry: Entry) -> bool:
        kind, body = entry["kind"], entry["body"]
        # The judgings of a rejudging follow it at once, as many as it says, and there are no others of it.
        of = body.get("rejudging") if kind == "submission.judged" else None
        if of is not None or self._judgings_to_come:
            if not self._judgings_to_come or of != self._rejudging["rejudging"]:
                return False
            self._judgings_to_come -= 1
        if kind == "rejudging.applied":
            self._rejudging, self._judgings_to_come = body, int(body["entries"])
        if kind == "contest.made":
            return not self._ledger.made
        if kind == "round.prepared":
            return body["round"] not in self._ledger.rounds
        if kind == "contest.ended":
            return all(phase["state"] == "closed" for phase in self._ledger.phases.values())
        if kind in _BEFORE and self._phase(entry)["state"] != _BEFORE[kind]:
            return False
        return kind != "phase.opened" or self._may_open(entry)

    def _may_open(self, entry: Entry) -> bool:
        """Return whether the round has data, and the phases before this one are over."""
        opens_at = _moment(self._phase(entry)["opens_at"])
        earlier = [
            phase for phase in self._phases(entry).values() if _moment(phase["opens_at"]) < opens_at
        ]
        is_prepared = entry["body"]["round"] in self._ledger.rounds
        return is_prepared and all(phase["state"] == "closed" for phase in earlier)

    def _check_time(self, entry: Entry) -> None:
        due = {"phase.opened": "opens_at", "phase.closed": "closes_at"}.get(entry["kind"])
        if due is None or self._ledger.made["rehearsal"]:
            return
        time = self._phase(entry)[due]
        if _moment(entry["at"]) + _CLOCKS < _moment(time):
            raise Difference("verification.before_its_time", LOG, _name(entry), entry["at"], time)

    def _check_submission(self, entry: Entry) -> None:
        """Check that a team that takes part submits or chooses something in a phase that is open."""
        body, phase = entry["body"], self._phase(entry)
        at = _received_at(entry) if entry["kind"] == _RECEIVED else _moment(body["at"])
        team = self._ledger.entries.get((body["round"], body["team"]), {})
        if team.get("disqualified"):
            code = "verification.received_of_disqualified"
            raise Difference(code, LOG, _name(entry), body["team"])
        times = {"here": at.isoformat(), "should_be": f"{phase['opens_at']} – {phase['closes_at']}"}
        is_timed = not self._ledger.made["rehearsal"]
        late = is_timed and at >= _moment(phase["closes_at"])
        early = is_timed and at < _moment(phase["opens_at"])
        if late or phase["state"] in _SEALING:
            raise Difference("verification.received_late", LOG, _name(entry), **times)
        if early or phase["state"] == "waiting":
            raise Difference("verification.received_early", LOG, _name(entry), **times)
        if at > _moment(entry["at"]) + _CLOCKS:
            moments = entry["at"], at.isoformat()
            raise Difference("verification.before_its_time", LOG, _name(entry), *moments)

    def _phase(self, entry: Entry) -> Mapping[str, Any]:
        return self._ledger.phases[entry["body"]["round"], entry["body"]["phase"]]

    def _phases(self, entry: Entry) -> dict[str, Mapping[str, Any]]:
        """Return the phases of the round of an entry."""
        phases = self._ledger.phases.items()
        return {kind: phase for (name, kind), phase in phases if name == entry["body"]["round"]}


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


def _quota(ledger: Ledger, entry: Entry) -> Quota:
    phase = ledger.phases[entry["body"]["round"], entry["body"]["phase"]]
    return Quota(
        in_all=phase["tries_in_all"],
        per_day=phase["tries_per_day"],
        per_target=phase["tries_per_target"],
        reset_hour=phase["reset_hour"],
        zone=str(ledger.made["zone"]),
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
