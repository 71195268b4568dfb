"""Every kind of page in Chromium: in both themes, on a phone, by keyboard, on paper, on a wall, and large.

Needs what `test_browser` needs, and pdftotext and pdftoppm (poppler-utils) for what is printed.
"""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.house import House, Project, publication
from tests.pages.chromium import NEEDED, named, run, served
from tests.pages.conftest import Demo

pytestmark = NEEDED
printed = pytest.mark.skipif(shutil.which("pdftotext") is None, reason="poppler-utils is not installed")

MOST = 60_000
"""Bytes of a page as it is sent, compressed."""
ONE = {"axes": [], "trials": 300, "variant": ""}
NOT_PAGES = {"pages.static", "pages.palette", "pages.data", "pages.go_to_provider", "pages.come_from_provider"}
"""What answers GET and is no page: files, data, and redirects of a sign-in service."""


@dataclass(frozen=True)
class Places:
    """The paths of what was published."""

    kinds: list[str]
    large: dict[str, str]
    board: str
    table: str
    question: str


def axis(name: str, count: int) -> dict[str, Any]:
    return {"name": name, "kind": "numeric", "levels": list(range(count))}


def shaped(project: Project, name: str, counts: list[int]) -> str:
    """A grid of so many levels on each axis, all cells measured, rising along every axis with noise; its path."""
    chance = random.Random(1)

    def values(left: list[int], share: float) -> Any:
        if not left:
            return round(20 + 60 * share) + chance.randrange(-5, 6)
        return [values(left[1:], share + level / left[0] / len(counts)) for level in range(left[0])]

    axes = [axis(f"Axis {n}", count) for n, count in enumerate(counts)]
    grid = project.published(experiment=name, benchmark=name, axes=axes, values=values(counts, 0.0), trials=100)
    return f"/grids/{grid['id']}"


def publish(project: Project, grids: list[dict[str, Any]]) -> None:
    for first in range(0, len(grids), 500):
        answer = project.call("POST", f"projects/{project.slug}/grids/batch", json=grids[first : first + 500])
        assert answer.get_json()["failed"] == 0


def longer_contexts(project: Project) -> None:
    """Shorty is better up to 4,000 tokens, Longhorn from 64,000 on, both by 30 points of 300 questions each."""
    contexts = {"name": "Context", "kind": "numeric", "levels": [1000, 4000, 64_000, 128_000]}
    for model, shares in (("Longhorn", [60, 60, 90, 90]), ("Shorty", [90, 90, 60, 60])):
        for benchmark in ("Needle", "Recall", "Summary"):
            project.published(experiment="contexts", benchmark=benchmark, model=model, variant="", axes=[contexts],
                              values=[float(one) for one in shares])  # fmt: skip


@pytest.fixture(scope="module")
def places(demo: Demo) -> Iterator[Places]:
    """Projects with much in them, with the answers that the pages ask for."""
    house = demo.house
    many, asked = (house.make_project("public") for _ in range(2))
    longer_contexts(asked)
    models = [
        publication(**ONE | {"experiment": "board", "benchmark": f"Task {b}", "model": f"model {m:03}",
                             "values": float((7 * m + 31 * b) % 101)})
        for m in range(300) for b in range(2)
    ]  # fmt: skip
    tasks = [
        publication(**ONE | {"experiment": "tasks", "benchmark": f"Task-{b:02}", "model": f"org/Model-{m:02}",
                             "values": float((m + 5 * b) % 101)})
        for m in range(30) for b in range(35)
    ]  # fmt: skip
    publish(many, models + tasks)
    home = f"/projects/{many.slug}"
    shapes = {name: shaped(many, name, counts) for name, counts in SHAPES.items()}
    ranked, table = "rankings?experiment={}&metric=accuracy", "aggregates?experiment={}&metric=accuracy&group_by=model"
    board, of_tasks = f"{home}/{ranked.format('board')}", f"{home}/{ranked.format('tasks')}"
    tables = [f"{home}/{table.format(one)}&group_by=benchmark" for one in ("board", "tasks")]
    question = f"/projects/{asked.slug}/rankings?experiment=contexts&metric=accuracy&at.Context=>%3D64000"
    pages = kinds_of(demo, house)
    house.compute()
    for path in (board, of_tasks, *tables, question, *pages):
        house.call("GET", path)
    house.compute()
    # What is not asked about is not computed: a project of 5,000 grids.
    rest = 5_000 - len(models) - len(tasks) - len(shapes)
    other = [ONE | {"experiment": f"other {n % 40}", "model": f"m {n}", "values": 1.0} for n in range(rest)]
    publish(many, [publication(**one) for one in other])
    large = {"project": home, "ranking": board, "table": tables[0], **shapes}
    yield Places(pages, large, of_tasks, tables[1], asked.slug)
    for project in (many, asked):
        house.call("DELETE", f"projects/{project.slug}", token=house.operator)


SHAPES = {"35 x 35": [35, 35], "500 x 3": [500, 3], "3 x 500": [3, 500], "four axes": [3, 4, 4, 4]}


def kinds_of(demo: Demo, house: House) -> list[str]:
    """A path of every kind of page; those of the settings hold one of everything."""
    project = house.make_project()
    grid = project.published()["id"]
    project.published(values=[[99.3, 10.0, 98.3], [None, 20.0, 99.7]])
    gone = project.published(model="gone")["id"]
    settings, admin = f"/projects/{project.slug}/settings", project.tokens["admin"]
    project.call("DELETE", f"grids/{gone}")
    project.call("PUT", f"projects/{project.slug}/suites/core", json={"benchmarks": ["Core Generalization"]})
    project.call("POST", f"projects/{project.slug}/aliases", json={"kind": "model", "alias": "a", "name": "b"})
    project.call("POST", f"projects/{project.slug}/shares", "admin", json={"path": f"/api/v1/grids/{grid}"})
    baseline = {"experiment": "type-by-length", "metric": "accuracy", "subject": {"model": "Qwen-2.5 3B"}}
    project.call("PUT", f"projects/{project.slug}/baselines/main", json=baseline)
    alert = project.alerted()
    token = house.call("GET", "whoami", token=admin).get_json()["id"]
    listens = {"url": "https://hooks.example.org/results", "types": ["claim.*"]}
    webhook = project.call("POST", f"projects/{project.slug}/webhooks", "admin", json=listens).get_json()["id"]
    demo_home = "/projects/demo"
    [said] = house.call("GET", f"{demo_home.lstrip('/')}/claims?limit=1&verdict=contradicted").get_json()["items"]
    claim = f"/claims/{said['id']}"
    return [
        "/", "/search?q=qwen", "/status", "/sign-in", "/signed-out", "/docs", "/docs/schemas", "/docs/schemas/results",
        "/account", "/settings", settings,
        *(f"{settings}/{one}" for one in ("members", "tokens", "shares", "aliases", "suites", "audit", "webhooks")),
        f"{settings}/deleted?grid={grid}", f"{settings}/tokens/{token}", f"{settings}/webhooks/{webhook}",
        f"{settings}/alerts?alert={alert}", f"/projects/{project.slug}/alerts",
        f"/projects/{project.slug}/baselines/main",
        f"/grids/{grid}", f"/grids/{grid}/revisions/1..2", f"/grids/{grid}/history?at.Type=1&at.Length=1",
        f"/embed{demo.seed0}", f"{demo.seed0}?kiosk=1", demo_home, f"{demo_home}/search?q=r1", f"{demo_home}/models",
        f"{demo_home}/claims", claim, f"{demo_home}/events",
        f"{demo_home}/models/R1-Qwen", f"{demo_home}/experiments/window-by-ratio",
        f"{demo_home}/rankings?experiment=window-by-ratio&metric=Pass@1",
        f"{demo_home}/aggregates?experiment=window-by-ratio&metric=Pass@1&group_by=model&group_by=axis:Ratio",
        f"{demo_home}/comparisons?baseline={demo.grids['4'][0]}&contender={demo.grids['2'][0]}",
        f"{demo_home}/lines?experiment=window-by-ratio&metric=Pass@1",
        f"{demo_home}/trade-offs?experiment=window-by-ratio&x=metric:Pass@1&y=metric:Pass@1&x.at.Ratio=0.1&y.at.Ratio=0.5",
    ]  # fmt: skip


@pytest.fixture(scope="module")
def seen(demo: Demo, places: Places, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[dict[str, Any]]]:
    """What the browser found, in one run."""
    directory = tmp_path_factory.mktemp("printed")
    results = [one for one in places.kinds if "/settings" not in one and "/docs" not in one]
    on_paper = [*results, places.board, places.table, places.large["35 x 35"], places.large["3 x 500"]]
    home, hung = "/projects/demo", [f"/grids/{listed[0]}" for listed in demo.grids.values()]
    plan = {
        "token": demo.house.operator,
        "kinds": dict.fromkeys(("light", "dark", "phone"), places.kinds),
        "reach": [one for one in places.kinds if "/docs" not in one],
        "large": list(places.large.values()),
        "walls": [
            *(f"{one}?kiosk=1" for one in hung),
            f"{home}/rankings?experiment=window-by-ratio&metric=Pass@1&kiosk=1",
            f"{places.board}&kiosk=1",
            f"{places.large['35 x 35']}?kiosk=1",
        ],
        "printed": [(path, str(directory / f"{n}.pdf")) for n, path in enumerate(on_paper)],
        "question": {"project": places.question, "experiment": "contexts", "from": "64000"},
    }
    with served(demo.house.app) as address:
        yield list(run("survey.mjs", plan | {"base": address}))


def found(seen: list[dict[str, Any]], what: str) -> list[dict[str, Any]]:
    return [one for one in seen if one["what"] == what]


def test_the_paths_are_of_every_kind_of_page_that_there_is(demo: Demo, places: Places) -> None:
    app = demo.house.app
    adapter = app.url_map.bind("localhost")
    kinds = {adapter.match(urlsplit(path).path, method="GET")[0] for path in places.kinds}
    pages = {one.endpoint for one in app.url_map.iter_rules() if "GET" in (one.methods or ())}
    assert kinds == {one for one in pages if one.startswith(("pages.", "administration."))} - NOT_PAGES


def test_no_kind_of_page_has_a_violation_or_a_complaint_or_is_too_wide(
    seen: list[dict[str, Any]], places: Places
) -> None:
    looks = found(seen, "look")
    assert len(looks) == 3 * len(places.kinds)
    for fault in ("violations", "complaints", "clipped"):
        assert {f"{one['look']} {one['path']}": one[fault] for one in looks if one[fault]} == {}, fault
    assert {f"{one['look']} {one['path']}": one["wide"] for one in looks if one["wide"] > 0} == {}


def test_the_keyboard_reaches_everything_that_can_be_chosen(seen: list[dict[str, Any]]) -> None:
    reached = found(seen, "reach")
    assert len(reached) > 25
    assert all(one["wanted"] > 3 for one in reached)
    assert {one["path"]: one["missed"] for one in reached if one["missed"]} == {}


def test_a_large_page_opens_in_60_kb_as_wide_as_the_window_and_says_what_was_cut(
    seen: list[dict[str, Any]], places: Places
) -> None:
    large = {(one["look"], one["path"]): one for one in found(seen, "large")}
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


def test_which_model_is_better_at_long_contexts_is_answered_in_four_clicks(seen: list[dict[str, Any]]) -> None:
    asked = named(seen, "question")
    assert asked["clicks"] == 4
    label, sentence = asked["first"].split("\n")[:2]
    assert label == "shown"
    assert sentence.startswith("Longhorn is better than Shorty by 30.0 points")
    assert "at Context at least 64000" in sentence


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
def test_nothing_that_is_printed_lies_beside_the_paper(seen: list[dict[str, Any]], places: Places) -> None:
    beside = {
        one["path"]: [word for _, word, inside in words(one["file"]) if not inside] for one in found(seen, "printed")
    }
    assert len(beside) > 20
    assert {path: lost for path, lost in beside.items() if lost} == {}


@printed
def test_a_printed_heatmap_ranking_and_table_have_every_column_on_one_sheet(
    seen: list[dict[str, Any]], places: Places
) -> None:
    """35 columns of numbers, the 30 names of a matrix of pairs, and 35 benchmarks: each name is read from the paper."""
    expected = {
        places.large["35 x 35"]: [str(n) for n in range(35)],
        places.board: [f"org/Model-{n:02}" for n in range(30)],
        places.table: [f"Task-{n:02}" for n in range(35)],
    }
    files = {one["path"]: one["file"] for one in found(seen, "printed")}
    for path, columns in expected.items():
        sheets: dict[int, list[str]] = {}
        for sheet, word, _ in words(files[path]):
            sheets.setdefault(sheet, []).append(word)
        whole = [sheet for sheet, on_it in sheets.items() if set(columns) <= set(on_it)]
        assert whole, (path, {sheet: set(columns) - set(on_it) for sheet, on_it in sheets.items()})
    # The matrix has each name twice on one sheet, as a row and as a column, and 870 differences.
    on_paper = [(sheet, word) for sheet, word, _ in words(files[places.board])]
    squares = {
        sheet: sum(re.fullmatch("[+−]?\\d+\\.\\d+", word) is not None for at, word in on_paper if at == sheet)
        for sheet, _ in on_paper
    }
    assert max(squares.values()) >= 870


@printed
def test_a_printed_heatmap_has_its_colours(seen: list[dict[str, Any]], demo: Demo, tmp_path: Path) -> None:
    """Both ends of cividis as matplotlib has them, on white, although the screen was dark."""
    [file] = [one["file"] for one in found(seen, "printed") if one["path"] == f"{demo.seed0}?kiosk=1"]
    subprocess.run(["pdftoppm", "-r", "40", "-l", "1", file, str(tmp_path / "sheet")], check=True)
    [picture] = tmp_path.glob("*.ppm")
    head, _, depth, pixels = picture.read_bytes().split(b"\n", 3)
    assert (head, depth) == (b"P6", b"255")
    colours = {tuple(pixels[at : at + 3]) for at in range(0, len(pixels), 3)}
    assert tuple(pixels[:3]) == (255, 255, 255)
    for end in ((0, 34, 78), (254, 232, 56)):
        assert min(sum(abs(a - b) for a, b in zip(end, one, strict=True)) for one in colours) < 40, end


def test_a_page_on_a_wall_fits_the_screen_or_says_what_part_of_it_is_shown(
    seen: list[dict[str, Any]], places: Places
) -> None:
    walls = {one["path"]: one for one in found(seen, "hung")}
    large = {f"{places.board}&kiosk=1", f"{places.large['35 x 35']}?kiosk=1"}
    assert len(walls) == 5 + 1 + len(large)  # a grid of each seed of the demonstration, and its ranking of models
    for path, one in walls.items():
        assert (one["scrolls"], one["complaints"]) == ([0, 0], []), path
        if path in large:
            assert re.search(r"The screen shows the part of this page that fits: \d+ % of its height", one["cut"])
        else:
            assert (one["cut"], one["high"] <= 1, one["wide"] <= 4, one["zoom"] >= 0.8) == ("", True, True, True), path
