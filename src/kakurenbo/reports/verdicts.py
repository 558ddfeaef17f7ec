"""Sentences of a document in every language: verdicts on releases, lessons of the tournament, notices beside awards."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from kakurenbo.contest import Measurement, Unit, team_of
from kakurenbo.contest.readme import judges_text
from kakurenbo.contest.results import DISQUALIFIED, FAILED, MISSING, NO_AWARDS, PUBLISHED, REFUSED
from kakurenbo.core.messages import LANGUAGES, is_known, render, retold
from kakurenbo.reports.document import (
    AttackEntry,
    Document,
    Ranking,
    RankingLine,
    ReleaseEntry,
    RoundEntry,
)
from kakurenbo.reports.numbers import against, counted, estimated, figure, share, times
from kakurenbo.reports.rounds import was_judged

_MOST_NAMED = 3
_MUCH = (
    2  # times chance: an interval that reaches further does not show that a release hides anybody
)


def with_verdicts(document: Document) -> Document:
    """Write the verdicts on every release and on the tournament."""
    writers = [_Writer(language, document) for language in LANGUAGES]
    rounds = []
    for entry in document.rounds:
        releases = {
            target: replace(
                release,
                verdicts={writer.language: writer.verdict(entry, release) for writer in writers},
            )
            for target, release in entry.releases.items()
        }
        rounds.append(replace(entry, releases=releases))
    verdicts = {writer.language: tuple(writer.lessons()) for writer in writers}
    return replace(document, rounds=tuple(rounds), verdicts=verdicts)


class _Best(NamedTuple):
    """The best attack on a release."""

    attacker: str
    attack: AttackEntry


@dataclass(frozen=True)
class _Writer:
    """The sentences of one language."""

    language: str
    document: Document

    # -- one release -------------------------------------------------------------------------------

    def verdict(self, entry: RoundEntry, release: ReleaseEntry) -> str:
        """Say what attacks achieved on a release, and whether it holds the rules."""
        return self._sentence([*self._attacked(entry, release), *self._held(release)])

    def _attacked(self, entry: RoundEntry, release: ReleaseEntry) -> Iterator[str]:
        best = self._best(entry, release.target)
        if best is None:
            if release.state in (PUBLISHED, DISQUALIFIED):
                yield self._say("verdict.no_attack")
            return
        chance = release.chance
        code = f"verdict.{_outcome(best.attack, chance) if chance else 'found_plain'}"
        yield self._say(code, **self._found(best, chance))
        if release.constant is not None:
            constant = share(release.constant)
            yield self._say("verdict.constant", answer=self._answer(), constant=constant)

    def _held(self, release: ReleaseEntry) -> Iterator[str]:
        cause = retold(release.cause, self.language)
        if release.is_below_threshold:
            failed = [self._measured(release, measured) for measured in release.failed_measurements]
            yield self._in_repeats("verdict.below_threshold", release, failed=failed)
        elif release.state == DISQUALIFIED and cause:
            yield self._in_repeats("verdict.disqualified", release, failed=cause)
        elif release.state != PUBLISHED:
            # Organizers need not say why, and the public record of a round held by files does not.
            needs_cause = release.state in (DISQUALIFIED, REFUSED, FAILED)
            kind = "state" if needs_cause and not cause else "verdict"
            yield self._say(f"{kind}.{release.state}", cause=cause)
        else:
            score = self.document.rulebook.utility_score
            scores = [measured for measured in release.measurements if measured.name == score]
            yield from (self._measured(release, measured) for measured in scores)
            if release.verdict == "passes":
                yield self._say("verdict.passes")

    def _measured(self, release: ReleaseEntry, measured: Measurement) -> str:
        """Say what a measure is: beside the threshold that it misses, or what it is out of."""
        declared, mean = self.document.figure(measured.name), release.estimates.get(measured.name)
        value, code = figure(measured.value, declared.unit), "verdict.utility"
        direction = "figure.higher" if measured.higher_is_better else "figure.lower"
        parameters = {"direction": self._say(direction)}
        if measured.passes is False and measured.threshold:
            known = measured.value if mean is None or mean.n == 1 else mean.mean
            value, parameters["threshold"] = against(known, measured.threshold, declared.unit)
            code = "verdict.fails" if mean is None or mean.n == 1 else "verdict.fails_mean"
        elif declared.of is not None:
            code, parameters["of"] = "verdict.utility_of", figure(declared.of)
        if mean is not None and mean.n > 1:
            value = estimated(mean, declared.unit, self.language)
        return self._say(code, measure=measured.name, value=value, **parameters)

    # -- the tournament ----------------------------------------------------------------------------

    def lessons(self) -> Iterator[str]:
        """Say what the tournament showed, in a sentence each."""
        document = self.document
        winners = self._winners()
        how = "first" if NO_AWARDS in document.award_notices else "won"
        for name, teams in winners.items():
            is_overall = name == "overall"
            yield self._say(f"lesson.{how}_{name}", teams=self._some(teams, plain=is_overall))
        for entry in document.rounds:
            for lesson in self._of_round(entry):
                yield (
                    self._say("lesson.round", round=entry.name, lesson=lesson)
                    if len(document.rounds) > 1
                    else lesson
                )
        for name, ranking in document.rankings.items():
            first = ranking.lines[0] if ranking.lines and ranking.lines[0].rank == 1 else None
            tied = (first.team, *first.tied_with) if first and first.tied_with else ()
            if tied and set(tied) != set(winners.get(name, ())):  # which was said above
                yield self._say(
                    "lesson.tied", ranking=self._say(f"ranking.{name}"), teams=self._some(tied)
                )
        if close := [self._say(f"ranking.{name}") for name in _within_chance(document)]:
            yield self._say("lesson.one_play", rankings=close)
        if document.judges:
            yield judges_text(document.rulebook.name, document.judges, self.language)

    def _winners(self) -> dict[str, tuple[str, ...]]:
        """Return who won overall, where that is a ranking of its own, and in anonymization; nobody where all are first."""
        rankings = self.document.rankings
        return {
            name: rankings[name].winners
            for name in ("overall", "anonymization")
            if name in rankings
            and not rankings[name].same_as
            and 0 < len(rankings[name].winners) < len(self.document.players)
        }

    def _of_round(self, entry: RoundEntry) -> Iterator[str]:
        excluded = frozenset[str]().union(*(results.excluded for results in entry.repeats))
        published = {
            target: release
            for target, release in entry.releases.items()
            if release.state == PUBLISHED
        }
        ranked = {
            target: release for target, release in published.items() if release.team not in excluded
        }
        attacked = {target: self._best(entry, target) for target in ranked}
        best = {target: attack for target, attack in attacked.items() if attack is not None}
        if best:
            noun = "release" if len(best) == len(published) else "ranked_release"
            noun = noun if len(best) == len(ranked) else "attacked_release"
            yield from self._hidden(entry, best, counted(len(best), noun, self.language))
        yield from self._strongest(entry, excluded)
        yield from self._constant(entry)
        yield from self._thresholds(entry)
        yield from self._without_release(entry, excluded)

    def _hidden(self, entry: RoundEntry, best: Mapping[str, _Best], count: str) -> Iterator[str]:
        """Say which releases hid best and least by the best attack on each."""
        means = {target: strongest.attack.accuracy.mean for target, strongest in best.items()}
        least, most = (
            [target for target, mean in means.items() if mean == bound(means.values())]
            for bound in (min, max)
        )
        chance = entry.releases[least[0]].chance
        outcome = _outcome(best[least[0]].attack, chance) if chance else ""
        parts = ("lesson.best", "several" if least[1:] else outcome, "" if chance else "plain")
        parameters = self._found(best[least[0]], chance)
        named = {"releases": self._some(least), "release": self._release(least[0])}
        yield self._say("_".join(filter(None, parts)), **named, count=count, **parameters)
        if len(most) < len(best):
            code = "lesson.worst_several" if most[1:] else "lesson.worst"
            named = {"releases": self._some(most), "release": self._release(most[0])}
            yield self._say(code, **named, **self._found(best[most[0]], chance))

    def _strongest(self, entry: RoundEntry, excluded: frozenset[str]) -> Iterator[str]:
        guessing = {attacker for row in entry.attacks.values() for attacker in row}
        means = {
            name: achieved.accuracy
            for name, achieved in entry.attackers.items()
            if achieved.accuracy is not None
            and name in guessing - excluded - {*self.document.sample_attacks}
        }
        if not means:
            return
        first = max(means, key=lambda name: means[name])
        chance = entry.attackers[first].chance
        if means[first] <= (chance or 0):
            code = "lesson.attack_chance" if chance else "lesson.attack_nothing"
        else:
            code = "lesson.attack" if chance else "lesson.attack_plain"
        attacker = self._with_method(first, "attack")
        yield self._say(
            code, attacker=attacker, **_compared(share(means[first]), means[first], chance)
        )

    def _constant(self, entry: RoundEntry) -> Iterator[str]:
        is_below: list[bool] = []
        for target, row in entry.attacks.items():
            release = entry.releases.get(target)
            if release and release.constant is not None:
                is_below += [attack.accuracy.mean <= release.constant for attack in row.values()]
        if is_below:
            code = "lesson.constant" if any(is_below) else "lesson.constant_none"
            count = counted(len(is_below), "attack", self.language)
            yield self._say(code, below=sum(is_below), count=count, answer=self._answer())

    def _thresholds(self, entry: RoundEntry) -> Iterator[str]:
        count = counted(entry.judged, "release", self.language)
        if entry.judged and entry.passing == entry.judged:
            yield self._say("lesson.all_pass", count=count)
        elif entry.judged:
            out: dict[str, list[str]] = {}
            for release in filter(was_judged, entry.releases.values()):
                if release.state == DISQUALIFIED:
                    measures = [measured.name for measured in release.failed_measurements]
                    by = measures if release.is_below_threshold else release.cause
                    name = self._release(release.target)
                    said_of = {"release": name, "measures": by}
                    text = self._in_repeats("lesson.by", release, **said_of) if by else name
                    out.setdefault(release.standing, []).append(text)
            clauses = [self._say(f"lesson.{why}", releases=names) for why, names in out.items()]
            failed = self._say("verdict.join").join(clauses)
            yield self._say("lesson.passing", passing=entry.passing, count=count, failed=failed)

    def _without_release(self, entry: RoundEntry, excluded: frozenset[str]) -> Iterator[str]:
        """Say who has no release that could be measured, and why; an unranked team owes none."""
        clauses = []
        for state in (MISSING, REFUSED, FAILED):
            names = [
                self._release(release.target)
                for release in entry.releases.values()
                if release.state == state and (state != MISSING or release.team not in excluded)
            ]
            clauses += [self._say(f"lesson.{state}", releases=names)] if names else []
        if clauses:
            yield self._sentence(clauses)

    # -- words -------------------------------------------------------------------------------------

    def _say(self, code: str, **parameters: object) -> str:
        return render(code, parameters, self.language).message

    def _in_repeats(self, code: str, about: ReleaseEntry, /, **parameters: object) -> str:
        """Say of a release what is true of all repeats, or in how many it is."""
        if about.in_repeats == about.of_repeats:
            return self._say(code, **parameters)
        repeats = counted(about.of_repeats, "repeat", self.language)
        return self._say(f"{code}_repeats", **parameters, count=about.in_repeats, repeats=repeats)

    def _sentence(self, parts: Sequence[str]) -> str:
        joined = self._say("verdict.join").join(parts)
        return joined[:1].upper() + joined[1:] + self._say("verdict.end")

    def _answer(self) -> str:
        """Name the contest's constant answer."""
        answer = self.document.figure("constant").definitions.get(self.language)
        return answer or self._say("verdict.some_constant")

    def _found(self, best: _Best, chance: float | None) -> dict[str, str]:
        """Return the parameters of a sentence on an attack beside chance."""
        accuracy = best.attack.accuracy
        text = estimated(accuracy, Unit.SHARE, self.language)
        attacker = self._with_method(best.attacker, "attack")
        return {"attacker": attacker, **_compared(text, accuracy.mean, chance)}

    def _release(self, target: str) -> str:
        return self._with_method(target, "anonymizer")

    def _with_method(self, name: str, role: str) -> str:
        team = team_of(name)
        players = (player for player in self.document.players if player.team == team)
        method = next((getattr(player, role) for player in players), "")
        return self._say("verdict.with", attacker=name, method=method) if method else name

    def _some(self, names: Sequence[str], *, plain: bool = False) -> list[str]:
        """Name releases, or teams ``plain``; of many the first few."""
        named = [name if plain else self._release(name) for name in names[:_MOST_NAMED]]
        left = len(names) - len(named)
        return [*named, *([self._say("lesson.more", count=left)] if left else [])]

    def _best(self, entry: RoundEntry, target: str) -> _Best | None:
        """Return the best attack on a release; of equals, that of a team before the organizers' own."""
        row = entry.attacks.get(target, {})
        counting = [attacker for attacker in row if attacker not in self.document.only_shown]
        counting.sort(key=lambda attacker: attacker in self.document.sample_attacks)
        best = max(counting, key=lambda attacker: row[attacker].accuracy.mean, default=None)
        return None if best is None else _Best(best, row[best])


def _outcome(attack: AttackEntry, chance: float) -> str:
    """Return ``found`` beyond chance, ``hidden``, or ``unclear`` where too few repeats could show it."""
    if attack.beyond_chance:
        return "found"
    half = attack.accuracy.half
    is_hidden = half is None or attack.accuracy.mean + half <= _MUCH * chance
    return "hidden" if is_hidden else "unclear"


def _compared(accuracy: str, mean: float, chance: float | None) -> dict[str, str]:
    """Return the parameters of a sentence on an accuracy beside chance."""
    # Rounded, so that the last bits of a ratio change no word.
    ratio = times(round(mean / chance, 9)) if chance else ""
    return {"accuracy": accuracy, "times": ratio, "chance": share(chance)}


def _within_chance(document: Document) -> list[str]:
    """Return rankings of a single play whose first places differ by no more than blind guesses do.

    Only of a play that can be repeated: the results of a contest that was held are what they are.
    """
    if document.repeat_count > 1 or "plan" not in document.manifest or len(document.rounds) != 1:
        return []
    (entry,) = document.rounds
    if entry.chance is None:
        return []
    accuracies = {
        "anonymization": {
            team_of(target): release.best_accuracy for target, release in entry.releases.items()
        },
        "attack": {attacker: achieved.accuracy for attacker, achieved in entry.attackers.items()},
    }
    close = []
    for name, accuracy in accuracies.items():
        ranking = document.rankings.get(name, Ranking())
        ranked = [accuracy.get(line.team) for line in ranking.lines if line.rank is not None]
        known = [value for value in ranked if value is not None]
        lead = next((abs(other - known[0]) for other in known if other != known[0]), None)
        if lead is not None and lead <= (entry.chance.high - entry.chance.low) / 2:
            close.append(name)
    return close


# -- awards ----------------------------------------------------------------------------------------


def award_notices(
    awards: Mapping[str, Sequence[str]],
    rankings: Mapping[str, Ranking],
    details: Mapping[str, Any] | None = None,
) -> dict[str, dict[str, str]]:
    """Return a sentence in each language beside awards that nobody takes or that teams with no score take.

    The formulas give everybody a score, and where few attack a score of nothing is enough for a place. The award stands: it is
    what the rules say. ``no_awards`` says why a round gives none at all.
    """
    attack = rankings.get("attack", Ranking())
    without_score = {line.team for line in attack.lines if not line.score}
    luckless = [team for team in awards.get("attack", ()) if team in without_score]
    codes = {name: f"award.nobody.{name}" for name, teams in awards.items() if not teams}
    codes |= {"attack": "award.luckless"} if luckless else {}
    notices = {
        name: {
            language: render(code, {"teams": luckless}, language).message for language in LANGUAGES
        }
        for name, code in codes.items()
        if all(is_known(code, language) for language in LANGUAGES)
    }
    if details and NO_AWARDS in details:
        notices[NO_AWARDS] = {
            language: retold(details[NO_AWARDS], language) for language in LANGUAGES
        }
    return notices


def note_text(line: RankingLine, below_threshold: Collection[str], language: str) -> str:
    """Return the note of a ranking line; a team that is out by a threshold alone is not called disqualified."""
    note = retold(line.note, language)
    if line.team not in below_threshold:
        return note
    disqualified = render("state.disqualified", {}, language).message
    return note.replace(disqualified, render("state.below_threshold", {}, language).message)
