"""Read the tables of a report as a person does."""

from __future__ import annotations

import html
import re


def table(page: str, name: str) -> list[list[str]]:
    """Return the texts of the cells of a table, without its heads."""
    found = re.search(rf'<table id="{name}".*?<tbody>(.*?)</tbody>', page, re.DOTALL)
    assert found is not None, name
    rows = re.findall(r"<tr>(.*?)</tr>", found[1], re.DOTALL)
    return [
        [words(cell) for cell in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.DOTALL)]
        for row in rows
    ]


def words(markup: str) -> str:
    """Return the text of markup."""
    return html.unescape(
        " ".join(re.sub(r"<(?!/?wbr)[^>]+>", " ", markup).replace("<wbr>", "").split())
    )
