"""Small pieces of HTML and SVG in the looks of all reports: elements, shapes, tables that stack on a phone, bars."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape

from kakurenbo.reports.assets import pixels

_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufffe\uffff\ud800-\udfff]")

Cell = str
"""Markup of one cell."""


def element(name: str, *content: str, **attributes: str) -> str:
    """An element whose content is markup; ``class_`` stands for ``class``, ``data_place`` for ``data-place``."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for key, value in attributes.items()
    )
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
    return element(
        "span", plain(text), class_=f"mark {look if look in ('good', 'bad') else 'neutral'}"
    )


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
                element(
                    "td",
                    cell,
                    data_place=place,
                    data_title=heading,
                    class_="" if cell else "nothing-here",
                )
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
    marks = (
        [] if mark is None else [element("b", style=f"left:{100 * min(1.0, max(0.0, mark)):.1f}%")]
    )
    return element("span", element("i", style=filled), *marks, class_="rail", aria_hidden="true")


def folded(title: str, *content: str) -> str:
    """Something that opens."""
    return element(
        "details", element("summary", plain(title)), element("div", *content, class_="inside")
    )


def listed(items: Iterable[str]) -> str:
    return element("ul", *(element("li", plain(item)) for item in items))


# -- shapes of SVG ---------------------------------------------------------------------------------


def tag(name: str, *content: str, **attributes: str | float) -> str:
    """An element whose content is markup; ``text_anchor`` stands for ``text-anchor``, ``class_`` for ``class``."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{_attribute(value)}"'
        for key, value in attributes.items()
        if value != ""
    )
    return f"<{name}{written}>{''.join(content)}</{name}>" if content else f"<{name}{written}/>"


def words(text: str, *, title: str = "", **attributes: str | float) -> str:
    """A text element; ``title`` is shown by a browser while the pointer is on it.

    Examples
    --------
    >>> words("a < b", x=1)
    '<text x="1">a &lt; b</text>'
    """
    return tag(
        "text",
        escape(printable(text)),
        tag("title", escape(printable(title))) if title else "",
        **attributes,
    )


def moved(x: float, y: float, content: Iterable[str]) -> str:
    """Markup at another place."""
    return tag("g", *content, transform=f"translate({_attribute(x)},{_attribute(y)})")


def printable(text: str) -> str:
    """A text that XML can hold and that stays in its direction.

    Examples
    --------
    >>> printable("a\\x1b[31m") == "a\\ufffd[31m"
    True
    """
    return _UNPRINTABLE.sub("\ufffd", text)


def _attribute(value: str | float) -> str:
    return escape(value) if isinstance(value, str) else pixels(value)
