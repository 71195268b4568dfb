"""Measure the code itself: sizes, docstrings, comments, imports, types.

    python -m bench.measure_house                       # print the table of this checkout
    python -m bench.measure_house --root /tmp/release   # of another one
    python -m bench.measure_house --write FILE          # replace the table between the markers of a Markdown file

Lines are those that are not blank. Comments are counted without directives for tools (`noqa`, `type: ignore`, `fmt`).
"""

import argparse
import ast
import math
import re
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

BEGIN, END = "<!-- measured by make measure -->", "<!-- end -->"
PACKAGES = ("registry", "workers", "client/results_registry")
ROOMS = ("registry", "workers", "client/results_registry", "registry/api", "workers/statistics")
_DIRECTIVE = re.compile(r"#\s*(noqa|type:|fmt:|mypy:|pragma)")
_RIDDLE = re.compile(r"(What|Who|Whoever)\b")

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Module:
    """A source file: its dotted name, its text and its tree."""

    path: Path
    name: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @cached_property
    def lines(self) -> int:
        return filled(self.text.splitlines())

    def nodes(self, *kinds: type) -> Iterator[ast.AST]:
        return (node for node in ast.walk(self.tree) if isinstance(node, kinds))

    def functions(self) -> Iterator[Function]:
        return (node for node in ast.walk(self.tree) if isinstance(node, Function))

    def function_sizes(self) -> Iterator[int]:
        lines = self.text.splitlines()
        return (filled(lines[node.lineno - 1 : node.end_lineno]) for node in self.functions())

    def public(self) -> Iterator[Function | ast.ClassDef]:
        """The public classes and functions, and the public methods of the classes."""
        for node in self.tree.body:
            if not isinstance(node, (Function, ast.ClassDef)) or node.name.startswith("_"):
                continue
            yield node
            if isinstance(node, ast.ClassDef):
                yield from (one for one in node.body if isinstance(one, Function) and not one.name.startswith("_"))

    def comments(self) -> int:
        """Lines that hold a comment for people."""
        with tokenize.open(self.path) as file:
            found = list(tokenize.generate_tokens(file.readline))
        return sum(token.type == tokenize.COMMENT and not _DIRECTIVE.match(token.string) for token in found)

    def hidden_imports(self) -> int:
        """Imports inside functions."""
        inside = {id(node) for function in self.functions() for node in ast.walk(function) if is_import(node)}
        return len(inside)

    def commits(self) -> int:
        """Calls of `commit`, in any module but the one that may; a method that overrides it calls its own."""
        if self.path.name == "database.py":
            return 0
        called = (node.func for node in ast.walk(self.tree) if isinstance(node, ast.Call))
        return sum(
            isinstance(one, ast.Attribute) and one.attr == "commit" and ast.unparse(one.value) != "super()"
            for one in called
        )

    def annotations(self) -> Iterator[ast.expr]:
        for node in ast.walk(self.tree):
            given = getattr(node, "returns", None) if isinstance(node, Function) else getattr(node, "annotation", None)
            if isinstance(given, ast.expr):
                yield given

    def untyped_documents(self) -> int:
        """Names of module level that stand for `dict[str, Any]`."""
        values = (node.value for node in self.tree.body if isinstance(node, ast.Assign))
        return sum(ast.unparse(value) == "dict[str, Any]" for value in values)

    def key_reads(self) -> int:
        """Reads of the form `document["name"]`."""
        return sum(
            isinstance(node, ast.Subscript)
            and isinstance(node.ctx, ast.Load)
            and isinstance(node.slice, ast.Constant)
            and isinstance(node.slice.value, str)
            for node in ast.walk(self.tree)
        )

    def riddles(self) -> int:
        """Docstrings that begin with "What", "Who" and the like instead of a verb or a noun."""
        kinds = (ast.Module, ast.ClassDef, Function)
        texts = (ast.get_docstring(node) or "" for node in ast.walk(self.tree) if isinstance(node, kinds))
        return sum(bool(_RIDDLE.match(text)) for text in texts)

    def imported(self) -> Iterator[str]:
        """Names that are imported while the module is; those for type checkers are not."""
        waiting = list[ast.stmt](self.tree.body)
        while waiting:
            node = waiting.pop()
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                yield from (f"{node.module}.{alias.name}" for alias in node.names)
            elif isinstance(node, ast.If) and "TYPE_CHECKING" not in ast.unparse(node.test):
                waiting += node.body + node.orelse
            elif isinstance(node, ast.Try):
                waiting += node.body


def is_import(node: ast.AST) -> bool:
    return isinstance(node, (ast.Import, ast.ImportFrom))


def filled(lines: Iterable[str]) -> int:
    return sum(bool(line.strip()) for line in lines)


def modules_of(root: Path, folders: Iterable[str]) -> list[Module]:
    found = []
    for folder in folders:
        base = (root / folder).parent
        for path in sorted((root / folder).rglob("*.py")):
            parts = path.relative_to(base).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            found.append(Module(path, name, path.read_text(encoding="utf-8")))
    return found


def cycles(modules: list[Module]) -> int:
    """Groups of modules that import each other in a circle."""
    places = {module.name: place for place, module in enumerate(modules)}
    pairs = [
        (places[module.name], places[target])
        for module in modules
        for name in module.imported()
        if (target := name if name in places else name.rpartition(".")[0]) in places and target != module.name
    ]
    if not pairs:
        return 0
    rows, columns = np.array(pairs).T
    graph = coo_array((np.ones(len(pairs)), (rows, columns)), shape=(len(modules), len(modules)))
    _, labels = connected_components(graph.tocsr(), directed=True, connection="strong")
    return int((np.bincount(labels) > 1).sum())


def quantiles(sizes: Iterable[int]) -> str:
    """Median, 90 % quantile and maximum."""
    found = sorted(sizes)
    p50, p90 = (found[max(0, math.ceil(share * len(found)) - 1)] for share in (0.5, 0.9))
    return f"{p50} / {p90} / {found[-1]}"


def share(part: int, whole: int, digits: int = 0) -> str:
    return f"{100 * part / max(whole, 1):.{digits}f} %"


def row(title: str, modules: list[Module]) -> list[str]:
    lines = sum(module.lines for module in modules)
    public = [node for module in modules for node in module.public()]
    annotations = [ast.unparse(given) for module in modules for given in module.annotations()]
    hidden = sum(module.hidden_imports() for module in modules)
    return [
        title,
        f"{len(modules)}",
        f"{lines:,}",
        quantiles(module.lines for module in modules),
        quantiles(size for module in modules for size in module.function_sizes()),
        share(sum(ast.get_docstring(node) is not None for node in public), len(public)),
        f"{sum(module.riddles() for module in modules)}",
        share(sum(module.comments() for module in modules), lines, 1),
        f"{1000 * hidden / lines:.1f}",
        f"{sum(module.commits() for module in modules)}",
        share(sum(bool(re.search(r"\bAny\b", given)) for given in annotations), len(annotations)),
        f"{sum(module.untyped_documents() for module in modules)}",
        f"{sum(module.key_reads() for module in modules):,}",
        f"{cycles(modules)}",
    ]


HEAD = (
    "", "files", "lines", "lines/file p50 / p90 / max", "function p50 / p90 / max", "public docstrings",
    "docstrings “What …”", "comments", "hidden imports/1000", "commit calls", "annotations with Any",
    "names for dict[str, Any]", "string-key reads", "cycles",
)  # fmt: skip


def table(root: Path) -> str:
    """The measures of a checkout as a Markdown table."""
    rows = [row("all", modules_of(root, PACKAGES))]
    rows += [row(room, found) for room in ROOMS if (found := modules_of(root, [room]))]
    cells = [HEAD, ["---"] * len(HEAD), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in cells)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=Path(__file__).parent.parent)
    parser.add_argument("--write", type=Path, metavar="FILE")
    asked = parser.parse_args()
    measured = table(asked.root)
    print(measured, end="")
    if asked.write:
        text = asked.write.read_text(encoding="utf-8")
        before, _, rest = text.partition(BEGIN)
        _, _, after = rest.partition(END)
        asked.write.write_text(f"{before}{BEGIN}\n\n{measured}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
