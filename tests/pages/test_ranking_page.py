"""The page of a ranking: the form offers only what can be answered, and hundreds of names stay readable."""

import re
from typing import Any
from urllib.parse import urlencode

import pytest

from registry.pages.drawings import RAIL, bars_of
from tests.house import Project, publication
from tests.pages.conftest import WINDOWS, Browser, Demo
from tests.registry.renderings.documents import read_ranking

RANKINGS = "/projects/demo/rankings"


def test_rank_models_leads_to_what_can_be_ranked_and_each_of_it_is_answered(guest: Browser) -> None:
    links = guest.read(RANKINGS).links("view=ranking&experiment=")
    assert len(links) == 3  # the demonstration has three experiments of one metric each
    for link in links:
        assert guest.get(link).status_code == 200, link
    led = guest.get(f"{RANKINGS}?experiment=window-by-ratio")
    assert led.headers["Location"].endswith("results?view=ranking&experiment=window-by-ratio&metric=Pass%401")
    # Another experiment with one metric is answered by that metric.
    answer = guest.get(f"{RANKINGS}?experiment=size-by-progress&metric=Pass@1")
    assert answer.status_code == 303
    assert "metric=Pass%401" not in answer.headers["Location"]
    assert guest.get(answer.headers["Location"]).status_code == 200


def test_an_experiment_with_several_metrics_offers_its_own_and_its_own_names(public: Project, visitor: Browser) -> None:
    for experiment, metric, model in (one.split() for one in ("one a m", "one b m", "two c m", "two c n", "two d o")):
        public.published(
            experiment=experiment, model=model, metric={"name": metric, "direction": "higher"}, trials=None
        )
    path = f"/projects/{public.slug}/rankings?experiment=two"
    page = visitor.read(f"{path}&metric=a", 404)
    assert 'No grid of "two" has the metric "a"; there are c, d.' in page.text
    assert [value for value, _ in page.options("metric")[0]] == ["c", "d", "a"]
    asked = visitor.read(f"{path}&metric=c&model=o", 422)
    assert 'has the model "o"; there are m, n' in asked.text
    # Of a metric the bar counts what this has, of a trade-off what both may have.
    public.published(experiment="two", model="p", metric={"name": "e"}, trials=None, axes=[], values=1.0)
    counts = {}
    for view in ("table&metric=c", "table&metric=e", "trade-off&metric=e"):
        page = visitor.read(f"/projects/{public.slug}/results?view={view}&experiment=two")
        counts[view] = [one["value"] for one in page.all("input", name="model")], bool(page.links("view=lines"))
    assert counts == {
        "table&metric=c": (["m", "n"], True), "table&metric=e": ([], False), "trade-off&metric=e": ([*"mnop"], True)
    }  # fmt: skip


def test_the_bar_offers_what_its_method_has_an_order_for_and_drops_the_rest(guest: Browser) -> None:
    of_all = ["", "available", "complete", "worst"]
    offered = {"mean": of_all, "win_rate": [*of_all, "zero_votes"], "borda": [*of_all, "zero_votes", "zero_points"]}
    for asked, policies in offered.items():
        found = guest.read(f"{RANKINGS}?{WINDOWS}&method={asked}").options("missing")
        assert [value for value, _ in found[0]] == policies, asked
    by = {"ranking&target=new_questions": [], "lines&target=new_questions": ["benchmark"], "trade-off": []}
    for asked, wanted in by.items():
        [found] = guest.read(f"/projects/demo/results?view={asked}&{WINDOWS}").options("by")
        assert [value for value, _ in found if not value.startswith("axis:")] == ["", "variant", *wanted], asked
    [found] = guest.read(f"{RANKINGS}?{WINDOWS}&by=benchmark").options("target")
    assert [value for value, _ in found] == [""]
    of_lines = guest.read(f"/projects/demo/results?view=lines&{WINDOWS}&by=benchmark&target=new_questions")
    assert [guest.opened(one).status_code for one in of_lines.links("view=ranking")] == [200]
    wrong = guest.read(f"{RANKINGS}?{WINDOWS}&missing=zero_points", 422)
    told = "This cannot be answered: missing : Zero points are of Borda's count alone; ask with the method Borda."
    assert told in wrong.text
    sent = "view=ranking&was=window-by-ratio&missing=zero_points"
    kept = guest.get(f"/projects/demo/results?{WINDOWS}&{sent}&method=borda")
    assert "missing=zero_points" in kept.location
    led = guest.get(f"/projects/demo/results?{WINDOWS}&{sent}&method=mean")
    assert "missing=" not in led.location
    assert "has no order by mean with zero points: asked without." in guest.read(led.location).text


def test_a_wrong_name_keeps_the_form_and_names_the_right_ones(guest: Browser) -> None:
    benchmarks = "AIME'24, AIME'25, AMC23, GPQA_D"  # as aliases join them
    for query, told in {
        "benchmark=NOPE": f'has the benchmark "NOPE"; there are {benchmarks}',
        "benchmark=AMC23,GPQA_D": 'has the benchmark "AMC23,GPQA_D"',
        "model=NOPE": 'has the model "NOPE"; there are R1-Llama, R1-Qwen',
        "by=axis:ratio": 'axis "ratio"; did you mean "Ratio"; there are Ratio, Local Window Size',
        "model=R1-Qwen&model=NOPE": 'has the model "NOPE"; there are R1-Llama, R1-Qwen',
        "model=R1-Qwen&by=axis:nope": 'axis "nope"; there are Local Window Size, Ratio',
        "method=guess": "This cannot be answered: method must be one of",
    }.items():
        page = guest.read(f"{RANKINGS}?{WINDOWS}&{query}", 422)
        assert told in page.text
        assert "no better end" not in page.text
        assert {"metric", "by", "method", "target"} <= {given.get("name") for given in page.all("select")}
    assert guest.read(f"{RANKINGS}?experiment=nothing&metric=Pass@1", 404).all("select", name="experiment")
    for view in ("compare", "trade-off"):
        page = guest.read(f"/projects/demo/results?view={view}&{WINDOWS}&at.Ratio=>%3D0.5&at.Ratio=<%3D0.1", 422)
        assert "has no level that is at most 0.1 and at least 0.5 at once" in page.text, view
    led = guest.get("/projects/demo/results?view=ranking&experiment=window-by-ratio&metric=nope").location
    assert "window-by-ratio has no metric nope: asked without, by Pass@1." in guest.read(led).text


def test_the_page_says_what_the_text_says_about_stability(answered: Demo, guest: Browser) -> None:
    page = guest.read(path := f"{RANKINGS}?{WINDOWS}")
    assert "one benchmark less" in page.text
    # What a column's word means is said once, where the word opens it; paper has it as a note.
    assert page.text.count("of two names each scores half of their difference") == 1
    notes = re.findall(r'<li(?: class="(paper)")?><button[^>]+>([^<]+)</button>:', guest.get(path).text)
    assert {("paper", "rank range"), ("paper", "group"), ("paper", "score"), ("", "tau")} <= set(notes)
    assert guest.get(page.links("/models/R1-Qwen")[0]).status_code == 200


def test_results_of_the_only_experiment_open_on_the_view_that_suits_its_axes(public: Project, visitor: Browser) -> None:
    public.published(axes=[{"name": "Step", "kind": "numeric", "levels": [1, 2, 3]}], values=[1.0, 2.0, 3.0])
    page = visitor.computed(f"/projects/{public.slug}/results")
    assert "view=lines" in page.all("a", **{"aria-current": "page"})[-1]["href"]


@pytest.mark.unit
def test_no_link_is_offered_that_can_only_fail_and_a_refusal_links_what_it_needs(
    public: Project, visitor: Browser
) -> None:
    for model, benchmarks in (("A", "xyz"), ("B", "xyz"), ("C", "xy")):
        for benchmark in benchmarks:
            single = {"experiment": "single", "axes": [], "values": float(ord(model) + ord(benchmark) - 140)}
            public.published(model=model, benchmark=benchmark, **single)
    public.published(model="A")
    pages = f"/projects/{public.slug}"
    for experiment, first in (("single", "table"), ("type-by-length", "heatmaps")):
        page = visitor.computed(f"{pages}/experiments/{experiment}")
        assert page.all("a", **{"aria-current": "page"})[-1]["href"].partition("view=")[2].startswith(first)
        assert bool(page.links("view=lines")) == (first != "table")
    page = visitor.computed(f"{pages}/rankings?experiment=single&metric=accuracy&method=borda&set_aside=none")
    assert "Nothing is ranked" in page.text
    [link] = [one for one in page.links("missing=complete") if "/api/" not in one]
    assert "Nothing is ranked" not in visitor.computed(link).text


def test_bars_and_dots_stay_within_the_box_for_any_number_of_names() -> None:
    for count in (1, 2, 20, 44, 45, 60, 300):
        rows: list[dict[str, Any]] = [
            {"rank": n + 1, "rank_low": n + 1, "rank_high": n + 1, "name": str(n), "score": 0.0} for n in range(count)
        ]
        rows[0]["rank_high"] = count
        for bar in bars_of(read_ranking({"ranking": rows, "method": "mean"})):
            x, wide, dot, size = (float(text) for text in (bar.x, bar.wide, bar.dot, bar.size))
            assert x >= 0
            assert wide > 0
            assert x + wide <= RAIL + 0.2
            assert x - 0.2 <= dot - size
            assert dot + size <= x + wide + 0.2


def test_above_thirty_names_the_pairs_of_one_name_are_shown(public: Project, visitor: Browser) -> None:
    many = [
        publication(model=f"m{number:02}", axes=[{"name": "x", "kind": "nominal", "levels": ["a", "b"]}],
                    values=[40.0 + number, 50.0 + number])
        for number in range(34)
    ]  # fmt: skip
    public.call("POST", f"projects/{public.slug}/grids/batch", json=many)
    path = f"/projects/{public.slug}/rankings?experiment=type-by-length&metric=accuracy"
    page = visitor.computed(path)
    assert "There are 561 pairs." in page.text  # 34 times 33, halved
    assert "Holm p over every tested pair of all" in visitor.read(f"{path}&pairs_of=m07").text
    rows = visitor.get(f"{path}&pairs_of=m07").text.split('id="pairs"')[1].split("<tbody>")[1].split("</tbody>")[0]
    assert rows.count("<tr>") == 33
    assert all("m07" in row for row in rows.split("</tr>")[:-1])
    assert len(page.attributes) < 120 * 34
    # Of thirty each square leads to the two.
    thirty = visitor.computed("&".join([path, *(f"model=m{number:02}" for number in range(30))]))
    squares = [one for one in thirty.links("view=compare&") if "contender_model" in one]
    assert len(squares) >= 30 * 29
    assert not re.search(r'(width|r)="-', visitor.get(path).text)


def test_a_project_without_grids_and_an_experiment_with_one_model_end_in_no_dead_end(
    public: Project, visitor: Browser
) -> None:
    path = f"/projects/{public.slug}/rankings"
    assert "nothing to show" in visitor.read(path).text
    public.published(metric={"name": "size", "direction": None}, trials=None)
    answer = visitor.get(path)
    assert answer.status_code == 303  # there is one thing to ask
    assert "Nothing is ranked" in visitor.computed(answer.headers["Location"]).text


def test_the_page_of_very_many_names_shows_the_first_ones_and_says_so(
    public: Project, visitor: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("registry.pages.ranking.MOST_ROWS", 2)
    for model, value in (("alpha", 90.0), ("beta", 80.0), ("gamma", 70.0)):
        public.published(experiment="single", axes=[], model=model, values=value)
    page = visitor.computed(f"/projects/{public.slug}/rankings?experiment=single&metric=accuracy")
    assert "names after the first 2 of 3 (the JSON and the CSV have all)" in page.text
    assert [bool(page.links(f"models/{name}")) for name in ("alpha", "beta", "gamma")] == [True, True, False]


def test_a_name_without_a_cell_of_a_slice_is_left_out_and_the_others_are_ranked(
    public: Project, visitor: Browser
) -> None:
    axes = [{"name": "Context", "kind": "numeric", "levels": [4000, 64000, 128000]}]
    for model, values in (("best", [90, 80, 70]), ("next", [80, 70, 50]), ("short", [85, 75, None])):
        public.published(model=model, axes=axes, values=values, trials=1000)
    scope = urlencode({"experiment": "type-by-length", "metric": "accuracy", "at.Context": ">=128000"})
    page = visitor.computed(f"/projects/{public.slug}/rankings?{scope}")
    assert "best is better than next by 20.0 points" in page.text
    assert "parts that share no slot" not in page.text
    assert "short (has no cell here)" in page.text
    text = public.get(f"projects/{public.slug}/rankings.txt?{scope}").text
    assert "best is better than next by 20.0 points" in text
    assert "left out: short (has no cell here)" in text


def test_single_numbers_say_why_nothing_could_be_shown_and_a_suite_is_in_the_title(
    public: Project, visitor: Browser
) -> None:
    for model, value in (("a", 1.0), ("b", 2.0), ("c", 3.0)):
        public.published(experiment="e", model=model, benchmark="x", axes=[], values=value, trials=None)
    suite = public.call("PUT", f"projects/{public.slug}/suites/core", json={"benchmarks": ["x"]})
    assert suite.status_code in (200, 201)
    address = f"/projects/{public.slug}/results?view=ranking&experiment=e&metric=accuracy&suite=core"
    page = visitor.computed(address)
    assert "no pair was tested, for the noise of some common cell is not known" in page.text
    assert page.text.startswith("Ranking of e by accuracy, suite core")
    assert 'title = "{Ranking of e by accuracy, suite core}"' in page.text
    questions = visitor.computed(f"{address}&target=new_questions").text
    assert ("no pair was tested" in questions, "not tested" in questions, "not separated" in questions) == (
        True, True, False,
    )  # fmt: skip


def test_a_trade_off_without_another_quantity_leads_to_experiments_that_have_one(
    public: Project, visitor: Browser
) -> None:
    priced = {"name": "price", "direction": "lower"}
    public.published(experiment="lone", axes=[], values=1.0, trials=None)
    public.published(experiment="priced", axes=[], values=1.0, trials=None)
    public.published(experiment="priced", axes=[], values=2.0, trials=None, metric=priced)
    page = visitor.read(f"/projects/{public.slug}/results?view=trade-off&experiment=lone&metric=accuracy")
    assert "publish another metric of these names in this experiment" in page.text
    assert page.links("view=trade-off&experiment=priced")


def test_intervals_have_one_level_and_what_the_pairs_could_show_is_said_by_what_it_is(
    public: Project, visitor: Browser
) -> None:
    """Of 3 pairs 2 are shown, at 1 - 0.05 x 2 / 3 = 0.96667: so many of those picked miss as of all at 0.95."""
    for model, value in (("A", 90.0), ("B", 50.0), ("C", 49.0)):
        public.published(experiment="e", benchmark="b", model=model, axes=[], values=value, trials=1000)
    page = visitor.computed(f"/projects/{public.slug}/results?view=ranking&experiment=e&metric=accuracy")
    assert page.text.count("interval of a pair: 95 %; wider where something is shown") == 1
    assert "by 40.0 points (95 % interval" in page.text
    assert "96.67" not in page.text
    assert "could show (Holm)" in page.text
    pair = "view=compare&experiment=e&metric=accuracy&contender_model=B&baseline_model=C"
    assert "could show (Holm)" not in visitor.computed(f"/projects/{public.slug}/results?{pair}").text
