"""``README.md`` and ``README.ja.md`` of every folder that a team or an attacker gets, from a rulebook's declarations."""

from __future__ import annotations

import html
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import groupby
from typing import TYPE_CHECKING, Any

from kakurenbo.contest.declarations import ANONYMIZE, ATTACK, FilePattern, Phase
from kakurenbo.contest.facts import ATTACKERS, PUBLIC, TARGET, TEAM, ContestFacts, part_folder
from kakurenbo.contest.schedule import round_title
from kakurenbo.core import README_FILES
from kakurenbo.core.messages import is_known, render
from kakurenbo.methods import registry

if TYPE_CHECKING:
    from kakurenbo.contest.rulebook import AnyRulebook

RELEASE, GUESS = "release", "guess"
"""Folders that the commands of a README write: readers of a folder look into none of its folders."""
_COMMON_FILES = {
    **{
        name: f"readme.file.{name}"
        for name in ("contest.json", "commitments.json", "releases.json")
    },
    part_folder("NN"): "readme.file.part",
}
_MAX_LISTED = 3


def readme_files(rules: AnyRulebook, facts: ContestFacts, names: Iterable[str]) -> dict[str, bytes]:
    """Return both READMEs of the folder that ``facts`` belong to and that holds the files ``names``."""
    contents = [
        _Readme(rules.under(facts), facts, tuple(names), language) for language in ("en", "ja")
    ]
    return {
        file: content.text().encode() for file, content in zip(README_FILES, contents, strict=True)
    }


def threshold_texts(rules: AnyRulebook, language: str) -> list[str]:
    """Return every threshold that holds, with its direction."""
    found = []
    for name, value in rules.threshold_values().items():
        if value is not None:
            code = "readme.at_most" if name in rules.upper_bounds else "readme.at_least"
            found.append(render(code, {"name": name, "value": f"{value:g}"}, language).message)
    return found


def submission_texts(phase: Phase, language: str) -> list[str]:
    """Return how often a team may submit in a phase, and which submissions are scored."""
    tries = phase.tries
    limits = {"in_all": tries.in_all, "per_day": tries.per_day, "per_target": tries.per_target}
    given = [
        render(f"readme.{name}", {"count": count}, language).message
        for name, count in limits.items()
        if count
    ]
    counts = render(f"readme.counts.{phase.counts.value}", {"keep": phase.keep}, language).message
    return [*(given or [render("readme.no_limit", {}, language).message]), counts]


def judges_text(rulebook: str, judges: Sequence[str], language: str) -> str:
    """Return which teams have members of the committee, and the conditions that the rules set for them."""
    teams = render("judges.teams", {"teams": list(judges)}, language).message
    code = f"judges.{rulebook}"
    if not is_known(code, language):
        return teams
    return f"{teams} {render(code, {}, language).message}"


@dataclass(frozen=True)
class _Readme:
    """One README in one language."""

    rules: AnyRulebook
    facts: ContestFacts
    names: tuple[str, ...]
    language: str

    def text(self) -> str:
        """Return the whole file."""
        rules, facts = self.rules, self.facts
        about = {"team": facts.team, "target": facts.target}
        code = f"rulebooks.{rules.name}"
        title = self._code(code) if is_known(code, self.language) else rules.title
        round_ = round_title(facts.round, self.language)
        lines = [
            f"# {self._say('title', rulebook=rules.name, round=round_) if round_ else rules.name}",
            "",
        ]
        lines += [self._say("about", title=title), ""]
        lines += [self._say(f"folder.{facts.folder}", **about), ""]
        lines += self._section("files", self._files())
        if facts.folder != PUBLIC:
            lines += self._section("columns", self._columns())
        lines += self._section("rules", self._rules())
        lines += self._section("schedule", self._schedule())
        lines += self._section(
            "prohibited", self._list(self._code(code) for code in rules.prohibited)
        )
        lines += self._section("commands", self._commands())
        return "\n".join(lines).rstrip() + "\n"

    def _say(self, code: str, **parameters: Any) -> str:
        return self._code(f"readme.{code}", **parameters)

    def _code(self, code: str, **parameters: Any) -> str:
        return render(code, parameters, self.language).message

    def _section(self, name: str, lines: Iterable[str]) -> list[str]:
        content = list(lines)
        return [f"## {self._say(name)}", "", *content, ""] if content else []

    def _list(self, items: Iterable[str]) -> Iterator[str]:
        return (f"- {item}" for item in items)

    def _table(self, first: str, second: str, rows: Iterable[tuple[str, str]]) -> Iterator[str]:
        yield f"| {self._say(first)} | {self._say(second)} |"
        yield "| --- | --- |"
        for left, right in rows:
            yield f"| {left} | {right.replace('|', chr(92) + '|')} |"

    def _files(self) -> Iterator[str]:
        """Describe every file; files of one description share a line."""
        described = {**_COMMON_FILES, **self.rules.file_descriptions}
        by_code: dict[str, list[str]] = {}
        for name in sorted(
            {re.sub(r"^for_[0-9]+$", part_folder("NN"), name) for name in self.names}
        ):
            code = next(
                (code for pattern, code in described.items() if fnmatchcase(name, pattern)),
                "readme.file.other",
            )
            by_code.setdefault(code, []).append(name)
        rows = (
            (self._shortened([f"`{name}`" for name in names]), self._code(code))
            for code, names in by_code.items()
        )
        return self._table("file", "holds", rows)

    def _columns(self) -> Iterator[str]:
        """Describe every column; neighbours with the same domain share a line."""
        rows = []
        schema = self.rules.release_schema()
        for domain, columns in groupby(
            schema, key=lambda column: column.domain.text(self.language)
        ):
            rows.append(
                (self._shortened([self._column_name(column.name) for column in columns]), domain)
            )
        yield from self._table("column", "values", rows)
        if any("…" in domain for _, domain in rows):
            yield ""
            yield self._say("all_values", rulebook=self.rules.name)

    def _column_name(self, name: str) -> str:
        synonym = self.rules.column_synonyms.get(name)
        return (
            self._say("synonym", name=f"`{name}`", synonym=f"`{synonym}`")
            if synonym
            else f"`{name}`"
        )

    def _shortened(self, quoted: Sequence[str]) -> str:
        if len(quoted) <= _MAX_LISTED:
            return ", ".join(quoted)
        return self._say("many", first=quoted[0], last=quoted[-1], count=len(quoted))

    def _rules(self) -> Iterator[str]:
        yield from self._list(
            condition.text(self.language) for condition in self.rules.conditions()
        )
        yield from self._list(threshold_texts(self.rules, self.language))
        for phase in self.rules.phases:
            texts = submission_texts(phase, self.language)
            yield f"- {self._say(f'submissions.{phase.name}')} {' '.join(texts)}"
        if self.facts.judges:
            yield f"- {judges_text(self.rules.name, self.facts.judges, self.language)}"

    def _schedule(self) -> Iterator[str]:
        if self.facts.schedule:
            rows = self.facts.schedule.rows(self.language)
            escaped = (
                (dates, html.escape(title, quote=False).replace("[", r"\["))
                for dates, title in rows
            )
            yield from self._table("date", "event", escaped)

    def _commands(self) -> Iterator[str]:
        """Give the commands that work in this folder, each after what it does."""
        steps = {TEAM: self._team_commands, TARGET: self._target_commands}.get(self.facts.folder)
        commands = [("status", "kakurenbo status ."), *(steps() if steps else [])]
        for name, command in commands:
            yield from (self._say(f"command.{name}"), "", f"```console\n$ {command}\n```", "")
        if self.facts.folder in (TEAM, ATTACKERS) and self._is_played:
            attacker = self.facts.team or "NN"
            yield self._say("attack_later", file=self._guess_name(target="TT", attacker=attacker))

    @property
    def _is_played(self) -> bool:
        """Whether teams submit in this round; in a trial they only try the tools."""
        return self.rules.round_name in self.rules.rounds

    def _team_commands(self) -> list[tuple[str, str]]:
        rules, team = self.rules, self.facts.team
        method, options = _method(player.anonymizer for player in rules.field())
        needed = [ways for ways in rules.phase(ANONYMIZE).ways() if not ways[0].optional]
        pattern = rules.release_pattern
        several = len(needed) > 1 or bool(pattern.numbers)
        out = RELEASE if several else f"{RELEASE}/{rules.release_name(team)}"
        commands = [
            ("anonymize", f"kakurenbo anonymize {rules.name} {method} . {out}{options}"),
            ("check", f"kakurenbo check {rules.name} . {RELEASE}"),
            ("measure", f"kakurenbo measure {rules.name} . {RELEASE}"),
        ]
        submit = (
            f"kakurenbo submit CONTEST {RELEASE} --round {rules.round_name} --phase {ANONYMIZE}"
        )
        return [*commands, ("submit", submit)] if self._is_played else commands

    def _target_commands(self) -> list[tuple[str, str]]:
        rules, facts = self.rules, self.facts
        method, options = _method(player.attack for player in rules.field())
        attacker = next((team for team in facts.teams if team != facts.team), "NN")
        guess = f"{GUESS}/{self._guess_name(target=facts.target, attacker=attacker)}"
        part = part_folder(attacker)
        target = part if part in self.names else "."
        commands = [
            ("attack", f"kakurenbo attack {rules.name} {method} {target} -o {guess}{options}")
        ]
        submit = f"kakurenbo submit CONTEST {GUESS} --round {rules.round_name} --phase {ATTACK}"
        return [*commands, ("submit_guess", submit)] if self._is_played else commands

    def _guess_name(self, *, target: str, attacker: str) -> str:
        files = self.rules.phase(ATTACK).files
        pattern: FilePattern = next(
            (file for file in files if "{target}" in file.template), files[0]
        )
        return pattern.name(target=target, attacker=attacker, round=self.rules.round_name)


def _method(played: Iterable[str]) -> tuple[str, str]:
    """Return name and options of the first method of the rulebook's own field; METHOD where it has none."""
    spec = next((spec for spec in played if spec), "METHOD")
    settings = registry.settings_of(spec)
    options = (
        f" --{name.replace('_', '-')} {shlex.quote(value)}" for name, value in settings.items()
    )
    return registry.name_of(spec), "".join(options)
