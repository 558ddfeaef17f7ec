"""Make the film of the README again: a small contest played on the command line, as an SVG that moves by itself.

``make recording`` runs the commands below in an empty folder, each in a terminal, and writes what they print to
docs/images/terminal.svg; ``--check`` only says whether the film is what they print today. The text is set by rich; the film
scrolls with style-sheet animations, so it needs no script. Every seed is given: the same software makes the same bytes.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import pty
import shlex
import struct
import subprocess
import sys
import tempfile
import termios
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.text import Text

FILM = Path(__file__).resolve().parent.parent / "docs" / "images" / "terminal.svg"
WIDTH, ROWS = 108, 30
SECONDS = 120.0
LINE_HEIGHT = 20 * 1.22  # of rich's SVG export
CHARACTER = 20 * 0.61
TYPING, AFTER_COMMAND, PER_LINE, AFTER_OUTPUT = 1.5, 0.5, 0.12, 4.0
"""How the time is shared out, before everything is stretched to the length of the film."""

SCENES = (
    (
        "The organizer draws the data of a small round for two teams.",
        "kakurenbo prepare amic2020 -o contest --teams 2 --scale small --vcm 0.05 --seed 3",
    ),
    (
        "Team 01 hides its people, and asks for the judge's score.",
        "kakurenbo anonymize amic2020 synthetic contest/teams/01 entries/01/D.csv --seed 1",
        "kakurenbo measure amic2020 contest/teams/01 entries/01/D.csv",
    ),
    (
        "Team 02 only changes a value here and there, and makes a mistake.",
        "kakurenbo anonymize amic2020 rrp contest/teams/02 entries/02/D.csv --p 0.99 --seed 2",
        "sed '101s/^[0-9]*/91/' entries/02/D.csv > broken.csv; kakurenbo check amic2020 contest/teams/02 broken.csv",
    ),
    (
        "The organizer publishes both releases, and keeps the answers.",
        "kakurenbo publish amic2020 contest entries -o phase",
    ),
    (
        "Each looks for the people of the other.",
        "kakurenbo attack amic2020 likelihood phase/targets/01 -o guesses/02/inference_01_02.index",
        "kakurenbo attack amic2020 likelihood phase/targets/02 -o guesses/01/inference_02_01.index",
    ),
    (
        "The judge counts, ranks, and reveals everything: anybody can check it.",
        "kakurenbo score amic2020 phase guesses -o results.json",
        "kakurenbo standings amic2020 results.json",
        "kakurenbo verify amic2020 contest phase --again",
    ),
)
TEMPLATE = """<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg" role="img">
<title>A small contest played on the command line</title>
<style>
.{{unique_id}}-matrix {{{{ font: 20px "DejaVu Sans Mono", "Noto Sans Mono", Menlo, Consolas, monospace; white-space: pre; }}}}
{{styles}}
{rules}
</style>
<defs><clipPath id="screen"><rect x="0" y="3" width="{inner}" height="{screen}"/></clipPath>
{{lines}}</defs>
<rect width="{width}" height="{height}" rx="10" fill="#292929"/>
<circle cx="24" cy="20" r="6" fill="#ff5f57"/><circle cx="44" cy="20" r="6" fill="#febc2e"/>
<circle cx="64" cy="20" r="6" fill="#28c840"/>
<g transform="translate(12, 40)" clip-path="url(#screen)"><g class="film">
{{backgrounds}}<g class="{{unique_id}}-matrix">{{matrix}}</g>
{covers}
</g></g>
</svg>
"""


@dataclass(frozen=True)
class Line:
    """A line of the film: what it shows, how long it is looked at, and how many signs are typed (0: it is just there)."""

    text: Text
    seconds: float
    typed: int = 0


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit with 1 where the film is stale"
    )
    check: bool = parser.parse_args().check
    with tempfile.TemporaryDirectory() as folder:
        lines = [line for scene in SCENES for line in _scene(scene, Path(folder))]
    film = _film(lines)
    if not check:
        FILM.write_text(film, encoding="utf-8")
    elif not FILM.exists() or FILM.read_text(encoding="utf-8") != film:
        sys.exit(f"{FILM.name} is not what the commands print today")


# -- playing -----------------------------------------------------------------------------------------------------------


def _scene(scene: Sequence[str], folder: Path) -> list[Line]:
    title, *commands = scene
    lines = [Line(Text(f"# {title}", style="cyan"), 1.0)]
    for command in commands:
        lines.append(
            Line(
                Text.assemble(("$ ", "bold green"), (command, "bold")),
                TYPING + AFTER_COMMAND,
                len(command),
            )
        )
        printed = _printed(command, folder)
        lines += [Line(line, PER_LINE) for line in printed]
        lines.append(Line(Text(), AFTER_OUTPUT if len(printed) > 2 else AFTER_OUTPUT / 2))
    return lines


def _printed(command: str, folder: Path) -> list[Text]:
    """What a command shows in a terminal. Standard error is shown where it refuses: progress depends on the machine."""
    keeper, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, WIDTH, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color", "KAKURENBO_LANG": "en", "NO_COLOR": ""}
    environment |= {
        "COLUMNS": str(WIDTH),
        "LINES": str(ROWS),
        "KAKURENBO_HOME": str(folder / ".store"),
    }  # embedded data
    shell = f'kakurenbo() {{ {shlex.quote(sys.executable)} -m kakurenbo "$@"; }}\n{command}'
    process = subprocess.Popen(
        ["bash", "-c", shell],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=terminal,
        stderr=subprocess.PIPE,
    )
    os.close(terminal)
    shown = b""
    while True:
        try:
            part = os.read(keeper, 65536)
        except OSError:  # Linux's way to say that nobody writes any more
            break
        if not part:
            break
        shown += part
    os.close(keeper)
    told = process.communicate()[1]
    if process.returncode:
        shown += told
    lines = [
        Text.from_ansi(line.rstrip()) for line in shown.decode().replace("\r\n", "\n").split("\n")
    ]
    while lines and not lines[-1].plain.strip():
        lines.pop()
    return [wrapped for line in lines for wrapped in line.wrap(_recorder(), WIDTH)]


def _recorder() -> Console:
    """A console that writes nowhere and remembers everything."""
    return Console(
        file=StringIO(),
        record=True,
        width=WIDTH,
        force_terminal=True,
        color_system="truecolor",
        legacy_windows=False,
    )


# -- the film ----------------------------------------------------------------------------------------------------------


def _film(lines: Sequence[Line]) -> str:
    stretch = SECONDS / sum(line.seconds for line in lines)
    console = _recorder()
    film, curtain, rules, covers = [_frame(0, 0)], [_frame(0, 0)], [], []
    begun = 0.0
    for number, line in enumerate(lines):
        console.print(line.text, soft_wrap=True)
        film.append(_frame(begun, -max(0, number + 1 - ROWS)))
        curtain.append(_frame(begun, number + 1))
        if line.typed:
            ended = begun + TYPING * stretch
            rules.append(_typing(len(covers), line.typed, begun, ended))
            covers.append(_cover(len(covers), number))
        begun += line.seconds * stretch
    screen, whole = ROWS * LINE_HEIGHT, len(lines) * LINE_HEIGHT
    covers.append(f'<rect class="curtain" y="0" width="100%" height="{whole:.1f}" fill="#292929"/>')
    for name, frames in (("film", film), ("curtain", curtain)):
        rules.append(f"@keyframes {name} {{ {' '.join(frames)} }}")
        rules.append(f".{name} {{ animation: {name} {SECONDS:g}s step-end infinite; }}")
    rules.append(
        "@media (prefers-reduced-motion: reduce) { .film { animation: none; } .curtain, .cover { display: none; } }"
    )
    inner = WIDTH * CHARACTER
    template = TEMPLATE.format(
        width=f"{inner + 24:.0f}",
        height=f"{screen + 52:.0f}",
        inner=f"{inner:.1f}",
        screen=f"{screen:.1f}",
        rules="\n".join(rules).replace("{", "{{").replace("}", "}}"),
        covers="\n".join(covers),
    )
    return console.export_svg(title="", code_format=template, unique_id="terminal")


def _frame(seconds: float, rows: int) -> str:
    return f"{100 * seconds / SECONDS:.2f}% {{ transform: translateY({rows * LINE_HEIGHT:.1f}px) }}"


def _typing(number: int, signs: int, begun: float, ended: float) -> str:
    """A cover that moves aside sign by sign."""
    start, end, aside = 100 * begun / SECONDS, 100 * ended / SECONDS, signs * CHARACTER
    covered = f"transform: translateX(0); animation-timing-function: steps({signs})"
    return (
        f"@keyframes typing{number} {{ 0%, {start:.2f}% {{ {covered} }} "
        f"{end:.2f}%, 100% {{ transform: translateX({aside:.1f}px) }} }}\n"
        f".typing{number} {{ animation: typing{number} {SECONDS:g}s infinite; }}"
    )


def _cover(number: int, row: int) -> str:
    place = f'x="{2 * CHARACTER:.1f}" y="{row * LINE_HEIGHT + 1:.1f}" width="100%" height="{LINE_HEIGHT:.1f}"'
    return f'<rect class="cover typing{number}" {place} fill="#292929"/>'


if __name__ == "__main__":
    main()
