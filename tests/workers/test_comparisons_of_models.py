"""Comparisons by name: each benchmark is the comparison by id, the whole is the pair of the ranking of both."""

import csv
import io
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy import stats
from sqlalchemy import func, select
from werkzeug.test import TestResponse

from registry.renderings.verdicts.comparison import model_comparison_verdict
from registry.results.codec import from_document
from registry.results.comparison import ModelComparison
from registry.storage.tables import cached_results
from tests.house import ENDED, House, Project
from tests.workers.asking import computed, described, faults_of, join

NAMES = {"experiment": "leaderboard", "metric": "accuracy"}
LENGTHS = [{"name": "Length", "kind": "numeric", "levels": [1, 2, 3, 4]}]
SCORES = {
    "A": {"X": [52.0, 61.0, 40.0, None], "Y": [80.0, 81.0, 79.5, 90.0], "Z": [10.0, 12.0, 9.5, 11.0], "P": [1.0] * 4},
    "B": {"X": [58.0, 60.5, 49.0, 33.0], "Y": [83.0, 85.5, 84.0, 92.0], "Z": [9.5, 14.0, 8.0, 11.0], "Q": [2.0] * 4},
}


def ask(project: Project, suffix: str = "", baseline: str = "A", contender: str = "B", **more: Any) -> TestResponse:
    query = NAMES | {"baseline_model": baseline, "contender_model": contender} | more
    options = {name: query.pop(name) for name in ("headers",) if name in query}
    return project.get(f"projects/{project.slug}/comparisons{suffix}", query_string=query, **options)


def answered(project: Project, baseline: str = "A", contender: str = "B", **more: Any) -> dict[str, Any]:
    query = NAMES | {"baseline_model": baseline, "contender_model": contender} | more
    return described(computed(project, f"projects/{project.slug}/comparisons", query_string=query), "ModelComparison")


def pair_of(project: Project, **question: Any) -> dict[str, Any]:
    """The one pair of the ranking of two names."""
    found = computed(project, f"projects/{project.slug}/rankings", query_string=NAMES | question)
    [pair] = found["pairs"]
    return dict(pair)


def put(project: Project, model: str, benchmark: str, values: Any, **changes: Any) -> dict[str, Any]:
    names = {"experiment": "leaderboard", "model": model, "benchmark": benchmark, "variant": ""}
    return project.published(**names | {"axes": LENGTHS, "values": values, "trials": 200} | changes)


def measured(project: Project) -> Project:
    for model, each in SCORES.items():
        for benchmark, values in each.items():
            put(project, model, benchmark, values)
    return project


@pytest.fixture
def models(project: Project) -> Project:
    """Both models, to which a test adds."""
    return measured(project)


@pytest.fixture(scope="module")
def known(house: House) -> Iterator[Project]:
    """The same, of which everybody reads."""
    project = measured(house.make_project())
    yield project
    ENDED.append(project)


def turned(pair: dict[str, Any]) -> dict[str, Any]:
    """The pair of b and a."""
    ends = pair["interval"]
    return pair | {
        "a": pair["b"],
        "b": pair["a"],
        "wins": pair["losses"],
        "losses": pair["wins"],
        "lead": -pair["lead"],
        "difference": -pair["difference"],
        "interval": ends and ends | {"low": -ends["high"], "high": -ends["low"]},
    }


def errors_alike(differences: Any) -> Any:
    """Standard errors of the means of X, Y and Z by rates that have one difference everywhere, each of 200 trials."""
    both = [[pair for pair in zip(*(SCORES[m][b] for m in "BA"), strict=True) if None not in pair] for b in "XYZ"]
    shares = [np.array(pairs, dtype=float) / 100 for pairs in both]

    def error(rates: Any) -> float:
        return float(np.sqrt((rates * (1 - rates) / 200).sum()) / len(rates))

    pooled = [np.repeat((400 * one.mean(axis=1) + 0.5) / 401, 2).reshape(-1, 2) for one in shares]
    sure = np.array([1 / error(one) ** 2 for one in pooled])
    gap = (sure @ differences) / sure.sum() / 100
    moved = [one.mean(axis=1)[:, None] + np.array([gap, -gap]) / 2 for one in shares]
    return np.array([100 * error((200 * one + 0.5) / 201) for one in moved])


def test_the_whole_is_the_mean_over_benchmarks_and_says_how_they_differ(known: Project) -> None:
    document = answered(known)
    assert [one["benchmark"] for one in document["by_benchmark"]] == ["X", "Y", "Z"]
    assert (document["only_in_baseline"], document["only_in_contender"]) == (["P"], ["Q"])
    whole, tests = document["whole"], [one["test"] for one in document["by_benchmark"]]
    differences, errors = (np.array([one[name] for one in tests]) for name in ("difference", "stderr"))
    assert (whole["a"], whole["b"], whole["weights"]) == ("B", "A", "benchmarks_equal")
    assert whole["difference"] == pytest.approx(differences.mean(), rel=1e-9)
    assert whole["stderr"] == pytest.approx(np.sqrt((errors**2).sum()) / 3, rel=1e-9)
    assert [whole[f"benchmarks_{word}"] for word in ("won", "tied", "lost")] == [2, 1, 0]
    ordered = sorted((one["p"], one["p_holm"]) for one in tests)
    holm = np.maximum.accumulate(np.array([p for p, _ in ordered]) * np.array([3, 2, 1]))
    assert [adjusted for _, adjusted in ordered] == pytest.approx(np.minimum(holm, 1.0), rel=1e-12)
    weights = 1 / errors_alike(differences) ** 2
    q = (weights * (differences - (weights @ differences) / weights.sum()) ** 2).sum()
    found = whole["heterogeneity"]
    assert (found["test"], found["benchmarks"], found["df"]) == ("cochran_q", 3, 2)
    assert (found["statistic"], found["p"]) == pytest.approx((q, stats.chi2.sf(q, 2)), rel=1e-9)
    over, reach = whole["new_benchmarks"], stats.t.ppf(0.975, 2) * differences.std(ddof=1) / np.sqrt(3)
    assert over["target"] == "new_benchmarks"
    assert over["interval"]["high"] - over["interval"]["low"] == pytest.approx(2 * reach, rel=1e-9)


def test_the_whole_is_exactly_the_pair_of_the_ranking_and_each_benchmark_the_comparison_that_it_links_to(
    known: Project, subtests: pytest.Subtests
) -> None:
    several = [{}, {"alpha": 0.2}, {"at.Length": [">=2", "<4"]}, {"benchmark": ["X", "Z"]}, {"variant": ""}]
    for changes in several:
        with subtests.test(msg=str(changes)):
            pair = pair_of(known, model=["A", "B"], **changes)
            assert (pair["a"], pair["b"], pair["target"]) == ("A", "B", "rerun")
            document = answered(known, **changes)
            assert {name: document["whole"][name] for name in pair} == turned(pair)
            other = answered(known, "B", "A", **changes)["whole"]
            assert {name: other[name] for name in pair} == pair
            assert other["new_benchmarks"] == pair_of(known, model=["A", "B"], target="new_benchmarks", **changes)
            for one in document["by_benchmark"]:
                by_id = computed(known, one["href"])
                for name in ("status", "n_common", "wins", "ties", "losses", "mean", "median"):
                    assert one[name] == by_id[name]
                assert one["test"] | {"p_holm": None} == by_id["test"]
                for side in ("baseline", "contender"):
                    assert one[side].items() <= by_id[side].items()
                assert by_id["alpha"] == changes.get("alpha", 0.05)


def test_without_noise_the_cells_are_exchangeable_and_an_f_tells_benchmarks_apart(project: Project) -> None:
    gaps = {"X": [1.0, 2.0, 1.5, 3.0], "Y": [8.0, 9.5, 7.0, 9.0], "Z": [-1.0, 0.5, 1.0, 0.0]}
    for benchmark, each in gaps.items():
        put(project, "A", benchmark, [50.0] * 4, trials=None)
        put(project, "B", benchmark, [50.0 + gap for gap in each], trials=None)
    document = answered(project)
    whole, means = document["whole"], [np.mean(each) for each in gaps.values()]
    assert (whole["difference"], whole["p"]) == (pytest.approx(np.mean(means)), None)
    assert whole["new_benchmarks"]["p"] == pytest.approx(stats.ttest_1samp(means, 0).pvalue)
    for one in document["by_benchmark"]:
        theirs = stats.ttest_1samp(gaps[one["benchmark"]], 0)
        assert (one["test"]["name"], one["test"]["p"]) == ("t_over_cells", pytest.approx(theirs.pvalue))
    # Brown and Forsythe (1974) by hand, with Mehrotra's (1997) degrees of freedom.
    variances = np.array([np.var(each, ddof=1) for each in gaps.values()]) / 4
    f = np.sum((means - np.mean(means)) ** 2) / np.sum(2 / 3 * variances)
    free = np.sum(2 / 3 * variances) ** 2 / (np.sum(variances / 3) ** 2 + np.sum(variances**2 / 3))
    errors = np.sum(2 / 3 * variances) ** 2 / np.sum((2 / 3 * variances) ** 2 / 3)
    found = whole["heterogeneity"]
    assert (found["test"], found["df"]) == ("brown_forsythe", pytest.approx(free, rel=1e-9))
    assert found["statistic"] == pytest.approx(f * free, rel=1e-9)
    assert found["df_error"] == pytest.approx(errors, rel=1e-9)
    assert found["p"] == pytest.approx(stats.f.sf(f, free, errors), rel=1e-9)


def test_one_missing_test_has_one_reason_whether_repeats_agree_or_nothing_is_posted(project: Project) -> None:
    posted = (("A", {"repeats": 3, "sd": 0.0}), ("B", {"repeats": 2, "sd": 0.0}), ("C", {}))
    for number, (model, repeats) in enumerate(posted):
        put(project, model, "X", 50.0 + number, axes=[], trials=None, **repeats)
    for contender, reason in (
        ("B", "the repeats of every cell agree, which says nothing of its noise"),
        ("C", "the noise of some common cell is not known"),
    ):
        document = answered(project, contender=contender)
        [benchmark] = document["by_benchmark"]
        pair = pair_of(project, model=["A", contender])
        told = (document["whole"]["reason"], benchmark["test"]["reason"], pair["reason"])
        assert (told, pair["interval"], pair["p"]) == ((reason,) * 3, None, None)


def test_every_view_says_what_it_assumes_of_trials_that_nobody_posted(project: Project) -> None:
    """Whole percents of 1,500 trials, and repeats that differ by ten times what 100 trials explain."""
    ids: dict[str, list[str]] = {"X": [], "Y": []}
    for model, by in (("A", 0.0), ("B", 5.0)):
        ids["X"].append(put(project, model, "X", [60.0 + by, 71.0 + by, 82.0 + by, 93.0 + by], trials=1_500)["id"])
        ids["Y"].append(put(project, model, "Y", [60.33 + by] * 4, trials=300, repeats=[3] * 4, sd=[15.0] * 4)["id"])
    of_repeats = ["design_effect_of_repeats", "independent_cells"]
    for benchmark, words in (("X", ["independent_trials", "rounded_values"]), ("Y", of_repeats)):
        pair = dict(zip(("baseline", "contender"), ids[benchmark], strict=True))
        by_id = computed(project, f"projects/{project.slug}/comparisons", query_string=pair)
        assert sorted(by_id["assumes"]) == words
        assert sorted(answered(project, benchmark=benchmark)["assumes"]) == words
        for path, more in (("rankings", {}), ("aggregates", {"group_by": "model"})):
            query = NAMES | {"benchmark": benchmark} | more
            found = computed(project, f"projects/{project.slug}/{path}", query_string=query)
            assert sorted(found["assumes"]) == words, path
    put(project, "A", "Z", [60.0, 71.0, 82.0, 93.0], trials=1_500, stderr=[1.0] * 4)
    put(project, "B", "Z", [64.0, 75.0, 86.0, 97.0], trials=1_500, stderr=[1.0] * 4)
    assert answered(project, benchmark="Z")["assumes"] == [], "posted errors go before trials"
    query = NAMES | {"target": "new_benchmarks"}
    found = computed(project, f"projects/{project.slug}/rankings", query_string=query)
    assert (found["pairs"][0]["status"], found["assumes"]) == ("ok", []), "of other benchmarks the differences tell"


def test_shares_of_one_beside_percent_are_compared_as_percent(project: Project) -> None:
    share = {"name": "accuracy", "unit": None, "direction": "higher", "lower": 0, "upper": 1}
    for model, value in (("A", 40.5), ("B", 80.5)):
        put(project, model, "X", [value], axes=[LENGTHS[0] | {"levels": [1]}], trials=1_000)
        put(project, model, "Y", [value / 100], axes=[LENGTHS[0] | {"levels": [1]}], trials=1_000, metric=share)
    document = answered(project)
    first, second = (one["test"] for one in document["by_benchmark"])
    assert {name: second[name] for name in ("difference", "stderr", "interval")} == {
        name: pytest.approx(first[name]) for name in ("difference", "stderr", "interval")
    }
    assert document["whole"]["heterogeneity"]["p"] == pytest.approx(1.0)


def test_lower_is_better_turns_who_wins_and_not_the_difference(project: Project) -> None:
    loss = {"name": "accuracy", "unit": "nats", "direction": "lower", "lower": None, "upper": None}
    for benchmark in ("X", "Y"):
        put(project, "A", benchmark, [2.0, 3.0, 4.0, 5.0], metric=loss, trials=None)
        put(project, "B", benchmark, [1.5, 2.0, 3.0, 4.5], metric=loss, trials=None)
    whole = answered(project)["whole"]
    assert (whole["difference"], whole["benchmarks_won"], whole["wins"]) == (-0.75, 2, 8)


def test_variants_are_compared_as_a_ranking_of_variants_does_and_with_the_model_they_are_confounded(
    models: Project,
) -> None:
    for model in ("A", "C"):
        for benchmark, values in SCORES["B"].items():
            put(models, model, benchmark, values, variant="CoT")
    asked = {"baseline_variant": "", "contender_variant": "CoT"}
    document = answered(models, "A", "A", **asked)
    assert (document["status"], document["differs"]) == ("ok", ["variant"])
    assert document["baseline"] == {"model": "A", "variant": ""}
    assert document["contender"] == {"model": "A", "variant": "CoT"}
    pair = pair_of(models, by="variant", model=["A"])
    assert (pair["a"], pair["b"]) == ("", "CoT")
    assert {name: document["whole"][name] for name in pair} == turned(pair)
    assert {one["contender"]["variant"] for one in document["by_benchmark"]} == {"CoT"}
    document = answered(models, "A", "C", **asked)
    assert (document["status"], document["differs"]) == ("confounded", ["model", "variant"])
    plain = answered(models, "A", "B", baseline_variant="", contender_variant="")
    assert document["whole"]["difference"] == plain["whole"]["difference"]
    assert {one["status"] for one in document["by_benchmark"]} == {"confounded"}
    assert computed(models, document["by_benchmark"][0]["href"])["status"] == "confounded"


def test_of_several_variants_one_is_to_be_chosen_and_a_kept_answer_becomes_undefined(models: Project) -> None:
    assert answered(models)["status"] == "ok"
    for model in ("A", "B"):
        put(models, model, "X", [1.0, 2.0, 3.0, 4.0], variant="CoT")
    document = answered(models)
    assert (document["status"], document["whole"], document["by_benchmark"]) == ("undefined", None, [])
    assert '"CoT"' in document["reason"]
    faults = faults_of(ask(models, alpha=0.1))
    assert list(faults) == ["/variant"]
    assert faults["/variant"].endswith(': "", "CoT"')
    chosen = answered(models, variant="CoT")
    assert [(one["benchmark"], one["n_common"]) for one in chosen["by_benchmark"]] == [("X", 4)]


def test_a_variant_of_one_side_alone_is_not_compared(models: Project) -> None:
    put(models, "A", "X", [1.0, 2.0, 3.0, 4.0], variant="CoT")
    put(models, "A", "W", [1.0, 2.0, 3.0, 4.0], variant="CoT")
    put(models, "B", "W", [1.0, 2.0, 3.0, 4.0], variant="")
    document = answered(models)
    lone, *others = document["by_benchmark"]
    assert (lone["benchmark"], lone["status"]) == ("W", "not_comparable")
    assert (lone["baseline"], lone["href"], lone["reason"]) == (None, None, "no variant is in common")
    assert [(one["benchmark"], one["status"]) for one in others] == [("X", "ok"), ("Y", "ok"), ("Z", "ok")]
    assert document["whole"]["benchmarks"] == 3


WRONG = [
    ({"baseline_model": "AA"}, "/baseline_model", 'has the model "AA"; there are A, B'),
    ({"contender_model": "b2"}, "/contender_model", 'has the model "b2"; there are B, A'),
    ({"baseline_variant": "x", "contender_variant": ""}, "/baseline_variant", 'the variant "x"; there is none'),
    ({"contender_model": "A"}, "/contender_model", "is the baseline too; name another model"),
    ({"benchmark": "P"}, "/contender_model", 'shares no benchmark with the baseline: that has "P", and this none'),
    ({"benchmark": "y"}, "/benchmark", "there are Y, P, Q, X, Z"),
    ({"at.Size": "1"}, "/at.Size", 'has the axis "Size"; there is Length'),
    ({"baseline_variant": "x"}, "/contender_variant", "is needed with baseline_variant"),
    ({"baseline_variant": "", "contender_variant": "", "variant": "x"}, "/variant", "give one or the other"),
    ({"suite": "nope"}, "/suite", 'no suite "nope"'),
    ({"suite": "s", "benchmark": "X"}, "/suite", "stands in place of benchmarks"),
    ({"basline_model": "A"}, "/basline_model", 'did you mean "baseline_model"'),
    ({"contender_model": ""}, "/contender_model", "must not be empty"),
    ({"alpha": "2"}, "/alpha", "must be a number above 0"),
]


def test_what_is_wrong_is_refused_where_it_stands_and_nothing_is_kept(
    models: Project, subtests: pytest.Subtests
) -> None:
    for changes, pointer, told in WRONG:
        with subtests.test(msg=str(changes)):
            faults = faults_of(ask(models, **changes))
            assert list(faults) == [pointer]
            assert told in faults[pointer]
    with models.house.database.reading() as connection:
        mine = (cached_results.c.project_id == models.id, cached_results.c.query["kind"].astext == "model_comparison")
        assert connection.scalar(select(func.count()).select_from(cached_results).where(*mine)) == 0


def test_ids_and_names_are_not_mixed_and_neither_is_left_in_half(known: Project) -> None:
    path = f"projects/{known.slug}/comparisons"

    def pointers(**query: Any) -> set[str]:
        return set(faults_of(known.get(path, query_string=query)))

    grid = known.get(f"projects/{known.slug}/grids").get_json()["items"][0]["id"]
    ids, names = {"baseline": grid, "contender": grid}, NAMES | {"baseline_model": "A", "contender_model": "B"}
    assert pointers(**ids, **names) == {f"/{name}" for name in names}
    assert pointers(**ids, benchmark="X") == {"/benchmark"}
    assert pointers(**names, baseline_revision=1) == {f"/{name}" for name in names}
    assert pointers(**ids, contender_variant="") == {"/contender_variant"}
    assert pointers(experiment="leaderboard", baseline_model="A") == {"/metric", "/contender_model"}
    assert pointers(baseline=grid) == {"/contender"}
    assert pointers() == {"/baseline", "/contender"}
    assert ask(known, metric="loss").status_code == 404


def test_one_benchmark_without_noise_has_the_verdict_of_its_two_grids(models: Project) -> None:
    """Gaps of 1, .9 and 1.1 have the error .1 / sqrt(3), and Student's t with 2 degrees of freedom is 4.303."""
    loss = {"name": "loss", "unit": None, "direction": "lower", "lower": None, "upper": None}
    for model, values in (("A", [1.0, 2.0, 3.0, None]), ("B", [2.0, 2.9, 4.1, None])):
        put(models, model, "X", values, metric=loss, trials=None)
    verdict = model_comparison_verdict(from_document(ModelComparison, answered(models, metric="loss")))
    assert verdict.sentence.startswith("A is better than B by 1.0 (lower is better; 95 % interval 0.8 to 1.2)")
    assert verdict.sentence.endswith("; this is about other cells of the kind, for the noise of these is not known.")
    text = ask(models, ".txt", metric="loss").text
    assert "if these are a sample of other cells: Student's t over the cells: +1.00 [0.75, 1.25] (95 %)" in text


def test_benchmarks_that_go_opposite_ways_are_named(project: Project) -> None:
    """Of 400 trials at 90 and 50 the difference has the error sqrt(.09 + .25) / 20, 2.9 points."""
    for model, values in (("A", [90.0] * 4), ("B", [50.0] * 4)):
        put(project, model, "X", values)
        put(project, model, "Y", values[:2] + [70.0] * 2)
        put(project, model, "Z", [140.0 - value for value in values])
    verdict = model_comparison_verdict(from_document(ModelComparison, answered(project)))
    assert verdict.answer == "shown"
    assert verdict.more == ("Shown to be better (Holm over the benchmarks): B on Z; A on X and Y.",)


def test_what_nobody_could_ask_is_not_answered(project: Project) -> None:
    """Whether one benchmark differs from others, who wins on none, and by tests where there are none."""
    others = [{"name": "Length", "kind": "numeric", "levels": [5, 6, 7, 8]}]
    for model, axes in (("A", LENGTHS), ("B", LENGTHS), ("C", others)):
        put(project, model, "X", [52.0, 61.0, 40.0, 33.0], axes=axes)
    for contender, left_out in (("B", "between benchmarks"), ("C", "the contender wins")):
        answered(project, contender=contender)
        told = ask(project, ".txt", contender=contender)
        assert told.status_code == 200
        assert left_out not in told.text
        assert "over 0 benchmarks" not in told.text
    for benchmark in ("X", "Y"):
        for model, value in (("A", 1.0), ("D", 2.0)):
            put(project, model, benchmark, value, axes=[], trials=None)
    answered(project, contender="D")
    assert "wins 2, ties 0, loses 0; none was tested" in ask(project, ".txt", contender="D").text


def test_it_is_kept_and_computed_again_when_a_grid_changes(models: Project, house: House) -> None:
    pending = ask(models)
    assert (pending.status_code, pending.headers["Retry-After"]) == (202, "1")
    assert pending.get_json()["kind"] == "model_comparison"
    before = answered(models)
    tag = ask(models).headers["ETag"]
    assert ask(models, headers={"If-None-Match": tag}).status_code == 304
    put(models, "C", "X", [1.0, 2.0, 3.0, 4.0])
    assert ask(models).status_code == 202
    assert answered(models) | {"computed_at": ""} == before | {"computed_at": ""}
    assert ask(models, headers={"If-None-Match": tag}).status_code == 304
    put(models, "B", "X", [1.0, 2.0, 3.0, 4.0])
    assert ask(models, headers={"If-None-Match": tag}).status_code == 202
    after = answered(models)
    assert after["by_benchmark"][0]["contender"]["revision"] == 2
    assert ask(models).headers["ETag"] != tag


def test_names_are_found_by_their_aliases_and_a_suite_stands_in_place_of_benchmarks(models: Project) -> None:
    suite = f"projects/{models.slug}/suites/s"
    assert models.call("PUT", suite, "admin", json={"benchmarks": ["X", "Y", "V"]}).status_code in (200, 201)
    document = answered(models, suite="s")
    assert (document["suite"], [one["benchmark"] for one in document["by_benchmark"]]) == ("s", ["X", "Y"])
    [warning] = document["warnings"]
    assert warning["code"] == "suite_incomplete"
    assert "Nothing is compared on 1 of the 3 benchmarks" in warning["detail"]
    assert document["whole"]["difference"] == answered(models, benchmark=["X", "Y"])["whole"]["difference"]
    for kind, alias, name in (
        ("model", "a-old", "A"), ("benchmark", "x-old", "X"), ("experiment", "board", "leaderboard")
    ):  # fmt: skip
        join(models, kind, alias, name)
    document = answered(models, "a-old", "B", experiment="board", benchmark="x-old")
    assert (document["baseline"]["model"], document["experiment"]) == ("A", "leaderboard")
    assert [one["benchmark"] for one in document["by_benchmark"]] == ["X"]


def test_what_is_derived_is_named_and_not_compared(models: Project) -> None:
    for model in ("A", "B"):
        put(models, model, "Average", [50.0] * 4, derived=True, trials=None)
    document = answered(models)
    assert [one["benchmark"] for one in document["derived"]] == ["Average", "Average"]
    assert "Average" not in [one["benchmark"] for one in document["by_benchmark"]]


def test_other_scales_have_wins_and_no_difference(project: Project) -> None:
    points = {"name": "accuracy", "unit": "points", "direction": "higher", "lower": None, "upper": None}
    put(project, "A", "X", [1.0, 2.0, 3.0, 4.0])
    put(project, "B", "X", [2.0, 3.0, 4.0, 5.0])
    put(project, "A", "Y", [100.0, 200.0, 300.0, 400.0], metric=points, trials=None)
    put(project, "B", "Y", [200.0, 300.0, 400.0, 500.0], metric=points, trials=None)
    whole = answered(project)["whole"]
    assert (whole["estimand"], whole["difference"], whole["lead"], whole["wins"]) == ("lead", None, 1.0, 8)


def test_the_forms_have_the_numbers_of_the_json(known: Project) -> None:
    document = answered(known)
    text = ask(known, ".txt").text
    assert text.startswith("B vs A — accuracy (%)\n")
    for word in ("over 3 benchmarks", "if these are a sample", "By benchmark", "Cochran's Q"):
        assert word in text
    assert max(map(len, text.splitlines())) <= 120
    assert "| benchmark | cells |" in ask(known, ".md").text
    rows = list(csv.DictReader(io.StringIO(ask(known, ".csv").text)))
    for row, one in zip(rows, document["by_benchmark"], strict=True):
        shown = (row["benchmark"], float(row["difference"]), row["contender_grid"])
        assert shown == (one["benchmark"], one["test"]["difference"], one["contender"]["grid"])
