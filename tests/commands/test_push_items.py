"""`registry push` and outcomes of items: after the grid, again without harm, and completed where they were missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from results_registry import Transport, Unreachable
from tests.commands.terminal import Person
from tests.house import Project
from tests.importers.test_item_outcomes import FLAGS, harness


def stored(project: Project) -> dict[str, Any]:
    [grid] = project.get(f"projects/{project.slug}/grids").get_json()["items"]
    found: dict[str, Any] = project.get(f"grids/{grid['id']}/items?outcomes=true").get_json()
    return found


def test_samples_are_pushed_with_their_results(person: Person, project: Project, tmp_path: Path) -> None:
    harness(tmp_path / "runs", {"arc": FLAGS})
    report = person.json("push", str(tmp_path / "runs"))
    assert (report["new"], report["faults"], report["unread"]) == (1, [], [])
    found = stored(project)
    assert [(one["name"], one["count"], one["cells"]) for one in found["sets"]] == [("arc", 6, 1)]
    assert found["cells"][0]["outcomes"] == "tA=="  # 101101 in the high bits
    assert found["cells"][0]["mean"] == pytest.approx(4 / 6)


def test_a_repeated_push_completes_a_grid_without_items(
    person: Person, project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection breaks after the grid: it is there without items; the same push again adds them."""
    harness(tmp_path / "runs", {"arc": FLAGS})
    call = Transport.call

    def broken(self: Transport, method: str, path: str, *given: Any, **named: Any) -> Any:
        if path.endswith("/items"):
            raise Unreachable("The cable is cut.")
        return call(self, method, path, *given, **named)

    with monkeypatch.context() as patched:
        patched.setattr(Transport, "call", broken)
        person.run("push", str(tmp_path / "runs"))
    assert stored(project)["cells"] == []
    report = person.json("push", str(tmp_path / "runs"))
    assert (report["new"], report["same"]) == (0, 1)
    assert len(stored(project)["cells"]) == 1
    again = person.json("push", str(tmp_path / "runs"))
    assert (again["same"], again["warnings"]) == (1, [])


def test_what_was_kept_for_later_brings_its_items_too(
    person: Person, project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness(tmp_path / "runs", {"arc": FLAGS})
    with monkeypatch.context() as patched:

        def away(*_given: Any, **_named: Any) -> Any:
            raise Unreachable("Nobody is there.")

        patched.setattr(Transport, "call", away)
        person.run("push", str(tmp_path / "runs"))
    person.run("sync")
    assert len(stored(project)["cells"]) == 1


def test_other_outcomes_of_the_same_mean_are_a_warning(person: Person, project: Project, tmp_path: Path) -> None:
    harness(tmp_path / "runs", {"arc": FLAGS})
    person.json("push", str(tmp_path / "runs"))
    harness(tmp_path / "runs", {"arc": [0, 1, 1, 1, 0, 1]})
    report = person.json("push", str(tmp_path / "runs"))
    assert report["same"] == 1
    assert any("other outcomes" in one["detail"] for one in report["warnings"])
