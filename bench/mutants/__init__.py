"""Which small faults in the code the tests notice: a sample of mutants, drawn at random.

    python -m bench.mutants --seed 28 --count 330 > mutants.json
    MUTANTS=mutants.json ENTERED=entered pytest -p bench.mutants.entering -n 2
    MUTANTS=mutants.json ENTERED=entered VERDICTS=verdicts.json pytest -p bench.mutants.trying -n 0 -p no:randomly

A mutant is one change in the body of one function of `registry` or `workers`: a comparison, an operator, a number or a
truth value becomes another, a condition is negated, a filter or a call is left out, or nothing is returned. Every place
where one can be made has the same chance to be drawn. The second command records which tests enter each changed
statement; the third changes the function in memory, in a fork of a pytest that has collected all tests, and runs those
tests until one fails. What tests do in other processes is not measured.
"""

import ast
import json
import os
import random
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from types import CodeType

ROOT = Path(__file__).parent.parent.parent
PACKAGES = ("registry", "workers")
_COMPARED = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
_OPERATED = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
_UNREAD = ("annotation", "returns", "decorator_list", "type_comment")


@dataclass(frozen=True)
class Mutant:
    """The `nth` place (from 0, in the order of the syntax tree) in a function where a kind of change can be made."""

    number: int
    file: str
    function: str
    change: str
    nth: int


@dataclass(frozen=True)
class Place:
    function: str
    outermost: ast.AST
    statement: ast.stmt
    node: ast.AST
    change: str


def mutants() -> list[Mutant]:
    """Those of the file that MUTANTS names."""
    return [Mutant(**row) for row in json.loads(Path(os.environ["MUTANTS"]).read_text())]


def draw(seed: int, count: int) -> list[Mutant]:
    """So many mutants of the packages, the same for a seed as long as the code is the same."""
    found = []
    for path in sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py")):
        seen: dict[tuple[str, str], int] = {}
        for place in places(ast.parse(path.read_text())):
            key = (place.function, place.change)
            seen[key] = seen.get(key, -1) + 1
            found.append((path.relative_to(ROOT).as_posix(), *key, seen[key]))
    drawn = random.Random(seed).sample(found, count)
    return [Mutant(number, *one) for number, one in enumerate(drawn)]


def places(tree: ast.AST) -> Iterator[Place]:
    """Every place in the functions of a module where a change can be made."""
    yield from _within(tree, (), None, None)


def _within(
    node: ast.AST, names: tuple[str, ...], outer: ast.AST | None, statement: ast.stmt | None
) -> Iterator[Place]:
    for field, value in ast.iter_fields(node):
        if field in _UNREAD or (field == "args" and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                yield from _within(child, (*names, child.name), outer or child, None)
            elif isinstance(child, ast.ClassDef):
                if outer is None:
                    yield from _within(child, (*names, child.name), None, None)
            elif isinstance(child, ast.AST):
                inner = child if isinstance(child, ast.stmt) else statement
                if outer is not None and inner is not None:
                    yield from (Place(".".join(names), outer, inner, child, change) for change in _changes(child))
                yield from _within(child, names, outer, inner)


def _changes(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Compare(ops=[one]) if type(one) in _COMPARED:
            yield "comparison"
        case ast.BinOp(left=left, op=op) if type(op) in _OPERATED and not _is_text(left):
            yield "operator"
        case ast.BoolOp():
            yield "and, or"
        case ast.UnaryOp(op=ast.Not()):
            yield "not"
        case ast.If() | ast.While() | ast.IfExp():
            yield "condition"
        case ast.Constant(value=bool()):
            yield "truth"
        case ast.Constant(value=int() | float()):
            yield "number"
        case ast.Return(value=None | ast.Constant(value=None)):
            return
        case ast.Return():
            yield "return"
        case ast.Expr(value=ast.Call()):
            yield "call"
        case ast.comprehension(ifs=[_, *_]):
            yield "filter"


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def found(tree: ast.AST, mutant: Mutant) -> Place | None:
    """Where the mutant is in this tree of its file; none if the function is not what it was."""
    alike = [one for one in places(tree) if (one.function, one.change) == (mutant.function, mutant.change)]
    return alike[mutant.nth] if mutant.nth < len(alike) else None


def change(node: ast.AST) -> None:
    """Make the change at this node."""
    match node:
        case ast.Compare():
            node.ops = [_COMPARED[type(node.ops[0])]()]
        case ast.BinOp():
            node.op = _OPERATED[type(node.op)]()
        case ast.BoolOp():
            node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        case ast.UnaryOp():
            node.operand = ast.UnaryOp(ast.Not(), node.operand)
        case ast.If() | ast.While() | ast.IfExp():
            node.test = ast.UnaryOp(ast.Not(), node.test)
        case ast.Constant(value=bool()):
            node.value = not node.value
        case ast.Constant(value=int() | float() as number):
            node.value = number + 1
        case ast.Return() | ast.Expr():
            node.value = ast.Constant(None)
        case ast.comprehension():
            node.ifs = []
    ast.fix_missing_locations(node)


def codes(mutant: Mutant) -> tuple[dict[tuple[str, int], CodeType], str]:
    """The changed code of its functions by name and first line, none where they are gone, and the path of the file."""
    path = ROOT / mutant.file
    tree = ast.parse(path.read_text())
    place = found(tree, mutant)
    if place is None:
        return {}, str(path)
    change(place.node)
    ast.fix_missing_locations(tree)
    outermost = place.outermost
    assert isinstance(outermost, ast.FunctionDef | ast.AsyncFunctionDef)
    first = min([outermost.lineno, *(one.lineno for one in outermost.decorator_list)])
    every = {(code.co_name, code.co_firstlineno): code for code in _all(compile(tree, str(path), "exec"))}
    last = outermost.end_lineno or first
    return {key: code for key, code in every.items() if first <= key[1] <= last and key[0] != "<module>"}, str(path)


def _all(code: CodeType) -> Iterator[CodeType]:
    yield code
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from _all(one)


def as_json(drawn: list[Mutant]) -> str:
    return json.dumps([asdict(one) for one in drawn], indent=1)
