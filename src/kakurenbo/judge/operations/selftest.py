"""A contest that is played to be thrown away: does this judge score what is known as it is known?

Teams hand in the table as it is, shuffled, random, empty and broken; then the answer itself, and the answer of another target.
Everything goes its usual way: rules, queue rows, worker, scoring process, stores. What is expected comes from the rulebook's
own steps, called here, and from what every contest has in common. No contest is known by name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.utils import timezone

from kakurenbo.contest import ANONYMIZE, ATTACK, PreparedRound
from kakurenbo.contest.measure import Utility
from kakurenbo.contest.preparation import PublishedTargets
from kakurenbo.core import InputError, Source
from kakurenbo.core.messages import text
from kakurenbo.judge.accounts.models import User
from kakurenbo.judge.contests import rules
from kakurenbo.judge.contests.advancing import advance
from kakurenbo.judge.contests.making import make_contest
from kakurenbo.judge.contests.models import Contest, Entry, Phase, Role, Round
from kakurenbo.judge.contests.planning import default_plan
from kakurenbo.judge.contests.rulebooks import contest_options, rules_of
from kakurenbo.judge.operations.selftest_entries import (
    BROKEN,
    EMPTY,
    ENTRIES,
    IDENTITY,
    RANDOM,
    SHUFFLED,
    TWIN,
    files_of,
    right_guess,
)
from kakurenbo.judge.scoring.models import Earned, Job, JobState, Judging, Target
from kakurenbo.judge.scoring.worker import Worker
from kakurenbo.judge.submissions import rules as submissions
from kakurenbo.judge.submissions import store
from kakurenbo.judge.submissions.models import Submission
from kakurenbo.methods import registry
from kakurenbo.proofs.judging import INVALID

_ZONE, _SMALL = "UTC", "small"
STEPS = PREPARE, RELEASES, GUESSES = "prepare", "releases", "guesses"
_BANDS = 3
"""Blind guessing lies within so many half widths of its 95 % band, as good as always."""


@dataclass
class Played:
    """What was seen.

    Attributes
    ----------
    seen : list of str
        What was as it is known.
    wrong : list of str
        What was not.
    """

    seen: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def expect(self, holds: bool, what: str) -> None:
        """Note something that is known."""
        (self.seen if holds else self.wrong).append(what)


def play(rulebook: str, worker: Worker, tell: Callable[[str], None] = lambda _step: None) -> Played:
    """Play the first round of a rulebook's contest, as small as it can be, in the database of whoever calls.

    ``tell`` is called with the name of each of ``STEPS`` when it begins.
    """
    played = Played()
    tell(PREPARE)
    contest = _contest(rulebook)
    stage = _Stage(contest, worker)
    stage.go_on(_during(stage.phase(ANONYMIZE)))
    tell(RELEASES)
    with worker.workspace.folder() as folder:
        worker.workspace.link_preparation(folder, stage.round)
        prepared = PreparedRound(rules_of(contest, stage.round), folder / "preparation")
        _release(stage, prepared, played)
    tell(GUESSES)
    stage.go_on(_during(stage.phase(ATTACK)))
    with worker.workspace.folder() as folder:
        _attack(stage, folder, played)
    for job in Job.objects.filter(contest=contest, state=JobState.PARKED):
        played.wrong.append(text("doctor.test_parked", job=str(job), cause=job.cause))
    return played


# -- releases ------------------------------------------------------------------------------------------------------------


def _release(stage: _Stage, prepared: PreparedRound[Any], played: Played) -> None:
    """Every team hands in its release; what the judge says of it is what the rules say."""
    files = {
        entry: files_of(entry, prepared, team.team.number) for entry, team in stage.teams.items()
    }
    handed_in = {
        entry: stage.hand_in(team, ANONYMIZE, files[entry]) for entry, team in stage.teams.items()
    }
    stage.worker.drain()
    records: dict[str, Mapping[str, Any] | None] = {}
    for entry, team in stage.teams.items():
        handout = prepared.handout(team.team.number)
        sources, codes, release = [Source(*file) for file in files[entry].items()], [], None
        try:
            release = prepared.rules.read_release(handout, sources)
        except InputError as error:
            codes = sorted({problem.code for problem in error.problems})
        judging = _judging(handed_in[entry])
        if codes or entry in (EMPTY, BROKEN):
            _expect_refusal(entry, codes, judging, played)
            records[entry] = None
        else:
            records[entry] = _expect_scores(
                entry, prepared.rules.measure(handout, release), judging, played
            )
    _compare(records, played)


def _expect_refusal(entry: str, codes: list[str], judging: Judging, played: Played) -> None:
    found = sorted({problem["code"] for problem in judging.result["problems"]})
    refused = judging.verdict == INVALID and found == codes and bool(codes)
    played.expect(
        refused,
        text("doctor.test_refused", entry=entry, codes=codes, found=found or judging.verdict),
    )


def _expect_scores(
    entry: str, measured: Utility, judging: Judging, played: Played
) -> Mapping[str, Any]:
    """The record of a release that was scored; its digits are those that are measured here."""
    record: Mapping[str, Any] = judging.result["record"]
    here = {one.name: one.value for one in measured.measurements()}
    judged = {one["name"]: one["value"] for one in record["measurements"] if one["name"] in here}
    other = [
        f"{name}: {judged.get(name)} ≠ {value}"
        for name, value in here.items()
        if judged.get(name) != value
    ]
    played.expect(
        not other, text("doctor.test_digits", entry=entry, count=len(here), other=other or "-")
    )
    return record


def _compare(records: Mapping[str, Mapping[str, Any] | None], played: Played) -> None:
    """What holds in every contest: the table as it is keeps the rules, and nothing that destroys it is more useful."""
    own = records[IDENTITY]
    if own is None:
        return
    passes = all(one["passes"] is not False for one in own["measurements"])
    played.expect(passes, text("doctor.test_thresholds"))
    for entry in (SHUFFLED, RANDOM):
        other = records[entry]
        if other is not None:
            worse = all(
                _not_better(mine, theirs)
                for mine, theirs in zip(own["measurements"], other["measurements"], strict=True)
            )
            played.expect(worse, text("doctor.test_not_better", entry=entry))


def _not_better(mine: Mapping[str, Any], theirs: Mapping[str, Any]) -> bool:
    """Of scores that decide: whether another table is no more useful than the table as it is."""
    if mine["passes"] is None:
        return True
    first, second = float(mine["value"]), float(theirs["value"])
    return first >= second if mine["higher_is_better"] else first <= second


# -- guesses -------------------------------------------------------------------------------------------------------------


def _attack(stage: _Stage, folder: Path, played: Played) -> None:
    """One team has every answer; another has that of its own table, and gives it for all others."""
    names = {entry: name for entry in ENTRIES if (name := stage.target(entry))}
    played.expect({IDENTITY, TWIN} <= set(names), text("doctor.test_published"))
    if not {IDENTITY, TWIN} <= set(names):
        return
    stage.worker.workspace.link_phase(folder, stage.round, names.values(), answers=True)
    targets = PublishedTargets.in_phase(
        rules_of(stage.contest, stage.round), folder / "phase", names.values()
    )
    right = {
        name: right_guess(targets.rules, targets, name, folder / "phase" / "answers" / name)
        for name in names.values()
    }
    own, twin = names[IDENTITY], names[TWIN]
    if any(
        guess is None for guess in right.values()
    ):  # an answer of this contest does not look like a guess
        return
    answers = stage.hand_in_guesses(
        targets, TWIN, {name: guess for name, guess in right.items() if name != twin}
    )
    foreign = {
        name: _same_guess_at(targets, name, right[own]) for name in names.values() if name != own
    }
    tells_apart = targets.rules.guess_bytes(right[own]) != targets.rules.guess_bytes(right[twin])
    fits = tells_apart and all(guess is not None for guess in foreign.values())
    others = stage.hand_in_guesses(targets, IDENTITY, foreign) if fits else None
    stage.worker.drain()
    credit = _credit(answers, own)
    played.expect(
        credit is not None and credit["hits"] == credit["of"],
        text("doctor.test_all_hits", **_figures(credit)),
    )
    if others is not None:
        credit = _credit(others, twin)
        played.expect(
            credit is not None and _is_chance(credit),
            text("doctor.test_chance", **_figures(credit)),
        )


def _same_guess_at(targets: PublishedTargets, name: str, guess: Any) -> Any | None:
    """A guess at one target, given for another; None where it cannot be."""
    source = Source("guess", targets.rules.guess_bytes(guess))
    try:
        return targets.rules.read_guess(targets[name].form, source)
    except InputError:
        return None


def _credit(submission: Submission, target: str) -> Mapping[str, Any] | None:
    """What a submission earned on a target."""
    earned = Earned.objects.filter(submission=submission, target__name=target).first()
    return None if earned is None else earned.credit


def _is_chance(credit: Mapping[str, Any]) -> bool:
    chance = credit["chance"]
    return chance is None or bool(
        credit["hits"] <= chance["mean"] + _BANDS * (chance["high"] - chance["mean"]) + 1
    )


def _figures(credit: Mapping[str, Any] | None) -> dict[str, Any]:
    return (
        {"hits": "-", "of": "-"} if credit is None else {"hits": credit["hits"], "of": credit["of"]}
    )


# -- the contest ---------------------------------------------------------------------------------------------------------


class _Stage:
    """A contest with a team for each entry, and a clock that is set."""

    def __init__(self, contest: Contest, worker: Worker) -> None:
        self.contest, self.worker = contest, worker
        self.round: Round = contest.rounds.get()
        self.teams = {entry: self._team(entry) for entry in ENTRIES}

    def phase(self, kind: str) -> Phase:
        return Phase.objects.select_related("round__contest").get(round=self.round, kind=kind)

    def go_on(self, now: datetime) -> None:
        """Do all that is due at a moment, and all work that comes of it."""
        while advance(now) or self.worker.drain():
            pass

    def hand_in(self, team: Entry, kind: str, files: Mapping[str, bytes]) -> Submission:
        """Hand files in for a team, while a phase is open."""
        phase = self.phase(kind)
        now = _during(phase)
        submission = submissions.begin(team.team.memberships.get().user, team, phase, now)
        for name, data in files.items():
            submissions.add_file(submission, name, store.put(data))
        return submissions.finish(submission, now)

    def hand_in_guesses(
        self, targets: PublishedTargets, attacker: str, guesses: Mapping[str, Any]
    ) -> Submission:
        """Hand in for a team what it guesses at each target."""
        team = self.teams[attacker]
        return self.hand_in(team, ATTACK, targets.rules.guess_files(guesses, team.team.number))

    def target(self, entry: str) -> str:
        """What the release of an entry is called under attack; empty where it is not."""
        made = Target.objects.filter(entry=self.teams[entry]).first()
        return made.name if made is not None and made.record["state"] == "published" else ""

    def _team(self, name: str) -> Entry:
        team = rules.add_team(self.contest.made_by, self.contest, name)
        member = User.objects.create(
            email=f"{self.contest.slug}-{team.number}@invalid.example", name=name
        )
        rules.join(member, rules.invite(self.contest.made_by, team, Role.MEMBER)[1])
        return Entry.objects.select_related("team__contest", "round__contest").get(
            team=team, round=self.round
        )


def _contest(rulebook: str) -> Contest:
    """The first round of a contest, small and on embedded data where the rulebook knows such options."""
    declared = registry.load("rulebooks", rulebook)
    offered = {option.name: option.choices for option in contest_options(rulebook)}
    small = {"scale": _SMALL} if _SMALL in (offered.get("scale") or ()) else {}
    wanted = {**(declared.demo_settings or {}), **small}
    planned = default_plan(rulebook, timezone.now() + timedelta(days=1), _ZONE)
    organizer, _ = User.objects.get_or_create(
        email="doctor@invalid.example", defaults={"name": "doctor", "is_organizer": True}
    )
    return make_contest(
        organizer,
        title="self-test",
        slug=f"self-test-{rulebook}".replace("_", "-")[:40],
        rulebook=rulebook,
        options={name: value for name, value in wanted.items() if name in offered},
        zone=_ZONE,
        places=len(ENTRIES),
        phases=[phase for phase in planned if phase.round == planned[0].round],
    )


def _judging(submission: Submission) -> Judging:
    return Judging.objects.get(submission=submission, in_effect=True)


def _during(phase: Phase) -> datetime:
    return phase.opens_at + timedelta(minutes=1)


def rulebooks() -> Iterator[str]:
    """All that are installed."""
    yield from registry.names("rulebooks")
