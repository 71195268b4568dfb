"""The five seed documents go in as they are: every number is the demonstration's."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import Any

from registry.demo import demo_grids
from registry.importers import formats
from registry.importers.imported_grid import ImportedGrid, Overrides
from registry.importers.source import Source

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
