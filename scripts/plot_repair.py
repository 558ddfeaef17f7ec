"""The graph of the poster's repair: utility of each of the ten files over the rounds, as CSV and SVG.

    python scripts/plot_repair.py B.csv [--epsilon 2] [--rounds 3000] [--rows 10] [--seed 0] [--out FILE]

B.csv may be gzipped. B is anonymized by pseudo_olh, then repaired by crosstab_repair.
"""

from __future__ import annotations

import argparse
import gzip
import tempfile
from collections.abc import Sequence
from pathlib import Path

from kakurenbo.anonymizers.ratings.crosstab_repair import CrosstabRepair, repair_trace
from kakurenbo.anonymizers.ratings.local_hashing import PseudoOLH
from kakurenbo.rng import stream
from kakurenbo.rulebooks.pwscup2024 import Pwscup2024
from kakurenbo.tables import Problems, Table

Trace = Sequence[tuple[int, tuple[float, ...]]]

POSTER_UTILITY = 72.2  # to which the poster aligned its files
EVERY = 10  # rounds between two lines of the CSV and two points of the graph
WIDTH, HEIGHT, LEFT, TOP, PLOT_WIDTH, PLOT_HEIGHT = 760, 420, 56, 20, 580, 350
COLOURS = ["#1b6ca8", "#d1495b", "#2e8b57", "#e08e00", "#6a4c93", "#00798c", "#8d5524", "#b5179e", "#5c677d", "#7a9e00"]


def read_original(path: Path) -> Table:
    """B from its file; ends the script with every problem of a file that is not one."""
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / path.name.removesuffix(".gz")
        plain.write_bytes(gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes())
        handout = Pwscup2024().read_handout(plain)
    if isinstance(handout, Problems):
        raise SystemExit("\n".join(map(str, handout)))
    return handout.value.table


def traced(original: Table, epsilon: float, repair: CrosstabRepair, seed: int) -> Trace:
    """The course of a repair of B after pseudo_olh."""
    noisy = PseudoOLH(epsilon=epsilon)(original, stream(seed, "repair", "noise", epsilon))
    return repair_trace(repair, original, noisy, stream(seed, "repair", "rows"))


def thinned(trace: Trace) -> Trace:
    return [line for line in trace if line[0] % EVERY == 0 or line[0] == trace[-1][0]]


def as_csv(trace: Trace) -> str:
    head = "round," + ",".join(f"C_{number}" for number in range(len(trace[0][1])))
    return "\n".join([head, *(f"{round_}," + ",".join(f"{u:.2f}" for u in files) for round_, files in thinned(trace))]) + "\n"


def as_svg(trace: Trace) -> str:
    """The graph, drawn by hand: one line per file, and the poster's utility across."""
    points = thinned(trace)
    last = max(1, points[-1][0])
    low = 5 * int(min(min(files) for _, files in points) // 5)
    high = 5 * int(max(max(files) for _, files in points) // 5 + 1)

    def x(round_: float) -> float:
        return LEFT + PLOT_WIDTH * round_ / last

    def y(utility: float) -> float:
        return TOP + PLOT_HEIGHT * (high - utility) / (high - low)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
        "<title>Utility of each file over the rounds of repair</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
    ]
    for utility in range(low, high + 1, 5):
        parts.append(f'<path d="M{LEFT} {y(utility):.1f}h{PLOT_WIDTH}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y(utility) + 4:.1f}" text-anchor="end">{utility}</text>')
    parts += [
        f'<text x="{x(tick):.1f}" y="{TOP + PLOT_HEIGHT + 18}" text-anchor="middle">{tick:,}</text>'
        for tick in range(0, last + 1, max(1, last // 6))
    ]
    parts.append(f'<text x="{LEFT + PLOT_WIDTH / 2:.0f}" y="{HEIGHT - 8}" text-anchor="middle">rounds</text>')
    if low <= POSTER_UTILITY <= high:
        parts.append(f'<path d="M{LEFT} {y(POSTER_UTILITY):.1f}h{PLOT_WIDTH}" stroke="#000" stroke-dasharray="5 4"/>')
        parts.append(f'<text x="{LEFT + 4}" y="{y(POSTER_UTILITY) - 5:.1f}">{POSTER_UTILITY}, the poster\'s</text>')
    for number, colour in zip(range(len(points[0][1])), COLOURS, strict=True):
        line = " ".join(f"{x(round_):.1f},{y(files[number]):.1f}" for round_, files in points)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
        height = TOP + 12 + 18 * number
        parts.append(f'<path d="M{LEFT + PLOT_WIDTH + 14} {height - 4}h18" stroke="{colour}" stroke-width="3"/>')
        parts.append(f'<text x="{LEFT + PLOT_WIDTH + 38}" y="{height}">file {number}: {points[-1][1][number]:.1f}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def write_graph(trace: Trace, out: Path) -> None:
    """OUT.csv and OUT.svg."""
    out.parent.mkdir(parents=True, exist_ok=True)
    out.with_suffix(".csv").write_text(as_csv(trace), encoding="utf-8")
    out.with_suffix(".svg").write_text(as_svg(trace), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("original", type=Path, metavar="B.csv")
    parser.add_argument("--epsilon", type=float, default=2.0)
    parser.add_argument("--rounds", type=int, default=3000)
    parser.add_argument("--rows", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("docs/replays/pwscup2024-repair"))
    given = parser.parse_args()
    repair = CrosstabRepair(iterations=given.rounds, rows=given.rows)
    write_graph(traced(read_original(given.original), given.epsilon, repair, given.seed), given.out)


if __name__ == "__main__":
    main()
