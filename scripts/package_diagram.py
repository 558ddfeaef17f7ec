"""Draw the packages of kakurenbo as layers, with the imports that really exist between them."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Mapping
from html import escape
from pathlib import Path

import grimp

REPOSITORY = Path(__file__).resolve().parent.parent
SOURCE = REPOSITORY / "src" / "kakurenbo"
WIDTH, ROW, BOX_HEIGHT = 760, 74, 42
STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #1f2430 }
  .name { font-weight: 600; font-size: 14px }
  .box { fill: #eef1fb; stroke: #4353b3; stroke-width: 1.2 }
  .edge { fill: none; stroke: #8a93c9; stroke-width: 1.3; marker-end: url(#arrow) }
  marker path { fill: #8a93c9 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6e8f2 } .box { fill: #262b45; stroke: #8f9cf0 } .edge { stroke: #6f7ab8 }
  }"""


def read_layers() -> list[list[str]]:
    """Return the packages of each layer, the uppermost first, as import-linter checks them."""
    settings = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    return [
        [name.strip().removeprefix("kakurenbo.") for name in layer.split("|")] for layer in layers
    ]


def read_imports(packages: list[str]) -> dict[str, set[str]]:
    """Return which packages each package imports."""
    graph = grimp.build_graph("kakurenbo")
    imports: dict[str, set[str]] = {package: set() for package in packages}
    for importer in packages:
        for imported in packages:
            if importer != imported and graph.direct_import_exists(
                importer=f"kakurenbo.{importer}", imported=f"kakurenbo.{imported}", as_packages=True
            ):
                imports[importer].add(imported)
    return imports


def without_shortcuts(imports: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Drop an import of a package that another imported package reaches anyway."""
    return {
        importer: {
            package
            for package in imported
            if not any(package in _reached(other, imports) for other in imported - {package})
        }
        for importer, imported in imports.items()
    }


def _reached(package: str, imports: Mapping[str, set[str]]) -> set[str]:
    reached: set[str] = set()
    waiting = list(imports[package])
    while waiting:
        current = waiting.pop()
        if current not in reached:
            reached.add(current)
            waiting += imports[current]
    return reached


def purpose(package: str) -> str:
    """Return the first line of the docstring of a package or module."""
    module = SOURCE / package / "__init__.py"
    if not module.is_file():
        module = SOURCE / f"{package}.py"
    docstring = ast.get_docstring(ast.parse(module.read_text("utf-8")))
    return (docstring or "").partition("\n")[0].rstrip(".")


def draw() -> str:
    """Return the diagram as SVG."""
    layers = read_layers()
    packages = [package for layer in layers for package in layer]
    edges = without_shortcuts(read_imports(packages))
    boxes = _place(layers)
    lines = [_edge(boxes[a], boxes[b]) for a in packages for b in sorted(edges[a])]
    shapes = [_box(package, boxes[package]) for package in packages]
    height = ROW * len(layers) + 10
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">',
            "<title>Packages of kakurenbo; an arrow is an import</title>",
            f"<style>{STYLE}\n</style>",
            '<marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
            'markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z"/></marker>',
            *lines,
            *shapes,
            "</svg>\n",
        ]
    )


def _place(layers: list[list[str]]) -> dict[str, tuple[float, float, float]]:
    """Return left edge, top and width of the box of each package."""
    boxes = {}
    for number, layer in enumerate(layers):
        width = (WIDTH - 160 - 20 * (len(layer) - 1)) / max(len(layer), 2)
        left = (WIDTH - width * len(layer) - 20 * (len(layer) - 1)) / 2
        for place, package in enumerate(layer):
            boxes[package] = (left + place * (width + 20), 10.0 + ROW * number, width)
    return boxes


def _edge(start: tuple[float, float, float], end: tuple[float, float, float]) -> str:
    """Draw an arrow from the bottom of a box to the top of another, around the rows between."""
    x1, y1 = start[0] + start[2] / 2, start[1] + BOX_HEIGHT
    x2, y2 = end[0] + end[2] / 2, end[1]
    if y2 - y1 < ROW:
        return f'<path class="edge" d="M{x1:.0f} {y1:.0f} L{x2:.0f} {y2 - 1:.0f}"/>'
    middle = WIDTH / 2
    is_left = x2 < middle or (x2 == middle and x1 < middle)
    start_x, end_x = (start[0], end[0]) if is_left else (start[0] + start[2], end[0] + end[2])
    rows = (y2 - y1) / ROW
    bend = (-1 if is_left else 1) * (20 + 14 * rows)
    side = min(start_x, end_x) if is_left else max(start_x, end_x)
    y1, y2 = y1 - BOX_HEIGHT / 2, y2 + BOX_HEIGHT / 2
    return (
        f'<path class="edge" d="M{start_x:.0f} {y1:.0f} '
        f'C{side + bend:.0f} {y1:.0f} {side + bend:.0f} {y2:.0f} {end_x:.0f} {y2:.0f}"/>'
    )


def _box(package: str, box: tuple[float, float, float]) -> str:
    left, top, width = box
    middle = left + width / 2
    return (
        f'<rect class="box" x="{left:.0f}" y="{top:.0f}" width="{width:.0f}" '
        f'height="{BOX_HEIGHT}" rx="6"/>'
        f'<text class="name" x="{middle:.0f}" y="{top + 18:.0f}" text-anchor="middle">{package}</text>'
        f'<text x="{middle:.0f}" y="{top + 34:.0f}" text-anchor="middle">{escape(purpose(package))}</text>'
    )


def table() -> str:
    """Return the packages with their purposes and imports as a table."""
    layers = read_layers()
    packages = [package for layer in layers for package in layer]
    imports = read_imports(packages)
    lines = ["| package | holds | imports |", "| --- | --- | --- |"]
    for package in packages:
        names = ", ".join(f"`{name}`" for name in packages if name in imports[package])
        lines.append(f"| `{package}` | {purpose(package)} | {names or 'none'} |")
    return "\n".join(lines)
