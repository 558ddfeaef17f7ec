"""The README of an archive: what each folder is, and the commands that make its results again."""

from __future__ import annotations

from collections.abc import Iterator

from kakurenbo.contest import ATTACK
from kakurenbo.core.messages import LANGUAGES, render
from kakurenbo.judge.contests.models import Contest, PhaseState, Round
from kakurenbo.judge.scoring.models import StandingSnapshot

NAME = "README.txt"


def readme(contest: Contest, *, ended: bool) -> bytes:
    """What the archive holds and how to use it, in every language; before the end, that answers are not in it yet."""
    made = "\n".join(commands(contest)) if ended else ""
    return ("\n\n".join(_told(contest, spoken, made) for spoken in LANGUAGES) + "\n").encode()


def commands(contest: Contest) -> Iterator[str]:
    """Every command that makes the results of a contest again from its archive, to be run where it was unpacked."""
    rulebook, played = contest.rulebook, [one for one in contest.rounds.all() if _was_attacked(one)]
    for one in played:
        folder = f"{contest.slug}/rounds/{one.name}"
        yield f"kakurenbo verify {rulebook} {folder}/preparation"
        yield f"kakurenbo score {rulebook} {folder}/phase {folder}/guesses -o {one.name}.json"
    for one in played:
        yield _joined(
            "kakurenbo standings", rulebook, f"{one.name}.json", *_out([one], by_round=False)
        )
    if len(played) > 1 and StandingSnapshot.objects.filter(contest=contest, round=None).exists():
        files = [f"--{one.name} {one.name}.json" for one in played]
        yield _joined("kakurenbo standings", rulebook, *files, *_out(played, by_round=True))


def _told(contest: Contest, spoken: str, made: str) -> str:
    holds = render(
        "archive.holds", {"title": contest.title, "rulebook": contest.rulebook}, spoken
    ).message
    more = render("archive.again" if made else "archive.later", {}, spoken).message
    return "\n\n".join(filter(None, (holds.strip(), more.strip(), made)))


def _was_attacked(round_: Round) -> bool:
    return round_.phases.filter(kind=ATTACK).exclude(state=PhaseState.WAITING).exists()


def _out(rounds: list[Round], *, by_round: bool) -> list[str]:
    """The option that names who was disqualified; nothing where nobody was."""
    named = [
        f"{one.name}:{number}" if by_round else number
        for one in rounds
        for number in one.entries.exclude(disqualified="")
        .order_by("team__number")
        .values_list("team__number", flat=True)
    ]
    return [f"--disqualified {','.join(named)}"] if named else []


def _joined(*parts: str) -> str:
    return " ".join(parts)
