"""``README.md`` and ``README.ja.md`` of every folder that a team or an attacker gets, from a rulebook's declarations."""

from __future__ import annotations

import html
import shlex
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from functools import cache, partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

from kakurenbo.contest.folders import (
    ATTACKERS,
    PART_FOLDER,
    PUBLIC,
    TARGET,
    TEAM,
    ContestFacts,
    part_folder,
)
from kakurenbo.contest.phases import ANONYMIZE, ATTACK, Phase
from kakurenbo.contest.schedule import round_title
from kakurenbo.core import README_FILES
from kakurenbo.core.messages import is_known, render
from kakurenbo.methods import registry

if TYPE_CHECKING:
    from jinja2 import Template

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
    rules, listed = rules.under(facts), tuple(names)
    return {
        file: _readme(rules, facts, listed, language).encode()
        for file, language in zip(README_FILES, ("en", "ja"), strict=True)
    }


def threshold_texts(rules: AnyRulebook, language: str) -> list[str]:
    """Return every threshold that holds, with its direction."""
    texts = []
    for name, value in rules.threshold_values().items():
        if value is not None:
            code = "readme.at_most" if name in rules.upper_bounds else "readme.at_least"
            texts.append(render(code, {"name": name, "value": f"{value:g}"}, language).message)
    return texts


def submission_texts(phase: Phase, language: str) -> list[str]:
    """Return how often a team may submit in a phase, and which submissions are scored."""
    tries = phase.tries
    limits = {"in_all": tries.in_all, "per_day": tries.per_day, "per_target": tries.per_target}
    lines = [
        render(f"readme.{name}", {"count": count}, language).message
        for name, count in limits.items()
        if count
    ]
    counts = render(f"readme.counts.{phase.counts.value}", {"keep": phase.keep}, language).message
    return [*(lines or [render("readme.no_limit", {}, language).message]), counts]


def judges_text(rulebook: str, judges: Sequence[str], language: str) -> str:
    """Return which teams have members of the committee, and the conditions that the rules set for them."""
    teams = render("judges.teams", {"teams": list(judges)}, language).message
    code = f"judges.{rulebook}"
    if not is_known(code, language):
        return teams
    return f"{teams} {render(code, {}, language).message}"


def _readme(rules: AnyRulebook, facts: ContestFacts, names: Sequence[str], language: str) -> str:
    """Return the README of a folder in one language."""
    say = partial(_say, language)
    code = f"rulebooks.{rules.name}"
    title = render(code, {}, language).message if is_known(code, language) else rules.title
    round_ = round_title(facts.round, language)
    columns = [] if facts.folder == PUBLIC else _columns(rules, language)
    scoring = f"{rules.name}.readme.score"
    conditions = [
        *([render(scoring, {}, language).message] if is_known(scoring, language) else []),
        *(condition.text(language) for condition in rules.conditions()),
        *threshold_texts(rules, language),
    ]
    for phase in rules.phases:
        texts = submission_texts(phase, language)
        conditions.append(f"{say(f'submissions.{phase.name}')} {' '.join(texts)}")
    if facts.judges:
        conditions.append(judges_text(rules.name, facts.judges, language))
    is_played = rules.round_name in rules.rounds  # in a trial teams only try the tools
    later = ""
    if facts.folder in (TEAM, ATTACKERS) and is_played:
        file = _guess_name(rules, target="TT", attacker=facts.team or "NN")
        later = say("attack_later", file=file)
    text = _template().render(
        say=say,
        rules=rules,
        facts=facts,
        heading=say("title", rulebook=rules.name, round=round_) if round_ else rules.name,
        title=title,
        files=_files(rules, names, language),
        columns=columns,
        columns_shortened=any("…" in domain for _, domain in columns),
        conditions=conditions,
        schedule=[
            (dates, html.escape(event, quote=False).replace("[", r"\["))
            for dates, event in facts.schedule.rows(language)
        ],
        prohibited=[render(code, {}, language).message for code in rules.prohibited],
        commands=_commands(rules, facts, names, is_played),
        later=later,
    )
    return f"{text.rstrip()}\n"


@cache
def _template() -> Template:
    from jinja2 import Environment, PackageLoader, StrictUndefined  # slow to load

    environment = Environment(
        loader=PackageLoader("kakurenbo.contest"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # Markdown
    )
    return environment.get_template("readme.md.jinja")


def _say(language: str, code: str, /, **parameters: Any) -> str:
    return render(f"readme.{code}", parameters, language).message


def _files(rules: AnyRulebook, names: Sequence[str], language: str) -> list[tuple[str, str]]:
    """Describe every file; files of one description share a line."""
    described = {**_COMMON_FILES, **rules.file_descriptions}
    by_code: dict[str, list[str]] = {}
    shown = {part_folder("NN") if PART_FOLDER.fullmatch(name) else name for name in names}
    for name in sorted(shown):
        codes = (code for pattern, code in described.items() if fnmatchcase(name, pattern))
        by_code.setdefault(next(codes, "readme.file.other"), []).append(f"`{name}`")
    return [
        (_shorten(quoted, language), render(code, {}, language).message)
        for code, quoted in by_code.items()
    ]


def _columns(rules: AnyRulebook, language: str) -> list[tuple[str, str]]:
    """Describe every column; neighbours with the same domain share a line."""
    rows = []
    schema = rules.release_schema()
    for domain, columns in groupby(schema, key=lambda column: column.domain.text(language)):
        quoted = []
        for column in columns:
            name, synonym = f"`{column.name}`", rules.column_synonyms.get(column.name)
            quoted.append(
                _say(language, "synonym", name=name, synonym=f"`{synonym}`") if synonym else name
            )
        rows.append((_shorten(quoted, language), domain))
    return rows


def _shorten(quoted: Sequence[str], language: str) -> str:
    if len(quoted) <= _MAX_LISTED:
        return ", ".join(quoted)
    return _say(language, "many", first=quoted[0], last=quoted[-1], count=len(quoted))


def _commands(
    rules: AnyRulebook, facts: ContestFacts, names: Sequence[str], is_played: bool
) -> list[tuple[str, str]]:
    """Return the commands that work in a folder, each after the code of what it does."""
    commands = [("status", "kakurenbo status .")]
    submit = "kakurenbo submit CONTEST {folder} --round {round} --phase {phase}"
    if facts.folder == TEAM:
        method, options = _method(player.anonymizer for player in rules.field())
        needed = [ways for ways in rules.phase(ANONYMIZE).ways() if not ways[0].optional]
        several = len(needed) > 1 or rules.release_pattern.numbers
        out = RELEASE if several else f"{RELEASE}/{rules.release_name(facts.team)}"
        commands += [
            ("anonymize", f"kakurenbo anonymize {rules.name} {method} . {out}{options}"),
            ("check", f"kakurenbo check {rules.name} . {RELEASE}"),
            ("measure", f"kakurenbo measure {rules.name} . {RELEASE}"),
        ]
        if is_played:
            command = submit.format(folder=RELEASE, round=rules.round_name, phase=ANONYMIZE)
            commands.append(("submit", command))
    if facts.folder == TARGET:
        method, options = _method(player.attack for player in rules.field())
        attacker = next((team for team in facts.teams if team != facts.team), "NN")
        guess = f"{GUESS}/{_guess_name(rules, target=facts.target, attacker=attacker)}"
        part = part_folder(attacker)
        target = part if part in names else "."
        command = f"kakurenbo attack {rules.name} {method} {target} -o {guess}{options}"
        commands.append(("attack", command))
        if is_played:
            command = submit.format(folder=GUESS, round=rules.round_name, phase=ATTACK)
            commands.append(("submit_guess", command))
    return commands


def _guess_name(rules: AnyRulebook, *, target: str, attacker: str) -> str:
    files = rules.phase(ATTACK).files
    pattern = next((file for file in files if "{target}" in file.template), files[0])
    return pattern.name(target=target, attacker=attacker, round=rules.round_name)


def _method(played: Iterable[str]) -> tuple[str, str]:
    """Return name and options of the first method of the rulebook's own field; METHOD where it has none."""
    spec = next((spec for spec in played if spec), "METHOD")
    settings = registry.settings_of(spec)
    options = (
        f" --{name.replace('_', '-')} {shlex.quote(value)}" for name, value in settings.items()
    )
    return registry.name_of(spec), "".join(options)
