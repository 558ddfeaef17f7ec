"""Playing cells by the steps of the rulebook: prepare, anonymize, judge, attack, credit."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from scripts.results.cells import release_key, rules_key
from scripts.results.tables import Column, ResultsTable

from kakurenbo.contest import AnyRulebook, Files, PreparedRound
from kakurenbo.contest.engine import ReleaseOutcome, judge_release, prepare
from kakurenbo.core import Source, read_folder, write_folder
from kakurenbo.core.errors import KakurenboError
from kakurenbo.core.remembering import Memory, remembering_tables
from kakurenbo.core.rng import salt, stream
from kakurenbo.methods import registry

TEAM = "01"
_SEED = 2020
_SECONDS = "seconds.txt"
_TABLES = Memory(6)


class Draw:
    """One draw of a contest's data, prepared once for all anonymizers, under each variant of the rules."""

    def __init__(self, table: ResultsTable, number: int, folder: Path) -> None:
        self.table, self.number = table, number
        self.seed = int.from_bytes(
            salt(_SEED, "results", table.rulebook, str(number))[:16], "little"
        )
        self._folder = folder

    @cached_property
    def prepared(self) -> tuple[PreparedRound[Any], ...]:
        """The organizer's folder of each variant."""
        return tuple(self._prepared(variant) for variant in range(len(self.table.variants)))

    def _prepared(self, variant: int) -> PreparedRound[Any]:
        rules, place = (
            self.table.rules(variant),
            self._folder / "prepared" / rules_key(self.table, variant) / str(self.number),
        )
        if not place.exists():
            write_folder(place, prepare(rules, self.seed, [TEAM]).files())
        return PreparedRound(rules, place)

    def anonymize(self, text: str) -> Played:
        """What a method makes of this draw, judged; the time is the method's alone. A release is made once and kept."""
        place = self._folder / "releases" / release_key(self.table, text, self.number)
        if not place.exists():
            files, seconds = self._release(text)
            write_folder(place, {**files, _SECONDS: str(seconds).encode()})
        files = read_folder(place)
        seconds = float(files.pop(_SECONDS))
        sources = [Source(name, data) for name, data in files.items()]
        judged = tuple(
            judge_release(one, TEAM, sources, with_disqualified=True) for one in self.prepared
        )
        for one in judged:
            if not one.target:
                raise KakurenboError(f"{text} is {one.record.state}: {one.record.cause}")
        return Played(self, text, judged, seconds)

    def _release(self, text: str) -> tuple[Files, float]:
        prepared, method = self.prepared[0], registry.build("anonymizers", text)
        handout, rng = prepared.handout(TEAM), stream(self.seed, "anonymize", text)
        begun = time.process_time()
        release = prepared.rules.anonymize(handout, method, rng)
        return prepared.rules.release_files(handout, release), time.process_time() - begun


@dataclass(frozen=True, eq=False)
class Played:
    """A release of one draw, as every variant of the rules judges it."""

    draw: Draw
    anonymizer: str
    judged: tuple[ReleaseOutcome, ...]
    seconds: float

    def as_json(self) -> dict[str, Any]:
        """The figures of the release."""
        return {
            "seconds": self.seconds,
            "passes": [one.record.state == "published" for one in self.judged],
            "scores": [dict(one.record.scores) for one in self.judged],
        }

    @contextmanager
    def published(self) -> Iterator[Published]:
        """The release as attackers and the judge read it."""
        with tempfile.TemporaryDirectory(prefix="kakurenbo-results-") as place:
            folders = []
            for number, (prepared, judged) in enumerate(
                zip(self.draw.prepared, self.judged, strict=True)
            ):
                folder = Path(place) / str(number)
                write_folder(folder, judged.files)
                (folder / "attackers").symlink_to(
                    (prepared.folder.path / "attackers").resolve(), target_is_directory=True
                )
                folders.append(folder)
            yield Published(self, tuple(folders))


@dataclass(frozen=True, eq=False)
class Published:
    """The phase folders of a release, one for each variant."""

    played: Played
    folders: tuple[Path, ...]

    @cache  # noqa: B019  # lives as long as the release is under attack
    def _knowledge(self, told: bool) -> Any:
        """What attackers know; what they compute of it once stays with it."""
        rules = self.played.draw.prepared[0].rules
        declared = registry.build("anonymizers", self.played.anonymizer) if told else None
        with remembering_tables(_TABLES):
            folder = self.folders[0] / "targets" / TEAM
            return rules.read_target(folder, declared=declared, attacker="").knowledge

    def attack(self, column: Column) -> dict[str, Any]:
        """What an attack earns under each variant; the time is the attack's alone."""
        draw, text = self.played.draw, self.played.anonymizer
        method = registry.build("attacks", column.attack)
        knowledge = self._knowledge(column.told)
        begun = time.process_time()
        guess = method(knowledge, stream(draw.seed, "attack", text, column.attack))
        seconds = time.process_time() - begun
        return {
            "seconds": seconds,
            "credits": [self._credit(variant, guess) for variant in range(len(self.folders))],
        }

    def _credit(self, variant: int, guess: Any) -> Mapping[str, Any]:
        rules: AnyRulebook = self.played.draw.prepared[variant].rules
        answer = rules.read_answer(self.folders[variant] / "answers" / TEAM)
        source = Source("guess", rules.bytes_of_attack(guess))
        return rules.score_guess(
            answer, rules.read_guess(rules.answer_form(answer), source)
        ).as_json()
