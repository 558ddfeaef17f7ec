"""Files of an entry that can be filled in on a page.

A handout may hold a blank JSON file under the name of a file of the entry: a questionnaire. Whatever its lines are, they become
fields, and what is filled in becomes the file again; the rulebook then checks it as it checks an upload.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django import forms

from kakurenbo.core.messages import text
from kakurenbo.judge.contests.models import Entry, Phase
from kakurenbo.judge.contests.rulebooks import declared_phase
from kakurenbo.judge.scoring.models import RoundFile
from kakurenbo.judge.submissions import store

_LONGEST = 500
_MOST_FIELDS = 200
Path = tuple[str, ...]


@dataclass(frozen=True)
class BlankFile:
    """A file to fill in: its name, and what is in it while it is blank."""

    name: str
    content: Mapping[str, Any]


def blank_files(files: Iterable[RoundFile], phase: Phase, entry: Entry) -> list[BlankFile]:
    """The blank files among those of a team's own handout."""
    patterns = [
        pattern for pattern in declared_phase(phase).files if pattern.template.endswith(".json")
    ]
    found = []
    for file in files:
        name = file.path.rpartition("/")[2]
        if file.subject == entry.team.number and any(pattern.parse(name) for pattern in patterns):
            with store.open_blob(file.blob_id) as opened:
                content = json.loads(opened.read())
            if isinstance(content, dict):
                found.append(BlankFile(name, content))
    return found


class FilledForm(forms.Form):
    """The lines of a blank file as fields: nothing stands for a number or a word, ``""`` for a text, ``[]`` for a list.

    Labels are those that the catalogue has for the rulebook, ``form.RULEBOOK.LINE``, whole or by the line's last part, with
    ``.hint`` for what is to be known of it; a rulebook without words has the file's own keys.
    """

    def __init__(self, blank: BlankFile, data: Any = None, rulebook: str = "") -> None:
        super().__init__(data, label_suffix="")
        self._blank, self._rulebook = blank, rulebook
        self.keys: dict[str, str] = {}  # shown beside the words, where there are any
        for number, (path, value) in enumerate(_leaves(blank.content)):
            if number < _MOST_FIELDS:
                self.fields[".".join(path)] = self._field(path, value)

    def _field(self, path: Path, value: Any) -> forms.CharField:
        key = path[-1].replace("_", " ")
        label, hint = self._worded(path, "", key), self._worded(path, ".hint", "")
        if label != key:
            self.keys[".".join(path)] = ".".join(path)
        return forms.CharField(
            required=False, max_length=_LONGEST, label=label, help_text=hint, initial=_shown(value)
        )

    def _worded(self, path: Path, end: str, otherwise: str) -> str:
        shorter = text(f"form.{self._rulebook}.{path[-1]}{end}", otherwise)
        return text(f"form.{self._rulebook}.{'.'.join(path)}{end}", shorter)

    def sections(self) -> list[tuple[str, list[forms.BoundField]]]:
        """The fields by the part of the file that they are in."""
        parts: dict[str, list[forms.BoundField]] = {}
        for name in self.fields:
            path = name.split(".")[:-1]
            title = " · ".join(
                self._worded(tuple(path[: end + 1]), "", part) for end, part in enumerate(path)
            )
            parts.setdefault(title, []).append(self[name])
        return list(parts.items())

    def file_bytes(self) -> bytes:
        """The file as it was filled in; what was left blank stays as it was."""
        filled = _filled(self._blank.content, self.cleaned_data)
        return (json.dumps(filled, ensure_ascii=False, indent=2) + "\n").encode()


def _leaves(content: Mapping[str, Any], path: Path = ()) -> Iterator[tuple[Path, Any]]:
    for key, value in content.items():
        if isinstance(value, dict):
            yield from _leaves(value, (*path, key))
        else:
            yield (*path, key), value


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return "" if value is None else str(value)


def _filled(
    content: Mapping[str, Any], given: Mapping[str, str], path: Path = ()
) -> dict[str, Any]:
    filled: dict[str, Any] = {}
    for key, value in content.items():
        place = (*path, key)
        if isinstance(value, dict):
            filled[key] = _filled(value, given, place)
        else:
            filled[key] = _value(given.get(".".join(place), "").strip(), value)
    return filled


def _value(text: str, blank: Any) -> Any:
    if not text:
        return blank
    if isinstance(blank, list):
        return [_number_or_text(part.strip()) for part in text.split(",") if part.strip()]
    return text if isinstance(blank, str) else _number_or_text(text)


def _number_or_text(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
