"""The overview of a project: what its results amount to, what does not hold, and what is new; and where it stands."""

import re

from tests.house import House, Project
from tests.pages.conftest import Browser, Demo, browser, share
from tests.workers.test_gates import baseline, put


def test_each_experiment_with_data_has_its_verdict_and_those_without_come_last(answered: Demo, guest: Browser) -> None:
    page = guest.read("/projects/demo")
    told = (
        "R1-Qwen is better than R1-Llama by 2.1 points (95 % interval 0.6 to 3.7) on the 32 of 80 cells",
        "Core Generalization · Qwen-2.5 3B · Baseline : Along Length 6 of 7 series fall",
        "are contradicted by their own numbers",
        "The ranking of window-by-ratio by Pass@1 was computed for the first time",
        "1 experiment has no measured cell yet size-by-progress",
    )
    for words in told:
        assert words in page.text, words
    assert page.text.index(told[0]) < page.text.index(told[-1])
    # AIME24, AIME25 and GPQA D are aliases of three others, so that 17 names are 14 benchmarks.
    assert "3 experiments 5 models 14 benchmarks 18 grids" in page.text
    assert answered.seed0 in page.links()


def test_the_first_means_of_a_ranking_are_drawn_beside_its_verdict(public: Project, visitor: Browser) -> None:
    for number in range(7):
        for benchmark in "XY":
            put(public, f"model {number}", 90.0 - 5 * number, benchmark)
    visitor.computed(f"/projects/{public.slug}/results?view=ranking&experiment=e&metric=accuracy")
    page = visitor.read(f"/projects/{public.slug}")
    assert len(page.all("svg", **{"class": "whiskers"})) == 5
    assert "model 0 90.00 90.00, " in page.text
    assert "model 4 70.00 70.00, " in page.text
    assert "and 2 more" in page.text


def test_the_overview_says_that_a_ranking_is_being_computed(public: Project, visitor: Browser) -> None:
    for experiment, told in (("e", "The ranking of e is"), ("f", "The rankings of 2 experiments are")):
        for model in "ab":
            public.published(experiment=experiment, model=model)
        public.get(f"projects/{public.slug}/rankings?experiment={experiment}&metric=accuracy")
        waiting = visitor.read(f"/projects/{public.slug}")
        assert f"{told} not computed yet, and nobody computes: no dispatcher has reported lately." in waiting.text
        assert waiting.all("main")[0]["data-every"] == "2"
    public.house.compute()
    page = visitor.read(f"/projects/{public.slug}")
    assert "nobody computes" not in page.text
    assert page.all("main")[0]["data-every"] == "30"
    put(public, "c", 90.0, "X")
    visitor.read(f"/projects/{public.slug}/results?view=ranking&experiment=e&metric=accuracy")
    assert "The ranking of e is not computed yet" in visitor.read(f"/projects/{public.slug}").text


def test_a_name_without_mean_is_drawn_below_those_with_one(public: Project, visitor: Browser) -> None:
    """Adjusted by the 3 points that the others gain on what it lacks, top would be above 100 %."""
    for number, benchmark in enumerate("STUVWXYZ"):
        for model, value in (("top", 98.0), ("b", 60.0), ("c", 50.0))[number > 1 :]:
            put(public, model, value + number, benchmark)
    visitor.computed(f"/projects/{public.slug}/results?view=ranking&experiment=e&metric=accuracy")
    text = visitor.read(f"/projects/{public.slug}").text
    assert "top is first of 3 models" in text
    assert text.index("b 63.50 ") < text.index("c 53.50 ") < text.index("top — ")


def test_where_means_are_over_other_cells_than_ranks_both_pages_say_so(public: Project, visitor: Browser) -> None:
    """A leads B by (4 * -1 + 20) / 5 = 3.2 on what both have, and is 1 below it on the four cells that C has too."""
    axis = {"name": "Length", "kind": "numeric", "levels": [1, 2, 3, 4, 5]}
    for model, usual, last in (("A", 80, 60), ("B", 81, 40), ("C", 50, None)):
        values = [usual] * 4 + [last]
        public.published(experiment="e", model=model, benchmark="x", axes=[axis], values=values, trials=2000)
    home, told = f"/projects/{public.slug}", "This compares names on up to 5 slots, two on those that both have; "
    ranking = f"{home}/results?view=ranking&experiment=e&metric=accuracy"
    own = visitor.computed(f"{ranking}&missing=available").text
    assert told not in own, "each over its own: 76 and 72.8"
    page = visitor.computed(ranking)
    assert "A is first of 3 models" in page.text
    told += "the means are over those that all have"
    assert told in page.text
    assert told in visitor.read(home).text
    best = visitor.read(f"{home}/benchmarks/x").text
    assert "Each mean is over the cells on it that all of these have." in best
    assert told not in best
    public.published(experiment="e", model="A", benchmark="x", axes=[axis], values=[82] * 4 + [60], trials=2000)
    page = visitor.computed(ranking)
    assert "the next one, by 4.8 points" in page.text
    assert told in page.text, "in the order of the ranks, but by 1"
    assert told not in visitor.computed(f"{ranking}&model=A&model=B").text


def test_results_of_nothing_chosen_and_a_benchmark_show_what_its_rankings_say(
    public: Project, visitor: Browser
) -> None:
    for number in range(3):
        for benchmark in "XY":
            put(public, f"model {number}", 90.0 - 5 * number - 30 * (benchmark == "Y"), benchmark)
    put(public, "late", 99.0, "X")
    home = f"/projects/{public.slug}"
    ranking = f"{home}/results?view=ranking&experiment=e&metric=accuracy"
    assert visitor.get(f"{home}/results").status_code == 303, "of one experiment there is nothing to choose"
    assert visitor.computed(ranking)
    page = visitor.read(f"{home}/benchmarks/Y")
    assert "The best on it e accuracy" in page.text
    assert "model 0 60.00 60.00, " in page.text
    assert "No mean on it, being set aside or not measured: late" in page.text
    assert "Each mean is over" not in page.text
    assert "benchmark=Y" in page.links("view=ranking&experiment=e")[0]
    easiest = page.links("view=ranking&experiment=e")[-1]
    assert easiest.endswith("by=benchmark")
    assert "What is easiest: " in visitor.computed(easiest).text
    public.published(experiment="other", values=[[1.0] * 3, [2.0] * 3])
    page = visitor.read(f"{home}/results")
    assert "model 0 75.00 75.00, " in page.text
    assert page.links("results?view=ranking&experiment=e&metric=accuracy")


def test_a_suite_is_offered_for_experiments_with_a_benchmark_of_it(public: Project, visitor: Browser) -> None:
    put(public, "a", 50.0, "X")
    for name, benchmarks in (("mine", ["X", "Z"]), ("foreign", ["Z"])):
        answer = public.call("PUT", f"projects/{public.slug}/suites/{name}", json={"benchmarks": benchmarks})
        assert answer.status_code == 201
    page = visitor.computed(f"/projects/{public.slug}/results?view=table&experiment=e&metric=accuracy")
    assert [value for value, _ in page.options("suite")[0]] == ["", "mine"]
    assert [one["value"] for one in page.all("button", name="suite")] == ["", "mine"]


def test_where_the_usual_target_cannot_be_tested_the_narrowest_that_is_speaks_as_on_the_results(
    public: Project, visitor: Browser
) -> None:
    for benchmark in range(12):
        for name, lead in (("A", 5.0 + benchmark / 10), ("B", 0.0)):
            put(public, name, 60.0 + lead, f"benchmark {benchmark}", trials=None)
    home, said = f"/projects/{public.slug}", "A is better than B by 5.5 points"
    asked = f"{home}/results?experiment=e&metric=accuracy"
    table = visitor.computed(f"{asked}&view=table")
    assert said in table.text
    assert said in visitor.read(home).text
    order = visitor.read(f"{asked}&view=ranking")
    assert [one for one, chosen in order.options("target")[0] if chosen] == ["new_benchmarks"]
    assert "which nothing here tests" not in order.text
    for target, words in (
        ("rerun", "these cells, run again"),
        ("new_questions", "other questions of these benchmarks"),
    ):
        assert table.links(f"target={target}")
        other = visitor.read(f"{asked}&view=ranking&target={target}")
        assert f"The order below is about {words}, which nothing here tests" in other.text
        assert other.links("target=new_benchmarks")
    assert not table.links("target=new_benchmarks")


def test_one_name_is_told_by_its_grid_however_large_and_nobody_asks_who_is_best_of_it(
    public: Project, visitor: Browser
) -> None:
    levels = list(range(80))
    axes = [{"name": name, "kind": "numeric", "levels": levels} for name in ("Row", "Column")]
    values = [[90.0 - row] * 80 for row in levels]
    public.published(experiment="large", model="M", axes=axes, values=values, trials=1_000)
    selected = f"/projects/{public.slug}/results?experiment=large&metric=accuracy"
    visitor.computed(f"{selected}&view=ranking")
    overview = visitor.read(f"/projects/{public.slug}").text
    assert "Along Row 80 series fall." in overview
    assert "ranked" not in overview
    assert "Only M can be ranked here" in visitor.read(f"{selected}&view=ranking").text
    for view in ("table", "heatmaps"):
        assert "Who is best" not in visitor.computed(f"{selected}&view={view}").text


def test_paper_has_the_address_and_the_date_and_not_the_secret_of_a_share(public: Project, visitor: Browser) -> None:
    home = f"/projects/{public.slug}"
    assert re.search(rf"http://[^ ]+{home}, \d+ \w+ \d{{4}}, \d\d:\d\d UTC", visitor.read(home).text)
    opened = share(public, home)
    [secret] = re.findall(r"share=([^&]+)", opened)
    printed = re.search(r'<p class="printed">(.*?)</p>', browser(public.house).get(opened).text)
    assert printed
    assert f"{home}, <span" in printed[1]
    assert secret not in printed[1]


def test_of_the_only_project_the_front_page_is_the_overview_and_says_what_this_is(own: House) -> None:
    visitor, first = browser(own), own.make_project("public")
    first.published()
    front = visitor.read("/")
    assert "This registry keeps results of experiments as grids" in front.text
    assert f"/projects/{first.slug}/results" in front.links()
    own.make_project("public")
    assert "2 projects, the latest used first." in visitor.read("/").text


def test_what_fails_a_gate_is_told(project: Project) -> None:
    put(project, "A", 70.0)
    baseline(project, margin=3.0)
    put(project, "B", 60.0)
    project.house.compute()
    page = browser(project.house, project.tokens["reader"]).read(f"/projects/{project.slug}")
    assert "Open alerts B is worse than the baseline main by more than 3 points" in page.text
    assert f"/projects/{project.slug}/alerts" in page.links()


def test_each_part_of_a_project_is_a_link_on_its_pages(answered: Demo, guest: Browser) -> None:
    parts = ("", "/results", "/claims", "/alerts", "/events")
    for path in ("/projects/demo", "/projects/demo/events", answered.seed0):
        assert {f"/projects/demo{part}" for part in parts} <= set(guest.read(path).links()), path


def test_the_other_metrics_of_an_experiment_are_named_beside_the_one_that_is_told(
    public: Project, visitor: Browser
) -> None:
    for model in "ab":
        public.published(experiment="e", model=model)
        for name in ("cost", "latency"):
            metric = {"name": name, "unit": None, "direction": "lower"}
            public.published(experiment="e", model=model, metric=metric, axes=[], values=1.0, trials=None)
    visitor.computed(f"/projects/{public.slug}/rankings?experiment=e&metric=accuracy")
    page = visitor.read(f"/projects/{public.slug}")
    assert "also by cost , latency" in page.text
    assert visitor.get(page.links("metric=cost")[0]).status_code == 200
