"""Slices on pages: chosen in the form, kept in the links, said above the answer, cut out of the pictures."""

from datetime import datetime
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest

from registry.grids.grid import Axis, Level
from registry.pages.bar import days_ago
from registry.pages.choices import MOST_LEVELS, slice_lists
from tests.house import Project
from tests.pages.conftest import WINDOWS, Browser, Demo
from tests.workers.asking import join

RANKING = f"/projects/demo/rankings?{WINDOWS}"
PART = urlencode({"at.Local Window Size": "2000", "at.Ratio": "<=0.3"})


def test_a_ranking_is_asked_for_by_slice_in_its_form(guest: Browser) -> None:
    first, last = guest.read(RANKING).options("at.Local Window Size")
    assert [value for value, _ in first] == ["", ">=500", ">=1000", ">=2000", ">=3000"]
    assert [value for value, _ in last] == ["", "<=500", "<=1000", "<=2000", "<=3000"]
    assert not any(chosen for _, chosen in (*first, *last))
    page = guest.computed(f"{RANKING}&{urlencode({'at.Local Window Size': '>=2000', 'at.Ratio': ''})}")
    assert "Only Local Window Size at least 2000: nothing else is shown or counted." in page.text
    [model] = [one for one in page.links("view=heatmaps") if "model=R1-Qwen" in one]
    assert "Only Local Window Size at least 2000" in guest.read(model).text
    assert not guest.computed(RANKING).links("&model=R1-Qwen")
    first, last = page.options("at.Local Window Size")
    assert [value for value, chosen in first if chosen] == [">=2000"]
    data = page.links("/api/v1/projects/demo/rankings")
    assert data
    assert all("at.Local+Window+Size=" in link or "at.Local%20Window%20Size=" in link for link in data)
    # A condition that no list offers stays chosen.
    page = guest.computed(f"{RANKING}&at.Ratio=0.2&at.Ratio=0.4")
    first, _ = page.options("at.Ratio")
    assert [value for value, chosen in first if chosen] == ["0.2", "0.4"]
    assert "Only Ratio 0.2 or 0.4" in page.text


def test_a_comparison_of_a_slice_shows_its_cells_alone_and_leads_to_its_grids_at_that_slice(
    answered: Demo, guest: Browser
) -> None:
    whole, cut = guest.read(answered.pair), guest.computed(f"{answered.pair}&{PART}")
    assert "Only Local Window Size 2000, Ratio at most 0.3; nothing else is counted." in cut.text
    # Two maps and their difference: 4 windows and 5 ratios, then one window and three ratios.
    cells = [sum(given.get("title") is not None for given in page.all("td")) for page in (whole, cut)]
    assert cells == [3 * 20, 3 * 3]
    links = {link for link in cut.links() if link.startswith("/grids/")}
    assert {urlsplit(link).path for link in links} == {f"/grids/{one}" for one in answered.of_amc23.values()}
    for link in links:
        assert dict(parse_qsl(urlsplit(link).query)) == {"at.Local Window Size": "2000", "at.Ratio": "<=0.3"}
        assert "Only Local Window Size 2000, Ratio at most 0.3: nothing else is shown" in guest.read(link).text
    [by_name] = [link for link in cut.links() if "baseline_model=" in link and "/api/" not in link]
    asked = {"baseline_model": "R1-Qwen", "contender_model": "R1-Llama", "at.Ratio": "<=0.3"}
    assert asked.items() <= dict(parse_qsl(urlsplit(by_name).query)).items()


def test_heat_maps_of_a_slice_leave_what_else_may_be_best_to_the_pages_of_their_grids(
    demo: Demo, guest: Browser
) -> None:
    maps = f"/projects/demo/results?view=heatmaps&{WINDOWS}"
    there = "which others may be the best is on the page of each grid"
    whole, cut = guest.computed(maps).text, guest.computed(f"{maps}&{PART}")
    assert there not in whole
    assert cut.text.count(there) == 1
    assert "best is left open" not in cut.text
    [grid] = {one for one in cut.links() if one.startswith(f"/grids/{demo.of_amc23['R1-Qwen']}?")}
    assert "may be the best with 95 % confidence" in guest.computed(grid).text


def test_another_experiment_is_asked_what_it_has_and_the_rest_is_named(public: Project, visitor: Browser) -> None:
    """The bar is sent as a browser sends it, with and without scripts: `was` is the experiment that it was about."""
    for experiment, levels in (("one", [4000, 64_000, 128_000]), ("other", [64_000, 128_000, 512_000])):
        for model in ("a", "b", f"only {experiment}"):
            axes = [{"name": "Context", "kind": "numeric", "levels": levels}]
            public.published(experiment=experiment, model=model, axes=axes, values=[50.0, 40.0, 30.0])
    asked = {"view": "table", "was": "one", "experiment": "other", "metric": "accuracy", "since": "", "alpha": "0.01"}
    start = f"/projects/{public.slug}/results?{urlencode(asked)}"
    kept = f"{start}&at.Context=128000&model=a&model=b&group_by=model&group_by=axis:Context"
    page = visitor.opened(kept)
    assert parse_qsl(urlsplit(visitor.get(kept).location).query) == [
        ("view", "table"), ("experiment", "other"), ("metric", "accuracy"), ("alpha", "0.01"), ("at.Context", "128000"),
        ("model", "a"), ("model", "b"), ("group_by", "model"), ("group_by", "axis:Context"),
    ]  # fmt: skip
    assert "asked without" not in page.text
    lost = f"{start}&at.Context=<%3D4000&at.Context=>%3D4000&at.Depth=3&model=a&model=only one&x=metric:latency"
    told = visitor.computed(lost)
    assert "other has no Context at most 4000, Depth 3, model only one, x metric:latency: asked without." in told.text
    assert "Only Context at least 4000" in told.text
    assert not [link for link in told.links("view=") if "dropped" in link]
    # Levels of the only axis are no lines along it.
    of_lines = f"/projects/{public.slug}/results?view=lines&experiment=other&metric=accuracy"
    assert "axis:Context" not in dict(visitor.read(of_lines).options("by")[0])
    refused = visitor.read(f"{of_lines}&by=axis:Context", 422)
    assert "by is the only axis of these grids, and lines need another one to run along" in refused.text
    assert "by=" not in visitor.get(f"{of_lines}&was=one&by=axis:Context").location


def test_a_slice_that_is_not_there_is_told_with_what_there_is(demo: Demo, guest: Browser) -> None:
    grid = f"/grids/{demo.of_amc23['R1-Qwen']}"
    for path, told in {
        f"{RANKING}&at.Depth=1": 'axis "Depth"',
        f"{RANKING}&at.Ratio=0.35": 'no level "0.35"',
        f"{demo.pair}&at.Ratio=99": 'no level "99"; there are 0.1, 0.2',
        f"{grid}?at.Ratio=0.95": "there are 0.1, 0.2, 0.3, 0.4, 0.5",
        "/projects/demo/experiments/type-by-length?at.Length=%3E%3D1200": "at.Length",
    }.items():
        assert told in guest.read(path, 422).text


@pytest.mark.unit
def test_an_axis_of_words_has_one_list_and_one_with_too_many_levels_a_field() -> None:
    words = Axis("Task", "nominal", (Level("a"), Level("b")))
    single = Axis("Only", "nominal", (Level("a"),))
    many = Axis("Step", "numeric", tuple(Level(str(n), float(n)) for n in range(MOST_LEVELS + 1)))
    task, step = slice_lists([words, single, many], (("Step", (">=5",)), ("Task", ("b",))))
    assert [(one.value, one.chosen) for one in task.options] == [("a", False), ("b", True)]
    assert (step.options, step.typed, step.parameter) == ((), ">=5", "at.Step")
    assert step.nothing == f"a level, or >={MOST_LEVELS // 2}"


def test_the_page_of_a_grid_shows_a_slice_alone(demo: Demo, guest: Browser) -> None:
    """The best of all 20 cells is 88.5; of the 12 with ratios up to 0.3 it is 88.0, three times."""
    path = f"/projects/demo/grids/{demo.of_amc23['R1-Qwen']}"
    whole = guest.read(path)
    assert "20 cells measured" in whole.text
    assert "88.5" in whole.text
    _, last = whole.options("at.Ratio")
    assert [value for value, _ in last] == ["", "<=0.1", "<=0.2", "<=0.3", "<=0.4", "<=0.5"]
    page = guest.computed(f"{path}?at.Ratio=%3C%3D0.3")
    assert "Only Ratio at most 0.3: nothing else is shown or counted." in page.text
    assert "12 cells measured" in page.text
    assert "88.0" in page.text
    assert "88.5" not in page.text
    data = page.links("/api/v1/grids/")
    assert data
    assert all("at.Ratio=%3C%3D0.3" in link for link in data)


def test_the_only_series_of_a_slice_is_of_these_cells_and_its_p_value_has_one_name(
    public: Project, visitor: Browser
) -> None:
    axes = [{"name": "Length", "kind": "numeric", "levels": [1, 2, 3, 4, 5, 6, 7]}]
    grid = public.published(axes=axes, values=[95.0, 90.0, 80.0, 70.0, 60.0, 50.0, 40.0], trials=500)
    path = f"/grids/{grid['id']}"
    told = {path: "the whole grid 95 → 40 over 7", f"{path}?at.Length=%3E%3D2": "these cells 90 → 40 over 6"}
    for address, whose in told.items():
        page = visitor.computed(address)
        assert whose in page.text
        assert ", q <0.0001" in page.text
        assert ("these cells" in page.text) is ("at." in address)


def test_the_page_of_an_experiment_shows_a_slice_of_every_grid(guest: Browser) -> None:
    page = guest.computed("/projects/demo/experiments/type-by-length?at.Length=%3E%3D12")
    assert "Only Length at least 12: nothing else is shown or counted" in page.text
    pages = [link for link in page.links("/grids/") if "/api/" not in link]
    assert pages
    assert all("at.Length=%3E%3D12" in link for link in pages)


def test_heat_maps_write_names_as_the_other_views_do(public: Project, visitor: Browser) -> None:
    for benchmark, model in (("AIME24", "m"), ("AIME'24", "M"), ("GPQA", "M")):
        public.published(benchmark=benchmark, model=model, experiment="e")
    join(public, "benchmark", "AIME24", "AIME'24")
    join(public, "model", "m", "M")
    scope = urlencode({"view": "heatmaps", "experiment": "e", "metric": "accuracy"})
    page = visitor.computed(f"/projects/{public.slug}/results?{scope}")
    assert len(page.all("section", **{"aria-label": "M · Baseline"})) == 1
    assert "M · Baseline AIME'24 " in page.text
    assert page.text.count("AIME24") == 0


def test_heat_maps_of_an_instant_have_the_grids_as_they_were(public: Project, visitor: Browser) -> None:
    for model, value in (("old", 11.25), ("other", 33.5)):
        then = public.published(model=model, axes=[], values=value)["updated_at"]
    for model, value in (("old", 22.75), ("new", 55.25)):
        public.published(model=model, axes=[], values=value)
    scope = {"view": "heatmaps", "experiment": "type-by-length", "metric": "accuracy"}
    for asked, shown in (({}, ["22.75", "33.5", "55.25"]), ({"as_of": then}, ["11.25", "33.5"])):
        page = visitor.computed(f"/projects/{public.slug}/results?{urlencode(scope | asked)}").text
        assert [one for one in ("11.25", "22.75", "33.5", "55.25") if one in page] == shown
    page = visitor.computed(f"/projects/{public.slug}/results?{urlencode(scope | {'as_of': then})}")
    assert ["revision=1" in link for link in page.links("/grids/")] == [True, False]
    written = f"{datetime.fromisoformat(then):%-d %b %Y, %H:%M} UTC"  # as all instants on pages
    assert f"As of {written}: what was published later" in page.text
    assert page.text.startswith(f"Heat maps of type-by-length by accuracy, as of {written}")
    assert f"s of {then[:4]}" not in page.text
    table = visitor.computed(f"/projects/{public.slug}/results?{urlencode(scope | {'view': 'table', 'as_of': then})}")
    assert f"as of, in UTC {then[:4]}" not in table.text
    text = public.get(
        f"projects/{public.slug}/rankings.txt?{urlencode(scope | {'as_of': then})}".replace("view=heatmaps&", "")
    )
    assert f"accuracy in type-by-length, as of {written}\n" in text.text
    assert not page.links("/grids?"), "a list of grids has those of now"


def test_heat_maps_of_a_suite_have_the_levels_of_each_benchmark_and_models_in_the_order_of_their_names(
    public: Project, visitor: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("registry.pages.heatmaps.MOST_PANELS", 3)
    axes = [{"name": "Length", "kind": "numeric", "levels": [1, 2, 3]}]
    for model, benchmark in (("a", "A"), ("m", "A"), ("z", "B"), ("z", "A"), ("n", "A")):
        values = [31.25, 42.25, 53.25] if benchmark == "B" else [61.75, 62.75, 63.75]
        public.published(model=model, benchmark=benchmark, axes=axes, values=values, trials=None)
    join(public, "model", "z", "b")
    suite = {"benchmarks": ["A", "B@Length=>=3"]}
    assert public.call("PUT", f"projects/{public.slug}/suites/s", json=suite).status_code == 201
    scope = urlencode({"view": "heatmaps", "experiment": "type-by-length", "metric": "accuracy", "suite": "s"})
    page = visitor.computed(f"/projects/{public.slug}/results?{scope}")
    assert "B only Length at least 3" in page.text
    assert [one for one in ("31.25", "42.25", "53.25", "61.75") if one in page.text] == ["53.25", "61.75"]
    [cut] = page.links("at.Length=%3E%3D3")
    assert "31.25" not in visitor.read(cut).text
    # So leads an entry of a table, and a benchmark that is a row of one.
    for asked in ("model&group_by=benchmark", "benchmark&group_by=model"):
        table = f"/projects/{public.slug}/results?{scope.replace('heatmaps', 'table')}&group_by={asked}"
        entries = visitor.computed(table).links("benchmark=B&")
        assert entries
        assert all("at.Length=%3E%3D3" in one and "suite" not in one for one in entries)
        found = visitor.computed(entries[0]).text
        assert [one for one in ("31.25", "42.25", "53.25", "61.75") if one in found] == ["53.25"]
    assert [given["aria-label"] for given in page.all("section") if "Baseline" in given.get("aria-label", "")] == [
        "a · Baseline",
        "b · Baseline",
    ]
    [following] = set(page.links("cursor="))
    page = visitor.computed(following)
    assert [given["aria-label"] for given in page.all("section") if "Baseline" in given.get("aria-label", "")] == [
        "m · Baseline",
        "n · Baseline",
    ]
    assert "Grids 4 to 5 of 5" in page.text


def test_the_bar_takes_an_hour_and_shows_it_again(public: Project, visitor: Browser) -> None:
    public.published(axes=[], values=1.0)
    scope = {"view": "ranking", "experiment": "type-by-length", "metric": "accuracy"}
    for sent, shown in {
        "2026-01-02": "2026-01-02T00:00",
        "2026-01-02T14:30": "2026-01-02T14:30",
        "2026-01-02T14:30:05Z": "2026-01-02T14:30:05",
        "2026-01-02T15:30:00+01:00": "2026-01-02T14:30",
    }.items():
        asked = urlencode(scope | {"as_of": sent, "since": "2025-12-31T08:00"})
        page = visitor.read(f"/projects/{public.slug}/results?{asked}", 404)  # nothing was there yet
        fields = {one["name"]: one["value"] for one in page.all("input", type="datetime-local")}
        assert fields == {"as_of": shown, "since": "2025-12-31T08:00"}
        for view in ("table", "lines", "heatmaps"):  # which know no instant before, unlike the ranking above them
            asked = urlencode(scope | {"view": view, "since": sent})
            page = visitor.read(f"/projects/{public.slug}/results?{asked}", 422 if view == "lines" else 200)
            assert [one["value"] for one in page.all("input", name="since")] == [shown], view
    exact = urlencode(scope | {"as_of": "2026-01-02T14:30:05.000001Z"})
    page = visitor.read(f"/projects/{public.slug}/results?{exact}", 404)
    assert page.all("input", name="as_of")[0]["value"] == "2026-01-02T14:30:05.000001Z"


def test_every_view_with_a_ranking_above_it_says_what_changed_since(public: Project, visitor: Browser) -> None:
    axes = [{"name": "x", "kind": "numeric", "levels": [1, 2]}]
    for model, values in (("old", [80.0, 81.0]), ("other", [60.0, 61.0])):
        then = public.published(model=model, axes=axes, values=values, trials=300)["updated_at"]
    public.published(model="new", axes=axes, values=[90.0, 91.0], trials=300)
    scope = {"experiment": "type-by-length", "metric": "accuracy"}
    for view in ("ranking", "table", "lines", "heatmaps"):
        address = f"/projects/{public.slug}/results?{urlencode({'view': view} | scope)}"
        assert [one["value"] for one in visitor.computed(address).all("input", name="since")] == [""], view
        page = visitor.computed(f"{address}&{urlencode({'since': then})}")
        assert "What changed" in page.text, view
        assert "new is new, " in page.text, view
        assert "must be before as_of" in visitor.read(f"{address}&since={then[:19]}Z&as_of={then[:19]}Z", 422).text
    assert not visitor.computed(address.replace("heatmaps", "compare")).all("input", name="since")
    # One click asks for less, and for an instant before the one that is asked about.
    assert [(one["value"], "aria-pressed" in one) for one in page.all("button", name="at.x")] == [
        ("", True), (">=2", False)
    ]  # fmt: skip
    assert len(page.all("button", name="since")) == 5
    early = visitor.computed(f"{address}&as_of={days_ago(40)}")
    assert [one["value"] for one in early.all("button", name="since")] == ["", days_ago(90), days_ago(365)]


def test_the_grids_of_a_suite_are_listed_by_its_benchmarks(public: Project, visitor: Browser) -> None:
    for benchmark in ("A", "B", "C"):
        public.published(benchmark=benchmark)
    assert public.call("PUT", f"projects/{public.slug}/suites/s", json={"benchmarks": ["A", "B"]}).status_code == 201
    scope = urlencode({"view": "heatmaps", "experiment": "type-by-length", "metric": "accuracy", "suite": "s"})
    [link] = visitor.computed(f"/projects/{public.slug}/results?{scope}").links(
        "/api/v1/projects/" + public.slug + "/grids?"
    )
    found = visitor.get(link).get_json()["items"]
    assert sorted(one["benchmark"] for one in found) == ["A", "B"]
