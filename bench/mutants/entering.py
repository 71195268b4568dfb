"""A plugin of pytest that records which tests enter the statement of each mutant of MUTANTS, and how long tests take.

A call before each statement tells; nothing else of the code changes. Each process of xdist writes a file into the
folder ENTERED: `{"entered": {mutant: [test, ...]}, "seconds": {test: ...}}`, a parametrised test under one name. What
was entered before the first test is entered by `IMPORT`.
"""

import ast
import builtins
import json
import os
import time
from collections import defaultdict
from collections.abc import Iterator
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

from bench.mutants import ROOT, Mutant, found, mutants

IMPORT = "import"
_BY_FILE: dict[str, list[Mutant]] = defaultdict(list)
for _mutant in mutants():
    _BY_FILE[str(ROOT / _mutant.file)].append(_mutant)
_entered: dict[int, set[str]] = defaultdict(set)
_seconds: dict[str, float] = defaultdict(float)
_running = [IMPORT]


def _enter(number: int) -> None:
    _entered[number].add(_running[0])


builtins.enter_mutant = _enter  # type: ignore[attr-defined]
_get_code = SourceFileLoader.get_code


def _with_calls(self: SourceFileLoader, name: str) -> CodeType | None:
    path = self.get_filename(name)
    return _called(path) if path in _BY_FILE else _get_code(self, name)


SourceFileLoader.get_code = _with_calls  # type: ignore[method-assign]


def _called(path: str) -> CodeType:
    tree = ast.parse(Path(path).read_text())
    places = [(place.statement, one.number) for one in _BY_FILE[path] if (place := found(tree, one)) is not None]
    for statement, number in places:
        body = next(body for body in _bodies(tree) if any(one is statement for one in body))
        call = ast.parse(f"enter_mutant({number})").body[0]
        for node in ast.walk(call):
            if "lineno" in node._attributes:
                ast.copy_location(node, statement)
        body.insert(next(i for i, one in enumerate(body) if one is statement), call)
    return compile(tree, path, "exec")


def _bodies(tree: ast.AST) -> Iterator[list[Any]]:
    for node in ast.walk(tree):
        fields = (getattr(node, name, None) for name in ("body", "orelse", "finalbody", "handlers"))
        yield from (field for field in fields if isinstance(field, list))


def name(item: pytest.Item) -> str:
    """The test without its parameters."""
    return item.nodeid.split("[")[0]


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    _running[0] = name(item)
    begun = time.perf_counter()
    try:
        return (yield)
    finally:
        _seconds[name(item)] += time.perf_counter() - begun


def pytest_sessionfinish() -> None:
    folder = Path(os.environ["ENTERED"])
    folder.mkdir(parents=True, exist_ok=True)
    entered = {number: sorted(tests) for number, tests in _entered.items()}
    process = os.environ.get("PYTEST_XDIST_WORKER", "main")
    (folder / f"{process}.json").write_text(json.dumps({"entered": entered, "seconds": _seconds}))
