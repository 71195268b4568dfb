"""The page of two models compared by name: the sentence, the rows that lead to grids, the form, and the ways to it."""

import gzip
import re
from urllib.parse import parse_qsl, urlencode, urlsplit

from tests.house import Project, publication
from tests.pages.conftest import Browser, Demo, Outline, browser

BASE = "/projects/demo/comparisons"
NAMES = {"experiment": "window-by-ratio", "metric": "Pass@1"}
BOTH = NAMES | {"baseline_model": "R1-Llama", "contender_model": "R1-Qwen"}
SLICED = BOTH | {"at.Local Window Size": ">=2000"}
TURNED = SLICED | {"baseline_model": "R1-Qwen", "contender_model": "R1-Llama"}


def asking(query: dict[str, str]) -> str:
    return f"{BASE}?{urlencode(query)}"


def query_of(link: str) -> dict[str, str]:
    return dict(parse_qsl(urlsplit(link).query))


def to_grids(page: Outline) -> list[dict[str, str]]:
    """The queries of the links to comparisons of two grids."""
    found = [query_of(link) for link in page.links("/comparisons?") if "/api/" not in link]
    return [query for query in found if "baseline" in query]


def test_the_page_begins_with_who_is_better_and_has_a_row_for_each_benchmark(demo: Demo, guest: Browser) -> None:
    page = guest.computed(asking(BOTH))
    told = "R1-Qwen is better than R1-Llama by 2.1 points (95 % interval 0.6 to 3.7) on the 32 cells of 4 benchmarks"
    assert told in page.text
    assert page.description.startswith(told)
    for _ in range(2):  # the other targets are asked for once the first is there
        demo.house.compute()
        page = guest.computed(asking(BOTH))
    for words in ("these cells, run again : better by 2.1", "other benchmarks of this kind : cannot be told: 2.1"):
        assert words in page.text
    whole = demo.answer(asking(BOTH))
    assert f"{whole['whole']['difference']:.1f}" == "2.1"
    assert [one["baseline"] for one in to_grids(page)] == [one["baseline"]["grid"] for one in whole["by_benchmark"]]
    for one in whole["by_benchmark"]:
        assert one["benchmark"] in page.text


def test_a_slice_says_which_benchmark_carries_it_and_each_row_leads_to_the_grids_and_cells(guest: Browser) -> None:
    page = guest.computed(asking(SLICED))
    assert "Pass@1 in window-by-ratio, models R1-Llama, R1-Qwen, Local Window Size at least 2000" in page.text
    asked = to_grids(page)
    assert len(asked) == 4
    assert all(one["at.Local Window Size"] == ">=2000" for one in asked)
    grids = guest.computed(asking(asked[0]))
    labels = [given["aria-label"] for _, given in grids.attributes if given.get("aria-label")]
    assert "Contender less baseline" in " ".join(labels)
    assert grids.links("experiment=window-by-ratio")
    told = "; without AIME'25 it is 0.7 points (95 % interval −1.7 to 3.0), left open, as it is without GPQA_D"
    assert told in page.text
    # The other way round it is the same claim.
    assert told in guest.computed(asking(TURNED)).text
    downloads = page.links("/api/v1/")
    assert [urlsplit(one).path.rpartition("/")[2] for one in downloads] == [
        "comparisons", "comparisons.csv", "comparisons.md", "comparisons.txt",
        "comparisons.svg", "comparisons.png", "comparisons.vl.json",
    ]  # fmt: skip
    for one in downloads:
        assert query_of(one) == SLICED
        assert guest.get(one).status_code == 200
    assert "R1-Qwen is better than R1-Llama by 2.4 points" in guest.get(downloads[3]).text
    once = ">R1-Qwen vs R1-Llama: Pass@1 in window-by-ratio, Local Window Size at least 2000</title>"
    assert once in guest.get(downloads[4]).text


def test_the_form_asks_for_what_is_missing_and_keeps_what_is_wrong(demo: Demo, guest: Browser) -> None:
    alone = guest.get(f"{BASE}?experiment=window-by-ratio")
    assert (alone.status_code, "metric=Pass%401" in alone.location) == (303, True)
    page = guest.read(asking(NAMES | {"contender_model": "R1-Qwen"}))
    fields = {given.get("name") for tag, given in page.attributes if tag in ("input", "select")}
    assert {"experiment", "metric", "baseline_model", "contender_model", "at.Ratio"} <= fields
    assert "Name two models" in page.text
    wrong = guest.read(asking(BOTH | {"contender_model": "R1-Qwem"}), 422)
    assert "contender model : no grid of this experiment" in wrong.text
    assert "R1-Qwen" in wrong.text
    half = guest.read(asking(BOTH | {"baseline_variant": "x"}), 422)
    assert "is needed with baseline_variant" in half.text
    assert guest.get(asking(BOTH | {"experiment": "nowhere"})).status_code in (404, 422)
    assert guest.get(asking(BOTH | {"at.Ratio": "9"})).status_code == 422
    mixed = guest.read(asking(BOTH | {"baseline": demo.grids["4"][0]}), 422)
    assert "baseline " in mixed.text


def test_a_ranking_and_a_comparison_of_grids_lead_to_it(guest: Browser) -> None:
    at = {"at.Local Window Size": ">=2000"}
    ranking = guest.computed(f"/projects/demo/rankings?{urlencode(NAMES | at)}")
    asked = [query_of(link) for link in ranking.links("contender_model=") if "/api/" not in link]
    assert SLICED | {"view": "compare"} in asked
    assert all(one in (SLICED | {"view": "compare"}, TURNED | {"view": "compare"}) for one in asked)
    assert guest.read(BASE).links("view=compare&experiment=")


def test_two_grids_keep_the_suite_and_the_instant_of_the_selection(public: Project, visitor: Browser) -> None:
    for model, value in (("a", 80.0), ("b", 60.0)):
        for benchmark in ("x", "y", "z"):
            public.published(experiment="e", model=model, benchmark=benchmark, axes=[], values=value, trials=300)
    suite = public.call("PUT", f"projects/{public.slug}/suites/core", json={"benchmarks": ["x", "y"]})
    assert suite.status_code == 201
    kept = {"suite": "core", "since": "2026-01-02T00:00:00Z"}
    both = {"experiment": "e", "metric": "accuracy", "baseline_model": "b", "contender_model": "a"}
    page = visitor.computed(f"/projects/{public.slug}/results?{urlencode({'view': 'compare'} | both | kept)}")
    asked = to_grids(page)
    assert [{name: one.get(name) for name in kept} for one in asked] == [kept, kept]
    grids = visitor.computed(f"/projects/{public.slug}/comparisons?{urlencode(asked[0])}")
    assert "a is better than b by 20.0 points" in grids.text
    assert {one["name"]: one["value"] for one in grids.all("input", type="hidden") if one["name"] in kept} == kept
    on = [query_of(link) for link in grids.links("since=") if "/api/" not in link]
    assert all(kept.items() <= one.items() for one in on)
    assert [one for one in on if both.items() <= one.items()], "two models by name"
    assert [one for one in on if "view" not in one and one.get("experiment") == "e"], "the results"
    assert not any({"since", "suite"} & query_of(link).keys() for link in grids.links("/api/"))


def test_every_view_keeps_the_pair_on_the_way_back(guest: Browser) -> None:
    page = guest.computed(f"/projects/demo/results?view=compare&{urlencode(TURNED)}")
    table = next(one for one in page.links("view=table") if "/api/" not in one)
    back = next(one for one in guest.computed(table).links("view=compare") if "/api/" not in one)
    assert query_of(back) == TURNED | {"view": "compare"}


def test_the_pairs_of_many_models_lead_to_it_and_many_benchmarks_stay_light(public: Project, visitor: Browser) -> None:
    grids = [
        publication(experiment="e", benchmark=f"bench {b:03}", model=f"model {m}", axes=[],
                    values=float(50 + (m * (b + 3) * 7) % 40))
        for m in range(3) for b in range(63)
    ]  # fmt: skip
    assert public.call("POST", f"projects/{public.slug}/grids/batch", json=grids).status_code == 200
    pairs = visitor.computed(f"/projects/{public.slug}/rankings?experiment=e&metric=accuracy").links("contender_model=")
    assert len(pairs) >= 3
    page = visitor.computed(pairs[0])
    assert "and 3 more benchmarks, which the downloads list" in page.text
    assert len(to_grids(page)) == 60
    body = visitor.get(pairs[0]).data
    assert len(body) <= 60_000
    assert len(gzip.compress(body)) < 15_000


def test_a_pair_picked_from_a_ranking_is_shown_only_where_the_ranking_separates_it(
    public: Project, visitor: Browser
) -> None:
    correct = {"best": 611, "one": 586, "other": 586, "last": 561}  # of 1000: z of best less last is 2.27, p 0.023
    grids = [
        publication(experiment="e", benchmark="b", model=model, axes=[], values=count / 10, trials=1000)
        for model, count in correct.items()
    ]
    assert public.call("POST", f"projects/{public.slug}/grids/batch", json=grids).status_code == 200
    base = f"/projects/{public.slug}/results?view=compare&experiment=e&metric=accuracy"
    pair = f"{base}&contender_model=best&baseline_model=last"
    page = visitor.computed(pair)
    assert "As the only question asked (p 0.02" in page.text
    assert "among the 6 pairs of the ranking, from which it was picked, it is left open (Holm p 0.1" in page.text
    assert "Among the 6 pairs of the ranking, which asks more of each than of two by themselves:" in page.text
    # Cohen's formula at 0.05 / 6: ((2.638 x 2.2027 + 0.842 x 2.1999) / 5)^2 = 2.349.
    assert "to show 5 in the ranking of 4 models: 2.3 times the trials of every cell, 2,350 trials of each" in page.text
    assert "alpha: 0.05 over the 6 pairs of the ranking" in page.text
    ranking = visitor.computed(base.replace("compare", "ranking"))
    assert "Next: how many trials would tell best from one" in ranking.text
    # No trials tell what other benchmarks show, nor what cells do whose own noise is not known.
    for experiment, trials in (("f", 1000), ("g", None)):
        for place, values in enumerate(((50.0, 53.0), (51.0, 49.0), (50.0, 53.5), (50.5, 50.0))):
            for model, value in zip("ab", values, strict=True):
                axes = [{"name": "Step", "kind": "numeric", "levels": [1, 2]}]
                public.published(experiment=experiment, benchmark=f"b{place}", model=model, trials=trials, axes=axes,
                                 values=[value, value + place])  # fmt: skip
    found = {}
    for asked in ("f", "f&target=new_benchmarks", "g"):
        page = visitor.computed(f"/projects/{public.slug}/results?view=ranking&metric=accuracy&experiment={asked}")
        found[asked] = "cannot be told" in page.text, "Next: how many trials" in page.text
    assert found == {"f": (True, True), "f&target=new_benchmarks": (True, False), "g": (True, False)}
    # By itself it is left open too: the plan is for the ranking in which it was picked all the same.
    [plan] = [link for link in ranking.links("contender_model=") if "baseline_model=one" in link][:1]
    assert "alpha: 0.05 over the 6 pairs of the ranking" in visitor.computed(plan).text
    two = visitor.computed(f"{pair}&model=best&model=last")
    assert two.description.startswith("best is better than last by 5")
    assert "shown too" not in two.text
    assert "would tell" not in two.text
    elsewhere = visitor.computed(f"{pair}&model=best&model=last&target=new_benchmarks")
    assert "in the ranking of these two, for other benchmarks of this kind, it is not tested" in elsewhere.description


def test_what_holds_on_other_benchmarks_and_not_without_one_is_said_in_one_sentence(
    public: Project, visitor: Browser
) -> None:
    """By the noise of 1,000 trials, 2.2 points, they have a z of 2.4 / 1.12 = 2.1, three of them of 1.9; from
    benchmark to benchmark they hardly differ, t = 2.4 / (0.08 / 2) = 59."""
    grids = [
        publication(experiment="e", benchmark=f"b{place}", model=model, axes=[], values=50 + ahead, trials=1000)
        for place, gap in enumerate((2.4, 2.5, 2.3, 2.4))
        for model, ahead in (("A", gap), ("B", 0.0))
    ]
    assert public.call("POST", f"projects/{public.slug}/grids/batch", json=grids).status_code == 200
    pair = (
        f"/projects/{public.slug}/results?view=compare&experiment=e&metric=accuracy&contender_model=A&baseline_model=B"
    )
    told = visitor.computed(pair).description
    assert "left open, as it is without b0, b2 and b3; taken together as a sample of others of the kind" in told
    assert "the 4 benchmarks show it too" in told
    page = visitor.computed(f"{pair}&benchmark=b0")
    assert "over 1 benchmark: +2.4" in page.text


def test_two_models_that_are_as_good_over_all_and_differ_by_benchmark_are_said_to(
    public: Project, visitor: Browser
) -> None:
    """The variance of a gap is (54.1 x 45.9 + 50.1 x 49.9) / 1000 = 4.983; Q = 2 x 4^2 / 4.983 = 6.42 with p 0.0113."""
    grids = [
        publication(experiment="e", benchmark=f"b{place}", model=model, axes=[], values=value, trials=1000)
        for place, values in enumerate(((54.1, 50.1), (50.1, 54.1)))
        for model, value in zip("AB", values, strict=True)
    ]
    assert public.call("POST", f"projects/{public.slug}/grids/batch", json=grids).status_code == 200
    pair = (
        f"/projects/{public.slug}/results?view=compare&experiment=e&metric=accuracy&contender_model=A&baseline_model=B"
    )
    assert "The difference is not the same on all benchmarks (Cochran's Q, p 0.0113)." in visitor.computed(pair).text


def test_the_pair_of_nothing_chosen_is_that_of_the_verdict(public: Project, visitor: Browser) -> None:
    """60 % of 1,000 trials against 52 % of 10,000 is z 4.9; against 50 % of 30 it is 1.1."""
    for model, value, trials in (("best", 60, 1000), ("second", 52, 10_000), ("third", 50, 30)):
        public.published(experiment="e", benchmark="b", model=model, axes=[], values=value, trials=trials)
    asked = f"/projects/{public.slug}/results?experiment=e&metric=accuracy"
    assert "not separated from third; it leads third by 10" in visitor.computed(f"{asked}&view=ranking").text
    page = visitor.computed(f"{asked}&view=compare")
    assert "Whether best or third is better cannot be told" in page.text


def test_without_two_models_that_share_cells_the_view_asks_for_them(demo: Demo, guest: Browser) -> None:
    """The models of Qwen were measured on a benchmark each."""
    address = "/projects/demo/results?view=compare&experiment=type-by-length&metric=accuracy"
    guest.read(address)
    demo.house.compute()
    assert "Name two models" in guest.read(address).text
    chosen = guest.read(f"{address}&model=Qwen-2.5+3B")
    fields = {given.get("name"): given.get("value") for tag, given in chosen.attributes if tag == "input"}
    assert (fields["contender_model"], fields["baseline_model"]) == ("Qwen-2.5 3B", "")
    operator = browser(demo.house, demo.house.operator)
    assert "Set a baseline" not in operator.read(address.replace("compare", "ranking")).text


def test_the_overview_the_ranking_and_the_comparison_tell_one_verdict(public: Project, visitor: Browser) -> None:
    """A is ahead of B by 29 or 30 points on each of twelve benchmarks, and in the other experiment on one alone."""
    grids = [
        publication(
            experiment=experiment, benchmark=f"b{place}", model=model, axes=[], values=value + place, trials=1000
        )
        for experiment, leads in (("every", [30.0, 29.0] * 6), ("one", [30.0] + [0.0] * 11))
        for place, lead in enumerate(leads)
        for model, value in (("A", 40.0 + lead), ("B", 40.0))
    ]
    assert public.call("POST", f"projects/{public.slug}/grids/batch", json=grids).status_code == 200
    home = f"/projects/{public.slug}"
    for experiment, label in (("every", "shown"), ("one", "shown for these cells")):
        asked = f"{home}/results?experiment={experiment}&metric=accuracy"
        pair = f"{asked}&view=compare&contender_model=A&baseline_model=B"
        for _ in range(3):  # the other targets are asked for once the first is there
            visitor.computed(f"{asked}&view=ranking")
            visitor.computed(pair)
        size = "29.5" if experiment == "every" else "2.5"
        assert f"{label} A is better than B by {size} points" in visitor.read(home).text
        assert f"Who is best: {label} A is better than B by {size}" in visitor.read(f"{asked}&view=ranking").text
        assert f"{label} A is better than B by {size}" in visitor.read(pair).text


def test_what_waits_for_the_ranking_is_being_computed_and_not_left_open(public: Project, visitor: Browser) -> None:
    for model, value in (("A", 90.0), ("B", 50.0), ("C", 49.0)):
        public.published(experiment="e", benchmark="b", model=model, axes=[], values=value, trials=1000)
    asked = f"/projects/{public.slug}/results?view=compare&experiment=e&metric=accuracy"
    asked += "&contender_model=A&baseline_model=B"
    visitor.computed(asked)
    page = visitor.read(f"{asked}&method=borda")  # the same comparison, and another ranking
    assert "being computed As the only question asked (p <0.0001), A is better than B by 40.0 points" in page.text
    assert "left open" not in page.text


def test_of_one_model_its_first_two_variants_are_compared_and_cited_with_their_time(
    public: Project, visitor: Browser
) -> None:
    for variant, value in (("greedy", 40.0), ("sampled", 60.0), ("voted", 70.0)):
        for benchmark in "xyz":
            one = {"benchmark": benchmark, "model": "m", "variant": variant, "axes": [], "values": value, "trials": 300}
            public.published(experiment="e", **one)
    page = visitor.computed(f"/projects/{public.slug}/results?view=compare&experiment=e&metric=accuracy")
    assert "sampled is better than greedy by 20.0 points" in page.text
    for side, chosen in (("contender_variant", "sampled"), ("baseline_variant", "greedy")):
        assert (chosen, True) in page.options(side)[0]
    assert re.search(r"computed \d+ [A-Z][a-z]+ 20\d\d, \d\d:\d\d UTC from 6 grids}", page.text)
