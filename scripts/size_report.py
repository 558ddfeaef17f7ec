"""Print how large the code is and what makes it hard to read: ``python -m scripts.size_report [ROOT]``."""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

LONG_FUNCTION, LONG_MODULE, FULL_FOLDER = 50, 400, 14
UNCOUNTED = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}


def code_tokens(text: str) -> int:
    """Count tokens of code, whatever the line length: no comments, layout, imports or docstrings."""
    total = 0
    statement: list[tokenize.TokenInfo] = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NEWLINE:
            is_docstring = len(statement) == 1 and statement[0].type == tokenize.STRING
            is_import = bool(statement) and statement[0].string in ("import", "from")
            total += 0 if is_docstring or is_import else len(statement)
            statement = []
        elif token.type not in UNCOUNTED:
            statement.append(token)
    return total


def package_cycles(edges: dict[str, set[str]]) -> list[list[str]]:
    """Return the groups of packages that import each other, directly or through others."""
    reached = {package: _reachable(package, edges) for package in edges}
    groups = {
        tuple(sorted({package, *(other for other in others if package in reached.get(other, ()))}))
        for package, others in reached.items()
        if package in others
    }
    return [list(group) for group in sorted(groups)]


def _reachable(start: str, edges: dict[str, set[str]]) -> set[str]:
    reached: set[str] = set()
    waiting = list(edges[start])
    while waiting:
        package = waiting.pop()
        if package not in reached:
            reached.add(package)
            waiting.extend(edges.get(package, ()))
    return reached


def imported_modules(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def functions(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """Return name and lines of every function."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, (node.end_lineno or node.lineno) - node.lineno + 1


def report(root: Path) -> dict[str, object]:
    """Count what a reader of the packages below ``root/src`` has to read."""
    counts: Counter[str] = Counter()
    tokens: Counter[str] = Counter()
    folders: Counter[str] = Counter()
    edges: dict[str, set[str]] = defaultdict(set)
    long_functions: list[tuple[int, str]] = []
    for path in sorted((root / "src").rglob("*.py")):
        if "migrations" in path.parts:
            continue
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        module = path.relative_to(root / "src").with_suffix("").parts
        package = ".".join(module[:2])
        lines = text.count("\n")
        tokens[package] += code_tokens(text)
        folders[str(path.parent.relative_to(root))] += 1
        counts["files"] += 1
        counts["lines"] += lines
        counts["long modules"] += lines > LONG_MODULE
        counts["dict[str, Any]"] += len(re.findall(r"(?:dict|Mapping)\[str, Any\]", text))
        counts["isinstance(.., Problems)"] += len(
            re.findall(r"isinstance\([^()]*, Problems\)", text)
        )
        for name, length in functions(tree):
            counts["functions"] += 1
            if length > LONG_FUNCTION:
                long_functions.append((length, ".".join((*module, name))))
        for target in imported_modules(tree):
            names = target.split(".")
            if names[0] == module[0] and len(names) > 1 and ".".join(names[:2]) != package:
                edges[package].add(".".join(names[:2]))
    return {
        "code tokens": sum(tokens.values()),
        **counts,
        f"functions over {LONG_FUNCTION} lines": len(long_functions),
        "longest functions": [
            f"{name} ({length})" for length, name in sorted(long_functions)[:-6:-1]
        ],
        f"folders over {FULL_FOLDER} modules": {
            folder: count for folder, count in folders.items() if count > FULL_FOLDER
        },
        "package cycles": package_cycles(dict(edges)),
        "code tokens per package": dict(tokens.most_common(25)),
        "test lines": sum(
            path.read_text(encoding="utf-8").count("\n") for path in (root / "tests").rglob("*.py")
        ),
    }


if __name__ == "__main__":
    for name, value in report(Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()).items():
        print(f"{name}: {value}")
