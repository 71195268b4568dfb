"""The pages in Debian's Chromium: no violation of axe-core, nothing on the console, the keyboard, no script, news.

Needs chromium and node on the machine and `npm ci` in this directory; what is missing is named and left out.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from werkzeug.serving import make_server

from tests.house import House, Project
from tests.pages.conftest import Demo

HERE = Path(__file__).parent
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
NODE = shutil.which("node")

pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed (apt-get install chromium)"),
    pytest.mark.skipif(NODE is None, reason="node is not installed (apt-get install nodejs npm)"),
    pytest.mark.skipif(
        not (HERE / "node_modules").is_dir(),
        reason="playwright-core and axe-core are not there (npm ci in tests/pages)",
    ),
]


@pytest.fixture(scope="module")
def address(demo: Demo) -> Iterator[str]:
    """The demonstration, served."""
    server = make_server("127.0.0.1", 0, demo.house.app, threaded=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def seen(demo: Demo, address: str) -> list[dict[str, Any]]:
    """What the browser found, in one run."""
    secret = demo.house.make_project()
    token = secret.tokens["reader"]
    compared = [demo.grids["4"][0], demo.grids["2"][0]]
    paths = [
        demo.seed0,
        "/projects/demo",
        "/projects/demo/experiments/window-by-ratio?model=R1-Qwen",
        "/projects/demo/rankings?experiment=type-by-length&metric=accuracy&by=axis:Type&benchmark=Core+Generalization",
        f"/projects/demo/comparisons?baseline={compared[0]}&contender={compared[1]}",
        "/status",
        "/sign-in",
        "/nowhere",
    ]
    once = ["/", "/docs", "/docs/schemas", f"{demo.seed0}?show=interval&palette=blues"]
    for path in paths:
        demo.house.call("GET", path)
    demo.house.compute()
    # Published after the last computation, so that it stays pending until the browser has seen that.
    open_ = demo.house.make_project("public")
    narrow = ["/", "/docs", "/docs/schemas", *long_names(open_)]
    plan = {
        "chromium": CHROMIUM,
        "base": address,
        "paths": {"light": [*paths, *once], "dark": paths, "phone": [*paths, *narrow]},
        "grid": demo.seed0,
        "secret": f"/projects/{secret.slug}",
        "token": token,
        "pending": f"/grids/{open_.published()['id']}",
    }

    def revise() -> None:
        open_.published(values=[[99.3, 10.0, 98.3], [None, 20.0, 99.7]])

    return list(run(plan, demo.house, revise))


def long_names(project: Project) -> list[str]:
    """The pages of a grid all of whose names and labels are as long as they may be."""
    names = {kind: kind[0] * 200 for kind in ("experiment", "benchmark", "model", "variant")}
    axes = [
        {"name": "A" * 200, "kind": "nominal", "levels": ["l" * 200, "m" * 200]},
        {"name": "Length", "kind": "numeric", "levels": [0, 1, 2]},
    ]
    grid = project.published(**names, axes=axes, labels={"note": "z" * 256, "run": "https://a.example/" + "b" * 230})
    home, scope = f"/projects/{project.slug}", f"experiment={names['experiment']}&metric=accuracy"
    for path in (ranking := f"{home}/rankings?{scope}", f"{home}/experiments/{names['experiment']}"):
        project.house.call("GET", path)
    project.house.compute()
    return [home, f"/grids/{grid['id']}", f"{home}/experiments/{names['experiment']}", ranking]


def run(plan: dict[str, Any], house: House, revise: Callable[[], object]) -> Iterator[dict[str, Any]]:
    command = [str(NODE), "browse.mjs", json.dumps(plan)]
    with subprocess.Popen(
        command, cwd=HERE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        watchdog = threading.Timer(480, process.kill)
        watchdog.start()
        for line in process.stdout:
            found = json.loads(line)
            if found["what"] in ("waiting", "revising"):
                {"waiting": house.compute, "revising": revise}[found["what"]]()
                process.stdin.write("\n")
                process.stdin.flush()
            else:
                yield found
        watchdog.cancel()
        assert process.wait() == 0, process.stderr.read()


def named(seen: list[dict[str, Any]], what: str) -> dict[str, Any]:
    [found] = [one for one in seen if one["what"] == what]
    return found


def test_no_page_has_a_violation_in_light_or_dark_or_on_a_phone(seen: list[dict[str, Any]]) -> None:
    looks = [one for one in seen if one["what"] == "look"]
    assert [one["look"] for one in looks] == ["light"] * 12 + ["dark"] * 8 + ["phone"] * 15
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
    assert found["tip"] == "Type 1, Length 0: 99.3 % · 95 % interval 97.6 to 99.8 · 300 trials"
    assert found["titles"] == 0


def test_without_a_script_the_page_is_complete(seen: list[dict[str, Any]]) -> None:
    found = named(seen, "no script")
    assert found["cells"] == found["tips"] == 140
    for words in ("What the numbers say", "Trends", "Peaks", "Coverage", "Revisions", "How this was computed"):
        assert words in found["text"]
    assert found["complaints"] == []
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


def test_a_page_that_cannot_be_checked_says_so_and_since_when(seen: list[dict[str, Any]]) -> None:
    found = named(seen, "away")
    assert found["offline"].startswith("Not checked since ")
    assert found["offline"].endswith(": the registry does not answer.")
    assert found["checked"].startswith("Checked ")
