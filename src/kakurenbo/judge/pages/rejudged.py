"""What a rejudging changes, as pages lay it out: a line for each thing, old beside new, with all digits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from kakurenbo.core.messages import text, translated, with_message
from kakurenbo.judge.pages.boards import sample_name
from kakurenbo.judge.pages.shown import ranking_title
from kakurenbo.judge.scoring.texts import problem_words

_ALL = ""
_SHOWN_OF_A_FINGERPRINT = 12


@dataclass(frozen=True)
class ChangeRow:
    """Something that is, or would be, another: what it belongs to, what it is, and both values."""

    about: str
    what: str
    old: str
    new: str
    address: str = ""


def entry_rows(preview: Mapping[str, Any]) -> list[ChangeRow]:
    """Verdicts, figures and credits of entries, and what the organizers' attacks earn."""
    rows = []
    for entry in preview.get("entries", []):
        kind, number = (
            text(f"page.kind.{entry['phase']}"),
            text("page.entry_no", number=entry["number"]),
        )
        about = f"{entry['round']} · {entry['team']} · {kind} · {number}"
        rows += [
            ChangeRow(about, *line, address=entry["submission"]) for line in changed_lines(entry)
        ]
    for sample in preview.get("samples", []):
        about, what = f"{sample['round']} · {sample['target']}", sample_name(sample["attack"])
        rows.append(ChangeRow(about, what, *map(_credit, _sides(sample))))
    return rows


def changed_lines(entry: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """What of one entry is another: its name, old and new."""
    if entry.get("verdict"):
        yield _line(text("page.verdict"), entry["verdict"], partial(_word, "entry_state"))
    if entry.get("state"):
        yield _line(text("page.release"), entry["state"], partial(_word, "release_state"))
    if entry.get("why"):
        yield _line(text("page.rejudge_why"), entry["why"], _wrong)
    if entry.get("scorers"):
        yield _line(text("page.rejudge_scorer"), entry["scorers"], _fingerprint)
    for figure in entry.get("figures", []):
        yield _line(figure["name"], _sides(figure), _plain)
    for file in entry.get("files", []):
        yield _line(file["file"], _sides(file), partial(_word, "guess_file"))
    for credit in entry.get("credits", []):
        yield _line(f"{credit['target']} · {credit['file']}", _sides(credit), _credit)


def _line(what: str, sides: Sequence[Any], told: Callable[[Any], str]) -> tuple[str, str, str]:
    old, new = sides
    return what, told(old), told(new)


def rank_rows(preview: Mapping[str, Any]) -> list[ChangeRow]:
    """Ranks and scores of teams."""
    rows = []
    for line in preview.get("ranks", []):
        about = f"{_round(line['round'])} · {ranking_title(line['ranking'])} · {line['team']}"
        for name, (old, new) in {
            text("page.rank"): line["rank"],
            text("page.score"): line["score"],
        }.items():
            if old != new:
                rows.append(ChangeRow(about, name, _plain(old), _plain(new)))
    return rows


def award_rows(preview: Mapping[str, Any]) -> list[ChangeRow]:
    """Who wins what."""
    return [
        ChangeRow(
            _round(line["round"]),
            ranking_title(line["award"]),
            *(_listed(teams) for teams in _sides(line)),
        )
        for line in preview.get("awards", [])
    ]


def effects(preview: Mapping[str, Any]) -> dict[str, int]:
    """How much changes when it is applied: entries, scores, ranks and awards."""
    ranks = preview.get("ranks", [])
    return {
        "entries": len(preview.get("entries", [])),
        **{
            f"{name}s": sum(old != new for old, new in (line[name] for line in ranks))
            for name in ("score", "rank")
        },
        "awards": len(preview.get("awards", [])),
    }


def _sides(pair: Mapping[str, Any]) -> tuple[Any, Any]:
    return pair["old"], pair["new"]


def _round(name: str) -> str:
    return text("page.overall") if name == _ALL else name


def _word(group: str, value: str | None) -> str:
    return "–" if value is None else text(f"page.{group}.{value}")


def _wrong(said: Mapping[str, Any] | None) -> str:
    """What was found wrong, and where."""
    if said is None:
        return text("page.rejudge_no_problem")
    if "cause" in said:
        return translated(with_message(said["cause"], said.get("messages", {})))
    place = ":".join(str(one) for one in (said["file"], said["row"]) if one)
    words = problem_words(said).message
    return f"{place}: {words}" if place else words


def _fingerprint(scorer: str | None) -> str:
    return "–" if not scorer else scorer[:_SHOWN_OF_A_FINGERPRINT]


def _plain(value: object) -> str:
    return "–" if value is None else str(value)


def _credit(credit: Mapping[str, Any] | None) -> str:
    return "–" if credit is None else f"{credit['hits']} / {credit['of']}"


def _listed(teams: Sequence[str]) -> str:
    return ", ".join(teams) or "–"
