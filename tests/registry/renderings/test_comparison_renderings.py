"""What people and programs read of a comparison, written out by hand."""

from __future__ import annotations

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
    test = {"status": "ok", "name": "mantel_haenszel", "interval": interval(-1.0, 3.5), "p": 0.02, "p_holm": 0.04}
    record = {"wins": 1, "ties": 0, "losses": 0, "mean": mean, "median": mean, "test": test}
    return {"level": place, "status": "ok", "n_common": 1} | record | more


def comparison(**more: Any) -> dict[str, Any]:
    trend = {
        "along": "Length",
        "x_scale": "linear",
        "status": "ok",
        "series_count": 1,
        "slope": 0.5,
        "slope_interval": interval(0.25, 1.0),
        "mann_kendall": {"status": "ok", "method": "exact", "p": 0.01},
    }
    return {
        "baseline": side(1),
        "contender": side(2, model="new"),
        "axes": [{"name": "Length", "kind": "numeric"}],
        "status": "ok",
        "differs": ["model"],
        "n_common": 2,
        "only_in_baseline": {"count": 3, "at": []},
        "only_in_contender": {"count": 0, "at": []},
        "wins": 1,
        "ties": 1,
        "losses": 0,
        "mean": 1.25,
        "median": 1.25,
        "test": {
            "status": "ok",
            "name": "mantel_haenszel",
            "difference": 1.5,
            "interval": interval(0.5, 2.5),
            "p": 0.0033,
            "stderr": 0.51,
            "df": None,
            "detectable": 1.43,
        },
        "assumes": ["independent_trials"],
        "by": {"Length": {"levels": [level(1, 0.0), level(2, 2.5), level(3, None, n_common=0)], "left_out": 0}},
        "along": [trend],
        "mantel_haenszel": {"odds_ratio": {"value": 1.5, "interval": interval(1.1, 2.0)}},
        "breslow_day": {"p": 0.5},
        "agreement": {"status": "ok", "tau": 1.0},
        "cells": [
            cell(1, 97.0, 97.0, "tie", interval=interval(-2.0, 2.0), p_holm=1.0, test="fisher"),
            cell(2, 95.0, 97.5, "contender", interval=interval(0.5, 4.5), p_holm=0.00002, test="fisher"),
        ],
        "cells_left_out": 0,
        "warnings": [],
    } | more


def test_a_comparison_is_the_gap_overall_by_level_and_cell_by_cell() -> None:
    assert comparison_text(comparison()) == (
        "new less old — accuracy (%)\n"
        "===========================\n"
        "\n"
        "new is better than old by 1.5 points (95 % interval 0.5 to 2.5) on the 2 of 5 cells of Core that both have; "
        "on other\n"
        "  questions or benchmarks this could turn.\n"
        "\n"
        "both: Core\n"
        f"baseline: grid {GRID}1, revision 1\n"
        f"contender: grid {GRID}2, revision 2\n"
        "assumed: the trials of a cell are taken as independent; publish design_effect if they are not\n"
        "\n"
        "2 cells in common; only in the baseline 3, only in the contender 0\n"
        "the contender wins 1, ties 1, loses 0\n"
        "gap: mean +1.25, median +1.25\n"
        "Mantel–Haenszel: +1.50 [0.50, 2.50] (95 %), p 0.0033; could have shown 1.4\n"
        "odds ratio 1.5 [1.1, 2] over all cells\n"
        "the same odds ratio in all cells (Breslow–Day, Tarone): p 0.5000\n"
        "agreement of both on which cells are hard: Kendall's tau 1.00\n"
        "\n"
        "By Length\n"
        "---------\n"
        "\n"
        "Length  cells  wins  ties  losses   mean  median  interval       Holm p\n"
        "     1      1     1     0       0   0.00    0.00  [-1.00, 3.50]  0.0400\n"
        "     2      1     1     0       0  +2.50   +2.50  [-1.00, 3.50]  0.0400\n"
        "\n"
        "interval: 95 %, Mantel–Haenszel\n"
        "Holm p: Mantel–Haenszel, over the levels of Length\n"
        "\n"
        "1 level without a common cell\n"
        "\n"
        "How the gap changes\n"
        "-------------------\n"
        "\n"
        "per unit of Length: +0.50 [0.25, 1.00] over 1 series; exact p 0.0100\n"
        "\n"
        "Cells\n"
        "-----\n"
        "\n"
        "Length  baseline  contender   gap  95 % interval   Holm p\n"
        "     1      97.0       97.0   0.0  [-2.00, 2.00]   1.0000\n"
        "     2      95.0       97.5  +2.5  [ 0.50, 4.50]  <0.0001\n"
        "\n"
        "interval: Newcombe's\n"
        "Holm p: Fisher's exact test, each cell by itself, over all tested cells\n"
    )


def test_what_is_confounded_says_so_above_the_numbers() -> None:
    found = comparison(status="confounded", reason="model and benchmark differ")
    found["contender"]["benchmark"] = "S2L"
    text = comparison_text(found)
    assert text.startswith("S2L · new less Core · old — accuracy (%)\n")
    assert "confounded: model and benchmark differ\n" in text


def test_without_a_common_cell_only_the_reason_is_left() -> None:
    nothing = dict.fromkeys(("wins", "ties", "losses", "mean", "median", "test", "by", "mantel_haenszel", "agreement"))
    found = comparison(
        status="not_comparable", reason="no coordinate was measured in both", n_common=0, cells=[], along=[], **nothing
    )
    text = comparison_text(found | {"breslow_day": None})
    assert text.endswith("0 cells in common; only in the baseline 3, only in the contender 0\n")
    assert "not comparable: no coordinate was measured in both\n" in text


def test_cells_that_nobody_matched_are_not_counted() -> None:
    nothing = dict.fromkeys(("wins", "ties", "losses", "mean", "median", "test", "by", "mantel_haenszel", "agreement"))
    alone = {"only_in_baseline": {"count": 0, "at": []}, "only_in_contender": {"count": 0, "at": []}}
    reason = "the grids have not the same axes"
    found = comparison(status="not_comparable", reason=reason, n_common=0, cells=[], along=[], **nothing, **alone)
    text = comparison_text(found | {"breslow_day": None})
    assert f"not comparable: {reason}\n" in text
    assert "in common" not in text


def test_a_test_that_could_not_be_significant_gives_its_reason_instead_of_a_p_value() -> None:
    found = comparison(test={"status": "insufficient", "reason": "no signs have a p below 0.05", "p": 1.0})
    assert "no test: no signs have a p below 0.05\n" in comparison_text(found)


def test_markdown_has_the_same_parts() -> None:
    found = comparison_markdown(comparison())
    assert found.startswith("# new less old — accuracy (%)\n")
    assert "## By Length\n" in found
    assert "| 2 | 95.0 | 97.5 | +2.5 | [ 0.50, 4.50] | <0.0001 |\n" in found


def test_csv_has_one_row_a_cell_and_runs_no_formula() -> None:
    found = comparison(axes=[{"name": "Type"}], cells=[cell(1, 1.0, 0.5, "baseline") | {"at": {"Type": "=1+1"}}])
    assert comparison_csv(found) == (
        "Type,baseline,contender,gap,better,low,high,p,p_holm,test,both,only_contender,only_baseline,neither\n"
        "'=1+1,1.0,0.5,-0.5,baseline,,,,,,,,,\n"
    )


def test_a_gap_over_too_few_points_has_a_slope_without_an_interval() -> None:
    short = comparison()["along"][0] | {"slope_interval": None}
    assert "per unit of Length: +0.500 over 1 series; exact p 0.0100\n" in comparison_text(comparison(along=[short]))


def test_a_gap_along_an_axis_that_has_only_an_order_changes_by_the_level() -> None:
    assert "per level of Length: +0.50" in comparison_text(comparison(axes=[{"name": "Length", "kind": "ordinal"}]))


def test_an_interval_that_is_of_another_law_than_its_p_says_so() -> None:
    """Six gaps that all rise: Student's interval excludes 0, and the exact signs have a Holm p of .0938."""
    signs = {"name": "sign_flip", "interval": interval(0.172, 0.225)}
    shown = level(1, 0.2, test=signs | {"status": "ok", "p": 0.03125, "p_holm": 0.09375})
    short = level(2, 0.2, test=signs | {"status": "insufficient", "p": 0.25, "p_holm": 0.5, "reason": "four gaps"})
    text = comparison_text(comparison(by={"Length": {"levels": [shown, short], "left_out": 0}}))
    assert (
        "interval: 95 %, Student's t over the cells\n"
        "Holm p: exact sign flip, over the levels of Length\n"
        "Student's t takes the gaps as normally distributed, the sign flip does not: they may disagree\n"
        "Holm p —: four gaps\n"
    ) in text
