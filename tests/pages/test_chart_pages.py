"""The pages of lines and of trade-offs: the picture, the same numbers as a table, the form, and how one gets there."""

import re
from urllib.parse import urlencode

from tests.house import Project
from tests.pages.conftest import Browser, Demo, browser
from tests.workers.asking import now

WINDOWS = {"experiment": "window-by-ratio", "metric": "Pass@1"}
TYPES = {"experiment": "type-by-length", "metric": "accuracy", "by": "axis:Type", "model": "Qwen-2.5 3B"}
LINES = "/projects/demo/lines"
TRADED = "/projects/demo/trade-offs"
OPENED = "view=trade-off&experiment=type-by-length&metric=accuracy"


def test_the_page_draws_lines_and_has_their_numbers(demo: Demo, guest: Browser) -> None:
    page = guest.computed(f"{LINES}?{urlencode(TYPES)}")
    assert page.all("circle")
    assert "accuracy (%) along Length : 7 levels of Type" in page.text
    first = demo.answer(f"{LINES}?{urlencode(TYPES)}")["lines"][0]["points"][0]
    assert f"{first['mean']:.1f}" in page.text
    assert "Whiskers: 95 % intervals" in page.text


def test_the_page_holds_the_picture_for_screen_phone_and_paper_and_its_downloads_ask_what_it_asked(
    guest: Browser,
) -> None:
    path = f"{LINES}?{urlencode(WINDOWS | {'at.Ratio': '>=0.2', 'missing': 'available'})}"
    page = guest.computed(path)
    assert [one["width"] for one in page.all("svg") if one.get("aria-labelledby")] == ["1000", "360", "700"]
    links = page.links("/api/v1/")
    assert [link.partition("?")[0].rpartition("/")[2] for link in links] == [
        "lines", "lines.csv", "lines.txt", "lines.svg", "lines.png", "lines.vl.json",
    ]  # fmt: skip
    for link in links:
        assert guest.get(link).status_code == 200, link
        assert "at.Ratio" in link
    assert guest.get(path, If_None_Match=guest.get(path).headers["ETag"]).status_code == 304


def test_lines_of_grids_that_share_no_slot_lead_to_heat_maps_and_what_a_name_lacks_to_the_table(
    public: Project, visitor: Browser
) -> None:
    for model, benchmark in ("ax", "by", "cx", "cy", "dx", "ey"):
        public.published(experiment="e", model=model, benchmark=benchmark, trials=200)
    asked = f"/projects/{public.slug}/results?view=lines&experiment=e&metric=accuracy"
    page = visitor.computed(f"{asked}&model=a&model=b")
    assert "2 models. Each grid by itself" in page.text
    assert "No two models share a slot: each is over its own cells, and they are not compared." in page.text
    page = visitor.computed(f"{asked}&model=a&model=b&model=d&model=e")
    assert "These grids share too few cells for lines. Heat maps show each by itself" in page.text
    assert "model=a&model=b" in page.links("view=heatmaps")[-1]
    assert not [one for one in page.all("svg") if one.get("aria-labelledby")]
    public.published(experiment="e", model="b", benchmark="x", trials=200)
    page = visitor.computed(f"{asked}&model=a&model=b&model=c")
    assert "Next: measure what a lacks: a table shows where cells are missing" in page.text
    assert page.links("#table")[0].startswith(f"/projects/{public.slug}/results?view=table&experiment=e")


def test_who_lacks_a_level_everywhere_is_among_those_that_lack_something(public: Project, visitor: Browser) -> None:
    """One level of six costs the others too little for c to be set aside, and d lacks a benchmark."""
    axis = {"name": "Length", "kind": "numeric", "levels": [1, 2, 3, 4, 5, 6]}
    for model, last, benchmarks in (("a", 50, "xyz"), ("b", 40, "xyz"), ("c", None, "xyz"), ("d", 30, "xy")):
        for benchmark in benchmarks:
            values = [60, 60, 60, 60, 60, last]
            public.published(experiment="e", model=model, benchmark=benchmark, axes=[axis], values=values, trials=200)
    page = visitor.computed(f"/projects/{public.slug}/results?view=ranking&experiment=e&metric=accuracy")
    assert "Next: measure what c and d lack: a table shows where cells are missing" in page.text
    [table] = page.links("#table")[:1]
    hatched = visitor.computed(table.partition("#")[0]).all("td", **{"class": "bare"})
    assert len(hatched) == 3 + 6, "c on three benchmarks, d on one of six levels"


def test_the_form_asks_for_what_is_missing_and_what_is_wrong_keeps_it(guest: Browser) -> None:
    assert "Results of what?" in guest.read(LINES).text
    lone = guest.get(f"{LINES}?experiment=window-by-ratio")
    assert (lone.status_code, "metric=Pass%401" in lone.location) == (303, True)
    page = guest.read(f"{LINES}?{urlencode(WINDOWS | {'along': 'Depth'})}", 422)
    assert "there are Local Window Size, Ratio" in page.text
    assert page.all("select", name="along")
    asked = guest.read(f"{LINES}?{urlencode(WINDOWS | {'along': 'Ratio'})}")
    assert [value for value, _ in asked.options("by")[0]] == ["", "variant", "benchmark", "axis:Local Window Size"]
    of_levels = guest.read(f"{LINES}?{urlencode(WINDOWS | {'by': 'axis:Ratio'})}")
    assert [value for value, _ in of_levels.options("along")[0]] == ["", "Local Window Size"]
    assert 'no grid of an experiment "x"' in guest.read(f"{LINES}?experiment=x&metric=y", 404).text
    assert (
        "This cannot be answered: y "
        in guest.read(f"{TRADED}?experiment=window-by-ratio&x=label:a&y=label:b", 422).text
    )
    assert guest.get(f"{LINES}?{urlencode(WINDOWS | {'at.Depth': '1'})}").status_code == 422


def test_a_trade_off_of_two_slices(guest: Browser) -> None:
    query = {"experiment": "window-by-ratio", "x": "metric:Pass@1", "metric": "Pass@1"}
    page = guest.computed(f"{TRADED}?{urlencode(query | {'x.at.Ratio': '0.1', 'at.Ratio': '0.5'})}")
    assert page.text.startswith(
        "Trade-off of Pass@1 against Pass@1 in window-by-ratio at Ratio 0.5 on the vertical axis, Ratio 0.1 on the"
    )
    assert "Only Ratio 0.5 on the vertical axis, Ratio 0.1 on the horizontal axis: nothing else" in page.text
    assert "Pass@1 (%), Ratio 0.5 against Pass@1 (%), Ratio 0.1" in page.text
    assert "on the front" in page.text


def test_as_of_an_instant_the_usual_quantity_is_one_that_there_was(public: Project, visitor: Browser) -> None:
    for model in "abc":
        public.published(model=model)
    then = now(public)
    for model in "abc":
        public.published(model=model, trials=None, metric={"name": "Latency", "unit": "s", "direction": "lower"})
    address = f"/projects/{public.slug}/results?{OPENED}"
    page = visitor.computed(f"{address}&x=metric:Latency&y.at.Length=0")
    assert "accuracy (%), Length 0 against Latency" in page.text
    # Lines have a scale by the name of this quantity, and keep both.
    [lines] = page.links("view=lines")
    assert any("x=metric%3ALatency&y.at.Length=0" in one for one in visitor.computed(lines).links("view=trade-off"))
    assert "Choose a horizontal quantity" in visitor.read(f"{address}&{urlencode({'as_of': then})}").text


def test_who_has_no_point_is_said_once_and_small(public: Project, visitor: Browser) -> None:
    """Of five models one has no latency, and one no accuracy."""
    latency = {"name": "Latency", "unit": "s", "direction": "lower"}
    for model in "abcde":
        if model != "e":
            public.published(model=model)
        if model != "d":
            public.published(model=model, trials=None, metric=latency)
    address = f"/projects/{public.slug}/results?{OPENED}"
    assert visitor.computed(address).text.count("Without a point") == 1
    told = re.findall(r'<p class="notes">Without a point: ([^<]*)</p>', visitor.get(address).text)
    assert told == ["d (has no cell of Latency); e (has no cell of accuracy)."]


def test_labels_are_offered_after_metrics_and_those_that_say_nothing_of_a_model_last(
    public: Project, visitor: Browser
) -> None:
    """A size is one number for each model; a seed is several for one, and two numbers are no course."""
    for n, model in enumerate("abc"):
        for benchmark in range(2):
            labels = {"seed": str(7 * n + benchmark), "params": f"{n + 1}b", "host": "n1", "batch": str(n % 2)}
            public.published(model=model, benchmark=f"b{benchmark}", labels=labels)
    text = visitor.opened(f"/projects/{public.slug}/trade-offs?experiment=type-by-length").text
    [select] = re.findall(r'<select name="y">(.*?)</select>', text, re.DOTALL)
    assert re.findall(r"<option[^>]*>([^<]*)", select) == [
        "the metric", "accuracy", "params (label, 3 numbers)", "batch (label, 2 numbers)", "seed (label, 6 numbers)",
    ]  # fmt: skip
    # The first of them is drawn until another one is chosen.
    assert "accuracy (%) against params" in visitor.computed(f"/projects/{public.slug}/results?{OPENED}").text


def test_a_private_project_shows_its_pictures_to_who_is_signed_in_alone(project: Project, visitor: Browser) -> None:
    for model in ("one", "other"):
        project.published(model=model)
    path = f"/projects/{project.slug}/lines?experiment=type-by-length&metric=accuracy"
    assert visitor.get(path).status_code == 401
    reader = browser(project.house, project.tokens["reader"])
    links = reader.computed(path).links("/data/")
    assert len(links) == 6
    assert all(reader.get(link).status_code == 200 for link in links)
