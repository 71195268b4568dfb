"""Every sentence of a report is one that the numbers bear."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from grid_documents import axis

from registry.pages.findings import findings_of
from registry.renderings.heatmap import heatmap_svg
from registry.renderings.noise_floor import floor_of_noise
from registry.renderings.words import place
from registry.results.peaks import Best, BestSet, Peaks
from tests.registry.renderings.documents import of as statistics_of
from tests.registry.renderings.documents import read
from tests.registry.renderings.documents import report_of as of
from tests.registry.renderings.test_statistics_renderings import HEAD, falling, interval, peaks, step

GRID: dict[str, Any] = {
    "id": HEAD["grid"],
    "experiment": "type-by-length",
    "benchmark": "Core",
    "model": "Qwen",
    "variant": "",
    "revision": 2,
    "metric": HEAD["metric"],
    "axes": [axis("Type", ["1"]), axis("Length", [0, 9], "numeric")],
    "values": [[99.3, 83.7]],
    "trials": 300,
}


def report(**statistics: Any) -> str:
    return " ".join(of("txt")((GRID, HEAD | statistics)).split())


def test_a_fall_is_told_with_its_change_and_the_interval_and_p_of_one_method() -> None:
    fall = falling() | {"direction": "decreasing"}
    assert (
        "Type 1 falls, from 99.3 at 0 to 83.7 at 9 (10 cells); fitted change -15.23 (95 % interval -19.20 to -10.90); "
        "p <0.0001, q 0.0133 among 2 series."
    ) in report(series=[fall, fall | {"at": {"Type": "2"}}])


def test_no_trend_shown_is_no_verdict_and_says_what_would_have_been_seen() -> None:
    undecided = falling() | {"direction": "inconclusive", "changes": []}
    undecided["fitted_change"] = {"value": -0.3, "interval": interval(-2.9, 1.2), "method": "logit"}
    said = report(series=[undecided])
    assert (
        "Type 1: no trend was shown (change: 95 % interval -2.90 to 1.20; q 0.0133); "
        "a change of 5.1 or more would have been seen with power 80 %."
    ) in said
    assert "level" not in said
    unknown = undecided | {"detectable": None, "fitted_change": None, "q": None, "trend_p": None}
    assert (
        "Type 1: no trend was shown; the noise is not known, so nobody can say what would have been seen."
    ) in report(series=[unknown])


def test_level_is_a_claim_with_its_margin() -> None:
    level = falling() | {"direction": "flat"}
    level["fitted_change"] = {"value": -0.3, "interval": interval(-1.4, 0.8), "method": "logit"}
    assert "Type 1 is level: the change lies within ± 2 with 95 % confidence (-1.40 to 0.80)." in report(series=[level])


def test_cells_that_differ_without_a_trend_are_said_to_do_just_that() -> None:
    varies = falling() | {"direction": "varies_without_trend"}
    assert "Type 1: the cells differ by more than their noise; no rise or fall was shown." in report(series=[varies])


def test_without_noise_the_largest_step_is_a_number_and_no_verdict() -> None:
    steps = [step(0, 1, -2.5, sharp=None), step(1, 2, -40.0, sharp=None)]
    unknown = falling() | {"changes": steps, "sharp_reason": "noise_unknown"}
    said = report(series=[unknown])
    assert (
        "No step is called sharp where the noise of the cells is not known; the largest is -40 at Type 1 from Length 1 "
        "to 2."
    ) in said
    assert "Sharp:" not in said


def test_the_best_is_in_a_set_and_never_certain() -> None:
    said = report(series=[], peaks=peaks())
    assert "The best cell is among these 2 with 95 % confidence: Window 2000, Ratio 0.4; Window 500, Ratio 0.5." in said
    assert "The probability that this very cell is the best is about 14 %, after shrinkage for noise." in said
    assert (
        "The best of as many equal cells would be expected at 52.62 and would be at or below 56.67 in 95 % of "
        "cases; this one is not higher, so it proves nothing by itself."
    ) in said
    sure = peaks()
    sure["probability_best"][0]["probability"] = 1.0
    assert "the best is 99 % or more, after shrinkage" in report(series=[], peaks=sure)


@pytest.mark.parametrize(("p", "said"), [(0.246, "That the axes act together was not shown"), (1e-6, "The axes act")])
def test_an_interaction_follows_the_logit_scale(p: float, said: str) -> None:
    residual = {"share": 0.24, "over_noise": 4.72, "p": 1e-9, "logit": {"over_noise": 1.21, "df": 14, "p": p}}
    found = report(series=[], sensitivity={"axes": {"Type": {"share": 0.76, "p": 0.002}}, "residual": residual})
    assert "Type 76 % (p 0.0020), 24 % by none of them alone." in found
    assert f"{said}" in found
    assert "what they leave on the logit scale is 1.21 times the cells' noise" in found


def test_assumptions_are_named() -> None:
    assert "Assumed: the trials of a cell are taken as independent; publish design_effect if they are not." in report(
        series=[], assumes=["independent_trials"]
    )


def test_a_slope_is_told_only_where_nothing_else_is_fitted_and_per_factor_of_ten_on_a_log_axis() -> None:
    fall = falling() | {"direction": "decreasing", "fitted_change": None, "x_scale": "log10"}
    assert "; slope -1.86 (95 % interval -2.94 to -0.80) per factor of ten of Length; p <0.0001." in report(
        series=[fall]
    )
    assert "per unit of Length" in report(series=[fall | {"x_scale": "linear"}])
    ordinal = [{"name": "Type", "kind": "nominal"}, {"name": "Length", "kind": "ordinal"}]
    assert "per level of Length" in report(series=[fall | {"x_scale": "linear"}], axes=ordinal)


def test_values_that_cannot_come_from_the_trials_are_named() -> None:
    off = [{"at": {"Type": "1", "Length": 9}, "value": 83.7}]
    said = report(series=[], precision={"off_lattice_count": 14, "off_lattice": off})
    assert "14 values cannot come from the given number of trials: 83.7 at Type 1, Length 9; and 13 more." in said


def test_a_gap_is_told_once() -> None:
    """Twelve missing cells: the whole of level 2, and one more."""
    grid = GRID | {
        "axes": [axis("Type", ["1", "2"]), axis("Length", list(range(6)), "numeric")],
        "values": [[1.0, None, 1.0, 1.0, 1.0, 1.0], [None] * 6],
    }
    by = {
        "Type": {"empty": ["2"], "levels": [{"level": "1", "hole_count": 1}]},
        "Length": {"empty": [1], "levels": [{"level": 0, "hole_count": 0}]},
    }
    said = " ".join(of("txt")((grid, HEAD | {"series": [], "coverage": {"cells": 5, "by": by}})).split())
    assert "Nothing at all was measured at Type 2. Nothing at all was measured at Length 1." in said
    assert "Never measured" not in said
    assert "Gaps" not in said
    single = by | {"Length": {"empty": [], "levels": [{"level": 0, "hole_count": 0}]}}
    said = " ".join(of("txt")((grid, HEAD | {"series": [], "coverage": {"cells": 5, "by": single}})).split())
    assert "Never measured besides: Type 1, Length 1." in said
    assert "Gaps" not in said


def test_a_floor_of_noise_stays_within_the_bounds_of_the_metric_and_turns_with_its_direction() -> None:
    best = Peaks("ok", Best(100.0, (), 1), best_set=BestSet(0.95, 1, ()))
    higher = {"direction": "higher", "lower": 0.0, "upper": 100.0}
    assert floor_of_noise(higher, replace(best, expected_max_if_equal=101.0, plausible_max_if_equal=102.5), 0) == (
        "the best of as many equal cells would be expected at 100.0 and would be at or below 100.0 in 95 % of cases; "
        "this one is not higher, so it proves nothing by itself"
    )
    loss = {"direction": "lower", "lower": 0.0, "upper": None}
    peaks = Peaks("ok", Best(7.7, (), 1), expected_max_if_equal=9.1, plausible_max_if_equal=8.9)
    assert floor_of_noise(loss, peaks, 1) == (
        "the best of as many equal cells would be expected at 9.10 and would be at or above 8.90 in 95 % of cases; "
        "this one is lower"
    )


def test_a_move_within_the_margin_is_no_fall_and_a_constant_is_no_proof_on_the_page() -> None:
    series = [falling() | {"direction": word} for word in ("decreasing", "slightly_decreasing", "flat", "constant")]
    about = [one.about for one in findings_of(GRID, read(HEAD | {"series": series}))]
    assert about[:4] == [
        "Falls with Length",
        "Falls by less than the margin with Length",
        "Level within the margin along Length",
        "One value throughout along Length",
    ]


def test_a_number_of_many_digits_is_read_by_thousands_and_a_label_as_it_is() -> None:
    assert place({"Size": 70000000000, "Step": 200000, "Share": 0.5, "Kind": "7b"}) == (
        "Size 70\u202f000\u202f000\u202f000, Step 200000, Share 0.5, Kind 7b"
    )


def test_steps_that_are_all_noise_are_not_listed_one_by_one() -> None:
    steps = [step(level, level + 1, -0.1 * level) | {"sharp": False, "p_holm": 1.0} for level in range(31)]
    table = statistics_of("changes")["txt"](HEAD | {"series": [falling() | {"changes": steps, "largest": {}}]})
    assert table.count("1.0000") == 1
    assert "30 other steps are not shown" in table


def test_a_name_from_right_to_left_is_isolated_in_a_sentence() -> None:
    assert place({"ציר": "נמוך", "Step": 2}) == "\u2068ציר\u2069 \u2068נמוך\u2069, Step 2"
    metric = {"name": "דיוק", "unit": "%", "direction": "higher"}
    peaks = {"best": {"value": 96.7, "at": [{"Step": 2}], "ties": 1}}
    said = statistics_of("peaks")["txt"](HEAD | {"metric": metric, "peaks": peaks})
    assert "best \u2068דיוק (%)\u2069: 96.7" in said


def test_of_a_single_cell_nothing_is_said_to_be_the_best_and_no_interval_is_spoken_of() -> None:
    at = {"Type": "1", "Length": 0}
    within = {"level": 0.95, "size": 1, "at": [at], "method": "gupta"}
    best = {"best": {"value": 99.3, "at": [at], "ties": 1}, "runner_up": None, "best_set": within}
    alone = HEAD | {"coverage": {"cells": 1, "possible": 1, "by": {}}, "peaks": best}
    lone = GRID | {"axes": [axis("Type", ["1"]), axis("Length", [0], "numeric")], "values": [[99.3]]}
    known = alone | {"precision": {"implied_trials": 300}}
    told = of("txt")((lone | {"trials": None}, known))
    assert "confidence" not in statistics_of("peaks")["txt"](alone)
    assert "confidence" not in told
    assert "interval" not in told
    assert "Neither trials nor standard errors were given; the printed decimals" in " ".join(told.split())
    picture = heatmap_svg(lone | {"trials": 300}, read(alone))
    assert "confidence" not in picture
