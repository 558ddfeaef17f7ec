"""Sentences of a document in every language: verdicts on releases, lessons of the tournament, notes of teams."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from kakurenbo.contest import Measurement, Unit, team_of
from kakurenbo.contest.readme import judges_text
from kakurenbo.contest.results import DISQUALIFIED, FAILED, MISSING, NO_AWARDS, PUBLISHED, REFUSED
from kakurenbo.core.messages import LANGUAGES, render, translated
from kakurenbo.reports.document import (
    AttackEntry,
    Document,
    Ranking,
    RankingLine,
    ReleaseEntry,
    RoundEntry,
)
from kakurenbo.reports.numbers import counted, estimated, figure, measured_texts, share, times, word
from kakurenbo.reports.rounds import was_judged

_MAX_NAMES = 3
# Times chance: an interval that reaches further does not show that a release hides anybody.
_CLOSE_TO_CHANCE = 2


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


@dataclass(frozen=True)
class _Writer:
    """The sentences of one language."""

    language: str
    document: Document

    # -- one release -------------------------------------------------------------------------------

    def verdict(self, entry: RoundEntry, release: ReleaseEntry) -> str:
        """Say what attacks achieved on a release, and whether it holds the rules."""
        return self._sentence([*self._attacked(entry, release), *self._state(release)])

    def _attacked(self, entry: RoundEntry, release: ReleaseEntry) -> Iterator[str]:
        attacker = self._best_attacker(entry, release.target)
        if attacker:
            attack = entry.attacks[release.target][attacker]
            outcome = _outcome(attack, release.chance) or "found_plain"
            yield self._say(
                f"verdict.{outcome}", **self._accuracy(attacker, attack, release.chance)
            )
            if release.constant is not None:
                constant = share(release.constant)
                yield self._say("verdict.constant", answer=self._answer(), constant=constant)
        elif release.state in (PUBLISHED, DISQUALIFIED):
            yield self._say("verdict.no_attack")

    def _state(self, release: ReleaseEntry) -> Iterator[str]:
        cause = translated(release.cause, self.language)
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
            for measured in release.measurements:
                if measured.name == self.document.rulebook.utility_score:
                    yield self._measured(release, measured)
            if release.verdict == "passes":
                yield self._say("verdict.passes")

    def _measured(self, release: ReleaseEntry, measured: Measurement) -> str:
        """Say what a measure is: beside the threshold that it misses, or what it is out of."""
        declared, mean = self.document.figure(measured.name), release.estimates.get(measured.name)
        value, threshold = measured_texts(measured, mean, declared.unit, self.language)
        is_mean = mean is not None and mean.n > 1
        if measured.passes is False and threshold:
            code = "verdict.fails_mean" if is_mean else "verdict.fails"
            return self._say(code, measure=measured.name, value=value, threshold=threshold)
        code = "verdict.utility" if declared.of is None else "verdict.utility_of"
        direction = self._say("figure.higher" if measured.higher_is_better else "figure.lower")
        of = "" if declared.of is None else figure(declared.of)
        return self._say(code, measure=measured.name, value=value, of=of, direction=direction)

    # -- the tournament ----------------------------------------------------------------------------

    def lessons(self) -> Iterator[str]:
        """Say what the tournament showed, in a sentence each."""
        document = self.document
        winners: dict[str, tuple[str, ...]] = {}
        how = "first" if NO_AWARDS in document.award_notices else "won"
        for name in ("overall", "anonymization"):
            ranking = document.rankings.get(name, Ranking())
            # Nobody won where all are first, or where another ranking is the overall one.
            if not ranking.same_as and 0 < len(ranking.winners) < len(document.players):
                winners[name] = ranking.winners
                teams = self._names(ranking.winners, has_methods=name != "overall")
                yield self._say(f"lesson.{how}_{name}", teams=teams)
        for entry in document.rounds:
            for lesson in self._of_round(entry):
                is_alone = len(document.rounds) == 1
                named = (
                    "" if is_alone else self._say("lesson.round", round=entry.name, lesson=lesson)
                )
                yield named or lesson
        for name, ranking in document.rankings.items():
            first = ranking.lines[0] if ranking.lines and ranking.lines[0].rank == 1 else None
            tied = (first.team, *first.tied_with) if first and first.tied_with else ()
            if tied and set(tied) != set(winners.get(name, ())):  # which was said above
                title = self._say(f"ranking.{name}")
                yield self._say("lesson.tied", ranking=title, teams=self._names(tied))
        if close := [self._say(f"ranking.{name}") for name in _within_chance(document)]:
            yield self._say("lesson.one_play", rankings=close)
        if judges := document.contest.judges:
            yield judges_text(document.rulebook.name, judges, self.language)

    def _of_round(self, entry: RoundEntry) -> Iterator[str]:
        excluded = {team for results in entry.repeats for team in results.excluded}
        published = [each for each in entry.releases.values() if each.state == PUBLISHED]
        ranked = [release.target for release in published if release.team not in excluded]
        best = {
            target: attacker
            for target in ranked
            if (attacker := self._best_attacker(entry, target))
        }
        if best:
            noun = "release" if len(best) == len(published) else "ranked_release"
            noun = noun if len(best) == len(ranked) else "attacked_release"
            yield from self._hidden(entry, best, counted(len(best), noun, self.language))
        yield from self._strongest(entry, excluded)
        yield from self._constant(entry)
        yield from self._thresholds(entry)
        yield from self._without_release(entry, excluded)

    def _hidden(self, entry: RoundEntry, best: dict[str, str], count: str) -> Iterator[str]:
        """Say which releases hid best and least by the best attack on each."""
        attacks = {target: entry.attacks[target][attacker] for target, attacker in best.items()}
        means = {target: attack.accuracy.mean for target, attack in attacks.items()}
        bounds = min(means.values()), max(means.values())
        least, most = ([name for name in means if means[name] == bound] for bound in bounds)
        chance = entry.releases[least[0]].chance

        def about(code: str, targets: Sequence[str]) -> str:
            target = targets[0]
            accuracy = self._accuracy(best[target], attacks[target], chance)
            names = {"releases": self._names(targets), "release": self._with_method(target)}
            return self._say(code, **names, **accuracy, count=count)

        outcome = _outcome(attacks[least[0]], chance) or "plain"
        if least[1:]:
            outcome = "several" if chance else "several_plain"
        yield about(f"lesson.best_{outcome}", least)
        if len(most) < len(best):
            yield about("lesson.worst_several" if most[1:] else "lesson.worst", most)

    def _strongest(self, entry: RoundEntry, excluded: Collection[str]) -> Iterator[str]:
        guessing = {attacker for row in entry.attacks.values() for attacker in row}
        means = {
            name: attacker.accuracy
            for name, attacker in entry.attackers.items()
            if attacker.accuracy is not None
            and name in guessing.difference(excluded, self.document.sample_attacks)
        }
        if not means:
            return
        first = max(means, key=lambda name: means[name])
        chance, mean = entry.attackers[first].chance, means[first]
        if mean <= (chance or 0):
            code = "lesson.attack_chance" if chance else "lesson.attack_nothing"
        else:
            code = "lesson.attack" if chance else "lesson.attack_plain"
        attacker = self._with_method(first, "attack")
        yield self._say(code, attacker=attacker, **_compared(share(mean), mean, chance))

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
        if not entry.judged:
            return
        count = counted(entry.judged, "release", self.language)
        if entry.passing == entry.judged:
            yield self._say("lesson.all_pass", count=count)
            return
        out: dict[str, list[str]] = {}
        for release in filter(was_judged, entry.releases.values()):
            if release.state == DISQUALIFIED:
                failed = [measured.name for measured in release.failed_measurements]
                by = failed if release.is_below_threshold else release.cause
                name = self._with_method(release.target)
                text = name
                if by:
                    named = {"release": name, "measures": by}
                    text = self._in_repeats("lesson.by", release, **named)
                out.setdefault(release.standing, []).append(text)
        clauses = [self._say(f"lesson.{why}", releases=names) for why, names in out.items()]
        joined = self._say("verdict.join").join(clauses)
        yield self._say("lesson.passing", passing=entry.passing, count=count, failed=joined)

    def _without_release(self, entry: RoundEntry, excluded: Collection[str]) -> Iterator[str]:
        """Say who has no release that could be measured, and why; an unranked team owes none."""
        clauses = []
        for state in (MISSING, REFUSED, FAILED):
            names = [
                self._with_method(release.target)
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

    def _accuracy(self, attacker: str, attack: AttackEntry, chance: float | None) -> dict[str, str]:
        """Return the parameters of a sentence on an attack beside chance."""
        text = estimated(attack.accuracy, Unit.SHARE, self.language)
        compared = _compared(text, attack.accuracy.mean, chance)
        return {"attacker": self._with_method(attacker, "attack"), **compared}

    def _with_method(self, name: str, role: str = "anonymizer") -> str:
        team = team_of(name)
        players = (player for player in self.document.players if player.team == team)
        method = next((getattr(player, role) for player in players), "")
        return self._say("verdict.with", attacker=name, method=method) if method else name

    def _names(self, names: Sequence[str], *, has_methods: bool = True) -> list[str]:
        """Name releases or teams; of many the first few."""
        named = [self._with_method(name) if has_methods else name for name in names[:_MAX_NAMES]]
        left = len(names) - len(named)
        return [*named, *([self._say("lesson.more", count=left)] if left else [])]

    def _best_attacker(self, entry: RoundEntry, target: str) -> str:
        """Return who found most in a release; of equals, a team before the organizers' own attacks."""
        row, samples = entry.attacks.get(target, {}), self.document.sample_attacks
        counting = [attacker for attacker in row if attacker not in self.document.only_shown]
        counting.sort(key=lambda attacker: attacker in samples)
        return max(counting, key=lambda attacker: row[attacker].accuracy.mean, default="")


def _outcome(attack: AttackEntry, chance: float | None) -> str:
    """Return ``found`` beyond chance, ``hidden``, or ``unclear`` where too few repeats could show it; nothing without chance."""
    if not chance:
        return ""
    if attack.beyond_chance:
        return "found"
    half = attack.accuracy.half
    is_hidden = half is None or attack.accuracy.mean + half <= _CLOSE_TO_CHANCE * chance
    return "hidden" if is_hidden else "unclear"


def _compared(accuracy: str, mean: float, chance: float | None) -> dict[str, str]:
    """Return the parameters of a sentence on an accuracy beside chance."""
    # Rounded, so that the last bits of a ratio change no word.
    ratio = times(round(mean / chance, 9)) if chance else ""
    return {"accuracy": accuracy, "times": ratio, "chance": share(chance)}


def _within_chance(document: Document) -> Iterator[str]:
    """Yield rankings of a single play whose first places differ by no more than blind guesses do.

    Only of a play that can be repeated: the results of a contest that was held are what they are.
    """
    if document.repeat_count > 1 or "plan" not in document.manifest or len(document.rounds) != 1:
        return
    (entry,) = document.rounds
    accuracies = {
        "anonymization": {
            release.team: release.best_accuracy for release in entry.releases.values()
        },
        "attack": {name: attacker.accuracy for name, attacker in entry.attackers.items()},
    }
    for name, accuracy in accuracies.items() if entry.chance else ():
        lines = document.rankings.get(name, Ranking()).lines
        ranked = [accuracy.get(line.team) for line in lines if line.rank is not None]
        known = [value for value in ranked if value is not None]
        lead = next((abs(other - known[0]) for other in known if other != known[0]), None)
        band = entry.chance.high - entry.chance.low if entry.chance else 0
        if lead is not None and lead <= band / 2:
            yield name


def note_text(line: RankingLine, below_threshold: Collection[str], language: str) -> str:
    """Return the note of a ranking line; a team that is out by a threshold alone is not called disqualified."""
    note = word(line.note, language)
    if line.team not in below_threshold:
        return note
    disqualified = render("state.disqualified", {}, language).message
    return note.replace(disqualified, render("state.below_threshold", {}, language).message)
