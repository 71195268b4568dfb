"""Grafana's data library, run in Node on our dashboard and our answers: the matrix is exact, gaps have no colour."""

import json
import shutil
import subprocess
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.house import Project
from tests.live.clients.test_tables import expected
from tests.told import tell

HERE = Path(__file__).parent / "grafana"
GRAFANA = Path(__file__).parents[3] / "integrations" / "grafana"
EVENTS = json.loads((GRAFANA / "dashboards" / "events.json").read_text(encoding="utf-8"))
DASHBOARD = json.loads((GRAFANA / "dashboards" / "type-by-length.json").read_text(encoding="utf-8"))


def by_grafana(script: str, told: object) -> Any:
    """What a script says that uses Grafana's data library."""
    if shutil.which("node") is None or not (HERE / "node_modules").is_dir():
        pytest.skip("needs Node and @grafana/data: npm ci --prefix tests/live/clients/grafana")
    command = ["node", str(HERE / script)]
    done = subprocess.run(command, input=json.dumps(told), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def cells(seeds: Project) -> list[dict[str, Any]]:
    """What the first panel shows of the answer to its own query."""
    panel = DASHBOARD["panels"][0]
    query = panel["targets"][0]["url"].partition("?")[2]
    items = seeds.get(f"projects/{seeds.slug}/cells.json?{query}").get_json()["items"]
    found: list[dict[str, Any]] = by_grafana("matrix.mjs", {"panel": panel, "items": items})
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
    for panel in (*DASHBOARD["panels"], *EVENTS["panels"]):
        for one in (panel["datasource"], *(target["datasource"] for target in panel["targets"])):
            assert known[one["uid"]] == one["type"]
    for annotation in EVENTS["annotations"]["list"]:
        for one in (annotation["datasource"], annotation["target"]["datasource"]):
            assert known[one["uid"]] == one["type"]


@pytest.fixture
def told(project: Project) -> Project:
    """A project with an event for each annotation."""
    project.published()
    project.published(values=[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    tell(project, 1, kind="claim.flipped", text="A wins.", verdict="contradicted", experiment="E")
    tell(project, 2, kind="alert.opened", baseline="main", model="B", benchmark="AIME", state="open", reopened=0)
    sentence = "B is shown to be worse than A by more than 2 %."
    tell(project, 4, kind="gate.verdict", baseline="main", contender="B", verdict="fail", sentence=sentence)
    tell(project, 3, kind="ranking.changed", experiment="E", metric="accuracy", leaders=["A", "B"])
    return project


def frames(project: Project, targets: Sequence[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Grafana's data frames of what the registry answers to these targets, as rows."""
    asked = []
    for target in targets:
        query = target["url"].partition("?")[2].replace("${__from:date:iso}", "2001-01-01T00:00:00.000Z")
        items = project.get(f"projects/{project.slug}/events.json?{query}").get_json()["items"]
        asked.append({"columns": target["columns"], "items": items})
    found: list[list[dict[str, Any]]] = by_grafana("annotations.mjs", asked)
    return found


def test_each_annotation_marks_its_events_at_their_time(told: Project) -> None:
    annotations = EVENTS["annotations"]["list"]
    [flipped], [opened], [judged], [ranked], [revised] = frames(told, [one["target"] for one in annotations])
    words = [(one["title"], one["text"], one["tags"]) for one in (flipped, opened, judged, ranked, revised)]
    assert words == [
        ("contradicted", "A wins.", "E"),
        ("main", "B", "AIME"),
        ("fail", "B is shown to be worse than A by more than 2 %.", "B"),
        ("E", "A", "accuracy"),
        ("Core Generalization", "Qwen-2.5 3B", "type-by-length"),
    ]
    items = told.get(f"projects/{told.slug}/events?type=claim.flipped").get_json()["items"]
    assert flipped["time"] == int(datetime.fromisoformat(items[0]["time"]).timestamp() * 1000)
    for one in annotations:
        columns = {column["text"] for column in one["target"]["columns"]}
        assert {mapped["value"] for mapped in one["mappings"].values()} == columns


def test_the_panel_of_events_has_a_point_for_each_revision(told: Project) -> None:
    [points] = frames(told, EVENTS["panels"][0]["targets"])
    assert [(one["model"], one["revision"]) for one in points] == [("Qwen-2.5 3B", 1), ("Qwen-2.5 3B", 2)]
    assert points[0]["time"] <= points[1]["time"]


def test_the_sql_of_the_dashboard_runs_and_gives_the_same_cells(seeds: Project, first_grid: dict[str, Any]) -> None:
    from tests.live.clients.test_bi import Reader

    reader = Reader(seeds.house, [seeds.slug])
    try:
        for panel in DASHBOARD["panels"][1:]:
            rows = reader.ask(panel["targets"][0]["rawSql"].replace("${project}", seeds.slug))
            assert len(rows) in (97, 7)
            if len(rows) == 97:
                assert {(kind, float(length)): value for kind, length, value in rows} == expected(first_grid)
    finally:
        reader.drop()
