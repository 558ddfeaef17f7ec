"""A whole contest from its archive: log, account, rounds, standings; stops at the first thing that differs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import msgspec

from kakurenbo.contest import read_facts
from kakurenbo.core.errors import UsageError
from kakurenbo.core.messages import text
from kakurenbo.methods import registry
from kakurenbo.proofs import Checkpoint, Receipt, account, conduct, content_digest, judging, ranking
from kakurenbo.proofs.archive import (
    CONTEST,
    EARNED,
    LOG,
    STANDINGS,
    SUBMISSIONS,
    Archive,
    ContestFile,
    LogFile,
    RoundRow,
    StandingsFile,
)
from kakurenbo.proofs.differences import Comparison, Difference
from kakurenbo.proofs.ledger import Ledger, check_places, moment
from kakurenbo.proofs.rounds import COMPUTED, Round
from kakurenbo.proofs.signed_log import check_kept, check_log, entries_of, is_open, untold

Told = Callable[[str], None]
Kept = Mapping[str, Receipt | Checkpoint]
"""What somebody kept of the log, by the file it lies in."""
_NOTHING: Kept = MappingProxyType({})


@dataclass
class Report:
    """What was checked, and how many of each; ``complete`` where the contest was over, so that everything could be.

    Attributes
    ----------
    checked : Counter
        By kind: ``entries``, ``checkpoints``, ``receipts``, ``files``, ``commitments``, ``releases``, ``published``,
        ``guesses``, ``samples``, ``figures``, ``ranks``, ``awards``.
    complete : bool
    notices : list of str
    """

    checked: Counter[str] = field(default_factory=Counter)
    complete: bool = False
    notices: list[str] = field(default_factory=list)


def verify_archive(
    archive: Archive,
    kept: Kept = _NOTHING,
    *,
    again: bool = False,
    tell: Told = lambda _kind: None,
    report: Report | None = None,
) -> Report:
    """Check everything that an archive says.

    Parameters
    ----------
    archive : Archive
    kept : mapping of file name to Receipt or Checkpoint
        What people kept while the contest ran.
    again : bool
        Also draw the data of every round once more from its seed.
    tell : callable
        Called with the kind of each thing when it was checked.
    report : Report or None
        Filled while checking, so that somebody knows how far it came.

    Raises
    ------
    Difference
        For the first thing that is not as it should be.
    UsageError
        For what cannot be read, or a rulebook that is not installed.
    """
    report = Report() if report is None else report

    def count(kind: str, number: int = 1) -> None:
        report.checked[kind] += number
        tell(kind)

    log = archive.read(LOG, LogFile)
    check_whole_log(log, kept, count)
    contest = archive.read(CONTEST, ContestFile)
    if not is_open(log):
        if contest.ended_at is not None:
            raise Difference("verification.untold_entry", LOG, f"entry {untold(log)}")
        return report
    entries = entries_of(log)
    ledger = conduct.check_conduct(entries, log)
    check_places(archive, ledger)
    _check_final(archive, ledger)
    account.check_contest(contest, log.contest, ledger)
    account.check_rejudgings(archive, ledger)
    if contest.rulebook not in registry.names("rulebooks"):
        raise UsageError(text("verification.no_rulebook", rulebook=contest.rulebook))
    recomputed = _Recomputed(archive, contest, entries, ledger, count, report.notices)
    recomputed.check(again=again)
    archive.check_all_accounted()
    report.complete = True
    return report


def _check_final(archive: Archive, ledger: Ledger) -> None:
    """Whether the standings are the last ones; said at once, since all the rest takes its time.

    Standings that were made after the end are told in the log with them: where it does not, it was cut.
    """
    rounds = list(dict.fromkeys(name for name, _ in ledger.phases))
    files = {f"rounds/{name}/{STANDINGS}": name for name in rounds}
    for file, name in {**files, STANDINGS: rounds[0] if len(rounds) == 1 else ""}.items():
        if file not in archive.names or name in ledger.final:
            continue
        taken_at = archive.read(file, StandingsFile).taken_at
        if (moment(taken_at) or "") >= (moment(ledger.ended_at) or ""):
            raise Difference("verification.cut_log", LOG, file, taken_at)
        raise UsageError(text("verification.not_final"))


def check_whole_log(log: LogFile, kept: Kept, count: Callable[..., None]) -> None:
    """The log, and whether it is the one of which people kept something."""
    tree = check_log(log)
    count("entries", len(log.entries))
    count("checkpoints", len(log.checkpoints))
    for file, one in kept.items():
        check_kept(one, file, log, tree)
        count("receipts")


class _Recomputed:
    """Rounds and standings, made once more."""

    def __init__(
        self,
        archive: Archive,
        contest: ContestFile,
        entries: Sequence[Mapping[str, Any]],
        ledger: Ledger,
        count: Callable[..., None],
        notices: list[str],
    ) -> None:
        self._archive, self._contest, self._ledger = archive, contest, ledger
        self._entries, self._count, self._notices = entries, count, notices
        self._described = {"name": contest.rulebook, "options": contest.options}

    def check(self, *, again: bool) -> None:
        known: dict[str, dict[str, Any]] = {}
        for facts in self._contest.rounds:
            if facts.name in self._ledger.rounds:
                known[facts.name] = self._check_round(facts, again=again)
                continue
            for file in (SUBMISSIONS, EARNED):
                place = f"rounds/{facts.name}/{file}"
                Comparison(COMPUTED, place).check(self._archive.read(place, list[Any]), [])
        for name, round_ in known.items():
            self._check_standings(f"rounds/{name}/{STANDINGS}", name, {name: round_})
        is_alone = len(self._contest.rounds) == 1
        self._check_standings(STANDINGS, next(iter(known), "") if is_alone else "", known)

    def _check_round(self, facts: RoundRow, *, again: bool) -> dict[str, Any]:
        """Return what the ranking is made of."""
        rules = judging.rules_for({"rulebook": {**self._described, "round": facts.name}})
        rows = account.submissions_of(self._archive, rules, facts.name, self._ledger)
        conduct.check_tries_on_targets(self._entries, self._ledger, rows)
        self._count("files", sum(len(row.files) for row in rows))
        unranked = [team.number for team in self._contest.teams if team.unranked]
        round_ = Round(
            self._archive, facts, self._described, rows, self._ledger, self._count, unranked
        )
        round_.check_data(again=again)
        round_.check_releases()
        round_.check_guesses()
        if others := round_.judged_by_others:
            counts = {"round": facts.name, "number": others, "of": round_.judged}
            self._notices.append(text("verification.other_software", **counts))
        return self._input_of_ranking(round_)

    def _input_of_ranking(self, round_: Round) -> dict[str, Any]:
        facts = round_.facts
        names = {team.number: team.name for team in self._contest.teams}
        teams = sorted(entry.team for entry in facts.entries)
        released = {record["target"] for record in round_.records}
        credits = round_.credits if round_.began else []
        scored = [row for row in (*credits, *round_.samples) if row["target"] in released]
        samples = {row["attacker"] for row in round_.samples if row["target"] in released}
        place = self._archive.root / f"rounds/{facts.name}/preparation/public"
        return {
            "facts": msgspec.to_builtins(read_facts(place)),
            "records": round_.records,
            "credits": scored,
            "attackers": teams if round_.began else [],
            "samples": sorted(samples),
            "excluded": list(round_.unranked),
            "disqualified": {
                entry.team: entry.disqualified for entry in facts.entries if entry.disqualified
            },
            "players": [
                {"team": team, "name": names[team], "excluded": team in round_.unranked}
                for team in teams
            ],
        }

    def _check_standings(
        self, file: str, round_name: str, known: Mapping[str, dict[str, Any]]
    ) -> None:
        computed: dict[str, Any] = {}
        if known and all(round_["records"] for round_ in known.values()):
            request = {"rulebook": {**self._described, "round": next(iter(known))}, "rounds": known}
            standings = ranking.standings(judging.rules_for(request), request)
            computed = json.loads(msgspec.json.encode(standings))
        if not computed:
            if file in self._archive.names:
                raise Difference("verification.stray_file", file)
            return
        final = self._ledger.final.get(round_name)
        if final is None:
            raise UsageError(text("verification.not_final"))
        here, comparison = self._archive.read(file, StandingsFile), Comparison(COMPUTED, file)
        comparison.check(here.standings, computed["standings"], "standings")
        results = computed["results"][round_name] if round_name else {}
        comparison.check(here.results, results, "results")
        written = {
            "taken_at": moment(here.taken_at),
            "digest": content_digest({"results": here.results, "standings": here.standings}),
        }
        logged = {"taken_at": moment(final["taken_at"]), "digest": final["digest"]}
        Comparison("verification.not_as_logged", file).check(written, logged)
        self._count("figures", comparison.figures)
        self._count("ranks", comparison.ranks)
        self._count("awards", len(here.standings.get("awards", {})))
