"""The pages in Debian's Chromium: no violation of axe-core, nothing on the console, the keyboard, no script, news.

Needs chromium and node on the machine and `npm ci` in this directory; what is missing is named and left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.house import House, Project, publication
from tests.pages.chromium import NEEDED, named, run, served
from tests.pages.conftest import Demo

pytestmark = NEEDED


@pytest.fixture(scope="module")
def address(demo: Demo) -> Iterator[str]:
    """The demonstration, served."""
    with served(demo.house.app) as found:
        yield found


@pytest.fixture(scope="module")
def seen(demo: Demo, address: str) -> list[dict[str, Any]]:
    """What the browser found, in one run."""
    secret = demo.house.make_project()
    token = secret.tokens["reader"]
    paths = [
        demo.seed0,
        "/projects/demo/experiments/window-by-ratio?model=R1-Qwen",
        "/projects/demo/rankings?experiment=type-by-length&metric=accuracy&by=axis:Type&benchmark=Core+Generalization",
        "/nowhere",
    ]
    once = [f"{demo.seed0}?show=interval&palette=blues"]
    for path in paths:
        demo.house.call("GET", path)
    demo.house.compute()
    # Published after the last computation, so that it stays pending until the browser has seen that.
    open_ = demo.house.make_project("public")
    plan = {
        "base": address,
        "paths": {"light": [*paths, *once], "dark": paths, "phone": [*paths, *long_names(open_)]},
        "grid": demo.seed0,
        "crowd": f"/projects/{crowd(demo.house).slug}",
        "secret": f"/projects/{secret.slug}",
        "token": token,
        "pending": f"/grids/{open_.published()['id']}",
    }

    def revise() -> None:
        open_.published(values=[[99.3, 10.0, 98.3], [None, 20.0, 99.7]])

    return list(run("browse.mjs", plan, {"waiting": demo.house.compute, "revising": revise}))


def crowd(house: House) -> Project:
    """A public project of twenty models."""
    project = house.make_project("public")
    grids = [publication(model=f"model {n}", axes=[], values=float(n), trials=None) for n in range(20)]
    assert project.call("POST", f"projects/{project.slug}/grids/batch", json=grids).status_code == 200
    return project


def long_names(project: Project) -> list[str]:
    """The pages of a grid all of whose names and labels are as long as they may be."""
    names = {kind: kind[0] * 200 for kind in ("experiment", "benchmark", "model", "variant")}
    axes = [
        {"name": "A" * 200, "kind": "nominal", "levels": ["l" * 200, "m" * 200]},
        {"name": "Length", "kind": "numeric", "levels": [0, 1, 2]},
    ]
    repeated = {"repeats": [[3, 3, 3], [None, 3, 3]], "sd": [[2.0, 3.0, 1.0], [None, 0.5, 0.4]]}
    labels = {"note": "z" * 256, "run": "https://a.example/" + "b" * 230}
    grid = project.published(**names, axes=axes, labels=labels, **repeated)
    home, scope = f"/projects/{project.slug}", f"experiment={names['experiment']}&metric=accuracy"
    for path in (ranking := f"{home}/rankings?{scope}", f"{home}/experiments/{names['experiment']}"):
        project.house.call("GET", path)
    project.house.compute()
    lines, traded = f"{home}/lines?{scope}", f"{home}/trade-offs?{scope}&x=metric:accuracy&y=metric:accuracy"
    return [
        home,
        f"{home}/models/{names['model']}",
        f"/grids/{grid['id']}",
        f"{home}/experiments/{names['experiment']}",
        ranking,
        lines,
        traded.replace("&metric=accuracy&x", "&x"),
    ]


def test_no_page_has_a_violation_in_light_or_dark_or_on_a_phone(seen: list[dict[str, Any]]) -> None:
    looks = [one for one in seen if one["what"] == "look"]
    assert [one["look"] for one in looks] == ["light"] * 5 + ["dark"] * 4 + ["phone"] * 11
    assert {f"{one['look']} {one['path']}": one["violations"] for one in looks if one["violations"]} == {}


def test_the_console_stays_empty_under_the_policy(seen: list[dict[str, Any]]) -> None:
    looks = [one for one in seen if one["what"] == "look" and one["path"] != "/nowhere"]
    assert {one["path"]: one["complaints"] for one in looks if one["complaints"]} == {}


def test_no_page_is_wider_than_its_window_and_no_text_is_cut(seen: list[dict[str, Any]]) -> None:
    looks = [one for one in seen if one["what"] == "look"]
    assert {f"{one['look']} {one['path']}": one["wide"] for one in looks if one["wide"] > 0} == {}
    assert {f"{one['look']} {one['path']}": one["clipped"] for one in looks if one["clipped"]} == {}


def test_the_arrows_walk_the_heatmap_and_one_cell_is_a_tab_stop(seen: list[dict[str, Any]]) -> None:
    """Rows 2 to 8 and columns 1 to 20 of the table are cells; its heads come before."""
    found = named(seen, "keyboard")
    places = [(step["row"], step["column"]) for step in found["walk"]]
    assert places == [
        (2, 1), (2, 2), (3, 2), (3, 1), (3, 1), (3, 20), (3, 20), (3, 1), (8, 20), (8, 20), (2, 1), (8, 1), (8, 1),
    ]  # fmt: skip
    assert {step["stops"] for step in found["walk"]} == {1}
    assert found["walk"][0]["tip"].startswith("Type 1, Length 0: 99.3 %")
    assert found["walk"][2]["tip"].startswith("Type 2, Length 1: 100.0 %")
    assert found["walk"][-1]["tip"] == ""
    assert found["after"]


def test_the_pointer_gets_the_same_words(seen: list[dict[str, Any]]) -> None:
    found = named(seen, "pointer")
    assert found["tip"] == "Type 1, Length 0: 99.3 % · 95 % interval 97.6 to 99.8 · 298 of 300 trials"
    assert found["titles"] == 0


def test_without_a_script_the_page_is_complete(seen: list[dict[str, Any]]) -> None:
    found = named(seen, "no script")
    assert found["cells"] == found["tips"] == 140
    for words in ("What the numbers say", "Trends", "Peaks", "Coverage", "Revisions", "How this was computed"):
        assert words in found["text"]
    assert found["complaints"] == []
    # The first word that is explained is that of a column of the trends; the keyboard opens and closes it.
    assert found["meaning"].startswith("series The cells along one axis at fixed levels of the others.")
    assert found["left"] == 0
    assert named(seen, "theme") == {"what": "theme", "theme": "dark", "ground": "rgb(20, 23, 27)"}


def test_paper_has_light_colours_every_cell_and_no_controls_whatever_the_screen_had(seen: list[dict[str, Any]]) -> None:
    found = named(seen, "print")
    assert found["ground"] == "rgb(255, 255, 255)"
    assert found["cell"] not in ("rgba(0, 0, 0, 0)", "rgb(255, 255, 255)")
    assert found["exact"] == "exact"
    assert found["hatch"].startswith("repeating-linear-gradient")
    assert found["scroll"] == "visible"
    assert found["hidden"] is True


def test_paper_shows_what_is_folded_away_and_breaks_long_names_into_lines(seen: list[dict[str, Any]]) -> None:
    found = named(seen, "print")
    assert len(found["folded"]) > 2
    assert all(found["folded"])
    assert (found["columns"], found["wrap"]) == ("block", "anywhere")
    assert not any(named(seen, "forced colors")["folded"])


def test_a_printed_ranking_has_no_form(seen: list[dict[str, Any]]) -> None:
    assert named(seen, "print")["forms"] == 0
    assert named(seen, "forced colors")["forms"] > 1


def test_names_are_chosen_with_the_keyboard_and_taken_away_one_by_one(seen: list[dict[str, Any]]) -> None:
    found = named(seen, "chooser")
    assert found["narrowed"] == ["model 1", *(f"model {n}" for n in range(10, 20))]
    assert found["closed"] == ["SUMMARY", None]
    assert found["violations"] == found["complaints"] == []
    assert found["chosen"] == found["chips"] == ["model 1", "model 10"]
    assert found["left"] == ["model 10"]


def test_names_are_chosen_on_a_phone_without_a_script(seen: list[dict[str, Any]]) -> None:
    found = named(seen, "chooser without script")
    assert found["narrow"] is False
    assert sorted(row.split(" · ")[1] for row in found["rows"]) == ["model 12", "model 3"]


def test_the_box_in_the_head_searches_and_a_head_sorts(seen: list[dict[str, Any]]) -> None:
    found = named(seen, "search")
    assert found["sorted"] == "ascending"
    assert found["models"] == ["model 17", "model 7"]


def test_forced_colours_leave_the_data_its_colours_and_tell_what_is_chosen(seen: list[dict[str, Any]]) -> None:
    found = named(seen, "forced colors")
    assert found["cell"] not in ("rgba(0, 0, 0, 0)", found["ground"])
    assert found["hatch"].startswith("repeating-linear-gradient")
    assert found["pressed"][0] != found["pressed"][1]


def test_a_browser_signs_in_and_out_by_the_form(seen: list[dict[str, Any]]) -> None:
    found = named(seen, "signing")
    assert found["before"] == found["out"] == "Sign in"
    assert found["after"].startswith("p-")
    assert found["readable"] == ""
    assert "you are no longer signed in" in found["ended"]
    assert found["cookies"] == [{"name": "registry_session", "httpOnly": True, "sameSite": "Lax"}]


def test_news_arrive_without_a_reload_and_the_cell_keeps_the_focus(seen: list[dict[str, Any]]) -> None:
    found = named(seen, "refresh")
    assert 304 in found["statuses"]
    assert found["statuses"][-1] == 200
    assert found["kept"] == ["TD", 2]
    assert found["news"] == "This page has new results."
    assert found["complaints"] == []


def test_a_new_revision_is_announced_and_shown_when_the_reader_asks_for_it(seen: list[dict[str, Any]]) -> None:
    found = named(seen, "revision")
    assert found["announced"] == "Revision 2 has arrived (2 cells changed)."
    assert found["unchanged"]
    assert found["changed"] == 2
    assert found["scrolled"] == 20


def test_a_wall_shows_the_new_revision_by_itself_and_an_outage_and_goes_on_past_what_is_gone(
    seen: list[dict[str, Any]],
) -> None:
    found = named(seen, "wall")
    assert found["arrived"].startswith("Revision 2 has arrived (2 cells changed), ")
    assert {"10.0", "20.0"} <= set(found["values"])
    assert found["outage"].startswith("Not checked since ")
    assert re.fullmatch(r"Checked \d+ s ago", found["now"])
    assert found["next"].startswith("/grids/01")


def test_a_copy_button_copies_and_a_frame_shows_what_may_be_embedded_alone(seen: list[dict[str, Any]]) -> None:
    assert named(seen, "copied")["text"].startswith("[![Core Generalization · Qwen-2.5 3B")
    assert named(seen, "copied")["complaints"] == []
    assert named(seen, "framed") == {
        "what": "framed",
        "inside": "Core Generalization · Qwen-2.5 3B · Baseline",
        "whole": 0,
    }


def test_a_page_that_cannot_be_checked_says_so_and_since_when(seen: list[dict[str, Any]]) -> None:
    found = named(seen, "away")
    assert found["offline"].startswith("Not checked since ")
    assert found["offline"].endswith(": the registry does not answer.")
    assert found["checked"].startswith("Checked ")
