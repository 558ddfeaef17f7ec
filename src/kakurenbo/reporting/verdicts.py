"""Verdicts in sentences: what became of each release, and what the tournament taught; in every language, from the document."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from kakurenbo.contracts import Measurement, Unit, team_of
from kakurenbo.contracts.results import DISQUALIFIED, FAILED, MISSING, REFUSED
from kakurenbo.messages import LANGUAGES, render, retold
from kakurenbo.reporting.document import AttackEntry, Document, PlayerEntry, Ranking, ReleaseEntry, RoundEntry
from kakurenbo.reporting.numbers import against, counted, estimated, figure, share, times
from kakurenbo.reporting.rounds import was_judged
from kakurenbo.rounds.publishing import PUBLISHED

_MOST_NAMED = 3
_MUCH = 2  # times chance: an interval that reaches further does not show that a release hides anybody


def with_verdicts(document: Document) -> Document:
    """The document with ``verdicts`` on every release and on the whole."""
    writers = {name: _Writer(name, document) for name in LANGUAGES}
    rounds = tuple(
        replace(
            entry,
            releases={
                target: replace(release, verdicts={name: writer.verdict(entry, release) for name, writer in writers.items()})
                for target, release in entry.releases.items()
            },
        )
        for entry in document.rounds
    )
    return replace(document, rounds=rounds, verdicts={name: tuple(writer.lessons()) for name, writer in writers.items()})


@dataclass(frozen=True)
class _Best:
    """The attack that found most in a release; of several, the first of a team before the organizers' own."""

    attacker: str
    found: AttackEntry


@dataclass(frozen=True)
class _Writer:
    """The sentences of one language."""

    language: str
    document: Document

    # -- one release ---------------------------------------------------------------------------------------------------

    def verdict(self, entry: RoundEntry, release: ReleaseEntry) -> str:
        """What attacks found in a release, and whether it holds the rules."""
        held = self._held(release)
        known = [*self._attacked(entry, release), *([held] if held else [])]
        return self._sentence(known)

    def _attacked(self, entry: RoundEntry, release: ReleaseEntry) -> Iterator[str]:
        best = _best(entry, release.target, self.document)
        if best is None:
            if release.state in (PUBLISHED, DISQUALIFIED):
                yield self._say("verdict.no_attack")
            return
        said = {"attacker": self._who(best.attacker), "accuracy": self._accuracy(best.found)}
        if not release.chance:
            yield self._say("verdict.found_plain", **said)
        else:
            ratio = _times_chance(best.found.accuracy.mean, release.chance)
            code = f"verdict.{_told(best.found, release.chance)}"
            yield self._say(code, **said, times=ratio, chance=share(release.chance))
        if release.constant is not None:
            yield self._say("verdict.constant", answer=self._constant_answer(), constant=share(release.constant))

    def _held(self, release: ReleaseEntry) -> str:
        if release.state == DISQUALIFIED:
            failed = [self._fails(release, measured) for measured in release.measurements if measured.passes is False]
            # Where the organizers decided, the record says why.
            why = failed or retold(release.cause, self.language)
            return self._in_repeats("verdict.disqualified", release, failed=why)
        if release.state != PUBLISHED:
            # What everybody may read of a round that was held by files does not tell why.
            told = release.cause or release.state not in (REFUSED, FAILED)
            code = f"verdict.{release.state}" if told else f"state.{release.state}"
            return self._say(code, cause=retold(release.cause, self.language))
        utility = self.document.rulebook.utility_score
        parts = [self._utility(release, measured) for measured in release.measurements if measured.name == utility]
        parts += [self._say("verdict.passes")] if release.verdict == "passes" else []
        return self._say("verdict.join").join(parts)

    def _fails(self, release: ReleaseEntry, measured: Measurement) -> str:
        unit, found = self.document.figure(measured.name).unit, release.estimates.get(measured.name)
        if found is not None and found.n > 1 and measured.threshold:
            mean, needed = estimated(found, unit, self.language), against(found.mean, measured.threshold, unit)[1]
            return self._say("verdict.fails_mean", measure=measured.name, value=mean, threshold=needed)
        shown, needed = against(measured.value, measured.threshold, unit) if measured.threshold else ("", "")
        return self._say("verdict.fails", measure=measured.name, value=shown, threshold=needed)

    def _utility(self, release: ReleaseEntry, measured: Measurement) -> str:
        declared, found = self.document.figure(measured.name), release.estimates.get(measured.name)
        value = estimated(found, declared.unit, self.language) if found else figure(measured.value, declared.unit)
        direction = self._say("figure.higher" if measured.higher_is_better else "figure.lower")
        of = {} if declared.of is None else {"of": figure(declared.of)}
        code = "verdict.utility_of" if of else "verdict.utility"
        return self._say(code, measure=measured.name, value=value, direction=direction, **of)

    # -- the whole -----------------------------------------------------------------------------------------------------

    def lessons(self) -> Iterator[str]:
        """What the tournament taught, in a sentence each."""
        won = self._won()
        if "overall" in won:
            yield self._say("lesson.won_overall", teams=self._some(won["overall"], plain=True))
        if "anonymization" in won:
            yield self._say("lesson.won_anonymization", teams=self._some(won["anonymization"]))
        for entry in self.document.rounds:
            for lesson in self._of_round(entry):
                several = len(self.document.rounds) > 1
                yield self._say("lesson.round", round=entry.name, lesson=lesson) if several else lesson
        for name, ranking in self.document.rankings.items():
            first = ranking.lines[0] if ranking.lines and ranking.lines[0].rank == 1 else None
            tied = (first.team, *first.tied_with) if first and first.tied_with else ()
            if tied and set(tied) != set(won.get(name, ())):  # which was said above
                yield self._say("lesson.tied", ranking=self._say(f"ranking.{name}"), teams=self._some(tied))
        close = [self._say(f"ranking.{name}") for name in _within_chance(self.document)]
        if close:
            yield self._say("lesson.one_play", rankings=close)

    def _won(self) -> dict[str, tuple[str, ...]]:
        """Who is first overall, where that is a ranking of its own, and in anonymization; where all are first, nobody won."""
        rankings = [
            (name, self.document.rankings[name]) for name in ("overall", "anonymization") if name in self.document.rankings
        ]
        return {
            name: ranking.winners
            for name, ranking in rankings
            if not ranking.same_as and 0 < len(ranking.winners) < len(self.document.players)
        }

    def _of_round(self, entry: RoundEntry) -> Iterator[str]:
        excluded = _excluded(entry)
        ranked = [
            target for target, release in entry.releases.items() if release.state == PUBLISHED and release.team not in excluded
        ]
        found = {target: _best(entry, target, self.document) for target in ranked}
        in_play = {target: best for target, best in found.items() if best is not None}
        if in_play:
            yield self._hid_best(entry, in_play)
            yield from self._hid_least(in_play)
        yield from self._strongest(entry)
        yield from self._constant(entry)
        yield from self._thresholds(entry)
        yield from self._without_release(entry)

    def _hid_best(self, entry: RoundEntry, in_play: Mapping[str, _Best]) -> str:
        least = min(found.found.accuracy.mean for found in in_play.values())
        target, *others = [target for target, found in in_play.items() if found.found.accuracy.mean == least]
        best, chance = in_play[target], entry.releases[target].chance
        count = counted(len(in_play), self._compared(entry, in_play), self.language)
        if others:
            said = {"releases": self._some([target, *others]), "count": count, "accuracy": self._accuracy(best.found)}
            return self._say("lesson.best_several" if chance else "lesson.best_several_plain", **said, chance=share(chance))
        ratio = _times_chance(best.found.accuracy.mean, chance) if chance else ""
        code = f"lesson.best_{_told(best.found, chance)}" if chance else "lesson.best_plain"
        return self._say(
            code,
            release=self._release(target),
            count=count,
            attacker=self._who(best.attacker),
            accuracy=self._accuracy(best.found),
            times=ratio,
            chance=share(chance),
        )

    def _compared(self, entry: RoundEntry, compared: Mapping[str, _Best]) -> str:
        """What to call the releases that are compared, where those of unranked teams or some without an attack are not."""
        left = [one for one in entry.releases.values() if one.state == PUBLISHED and one.target not in compared]
        ranked = [one for one in left if one.team not in _excluded(entry)]
        return "attacked_release" if ranked else "ranked_release" if left else "release"

    def _hid_least(self, in_play: Mapping[str, _Best]) -> Iterator[str]:
        most = max(best.found.accuracy.mean for best in in_play.values())
        found = [target for target, best in in_play.items() if best.found.accuracy.mean == most]
        if len(found) == len(in_play):
            return  # equals
        worst = in_play[found[0]]
        if len(found) > 1:
            yield self._say("lesson.worst_several", releases=self._some(found), accuracy=self._accuracy(worst.found))
        else:
            said = {"release": self._release(found[0]), "attacker": self._who(worst.attacker)}
            yield self._say("lesson.worst", **said, accuracy=self._accuracy(worst.found))

    def _strongest(self, entry: RoundEntry) -> Iterator[str]:
        guessing = {attacker for row in entry.attacks.values() for attacker in row}
        ranked = guessing - _excluded(entry) - {*self.document.sample_attacks}
        means = {name: one.accuracy for name, one in entry.attackers.items() if one.accuracy is not None and name in ranked}
        if not means:
            return
        first = max(means, key=lambda name: means[name])
        chance = entry.attackers[first].chance
        said = {"attacker": self._who(first), "accuracy": share(means[first])}
        if means[first] <= (chance or 0):
            yield self._say("lesson.attack_chance" if chance else "lesson.attack_nothing", chance=share(chance))
        elif chance:
            yield self._say("lesson.attack", **said, times=_times_chance(means[first], chance))
        else:
            yield self._say("lesson.attack_plain", **said)

    def _constant(self, entry: RoundEntry) -> Iterator[str]:
        pairs = [
            (found.accuracy.mean, constant)
            for target, row in entry.attacks.items()
            if target in entry.releases and (constant := entry.releases[target].constant) is not None
            for found in row.values()
        ]
        if not pairs:
            return
        below = sum(accuracy <= constant for accuracy, constant in pairs)
        code = "lesson.constant" if below else "lesson.constant_none"
        count = counted(len(pairs), "attack", self.language)
        yield self._say(code, below=below, count=count, answer=self._constant_answer())

    def _thresholds(self, entry: RoundEntry) -> Iterator[str]:
        judged = counted(entry.judged, "release", self.language)
        if entry.judged and entry.passing == entry.judged:
            yield self._say("lesson.all_pass", count=judged)
        elif entry.judged:
            out = [release for release in entry.releases.values() if was_judged(release) and release.state == DISQUALIFIED]
            failed = [self._disqualified(release) for release in out]
            yield self._say("lesson.disqualified", passing=entry.passing, count=judged, failed=failed)

    def _disqualified(self, release: ReleaseEntry) -> str:
        measures = [measured.name for measured in release.measurements if measured.passes is False]
        said = {"release": self._release(release.target), "measures": measures or release.cause}
        return self._in_repeats("lesson.by", release, **said)

    def _without_release(self, entry: RoundEntry) -> Iterator[str]:
        """Who has no release that could be measured, and why; an unranked team owes none."""
        excluded = _excluded(entry)
        known = []
        for state in (MISSING, REFUSED, FAILED):
            out = [release for release in entry.releases.values() if release.state == state]
            named = [self._release(one.target) for one in out if state != MISSING or one.team not in excluded]
            known += [self._say(f"lesson.{state}", releases=named)] if named else []
        if known:
            yield self._sentence(known)

    # -- words ---------------------------------------------------------------------------------------------------------

    def _say(self, code: str, **parameters: object) -> str:
        return render(code, parameters, self.language).message

    def _in_repeats(self, code: str, release: ReleaseEntry, /, **parameters: object) -> str:
        """A sentence on a release; where there are repeats, with how many of them it is true of."""
        if release.in_repeats == release.of_repeats:
            return self._say(code, **parameters)
        repeats = counted(release.of_repeats, "repeat", self.language)
        return self._say(f"{code}_repeats", **parameters, count=release.in_repeats, repeats=repeats)

    def _sentence(self, parts: Sequence[str]) -> str:
        text = self._say("verdict.join").join(parts)
        return text[:1].upper() + text[1:] + self._say("verdict.end")

    def _constant_answer(self) -> str:
        said = self.document.figure("constant").definitions.get(self.language)
        return said or self._say("verdict.some_constant")

    def _accuracy(self, found: AttackEntry) -> str:
        return estimated(found.accuracy, Unit.SHARE, self.language)

    def _who(self, attacker: str) -> str:
        return self._named(attacker, lambda player: player.attack)

    def _release(self, target: str) -> str:
        return self._named(target, lambda player: player.anonymizer)

    def _some(self, targets: Sequence[str], *, plain: bool = False) -> list[str]:
        """Releases by name, or teams ``plain``; of many the first few, so that a sentence stays one that people read."""
        named = [target if plain else self._release(target) for target in targets[:_MOST_NAMED]]
        left = len(targets) - len(named)
        return [*named, *([self._say("lesson.more", count=left)] if left else [])]

    def _named(self, name: str, method: Callable[[PlayerEntry], str]) -> str:
        team = team_of(name)
        used = next((method(player) for player in self.document.players if player.team == team), "")
        return self._say("verdict.with", attacker=name, method=used) if used else name


def _within_chance(document: Document) -> list[str]:
    """Rankings of a single play whose first places differ by no more than blind guesses do: noise could have made the order.

    Only of a play that can be repeated: the results of a contest that was held are what they are.
    """
    if document.repeat_count > 1 or "plan" not in document.manifest or len(document.rounds) != 1:
        return []
    (entry,) = document.rounds
    if entry.chance is None:
        return []
    varies = (entry.chance.high - entry.chance.low) / 2
    found = {
        "anonymization": {team_of(target): release.best_accuracy for target, release in entry.releases.items()},
        "attack": {attacker: one.accuracy for attacker, one in entry.attackers.items()},
    }
    leads = {name: _lead(document.rankings[name], shares) for name, shares in found.items() if name in document.rankings}
    return [name for name, lead in leads.items() if lead is not None and lead <= varies]


def _lead(ranking: Ranking, accuracy: Mapping[str, float | None]) -> float | None:
    """By what share of right guesses the first differs from the next that has another; None where nobody has."""
    shares = [found for line in ranking.lines if line.rank is not None and (found := accuracy.get(line.team)) is not None]
    return next((abs(other - shares[0]) for other in shares[1:] if other != shares[0]), None)


def _best(entry: RoundEntry, target: str, document: Document) -> _Best | None:
    row = entry.attacks.get(target, {})
    counting = [attacker for attacker in row if attacker not in document.only_shown]
    teams_first = sorted(counting, key=lambda attacker: attacker in document.sample_attacks)
    first = max(teams_first, key=lambda attacker: row[attacker].accuracy.mean, default=None)
    return None if first is None else _Best(first, row[first])


def _excluded(entry: RoundEntry) -> frozenset[str]:
    """The teams that are shown but not ranked."""
    return frozenset[str]().union(*(results.excluded for results in entry.repeats))


def _told(found: AttackEntry, chance: float) -> str:
    """What the best attack tells: ``found`` more than chance; ``hidden``; ``unclear`` where too few repeats could tell."""
    if found.beyond_chance:
        return "found"
    half = found.accuracy.half
    return "hidden" if half is None or found.accuracy.mean + half <= _MUCH * chance else "unclear"


def _times_chance(accuracy: float, chance: float) -> str:
    return times(round(accuracy / chance, 9))  # the same ratio in the same words, whatever the last bits
