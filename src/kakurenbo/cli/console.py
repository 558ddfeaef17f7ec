"""Texts of others on a terminal."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from kakurenbo.core.messages import escaped


class SafeConsole(Console):
    """Escapes characters that act on a terminal, whoever they come from; within tables line ends, too.

    Into a file or a pipe no line ends with blanks.
    """

    def print(self, *objects: Any, **options: Any) -> None:
        """Print as usual; the line ends of a text that is printed by itself are the caller's own."""
        markup = options.get("markup")
        own = [self._own_lines(one, markup) if isinstance(one, str) else one for one in objects]
        if self.is_terminal:
            super().print(*own, **options)
            return
        with self.capture() as captured:
            super().print(*own, **options)
        # Columns are filled up to their width, which only a terminal needs.
        self.file.write("\n".join(line.rstrip(" ") for line in captured.get().split("\n")))

    def render_str(self, text: str, **options: Any) -> Text:
        """A cell, a title, or another text within something."""
        return super().render_str(escaped(text), **options)

    def _own_lines(self, text: str, markup: bool | None) -> Text:
        return super().render_str("\n".join(map(escaped, text.split("\n"))), markup=markup)
