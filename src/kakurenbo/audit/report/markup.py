"""Small pieces of HTML in the looks of all reports: elements, tables that stack on a phone, bars."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from kakurenbo.reporting.drawing import printable

Cell = str
"""Markup of one cell."""


def element(name: str, *content: str, **attributes: str) -> str:
    """An element whose content is markup; ``class_`` stands for ``class``, ``data_place`` for ``data-place``."""
    written = "".join(f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"' for key, value in attributes.items())
    return f"<{name}{written}>{''.join(content)}</{name}>"


def plain(text: object) -> str:
    """Text without effect, whatever it holds.

    Examples
    --------
    >>> plain("<b>")
    '&lt;b&gt;'
    """
    return escape(printable(str(text)))


def marked(text: str, look: str) -> str:
    """A word in a coloured field."""
    return element("span", plain(text), class_=f"mark {look if look in ('good', 'bad') else 'neutral'}")


def paragraph(text: str, class_: str = "hint") -> str:
    return element("p", plain(text), class_=class_)


def sheet(headings: Sequence[str], rows: Iterable[Sequence[Cell]], places: Sequence[str]) -> str:
    """A table; where there is no room for its columns each row is a small card.

    Parameters
    ----------
    headings : sequence of str
    rows : iterable of sequences of markup
    places : sequence of str
        Where a column stands in the card: ``main``, ``figure`` or ``below``.
    """
    head = element("tr", *(element("th", plain(one), scope="col") for one in headings))
    body = (
        element(
            "tr",
            *(
                element("td", cell, data_place=place, data_title=heading, class_="" if cell else "nothing-here")
                for heading, cell, place in zip(headings, row, places, strict=True)
            ),
        )
        for row in rows
    )
    table = element("table", element("thead", head), element("tbody", *body), class_="stacking")
    return element("div", table, class_="sheet")


def bar(share: float, mark: float | None = None) -> str:
    """A share as the filled part of a rail, and perhaps a mark on it."""
    filled = f"width:{100 * min(1.0, max(0.0, share)):.1f}%"
    marks = [] if mark is None else [element("b", style=f"left:{100 * min(1.0, max(0.0, mark)):.1f}%")]
    return element("span", element("i", style=filled), *marks, class_="rail", aria_hidden="true")


def folded(title: str, *content: str) -> str:
    """Something that opens."""
    return element("details", element("summary", plain(title)), element("div", *content, class_="inside"))


def listed(items: Iterable[str]) -> str:
    return element("ul", *(element("li", plain(item)) for item in items))
