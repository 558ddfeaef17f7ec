"""Which mutants there are: Cosmic Ray's operators, without those that only repeat each other, and places that do not count."""

from __future__ import annotations

import ast
import difflib
import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator

# Cosmic Ray can put each of eleven operators in the place of a "+". Most of them fail at the first call and would only make
# the share of killed mutants look better: here an operator is replaced by its opposite, a comparison also by its neighbour.
_ARITHMETIC = "Add_Sub Sub_Add Mul_Div Div_Mul FloorDiv_Mul Mod_Mul Pow_Mul"
_BITS = "BitAnd_BitOr BitOr_BitAnd BitXor_BitAnd LShift_RShift RShift_LShift"
_COMPARISONS = (
    "Eq_NotEq NotEq_Eq Lt_LtE Lt_GtE LtE_Lt LtE_Gt Gt_GtE Gt_LtE GtE_Gt GtE_Lt Is_IsNot IsNot_Is"
)
OPERATORS = (
    "AddNot",
    "ExceptionReplacer",
    "NumberReplacer",
    "RemoveDecorator",
    "ReplaceAndWithOr",
    "ReplaceBreakWithContinue",
    "ReplaceContinueWithBreak",
    "ReplaceFalseWithTrue",
    "ReplaceOrWithAnd",
    "ReplaceTrueWithFalse",
    "ReplaceUnaryOperator_Delete_Invert",
    "ReplaceUnaryOperator_Delete_Not",
    "ReplaceUnaryOperator_Delete_USub",
    "ZeroIterationForLoop",
    *(f"ReplaceBinaryOperator_{pair}" for pair in f"{_ARITHMETIC} {_BITS}".split()),
    *(f"ReplaceComparisonOperator_{pair}" for pair in _COMPARISONS.split()),
)
# Cosmic Ray takes the stars of ``f(*a, **b)`` for operators too; what becomes of those is no Python.
_ALSO_OF_UNPACKING = frozenset({"ReplaceBinaryOperator_Mul_Div", "ReplaceBinaryOperator_Pow_Mul"})
# Without these a function gives the same result, only slower or less guarded against its own author.
_DECORATORS_OF_SPEED_OR_TYPE = frozenset(
    {"compiled", "cache", "lru_cache", "overload", "abstractmethod", "override"}
)
# Of zip, whose two lists have one length; of a dataclass, to whose fields nobody assigns, as mypy makes sure.
_GUARDS = frozenset({"strict", "frozen"})
_FOR_PEOPLE = frozenset({"__repr__", "__str__"})

Place = tuple[int, int]  # line from 1, column from 0


@dataclass(frozen=True)
class Mutant:
    """One change of one file.

    Attributes
    ----------
    path : Path
    operator : str
        Without the ``core/`` of Cosmic Ray.
    occurrence : int
        Which of the operator's places in the file.
    start : tuple of int
    function : tuple of int, optional
        First and last line of the outermost function around it; none at the level of module or class.
    name : str
        What stays the same when other parts of the file change: definition, operator, and which of those in the definition.
    """

    path: Path
    operator: str
    occurrence: int
    start: Place
    function: tuple[int, int] | None
    name: str

    @cached_property
    def code(self) -> str:
        """The whole file with this change."""
        changed = mutate_code(
            self.path.read_text(encoding="utf-8"),
            get_operator(f"core/{self.operator}")(),
            self.occurrence,
        )
        if changed is None:
            raise ValueError(f"{self.path}: {self.operator} has no occurrence {self.occurrence}")
        return str(changed)

    @cached_property
    def lines(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The lines that change, before and after, without indentation."""
        before, after = self.path.read_text(encoding="utf-8").splitlines(), self.code.splitlines()
        old: list[str] = []
        new: list[str] = []
        for kind, a, b, c, d in difflib.SequenceMatcher(
            None, before, after, autojunk=False
        ).get_opcodes():
            if kind != "equal":
                old += (line.strip() for line in before[a:b])
                new += (line.strip() for line in after[c:d])
        return tuple(old), tuple(new)

    def draw(self, seed: int) -> bytes:
        """A number by which a sample is drawn: a change elsewhere in the code does not change who is in it."""
        return hashlib.sha256(
            f"{seed}/{self.path.parent.name}/{self.path.name}/{self.name}".encode()
        ).digest()


def mutants_of(path: Path) -> list[Mutant]:
    """All mutants of a file that count, in the order of operators and places."""
    source = path.read_text(encoding="utf-8")
    tree, parsed = get_ast(source), ast.parse(source)
    nodes, skipped = list(ast_nodes(tree)), list(_places_that_do_not_count(parsed))
    functions, definitions = _functions(parsed), _definitions(parsed)
    found, seen = [], Counter[str]()
    for operator in OPERATORS:
        instance = get_operator(f"core/{operator}")()
        positions = [position for node in nodes for position in instance.mutation_positions(node)]
        for occurrence, (start, _) in enumerate(positions):
            if any(first <= start < last for first, last in skipped):
                continue
            function = next((span for span in functions if span[0] <= start[0] <= span[1]), None)
            name = f"{_definition_at(start[0], definitions)}/{operator}"
            seen[name] += 1
            mutant = Mutant(path, operator, occurrence, start, function, f"{name}/{seen[name]}")
            if operator not in _ALSO_OF_UNPACKING or _is_code(mutant.code):
                found.append(mutant)
    return found


def _is_code(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def _functions(parsed: ast.Module) -> list[tuple[int, int]]:
    """Line spans of functions and methods, without those inside another, decorators left out: they run at import."""
    found: list[tuple[int, int]] = []

    def visit(node: ast.AST) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef):
                found.append((child.body[0].lineno, child.end_lineno or child.lineno))
            elif isinstance(child, ast.ClassDef):
                visit(child)

    visit(parsed)
    return found


def _definitions(parsed: ast.Module) -> list[tuple[int, int, str]]:
    return [
        (node.lineno, node.end_lineno or node.lineno, node.name)
        for node in ast.walk(parsed)
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    ]


def _definition_at(line: int, definitions: list[tuple[int, int, str]]) -> str:
    return ".".join(name for first, last, name in sorted(definitions) if first <= line <= last)


def _places_that_do_not_count(parsed: ast.Module) -> Iterator[tuple[Place, Place]]:
    """Type hints, texts for people, decorators of speed or type, and what only guards the code against its own author."""
    for node in ast.walk(parsed):
        for hint in (getattr(node, "annotation", None), getattr(node, "returns", None)):
            if isinstance(hint, ast.expr):
                yield _span(hint)
        if isinstance(node, ast.FunctionDef):
            if node.name in _FOR_PEOPLE:
                yield _span(node)
            for decorator in node.decorator_list:
                if _last_name(decorator) in _DECORATORS_OF_SPEED_OR_TYPE:
                    (line, column), end = _span(decorator)
                    yield (line, column - 1), end  # with its @
        if isinstance(node, ast.keyword) and node.arg in _GUARDS:
            yield _span(node)
        if isinstance(node, ast.If) and _last_name(node.test) == "TYPE_CHECKING":
            yield _span(node)


def _span(node: ast.stmt | ast.expr | ast.keyword) -> tuple[Place, Place]:
    return (node.lineno, node.col_offset), (
        node.end_lineno or node.lineno,
        node.end_col_offset or node.col_offset,
    )


def _last_name(node: ast.expr) -> str:
    """``cache`` of ``functools.cache`` and of ``cache(...)``."""
    if isinstance(node, ast.Call):
        return _last_name(node.func)
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
