"""What has to be said beside an award."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kakurenbo.contracts import RoundResults
from kakurenbo.messages import LANGUAGES, render
from kakurenbo.messages.catalogue import catalogue_of
from kakurenbo.reporting.document import Ranking

_ATTACK = "attack"
Notices = Mapping[str, Mapping[str, str]]
"""Award to language to sentence."""


def award_notices(
    awards: Mapping[str, Sequence[str]],
    rounds: Mapping[str, Sequence[RoundResults]],
    rankings: Mapping[str, Ranking],
) -> Notices:
    """A sentence beside an award that nobody takes, and beside that for attack where it goes to teams that found nothing.

    The formulas give everybody a score, and where few attack a score of nothing is enough for a place. The award stands: it is
    what the rules say; but nobody should take it for a feat.
    """
    notices = {_ATTACK: _unearned(awards.get(_ATTACK, ()), rounds, rankings)}
    notices |= {name: [(f"award.nobody.{name}", [])] for name, teams in awards.items() if not teams}
    told = {name: {spoken: _sentence(parts, spoken) for spoken in LANGUAGES} for name, parts in notices.items()}
    return {name: sentences for name, sentences in told.items() if all(sentences.values())}


def _unearned(
    awarded: Sequence[str], rounds: Mapping[str, Sequence[RoundResults]], rankings: Mapping[str, Ranking]
) -> list[tuple[str, list[str]]]:
    """Who of those who are awarded attacked nobody, and who attacked but earned nothing; each with the code that says so."""
    attacking = {
        attacker for repeats in rounds.values() for results in repeats for row in results.credits.values() for attacker in row
    }
    lines = rankings[_ATTACK].lines if _ATTACK in rankings else ()
    without = {line.team for line in lines if not line.score}
    idle = [team for team in awarded if team not in attacking]
    luckless = [team for team in awarded if team in attacking & without]
    return [(code, teams) for code, teams in (("award.idle", idle), ("award.luckless", luckless)) if teams]


def _sentence(parts: Sequence[tuple[str, Sequence[str]]], spoken: str) -> str:
    known = catalogue_of(spoken)
    return render("verdict.join", {}, spoken).message.join(
        render(code, {"teams": list(teams)}, spoken).message for code, teams in parts if code in known
    )
