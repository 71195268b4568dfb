"""What people and programs read of a ranking, whole; the rankings were written down by hand."""

import csv
import io
from typing import Any

from tests.registry.renderings.documents import ranking_csv, ranking_markdown, ranking_text


def row(
    rank: int, name: str, score: float | None, low: int, high: int, group: str, component: int = 0
) -> dict[str, Any]:
    record = {"cells": 10, "wins": 12, "ties": 3, "losses": 6}
    named = {"rank": rank, "name": name, "score": score, "rank_low": low, "rank_high": high, "group": list(group)}
    return named | {"component": component, "pool": 3, **record}


def pair(a: str, b: str, difference: float | None, **more: Any) -> dict[str, Any]:
    counts = {"n_common": 9, "wins": 9, "ties": 0, "losses": 0, "estimand": "difference", "lead": 1.0}
    tested = {"interval": {"level": 0.95, "low": 1.0, "high": 3.5}, "detectable": 1.79, "p": 1e-9, "p_holm": 2e-9}
    return {
        "a": a,
        "b": b,
        "status": "ok",
        "difference": difference,
        **counts,
        **tested,
        "test": "score",
    } | more


TOO_FEW = {
    "status": "insufficient", "p": 0.5, "p_holm": 0.5, "reason": "too few slots", "interval": None, "detectable": None,
}  # fmt: skip
ROWS = [row(1, "alpha", 6.04, 1, 2, "A"), row(2, "beta", 5.99, 1, 2, "A"), row(3, "gamma", -12.03, 3, 3, "B")]


def ranking(**more: Any) -> dict[str, Any]:
    return {
        "by": "model", "experiment": "type-by-length", "metric": "accuracy", "method": "mean_difference",
        "missing": "matched", "alpha": 0.05, "target": "rerun", "assumes": ["independent_trials"],
        "benchmarks": ["Core", "S2L"], "slots": {"total": 20, "compared": 18}, "ranking": ROWS,
        "groups": [["alpha", "beta"], ["gamma"]], "never_met": [["beta", "gamma"]],
        "pairs": [
            pair("alpha", "beta", 0.05, **TOO_FEW),
            pair("alpha", "gamma", 2.25),
            pair("beta", "gamma", None, status="not_comparable", n_common=0),
        ],
        "components": [["alpha", "beta", "gamma"]], **more,
    }  # fmt: skip


def elsewhere(name: str, rank: int, best: int, worst: int, other: int) -> dict[str, Any]:
    """The ranks of a name under other policies, of which one is known."""
    ranks = [{"method": "bradley_terry", "missing": "matched", "rank": other}]
    return {"name": name, "rank": rank, "best": best, "worst": worst, "ranks": ranks}


TWO_PARTS = [row(1, "alpha", 0.5, 1, 2, "A"), row(2, "gamma", -0.5, 1, 2, "A"), row(1, "beta", 0.0, 1, 1, "B", 1)]
ALONE = [row(1, "alpha", 0.0, 1, 1, "A"), row(1, "beta", 0.0, 1, 1, "B", 1)]
OTHER_POLICIES = [elsewhere("beta", 2, 1, 2, 1), elsewhere("alpha", 1, 1, 2, 2), elsewhere("gamma", 3, 3, 3, 3)]
AGREEMENT = [{"method": "bradley_terry", "missing": "matched", "tau": 0.3333}]
FRIEDMAN = {
    "chi2": 12.78688524590164, "df": 4, "p": 0.012365447996854519, "exact_p": None, "blocks": 16,
    "iman_davenport": {"f": 3.7451984635083235, "p": 0.008724749218704347},
    "critical_difference": {"alpha": 0.05, "value": 1.5248722301369757},
}  # fmt: skip
BY_WINS = pair("alpha", "beta", None, interval=None, detectable=None, estimand="lead", lead=-0.25)
OVER_NO_CELLS = row(1, "alpha", None, 1, 1, "") | dict.fromkeys(("rank", "score", "rank_low", "rank_high"))
DERIVED = [{"grid": "g", "benchmark": "Average", "model": model} for model in ("alpha", "beta")]
WARNING = {"code": "one_benchmark_dominates", "detail": "WMT makes 97 % of the differences"}
UNTESTED = pair("alpha", "beta", 1.5, p=None, p_holm=None, test=None, status="undefined", reason="questions unknown")
OF_A_PART = ranking(suite="AIME", slice={"Context": [">=64000"], "Type": ["1", "<8k"]})
SAID = {
    "an order with what the tests leave open and its pairs": ranking(),
    "names without a common slot are ranked within their part": ranking(
        ranking=TWO_PARTS, pairs=[], components=[["alpha", "gamma"], ["beta"]]
    ),
    "a rank among nobody says nothing": ranking(ranking=ALONE, pairs=[], components=[["alpha"], ["beta"]]),
    "levels of an axis are named so": ranking(by="axis:Type"),
    "nobody to rank": ranking(ranking=[], pairs=[], reason="the metric has no better end"),
    "a refused order keeps its pairs": ranking(ranking=[], status="undefined", reason="ranks need complete blocks"),
    "nothing is known": dict.fromkeys(ranking()),
    "little is known": {"ranking": [{"name": "a"}], "pairs": [{"a": "a", "b": "b", "n_common": 2}]},
    "other policies are columns of ranks in the order of the ranking": ranking(
        pairs=[], policy_sensitivity=OTHER_POLICIES, stability={"agreement": AGREEMENT}
    ),
    "ranks with one benchmark less": ranking(
        pairs=[], stability={"leave_one_out": [{"name": "alpha", "best": 1, "worst": 3}], "agreement": []}
    ),
    "Friedman's test": ranking(pairs=[], friedman=FRIEDMAN),
    "an order by wins has leads and no differences": ranking(method="win_rate", pairs=[BY_WINS]),
    "a ranking over no cells has no ranks": ranking(ranking=[OVER_NO_CELLS], pairs=[], never_met=[]),
    "what is not counted and what to look at": ranking(
        pairs=[], derived=DERIVED, warnings=[WARNING], assumes=["exchangeable_cells"]
    ),
    "names that all met": ranking(never_met=[]),
    "no pair was tested": ranking(pairs=[UNTESTED]),
    "pairs of one name": ranking(pairs_of="alpha", pairs=[pair("alpha", "beta", 1.0), pair("alpha", "gamma", 2.0)]),
    "a suite and a slice": OF_A_PART,
}  # fmt: skip


def test_a_ranking_is_written_in_words(subtests, snapshot) -> None:
    for name, document in SAID.items():
        with subtests.test(msg=name):
            assert ranking_text(document) == snapshot(name=name)


def test_a_rank_range_says_which_pairs_narrow_it() -> None:
    against = {"code": "order_contradicts_pair", "detail": '"c" is significantly better than "d".'}
    assert "has it narrows none\n" in ranking_text(ranking(warnings=[against]))


def test_a_mean_lies_in_its_interval_as_both_are_written() -> None:
    sure = {"mean": 47.1234567891, "mean_interval": {"level": 0.95, "low": 47.1234567889, "high": 47.1234567893}}
    told = ranking_text(ranking(ranking=[row(1, "alpha", 0.0, 1, 1, "A") | sure], pairs=[], never_met=[]))
    assert " 47.1234567891  [47.1234567889, 47.1234567893] " in told


def test_who_else_changed_is_counted_and_one_alone_is_told() -> None:
    worse = [{"name": f"n{n}", "before": n, "now": n, "verdict": "worse", "difference": -9.0 + n} for n in range(1, 5)]
    for number, told in {2: "", 3: ", 1 more is worse", 4: ", 2 more are better or worse"}.items():
        change = {"since": "2026-10-23T00:00:00Z", "names": worse[:number]}
        assert f"n2 is worse by 7.0{told}." in " ".join(ranking_text(ranking(change=change)).split())


def test_whose_change_no_test_tells_is_named_or_counted_among_all() -> None:
    names = [{"name": f"n{n}", "before": n, "now": n, "verdict": "open"} for n in range(1, 4)]
    same = {"name": "same", "before": 4, "now": 4, "verdict": "unchanged"}
    for found, by, told in (
        ([names[0], same], "model", "n1"),
        (names[:2], "model", "either of the 2 models"),
        ([*names[:2], same], "variant", "2 of the 3 variants"),
        (names, "axis:Length", "any of the 3 levels of Length"),
    ):
        change = {"since": "2026-10-23T00:00:00Z", "names": found}
        written = " ".join(ranking_text(ranking(by=by, change=change)).split())
        assert f"at both instants no test tells a change of {told}." in written
        assert f"now less then: a {'level' if ':' in by else by}'s own values, over" in written


def test_markdown_escapes_pipes_in_names() -> None:
    assert "| a\\|b \\\\ \\<br> |" in ranking_markdown(ranking(ranking=[row(1, "a|b \\ <br>", 1.0, 1, 1, "A")]))


def test_csv_is_one_row_a_name_with_suite_and_slice(snapshot) -> None:
    assert ranking_csv(ranking(pairs=[])) == snapshot
    assert ranking_csv(OF_A_PART) == snapshot(name="of a part")
    assert ranking_csv(SAID["nothing is known"]).count("\n") == 1
    odd = ranking(ranking=[row(1, "=1+1", 0.1 + 0.2, 1, 2, "AB")])
    [read] = csv.DictReader(io.StringIO(ranking_csv(odd)))
    assert (read["name"], float(read["score"]), read["group"]) == ("'=1+1", 0.1 + 0.2, "A B")
