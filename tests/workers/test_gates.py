"""Gates: a pass is shown, an alarm keeps its rate, and no answer is an answer of its own."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from scipy import stats
from sqlalchemy import func, select

from registry.results.gates import Policy
from registry.storage.tables import cached_results, stored_revisions
from tests.house import ACCURACY, ENDED, House, Project, publication
from tests.workers.asking import answer_due, computed, described, faults_of, join
from workers.gates.units import Unit
from workers.gates.units import judged as judged_units
from workers.statistics.margins import Estimate

LENGTHS = [{"name": "Length", "kind": "numeric", "levels": [1, 2, 3, 4]}]
Z = stats.norm.isf(0.05)


def put(project: Project, model: str, values: Any, benchmark: str = "X", **changes: Any) -> dict[str, Any]:
    axes = LENGTHS if isinstance(values, list) else []
    names = {"experiment": "e", "variant": "", "model": model, "benchmark": benchmark}
    return project.published(**names | {"axes": axes, "values": values, "trials": 900} | changes)


def baseline(project: Project, more: dict[str, Any] | None = None, name: str = "main", **policy: Any) -> None:
    sent = {"experiment": "e", "metric": "accuracy", "subject": {"model": "A"}, "policy": policy} | (more or {})
    answer = project.call("PUT", f"projects/{project.slug}/baselines/{name}", json=sent)
    assert answer.status_code in (200, 201), answer.text


def gate(project: Project, contender: str = "B", name: str = "main") -> dict[str, Any]:
    path = f"projects/{project.slug}/baselines/{name}/gate"
    return described(computed(project, path, query_string={"contender": contender}), "Gate")


def verdict(project: Project, contender: str = "B") -> tuple[str, bool | None]:
    found = gate(project, contender)
    return found["verdict"], found["passes"]


def refused(project: Project, contender: str) -> dict[str, str]:
    return faults_of(project.get(f"projects/{project.slug}/baselines/main/gate", query_string={"contender": contender}))


Given = tuple[str, Any, dict[str, Any]]
Judged = Callable[..., dict[str, Any]]
SCENES: dict[str, tuple[tuple[Given, ...], dict[str, dict[str, Any]]]] = {}
"""The grids of an experiment, and policies by name, with what else is said of their baselines under `of`."""


def of(model: str, values: Any, **more: Any) -> Given:
    return model, values, more


def scene(name: str, *grids: Given, **policies: dict[str, Any]) -> None:
    SCENES[name] = grids, policies


@pytest.fixture(scope="module")
def judged(house: House) -> Iterator[Judged]:
    """The gate of a contender by experiment and policy; all are asked for before one is computed."""
    project = house.make_project()
    for experiment, (grids, policies) in SCENES.items():
        for model, values, more in grids:
            put(project, model, values, experiment=experiment, **more)
        for name, policy in policies.items():
            more = {"experiment": experiment} | policy.get("of", {})
            baseline(project, more, f"{experiment}-{name}", **{key: policy[key] for key in policy if key != "of"})
    questions = [(experiment, *asked.split()) for experiment, of_it in OUTCOMES.items() for asked in of_it]
    for number, (experiment, name, contender) in enumerate(questions):
        if number % 40 == 0:  # as many questions as may wait
            answer_due(house)
        path = f"projects/{project.slug}/baselines/{experiment}-{name}/gate"
        assert project.get(path, query_string={"contender": contender}).status_code in (200, 202)
    answer_due(house)  # the rest, before a test computes what is due with other limits
    yield lambda experiment, name="p", contender="B": gate(project, contender, f"{experiment}-{name}")
    ENDED.append(project)


MARGINS = {80.0: 3.0, 70.0: 10.0, 72.0: 4.0, 64.0: 20.0, 60.0: 3.0, 68.0: 3.0}
POINTS = ACCURACY | {"lower": None, "upper": None}
EXACT, POSTED = {"trials": None, "stderr": 0.0, "metric": POINTS}, {"trials": None, "stderr": 1.0}
MANY = {"trials": None, "stderr": 0.158}
LOSS = {"name": "accuracy", "unit": None, "direction": "lower", "lower": None, "upper": None}
NO_CELL, IMPROVES, EQUAL, FLOOR = ({"kind": kind} for kind in ("no_cell_worse", "improves", "equivalent", "floor"))
TWO = {"axes": [LENGTHS[0] | {"levels": [1, 2]}]}
COMMON, FORMER = {"missing": "matched"}, {"missing": "common"}
OTHER_SCALE = ACCURACY | {"unit": None, "upper": 1}

ends = {f"m{margin:g}": {"margin": margin} for margin in MARGINS.values()}
scene("ends", of("A", 70.0), *(of(f"{value:g}", value) for value in MARGINS), **ends)
loss = {"A": 2.0, "B": 2.5, "C": 1.5}
scene("loss", *(of(m, v, metric=LOSS, trials=None, stderr=0.05) for m, v in loss.items()), p={"margin": 0.1})
two = [of("A", 70.0), of("A", 70.0, benchmark="Y"), of("B", 80.0), of("B", 60.0, benchmark="Y")]
each = {"margin": 4.0, "per": "benchmark"}
scene("two", *two, whole={"margin": 4.0}, each=each, one=each | {"of": {"benchmarks": ["X"]}}, equal=each | EQUAL)
cells = [of(m, [70.0, 70.0, third, 70.0], trials=100) for m, third in (("A", 70.0), ("B", 46.0), ("C", 50.0))]
holm = NO_CELL | {"margin": 5.0}
scene("cells", *cells, holm=holm, none=holm | {"multiplicity": "none"}, wide=NO_CELL | {"margin": 40.0})
exact = {"A": [70.0] * 4, "B": [70.0, 70.0, 69.9, 70.0], "C": [70.0] * 4, "D": [70.0, 70.0, 70.0, 69.9]}
zero = {"margin": 0.0}
scene("exact", *(of(m, v, **EXACT) for m, v in exact.items()), cells=NO_CELL | zero, whole=zero)
both = EXACT | {"stderr": [0.0, 1.0]} | TWO
scene("beside", of("A", [70.0, 70.0], **both), of("B", [69.0, 68.0], **both), p=zero)
for count in (2, 3):
    same = {"trials": None, "repeats": count, "sd": 0.0}
    scene(f"same-{count}", of("A", 70.0, **same), of("B", 69.0, **same), p=NO_CELL | {"margin": 0.5})
silent = {"A": [70.0, 71.0, 72.0, 73.0], "B": [70.1, 71.0, 72.1, 73.0]}
scene("silent", *(of(m, v, trials=None) for m, v in silent.items()), p={"margin": 5.0})
repeats = [of("A", 70.0, trials=None, repeats=4, sd=1.0), of("B", 71.0, trials=None, repeats=3, sd=2.0)]
scene("welch", *repeats, p=NO_CELL | {"margin": 1.0})
runs = {"trials": None, "repeats": [4] * 4, "sd": [1.0] * 4}
scene("runs", of("A", [70.0] * 4, **runs), of("B", [71.0] * 4, **runs), cells=NO_CELL, whole={"margin": 1.0})
singles = [of(m, v, benchmark=b, trials=None, repeats=4, sd=1.0) for m, v in (("A", 70.0), ("B", 71.0)) for b in "XY"]
scene("singles", *singles, whole={"margin": 1.0}, each={"per": "benchmark"})
for trials in (1_000, 20):
    scene(f"full-{trials}", of("A", 100.0, trials=trials), of("B", 100.0, trials=trials), p={"margin": 1.0})
improving = [of("A", 70.0), of("B", 71.0), of("C", 80.0), of("D", 70.0)]
scene("improves", *improving, p=IMPROVES, more=IMPROVES | {"margin": 20.0}, less=IMPROVES | {"margin": 2.0})
asked = {"A": 70.1, "B": 69.1, "C": 72.1}
scene("asked", *(of(m, v, trials=3_000) for m, v in asked.items()), p=IMPROVES | {"margin": 2.0})
half = [of(m, 70.0, benchmark=b, trials=n) for m in "AB" for b, n in (("X", 1_000), ("Y", None))]
scene("half", *half, p={"margin": 20.0, "per": "benchmark"})
scene("nearly", of("A", 70.1, **EXACT), of("B", 70.0, **EXACT), p=IMPROVES | {"margin": 2.0})
scene("equal", of("A", 70.0), of("B", 90.0), of("C", 70.0), p=EQUAL | {"margin": 5.0})
floor = [
    of("A", 50.0),
    of("29", 100.0, trials=29),
    of("28", 100.0, trials=28),
    of("low", 80.0),
    of("B", 95.0, **POSTED),
]
scene("floor", *floor, p=FLOOR | {"margin": 90.0})
floors = [of(f"{n}", [100.0, 100.0], trials=[n, 1_000], **TWO) for n in (15, 14)]
errors = ACCURACY | {"direction": "lower"}
erring = (of(m, v, metric=errors) for m, v in {"A": 20.0, "B": 22.1, "D": 9.0}.items())
scene("errors", *erring, p=FLOOR | {"margin": 15.0})
scene("floors", of("A", [50.0, 50.0], **TWO), *floors, p=FLOOR | {"margin": 90.0})
percent = {"margin": 5.0, "margin_unit": "percent"}
scene("percent", of("A", 50.0, **MANY), of("B", 48.0, **MANY), p=percent)
some = {"all": {}, "common": FORMER, "enough": COMMON | {"common_share": 0.75}, "few": COMMON | {"common_share": 0.8}}
missing = [of("A", [70.0] * 4), of("B", [80.0, 80.0, 80.0, None])]
scene("missing", *missing, **{name: {"margin": 3.0} | said for name, said in some.items()})
nothing = [of("A", 70.0), of("B", 70.0, benchmark="Y"), of("C", [None] * 4, trials=None)]
scene("nothing", *nothing, p={"margin": 50.0}, common=COMMON | {"margin": 50.0, "common_share": 0.0})
other_axis = {"axes": [LENGTHS[0] | {"name": "length"}]}
vast = of("C", [1e200] * 4, **EXACT)
scene("apart", of("A", [70.0] * 4, **EXACT), of("B", [70.0] * 4, **EXACT | other_axis), vast, p={"margin": 3.0})
few = [
    of("A", 70.0),
    of("A", [70.0] * 4, benchmark="Y"),
    of("B", 70.0),
    of("B", [70.0] * 4, benchmark="Y", **other_axis),
]
scene("some-apart", *few, p={"margin": 3.0})
scene("derived", of("A", 70.0), of("B", 70.0, derived=True), p={"margin": 3.0})
lower = of("C", 70.0, metric=ACCURACY | {"direction": "lower"})
scene("scales", of("A", 70.0), of("B", 0.7, metric=OTHER_SCALE), lower, p={"margin": 3.0})
variants = [of(model, 70.0, variant=variant) for model in "AB" for variant in ("", "v")]
scene("variants", *variants, any={"margin": 3.0}, one={"margin": 30.0, "of": {"variants": ["v"]}})
for name, spread in (("much", 4.0), ("little", 1.5), ("no", None)):
    of_x = {"repeats": [10] * 4, "trials": 10_000, "sd": [spread] * 4} if spread else {}
    sides = [of(model, [50.0] * 4, **more) for model in "AB" for more in (of_x, {"benchmark": "Y"})]
    scene(f"{name}-noise", *sides, p={"kind": "non_inferior", "margin": 3.0})

IMPROVED, EQUIVALENT, WITHIN = ("improved", True), ("equivalent", True), ("worse_within_margin", True)
REGRESSED, OPEN, REACHED = ("regressed", False), ("inconclusive", None), ("reached", True)
MISSED = ("missed", False)
LACKS, NO_CELLS = ("not_comparable", None, "missing_cells", 0.75), ("not_comparable", None, "no_common_cells")
SCALE, AMBIGUOUS = (("not_comparable", None, reason) for reason in ("scale", "ambiguous_variants"))
ENDS = {"m3 80": IMPROVED, "m10 70": EQUIVALENT, "m4 72": ("non_inferior", True), "m20 64": WITHIN, "m3 60": REGRESSED}
OUTCOMES: dict[str, dict[str, tuple[Any, ...]]] = {
    "ends": ENDS | {"m3 68": OPEN},
    "loss": {"p B": REGRESSED, "p C": IMPROVED},
    "two": {"whole B": EQUIVALENT, "each B": REGRESSED, "one B": IMPROVED, "equal B": REGRESSED},
    "cells": {"holm B": REGRESSED, "holm C": OPEN, "none C": REGRESSED, "wide C": WITHIN},
    "exact": {"cells B": REGRESSED, "cells C": EQUIVALENT, "whole C": EQUIVALENT, "whole D": REGRESSED},
    "beside": {"p B": REGRESSED},
    "same-3": {"p B": REGRESSED},
    "same-2": {"p B": (*OPEN, "unknown_noise")},  # two repeats without any spread are not exact
    "silent": {"p B": (*OPEN, "unknown_noise")},
    "welch": {"p B": OPEN},
    "runs": {"cells B": OPEN, "whole B": IMPROVED},
    "singles": {"whole B": IMPROVED, "each B": OPEN},
    "full-1000": {"p B": EQUIVALENT},
    "full-20": {"p B": OPEN},
    "improves": {"p B": OPEN, "p C": IMPROVED, "more C": MISSED, "less D": OPEN},
    "asked": {"p B": MISSED, "p C": ("improved", None)},
    "half": {"p B": (*OPEN, "unknown_noise")},
    "nearly": {"p B": MISSED},
    "equal": {"p B": ("improved", False), "p C": EQUIVALENT},
    # 29 of 29 show 90 % one-sided at 95 %, and 28 of 28 do not: .9^29 = .047, .9^28 = .052.
    "floor": {"p 29": REACHED, "p 28": OPEN, "p low": MISSED, "p B": REACHED},
    # Where one cell never fails and the other does in 20 of 100, their mean is 90, and both pass with .8^n: .035 for
    # 15, .044 for 14 too; but the bound holds for all rates, with .9^(2 n): .042 and .052.
    "errors": {"p B": MISSED, "p D": REACHED},
    "floors": {"p 15": REACHED, "p 14": OPEN},
    "percent": {"p B": WITHIN},
    "missing": {
        "all B": LACKS,
        "common B": (*IMPROVED, None, 0.75),
        "enough B": (*IMPROVED, None, 0.75),
        "few B": LACKS,
    },
    "nothing": {"p B": NO_CELLS, "common B": NO_CELLS, "p C": NO_CELLS},
    "apart": {"p B": NO_CELLS, "p C": NO_CELLS},
    "some-apart": {"p B": ("not_comparable", None, "missing_cells", 0.2)},
    "derived": {"p B": NO_CELLS},
    "scales": {"p B": SCALE, "p C": SCALE},
    "variants": {"any B": AMBIGUOUS, "one B": EQUIVALENT},
    "much-noise": {"p B": EQUIVALENT},
    "little-noise": {"p B": EQUIVALENT},
    "no-noise": {"p B": EQUIVALENT},
}


def test_each_scene_has_the_verdict_that_is_shown(judged: Judged, subtests: pytest.Subtests) -> None:
    for experiment, wanted_of in OUTCOMES.items():
        for asked, wanted in wanted_of.items():
            with subtests.test(msg=f"{experiment} {asked}"):
                found = judged(experiment, *asked.split())
                shown = tuple(found[name] for name in ("verdict", "passes", "reason", "common_share"))
                assert shown[: len(wanted)] == wanted
                assert found["reason"] is None or len(wanted) > 2


def test_a_verdict_on_fewer_cells_says_so(judged: Judged) -> None:
    found = judged("missing", "common", "B")
    told = "Both have 3 of the 4 cells of the baseline; the contender lacks X, Length 4."
    assert [one["detail"] for one in found["warnings"] if one["code"] == "fewer_cells"] == [told]
    assert found["sentence"].endswith(f" {told}")


def printed_error(*shares: float) -> float:
    """Of a difference of shares of 900 trials in whole percent: 81 such pairs for one that is whole by chance."""
    return math.sqrt(sum(1e4 * p * (1 - p) / 900 + 1 / 12 for p in shares))


def test_each_verdict_is_what_one_sided_ends_show(judged: Judged) -> None:
    for value, margin in MARGINS.items():
        found = judged("ends", f"m{margin:g}", f"{value:g}")
        se = printed_error(0.7, value / 100)
        assert found["gap"] == pytest.approx(value - 70)
        assert found["low"] == pytest.approx(value - 70 - Z * se, abs=0.02)
        assert found["high"] == pytest.approx(value - 70 + Z * se, abs=0.02)
        assert (found["trials_needed"] is None) == (found["passes"] is not None)
    found = judged("loss")
    se = math.hypot(0.05, 0.05)
    assert [found[end] for end in ("gap", "low", "high")] == pytest.approx([0.5, 0.5 - Z * se, 0.5 + Z * se])
    assert judged("floor")["low"] == pytest.approx(5 - Z)
    assert judged("percent")["margin"] == pytest.approx(2.5)


def test_an_inconclusive_verdict_says_what_decides_it(judged: Judged) -> None:
    """-2 points with 3 allowed: 1 point from the limit; (1.645 + 0.842) se / 1, squared, times 900 trials."""
    needed = judged("ends", "m3", "68")["trials_needed"]
    se = printed_error(0.7, 0.68)
    assert needed["effect"] == pytest.approx(1.0)
    assert needed["factor"] == pytest.approx((2.486475 * se) ** 2, rel=0.01)
    assert needed["trials"] == pytest.approx(900 * (2.486475 * se) ** 2, rel=0.01)
    would = "would decide it with 80 % chance, were"
    told = {"ends m3 68": "trials {} this", "welch": "repeats {} this", "cells holm C": "trials {} these"}
    for asked, words in told.items():
        assert f" times the {words.format(would)} the true gap" in judged(*asked.split())["sentence"]


def test_of_several_that_fail_one_is_enough_and_all_must_keep_to_the_policy() -> None:
    """Each with an error of 1, a point from the limit of 1. Of eight that fail each is shown in 1 - .2^(1/8) = 18 %."""
    policy = Policy(1.0, per="benchmark")

    def factor(gap: float) -> float:
        units = [Unit(Estimate(gap, 1.0), 1.0, None, {"benchmark": f"b{n}"}) for n in range(8)]
        needed = judged_units(policy, units, None).needed
        assert needed is not None
        return needed.factor or 0.0

    z = stats.norm.isf
    assert factor(-2.0) == pytest.approx((z(0.05 / 8) + z(0.2 ** (1 / 8))) ** 2)
    assert factor(0.0) == pytest.approx((z(0.05) + z(1 - 0.8 ** (1 / 8))) ** 2)


def test_benchmarks_and_cells_are_judged_one_by_one_the_worst_first(judged: Judged) -> None:
    """46 of 100 against 70 of 100 and 5 points less: about -19 points in 6.9, z = -2.7, p = .003, and .013 by Holm; 50
    of 100: p = .015, which is no alarm among four cells."""
    found = judged("two", "each")
    assert (found["judged"], found["failed"], found["undecided"]) == (2, 1, 0)
    assert [(one["benchmark"], one["verdict"]) for one in found["per"]] == [("Y", "regressed"), ("X", "improved")]
    found = judged("cells", "holm")
    worst = found["per"][0]
    assert (worst["at"], worst["verdict"], worst["benchmark"]) == ({"Length": 3.0}, "regressed", "X")
    assert worst["p_holm"] == pytest.approx(4 * worst["p"])
    assert 0.002 < worst["p"] < 0.005
    assert (found["failed"], found["undecided"]) == (1, 3)
    told = "3 are not decided (each at 95 % confidence; by Holm the first failure among 4 needs 98.75 %)"
    assert told in found["sentence"]
    assert judged("cells", "holm", "C")["per"][0]["p"] < 0.05
    found = judged("exact", "cells")
    assert (found["failed"], found["undecided"]) == (1, 0)
    assert (found["per"][0]["at"], found["per"][0]["gap"]) == ({"Length": 3.0}, pytest.approx(-0.1))
    [cell] = judged("welch")["per"]
    oracle = stats.ttest_ind_from_stats(71.0, 2.0, 3, 70.0 - 1.0, 1.0, 4, equal_var=False, alternative="less")
    assert cell["p"] == pytest.approx(oracle.pvalue, rel=1e-6)


def test_a_sentence_says_what_the_policy_asks(judged: Judged) -> None:
    assert "noise of the cells is not known" in judged("silent")["sentence"]
    assert judged("improves", "less", "D")["sentence"].startswith(
        "Whether D is better than the baseline improves-less by more than 2 points is left open: +0.00 (90 % interval"
    )
    assert judged("nearly")["sentence"].startswith(
        "B is not better than the baseline nearly-p by more than 2 points: -0.100, without noise;"
    )
    # 1.645 x 100 x sqrt((.701 x .299 + .691 x .309) / 3,000) is 1.95, with .721 x .279 it is 1.93.
    assert judged("asked")["sentence"].startswith(
        "B is not better than the baseline asked-p by more than 2 points: -1.00 (90 % interval -2.9"
    )
    better = judged("asked", contender="C")["sentence"]
    assert better.startswith("C is better than the baseline asked-p: +2.00 (90 % interval 0.")
    assert better.endswith(
        "; whether it is better by more than 2 points is left open; this is no pass; were this the true gap, which "
        "lies on the limit, no number of trials would decide it."
    )
    assert (
        " 1 keeps to 20 points, 0 do not, and 1 is not decided, 1 of them for unknown noise (Y);"
        in (judged("half")["sentence"])
    )
    assert judged("floor", contender="low")["sentence"].startswith("low is below the floor 90 %")
    assert judged("floor", contender="29")["sentence"].startswith("29 reaches the floor 90 %: +10.00 (90 % interval 0.")
    worse = judged("errors")["sentence"]
    assert worse.startswith("B is worse than the floor 15 %: +7.10 (lower is better; 90 % interval 4.84 to 9.50)")
    assert judged("errors", contender="D")["sentence"].startswith(
        "D reaches the floor 15 %: -6.00 (lower is better; 90 %"
    )
    told = "+0.500 (lower is better; 90 % interval 0.384 to 0.616); the policy is not kept."
    assert judged("loss")["sentence"].endswith(told)
    assert "by less than 5 percent of the baseline: -2.00 (90 % interval" in judged("percent")["sentence"]
    told = "both have 75 % of the baseline's cells, and the policy asks for at least 80 %."
    assert told in judged("missing", "few")["sentence"]


def test_a_sentence_says_why_nothing_is_compared(judged: Judged) -> None:
    axes = "the axes of the baseline are Length, those of the contender length"
    assert judged("apart")["sentence"] == f"B cannot be compared with the baseline apart-p: on X {axes}."
    assert "on X there are magnitudes beyond 1e-100 to 1e100" in judged("apart", contender="C")["sentence"]
    assert judged("some-apart")["sentence"].endswith(f"the contender lacks all 4 of Y ({axes}).")
    assert "on X one of the grids is derived, and measured ones are judged" in judged("derived")["sentence"]
    told = "no grid of the one has the benchmark and the variant of a grid of the other"
    assert judged("nothing")["sentence"] == f"B cannot be compared with the baseline nothing-p: {told}."


def test_repeats_beyond_their_trials_make_its_errors_larger(judged: Judged) -> None:
    """Ten repeats of 1,000 trials at 0.5 have the variance 2.5 in points squared; 16 over it is 6.4, on 72 degrees of
    freedom above 6.4 * 72 / chi2.ppf(0.975, 72) = 4.7."""
    much, little, no = (
        [one["detail"] for one in judged(f"{name}-noise")["warnings"] if one["code"] == "noise_beyond_trials"]
        for name in ("much", "little", "no")
    )
    assert (len(much), little, no) == (1, [], [])
    assert much[0].startswith("On X repeats vary more than their trials explain (variance ratio 6.4, 4.7")
    assert much[0].endswith("errors from trials are taken larger by as much as they show.")


def test_a_mean_of_cells_out_of_repeats_warns_of_runs_that_move_all_of_them(judged: Judged) -> None:
    warned = {
        (experiment, name): "independent_cells" in [one["code"] for one in judged(experiment, name)["warnings"]]
        for experiment, names in {"runs": ("whole", "cells"), "singles": ("whole", "each"), "exact": ("whole",)}.items()
        for name in names
    }
    # A run may move the only cells of several benchmarks, too; it moves none that are exact.
    assert [asked for asked, told in warned.items() if told] == [("runs", "whole"), ("singles", "whole")]


def test_a_baseline_says_in_advance_what_its_gate_shows_at_equal_scores_where_repeats_vary_more(
    project: Project,
) -> None:
    """Five seeds of 200 trials that vary by twice what 200 trials explain: the interval of a gap of 0 reaches down to
    the margin that was told."""
    for model in ("A", "B"):
        put(project, model, [70.0] * 4, repeats=[5] * 4, sd=[6.5] * 4, trials=1_000)
    for per, scale in (("benchmark", 4**0.5), ("cell", 1)):
        baseline(project, name=per, kind="non_inferior", margin=50.0, margin_unit="points", per=per)
        told = project.get(f"projects/{project.slug}/baselines/{per}").get_json()["margin_shown_at_equal_scores"]
        judged = gate(project, name=per)["per"]
        assert [-one["low"] for one in judged] == pytest.approx([told] * len(judged), rel=0.02)
        assert told > 1.9 * 100 * 1.645 * (2 * 0.7 * 0.3 / 1_000) ** 0.5 / scale


def test_a_baseline_says_in_advance_what_its_gate_shows_over_benchmarks_near_the_end_of_the_scale(
    project: Project,
) -> None:
    for experiment, *given in (("full", (100.0, 50), (100.0, 50)), ("near", (96.0, 50), (99.0, 100), (100.0, 30))):
        for place, (value, trials) in enumerate(given):
            for model in ("A", "B"):
                put(project, model, value, f"X{place}", experiment=experiment, trials=trials)
        baseline(project, {"experiment": experiment}, experiment, kind="non_inferior", margin=2.5)
        told = project.get(f"projects/{project.slug}/baselines/{experiment}").get_json()
        found = gate(project, name=experiment)
        assert told["margin_shown_at_equal_scores"] == pytest.approx(-found["low"], rel=1e-4)
        assert (told["can_pass"], found["passes"]) == (False, None)


def test_exact_cells_add_no_noise_to_those_that_have_some(judged: Judged, project: Project) -> None:
    """On X no cell has noise, on Y both sides have a standard error of 1: that of the mean over both is sqrt(2)/2. And
    so it is for two cells of one grid."""
    reach = Z * math.sqrt(2) / 2
    found = judged("beside")
    assert (found["low"], found["high"]) == (pytest.approx(-1.5 - reach), pytest.approx(-1.5 + reach))
    cases = {"B": (-5.0, -6.0, True), "C": (-5.0, 4.0, False), "D": (0.0, -4.0, True)}
    for model, (x, y, _) in (cases | {"A": (0.0, 0.0, None)}).items():
        put(project, model, 70.0 + x, "X", **EXACT)
        put(project, model, 70.0 + y, "Y", **EXACT | {"stderr": 1.0})
    baseline(project, margin=0.0)
    for model, (x, y, decided) in cases.items():
        found = gate(project, model)
        middle = (x + y) / 2
        assert (found["low"], found["high"]) == (pytest.approx(middle - reach), pytest.approx(middle + reach))
        assert (found["passes"] is not None) == decided


def test_an_error_of_0_is_believed_only_where_both_sides_have_it(project: Project) -> None:
    for mine, theirs, passes in ((0.0, 0.0, True), (0.0, 1.0, None), (1.0, 0.0, None)):
        for model, value, stderr in (("A", 70.0, mine), ("B", 75.0, theirs)):
            put(project, model, value, **EXACT | {"stderr": stderr})
        baseline(project, margin=0.0)
        found = gate(project)
        assert (found["passes"], found.get("reason")) == (passes, None if passes else "unknown_noise")


def test_an_answer_names_its_policy_and_inputs_and_a_new_revision_of_either_side_is_judged_anew(
    project: Project,
) -> None:
    grids = [put(project, "A", 70.0), put(project, "B", 60.0)]
    baseline(project, margin=3.0)
    found = gate(project)
    assert (found["baseline"], found["policy_version"], found["contender"]) == ("main", 1, "B")
    assert [(one["grid"], one["revision"], one["side"], one["digest"]) for one in found["inputs"]] == [
        (grids[0]["id"], 1, "baseline", grids[0]["digest"]),
        (grids[1]["id"], 1, "contender", grids[1]["digest"]),
    ]
    assert (found["verdict"], found["passes"]) == ("regressed", False)
    assert found["sentence"].startswith(
        "B is worse than the baseline main by more than 3 points: -10.00 (90 % interval"
    )
    baseline(project, margin=20.0)
    found = gate(project)
    assert (found["policy_version"], found["verdict"]) == (2, "worse_within_margin")
    put(project, "B", 80.0)
    assert verdict(project) == ("improved", True)
    put(project, "A", 99.0)
    assert verdict(project) == ("inconclusive", None)
    baseline(project, margin=5.0, margin_unit="percent")
    put(project, "A", 0.0)
    assert gate(project)["reason"] == "zero_baseline"


def test_a_margin_in_percent_has_the_noise_of_the_baseline_that_it_is_of(project: Project) -> None:
    """59 - 60, errors of 2, and half of the 60: the error is that of 59 - 1.5 x 60, the root of 4 + 2.25 x 4."""
    for model, value in (("A", 60.0), ("B", 59.0)):
        put(project, model, value, trials=100, stderr=2.0)
    baseline(project, margin=50.0, margin_unit="percent")
    found = gate(project)
    assert found["low"] == pytest.approx(-1 - 1.644854 * math.sqrt(4 + 2.25 * 4))
    assert found["margin"] == 30.0


def test_the_baseline_itself_and_unknown_names_are_refused_and_an_alias_joins_two_names(project: Project) -> None:
    put(project, "A", 70.0)
    put(project, "Qwen", 80.0)
    baseline(project, margin=3.0)
    assert "baseline itself" in refused(project, "A")["/contender"]
    assert "baseline itself" in refused(project, put(project, "A", 71.0)["id"])["/contender"]
    assert "there are Qwen, A" in refused(project, "Qwem")["/contender"]
    join(project, "model", "A2", "A")
    assert "baseline itself" in refused(project, "A2")["/contender"]
    missing = project.get(f"projects/{project.slug}/baselines/mian/gate", query_string={"contender": "Qwen"})
    assert (missing.status_code, "there is main" in missing.get_json()["detail"]) == (404, True)
    join(project, "model", "Qwen", "B")
    put(project, "B", 70.0, "Y")
    assert verdict(project, "B") == verdict(project, "Qwen") == ("improved", True)


def test_pinned_revisions_stay_while_their_grid_goes_on(project: Project) -> None:
    grid = put(project, "A", 70.0)["id"]
    baseline(project, {"subject": {"grids": [{"grid": grid}]}}, margin=3.0)
    assert "baseline itself" in refused(project, grid)["/contender"]
    put(project, "A", 50.0)
    assert verdict(project, "A") == ("regressed", False)
    assert verdict(project, grid) == ("regressed", False)
    assert [one["revision"] for one in gate(project, grid)["inputs"]] == [1, 2]


def one_benchmark(found: dict[str, Any]) -> list[str]:
    return [one["detail"] for one in found["warnings"] if one["code"] == "one_benchmark"]


def test_one_grid_is_judged_on_its_own_benchmark(project: Project) -> None:
    for benchmark in ("X", "Y"):
        put(project, "A", 70.0, benchmark)
    contender = put(project, "B", 80.0, "Y")["id"]
    baseline(project, margin=3.0)
    baseline(project, {"benchmarks": ["Y"]}, "of-y", margin=3.0)
    found = gate(project, contender)
    assert (found["verdict"], {one["benchmark"] for one in found["inputs"]}) == ("improved", {"Y"})
    assert found["sentence"].endswith(" It was judged on Y alone, 1 of 2 benchmarks of the baseline.")
    assert one_benchmark(found) == ["It was judged on Y alone, 1 of 2 benchmarks of the baseline."]
    posted = described(unpublished(project, benchmark="X").get_json(), "Gate")
    assert one_benchmark(posted) == ["It was judged on X alone, 1 of 2 benchmarks of the baseline."]
    assert one_benchmark(gate(project, contender, "of-y")) == []
    lacking = gate(project)
    assert lacking["reason"] == "missing_cells"
    assert lacking["sentence"].endswith(". Both have 1 of the 2 cells of the baseline; the contender lacks X.")


def unpublished(project: Project, role: str = "reader", **changes: Any) -> Any:
    names = {"experiment": "e", "variant": "", "model": "pull-request", "benchmark": "X"}
    sent = publication(**names | {"axes": [], "values": 80.0, "trials": 1_000} | changes)
    path = f"projects/{project.slug}/baselines/main/gate"
    answer = project.call("POST", path, role, json=sent)
    if answer.status_code == 202:
        assert ("Location" in answer.headers, answer.get_json()["derivation"]) == (False, {"state": "pending"})
        answer_due(project.house)
        answer = project.call("POST", path, role, json=sent)
    return answer


def test_an_unpublished_grid_is_judged_and_nothing_of_it_stays(project: Project, house: House) -> None:
    put(project, "A", 70.0)
    baseline(project, margin=3.0)

    def stored() -> tuple[int, ...]:
        with house.database.reading() as connection:
            here = (cached_results.c.project_id == project.id, cached_results.c.query["kind"].astext == "gate")
            counts = (
                select(func.count()).select_from(stored_revisions),
                select(func.count()).select_from(cached_results).where(*here),
            )
            return tuple(connection.scalar(one) or 0 for one in counts)

    before = stored()
    found = described(unpublished(project).get_json(), "Gate")
    assert (found["verdict"], found["contender"]) == ("improved", "pull-request")
    assert [one["side"] for one in found["inputs"]] == ["baseline"]
    assert described(unpublished(project, values=50.0).get_json(), "Gate")["verdict"] == "regressed"
    assert stored() == before
    assert list(faults_of(unpublished(project, experiment="f"))) == ["/experiment"]
    axes = [{"name": name, "kind": "numeric", "levels": list(range(142))} for name in "LM"]
    large = {"axes": axes, "values": [[1.0] * 142] * 142}
    assert "20,000" in str(faults_of(unpublished(project, **large)))
    assert unpublished(project, benchmark="Z").get_json()["reason"] == "no_common_cells"


def test_trials_of_each_cell_are_told_where_all_have_as_many(project: Project) -> None:
    both = {"axes": [LENGTHS[0] | {"levels": [1, 2]}]}
    for counts, name in (([8, 400], "mixed"), ([200, 200], "alike")):
        for model, values in (("A", [70.0, 70.0]), ("B", [69.5, 69.5])):
            put(project, model, values, experiment=name, trials=counts, **both)
        baseline(project, {"experiment": name}, name, margin=1.0)
    mixed, alike = (gate(project, "B", name)["trials_needed"] for name in ("mixed", "alike"))
    assert ("factor" in mixed, "trials" in mixed) == (True, False)
    assert alike["trials"] == pytest.approx(200 * alike["factor"], abs=1)


def test_too_many_cells_are_said_to_be(large: House) -> None:
    project = large.make_project()
    for model in "AB":
        put(project, model, 70.0)
    baseline(project, margin=3.0)
    assert gate(project)["reason"] == "too_large"


def test_a_benchmark_whose_means_differ_otherwise_than_its_weighed_cells_says_both(project: Project) -> None:
    """Of 20 and 1,000 trials a side, the first cell loses 40 points and the second gains 1: by Mantel and Haenszel's
    weights, 10 and 500, that is +0.1961, and the means differ by -19.5. Of 1,000 trials everywhere nothing is said."""
    for model, values in (("A", [90.0, 50.0]), ("B", [50.0, 51.0])):
        put(project, model, values, trials=[20, 1_000], **TWO)
        put(project, f"even {model}", values, trials=1_000, **TWO)
    baseline(project, margin=5)
    found = gate(project)
    [warning] = [one for one in found["warnings"] if one["code"] == "weighed_by_trials"]
    assert warning["detail"] == (
        "On X cells weigh by their trials, which gives +0.1961; the means of its cells differ by -19.5."
    )
    assert found["sentence"].endswith(warning["detail"])
    baseline(project, {"subject": {"model": "even A"}}, "even", margin=5)
    assert gate(project, "even B", "even")["warnings"] == []
    baseline(project, name="floor", kind="floor", margin=40)
    assert gate(project, name="floor")["warnings"] == [], "a floor is about no gap"
