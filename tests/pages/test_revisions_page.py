"""The page of a difference between two revisions names what differs, and shows nothing as changed that is not."""

from __future__ import annotations

from typing import Any

from tests.house import Project, publication
from tests.pages.conftest import Browser

AXES: list[dict[str, Any]] = [
    {"name": "type", "kind": "nominal", "levels": ["a", "b"]},
    {"name": "length", "kind": "numeric", "levels": [1, 2]},
]


def told(project: Project, visitor: Browser, first: dict[str, Any], second: dict[str, Any]) -> str:
    """What the page says of two revisions that differ only so."""
    project.call("PATCH", f"projects/{project.slug}", "admin", json={"visibility": "public"})
    common = {"axes": AXES, "values": [[65, 70], [75, 80]], "trials": None}
    grid = project.publish(publication(**common | first)).get_json()["id"]
    assert project.publish(publication(**common | second)).get_json()["revision"] == 2
    return visitor.read(f"/grids/{grid}/revisions/1..2").text


def test_a_cell_whose_trials_alone_changed_shows_its_trials(project: Project, visitor: Browser) -> None:
    text = told(project, visitor, {"trials": 400}, {"trials": [[200, 400], [400, 400]]})
    assert "1 cell changed Cell what changed before after type a, length 1 trials 400 200 The grid" in text


def test_a_cell_shows_each_field_that_differs_and_what_was_not_there(project: Project, visitor: Browser) -> None:
    text = told(project, visitor, {}, {"values": [[65, 70.5], [75, None]], "stderr": [[None, 0.5], [None, None]]})
    assert (
        "type a, length 2 value 70 70.5 standard error none 0.5 1 cell removed Cell value type b, length 2 80" in text
    )


def test_a_metric_and_labels_that_changed_are_told_in_words(project: Project, visitor: Browser) -> None:
    metric = {"name": "accuracy", "unit": "%", "direction": "higher", "lower": 0, "upper": 100}
    text = told(
        project,
        visitor,
        {"metric": metric, "labels": {"seed": "1", "host": "x"}},
        {"metric": metric | {"lower": None, "unit": None}, "labels": {"seed": "2", "note": "y"}, "derived": True},
    )
    assert (
        "Changed as a whole the metric: unit % → none the metric: lower bound 0 → none the label host x → none "
        "the label note none → y the label seed 1 → 2 derived none → yes No cell changed." in text
    )


def test_axes_that_changed_are_told_in_words(project: Project, visitor: Browser) -> None:
    kinds, lengths = AXES
    text = told(
        project,
        visitor,
        {},
        {
            "axes": [lengths | {"levels": [1, 4], "unit": "tokens"}, kinds | {"levels": ["b", "a"]}],
            "values": [[75, 65], [80, 70]],
        },
    )
    assert "the order of the axes type, length → length, type" in text
    assert "the axis type: its levels stand in another order" in text
    assert "the axis length: unit none → tokens" in text
    assert "the axis length: with the level 4 the axis length: without the level 2" in text
    assert "2 cells added" in text
    assert "2 cells removed" in text


def test_an_axis_that_came_is_told(project: Project, visitor: Browser) -> None:
    text = told(project, visitor, {}, {"axes": [{**AXES[0], "name": "kind"}, AXES[1]]})
    assert "the axis kind is new the axis type is gone 4 cells added" in text


def test_a_difference_is_drawn_with_what_came_and_went(project: Project, visitor: Browser) -> None:
    text = told(project, visitor, {}, {"values": [[65, 72], [None, 80]]})
    assert "Revision 2 less revision 1" in text
    assert "+2" in text
    assert "only in the baseline: 75" in text


def test_the_history_of_a_cell_is_one_click_from_its_grid(project: Project, visitor: Browser) -> None:
    told(project, visitor, {"values": [[65, 70], [75, 80]]}, {"values": [[65, 70.5], [75, None]]})
    grid = project.get(f"projects/{project.slug}/grids").get_json()["items"][0]["id"]
    assert ("a", {"href": f"/grids/{grid}/history"}) in visitor.read(f"/grids/{grid}").attributes
    page = visitor.read(f"/grids/{grid}/history?at.type=&at.length=%3E%3D2")
    assert "type a, length 2 type b, length 2" in page.text
    rows = [text.strip() for text in page.texts if text.strip() in ("70", "70.0", "70.5", "80.0", "not measured")]
    assert rows == ["70.5", "not measured", "70.0", "80.0"]
    # Bold and said: what is other than at the revision before.
    assert page.text.count("changed") == 2
    assert "Choose the level of each axis" not in visitor.read(f"/grids/{grid}/history").text
    assert "has no level" in visitor.read(f"/grids/{grid}/history?at.length=9", 422).text


def test_the_history_of_a_large_grid_begins_with_a_choice(project: Project, visitor: Browser) -> None:
    axes = [{"name": name, "kind": "numeric", "levels": list(range(40))} for name in "xy"]
    grid = project.published(axes=axes, values=[[1.0] * 40] * 40, trials=None)["id"]
    project.call("PATCH", f"projects/{project.slug}", "admin", json={"visibility": "public"})
    assert "Choose the level of each axis" in visitor.read(f"/grids/{grid}/history").text
    assert "These are 40 cells" in visitor.read(f"/grids/{grid}/history?at.x=%3E%3D39").text
    assert "choose at most 1,000" in visitor.read(f"/grids/{grid}/history?at.x=%3E%3D1", 422).text
