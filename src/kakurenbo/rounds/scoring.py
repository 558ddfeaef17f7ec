"""From attackers' files to the results of a round: every guess checked and credited, each for itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from kakurenbo.contest import (
    ATTACK,
    AnyRulebook,
    Credit,
    RoundResults,
    Target,
    by_number,
    read_facts,
    team_of,
)
from kakurenbo.contest.facts import ContestFacts
from kakurenbo.contest.guesses import by_pair
from kakurenbo.core import LISTED_PER_FILE, InputError, Problem, Problems, Source, messages
from kakurenbo.core.errors import KakurenboError, UsageError
from kakurenbo.core.rng import stream
from kakurenbo.rounds.handing_in import folders_in, handed_in, left_aside, printable
from kakurenbo.rounds.publishing import PUBLISHED, SUPERSEDED, ReleaseRecord, read_records

ReadAnswer = Callable[[str], Any]
HandIn = tuple[str, list[Source]]
"""Files that were handed in together, and the folder they lie in; none for those in the attacker's own."""
_LONGEST_NUMBER = 6


@dataclass(frozen=True)
class Refusal:
    """A file that was refused: whose, which, and everything that is wrong with it.

    Attributes
    ----------
    team, file : str
    problems : tuple of Problem
        The first ones.
    count : int
        How many there are in all.
    more_files : int
        For how many files it stands that are not listed (see :func:`few_per_team`); 0 for a file of its own.
    """

    team: str
    file: str
    problems: tuple[Problem, ...]
    count: int
    more_files: int = 0

    @classmethod
    def of(cls, team: str, file: str, problems: Problems) -> Refusal:
        return cls(team, file, tuple(problems), problems.total)

    def inside(self, folder: str) -> Refusal:
        """The same refusal of a file that lies in a folder."""
        problems = tuple(
            replace(problem, file=f"{folder}/{problem.file}") for problem in self.problems
        )
        return replace(self, file=f"{folder}/{self.file}", problems=problems)

    def as_json(self, language: str | None = None) -> dict[str, Any]:
        """The stable JSON object of verbs over many teams, in a language or that of the moment."""
        spoken = language or messages.language()
        return {
            "team": self.team,
            "file": self.file,
            "problem": self.problems[0].in_language(spoken),
            "problem_count": self.count,
            "problems": [problem.as_json(spoken) for problem in self.problems],
            **({"more_files": self.more_files} if self.more_files else {}),
        }


def few_per_team(refusals: Sequence[Refusal]) -> list[Refusal]:
    """The first twenty refusals of each team, and one that tells how many more there are: nobody reads thousands of lines."""
    total, seen = Counter(one.team for one in refusals), Counter[str]()
    kept: list[Refusal] = []
    for one in refusals:
        seen[one.team] += 1
        if seen[one.team] <= LISTED_PER_FILE:
            kept.append(one)
        elif seen[one.team] == LISTED_PER_FILE + 1:
            more, place = total[one.team] - LISTED_PER_FILE, one.team or "…"
            problems = Problems.of("release.more_refused", place, count=more)
            kept.append(replace(Refusal.of(one.team, place, problems), more_files=more))
    return kept


@dataclass(frozen=True, eq=False)
class CreditedFiles:
    """What the files of one attacker earned: (target, file, credit) in the order they were handed in, and refusals."""

    credits: tuple[tuple[str, str, Credit], ...]
    refused: tuple[Refusal, ...] = ()
    notices: tuple[Problem, ...] = ()


@dataclass(frozen=True, eq=False)
class SampleAttack:
    """What an organizers' attack earned on every target, and the targets on which it broke, with the cause."""

    credits: tuple[tuple[str, str, Credit], ...]
    broke: tuple[Refusal, ...] = ()


@dataclass(frozen=True, eq=False)
class ScoredRound:
    """The results of a round.

    Attributes
    ----------
    facts : ContestFacts
    results : RoundResults
    records : tuple of ReleaseRecord
        What became of every release.
    refused : tuple of Refusal
        Guess files that were refused.
    missing : tuple of (attacker, target)
        Pairs without a valid guess: of every team of the round, but for unranked ones that handed in nothing.
    notices : tuple of Problem
    failed : tuple of Refusal
        Targets on which an organizers' attack broke: that figure is missing, and nobody's score.
    """

    facts: ContestFacts
    results: RoundResults
    records: tuple[ReleaseRecord, ...]
    refused: tuple[Refusal, ...] = ()
    missing: tuple[tuple[str, str], ...] = ()
    notices: tuple[Problem, ...] = ()
    failed: tuple[Refusal, ...] = ()


@messages.spoken_in("en")
def credit_files(
    rules: AnyRulebook,
    targets: Mapping[str, Target[Any, Any]],
    answer_of: ReadAnswer,
    sources: Sequence[Source],
    attacker: str,
) -> CreditedFiles:
    """Check and credit every guess in an attacker's files; nothing that is wrong with one touches another."""
    refusals: list[Refusal] = []
    try:
        guesses = rules.read_guesses(targets, sources, attacker)
    except InputError as error:
        file = error.problems[0].file
        return CreditedFiles((), (Refusal.of(attacker, file, error.problems),))
    except Exception as error:  # hostile files must not stop the others
        names = ", ".join(source.name for source in sources)
        return CreditedFiles((), (Refusal.of(attacker, names, broken_guess(names, error)),))
    refusals += [Refusal.of(attacker, file, problems) for file, problems in guesses.refused]
    credits: list[tuple[str, str, Credit]] = []
    notices: list[Problem] = []
    for found in guesses.found:
        try:
            answer = rules.answer_for(answer_of(found.target), attacker)
            credits.append((found.target, found.file, rules.score_guess(answer, found.guess)))
            notices += found.notices
        except Exception as error:
            refusals.append(Refusal.of(attacker, found.file, broken_guess(found.file, error)))
    return CreditedFiles(tuple(credits), tuple(refusals), tuple(notices))


def score_round(
    rulebook: AnyRulebook, phase: Path, guesses: Path, *, sample_attacks: bool = True
) -> ScoredRound:
    """All guesses of a round.

    Parameters
    ----------
    rulebook : Rulebook
    phase : Path
        The folder that ``publish`` wrote.
    guesses : Path
        A folder per attacker, ``NN/...``; or files whose names tell their attacker. In an attacker's folder, folders with
        numbers for names are one hand-in after the other, each read for itself; of several guesses at a target that counts
        which the rulebook says, and of the latest that of the highest number.
    sample_attacks : bool
        Also play the organizers' own attacks, as the arena does.
    """
    opened = PhaseFolder(rulebook, phase)
    by_attacker, refusals = _by_attacker(opened, guesses)
    earned: dict[str, CreditedFiles] = {
        attacker: _credited(opened, hand_ins, attacker)
        for attacker, hand_ins in by_attacker.items()
    }
    samples = {
        name: opened.sample_attack(name)
        for name in (opened.rules.sample_attacks if sample_attacks else ())
    }
    credits = {name: one.credits for name, one in earned.items()} | {
        name: one.credits for name, one in samples.items()
    }
    results = opened.results(credits, tuple(samples))
    taken = {
        team_of(record.target) for record in opened.records
    }  # a judge draws data for places, too, that nobody takes
    ranked = taken - set(opened.facts.unranked)
    expected = [team for team in opened.facts.teams if team in by_attacker or team in ranked]
    missing = tuple(
        (attacker, target)
        for attacker in expected
        for target in opened.targets
        if team_of(target) != attacker and results.credit(target, attacker) is None
    )
    folders = folders_in(guesses.iterdir())
    for attacker, one in earned.items():
        refusals += [
            refusal.inside(attacker) if attacker in folders else refusal for refusal in one.refused
        ]
    notices = tuple(
        replace(notice, file=f"{attacker}/{notice.file}") if attacker in folders else notice
        for attacker, one in earned.items()
        for notice in one.notices
    )
    broke = tuple(failure for one in samples.values() for failure in one.broke)
    return ScoredRound(
        opened.facts,
        results,
        opened.records,
        tuple(few_per_team(refusals)),
        missing,
        notices,
        broke,
    )


class PhaseFolder:
    """A phase folder, opened by the judge."""

    def __init__(self, rulebook: AnyRulebook, path: Path) -> None:
        facts = read_facts(path / "public", rulebook.name) if path.is_dir() else None
        if facts is None or not facts.commitments:
            raise UsageError(
                f"{path}: give the folder that publish wrote with -o; it has 'public', 'targets' and 'answers'"
            )
        self.path, self.facts = path, facts
        self.rules = rulebook.under(facts)
        self.records = read_records(path)
        self.targets: dict[str, Target[Any, Any]] = {}
        there = [
            record.target for record in self.records if (path / "targets" / record.target).is_dir()
        ]
        for name in sorted(there, key=by_number):
            try:
                self.targets[name] = self.rules.read_target(path / "targets" / name, attacker="")
            except InputError as error:
                raise KakurenboError(f"targets/{name} was damaged: {error}") from error
        self.answer = cache(self._answer)

    def _answer(self, target: str) -> Any:
        try:
            return self.rules.read_answer(self.path / "answers" / target)
        except InputError as error:
            raise KakurenboError(f"answers/{target} was damaged: {error}") from error

    @messages.spoken_in("en")
    def sample_attack(self, name: str) -> SampleAttack:
        """What one of the organizers' attacks earns on every target; a release on which it breaks costs that figure alone."""
        attack = self.rules.sample_attacks[name]
        credits: list[tuple[str, str, Credit]] = []
        broke: list[Refusal] = []
        for target, seen in self.targets.items():
            try:
                guess = attack(seen.knowledge, sample_stream(self.facts, name, target))
                credits.append((target, name, self.rules.score_guess(self.answer(target), guess)))
            except Exception as error:  # what one team released must not cost the others
                shown = _shown(error)
                problems = Problems.of(
                    "sample_attack.broke", f"targets/{target}", attack=name, error=shown
                )
                broke.append(Refusal.of(team_of(target), f"targets/{target}", problems))
        return SampleAttack(tuple(credits), tuple(broke))

    def results(
        self, credits: Mapping[str, Sequence[tuple[str, str, Credit]]], unranked: tuple[str, ...]
    ) -> RoundResults:
        """The results of everybody's credits, with what became of the releases."""
        by_target: dict[str, dict[str, Credit]] = {name: {} for name in self.targets}
        tries: dict[str, dict[str, tuple[Credit, ...]]] = {}
        for attacker, earned in credits.items():
            counting, several = by_pair(
                self.rules.phase(ATTACK),
                [(target, credit.public()) for target, _, credit in earned],
            )
            for target, credit in counting.items():
                by_target[target][attacker] = credit
            for target, every in several.items():
                tries.setdefault(target, {})[attacker] = every
        return round_results(
            self.rules,
            self.records,
            by_target,
            tuple(credits),
            unranked,
            excluded=self.facts.unranked,
            tries=tries,
        )


def round_results(
    rules: AnyRulebook,
    records: Sequence[ReleaseRecord],
    credits: Mapping[str, Mapping[str, Credit]],
    attackers: Sequence[str],
    unranked: Sequence[str],
    *,
    excluded: Sequence[str] = (),
    tries: Mapping[str, Mapping[str, tuple[Credit, ...]]] = {},
) -> RoundResults:
    """What the rulebook ranks, from what became of every release and what every attacker earned."""
    counting = [record for record in records if record.state != SUPERSEDED]
    score = rules.utility_score
    return RoundResults(
        credits=credits,
        targets=tuple(record.target for record in counting),
        attackers=tuple(attackers),
        utility={
            record.target: record.scores[score]
            for record in counting
            if score and score in record.scores
        },
        out={record.target: record.state for record in counting if record.state != PUBLISHED},
        unranked=frozenset(unranked),
        excluded=frozenset(excluded),
        tries=tries,
        beside={record.target: beside for record in counting if (beside := _beside(rules, record))},
    )


def _beside(rules: AnyRulebook, record: ReleaseRecord) -> dict[str, float]:
    """What is shown of a release beside its scores."""
    return {name: record.scores[name] for name in rules.shown_beside if name in record.scores}


def sample_stream(facts: ContestFacts, attack: str, target: str) -> np.random.Generator:
    """Randomness of an organizers' attack: public, so that anybody gets the same guess, whoever else takes part."""
    return stream(0, facts.rulebook, facts.round, "sample attack", attack, target)


def _credited(opened: PhaseFolder, hand_ins: Sequence[HandIn], attacker: str) -> CreditedFiles:
    """What an attacker's hand-ins earned, one after the other."""
    credits: list[tuple[str, str, Credit]] = []
    refusals: list[Refusal] = []
    notices: list[Problem] = []
    limit, scored = opened.rules.phase(ATTACK).tries.per_target, Counter[str]()
    for folder, sources in hand_ins:
        found = credit_files(opened.rules, opened.targets, opened.answer, sources, attacker)
        for target, file, credit in found.credits:
            scored[target] += 1
            if limit is None or scored[target] <= limit:
                credits.append((target, file, credit))
            else:
                problems = Problems.of("guess.too_many", file, limit=limit, target=target)
                refusal = Refusal.of(attacker, file, problems)
                refusals.append(refusal.inside(folder) if folder else refusal)
        refusals += [one.inside(folder) if folder else one for one in found.refused]
        notices += [
            replace(one, file=f"{folder}/{one.file}") if folder else one for one in found.notices
        ]
    return CreditedFiles(tuple(credits), tuple(refusals), tuple(notices))


def _hand_ins(place: Path, attacker: str) -> tuple[list[HandIn], list[Refusal]]:
    """The hand-ins in an attacker's folder, or the one file, in order, and what was refused."""
    sources, strangers = handed_in(place)
    found = folders_in(place / name for name, _ in strangers if _is_number(name))
    numbered = sorted(found, key=lambda name: (int(name), name))
    hand_ins: list[HandIn] = [("", sources)] if sources or not numbered else []
    refusals = [
        Refusal.of(attacker, name, problems) for name, problems in strangers if name not in numbered
    ]
    for name in numbered:
        within, strangers = handed_in(place / name)
        hand_ins.append((name, within))
        refusals += [
            Refusal.of(attacker, other, problems).inside(name) for other, problems in strangers
        ]
    return hand_ins, refusals


def _is_number(name: str) -> bool:
    return name.isascii() and name.isdecimal() and len(name) <= _LONGEST_NUMBER


def _by_attacker(
    opened: PhaseFolder, guesses: Path
) -> tuple[dict[str, list[HandIn]], list[Refusal]]:
    """Whose files are which: folders named for attackers, or else the names of files; where there is a folder, it alone."""
    if not guesses.is_dir():
        raise UsageError(
            f"{guesses}: give the folder of all guesses, with a folder NN for each attacker"
        )
    by_attacker: dict[str, list[HandIn]] = {}
    refusals = []
    pattern = opened.rules.guess_pattern
    entries = [entry for entry in sorted(guesses.iterdir()) if not left_aside(entry.name)]
    folders = folders_in(entries)
    for entry in entries:
        folder, shown = entry.name in folders, printable(entry.name)
        if entry.name in opened.facts.teams and not folder:
            problems = Problems.of("guess.no_folder", shown, team=entry.name)
            refusals.append(Refusal.of("", shown, problems))
            continue
        fields = {"attacker": entry.name} if folder else pattern.parse(entry.name) or {}
        attacker = fields.get("attacker", fields.get("team", ""))
        if attacker not in opened.facts.teams:
            teams = ", ".join(opened.facts.teams)
            refusals.append(
                Refusal.of("", shown, Problems.of("guess.unknown_attacker", shown, teams=teams))
            )
            continue
        if (
            attacker in folders and not folder
        ):  # anybody may have put it there: it must not touch what the team handed in
            refusals.append(
                Refusal.of("", shown, Problems.of("guess.beside_folder", shown, team=attacker))
            )
            continue
        hand_ins, unfit = _hand_ins(entry, attacker)
        if not unfit and not any(sources for _, sources in hand_ins):
            continue  # an empty folder is nobody's guess
        if folder:
            by_attacker[attacker] = hand_ins
        else:  # files whose names tell their attacker are one hand-in
            by_attacker.setdefault(attacker, [("", [])])[0][1].extend(
                source for _, own in hand_ins for source in own
            )
        refusals += [refusal.inside(attacker) for refusal in unfit] if folder else unfit
    return dict(sorted(by_attacker.items(), key=lambda item: by_number(item[0]))), refusals


def broken_guess(file: str, error: Exception) -> Problems:
    return Problems.of("guess.broke", file, error=_shown(error))


def _shown(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
