"""Who may be named by an award, and what has to be said beside it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kakurenbo.contracts import RoundResults, team_of
from kakurenbo.contracts.results import DISQUALIFIED, MISSING
from kakurenbo.messages import LANGUAGES, render
from kakurenbo.messages.catalogue import catalogue_of
from kakurenbo.reporting.document import Ranking

_ANONYMIZATION, _ATTACK = "anonymization", "attack"
Notices = Mapping[str, Mapping[str, str]]
"""Award to language to sentence."""


def of_those_who_played(
    awards: Mapping[str, Sequence[str]], award_for: Mapping[str, str], rounds: Mapping[str, Sequence[RoundResults]]
) -> dict[str, tuple[str, ...]]:
    """Awards without teams that did nothing for them in any round: a formula that gives everybody a score may rank them, too.

    That for attack is for teams of which a guess was scored, that for anonymization for teams that released something, any
    other for teams that did either.
    """
    every = [results for repeats in rounds.values() for results in repeats]
    released = {team for results in every for team in _released(results)}
    attacked = _attackers(every)
    entitled = {_ANONYMIZATION: released, _ATTACK: attacked}
    return {
        name: tuple(team for team in teams if team in entitled.get(award_for.get(name, name), released | attacked))
        for name, teams in awards.items()
    }


def _released(results: RoundResults) -> set[str]:
    """Who released; a team that was taken out tells of a release only by what was measured or found of it."""
    nothing = (MISSING, DISQUALIFIED)
    return {
        team_of(target)
        for target in results.targets
        if results.out.get(target) not in nothing or target in results.utility or results.credits.get(target)
    }


def _attackers(every: Iterable[RoundResults]) -> set[str]:
    """Who made a guess that was scored, whatever it earned."""
    return {attacker for results in every for row in results.credits.values() for attacker in row}


def award_notices(
    awards: Mapping[str, Sequence[str]],
    rankings: Mapping[str, Ranking],
) -> Notices:
    """A sentence beside an award that nobody takes, and beside that for attack where it goes to teams that found nothing.

    The formulas give everybody a score, and where few attack a score of nothing is enough for a place. The award stands: it is
    what the rules say; but nobody should take it for a feat.
    """
    notices = {_ATTACK: _unearned(awards.get(_ATTACK, ()), rankings)}
    notices |= {name: [(f"award.nobody.{name}", [])] for name, teams in awards.items() if not teams}
    told = {name: {spoken: _sentence(parts, spoken) for spoken in LANGUAGES} for name, parts in notices.items()}
    return {name: sentences for name, sentences in told.items() if all(sentences.values())}


def _unearned(awarded: Sequence[str], rankings: Mapping[str, Ranking]) -> list[tuple[str, list[str]]]:
    """Who of those who are awarded earned nothing, with the code that says so."""
    lines = rankings[_ATTACK].lines if _ATTACK in rankings else ()
    without = {line.team for line in lines if not line.score}
    luckless = [team for team in awarded if team in without]
    return [("award.luckless", luckless)] if luckless else []


def _sentence(parts: Sequence[tuple[str, Sequence[str]]], spoken: str) -> str:
    known = catalogue_of(spoken)
    return render("verdict.join", {}, spoken).message.join(
        render(code, {"teams": list(teams)}, spoken).message for code, teams in parts if code in known
    )
