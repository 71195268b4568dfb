"""What the registry writes reads back as the same values, and the seed documents are the demonstration."""

import itertools
from hashlib import sha256
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from registry.demo import demo_grids
from registry.importers import delimited, formats, markdown
from registry.importers.imported_grid import ImportedGrid, Overrides
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


FILES = Path(__file__).parent / "files"


def grids_of(seed: int) -> list[ImportedGrid]:
    return list(formats.read(Source("seed", FILES / f"seed_{seed}.txt"), Overrides()))


def demonstrated(seed: int) -> list[dict[str, Any]]:
    return [grid for grid in demo_grids() if grid["labels"]["seed"] == str(seed)]


def test_every_number_of_a_seed_is_the_demonstrations(subtests) -> None:
    for seed in (0, 1, 2, 4):
        with subtests.test(seed=seed):
            found, expected = [one.submission for one in grids_of(seed)], demonstrated(seed)
            assert len(found) == len(expected) > 0
            for mine, theirs in zip(found, expected, strict=True):
                for name in ("values", "axes", "metric", "benchmark", "model"):
                    assert mine[name] == theirs[name]
                assert mine.get("variant", "") == theirs["variant"]


def test_a_seed_without_numbers_gives_axes_and_no_cells() -> None:
    found, expected = [one.submission for one in grids_of(3)], demonstrated(3)
    for mine, theirs in zip(found, expected, strict=True):
        assert mine["cells"] == []
        assert mine["benchmark"] == theirs["benchmark"]
        of_both = [[(axis["name"], axis["levels"]) for axis in one["axes"]] for one in (mine, theirs)]
        assert of_both[0] == of_both[1]


def test_every_thing_that_was_read_from_prose_is_noted() -> None:
    [found] = grids_of(0)
    assert {note.code for note in found.notes} == {"identity_read", "experiment_named", "metric_read"}
    assert "cells_not_listed" in {note.code for one in grids_of(2) for note in one.notes}


def test_the_demonstration_names_the_seeds_that_it_was_read_from() -> None:
    for grid in demo_grids():
        path = FILES / f"seed_{grid['labels']['seed']}.txt"
        digest = sha256(path.read_bytes()).hexdigest()
        assert grid["source"] == {"format": "markdown", "name": path.name, "sha256": digest}
