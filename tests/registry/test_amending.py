"""Amending: cells added or replaced while a job runs, the history that this makes, and differences."""

from typing import Any

from werkzeug.test import TestResponse

from tests.house import House, Project, publication


def amend(project: Project, grid: dict[str, Any], *cells: dict[str, Any], **headers: str) -> TestResponse:
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    return project.call("PATCH", f"grids/{grid['id']}/cells", json={"cells": list(cells)}, headers=given)


def cell(kind: str, length: Any, value: float | None, **more: Any) -> dict[str, Any]:
    return {"at": {"Type": kind, "Length": length}, "value": value} | more


def read(project: Project, grid: dict[str, Any]) -> dict[str, Any]:
    return project.get(f"grids/{grid['id']}").get_json()


def test_cells_are_added_replaced_and_removed_and_the_difference_names_them(project: Project) -> None:
    grid = project.published()
    answer = amend(project, grid, cell("2", 0, 98.0), cell("1", 1, 97.0), cell("1", 2, None))
    assert (answer.status_code, answer.get_json()["revision"]) == (200, 2)
    after = read(project, grid)
    assert after["values"] == [[99.3, 97.0, None], [98.0, 100.0, 99.7]]
    assert (after["trials"], after["cell_count"]) == (300, 5)
    path = f"grids/{grid['id']}"
    found = project.get(f"{path}/difference?from=1&to=2").get_json()
    assert (found["from"], found["to"]) == (1, 2)
    assert found["added"] == [{"at": {"Type": "2", "Length": 0}, "value": 98.0, "trials": 300}]
    assert found["removed"] == [{"at": {"Type": "1", "Length": 2}, "value": 98.3, "trials": 300}]
    changed = {"from": {"value": 96.7, "trials": 300}, "to": {"value": 97.0, "trials": 300}}
    assert found["changed"] == [{"at": {"Type": "1", "Length": 1}} | changed]
    assert not any(found[f"{what}_changed"] for what in ("metric", "axes", "labels"))
    assert project.get(f"{path}/difference?from=1&to=2").get_json() == found
    back = project.get(f"{path}/difference?from=2&to=1").get_json()
    assert [item["value"] for item in back["removed"]] == [98.0]
    itself = project.get(f"{path}/difference?from=1&to=1").get_json()
    assert (itself["added"], itself["removed"], itself["changed"]) == ([], [], [])
    assert project.get(f"{path}/difference?from=1&to=3").status_code == 404
    faults = project.get(f"{path}/difference?from=1").get_json()["errors"]
    assert faults == [{"pointer": "/to", "detail": "Missing data for required field."}]


def test_new_levels_are_added_in_numeric_order(project: Project) -> None:
    grid = project.published()
    assert amend(project, grid, cell("3", 0.5, 90.0)).status_code == 200
    after = read(project, grid)
    assert [axis["levels"] for axis in after["axes"]] == [["1", "2", "3"], [0, 0.5, 1, 2]]
    assert after["values"] == [
        [99.3, None, 96.7, 98.3],
        [None, None, 100.0, 99.7],
        [None, 90.0, None, None],
    ]


def test_each_new_level_is_a_warning_at_the_first_cell_that_brings_it_and_a_fault_where_levels_are_fixed(
    project: Project,
) -> None:
    grid = project.published()

    def asked(query: str, *cells: dict[str, Any]) -> TestResponse:
        return project.call("PATCH", f"grids/{grid['id']}/cells?{query}", json={"cells": list(cells)})

    refused = asked("levels=fixed", cell("1", 0, 90.0), cell("type1", 0, 90.0))
    assert refused.status_code == 422
    assert [one["pointer"] for one in refused.get_json()["errors"]] == ["/cells/1/at/Type"]
    assert read(project, grid)["revision"] == 1
    assert asked("levels=fixed", cell("1", 0, 90.0)).status_code == 200
    for query in ("levels=loose", "levels=", "surplus=1"):
        assert asked(query, cell("1", 0, 9.0)).status_code == 422, query
    cells = [cell("1", 0, 90.0), cell("type1", 0, 90.0), cell("type1", 7, 91.0), cell("2", 7, 92.0)]
    warnings = [one for one in amend(project, grid, *cells).get_json()["warnings"] if one["code"] == "level_added"]
    assert [one["pointer"] for one in warnings] == ["/cells/1/at/Type", "/cells/2/at/Length"]
    assert warnings[0]["detail"] == 'the axis "Type" had no level "type1": it was added'
    known = amend(project, grid, cell("type1", 0, 80.0)).get_json()["warnings"]
    assert [one for one in known if one["code"] == "level_added"] == []


def test_an_amended_cell_may_have_trials_of_its_own_and_twice_is_repeats_here_too(project: Project) -> None:
    grid = project.published()
    amend(project, grid, cell("1", 0, 99.0, trials=100))
    assert read(project, grid)["trials"] == [[100, 300, 300], [None, 300, 300]]
    amend(project, grid, cell("2", 0, 90.0, trials=300), cell("2", 0, 92.0, trials=300))
    after = read(project, grid)
    assert after["values"][1][0] == 91.0
    assert after["repeats"] == [[None] * 3, [2, None, None]]
    [warning] = after["warnings"]
    assert (warning["code"], warning["pointer"]) == ("repeats_read", "/cells/1")
    assert warning["detail"].startswith("1 coordinate was given several times: ")


def test_a_reason_takes_the_place_of_a_value_and_a_value_that_of_a_reason(project: Project) -> None:
    grid = project.published()
    amend(project, grid, cell("1", 0, None, reason="failed"))
    assert read(project, grid)["reasons"] == [{"at": {"Type": "1", "Length": 0}, "reason": "failed"}]
    amend(project, grid, cell("1", 0, 99.3))
    after = read(project, grid)
    assert "reasons" not in after
    assert after["digest"] == grid["digest"]
    assert after["revision"] == 3


def test_a_fault_in_one_cell_changes_nothing(project: Project) -> None:
    grid = project.published()
    answer = amend(project, grid, cell("1", 0, 50.0), cell("1", 1, 101.0))
    assert answer.status_code == 422
    assert [error["pointer"] for error in answer.get_json()["errors"]] == ["/cells/1/value"]
    assert read(project, grid)["revision"] == 1


def test_if_match_takes_the_tag_of_any_form_and_state(project: Project, house: House) -> None:
    grid = project.published()
    path = f"grids/{grid['id']}"
    pending = project.get(path).headers["ETag"]
    house.compute()
    ready = project.get(path).headers["ETag"]
    assert ready != pending
    zipped = project.get(path, headers={"Accept-Encoding": "gzip"}).headers["ETag"]
    tags = [pending, ready, zipped, f"W/{pending}", project.get(f"{path}.md").headers["ETag"], f'"x", {ready}', "*"]
    tags.append(project.get(f"{path}/cells").headers["ETag"])
    for number, tag in enumerate(tags):
        assert amend(project, grid, cell("1", 0, 99.3), If_Match=tag).status_code == 200, tag
        assert read(project, grid)["revision"] == 1, number
    assert amend(project, grid, cell("1", 0, 50.0), If_Match=pending).status_code == 200
    for tag in (pending, ready, '"x"', "nonsense", ""):
        assert amend(project, grid, cell("1", 0, 51.0), If_Match=tag).status_code == 412, tag
    assert read(project, grid)["revision"] == 2


def test_a_delete_holds_to_if_match_and_to_a_revision(project: Project) -> None:
    grid = project.published()
    path = f"grids/{grid['id']}"
    old = project.get(path).headers["ETag"]
    amend(project, grid, cell("1", 0, 50.0))
    assert project.call("DELETE", path, headers={"If-Match": old}).status_code == 412
    assert project.call("DELETE", f"{path}?revision=1").status_code == 412
    now = project.get(path).headers["ETag"]
    assert project.call("DELETE", path, headers={"If-Match": now}).status_code == 204
    assert amend(project, grid, cell("1", 0, 50.0)).status_code == 404
    other = project.published(model="other")
    assert project.call("DELETE", f"grids/{other['id']}?revision=1").status_code == 204


def test_the_history_has_every_revision_as_it_was_in_pages_and_in_every_form(project: Project) -> None:
    grid = project.published()
    written = [10.0, 20.0, 30.0, 40.0, 50.0, 12.0625]
    for value in written:
        amend(project, grid, cell("1", 0, value))
    path = f"grids/{grid['id']}/revisions"
    found, page = [], f"{path}?limit=3"
    while page:
        answer = project.get(page)
        assert len(answer.get_json()["items"]) <= 3
        found += answer.get_json()["items"]
        page = answer.headers.get("Link", "").partition("<")[2].partition(">")[0]
    assert [item["revision"] for item in found] == [1, 2, 3, 4, 5, 6, 7]
    assert found[0]["digest"] == grid["digest"]
    one = f"grids/{grid['id']}?revision="
    values = [project.get(f"{one}{n}").get_json()["values"][0][0] for n in range(1, 8)]
    assert values == [99.3, *written]
    assert project.get(f"{one}8").status_code == 404
    for accept in ("text/plain", "text/markdown", "application/json"):
        old = project.get(f"{one}1", headers={"Accept": accept})
        assert old.mimetype == accept
        assert "12.0625" not in old.text
        assert "99.3" in old.text


def test_axes_in_another_order_are_no_change_of_any_cell(project: Project) -> None:
    grid = project.published()
    sent = publication()
    turned = [list(column) for column in zip(*sent["values"], strict=True)]
    project.published(axes=sent["axes"][::-1], values=turned)
    found = project.get(f"grids/{grid['id']}/difference?from=1&to=2").get_json()
    assert (found["added"], found["removed"], found["changed"]) == ([], [], [])
    assert found["axes_changed"]


def test_grids_over_other_axes_have_no_cell_in_common(project: Project) -> None:
    axes = [{"name": name, "kind": "nominal", "levels": ["x", "y"]} for name in ("A", "B")]
    grid = project.published(axes=axes[:1], values=[1, 2])
    project.published(axes=axes[1:], values=[1, 2])
    found = project.get(f"grids/{grid['id']}/difference?from=1&to=2").get_json()
    assert [item["at"] for item in found["removed"]] == [{"A": "x"}, {"A": "y"}]
    assert [item["at"] for item in found["added"]] == [{"B": "x"}, {"B": "y"}]
    assert found["changed"] == []


def test_what_cells_carry_stays_with_them_when_axes_grow(project: Project) -> None:
    axes = [{"name": name, "kind": "numeric", "levels": [1, 2]} for name in ("A", "B", "C")]
    values = [[[1, None], [3, 4]], [[5, 6], [7, 8]]]
    grid = project.published(axes=axes, values=values, trials=None, stderr=values)
    cells = [
        {"at": {"A": 1, "B": 1, "C": 2}, "value": None, "reason": "failed"},
        {"at": {"A": 0, "B": 2, "C": 1.5}, "value": 9, "stderr": 9},
        {"at": {"A": 2, "B": 3, "C": 1}, "value": 10, "stderr": 10},
    ]
    answer = project.call("PATCH", f"grids/{grid['id']}/cells", json={"cells": cells})
    assert answer.status_code == 200
    after = read(project, grid)
    empty = [None, None, None]
    expected = [
        [empty, [None, 9, None], empty],
        [[1, None, None], [3, None, 4], empty],
        [[5, None, 6], [7, None, 8], [10, None, None]],
    ]
    assert after["values"] == after["stderr"] == expected
    assert after["reasons"] == [{"at": {"A": 1, "B": 1, "C": 2}, "reason": "failed"}]
    assert [axis["levels"] for axis in after["axes"]] == [[0, 1, 2], [1, 2, 3], [1, 1.5, 2]]
