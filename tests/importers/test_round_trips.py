"""What the registry writes as CSV and Markdown reads back as the same values at the same places."""

from __future__ import annotations

import itertools
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from registry.importers import delimited, markdown
from registry.importers.imported_grid import Overrides
from registry.importers.source import Source
from registry.renderings.grid import flat
from tests.registry.renderings.grid_documents import cells_csv, grid_markdown

WORDS = st.text("abcXYZé|\\<=+-@ 'ß7", min_size=1, max_size=6).filter(
    lambda text: text == text.strip() and text.strip("-") and not text.startswith("'") and text[0].isalpha()
)
VALUES = st.one_of(st.none(), st.integers(-99_999, 99_999).map(lambda number: number / 100))


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """The JSON of a grid over one or two axes, with at least one cell."""
    rows = draw(st.lists(WORDS, min_size=2, max_size=4, unique=True))
    columns = draw(st.lists(st.integers(0, 5000), min_size=2, max_size=4, unique=True).map(sorted))
    values = [[draw(VALUES) for _ in columns] for _ in rows]
    values[0][0] = 1.5
    axes = [
        {"name": "Task", "kind": "nominal", "unit": None, "scale": "linear", "levels": rows},
        {"name": "Length", "kind": "numeric", "unit": None, "scale": "linear", "levels": columns},
    ]
    metric = {"name": "score", "unit": None, "direction": None, "lower": None, "upper": None}
    return {
        "id": "0193", "revision": 1, "experiment": "e", "benchmark": "b", "model": "m", "variant": "v",
        "metric": metric, "axes": axes, "values": values,
    }  # fmt: skip


def cells(document: dict[str, Any]) -> dict[tuple[Any, ...], float]:
    """The measured cells by their levels."""
    if "cells" in document:
        return {tuple(one["at"].values()): one["value"] for one in document["cells"] if one["value"] is not None}
    levels = [axis["levels"] for axis in document["axes"]]
    values = flat(document["values"], len(levels))
    return {at: value for at, value in zip(itertools.product(*levels), values, strict=True) if value is not None}


@given(documents())
def test_tidy_csv_reads_back_as_the_same_cells(document: dict[str, Any]) -> None:
    [found] = delimited.read(Source("x", given=cells_csv(document).encode()), Overrides(reads_prose=False))
    assert cells(found.submission) == cells(document)
    for name in ("experiment", "benchmark", "model", "variant"):
        assert found.submission[name] == document[name]
    kinds = [(axis["name"], axis["kind"]) for axis in found.submission["axes"]]
    assert kinds == [("Task", "nominal"), ("Length", "numeric")]


@given(documents())
def test_the_table_of_a_markdown_reads_back_as_the_same_cells(document: dict[str, Any]) -> None:
    wanted = Overrides(experiment="e", benchmark="b", model="m", metric="score", nominal=("Task",), reads_prose=False)
    [found] = markdown.read(Source("x", given=grid_markdown(document).encode()), wanted)
    assert found.submission["values"] == document["values"]
    assert [axis["levels"] for axis in found.submission["axes"]] == [axis["levels"] for axis in document["axes"]]
