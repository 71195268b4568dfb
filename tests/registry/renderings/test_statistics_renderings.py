"""What people and programs read of statistics, whole; the statistics were written down by hand."""

from typing import Any

import pytest

from tests.registry.renderings.documents import of, thresholds_csv, thresholds_text

PARTS = ("statistics", "trends", "changes", "peaks", "coverage", "sensitivity", "precision")
HEAD = {
    "grid": "0193a7c0-0000-7000-8000-000000000001", "revision": 2, "methods_version": "1",
    "params": {"alpha": 0.05, "sharp_change": 5.0, "equivalence": 2.0, "power": 0.8},
    "metric": {"name": "accuracy", "unit": "%", "direction": "higher"},
    "axes": [{"name": "Type", "kind": "nominal"}, {"name": "Length", "kind": "numeric"}],
}  # fmt: skip


def interval(low: float, high: float, level: float = 0.95) -> dict[str, float]:
    return {"level": level, "low": low, "high": high}


def step(start: int, end: int, size: float, **more: Any) -> dict[str, Any]:
    return {"from": start, "to": end, "size": size} | more


def falling(**more: Any) -> dict[str, Any]:
    picked = {"size": -5.6, "at": [{"from": 2, "to": 3}], "p_holm": 0.01068, "interval": interval(-10.9, -0.31, 0.9974)}
    changes = [
        step(0, 1, -2.6, sharp=False, p_holm=0.2936, interval=interval(-5.4, -0.3677), detectable=3.94),
        step(2, 3, -5.6, sharp=True, p_holm=0.01068, interval=interval(-9.3, -2.4), detectable=4.41),
    ]
    exact = {"status": "ok", "method": "exact", "s": -31, "p": 0.00468694885361552, "min_attainable_p": 5.5e-7}
    return {
        "along": "Length", "at": {"Type": "1"}, "count": 10, "from": 0, "to": 9, "first": 99.3, "last": 83.7,
        "slope": -1.8571428571428572, "slope_interval": interval(-2.94, -0.8), "slope_interval_reason": None,
        "noise": "trials", "detectable": 5.13, "mann_kendall": exact, "trend_p": 0.00001, "q": 0.0133369,
        "fitted_change": {"value": -15.23, "interval": interval(-19.2, -10.9), "method": "logit"},
        "end_change": {"value": -15.6, "interval": interval(-20.3, -11.5), "method": "newcombe"},
        "direction": "slightly_decreasing",
        "onset": {"goes": "falls", "margin": 2.0, "until": 2, "by": 4, "level": 0.975},
        "changes": changes, "changes_left_out": 0, "sharp_reason": None, "largest": {"drop": picked, "rise": None},
    } | more  # fmt: skip


def too_short() -> dict[str, Any]:
    nothing = dict.fromkeys(
        ("slope", "slope_interval", "fitted_change", "end_change", "detectable", "trend_p", "q", "largest", "onset")
    )
    return falling(
        at={"Type": "2"}, count=2, first=100.0, last=99.7, slope_interval_reason="two points have no interval",
        mann_kendall={"status": "insufficient", "method": "exact", "p": 1.0, "reason": "too few orderings"},
        direction="two_points",
        changes=[step(1, 2, -0.3, sharp=None, p_holm=None, interval=None, detectable=None)],
    ) | nothing  # fmt: skip


def peaks() -> dict[str, Any]:
    at, other = {"Window": 2000, "Ratio": 0.4}, {"Window": 500, "Ratio": 0.5}
    return {
        "status": "ok",
        "best": {"value": 52.0, "at": [at], "ties": 1},
        "runner_up": {"value": 48.7, "at": [other], "ties": 3, "gap": 3.299999999999997},
        "by": {"Ratio": [{"level": 0.1, "value": 47.3, "at": [{"Window": 3000, "Ratio": 0.1}], "ties": 1}]},
        "expected_max_if_equal": 52.62,
        "plausible_max_if_equal": 56.67,
        "probability_best": [{"at": at, "value": 52.0, "probability": 0.1403, "if_unrelated": 0.4812}],
        "best_set": {"level": 0.95, "size": 2, "at": [at, other], "method": "gupta"},
    }


def coverage() -> dict[str, Any]:
    row = {"level": "1", "count": 2, "first": 0, "last": 2, "holes": [1]}
    columns = [
        {"level": 0, "count": 1, "first": "1", "last": "1", "holes": []},
        {"level": 1, "count": 0, "first": None, "last": None, "holes": []},
        {"level": 2, "count": 1, "first": "1", "last": "1", "holes": []},
    ]
    by = {
        "Type": {"levels": [row], "empty": [], "complete": []},
        "Length": {"levels": columns, "empty": [1], "complete": [0, 2]},
    }
    return {"cells": 2, "possible": 3, "by": by, "component_count": 1}


def sensitivity(logit: dict[str, Any] | None = None) -> dict[str, Any]:
    means = [{"level": "1", "raw_mean": 63.0, "interval": interval(62.0, 64.0), "mean": 44.0, "logit_mean": 33.6}]
    residual = {"share": 0.2358, "df": 15, "over_noise": 4.72, "p": 1e-9, "logit": logit}
    axes = {"Type": {"share": 0.7642, "df": 6, "p": 0.00001, "test": "f", "levels": means}}
    return {"status": "ok", "method": "shapley", "axes": axes, "residual": residual}


ALONG_AN_ORDER = [{"name": "Length", "kind": "ordinal", "unit": None}]
WITHOUT_NOISE = falling(
    changes=[step(0, 1, -2.0, sharp=None), step(1, 2, -40.0, sharp=None)],
    largest={"drop": {"size": -40.0, "at": [{"from": 1, "to": 2}], "p_holm": None, "interval": None}, "rise": None},
    sharp_reason="noise_unknown",
)
LOGIT = {"chi2": 16.94, "df": 14, "over_noise": 1.21, "p": 0.246}
TRENDS: dict[str, dict[str, Any]] = {
    "one row a series, and why a number is missing": {"series": [falling(), too_short()]},
    "no trend shown says what could have been, and level within what": {
        "series": [falling(direction="inconclusive"), falling(direction="flat")]
    },
    "one series": {"series": [falling()]},
    "the p of the test that fits the noise": {"series": [falling(logit={"status": "ok", "p": 0.00001})]},
    "the normal law is not called exact": {
        "series": [falling(mann_kendall={"status": "ok", "s": -900, "p": 0.2, "method": "normal"})]
    },
    "a slope per unit": {"axes": [{"name": "Length", "kind": "numeric", "unit": "token"}], "series": [falling()]},
    "a slope per factor of ten": {"series": [falling(x_scale="log10")]},
    "a slope per level": {"axes": ALONG_AN_ORDER, "series": [falling()]},
    "all series together have one line": {
        "series": [falling()],
        "grid_trend": {"Length": {"status": "ok", "s": -267, "rows": 7, "p": 1e-9, "method": "exact"}},
    },
    "what is assumed stands above the numbers": {"assumes": ["independent_trials"], "series": [falling()]},
}  # fmt: skip
PEAKS: dict[str, dict[str, Any]] = {
    "a peak beside its noise floor": {"peaks": peaks()},
    "lower is better": {"metric": {"name": "loss", "direction": "lower"}, "peaks": peaks()},
    "no better end": {"peaks": {"status": "undefined", "best": None, "reason": "the metric has no better end"}},
    "a design effect and no assumption": {"assumes": [], "design_effect": 2.5, "peaks": peaks()},
}
SAID: dict[str, dict[str, dict[str, Any]]] = {
    "trends": TRENDS,
    "changes": {
        "sharp steps are marked": {"series": [falling(), too_short()]},
        "without noise no step is sharp": {"series": [WITHOUT_NOISE]},
    },
    "peaks": PEAKS,
    "coverage": {"holes along axes with an order": {"coverage": coverage()}},
    "sensitivity": {
        "what is left": {"sensitivity": sensitivity()},
        "an interaction is judged on the logit scale": {"sensitivity": sensitivity(LOGIT)},
    },
    "precision": {
        "trials": {"precision": {"decimals": 1, "implied_trials": 150, "candidates": [150, 300], "chance": 0.15}},
    },
    "statistics": {"all parts under their headings": {"series": [falling()], "peaks": peaks()}},
}  # fmt: skip


def test_every_part_is_written_in_words_and_csv_keeps_every_digit(subtests, snapshot) -> None:
    for part, cases in SAID.items():
        for name, found in cases.items():
            with subtests.test(msg=name):
                assert of(part)["txt"](HEAD | found) == snapshot(name=f"{part}: {name}")
                if "csv" in of(part):
                    assert of(part)["csv"](HEAD | found) == snapshot(name=f"{part}: {name}, CSV")


def test_markdown_says_the_same_of_a_slope() -> None:
    found = of("trends")["md"](HEAD | {"axes": ALONG_AN_ORDER, "series": [falling()]})
    assert "slope: of a straight line (Theil–Sen), in points per level of Length\n" in found


def test_a_column_that_is_not_there_has_no_legend() -> None:
    found = sensitivity()
    found["axes"]["Type"]["levels"][0] |= {"mean": None, "logit_mean": None}
    assert "adjusted" not in of("sensitivity")["txt"](HEAD | {"sensitivity": found})
    assert "adjusted: as if" in of("sensitivity")["txt"](HEAD | {"sensitivity": sensitivity()})


def test_of_many_steps_text_lists_the_sharp_ones_and_the_largest_of_each_series() -> None:
    small = [step(i, i + 1, 0.1, sharp=False) for i in range(50)]
    document = HEAD | {"series": [falling(changes=[*small, step(50, 51, -3.0, sharp=False)])]}
    assert "1       50  51  -3.0\n" in of("changes")["txt"](document)
    assert "50 of these are not shown here; CSV and JSON have the 51 listed\n" in of("changes")["txt"](document)
    assert of("changes")["csv"](document).count("\n") == 52


@pytest.mark.parametrize(
    ("detail", "others"),
    [
        ("full", "1,197 steps of long series are not listed\n"),
        ("outstanding", "1,197 other steps are not listed: detail=full has all\n"),
    ],
)
def test_csv_and_json_are_not_said_to_have_steps_that_were_not_kept(detail: str, others: str) -> None:
    """A hundred of 499 steps were kept of each of three series."""
    head = HEAD | {"params": HEAD["params"] | {"detail": detail}}
    kept = [step(i, i + 1, 0.1 + i, sharp=False) for i in range(100)]
    series = [falling(at={"Type": name}, changes=kept, changes_left_out=399) for name in "123"]
    text = of("changes")["txt"](head | {"series": series})
    assert " along Length: 0 of 1,497 steps sharp" in text
    assert "297 of these are not shown here; CSV and JSON have the 300 listed\n" in text
    assert others in text
    assert of("changes")["csv"](HEAD | {"series": series}).count("\n") == 1 + 300


def test_steps_that_are_all_noise_are_not_listed_one_by_one() -> None:
    steps = [step(level, level + 1, -0.1 * level, sharp=False, p_holm=1.0) for level in range(31)]
    table = of("changes")["txt"](HEAD | {"series": [falling(changes=steps, largest={})]})
    assert table.count("1.0000") == 1
    assert "30 of these are not shown here" in table


def crossing(**more: Any) -> dict[str, Any]:
    crossings = [{"at": 3.4, "direction": "falling"}, {"at": 7.25, "direction": "rising"}]
    known = {
        "level": 90.0, "side": "below", "crossings": crossings, "first_failing": 4, "first_reaching": 0,
        "sustained_from": 8, "sustained_until": 3, "recovers": True, "interval": interval(3, 6),
    }  # fmt: skip
    return {"along": "Length", "at": {"Type": "1"}, "noise": "trials", "thresholds": [known | more]}


def test_thresholds_are_crossed_both_ways_with_an_interval(snapshot) -> None:
    """Between the names of levels, where these have no number."""
    rising = crossing(first_failing=0, crossings=[], sustained_from=None, interval=interval(12, 0) | {"high": None})
    named = crossing(crossings=[], interval={"level": 0.95, "low": "small", "high": "large"})
    assert thresholds_text(HEAD | {"series": [crossing(), rising, named]}) == snapshot
    wavy = crossing(interval=None)
    assert thresholds_text(HEAD | {"series": [wavy]}) == snapshot(name="up and down")
    assert thresholds_text(HEAD | {"series": [wavy | {"noise": "unknown"}]}) == snapshot(name="without noise")
    assert thresholds_csv(HEAD | {"series": [crossing()]}) == snapshot(name="csv")


def test_crossings_of_names_in_an_order_lie_between_names() -> None:
    axes = [{"name": "Length", "kind": "ordinal", "levels": ["S", "M", {"label": "L", "number": 9}]}]
    crossings = [{"at": at, "direction": way} for at, way in ((0.0, "falling"), (1.25, "rising"), (2.0, "falling"))]
    text = thresholds_text(HEAD | {"axes": axes, "series": [crossing(crossings=crossings)]})
    assert " falling at S, rising between M and L, falling at L " in text


def test_crossings_of_large_numbers_are_read_as_numbers_and_those_over_a_hole_say_so() -> None:
    crossings = [{"at": 131072.4, "direction": "falling", "holes": 1}, {"at": 262144.0, "direction": "rising"}]
    text = thresholds_text(HEAD | {"series": [crossing(crossings=crossings, first_failing=131072.0)]})
    assert " falling at 131072 (over 1 level without a cell), rising at 262144 " in text
    assert "e+" not in text


def test_a_part_that_is_null_or_absent_is_one_line(subtests) -> None:
    empty = HEAD | {"series": [], "peaks": None, "coverage": None, "sensitivity": None}
    for part in PARTS:
        for document in (HEAD, empty):
            with subtests.test(msg=part, absent=document is HEAD):
                written = {form: render(document) for form, render in of(part).items()}
                assert written["txt"].endswith(".\n")
                assert written["md"].startswith("# ")
                assert written["csv"].count("\n") == 1


def test_an_interval_that_ends_at_0_is_not_said_to_agree_with_a_test_that_excludes_it() -> None:
    along = {"value": -1.75, "interval": interval(-2.33, 0.0), "method": "theil_sen"}
    said = of("trends")["txt"](HEAD | {"series": [falling(end_change=None, fitted_change=along)]})
    assert "where it ends at 0 beside a trend, as for ties, the test" in " ".join(said.split())
