"""Every page: whole without a script, safe with hostile names, and only sent again when it has changed."""

import gzip
import re
from pathlib import Path

import pytest
from jinja2 import Environment

import registry.pages
from registry.pages.responses import IndentedLinesContinue
from tests.house import House, Project
from tests.pages.conftest import PATHS, WINDOWS, Browser, Demo, browser

HOSTILE = "<script>alert('1')</script>\"'&amp;<img src=x onerror=alert(2)>{{7*7}}"
CHOSEN = (
    *(("ranking", one) for one in ("method", "missing", "target", "by", "alpha", "as_of", "since")),
    *(("table", one) for one in ("value", "missing", "group_by", "over")),
    *(("lines", one) for one in ("by", "missing", "x")),
    *(("trade-off", one) for one in ("by", "missing", "x_scale", "y_scale", "x_better", "x")),
)
"""Views of results with choices that each has."""
EXPERIMENT = f"/projects/demo/results?view=heatmaps&{WINDOWS}"


def test_a_page_is_well_formed_runs_only_its_own_scripts_and_is_sent_once(
    answered: Demo, guest: Browser, subtests: pytest.Subtests
) -> None:
    titles: dict[str, set[str]] = {}
    answered.house.compute()  # the status says how long others wait already
    for path in (*PATHS, answered.seed0):
        with subtests.test(msg=path):
            page = guest.read(path)
            assert (len(page.all("h1")), len(page.all("main"))) == (1, 1)
            assert "{{" not in page.text.replace("{{7*7}}", "")
            headers = guest.get(path).headers
            policy = headers["Content-Security-Policy"]
            assert "unsafe" not in policy
            for told in ("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "form-action 'self'"):
                assert told in policy
            assert headers["X-Frame-Options"] == "DENY"
            assert headers["X-Content-Type-Options"] == "nosniff"
            assert headers["Referrer-Policy"] == "same-origin"
            assert "Cookie" in headers["Vary"]
            assert "private" in headers["Cache-Control"]
            again = guest.get(path, If_None_Match=headers["ETag"])
            assert (again.status_code, again.data) == (304, b"")
            # A page has a title of its own and unfolds where it is linked.
            meta = {one.get("property") or one.get("name"): one.get("content") for one in page.all("meta")}
            assert meta["description"] == meta["og:description"]
            titles.setdefault(meta["og:title"], set()).add(path.partition("?")[0].removesuffix("/grids"))
            drawn = path == answered.seed0 or any(f"view={kind}" in path for kind in ("ranking", "table", "lines"))
            assert ("og:image" in meta) == drawn
    assert {title: paths for title, paths in titles.items() if len(paths) > 1} == {}
    assert "Ranking of type-by-length by accuracy, benchmark Core Generalization" in titles


def test_hostile_names_are_text(project: Project, visitor: Browser) -> None:
    project.call("PATCH", f"projects/{project.slug}", "admin", json={"visibility": "public", "name": HOSTILE})
    axes = [
        {"name": HOSTILE, "kind": "nominal", "levels": [HOSTILE, "b"]},
        {"name": "Length", "kind": "numeric", "levels": [0, 1, 2]},
    ]
    names = dict.fromkeys(("experiment", "benchmark", "model"), HOSTILE)
    metric = {"name": HOSTILE, "unit": "<b>", "direction": "higher", "lower": 0, "upper": 100}
    first, second = (
        project.published(**names, variant=variant, axes=axes, metric=metric, labels={"<i>": HOSTILE})["id"]
        for variant in (HOSTILE, "other")
    )
    project.house.compute()
    difference = f"/projects/{project.slug}/comparisons?contender={first}&baseline={second}"
    for path in (f"/projects/{project.slug}", f"/grids/{first}", difference, "/status", "/"):
        text = visitor.get(path).text
        assert "<script>alert" not in text
        assert "<img src=x" not in text
        assert "49}" not in text
        visitor.read(path)
    page = visitor.read(f"/grids/{first}")
    assert HOSTILE in page.text
    experiment = next(link for link in page.links("/experiments/") if link.startswith(f"/projects/{project.slug}"))
    shown = visitor.read(experiment)
    assert HOSTILE in shown.text
    assert HOSTILE in visitor.computed(shown.links("view=ranking")[0]).text


def test_a_label_that_is_an_address_is_a_link_that_tells_nothing_and_passes_nothing(
    public: Project, visitor: Browser
) -> None:
    labels = {"run": "https://example.org/run/1?a=b&c", "bad": "javascript:alert(1)", "worse": 'http://x" onclick="y'}
    page = visitor.read(f"/grids/{public.published(labels=labels)['id']}")
    links = {given["href"]: given.get("rel") for tag, given in page.attributes if ":" in (given.get("href") or "")}
    assert links == {labels["run"]: "noopener noreferrer nofollow", labels["worse"]: "noopener noreferrer nofollow"}
    assert "javascript:alert(1)" in page.text


def test_what_is_not_there_is_a_page_for_browsers_and_a_problem_for_programs(house: House, visitor: Browser) -> None:
    assert "<h1>" in visitor.get("/nowhere").text
    assert house.call("GET", "/nowhere").content_type == "application/problem+json"
    assert visitor.get("/api/v1/nowhere").content_type == "application/problem+json"


def test_a_wrong_parameter_is_named_and_what_nobody_published_is_not_found(guest: Browser) -> None:
    for path in (
        "grids?cursor=zz",
        "grids?sort=colour",
        "grids?nonsense=1",
        "experiments/window-by-ratio?metric=%00",
        "results?view=guess",
        *(f"results?{WINDOWS}&view={view}&{one}=guess" for view, one in CHOSEN),
        f"rankings?{WINDOWS}&method=guess",
        f"rankings?{WINDOWS}&alpha=7",
        "rankings?by=axis:",
        "comparisons?baseline=x&contender=y",
    ):
        guest.read(f"/projects/demo/{path}", 422)
    for path in (
        "/projects/demo/experiments/nothing",
        "/projects/demo/rankings?experiment=nothing&metric=Pass@1",
        "/grids/00000000-0000-7000-8000-000000000000",
    ):
        assert guest.opened(path).status_code in (401, 404)
    # A choice that no grid of an experiment meets has no data to take.
    page = guest.read(f"{EXPERIMENT}&model=nope")
    assert "No grid matches." in page.text
    assert page.links("/api/v1/") == []


def test_the_numbers_come_before_the_filters_on_a_phone_and_are_one_link_away_for_the_keyboard(
    answered: Demo, guest: Browser
) -> None:
    """Folded in the markup; the style sheet unfolds it where there is room, and leaves that to who cannot follow it."""
    sheet = guest.get("/assets/pages.css").text
    [wide] = re.findall(r"@media \(min-width: 701px\) { @supports selector\(::details-content\) {\n(.*)\n} }", sheet)
    assert wide.strip() == (
        ".asked > summary { display: none; } .asked::details-content { content-visibility: visible; }"
    )
    for path, said in {
        answered.seed0: "Filters and views: none is set",
        f"{EXPERIMENT}&model=R1-Qwen": "Pass@1 in window-by-ratio, model R1-Qwen",
        f"/projects/demo/rankings?{WINDOWS}&benchmark=AMC23&at.Ratio=0.5": "benchmark AMC23, Ratio 0.5",
    }.items():
        page = guest.computed(path)
        [folded] = page.all("details", **{"class": "asked"})
        assert "open" not in folded
        assert said in page.text
        assert [one["href"] for one in page.all("a", **{"class": "skip"})] == ["#main", "#data"]
        assert page.ids.count("data") == 1
        text = guest.get(path).text
        folds, asks, data = (text.index(one) for one in ('class="asked"', '<form class="filters"', 'id="data"'))
        assert data < folds < asks if path == answered.seed0 else folds < asks < data


def test_a_phone_shows_the_heat_maps_of_the_first_models_and_the_others_unfolded(
    answered: Demo, guest: Browser
) -> None:
    page = guest.read(EXPERIMENT)
    assert page.maps == 8
    [fold] = page.all("details", **{"class": "rest"})
    assert "open" not in fold, "the style sheet unfolds it where there is room, and on paper"
    assert page.text.index("R1-Llama") < page.text.index("4 more heat maps") < page.text.rindex("R1-Qwen")


def test_seed_4_is_four_panels_in_one_range_and_one_click_to_their_own_ranges(answered: Demo, guest: Browser) -> None:
    page = guest.read(f"{EXPERIMENT}&model=R1-Qwen")
    assert page.maps == 4
    assert "not comparable" not in page.text
    assert page.text.count("30.7 59.6 88.5 %") == 1
    then = guest.read(page.links("range=own")[0])
    assert "Colours are not comparable between these panels" in then.text
    for ends in ("40.0 46.0 52.0 %", "30.7 33.7 36.7 %", "85.0 86.75 88.5 %", "45.7 47.7 49.7 %"):
        assert ends in then.text
    windows, ratios = page.links("by=axis")
    assert ("Window" in windows, "model=R1-Qwen" in ratios, "method=" in ratios) == (True, True, False)
    assert "exact p <0.0001" in guest.computed(f"{ratios}&method=borda").text, "Friedman's test, by enumeration"


def test_the_types_of_seed_0_fall_into_three_groups_and_one_alone(answered: Demo, guest: Browser) -> None:
    [path] = [one for one in PATHS if "by=axis:Type" in one]
    page = guest.read(path)
    assert page.all("div", **{"class": "scroll tall", "data-rows": "7"}), "the heads of a long order stay in sight"
    text = page.text
    groups = text[text.index("Groups that were compared") : text.index("Every pair")]
    assert groups.split("do not separate ")[1].split() == ["6,", "2", "7,", "4", "1,", "5"]
    assert "20 of 20 slots compared" in text


def test_the_filters_and_the_experiments_of_a_project_are_offered(guest: Browser) -> None:
    page = guest.read("/projects/demo/grids")
    chosen = {given.get("name") for tag, given in page.attributes if tag in ("select", "input")}
    assert {"experiment", "benchmark", "model", "metric", "sort", "q"} <= chosen
    for name in ("type-by-length", "window-by-ratio", "size-by-progress"):
        assert guest.read("/projects/demo").links(f"/projects/demo/experiments/{name}")
    filtered = guest.read("/projects/demo/grids?experiment=type-by-length&benchmark=&model=").text
    assert "Core Generalization" in filtered
    assert "GSM8K · unnamed family" not in filtered


def test_two_single_scores_are_compared_in_a_sentence(public: Project, visitor: Browser) -> None:
    sides = [public.published(model=model, axes=[], values=value)["id"] for model, value in (("A", 70.0), ("B", 75.5))]
    page = visitor.computed(f"/projects/{public.slug}/comparisons?baseline={sides[0]}&contender={sides[1]}")
    told = "Contender Core Generalization · B · Baseline — accuracy (%): 75.5 . Baseline Core Generalization · A"
    assert told in page.text
    assert "Difference: +5.5 ." in page.text
    assert page.maps == 0


def test_a_comparison_shows_both_the_difference_and_what_only_one_has(answered: Demo, guest: Browser) -> None:
    """AMC23 of seed 4 against seed 2: 20 cells against 8 of them, by hand."""
    page = guest.read(answered.pair)
    assert page.maps == 3
    assert "12 cells only in the baseline" in page.text
    assert "8 cells in common; only in the baseline 12, only in the contender 0" in page.text
    assert page.texts.count("−3.5") >= 1
    tables = guest.get(answered.pair).text.split('<table role="grid"')[1:]
    grids = [answered.of_amc23[model] for model in ("R1-Qwen", "R1-Llama")]
    for grid, table in zip(grids, tables, strict=False):
        within = answered.answer(f"grids/{grid}/statistics?part=peaks")["peaks"]
        best, size = len(within["best"]["at"]), within["best_set"]["size"]
        assert len(re.findall(r'class="c\d+ best"', table)) == best
        everything = size == answered.answer(f"grids/{grid}")["cell_count"]
        assert len(re.findall(r'class="c\d+ tied"', table)) == (0 if everything else size - best)
    assert "tested cells differs by more than noise (Holm p < 0.05): their colours are pale" in page.text
    assert "Each of the 20 cells may be the best, with 95 % confidence, so none is dashed." in page.text
    swapped = f"/projects/demo/comparisons?baseline={grids[1]}&contender={grids[0]}"
    assert ">+3.5<" in guest.get(swapped).text
    unlike = f"/projects/demo/comparisons?baseline={answered.grids['0'][0]}&contender={answered.grids['1'][0]}"
    assert "Confounded: these grids differ in" in guest.computed(unlike).text


@pytest.mark.parametrize("apart", ["axes", "metric"])
def test_grids_that_cannot_be_subtracted_have_their_own_colours_and_no_difference(
    public: Project, visitor: Browser, apart: str
) -> None:
    """Accuracy in percent against perplexity, which goes down; and the same metric over other axes."""
    axes = [{"name": name, "kind": "numeric", "levels": [1, 2]} for name in ("Length", "Depth")]
    perplexity = {"name": "perplexity", "unit": "nats", "direction": "lower"}
    first = public.published(axes=axes[:1], values=[80.0, 90.0], trials=None, model="a")
    more = {"axes": axes[1:]} if apart == "axes" else {"axes": axes[:1], "metric": perplexity}
    second = public.published(**more, values=[2.0, 7.0], trials=None, model="b")
    page = visitor.computed(f"/projects/{public.slug}/comparisons?baseline={first['id']}&contender={second['id']}")
    assert page.maps == 2
    assert "Each grid has its own range of colours" in page.text
    assert "Both grids have one range" not in page.text
    assert "No cell was tested" not in page.text
    assert ("in common" in page.text) == (apart == "metric")
    reason = "the grids have not the same axes" if apart == "axes" else "have no gap"
    assert reason in page.text
    assert {"80", "90", "2", "7"} <= set(page.texts)


def test_the_status_page_lists_what_is_pending_only_to_those_who_may_know(project: Project, visitor: Browser) -> None:
    project.house.compute()  # the page lists the oldest fifty, and others publish for everybody
    grid = project.published(model="a model of our own")
    reader = browser(project.house, project.tokens["reader"])
    assert "a model of our own" not in visitor.read("/status").text
    assert f"/grids/{grid['id']}" in reader.read("/status").links()
    project.house.compute()
    assert "a model of our own" not in reader.read("/status").text


def test_the_choice_of_dark_is_remembered(guest: Browser) -> None:
    before = guest.get("/")
    assert 'data-theme="auto"' in before.text
    answer = guest.post("/theme", {"theme": "dark", "back": "/status"})
    assert (answer.status_code, answer.headers["Location"]) == (303, "/status")
    after = guest.get("/", If_None_Match=before.headers["ETag"])
    assert after.status_code == 200
    assert 'data-theme="dark"' in after.text
    guest.post("/theme", {"theme": '"><script>'})
    assert 'data-theme="auto"' in guest.get("/").text


def test_benchmarks_with_repeats_have_their_noise_and_others_nothing(public: Project, visitor: Browser) -> None:
    path = f"/projects/{public.slug}/results?view=heatmaps&experiment=type-by-length"
    one = {"axes": [], "values": 70.0, "trials": 500}
    public.published(**one)
    assert "noise" not in visitor.read(path).ids
    public.published(**one, model="B", repeats=5, sd=4.0)
    public.published(**one, model="B", benchmark="Alone")
    page = visitor.computed(path)
    # sd 4 with 4 degrees of freedom: 4 sqrt(4 / 11.143) and 4 sqrt(4 / 0.48442).
    assert "noise" in page.ids
    assert "On Core Generalization one repeat varies by 4 points (95 % interval 2.4 to 11.5, 4 degrees of" in page.text
    assert "4 [2.4, 11]" in page.text or "4.0 [2.4, 11" in page.text
    assert "On Alone" not in page.text
    assert page.links("/noise?")


def test_style_sheets_and_scripts_are_compressed_for_who_takes_that(house: House) -> None:
    for name in ("pages.css", "palette.css", "pages.js", "icon.svg"):
        plain = house.call("GET", f"/assets/{name}")
        packed = house.call("GET", f"/assets/{name}", headers={"Accept-Encoding": "gzip"})
        assert packed.headers["Content-Encoding"] == "gzip"
        assert gzip.decompress(packed.data) == plain.data
        assert packed.headers["Vary"] == plain.headers["Vary"] == "Accept-Encoding"
        assert "Content-Encoding" not in plain.headers


@pytest.mark.unit
def test_an_indented_line_of_a_template_continues_the_line_before_it_and_none_is_endless() -> None:
    environment = Environment(extensions=[IndentedLinesContinue], autoescape=True)
    template = "<ul>\n  {% for n in numbers %}\n    <li>{{ n }}</li>\n  {% endfor %}\n </ul>\nand\nmore"
    assert environment.from_string(template).render(numbers=[1, 2]) == "<ul><li>1</li><li>2</li></ul>\nand\nmore"
    templates = (Path(registry.pages.__file__).parent / "templates").glob("*.html")
    longest = {path.name: max(map(len, path.read_text().splitlines())) for path in templates}
    assert longest
    assert {name: length for name, length in longest.items() if length > 260} == {}
