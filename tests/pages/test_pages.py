"""Every page: whole without a script, safe with hostile names, and only sent again when it has changed."""

from __future__ import annotations

import gzip
import html
import itertools
import re

import pytest

from tests.house import House, Project, publication
from tests.pages.conftest import Browser, Demo

HOSTILE = "<script>alert('1')</script>\"'&amp;<img src=x onerror=alert(2)>{{7*7}}"

PATHS = (
    "/",
    "/projects/demo",
    "/projects/demo/grids?experiment=window-by-ratio&model=R1-Qwen&sort=benchmark",
    "/projects/demo/experiments/window-by-ratio",
    "/projects/demo/experiments/window-by-ratio?model=R1-Qwen&range=30.7,88.5",
    "/projects/demo/experiments/size-by-progress?palette=blues",
    "/projects/demo/rankings",
    "/projects/demo/rankings?experiment=window-by-ratio&metric=Pass@1&method=mean_rank&missing=complete",
    "/projects/demo/rankings?experiment=type-by-length&metric=accuracy&by=axis:Type&benchmark=Core+Generalization",
    "/projects/demo/aggregates",
    "/projects/demo/aggregates?experiment=window-by-ratio&metric=Pass@1",
    "/projects/demo/comparisons",
    "/status",
    "/sign-in",
    "/docs",
    "/docs/schemas",
    "/docs/schemas/results",
)


@pytest.fixture(scope="module")
def answered(demo: Demo) -> Demo:
    """The demonstration after somebody has asked what its pages ask."""
    for path in PATHS:
        demo.house.call("GET", path)
    demo.house.compute()
    return demo


@pytest.mark.parametrize("path", PATHS)
def test_a_page_is_well_formed_and_has_one_heading(answered: Demo, guest: Browser, path: str) -> None:
    page = guest.read(path)
    tags = [tag for tag, _ in page.attributes]
    assert tags.count("h1") == 1
    assert tags.count("main") == 1
    assert "{{" not in page.text.replace("{{7*7}}", "")


@pytest.mark.parametrize("path", PATHS)
def test_a_page_runs_only_its_own_scripts_and_is_framed_by_nobody(answered: Demo, guest: Browser, path: str) -> None:
    headers = guest.get(path).headers
    policy = headers["Content-Security-Policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "form-action 'self'" in policy
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    assert "Cookie" in headers["Vary"]
    assert "private" in headers["Cache-Control"]


@pytest.mark.parametrize("path", PATHS)
def test_a_page_is_sent_once(answered: Demo, guest: Browser, path: str) -> None:
    first = guest.get(path)
    again = guest.get(path, If_None_Match=first.headers["ETag"])
    assert again.status_code == 304
    assert not again.data


@pytest.mark.parametrize("path", PATHS)
def test_the_links_of_a_page_lead_somewhere(answered: Demo, guest: Browser, path: str) -> None:
    page = guest.read(path)
    links = {given.get("href") or given.get("src") for _, given in page.attributes if "href" in given or "src" in given}
    for link in sorted(one for one in links if one and not one.startswith("#")):
        assert link.startswith("/"), link
        answer = guest.get(link)
        answer.close()
        if answer.status_code == 303:  # a question that only one metric completes
            answer = guest.get(answer.headers["Location"])
        assert answer.status_code in (200, 202), link


def test_hostile_names_are_text(project: Project, visitor: Browser) -> None:
    project.call("PATCH", f"projects/{project.slug}", "admin", json={"visibility": "public", "name": HOSTILE})
    axes = [
        {"name": HOSTILE, "kind": "nominal", "levels": [HOSTILE, "b"]},
        {"name": "Length", "kind": "numeric", "levels": [0, 1, 2]},
    ]
    names = dict.fromkeys(("experiment", "benchmark", "model", "variant"), HOSTILE)
    metric = {"name": HOSTILE, "unit": "<b>", "direction": "higher", "lower": 0, "upper": 100}
    grids = []
    for variant in (HOSTILE, "other"):
        sent = publication(**names | {"variant": variant}, axes=axes, metric=metric, labels={"<i>": HOSTILE})
        grids.append(project.publish(sent).get_json()["id"])
    project.house.compute()
    quoted = html.escape(HOSTILE)
    for path in (
        f"/projects/{project.slug}",
        f"/grids/{grids[0]}",
        f"/grids/{grids[0]}?show=difference&baseline={grids[1]}",
        "/status",
        "/",
    ):
        answer = visitor.get(path)
        assert answer.status_code == 200
        assert "<script>alert" not in answer.text
        assert "<img src=x" not in answer.text
        assert "49}" not in answer.text
        visitor.read(path)
    page = visitor.get(f"/grids/{grids[0]}").text
    assert quoted.split("&amp;")[0] in page or "&lt;script&gt;" in page
    experiment = re.search(r'href="(/projects/[^"]+/experiments/[^"]+)"', page)[1]
    shown = visitor.read(html.unescape(experiment))
    assert HOSTILE in shown.text
    ranking = next(given["href"] for _, given in shown.attributes if "/rankings?" in (given.get("href") or ""))
    visitor.get(ranking)
    project.house.compute()
    assert HOSTILE in visitor.read(ranking).text


def test_what_is_not_there_is_a_page_for_browsers_and_a_problem_for_programs(house: House, visitor: Browser) -> None:
    assert "<h1>" in visitor.get("/nowhere").text
    program = house.call("GET", "/nowhere")
    assert program.content_type == "application/problem+json"
    assert visitor.get("/api/v1/nowhere").content_type == "application/problem+json"


@pytest.mark.parametrize(
    "path",
    [
        "/projects/demo/grids?cursor=zz",
        "/projects/demo/grids?sort=colour",
        "/projects/demo/grids?nonsense=1",
        "/projects/demo/experiments/window-by-ratio?metric=%00",
        "/projects/demo/rankings?experiment=window-by-ratio&metric=Pass@1&method=guess",
        "/projects/demo/rankings?experiment=window-by-ratio&metric=Pass@1&alpha=7",
        "/projects/demo/rankings?by=axis:",
        "/projects/demo/comparisons?baseline=x&contender=y",
    ],
)
def test_a_wrong_parameter_is_named(demo: Demo, guest: Browser, path: str) -> None:
    guest.read(path, 422)


@pytest.mark.parametrize(
    "path",
    [
        "/projects/demo/experiments/nothing",
        "/projects/demo/rankings?experiment=nothing&metric=Pass@1",
        "/grids/00000000-0000-7000-8000-000000000000",
    ],
)
def test_what_nobody_published_is_not_found(demo: Demo, guest: Browser, path: str) -> None:
    assert guest.get(path).status_code in (401, 404)


def test_seed_4_is_four_panels_with_a_warning_and_one_click_to_a_shared_range(answered: Demo, guest: Browser) -> None:
    path = "/projects/demo/experiments/window-by-ratio?model=R1-Qwen"
    page = guest.read(path)
    assert [given.get("role") for tag, given in page.attributes if tag == "table"].count("grid") == 4
    assert "Colours are not comparable between these panels" in page.text
    for told in ("AIME'24 40 to 52", "AIME'25 30.7 to 36.7", "AMC23 85 to 88.5", "GPQA_D 45.7 to 49.7"):
        assert told in page.text
    shared = next(given["href"] for _, given in page.attributes if "range=" in (given.get("href") or ""))
    then = guest.read(shared)
    assert "All panels share one range of colours, 30.7 to 88.5" in then.text
    assert "not comparable" not in then.text


def test_the_sweet_spot_of_seed_4_says_what_supports_it_and_what_does_not(answered: Demo, guest: Browser) -> None:
    """Exact Friedman by enumeration: p 2.43e-5 for the ratio; that the window matters is not shown."""
    text = guest.read("/projects/demo/experiments/window-by-ratio?model=R1-Qwen").text
    support, doubt = text.index("What supports it"), text.index("What does not")
    assert support < text.index("Ratio 0.4 is best in 4 of 4 grids (exact Friedman p <0.0001)") < doubt
    assert text.index("That the levels of Local Window Size differ was not shown") > doubt


def test_the_types_of_seed_0_fall_into_four_groups(answered: Demo, guest: Browser) -> None:
    text = guest.read(PATHS[8]).text
    groups = text[text.index("Groups that were compared") : text.index("Every pair")]
    assert groups.split("do not separate ")[1].split() == ["6,", "2", "7,", "4", "3", "1,", "5"]
    assert "20 of 20 slots compared" in text


def test_the_filters_and_the_experiments_of_a_project_are_offered(demo: Demo, guest: Browser) -> None:
    page = guest.read("/projects/demo")
    chosen = {given.get("name") for tag, given in page.attributes if tag in ("select", "input")}
    assert {"experiment", "benchmark", "model", "metric", "sort", "q"} <= chosen
    for name in ("type-by-length", "window-by-ratio", "size-by-progress"):
        assert f"/projects/demo/experiments/{name}" in [given.get("href") for _, given in page.attributes]
    filtered = guest.read("/projects/demo/grids?experiment=type-by-length&benchmark=&model=").text
    assert "Core Generalization" in filtered
    assert "GSM8K · unnamed family" not in filtered


def test_a_comparison_shows_both_the_difference_and_what_only_one_has(demo: Demo, guest: Browser) -> None:
    """AMC23 of seed 4 against seed 2: 20 cells against 8 of them, by hand."""
    found = {
        one["model"]: one["id"]
        for one in demo.house.call("GET", "projects/demo/grids?benchmark=AMC23").get_json()["items"]
    }
    path = f"/projects/demo/comparisons?baseline={found['R1-Qwen']}&contender={found['R1-Llama']}"
    guest.get(path)
    demo.house.compute()
    page = guest.read(path)
    assert [given.get("role") for tag, given in page.attributes if tag == "table"].count("grid") == 3
    assert "12 cells only in the baseline" in page.text
    assert "8 cells in common; only in the baseline 12, only in the contender 0" in page.text
    assert page.texts.count("−3.5") >= 1
    tables = guest.get(path).text.split('<table role="grid"')[1:]
    for side, table in zip(("R1-Qwen", "R1-Llama"), tables, strict=False):
        within = demo.house.call("GET", f"grids/{found[side]}/peaks").get_json()["peaks"]
        assert len(re.findall(r'class="c\d+ best"', table)) == len(within["best"]["at"])
        everything = (
            within["best_set"]["size"] == demo.house.call("GET", f"grids/{found[side]}").get_json()["cell_count"]
        )
        tied = within["best_set"]["size"] - len(within["best"]["at"])
        assert len(re.findall(r'class="c\d+ tied"', table)) == (0 if everything else tied)
    assert "tested cells differs by more than noise (Holm p < 0.05): the colours show sizes, not findings" in page.text
    assert "With 95 % confidence the best is one of" in page.text
    swapped = guest.get(f"/projects/demo/comparisons?baseline={found['R1-Llama']}&contender={found['R1-Qwen']}")
    assert ">+3.5<" in swapped.text


def test_a_comparison_of_what_is_not_comparable_says_so(demo: Demo, guest: Browser) -> None:
    path = f"/projects/demo/comparisons?baseline={demo.grids['0'][0]}&contender={demo.grids['1'][0]}"
    guest.get(path)
    demo.house.compute()
    assert "Confounded: these grids differ in" in guest.read(path).text


@pytest.mark.parametrize("apart", ["axes", "metric"])
def test_grids_that_cannot_be_subtracted_have_their_own_colours_and_no_difference(
    project: Project, visitor: Browser, apart: str
) -> None:
    """Accuracy in percent against perplexity, which goes down; and the same metric over other axes."""
    project.call("PATCH", f"projects/{project.slug}", "admin", json={"visibility": "public"})
    axes = [{"name": name, "kind": "numeric", "levels": [1, 2]} for name in ("Length", "Depth")]
    perplexity = {"name": "perplexity", "unit": "nats", "direction": "lower"}
    first = project.published(axes=axes[:1], values=[80.0, 90.0], trials=None, model="a")
    more = {"axes": axes[1:]} if apart == "axes" else {"axes": axes[:1], "metric": perplexity}
    second = project.published(**more, values=[2.0, 7.0], trials=None, model="b")
    path = f"/projects/{project.slug}/comparisons?baseline={first['id']}&contender={second['id']}"
    visitor.get(path)
    project.house.compute()
    page = visitor.read(path)
    assert [given.get("role") for tag, given in page.attributes if tag == "table"].count("grid") == 2
    assert "Each grid has its own range of colours" in page.text
    assert "Both grids have one range" not in page.text
    assert "No cell was tested" not in page.text
    assert ("in common" in page.text) == (apart == "metric")
    reason = "the grids have not the same axes" if apart == "axes" else "have no gap"
    assert reason in page.text
    assert {"80", "90", "2", "7"} <= set(page.texts)


def test_the_status_page_lists_what_is_pending_only_to_those_who_may_know(project: Project, visitor: Browser) -> None:
    grid = project.published(model="a model of our own")
    assert "a model of our own" not in visitor.read("/status").text
    visitor.post("/sign-in", {"token": project.tokens["reader"]})
    assert f"/grids/{grid['id']}" in visitor.get("/status").text
    project.house.compute()
    assert "a model of our own" not in visitor.read("/status").text


def test_the_choice_of_dark_is_remembered(demo: Demo, guest: Browser) -> None:
    before = guest.get("/")
    assert 'data-theme="auto"' in before.text
    answer = guest.post("/theme", {"theme": "dark", "back": "/status"})
    assert (answer.status_code, answer.headers["Location"]) == (303, "/status")
    after = guest.get("/", If_None_Match=before.headers["ETag"])
    assert after.status_code == 200
    assert 'data-theme="dark"' in after.text
    guest.post("/theme", {"theme": '"><script>'})
    assert 'data-theme="auto"' in guest.get("/").text


def test_grids_come_in_pages(project: Project, visitor: Browser) -> None:
    project.call("PATCH", f"projects/{project.slug}", "admin", json={"visibility": "public"})
    for number in range(53):
        project.published(model=f"m{number:03d}")
    seen, path = [], f"/projects/{project.slug}?sort=model"
    while path:
        page = visitor.read(path)
        seen += re.findall(r"m\d{3}", page.text[page.text.index("Statistics") :])
        path = next((given["href"] for _, given in page.attributes if given.get("rel") == "next"), None)
    assert seen == [f"m{number:03d}" for number in range(53)]


@pytest.mark.parametrize("name", ["pages.css", "palette.css", "pages.js", "icon.svg"])
def test_style_sheets_and_scripts_are_compressed_for_who_takes_that(house: House, name: str) -> None:
    plain = house.call("GET", f"/assets/{name}")
    packed = house.call("GET", f"/assets/{name}", headers={"Accept-Encoding": "gzip"})
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.data) == plain.data
    assert packed.headers["Vary"] == plain.headers["Vary"] == "Accept-Encoding"
    assert "Content-Encoding" not in plain.headers


def test_every_page_has_a_title_of_its_own_and_unfolds_where_it_is_linked(answered: Demo, guest: Browser) -> None:
    titles = {}
    for path in (*PATHS, answered.seed0):
        page = guest.read(path)
        given = {
            one.get("property") or one.get("name"): one.get("content") for tag, one in page.attributes if tag == "meta"
        }
        assert given["description"] == given["og:description"]
        titles.setdefault(given["og:title"], []).append(path.partition("?")[0].removesuffix("/grids"))
        drawn = any(kind in path for kind in ("/aggregates?", "/lines?", "/trade-offs?"))
        assert ("og:image" in given) == (path == answered.seed0 or drawn)
    assert {title: paths for title, paths in titles.items() if len(set(paths)) > 1} == {}
    assert "Ranking of type-by-length by accuracy" in titles


@pytest.mark.parametrize("depth", [3, 4])
def test_headings_skip_no_level(project: Project, visitor: Browser, depth: int) -> None:
    project.call("PATCH", f"projects/{project.slug}", "admin", json={"visibility": "public"})
    axes = [{"name": name, "kind": "nominal", "levels": ["a", "b"]} for name in "ABCD"[:depth]]
    values: object = 1.0
    for _ in axes:
        values = [values, values]
    grid = project.published(axes=axes, values=values, trials=None, experiment=f"deep {depth}")
    for path in (f"/grids/{grid['id']}", f"/projects/{project.slug}/experiments/deep%20{depth}"):
        levels = [int(tag[1]) for tag, _ in visitor.read(path).attributes if re.fullmatch("h[1-6]", tag)]
        assert levels[0] == 1
        assert all(then <= now + 1 for now, then in itertools.pairwise(levels)), path


def test_a_label_that_is_an_address_is_a_link_that_tells_nothing_and_passes_nothing(
    project: Project, visitor: Browser
) -> None:
    project.call("PATCH", f"projects/{project.slug}", "admin", json={"visibility": "public"})
    labels = {"run": "https://example.org/run/1?a=b&c", "bad": "javascript:alert(1)", "worse": 'http://x" onclick="y'}
    page = visitor.read(f"/grids/{project.published(labels=labels)['id']}")
    links = {given["href"]: given.get("rel") for tag, given in page.attributes if ":" in (given.get("href") or "")}
    assert links == {labels["run"]: "noopener noreferrer nofollow", labels["worse"]: "noopener noreferrer nofollow"}
    assert "javascript:alert(1)" in page.text


def test_a_metric_that_an_experiment_does_not_have_is_not_found_and_the_right_ones_are_named(
    demo: Demo, guest: Browser
) -> None:
    page = guest.read("/projects/demo/experiments/window-by-ratio?metric=nope", 404)
    assert 'No grid of "window-by-ratio" has the metric "nope"; there is Pass@1.' in page.text


def test_a_choice_that_no_grid_of_an_experiment_meets_has_no_data_to_take(demo: Demo, guest: Browser) -> None:
    page = guest.read("/projects/demo/experiments/window-by-ratio?model=nope")
    assert "No grid matches." in page.text
    assert [given for _, given in page.attributes if "/api/v1/" in (given.get("href") or "")] == []
