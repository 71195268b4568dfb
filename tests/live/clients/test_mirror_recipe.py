"""The queries of docs/recipes/mirror.md, by DuckDB over a mirror."""

import os
import re
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests import ROOT
from tests.commands.terminal import Person
from tests.commands.test_mirror import cells, lake, tell
from tests.house import Project

__all__ = ["lake"]  # a fixture

RECIPE = re.findall(r"```sql\n(.*?)```", (ROOT / "docs/recipes/mirror.md").read_text(), re.DOTALL)


def duck(lake: Path, query: str) -> list[dict[str, Any]]:
    """What a query of the cells answers, with the view of the recipe."""
    before = os.getcwd()
    os.chdir(lake)
    try:
        with duckdb.connect() as connection:
            connection.execute("SET TimeZone = 'UTC'")
            connection.execute(RECIPE[0])
            rows: list[dict[str, Any]] = connection.sql(query).to_arrow_table().to_pylist()
            return rows
    finally:
        os.chdir(before)


def test_the_queries_of_the_recipe_run(person: Person, project: Project, lake: Path) -> None:
    from registry.demo import demo_grids

    for grid in demo_grids():
        assert project.publish({"axes": []} | grid).status_code in (200, 201)
    tell(project)
    person.says("mirror", str(lake))
    viewed = duck(lake, "SELECT grid, revision, model, value FROM cells")
    assert sorted(map(str, viewed)) == sorted(str({name: row[name] for name in viewed[0]}) for row in cells(lake))
    by_length, best, heatmap, changed = (duck(lake, query) for query in RECIPE[1:])
    first = demo_grids()[0]
    by_type = [[row[place] for row in first["values"] if row[place] is not None] for place in range(3)]
    assert [(row["length"], row["accuracy"]) for row in by_length] == [
        (float(level), pytest.approx(sum(values) / len(values), abs=0.0501))
        for level, values in zip(first["axes"][1]["levels"], by_type, strict=False)
    ]
    assert [(row["cells"], row["trials"]) for row in by_length] == [
        (len(values), len(values) * first["trials"]) for values in by_type
    ]
    assert best
    assert changed
    [own] = [one for one in demo_grids() if (one["benchmark"], one["model"]) == ("AMC23", "R1-Qwen")]
    assert [axis["name"] for axis in own["axes"]] == ["Local Window Size", "Ratio"]
    sizes, ratios = ([float(level) for level in axis["levels"]] for axis in own["axes"])
    rows = dict(zip(sizes, own["values"], strict=True))
    expected = [[size, *(rows[size][ratios.index(ratio)] for ratio in sorted(ratios))] for size in sorted(sizes)]
    assert [list(row.values()) for row in heatmap] == expected
    assert sorted(sizes) != sorted(sizes, key=str), "or labels would do"
