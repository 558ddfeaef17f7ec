"""The page that tells which uploads a judge refuses tells what the list says, each with the code of its answer."""

from __future__ import annotations

from pathlib import Path

from tests.conftest import REPOSITORY
from tests.judge.hostile.kinds import (
    LARGE_CONTENTS,
    LARGE_TALKS,
    NAME_KINDS,
    TABLE_KINDS,
    TALK_KINDS,
    ZIP_KINDS,
    Content,
    Name,
    Talk,
)

PAGE = REPOSITORY / "docs" / "reference" / "refused-uploads.md"
_BEGIN, _END = "<!-- {} -->", "<!-- end of {} -->"
_DONE = 300


def table(kinds: tuple[Content | Name | Talk, ...]) -> str:
    """What is refused, and with which code; ways to send that are harmless are not refused and not told."""
    lines = ["| what | answer |", "| --- | --- |"]
    for kind in kinds:
        status = 0 if isinstance(kind, Content) else kind.status
        if 0 < status < _DONE:
            continue
        answer = " ".join(
            part for part in (str(status or ""), f"`{kind.code}`" if kind.code else "") if part
        )
        lines.append(f"| {kind.id} | {answer or 'the connection is closed'} |")
    return "\n".join(lines)


TABLES = {
    "tables": table((*TABLE_KINDS, *(kind for kind in LARGE_CONTENTS if kind.contest == "tables"))),
    "zips": table((*ZIP_KINDS, *(kind for kind in LARGE_CONTENTS if kind.contest == "zips"))),
    "names": table(NAME_KINDS),
    "requests": table((*TALK_KINDS, *LARGE_TALKS)),
}


def written(page: str) -> str:
    """A page with its tables as the list has them."""
    for name, lines in TABLES.items():
        begin, end = _BEGIN.format(name), _END.format(name)
        before, _, rest = page.partition(begin)
        page = f"{before}{begin}\n{lines}\n{end}{rest.partition(end)[2]}"
    return page


def test_the_page_of_refused_uploads_is_that_of_the_list() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert all(_BEGIN.format(name) in page for name in TABLES)
    assert page == written(page), (
        "write it again: python -m tests.judge.hostile.test_page_of_refusals"
    )


if __name__ == "__main__":
    Path(PAGE).write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
