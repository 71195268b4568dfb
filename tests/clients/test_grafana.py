"""Grafana's data library, run in Node on our dashboard and our answers: the matrix is exact, gaps have no colour."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.clients.test_tables import expected
from tests.house import Project

HERE = Path(__file__).parent / "grafana"
GRAFANA = Path(__file__).parents[2] / "integrations" / "grafana"
DASHBOARD = json.loads((GRAFANA / "dashboards" / "type-by-length.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def cells(seeds: Project) -> list[dict[str, Any]]:
    """What the first panel shows of the answer to its own query."""
    if shutil.which("node") is None or not (HERE / "node_modules").is_dir():
        pytest.skip("needs Node and @grafana/data: npm ci --prefix tests/clients/grafana")
    panel = DASHBOARD["panels"][0]
    query = panel["targets"][0]["url"].partition("?")[2]
    items = seeds.get(f"projects/{seeds.slug}/cells.json?{query}").get_json()["items"]
    told = json.dumps({"panel": panel, "items": items})
    done = subprocess.run(["node", str(HERE / "matrix.mjs")], input=told, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def test_the_matrix_is_exact(cells: list[dict[str, Any]], first_grid: dict[str, Any]) -> None:
    measured = {(cell["row"], float(cell["column"])): cell["value"] for cell in cells if cell["value"] is not None}
    assert measured == expected(first_grid)
    assert len(cells) == 7 * 20


def test_a_cell_that_nobody_measured_is_transparent_and_zero_is_not(cells: list[dict[str, Any]]) -> None:
    missing = [cell for cell in cells if cell["value"] is None]
    assert len(missing) == 43
    transparent = "rgba(0,0,0,0)"
    assert {(cell["text"], cell["color"].replace(" ", "")) for cell in missing} == {("·", transparent)}
    assert all(cell["color"].startswith("rgb(") for cell in cells if cell["value"] is not None)


def test_every_panel_names_a_provisioned_source() -> None:
    sources = yaml.safe_load((GRAFANA / "provisioning" / "datasources" / "registry.yaml").read_text(encoding="utf-8"))
    known = {source["uid"]: source["type"] for source in sources["datasources"]}
    for panel in DASHBOARD["panels"]:
        for one in (panel["datasource"], *(target["datasource"] for target in panel["targets"])):
            assert known[one["uid"]] == one["type"]


def test_the_sql_of_the_dashboard_runs_and_gives_the_same_cells(seeds: Project, first_grid: dict[str, Any]) -> None:
    from tests.clients.test_bi import Reader

    reader = Reader(seeds.house, [seeds.slug])
    try:
        for panel in DASHBOARD["panels"][1:]:
            rows = reader.ask(panel["targets"][0]["rawSql"].replace("${project}", seeds.slug))
            assert len(rows) in (97, 7)
            if len(rows) == 97:
                assert {(kind, float(length)): value for kind, length, value in rows} == expected(first_grid)
    finally:
        reader.drop()
