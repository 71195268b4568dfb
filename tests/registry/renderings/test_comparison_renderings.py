"""What people and programs read of a comparison, whole; the comparisons were written down by hand."""

from typing import Any

from tests.registry.renderings.documents import comparison_csv, comparison_markdown, comparison_text

GRID = "0193a7c0-0000-7000-8000-00000000000"


def interval(low: float, high: float) -> dict[str, float]:
    return {"level": 0.95, "low": low, "high": high}


def side(number: int, **names: Any) -> dict[str, Any]:
    metric = {"name": "accuracy", "unit": "%", "direction": "higher"}
    known = {"experiment": "e", "benchmark": "Core", "model": "old", "variant": ""}
    return {"grid": f"{GRID}{number}", "revision": number, "metric": metric} | known | names


def cell(length: int, baseline: float, contender: float, better: str, **more: Any) -> dict[str, Any]:
    values = {"baseline": baseline, "contender": contender, "gap": round(contender - baseline, 6), "better": better}
    return {"at": {"Length": length}, **values, "interval": None, "p": None, "p_holm": None, "test": None} | more


def level(place: int, mean: float | None, **more: Any) -> dict[str, Any]:
    test = {"status": "ok", "name": "score", "interval": interval(-1.0, 3.5), "p": 0.02, "p_holm": 0.04}
    record = {"wins": 1, "ties": 0, "losses": 0, "mean": mean, "median": mean, "test": test}
    return {"level": place, "status": "ok", "n_common": 1} | record | more


TREND = {
    "along": "Length", "x_scale": "linear", "status": "ok", "series_count": 1, "slope": 0.5,
    "slope_interval": interval(0.25, 1.0), "mann_kendall": {"status": "ok", "method": "exact", "p": 0.01},
}  # fmt: skip
TEST = {
    "status": "ok", "name": "score", "difference": 1.5, "interval": interval(0.5, 2.5), "p": 0.0033,
    "stderr": 0.51, "df": None, "detectable": 1.43,
}  # fmt: skip


def comparison(**more: Any) -> dict[str, Any]:
    return {
        "baseline": side(1), "contender": side(2, model="new"), "axes": [{"name": "Length", "kind": "numeric"}],
        "status": "ok", "differs": ["model"], "n_common": 2, "only_in_baseline": {"count": 3, "at": []},
        "only_in_contender": {"count": 0, "at": []}, "wins": 1, "ties": 1, "losses": 0, "mean": 1.25, "median": 1.25,
        "test": TEST, "assumes": ["independent_trials"], "along": [TREND],
        "by": {"Length": {"levels": [level(1, 0.0), level(2, 2.5), level(3, None, n_common=0)], "left_out": 0}},
        "odds_ratio": {"value": 1.5, "interval": interval(1.1, 2.0)},
        "breslow_day": {"p": 0.5}, "agreement": {"status": "ok", "tau": 1.0},
        "cells": [
            cell(1, 97.0, 97.0, "tie", interval=interval(-2.0, 2.0), p_holm=1.0, test="score"),
            cell(2, 95.0, 97.5, "contender", interval=interval(0.5, 4.5), p_holm=0.00002, test="score"),
        ],
        "cells_left_out": 0, "warnings": [],
    } | more  # fmt: skip


MATCHED = ("wins", "ties", "losses", "mean", "median", "test", "by", "odds_ratio", "agreement", "breslow_day")
OF_CELLS = [
    level(1, 0.2, test={"name": "t_over_cells", "interval": interval(0.172, 0.225), "status": "ok", "p_holm": 0.0001}),
    level(2, 0.2, test={"name": "t_over_cells", "status": "insufficient", "reason": "one cell"}),
]


def unmatched(reason: str, **more: Any) -> dict[str, Any]:
    told = {"status": "not_comparable", "reason": reason, "n_common": 0, "cells": [], "along": []}
    return comparison(**told, **dict.fromkeys(MATCHED)) | more


SAID = {
    "the gap overall, by level and cell by cell": comparison(),
    "what is confounded says so above the numbers": comparison(
        status="confounded", reason="model and benchmark differ", contender=side(2, model="new", benchmark="S2L")
    ),
    "without a common cell only the reason is left": unmatched("no coordinate was measured in both"),
    "cells that nobody matched are not counted": unmatched(
        "the grids have not the same axes", only_in_baseline={"count": 0, "at": []}
    ),
    "a test that could not be significant gives its reason": comparison(
        test={"status": "insufficient", "reason": "no signs have a p below 0.05", "p": 1.0}
    ),
    "a slope whose interval is not of its p": comparison(along=[TREND | {"slope_interval": interval(-0.1, 1.0)}]),
    "over too few points a slope has no interval": comparison(along=[TREND | {"slope_interval": None}]),
    "along an axis that has only an order": comparison(axes=[{"name": "Length", "kind": "ordinal"}]),
    "an interval of another law than its p": comparison(by={"Length": {"levels": OF_CELLS, "left_out": 0}}),
}


def test_a_comparison_is_written_in_words(subtests, snapshot) -> None:
    for name, document in SAID.items():
        with subtests.test(msg=name):
            assert comparison_text(document) == snapshot(name=name)


def test_markdown_has_the_same_parts(snapshot) -> None:
    assert comparison_markdown(comparison()) == snapshot


def test_csv_has_one_row_a_cell_and_runs_no_formula() -> None:
    found = comparison(axes=[{"name": "Type"}], cells=[cell(1, 1.0, 0.5, "baseline") | {"at": {"Type": "=1+1"}}])
    assert comparison_csv(found) == (
        "Type,baseline,contender,gap,better,low,high,p,p_holm,test,both,only_contender,only_baseline,neither\n"
        "'=1+1,1.0,0.5,-0.5,baseline,,,,,,,,,\n"
    )
