"""What takes time in proportion to what it is given, measured: on an idle machine, and again before it fails."""

import contextlib
import gc
import string
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from marshmallow import ValidationError

from registry.api.fields import Instant, Quantity, Share, Whole
from registry.api.pictures import PictureParameters
from registry.api.rankings import RankingParameters
from registry.api.request_body import read_lines
from registry.api.schemas import FindParameters
from registry.errors import RegistryError
from registry.grids.intake.levels import has_control, read_number
from registry.grids.suspect_names import looks_derived, near_duplicates
from registry.logs import redact
from registry.pages.findings import missing_of
from registry.renderings.heatmap import heatmap_svg
from tests.importers.test_tables_of_people import read
from tests.live.doubling import LINEAR, growth
from tests.registry.renderings.grid_documents import axis, cells_csv, document, grid_markdown, grid_text
from tests.registry.renderings.test_feed_bounds import FORMS as FEEDS
from tests.registry.renderings.test_feed_bounds import stored, written
from tests.registry.test_reading_in_proportion import FIELD, LONG, READERS, ndjson_of

NOISE = 0.05
"""Processor seconds by which a short measurement of reading may be off."""
LOOKS = 6


@pytest.fixture(autouse=True)
def _without_looking_for_cycles() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


def seconds(read: Callable[[], object]) -> float:
    """The processor time of a call, the better of two."""
    best = float("inf")
    for _ in range(2):
        begun = time.process_time()
        with contextlib.suppress(RegistryError, ValidationError):
            read()
        best = min(best, time.process_time() - begun)
    return best


def in_proportion(once: Callable[[], object], twice: Callable[[], object]) -> None:
    """What is in proportion is so in one of some looks at least; what is quadratic is never."""
    looks = ((seconds(once), seconds(twice)) for _ in range(LOOKS))
    assert any(long < 3 * short + NOISE for short, long in looks)


def longer(text: str) -> str:
    """All but the ends twice."""
    return text[:1] + text[1:-1] * 2 + text[-1:]


@pytest.mark.parametrize("form", READERS)
def test_twice_the_body_is_read_in_twice_the_time(form: str, subtests: pytest.Subtests) -> None:
    read, bodies = READERS[form]
    for name, (body, size) in bodies.items():
        short, long = body(size), body(2 * size)
        with subtests.test(name):
            assert len(long) > 1.9 * len(short)
            in_proportion(partial(read, short), partial(read, long))


def test_many_lines_of_a_batch_are_read_in_proportion() -> None:
    line = b'{"a":"' + b"x" * 1000 + b'"}\n'
    in_proportion(lambda: read_lines(line * 500, 9000), lambda: read_lines(line * 1000, 9000))
    in_proportion(lambda: ndjson_of(b"\n" * LONG), lambda: ndjson_of(b"\n" * 2 * LONG))


QUERY: dict[str, Callable[[str], object]] = {
    "a number": Quantity().deserialize,
    "a whole number": Whole(1, 10, text=True).deserialize,
    "an instant": Instant().deserialize,
    "a share": Share().deserialize,
    "a colour range": PictureParameters().fields["range"].deserialize,
    "the slots of a ranking": RankingParameters().fields["by"].deserialize,
    "a cursor": FindParameters().fields["cursor"].deserialize,
    "a control character": has_control,
    "an average": looks_derived,
    "the number of a label": read_number,
}
LONG_TEXTS = [
    "1" * LONG + "x", "-" * LONG, "1." * (LONG // 2), "5" + " " * LONG + "x", "axis:" + "x" * LONG + "\n",
    "0" * LONG + "~", "2026-11-21T08:00:00." + "1" * LONG, "(average" * (LONG // 8) + "x",
]  # fmt: skip
LABELS = ["5" + " " * FIELD + "x", "1" * FIELD + "x", "1e" + "1" * FIELD, " " * FIELD]
"""A label has no more characters than a field."""


@pytest.mark.parametrize("kind", QUERY)
def test_a_parameter_of_a_query_is_read_in_proportion(kind: str, subtests: pytest.Subtests) -> None:
    read = QUERY[kind]
    for text in LABELS if read is read_number else LONG_TEXTS:
        with subtests.test(text[:20]):
            in_proportion(partial(read, text), partial(read, longer(text)))


HOSTILE = ["0", "://a:", "x://y", ":", "share=", "bearer ", "Basic\t", "rgs_AbCdEfGh_", "a://b:c@", " ", "@"]


@pytest.mark.parametrize("repeated", HOSTILE)
def test_secrets_are_looked_for_in_linear_time(repeated: str) -> None:
    once = repeated * (16_000 // len(repeated))
    assert growth(lambda text: redact(None, "", {"path": text}), once, 2 * once) < LINEAR


ENDS = ["".join(letters) for letters in product(string.ascii_lowercase, repeat=2)]


@pytest.mark.parametrize(
    "names",
    [
        [f"{'x' * 100}{end}" for end in ENDS[:600]],
        [end * 6 for end in ENDS[:600]],
        [f"lab/checkpoint-{number:04}" for number in range(2000)],
    ],
    ids=["of one beginning", "apart", "of one shape"],
)
def test_names_are_compared_with_known_ones_in_linear_time(names: list[str]) -> None:
    few, many = set(names[: len(names) // 2]), set(names)
    assert growth(lambda some: near_duplicates(some, some), few, many) < LINEAR


def gapped(rows: int, columns: int = 100) -> dict[str, Any]:
    """Every seventh cell is missing, and every missing one has a reason."""
    axes = [axis("row", list(range(rows)), "numeric"), axis("column", [f"c{number}" for number in range(columns)])]
    values: list[list[float | None]] = [
        [(row * columns + column) % 997 / 8 for column in range(columns)] for row in range(rows)
    ]
    reasons = []
    for row, column in product(range(rows), range(columns)):
        if (row + column) % 7 == 0:
            values[row][column] = None
            reasons.append({"at": {"row": row, "column": f"c{column}"}, "reason": "too_costly"})
    return document(axes, values, reasons=reasons)


RENDERINGS: dict[str, tuple[Callable[[dict[str, Any]], object], int]] = {
    "cells.csv": (cells_csv, 300),
    "grid.txt": (grid_text, 120),
    "grid.md": (grid_markdown, 120),
    "heatmap.svg": (heatmap_svg, 150),
    "findings": (lambda grid: list(missing_of(grid)), 600),
}


@pytest.mark.parametrize("name", RENDERINGS)
def test_a_grid_is_written_in_linear_time(name: str) -> None:
    write, rows = RENDERINGS[name]
    assert growth(write, gapped(rows), gapped(2 * rows)) < LINEAR


@pytest.mark.parametrize("form", FEEDS)
def test_a_feed_is_written_in_linear_time(form: str) -> None:
    few = 40_000 if "json" in form else 100_000
    assert growth(lambda row: sum(map(len, written(form, row))), stored(few), stored(2 * few)) < LINEAR


def table_of(name: str, size: int) -> str:
    stars, rows = "*" * size, "a & 1 & 2 \\\\\n" * (size // 20)
    return {
        "tables without an end": "\\begin{tabular}" * (size // 2),
        "rules without an end": "\\begin{tabular}{l}" + "\\cmidrule(" * size + "\\end{tabular}",
        "commands in commands": "\\begin{tabular}{l}a & b \\\\" + "\\textbf{" * size + "\\end{tabular}",
        "rows": f"\\begin{{tabular}}{{lcc}}\nStep & x & y \\\\\n{rows}\\end{{tabular}}",
        "stars around a number": f"|a|b|\n|-|-|\n|x|{stars}7{stars}|\n|y|{'<' * size}|\n|z|{'[' * size}|\n",
    }[name]


@pytest.mark.parametrize(
    "name", ["tables without an end", "rules without an end", "commands in commands", "rows", "stars around a number"]
)
def test_tables_of_people_are_read_in_linear_time(name: str, tmp_path: Path) -> None:
    paths = {size: tmp_path / f"{size}.tex" for size in (8_000, 16_000)}
    for size, path in paths.items():
        path.write_text(table_of(name, size))
    assert growth(lambda size: read(str(paths[size])), 8_000, 16_000) < LINEAR
