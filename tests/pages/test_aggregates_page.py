"""The page of a table: the form answers what it offers, holes are hatched, whiskers end where intervals do."""

import re

import pytest

from registry.pages.gates import forest_of, margins_of
from registry.results.alerts import FailingPlace
from registry.results.gates import PolicyKind
from tests.house import ACCURACY, Project, publication
from tests.pages.conftest import Browser

ASKED = "/projects/demo/aggregates?experiment=window-by-ratio&metric=Pass%401"
TABLE = "aggregates?experiment=e&metric=accuracy&group_by=model"


def test_the_table_is_models_by_benchmarks_with_intervals_and_what_was_left_out(guest: Browser) -> None:
    page = guest.computed(ASKED)
    assert (
        "Compared on the 32 of 80 slots that every entry of its column has; 48 slots with 48 measured cells left out."
        in page.text
    )
    assert re.search(r"R1-Qwen \d\d\.\d\d \d\d\.\d\d–\d\d\.\d\d 44\.91 4\d\.\d\d–4\d\.\d\d", page.text)
    tips = [given["title"] or "" for given in page.all("td") if given["class"] != "mean"]
    assert (len(page.all("td")), len(tips)) == (10, 8)
    assert all("95 % interval" in tip and "8 slots" in tip for tip in tips)


def test_a_heading_sorts_the_rows_by_its_column(public: Project, visitor: Browser) -> None:
    for model, benchmark, value in (("a", "x", 1.0), ("a", "y", 9.0), ("b", "x", 6.0), ("b", "y", 2.0)):
        public.published(experiment="e", model=model, benchmark=benchmark, axes=[], values=value, trials=None)

    def rows(path: str) -> list[str]:
        return [row["title"] for row in visitor.computed(path).all("th", scope="row")]

    start = f"/projects/{public.slug}/{TABLE}&group_by=benchmark"
    assert rows(start) == ["a", "b"]
    page = visitor.read(start)
    assert not page.links("sort=mean")
    [by_x], [by_name] = page.links("sort=x"), page.links("sort=name")
    assert (rows(by_x), rows(by_name)) == (["b", "a"], ["a", "b"])
    assert visitor.read(by_x).links("sort=mean")


def test_a_mean_over_fewer_slots_than_another_is_marked(public: Project, visitor: Browser) -> None:
    for model, benchmark, value in (
        ("a", "x", 1.0),
        ("a", "y", 9.0),
        ("b", "x", 6.0),
        ("b", "y", 2.0),
        ("c", "x", 8.0),
    ):
        public.published(experiment="e", model=model, benchmark=benchmark, axes=[], values=value, trials=None)
    public.published(experiment="e", model="a", benchmark="own", axes=[], values=7.0, trials=None)
    available = f"/projects/{public.slug}/{TABLE}&group_by=benchmark&missing=available"
    text = visitor.computed(available).text
    assert all(words in text for words in ("a 5.00 ", "b 4.00 ", "c 8.00* ", "* over fewer cells than other means"))
    given = f"{TABLE.replace('aggregates', 'aggregates.md')}&group_by=benchmark&missing=available"
    markdown = public.get(f"projects/{public.slug}/{given}").text
    assert "8.00*" in markdown.replace("\\", "")
    assert "* over fewer" not in visitor.computed(f"{available}&model=a&model=b").text
    told = "* adjusted: it lacks some of what the others have, for which least squares allow "
    for view in ("table", "ranking"):  # without noise no mean has an interval
        asked = f"/projects/{public.slug}/results?view={view}&experiment=e&metric=accuracy&set_aside=none"
        assert told in visitor.computed(asked).text, view


def test_a_ranking_above_a_table_says_over_which_slots_each_of_both_is(public: Project, visitor: Browser) -> None:
    values = {"a": (1.0, 9.0, 5.0), "b": (6.0, 2.0, 8.0), "c": (8.0,)}
    for model, several in values.items():
        for benchmark, value in zip("xyz", several, strict=False):
            public.published(experiment="e", model=model, benchmark=benchmark, axes=[], values=value, trials=None)
    table = f"/projects/{public.slug}/{TABLE}&set_aside=none"
    told = "This compares names on up to 3 slots, two on those that both have; "
    assert f"{told}the table below is over the 1 that all its entries have." in visitor.computed(table).text
    own = visitor.computed(f"{table}&missing=available").text
    assert f"{told.strip()} each entry of the table below is over its own." in own
    assert told not in visitor.computed(f"{table}&model=a&model=b").text
    for model in values:
        latency = {"name": "latency", "unit": "s", "direction": "lower"}
        public.published(experiment="e", model=model, benchmark="x", axes=[], values=3.0, trials=None, metric=latency)
    traded = f"/projects/{public.slug}/results?view=trade-off&experiment=e&metric=accuracy&set_aside=none"
    page = visitor.computed(traded).text
    assert f"{told}the picture below is over the 1 that all its points have." in page
    assert told not in visitor.computed(f"{traded}&model=a&model=b").text
    whole = visitor.computed(f"{table}&group_by=benchmark&model=a&model=b").text
    assert "All 3 slots were measured for every entry of their column" in whole


def test_axes_are_rows_and_columns_and_a_third_dimension_makes_several_tables(guest: Browser) -> None:
    page = guest.computed(f"{ASKED}&group_by=model&group_by=axis:Ratio&group_by=axis:Local%20Window%20Size")
    assert len(page.all("table")) == 2
    assert "model R1-Llama" in page.text
    assert len(page.all("td", **{"class": "bare"})) == 12
    assert "12 entries have no cell" in page.text
    single = guest.computed(f"{ASKED}&group_by=benchmark&over=model")
    assert "Mean of Pass@1 (%) by benchmark" in single.text
    assert len(single.all("td")) == 4


def test_single_scores_have_the_decimals_that_they_were_posted_with_and_pages_a_minus(
    public: Project, visitor: Browser
) -> None:
    """-31.6 and -30: one decimal each, their mean -30.8 two, as any mean of tens has."""
    metric = {"name": "logprob", "unit": "nats", "direction": "higher"}
    for benchmark, value in (("x", -31.6), ("y", -30)):
        for model in "ab":
            one = {"benchmark": benchmark, "model": model, "axes": [], "values": value, "trials": None}
            public.published(experiment="e", metric=metric, **one)
    asked = "experiment=e&metric=logprob&group_by=model&group_by=benchmark"
    page = visitor.computed(f"/projects/{public.slug}/results?view=table&{asked}")
    assert "a −30.80 −31.6 −30.0 b −30.80 −31.6 −30.0" in page.text
    assert not {"-30", "-31"} & {text[:3] for text in page.texts}
    rows = public.get(f"projects/{public.slug}/aggregates.csv?{asked}").text
    assert ",-31.6," in rows
    assert "−" not in rows


def test_what_was_measured_and_set_aside_is_not_hatched_and_a_table_shows_what_it_lacks(
    public: Project, visitor: Browser
) -> None:
    """c has 2 of the 4 lengths of x, and nothing of y."""
    for model, benchmark, count in (("a", "x", 4), ("a", "y", 4), ("b", "x", 4), ("b", "y", 4), ("c", "x", 2)):
        length = {"name": "Length", "kind": "numeric", "levels": list(range(count))}
        public.published(experiment="e", model=model, benchmark=benchmark, axes=[length], values=[50.0] * count)
    page = visitor.computed(f"/projects/{public.slug}/results?view=table&experiment=e&metric=accuracy")
    assert len(page.all("td", **{"class": "bare"})) == 1
    assert [one["title"] for one in page.all("td", **{"class": "alone"})] == [
        "c · x: measured, not compared, it has 2 of 4 slots"
    ]
    assert "Next: measure what c lacks: a table shows where cells are missing" in page.text
    [lacks] = page.links("#table")
    assert len(visitor.computed(lacks.removesuffix("#table")).all("td", **{"class": "bare"})) == 6
    markdown = public.get(
        f"projects/{public.slug}/{TABLE.replace('aggregates', 'aggregates.md')}&group_by=benchmark"
    ).text
    assert [one.split("|")[-3:-1] for one in markdown.splitlines() if one.startswith("| c")] == [[" — ", " · "]]


def test_nothing_shared_is_said_with_a_way_on(public: Project, visitor: Browser) -> None:
    for model, benchmark, value in (("a", "x", 50.0), ("b", "y", 60.0), ("b", "z", 60.0), ("c", "z", 1.0)):
        public.published(experiment="e", model=model, benchmark=benchmark, axes=[], values=value, trials=None)
    page = visitor.computed(f"/projects/{public.slug}/{TABLE}")
    assert "a lacks 1 of 1 slots, all of z" in page.text
    picture = TABLE.replace("aggregates", "aggregates.svg")
    drawn = public.get(f"projects/{public.slug}/{picture}").text
    assert ">measured, not compared<" in drawn
    assert "2 of 3 shown" in drawn
    page = visitor.computed(f"/projects/{public.slug}/{TABLE}&set_aside=none")
    assert "There is no table: no slot was measured for every entry." in page.text
    assert "Without a the others share 1 slot." in page.text
    assert not page.all("table")
    on = page.links("missing=available")[0]
    assert "not comparable" in visitor.computed(on).text


def test_wrong_questions_are_told(guest: Browser) -> None:
    for query, told in {
        "&group_by=axis:Nope": 'no grid of this experiment has the axis "Nope"',
        "&group_by=model&over=model": '"model" is grouped by already',
        "&model=nobody": 'no grid of this experiment has the model "nobody"',
        "&from=x": "is the number of a row, from 0",
        "&value=guess": "one of",
    }.items():
        guest.computed(ASKED)
        assert told in guest.read(ASKED + query, 422).text
    guest.read("/projects/demo/aggregates?experiment=nope&metric=Pass%401", 404)


def test_many_models_are_shown_some_rows_at_a_time_in_62_kb(public: Project, visitor: Browser) -> None:
    """1,225 cells or fewer are on one page: 30 rows of 40 tasks."""
    tasks = [{"name": "Task", "kind": "nominal", "levels": [f"task {j:02d}" for j in range(40)]}]
    common = {"experiment": "e", "metric": ACCURACY, "axes": tasks, "trials": None}
    grids = [
        publication(**common, model=f"model {i:03d}", values=[(7 * i + 3 * j) % 101 for j in range(40)])
        for i in range(36)
    ]
    assert public.call("POST", f"projects/{public.slug}/grids/batch", json=grids).get_json()["failed"] == 0
    start = f"/projects/{public.slug}/{TABLE}&group_by=axis:Task"
    visitor.computed(start)
    pages = list(visitor.follow(start))
    seen = [row["title"] for page in pages for row in page.all("th", scope="row")]
    means = {f"model {i:03d}": sum((7 * i + 3 * j) % 101 for j in range(40)) / 40 for i in range(36)}
    assert seen == sorted(means, key=lambda name: (-means[name], name))
    assert len(pages) == 2
    assert "Rows 31 to 36 of 36" in pages[-1].text
    assert pages[0].all("div", **{"data-rows": "30"}), "said at the foot of the box in which they scroll"
    assert len(visitor.get(start).data) <= 62_000


@pytest.mark.unit
def test_gaps_lie_on_one_scale_from_the_least_end_to_the_greatest() -> None:
    """-6 to 4 on 148 of 160 pixels are 14.8 a unit, from 6 on."""
    plot = forest_of([FailingPlace(gap=-4.0, low=-6.0, high=-2.0), FailingPlace(gap=4.0)], [-2.0])
    assert plot is not None
    first, second = plot.rows
    assert first is not None
    assert second is not None
    assert (first.low, first.x, first.high) == ("6.0", "35.6", "65.2")
    assert (second.low, second.x, second.high) == ("154.0", "154.0", "154.0"), "no noise is known"
    assert (plot.zero, plot.margins) == ("94.8", ["65.2"])
    assert plot.ends == ["\u22126.00", "4.00"]
    assert forest_of([FailingPlace()], []) is None


@pytest.mark.unit
@pytest.mark.parametrize(
    ("kind", "lower", "margins"),
    [
        ("non_inferior", False, [-2.0]),
        ("non_inferior", True, [2.0]),
        ("improves", False, [2.0]),
        ("improves", True, [-2.0]),
        ("equivalent", False, [-2.0, 2.0]),
        ("floor", False, []),
    ],
)
def test_the_margin_is_where_the_policy_turns(kind: PolicyKind, lower: bool, margins: list[float]) -> None:
    assert margins_of(kind, 2.0, lower) == margins
