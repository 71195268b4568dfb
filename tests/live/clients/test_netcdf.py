"""Files of xarray as the importer reads them, whole, cut off, too large, and taken for what they are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from registry.errors import Malformed
from registry.grids.intake.faults import Limits
from registry.importers import formats
from registry.importers.source import Source
from tests.commands.terminal import Person
from tests.commands.test_push import is_its_source
from tests.house import Project
from tests.importers.test_doubtful_files import EVERY, FILES, outcome, placed
from tests.importers.test_formats import grids

NAMES = ("xarray3.nc", "xarray4.nc")


@pytest.mark.parametrize("name", NAMES)
def test_netcdf_brings_axes_units_and_gaps(name: str, tmp_path: Path) -> None:
    [found] = grids(name)
    assert found.submission["values"] == [[0.5, 0.25, None], [1.0, 0.75, 0.125]]
    assert found.submission["axes"] == [
        {"name": "task", "kind": "nominal", "levels": ["sum", "sort"]},
        {"name": "length", "unit": "tokens", "kind": "numeric", "levels": [1, 2, 4]},
    ]
    assert [found.submission[name] for name in ("experiment", "benchmark", "model", "variant")] == ["e", "b", "m", "v"]
    assert formats.detect(Source("x", placed("without-a-suffix", (FILES / name).read_bytes(), tmp_path))) == "netcdf"


def test_more_cells_than_a_grid_may_have_are_refused_before_they_are_loaded() -> None:
    with pytest.raises(Malformed, match="has 6 cells; a grid has at most 5"):
        grids("xarray4.nc", limits=Limits(cells=5))


@pytest.mark.parametrize("name", NAMES)
def test_a_file_that_was_cut_off_gives_a_grid_or_a_reason(name: str, tmp_path: Path) -> None:
    content = (FILES / name).read_bytes()
    for tenth in range(10):
        outcome(placed(name, content[: len(content) * tenth // 10], tmp_path))


def test_what_is_no_netcdf_and_netcdf_as_another_format_give_a_grid_or_a_reason(tmp_path: Path) -> None:
    for content in (b"CDF\x01junk", b"\x89HDF\r\n\x1a\njunk"):
        assert outcome(placed("junk.nc", content, tmp_path))[0] == []
    for name in EVERY:
        outcome(placed(name, (FILES / name).read_bytes(), tmp_path), "netcdf")
    for name in NAMES:
        for form in ("csv", "latex", "lm-eval", "parquet", "records"):
            outcome(placed(name, (FILES / name).read_bytes(), tmp_path), form)


@pytest.mark.parametrize("name", NAMES)
def test_a_pushed_file_is_the_source_of_its_grid(person: Person, project: Project, name: str) -> None:
    is_its_source(person, project, name, "netcdf")
