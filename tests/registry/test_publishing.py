"""Publishing: what makes a revision, what does not, and what is answered."""

from __future__ import annotations

from tests.house import Project, publication


def test_a_published_grid_reads_back_as_it_was_sent(project: Project) -> None:
    answer = project.publish()
    assert answer.status_code == 201
    grid = project.get(answer.headers["Location"]).get_json()
    sent = publication()
    assert {name: grid[name] for name in ("experiment", "benchmark", "model", "variant", "values", "trials")} == {
        name: sent[name] for name in ("experiment", "benchmark", "model", "variant", "values", "trials")
    }
    assert (grid["shape"], grid["cell_count"], grid["revision"]) == ([2, 3], 5, 1)
    assert grid["axes"][1]["levels"] == [0, 1, 2]
    assert grid["derivation"]["state"] == "pending"
    assert grid["warnings"] == []


def test_the_same_post_twice_makes_one_revision(project: Project) -> None:
    first, second = project.publish(), project.publish()
    assert (first.status_code, second.status_code) == (201, 200)
    assert first.get_json() == second.get_json()


def test_other_content_makes_the_next_revision_of_the_same_grid(project: Project) -> None:
    first = project.published()
    second = project.published(trials=150)
    assert (second["id"], second["revision"]) == (first["id"], 2)
    assert second["digest"] != first["digest"]
    old = project.get(f"grids/{first['id']}?revision=1").get_json()
    assert (old["trials"], old["digest"]) == (300, first["digest"])


def test_levels_of_a_numeric_axis_are_read_in_numeric_order(project: Project) -> None:
    axes = [{"name": "Window", "kind": "numeric", "levels": [3000, 500, 2000, 1000]}]
    grid = project.published(axes=axes, values=[30.0, 5.0, 20.0, 10.0])
    stored = project.get(f"grids/{grid['id']}").get_json()
    assert stored["axes"][0]["levels"] == [500, 1000, 2000, 3000]
    assert stored["values"] == [5.0, 10.0, 20.0, 30.0]
