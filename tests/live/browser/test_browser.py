"""The pages in Debian's Chromium: each kind in light, in dark, on a phone, by keyboard, on paper, and large;
how they are used, with and without scripts; and how news arrive.

Needs chromium and node on the machine, `npm ci` in this directory, and for paper pdftotext and pdftoppm
(poppler-utils); what is missing is named and left out.
"""

import random
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest

from tests.house import House, Project, publication
from tests.live.browser.chromium import NEEDED, run, served
from tests.pages.conftest import WINDOWS, Demo

pytestmark = NEEDED
printed = pytest.mark.skipif(shutil.which("pdftotext") is None, reason="poppler-utils is not installed")

MOST = 60_000
"""Bytes of a page as it is sent, compressed."""
WIDTHS = (360, 390, 768, 1280)
"""Of windows, in pixels; no page is scrolled sideways in one of them."""
ONE = {"axes": [], "trials": 300, "variant": ""}
NOT_PAGES = {
    "pages.experiment",
    "pages.former",
    "pages.static",
    "pages.palette",
    "pages.data",
    "pages.go_to_provider",
    "pages.come_from_provider",
}
"""What answers GET and is no page: files, data, and redirects of a sign-in service."""
SHAPES = {"35 x 35": [35, 35], "5 x 142": [5, 142], "500 x 3": [500, 3], "3 x 500": [3, 500], "four axes": [3, 4, 4, 4]}
REVISED = [[99.3, 10.0, 98.3], [None, 20.0, 99.7]]
SCOPE = "experiment={}&metric=accuracy"
AXIS_RANKING = "/projects/demo/results?view=ranking&experiment=type-by-length&metric=accuracy&by=axis:Type"


@dataclass(frozen=True)
class Places:
    """The paths of what was published: those of every kind of page, and of large pages."""

    kinds: list[str]
    narrow: list[str]
    large: dict[str, str]
    board: str
    table: str
    question: str


def shaped(project: Project, name: str) -> str:
    """A grid with so many levels on each axis, all cells measured, rising along every axis with noise; its path."""
    chance, counts = random.Random(1), SHAPES[name]

    def values(left: list[int], share: float) -> Any:
        if not left:
            return round(20 + 60 * share) + chance.randrange(-5, 6)
        return [values(left[1:], share + level / left[0] / len(counts)) for level in range(left[0])]

    axes = [{"name": f"Axis {n}", "kind": "numeric", "levels": list(range(count))} for n, count in enumerate(counts)]
    grid = project.published(experiment=name, benchmark=name, axes=axes, values=values(counts, 0.0), trials=100)
    return f"/grids/{grid['id']}"


def publish(project: Project, grids: list[dict[str, Any]]) -> None:
    for first in range(0, len(grids), 500):
        answer = project.call("POST", f"projects/{project.slug}/grids/batch", json=grids[first : first + 500])
        assert answer.get_json()["failed"] == 0


def longer_contexts(project: Project) -> None:
    """Shorty is better up to 4,000 tokens, Longhorn from 64,000 on, both by 30 points of 300 questions each."""
    contexts = {"name": "Context", "kind": "numeric", "levels": [1000, 4000, 64_000, 128_000]}
    for model, shares in (("Longhorn", [60.0, 60.0, 90.0, 90.0]), ("Shorty", [90.0, 90.0, 60.0, 60.0])):
        for name in ("Needle", "Recall", "Summary"):
            project.published(
                experiment="contexts", benchmark=name, model=model, variant="", axes=[contexts], values=shares
            )


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
    project.published(**names | {"model": "n" * 200}, axes=axes, **repeated)
    home, experiment = f"/projects/{project.slug}", names["experiment"]
    scope = SCOPE.format(experiment)
    return [
        home, f"{home}/models/{names['model']}", f"{home}/benchmarks/{names['benchmark']}", f"/grids/{grid['id']}",
        f"{home}/results?view=heatmaps&{scope}", f"{home}/results?view=ranking&{scope}",
        f"{home}/results?view=lines&{scope}", f"{home}/results?view=trade-off&{scope}&x=metric:accuracy",
    ]  # fmt: skip


def kinds_of(demo: Demo) -> list[str]:
    """A path of every kind of page; those of the settings hold one of everything."""
    project = demo.house.make_project()
    grid = project.published()["id"]
    project.published(values=REVISED)
    gone = project.published(model="gone")["id"]
    home = f"/projects/{project.slug}"
    settings, api = f"{home}/settings", home[1:]
    project.call("DELETE", f"grids/{gone}")
    project.call("PUT", f"{api}/suites/core", json={"benchmarks": ["Core Generalization"]})
    project.call("POST", f"{api}/aliases", json={"kind": "model", "alias": "a", "name": "b"})
    project.call("POST", f"{api}/shares", "admin", json={"path": f"/api/v1/grids/{grid}"})
    baseline = {"experiment": "type-by-length", "metric": "accuracy", "subject": {"model": "Qwen-2.5 3B"}}
    project.call("PUT", f"{api}/baselines/main", json=baseline)
    typed = {"name": "main", "changes": "main", "experiment": "type-by-length", "metric": "accuracy",
             "model": "Qwen-2.5 3B", "kind": "non_inferior", "margin_unit": "points", "per": "overall",
             "missing": "refuse"}  # fmt: skip
    alert = project.alerted()
    token = project.call("GET", "whoami", "admin").get_json()["id"]
    webhook, _ = project.hooked()
    [said] = demo.answer("projects/demo/claims?limit=1&verdict=contradicted")["items"]
    of_demo, ratios = "/projects/demo", "x=metric:Pass@1&x.at.Ratio=0.1&y.at.Ratio=0.5"
    return [
        "/", "/search?q=qwen", "/status", "/sign-in", "/signed-out", "/docs", "/docs/schemas", "/docs/schemas/results",
        "/account", "/settings", settings, "/nowhere",
        *(f"{settings}/{one}" for one in ("members", "tokens", "shares", "aliases", "suites", "audit", "webhooks")),
        f"{settings}/deleted?grid={grid}", f"{settings}/tokens/{token}", f"{settings}/webhooks/{webhook}",
        f"{settings}/alerts/preview?{urlencode(typed)}",
        f"{settings}/alerts?alert={alert}", f"{home}/alerts", f"{home}/baselines/main",
        f"/grids/{grid}", f"/grids/{grid}/revisions/1..2",
        demo.seed0, f"{demo.seed0}?show=interval&palette=blues", f"/embed{demo.seed0}",
        of_demo, f"{of_demo}/grids", f"{of_demo}/search?q=r1", f"{of_demo}/models", f"{of_demo}/claims",
        f"/claims/{said['id']}",
        f"{of_demo}/events", f"{of_demo}/models/R1-Qwen", f"{of_demo}/results",
        f"{of_demo}/results?view=heatmaps&{WINDOWS}&model=R1-Qwen",
        f"{of_demo}/results?view=ranking&{WINDOWS}&missing=available&target=new_questions&alpha=0.1",
        AXIS_RANKING, f"{of_demo}/results?view=table&{WINDOWS}&group_by=model&group_by=axis:Ratio", demo.pair,
        f"{of_demo}/results?view=lines&{WINDOWS}", f"{of_demo}/results?view=trade-off&{WINDOWS}&{ratios}",
        f"{of_demo}/results?view=compare&{WINDOWS}&contender_model=R1-Qwen&baseline_model=R1-Llama",
    ]  # fmt: skip


@pytest.fixture(scope="module")
def places(demo: Demo) -> Places:
    """Projects with much in them, with the answers that the pages ask for."""
    house = demo.house
    many, asked = (house.make_project("public") for _ in range(2))
    longer_contexts(asked)
    suite = f"projects/{asked.slug}/suites/reasoning"
    asked.call("PUT", suite, json={"benchmarks": ["Needle", "Recall"]})
    models = [
        ONE | {"experiment": "board", "benchmark": f"Task {b}", "model": f"model {m:03}",
               "values": float((7 * m + 31 * b) % 101)}
        for m in range(300) for b in range(2)
    ]  # fmt: skip
    tasks = [
        ONE | {"experiment": "tasks", "benchmark": f"Task-{b:02}", "model": f"org/Model-{m:02}",
               "values": float((m + 5 * b) % 101)}
        for m in range(30) for b in range(35)
    ]  # fmt: skip
    publish(many, [publication(**one) for one in (*models, *tasks)])
    home = f"/projects/{many.slug}"
    shapes = {name: shaped(many, name) for name in SHAPES}
    board, of_tasks = (f"{home}/results?view=ranking&{SCOPE.format(one)}" for one in ("board", "tasks"))
    tables = [f"{home}/results?view=table&{SCOPE.format(one)}" for one in ("board", "tasks")]
    month_ago = datetime.now(UTC).date() - timedelta(30)
    question = f"/projects/{asked.slug}/results?view=ranking&{SCOPE.format('contexts')}&at.Context=>%3D64000"
    question += f"&suite=reasoning&since={month_ago}"
    kinds, narrow = kinds_of(demo), long_names(house.make_project("public"))
    house.compute()
    for path in (board, of_tasks, *tables, question, *kinds, *narrow):
        house.call("GET", path)
    house.compute()
    # What is not asked about is not computed: a project of 5,000 grids.
    rest = 5_000 - len(models) - len(tasks) - len(shapes)
    other = (ONE | {"experiment": f"other {n % 40}", "model": f"m {n}", "values": 1.0} for n in range(rest))
    publish(many, [publication(**one) for one in other])
    large = {"project": f"{home}/grids", "ranking": board, "table": tables[0], **shapes}
    return Places(kinds, narrow, large, of_tasks, tables[1], asked.slug)


def crowd(house: House) -> str:
    """The path of a public project of twenty models."""
    project = house.make_project("public")
    publish(project, [publication(model=f"model {n}", axes=[], values=float(n), trials=None) for n in range(20)])
    return f"/projects/{project.slug}/grids"


def published(project: Project, **more: Any) -> str:
    """The path of a grid that was published now."""
    return f"/grids/{project.published(**more)['id']}"


def settled(path: str) -> bool:
    """Whether a page is of results, and not of settings or of the reference: what is printed."""
    return "/settings" not in path and "/docs" not in path


@pytest.fixture(scope="module")
def seen(demo: Demo, places: Places, tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What the browser found, in one run."""
    house, directory = demo.house, tmp_path_factory.mktemp("printed")
    secret = house.make_project()
    # What is published after the last computation stays pending until the browser has seen that.
    open_, watched, refused = (house.make_project("public") for _ in range(3))
    all_looks = ["light", "dark", "phone"]
    visits = [
        *({"path": path, "looks": all_looks, "paper": settled(path), "stops": "/docs" not in path}
          for path in places.kinds),
        *({"path": path, "looks": ["phone"], "paper": False, "stops": False} for path in places.narrow),
        *({"path": path, "looks": [], "paper": True, "stops": False}
          for path in (places.board, places.table, places.large["35 x 35"], places.large["3 x 500"])),
    ]  # fmt: skip
    for number, one in enumerate(visits):
        one["paper"] = one["paper"] and str(directory / f"{number}.pdf")
    plan = {
        "token": house.operator,
        "widths": WIDTHS,
        "visits": visits,
        "large": list(places.large.values()),
        "question": {
            "overview": f"/projects/{places.question}",
            "ways": [
                ["rank contexts", "reasoning", "64000", "a month ago"],
                ["changed since a month ago in contexts", "64000", "reasoning"],
            ],
        },
        "grid": demo.seed0,
        "ranking": AXIS_RANKING,
        "experiment": f"/projects/demo/results?view=heatmaps&{WINDOWS}",
        "crowd": crowd(house),
        "secret": f"/projects/{secret.slug}",
        "reader": secret.tokens["reader"],
        "pending": published(open_),
    }

    def others() -> None:
        published(watched, model="Another")
        published(watched, experiment="elsewhere")
        house.compute()

    def revise() -> None:
        published(watched, values=REVISED)
        house.compute()

    acts = {
        "publishing what is told": lambda: published(watched), "publishing what is not": lambda: published(refused),
        "waiting": house.compute, "revising": lambda: published(open_, values=REVISED),
        "computing": house.compute, "others": others, "revising what is told": revise,
    }  # fmt: skip
    with served(house.app) as address:
        return list(run("browser.mjs", plan | {"base": address}, acts))


def only(seen: list[dict[str, Any]], what: str) -> dict[str, Any]:
    """The one finding of this name."""
    [found] = [one for one in seen if one["what"] == what]
    return found


def pages(seen: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [one for one in seen if one["what"] == "page"]


def paper(seen: list[dict[str, Any]]) -> dict[str, str]:
    """The files of the pages that were printed."""
    return {one["path"]: one["paper"] for one in pages(seen) if one["paper"]}


def test_the_paths_are_of_every_kind_of_page_that_there_is(demo: Demo, places: Places) -> None:
    app = demo.house.app
    adapter = app.url_map.bind("localhost")
    kinds = {adapter.match(urlsplit(path).path, method="GET")[0] for path in places.kinds if path != "/nowhere"}
    endpoints = {one.endpoint for one in app.url_map.iter_rules() if "GET" in (one.methods or ())}
    assert kinds == {one for one in endpoints if one.startswith(("pages.", "administration."))} - NOT_PAGES


def test_no_page_has_a_violation_or_a_complaint_or_a_cut_text_or_is_too_wide_in_any_look(
    seen: list[dict[str, Any]], places: Places
) -> None:
    looks = [look | {"path": page["path"]} for page in pages(seen) for look in page["looks"]]
    assert len(looks) == 3 * len(places.kinds) + len(places.narrow)
    for fault in ("violations", "clipped"):
        assert {f"{one['look']} {one['path']}": one[fault] for one in looks if one[fault]} == {}, fault
    wider = {(one["path"], width): by for one in pages(seen) for width, by in one["wider"].items()}
    assert len(wider) == len(WIDTHS) * len(pages(seen))
    assert {place: by for place, by in wider.items() if by > 0} == {}
    # Of what is not there the console says so.
    assert {one["path"]: one["complaints"] for one in pages(seen) if one["complaints"]}.keys() == {"/nowhere"}


def test_the_keyboard_reaches_everything_that_can_be_chosen(seen: list[dict[str, Any]]) -> None:
    reached = {one["path"]: one["reach"] for one in pages(seen) if "reach" in one}
    assert len(reached) > 25
    assert all(one["wanted"] > 3 for one in reached.values())
    assert {path: one["missed"] for path, one in reached.items() if one["missed"]} == {}


def test_a_large_page_opens_in_60_kb_as_wide_as_the_window_and_says_what_was_cut(
    seen: list[dict[str, Any]], places: Places
) -> None:
    large = {(one["look"], one["path"]): one for one in seen if one["what"] == "large"}
    assert len(large) == 2 * len(places.large)
    for (_, path), one in large.items():
        assert (one["status"], one["wide"], one["sent"] <= MOST) == (200, 0, True), (path, one["wide"], one["sent"])
        assert all(one["pictures"])
    said = {name: large["light", path]["text"] for name, path in places.large.items()}
    cells = {name: large["light", path]["cells"] for name, path in places.large.items()}
    assert "50 of 5,000 grids are on this page." in said["project"]
    assert "There are 44,850 pairs. Above 30 names there is no matrix" in said["ranking"]
    assert all(f"model {number:03}" in said["table"] for number in range(300))
    for name in ("500 x 3", "3 x 500"):
        assert "shown as a picture, in which neighbouring cells may be joined" in said[name]
        assert len(large["light", places.large[name]]["pictures"]) == 1
        assert "These are the first 100 of 5" in said[name]
    assert (cells["35 x 35"], cells["four axes"]) == (1_225, 192)
    assert {
        one["cut"] for (_, path), one in large.items() if path in map(places.large.get, ("35 x 35", "5 x 142"))
    } == {0}


def test_who_is_best_on_a_suite_at_long_contexts_and_since_when_is_answered_in_four_clicks(
    seen: list[dict[str, Any]],
) -> None:
    told = "Who is best: shown for these cells Longhorn is better than Shorty by 30.0 points"
    found = [one for one in seen if one["what"] == "question"]
    assert [one["clicks"] for one in found] == 3 * [4, 3], "with scripts, without, and on a phone"
    for asked in found:
        assert " ".join(asked["first"].split()).startswith(told)
        assert "at Context at least 64000" in asked["first"]
        assert "suite=reasoning" in asked["url"]
        assert "What changed" in asked["text"]


def words(file: str) -> Iterator[tuple[int, str, bool]]:
    """The words of a printed page: on which sheet each is, and whether all of it is on the sheet."""
    text = subprocess.run(["pdftotext", "-bbox", file, "-"], capture_output=True, text=True, check=True).stdout
    sheet, width, height = 0, 0.0, 0.0
    for line in text.splitlines():
        numbers = [float(one) for one in re.findall(r'="([\d.-]+)"', line)]
        if "<page " in line:
            sheet, (width, height) = sheet + 1, numbers
        elif "<word " in line:
            x, y, right, bottom = numbers
            word = re.sub("<[^>]+>", "", line).strip()
            yield sheet, word, x >= -1 and y >= -1 and right <= width + 1 and bottom <= height + 1


@printed
def test_nothing_that_is_printed_lies_beside_the_paper(seen: list[dict[str, Any]]) -> None:
    beside = {path: [word for _, word, inside in words(file) if not inside] for path, file in paper(seen).items()}
    assert len(beside) > 20
    assert {path: lost for path, lost in beside.items() if lost} == {}


@printed
def test_a_printed_heatmap_ranking_and_table_have_every_column_on_one_sheet(
    seen: list[dict[str, Any]], places: Places
) -> None:
    """35 columns of numbers, the 30 names of a matrix of pairs, and 35 benchmarks: each name is read from the paper."""
    files = paper(seen)
    for path, columns in {
        places.large["35 x 35"]: [str(n) for n in range(35)],
        places.board: [f"org/Model-{n:02}" for n in range(30)],
        places.table: [f"Task-{n:02}" for n in range(35)],
    }.items():
        sheets: dict[int, list[str]] = {}
        for sheet, word, _ in words(files[path]):
            sheets.setdefault(sheet, []).append(word)
        missing = {sheet: set(columns) - set(on_it) for sheet, on_it in sheets.items()}
        assert not all(missing.values()), (path, missing)
        if path == places.board:
            # The matrix has each name twice on one sheet, as a row and as a column, and 870 differences.
            squares = [[one for one in on_it if re.fullmatch(r"[+−]?\d+\.\d+", one)] for on_it in sheets.values()]
            assert max(map(len, squares)) >= 870


@printed
def test_a_grid_is_printed_on_a_few_sheets(seen: list[dict[str, Any]], demo: Demo, places: Places) -> None:
    """The heat map of 7 by 20 cells has claims with it, that of 35 by 35 seventy series."""
    files = paper(seen)
    for path, most in {demo.seed0: 5, places.large["35 x 35"]: 8}.items():
        assert max(sheet for sheet, *_ in words(files[path])) <= most


@printed
def test_a_printed_heatmap_has_its_colours(seen: list[dict[str, Any]], demo: Demo, tmp_path: Path) -> None:
    """Both ends of cividis as matplotlib has them, on white, although the screen was dark."""
    file = paper(seen)[f"/embed{demo.seed0}"]
    subprocess.run(["pdftoppm", "-r", "40", "-l", "1", file, str(tmp_path / "sheet")], check=True)
    [picture] = tmp_path.glob("*.ppm")
    head, _, depth, pixels = picture.read_bytes().split(b"\n", 3)
    assert (head, depth) == (b"P6", b"255")
    colours = {tuple(pixels[at : at + 3]) for at in range(0, len(pixels), 3)}
    assert tuple(pixels[:3]) == (255, 255, 255)
    for end in ((0, 34, 78), (254, 232, 56)):
        assert min(sum(abs(a - b) for a, b in zip(end, one, strict=True)) for one in colours) < 40, end


def test_paper_has_light_colours_no_controls_and_nothing_that_is_folded_whatever_the_screen_had(
    seen: list[dict[str, Any]],
) -> None:
    found, screen = only(seen, "print"), only(seen, "forced colors")
    assert found["ground"] == "rgb(255, 255, 255)"
    assert found["cell"] not in ("rgba(0, 0, 0, 0)", "rgb(255, 255, 255)")
    assert found["exact"] == "exact"
    assert found["scroll"] == "visible"
    assert found["hidden"] is True
    assert len(found["folded"]) > 2
    assert not any(found["folded"])
    assert (found["columns"], found["wrap"]) == ("block", "anywhere")
    assert not any(screen["folded"])
    assert found["forms"] == 0
    assert screen["forms"] > 1
    # Forced colours leave the data its colours, and tell what is chosen.
    assert screen["cell"] not in ("rgba(0, 0, 0, 0)", screen["ground"])
    assert screen["pressed"][0] != screen["pressed"][1]
    for one in (found, screen):
        assert one["hatch"].startswith("repeating-linear-gradient")


def test_the_arrows_walk_the_heatmap_and_one_cell_is_a_tab_stop(seen: list[dict[str, Any]]) -> None:
    """Rows 2 to 8 and columns 1 to 20 of the table are cells; its heads come before."""
    found = only(seen, "keyboard")
    places = [(step["row"], step["column"]) for step in found["walk"]]
    assert places == [
        (2, 1), (2, 2), (3, 2), (3, 1), (3, 1), (3, 20), (3, 20), (3, 1), (8, 20), (8, 20), (2, 1), (8, 1), (8, 1),
    ]  # fmt: skip
    assert {step["stops"] for step in found["walk"]} == {1}
    assert found["walk"][0]["tip"].startswith("Type 1, Length 0: 99.3 %")
    assert found["walk"][2]["tip"].startswith("Type 2, Length 1: 100.0 %")
    assert found["walk"][-1]["tip"] == ""
    assert found["after"]
    # The pointer gets the same words.
    found = only(seen, "pointer")
    assert found["tip"] == "Type 1, Length 0: 99.3 % · 95 % interval 97.6 to 99.8 · 298 of 300 trials"
    assert found["titles"] == 0


def test_without_a_script_the_page_is_complete(seen: list[dict[str, Any]]) -> None:
    found = only(seen, "no script")
    assert found["cells"] == found["tips"] == 140
    for told in ("What the numbers say", "Trends", "Peaks", "Coverage", "Revisions", "How this was computed"):
        assert told in found["text"]
    assert found["complaints"] == []
    # The first word that is explained is that of a column of the trends; the keyboard opens and closes it.
    assert found["meaning"].startswith("series The cells along one axis at fixed levels of the others.")
    assert 0 <= found["above"] < 12
    assert found["beside"]
    assert found["left"] == 0
    assert only(seen, "theme") == {"what": "theme", "theme": "dark", "ground": "rgb(20, 23, 27)"}


def test_names_are_chosen_with_the_keyboard_taken_away_one_by_one_sorted_and_searched(
    seen: list[dict[str, Any]],
) -> None:
    found = only(seen, "chooser")
    assert found["narrowed"] == ["model 1", *(f"model {n}" for n in range(10, 20))]
    assert found["closed"] == ["SUMMARY", None]
    assert found["violations"] == found["complaints"] == []
    assert found["chosen"] == found["chips"] == ["model 1", "model 10"]
    assert found["left"] == ["model 10"]
    found = only(seen, "search")
    assert found["sorted"] == "ascending"
    assert found["models"] == ["model 17", "model 7"]
    # And on a phone without a script.
    found = only(seen, "chooser without script")
    assert found["narrow"] is False
    assert sorted(row.split(" · ")[1] for row in found["rows"]) == ["model 12", "model 3"]


def test_a_phone_shows_a_number_at_once_and_one_link_leads_the_keyboard_to_the_data(seen: list[dict[str, Any]]) -> None:
    found = only(seen, "phone")
    assert len(found["feet"]) == 3
    assert max(found["feet"]) <= 844
    assert found["reached"]


def test_a_browser_signs_in_and_out_by_the_form(seen: list[dict[str, Any]]) -> None:
    found = only(seen, "signing")
    assert found["before"] == found["out"] == "Sign in"
    assert found["after"].startswith("p-")
    assert found["readable"] == ""
    assert "you are no longer signed in" in found["ended"]
    assert found["cookies"] == [{"name": "registry_session", "httpOnly": True, "sameSite": "Lax"}]


def test_a_copy_button_copies_and_a_frame_shows_what_may_be_embedded_alone(seen: list[dict[str, Any]]) -> None:
    assert only(seen, "copied")["text"].startswith("[![Core Generalization · Qwen-2.5 3B")
    assert only(seen, "copied")["complaints"] == []
    inside = "Core Generalization · Qwen-2.5 3B · Baseline"
    assert only(seen, "framed") == {"what": "framed", "inside": inside, "whole": 0}


def test_news_arrive_without_a_reload_and_a_new_revision_when_the_reader_asks_for_it(
    seen: list[dict[str, Any]],
) -> None:
    found = only(seen, "refresh")
    statuses = found["statuses"]
    assert 200 in statuses[statuses.index(304) :]
    assert found["kept"] == ["TD", 2]
    assert found["news"] == "This page has new results."
    assert found["complaints"] == []
    found = only(seen, "revision")
    assert found["announced"] == "Revision 2 has arrived (2 cells changed)."
    assert found["unchanged"]
    assert found["changed"] == 2
    assert found["scrolled"] == 20
    # A page that cannot be checked says so, and since when.
    found = only(seen, "away")
    assert found["offline"].startswith("Not checked since ")
    assert found["offline"].endswith(": the registry does not answer.")
    assert found["checked"].startswith("Checked ")


def test_a_page_is_filled_and_a_revision_announced_when_the_stream_tells(seen: list[dict[str, Any]]) -> None:
    """The stream tells of other grids before it tells of the revision, so they would have been asked for by then."""
    found = only(seen, "told")
    assert found["filled"]
    assert found["announced"].startswith("Revision 2 has arrived (2 cells changed)")
    assert found["complaints"] == []
    assert found["asked"] == 1


def test_a_hidden_page_closes_its_stream_and_goes_on_where_it_was(seen: list[dict[str, Any]]) -> None:
    found = only(seen, "hidden")
    assert found["closed"]
    assert found["quiet"] == [False, None]
    assert found["resumed"] == found["cursor"] != ""


def test_a_page_whose_stream_is_refused_polls_and_the_windows_of_a_browser_leave_it_connections(
    seen: list[dict[str, Any]],
) -> None:
    found = only(seen, "refused")
    assert (found["refused"], found["speaks"]) == (True, False)
    assert found["checked"].startswith("Checked ")
    assert only(seen, "windows")["speak"] == [True] * 4 + [False]
