"""Every sentence of a report is one that the numbers bear."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from registry.pages.findings import findings_of
from registry.renderings.heatmap import heatmap_svg
from registry.renderings.noise_floor import floor_of_noise
from registry.renderings.words import place
from registry.results.peaks import Best, BestSet, Peaks
from tests.registry.renderings.documents import of as statistics_of
from tests.registry.renderings.documents import read
from tests.registry.renderings.documents import report_of as of
from tests.registry.renderings.grid_documents import axis
from tests.registry.renderings.test_statistics_renderings import (
    ALONG_AN_ORDER,
    HEAD,
    WITHOUT_NOISE,
    falling,
    interval,
    peaks,
)

GRID: dict[str, Any] = {
    "id": HEAD["grid"], "experiment": "type-by-length", "benchmark": "Core", "model": "Qwen", "variant": "",
    "revision": 2, "metric": HEAD["metric"], "axes": [axis("Type", ["1"]), axis("Length", [0, 9], "numeric")],
    "values": [[99.3, 83.7]], "trials": 300,
}  # fmt: skip
FALL = falling(direction="decreasing")
SLOPE = falling(direction="decreasing", fitted_change=None, x_scale="log10")
NOT_SHOWN = {"value": -0.3, "interval": interval(-2.9, 1.2), "method": "logit"}
UNDECIDED = falling(direction="inconclusive", changes=[], fitted_change=NOT_SHOWN)
LEVEL = {"value": -0.3, "interval": interval(-1.4, 0.8), "method": "logit"}
SURE = peaks() | {"probability_best": [peaks()["probability_best"][0] | {"probability": 1.0}]}
OFF = {"off_lattice_count": 14, "off_lattice": [{"at": {"Type": "1", "Length": 9}, "value": 83.7}]}


def together(p: float) -> dict[str, Any]:
    residual = {"share": 0.24, "over_noise": 4.72, "p": 1e-9, "logit": {"over_noise": 1.21, "df": 14, "p": p}}
    return {"axes": {"Type": {"share": 0.76, "p": 0.002}}, "residual": residual}


SAID: dict[str, dict[str, Any]] = {
    "a fall has its change, interval and p of one method": {"series": [FALL, FALL | {"at": {"Type": "2"}}]},
    "no trend shown is no verdict and says what would have been seen": {"series": [UNDECIDED]},
    "no trend shown where the noise is unknown": {
        "series": [UNDECIDED | dict.fromkeys(("detectable", "fitted_change", "q", "trend_p"))]
    },
    "level is a claim with its margin": {"series": [falling(direction="flat", fitted_change=LEVEL)]},
    "cells that differ without a trend": {"series": [falling(direction="varies_without_trend")]},
    "without noise the largest step is no verdict": {"series": [WITHOUT_NOISE]},
    "the best is in a set": {"series": [], "peaks": peaks()},
    "the best is never certain": {"series": [], "peaks": SURE},
    "axes that were not shown to act together": {"series": [], "sensitivity": together(0.246)},
    "axes that act together": {"series": [], "sensitivity": together(1e-6)},
    "assumptions are named": {"series": [], "assumes": ["independent_trials"]},
    "a slope per factor of ten where nothing else is fitted": {"series": [SLOPE]},
    "a slope per unit": {"series": [SLOPE | {"x_scale": "linear"}]},
    "a slope per level": {"series": [SLOPE | {"x_scale": "linear"}], "axes": ALONG_AN_ORDER},
    "values that cannot come from the trials": {"series": [], "precision": OFF},
}


def test_a_report_is_written_in_sentences(subtests, snapshot) -> None:
    for name, statistics in SAID.items():
        with subtests.test(msg=name):
            assert of("txt")((GRID, HEAD | statistics)) == snapshot(name=name)


def test_a_gap_is_told_once() -> None:
    """Twelve missing cells: the whole of level 2, and one more."""
    axes = [axis("Type", ["1", "2"]), axis("Length", list(range(6)), "numeric")]
    grid = GRID | {"axes": axes, "values": [[1.0, None, 1.0, 1.0, 1.0, 1.0], [None] * 6]}

    def said(empty: list[int]) -> str:
        by = {
            "Type": {"empty": ["2"], "levels": [{"level": "1", "hole_count": 1}]},
            "Length": {"empty": empty, "levels": [{"level": 0, "hole_count": 0}]},
        }
        return " ".join(of("txt")((grid, HEAD | {"series": [], "coverage": {"cells": 5, "by": by}})).split())

    assert "Nothing at all was measured at Type 2. Nothing at all was measured at Length 1." in said([1])
    assert "Never measured" not in said([1])
    assert "Never measured besides: Type 1, Length 1." in said([])
    assert "Gaps" not in said([1]) + said([])


def test_a_floor_of_noise_stays_within_the_bounds_of_the_metric_and_turns_with_its_direction(snapshot) -> None:
    best = Peaks("ok", Best(100.0, (), 1), best_set=BestSet(0.95, 1, ()))
    higher = {"direction": "higher", "lower": 0.0, "upper": 100.0}
    beyond = replace(best, expected_max_if_equal=101.0, plausible_max_if_equal=102.5)
    assert floor_of_noise(higher, beyond, 0) == snapshot(name="not beyond 100")
    loss = {"direction": "lower", "lower": 0.0, "upper": None}
    lower = Peaks("ok", Best(7.7, (), 1), expected_max_if_equal=9.1, plausible_max_if_equal=8.9)
    assert floor_of_noise(loss, lower, 1) == snapshot(name="at or above")


def test_a_move_within_the_margin_is_no_fall_and_a_constant_is_no_proof_on_the_page(snapshot) -> None:
    series = [falling(direction=word) for word in ("decreasing", "slightly_decreasing", "flat", "constant")]
    assert [one.about for one in findings_of(GRID, read(HEAD | {"series": series}))][:4] == snapshot


def test_numbers_are_read_by_thousands_labels_as_they_are_and_names_from_right_to_left_are_isolated() -> None:
    assert place({"Size": 70000000000, "Step": 200000, "Share": 0.5, "Kind": "7b"}) == (
        "Size 70\u202f000\u202f000\u202f000, Step 200000, Share 0.5, Kind 7b"
    )
    assert place({"ציר": "נמוך", "Step": 2}) == "\u2068ציר\u2069 \u2068נמוך\u2069, Step 2"
    metric = {"name": "דיוק", "unit": "%", "direction": "higher"}
    best = {"best": {"value": 96.7, "at": [{"Step": 2}], "ties": 1}}
    assert "best \u2068דיוק (%)\u2069: 96.7" in statistics_of("peaks")["txt"](HEAD | {"metric": metric, "peaks": best})


def test_of_a_single_cell_nothing_is_said_to_be_the_best_and_no_interval_is_spoken_of() -> None:
    at = {"Type": "1", "Length": 0}
    within = {"level": 0.95, "size": 1, "at": [at], "method": "gupta"}
    best = {"best": {"value": 99.3, "at": [at], "ties": 1}, "runner_up": None, "best_set": within}
    alone = HEAD | {"coverage": {"cells": 1, "possible": 1, "by": {}}, "peaks": best}
    lone = GRID | {"axes": [axis("Type", ["1"]), axis("Length", [0], "numeric")], "values": [[99.3]]}
    told = of("txt")((lone | {"trials": None}, alone | {"precision": {"implied_trials": 300}}))
    assert "confidence" not in statistics_of("peaks")["txt"](alone)
    assert "confidence" not in told
    assert "interval" not in told
    assert "Neither trials nor standard errors were given; the printed decimals" in " ".join(told.split())
    assert "confidence" not in heatmap_svg(lone | {"trials": 300}, read(alone))
