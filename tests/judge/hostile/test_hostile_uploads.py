"""Every hostile thing of the list comes to a judge that runs: it is refused in words, nothing swells, nothing stays."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import pytest
from benchmarks.bench_judge import family
from tests.judge.hostile.field import MOST_MB, TABLES, ZIPS, Answer, Field, Player, playing_field
from tests.judge.hostile.files import PICKLE_MARK
from tests.judge.hostile.kinds import (
    CONTENTS,
    FORM,
    KINDS,
    LARGE_CONTENTS,
    LARGE_TALKS,
    NAME_KINDS,
    TABLE,
    TALK_KINDS,
    Content,
    Talk,
)
from tests.judge.waiting import wait_until

pytestmark = pytest.mark.slow

_AT_ONCE = 4
_WORTH_TELLING_MB = 100


class Handed(NamedTuple):
    """A file that was taken, and is being looked at."""

    kind: Content
    player: Player
    submission: str


def test_the_list_has_a_kind_once_and_more_than_sixty_of_them() -> None:
    names = [f"{type(kind).__name__} {kind.id}" for kind in KINDS]
    assert len(names) == len(set(names))
    assert len(KINDS) >= 60


def test_every_hostile_upload_is_refused_in_words_within_600_mb_and_leaves_nothing() -> None:
    _all_are_refused(CONTENTS, TALK_KINDS)


@pytest.mark.skipif(
    "KAKURENBO_SOAK" not in os.environ, reason="a gigabyte, for minutes: make soak runs it"
)
def test_so_is_every_hostile_upload_that_needs_its_size_or_its_time() -> None:
    _all_are_refused(LARGE_CONTENTS, LARGE_TALKS)


def _all_are_refused(contents: Sequence[Content], talks: Sequence[Talk]) -> None:
    with playing_field() as (field, watch, folder):
        before = _processes(watch.pid)
        tables = {
            TABLES: field.team(TABLES, 0).download(
                "/contests/tables/rounds/pre/files/teams/01/pre_samplingdata_01.csv"
            )
        }
        wrong = [*_names(field)]
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            handed = list(
                pool.map(
                    lambda kind: _hand_in(field, kind, tables.get(kind.contest, b"")), contents
                )
            )
            wrong += [
                line
                for lines in pool.map(lambda kind: [*_talk(field, kind)], talks)
                for line in lines
            ]
            wrong += [
                line for lines in pool.map(lambda one: [*_judged(one)], handed) for line in lines
            ]
        assert not wrong, "\n".join(wrong)
        print({name: round(most) for name, most in watch.most.items() if most > _WORTH_TELLING_MB})
        assert max(watch.most.values()) < MOST_MB, watch.most
        _nothing_is_left(field, folder)
        assert _processes(watch.pid) <= before
        assert not Path(PICKLE_MARK).exists()


def _processes(judge: int) -> int:
    """How many the judge runs, without those that PostgreSQL has for connections: they come and go with the pool."""
    commands = [Path(f"/proc/{pid}/cmdline") for pid in family(judge)]
    return sum(
        not command.read_bytes().startswith(b"postgres:")
        for command in commands
        if command.exists()
    )


def _hand_in(field: Field, kind: Content, table: bytes) -> Handed:
    player = field.player(kind.contest)
    submission = player.begin()
    if kind.name == FORM:
        player.ask("PUT", f"{submission}/files/{player.own(TABLE)}", table)
    sent = player.ask("PUT", f"{submission}/files/{player.own(kind.name)}", kind.make(table))
    assert sent.status == 201, (kind.id, sent)
    assert player.ask("POST", f"{submission}/finish").status == 200
    return Handed(kind, player, submission)


def _judged(handed: Handed) -> Iterator[str]:
    """What is wrong with the verdict."""
    kind = handed.kind
    verdict = handed.player.verdict(handed.submission)
    if kind.name == FORM:  # a bad form costs itself alone: the table beside it counts
        yield from _refused_form(handed, verdict)
        return
    if verdict.said["error"] != "invalid" or kind.code not in verdict.codes:
        yield f"{kind.id}: {kind.code} was expected, not {verdict}"
    yield from _unworded(kind.id, verdict, handed.player.verdict(handed.submission, "ja"))


def _refused_form(handed: Handed, verdict: Answer) -> Iterator[str]:
    if verdict.said["error"] != "scored":
        yield f"{handed.kind.id}: the table was expected to count, not {verdict}"
    name = handed.player.own(FORM)
    english, japanese = (
        [notice for notice in answer.said["notices"] if notice.startswith(f"{name}:")]
        for answer in (verdict, handed.player.verdict(handed.submission, "ja"))
    )
    if not english or any(notice.isascii() for notice in japanese):
        yield f"{handed.kind.id}: not in both languages: {english}, {japanese}"


def _names(field: Field) -> Iterator[str]:
    player = field.team(TABLES, 0)
    submission = player.begin()
    for kind in NAME_KINDS:
        said = {
            language: player.ask("PUT", f"{submission}/files/{kind.name}", b"1,2\n", language)
            for language in ("en", "ja")
        }
        if said["en"].status != kind.status or kind.code not in said["en"].codes:
            yield f"{kind.id}: {kind.status} {kind.code} was expected, not {said['en']}"
        yield from _unworded(kind.id, said["en"], said["ja"])
    assert player.ask("GET", submission).said["files"] == []
    player.ask("DELETE", submission)


def _talk(field: Field, kind: Talk) -> Iterator[str]:
    said = {}
    for language in ("en", "ja") if kind.code else ("en",):
        player = field.player(kind.contest)
        player.language = language
        submission = player.begin()
        said[language] = kind.act(player, submission)
        player.ask("DELETE", submission)
    if said["en"].status != kind.status or (kind.code and kind.code not in said["en"].codes):
        yield f"{kind.id}: {kind.status} {kind.code} was expected, not {said['en']}"
    elif kind.code:
        yield from _unworded(kind.id, said["en"], said["ja"])


def _unworded(kind: str, english: Answer, japanese: Answer) -> Iterator[str]:
    """A refusal says in both languages what is wrong; each problem of it has words, none of which is a bare code."""
    if english.codes != japanese.codes:
        yield f"{kind}: other codes in Japanese: {japanese}"
    for spoken, other in zip(_sentences(english), _sentences(japanese), strict=False):
        if not spoken or spoken == other or (not spoken.isascii() and other.isascii()):
            yield f"{kind}: not in both languages: {spoken!r}, {other!r}"


def _sentences(answer: Answer) -> list[str]:
    problems = answer.said.get("problems", [])
    return [problem["message"] for problem in problems] or [answer.said.get("message", "")]


def _nothing_is_left(field: Field, folder: Path) -> None:
    """No file, no folder, no row and no process of anything that was refused."""
    wait_until(lambda: not _strays(folder), lambda: str(_strays(folder)))
    left = field.left()
    assert not set(left["states"]) - {"invalid", "scored", "withdrawn"}, left["states"]
    assert not left["jobs"]
    kept = {path.name for path in (field.home / "files").glob("??/*")}
    assert kept == set(left["blobs"])


def _strays(folder: Path) -> list[Path]:
    home = folder / "home"
    places = [home / "files" / "incoming", home / "web", folder / "tmp", *home.glob("work/*/jobs")]
    return [
        path
        for place in places
        if place.is_dir()
        for path in place.rglob("*")
        if not path.name.startswith("pymp-")
    ]


@pytest.mark.parametrize("contest", [TABLES, ZIPS])
def test_hostile_contents_are_tried_on_a_table_and_on_a_zip(contest: str) -> None:
    assert sum(kind.contest == contest for kind in CONTENTS) >= 30
