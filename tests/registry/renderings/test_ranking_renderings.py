"""What people and programs read of a ranking, written out by hand."""

from __future__ import annotations

import csv
import io
from typing import Any

from tests.registry.renderings.documents import ranking_csv, ranking_markdown, ranking_text


def row(rank: int, name: str, score: float | None, low: int, high: int, group: str) -> dict[str, Any]:
    record = {"cells": 10, "wins": 12, "ties": 3, "losses": 6}
    named = {"rank": rank, "name": name, "score": score, "rank_low": low, "rank_high": high, "group": list(group)}
    return named | {"component": 0, "pool": 3, **record}


def pair(a: str, b: str, difference: float | None, **more: Any) -> dict[str, Any]:
    counts = {"n_common": 9, "wins": 9, "ties": 0, "losses": 0, "estimand": "difference", "lead": 1.0}
    tested = {
        "interval": {"level": 0.95, "low": 1.0, "high": 3.5},
        "detectable": 1.79,
        "p": 1e-9,
        "p_holm": 2e-9,
        "test": "mantel_haenszel",
    }
    return {"a": a, "b": b, "status": "ok", "difference": difference, **counts, **tested, **more}


def ranking(**more: Any) -> dict[str, Any]:
    return {
        "by": "model",
        "experiment": "type-by-length",
        "metric": "accuracy",
        "method": "mean_difference",
        "missing": "matched",
        "alpha": 0.05,
        "target": "rerun",
        "assumes": ["independent_trials"],
        "benchmarks": ["Core", "S2L"],
        "slots": {"total": 20, "compared": 18},
        "ranking": [
            row(1, "alpha", 6.04, 1, 2, "A"),
            row(2, "beta", 5.99, 1, 2, "A"),
            row(3, "gamma", -12.03, 3, 3, "B"),
        ],
        "groups": [["alpha", "beta"], ["gamma"]],
        "never_met": [["beta", "gamma"]],
        "pairs": [
            pair(
                "alpha",
                "beta",
                0.05,
                status="insufficient",
                p=0.5,
                p_holm=0.5,
                reason="too few slots",
                interval=None,
                detectable=None,
            ),
            pair("alpha", "gamma", 2.25),
            pair("beta", "gamma", None, status="not_comparable", n_common=0),
        ],
        "components": [["alpha", "beta", "gamma"]],
        **more,
    }


def test_a_ranking_is_an_order_with_what_the_tests_leave_open_and_its_pairs() -> None:
    assert ranking_text(ranking()) == (
        "Ranking of models — type-by-length · accuracy\n"
        "=============================================\n"
        "\n"
        "alpha is first of 3 models, shown to be better than 1 of them; not separated from beta; on other questions or "
        "benchmarks\n"
        "  this could turn.\n"
        "\n"
        "method mean difference · missing matched · alpha 0.05 · target rerun (these cells, run again)\n"
        "18 of 20 slots compared · benchmarks: Core, S2L\n"
        "\n"
        "rank  rank range  group  model   score  cells  wins  ties  losses\n"
        "   1  1–2         A      alpha   +6.04     10    12     3       6\n"
        "   2  1–2         A      beta    +5.99     10    12     3       6\n"
        "   3  3           B      gamma  -12.03     10    12     3       6\n"
        "\n"
        "rank range: the ranks that the tests leave open with 95 % confidence\n"
        "group: names that share a letter were compared, and the tests do not separate them\n"
        "names without a common letter are separated only if they met; never met: beta and gamma\n"
        "score: against the mean of these 3 names; another pool gives other scores\n"
        "\n"
        "assumed: the trials of a cell are taken as independent; publish design_effect if they are not\n"
        "\n"
        "Pairs, a minus b\n"
        "----------------\n"
        "\n"
        "a      b      slots  wins  ties  losses  difference  95 % interval  could show   Holm p\n"
        "alpha  beta       9     9     0       0       +0.05  —                       —        —\n"
        "alpha  gamma      9     9     0       0       +2.25  [1.00, 3.50]          1.8  <0.0001\n"
        "\n"
        "test: Mantel–Haenszel; Holm p over 2 pairs\n"
        "difference: within each benchmark, then the mean over benchmarks; order, interval and p are about it\n"
        "could show: a true difference of this size would have had p < alpha with power 80 %, before Holm\n"
        "— too few slots (1 pair)\n"
        "\n"
        "Not comparable: no slot in common\n"
        "---------------------------------\n"
        "\n"
        "beta and gamma\n"
    )


def test_names_without_a_common_slot_are_ranked_within_their_component() -> None:
    first = [row(1, "alpha", 0.5, 1, 2, "A"), row(2, "gamma", -0.5, 1, 2, "A")]
    rows = [*first, row(1, "beta", 0.0, 1, 1, "B") | {"component": 1}]
    found = ranking_text(ranking(ranking=rows, pairs=[], components=[["alpha", "gamma"], ["beta"]]))
    assert "component  rank  rank range" in found
    assert "the names fall into 2 parts that share no slot; ranks count within a part\n" in found


def test_a_rank_among_nobody_says_nothing() -> None:
    rows = [row(1, "alpha", 0.0, 1, 1, "A"), row(1, "beta", 0.0, 1, 1, "B") | {"component": 1}]
    found = ranking_text(ranking(ranking=rows, pairs=[], components=[["alpha"], ["beta"]]))
    assert "no two names share a slot: each is the only one of its part, and its rank says nothing\n" in found
    assert "left open" not in found
    assert "under other policies" not in found


def test_levels_of_an_axis_are_named_so() -> None:
    found = ranking_text(ranking(by="axis:Type"))
    assert found.startswith("Ranking of levels of Type — type-by-length · accuracy\n")
    assert "group  Type    score" in found


def test_nobody_to_rank_is_told_with_the_reason() -> None:
    found = ranking_text(ranking(ranking=[], pairs=[], reason="the metric has no better end"))
    assert found.endswith("Nothing is ranked: the metric has no better end.\n")


def test_null_fields_are_no_obstacle() -> None:
    empty = dict.fromkeys(ranking())
    assert ranking_text(empty).startswith("Ranking of models\n")
    bare = {"ranking": [{"name": "a"}], "pairs": [{"a": "a", "b": "b", "n_common": 2}]}
    assert "\n   —  —           —      a          —      —     —     —       —\n" in ranking_text(bare)
    assert ranking_csv(empty).count("\n") == 1


def test_markdown_escapes_pipes_in_names() -> None:
    assert "| a\\|b \\\\ \\<br> |" in ranking_markdown(ranking(ranking=[row(1, "a|b \\ <br>", 1.0, 1, 1, "A")]))


def test_csv_is_one_row_a_name() -> None:
    rows = list(csv.DictReader(io.StringIO(ranking_csv(ranking(ranking=[row(1, "=1+1", 0.1 + 0.2, 1, 2, "AB")])))))
    assert [(r["name"], float(r["score"]), r["group"], r["method"]) for r in rows] == [
        ("'=1+1", 0.1 + 0.2, "A B", "mean_difference")
    ]


def test_other_policies_are_columns_of_ranks_in_the_order_of_the_ranking() -> None:
    other = {"method": "bradley_terry", "missing": "matched"}
    found = [
        {"name": "beta", "rank": 2, "best": 1, "worst": 2, "ranks": [other | {"rank": 1}]},
        {"name": "alpha", "rank": 1, "best": 1, "worst": 2, "ranks": [other | {"rank": 2}]},
        {"name": "gamma", "rank": 3, "best": 3, "worst": 3, "ranks": [other | {"rank": 3}]},
    ]
    text = ranking_text(ranking(policy_sensitivity=found, stability={"agreement": [other | {"tau": 0.3333}]}))
    assert text.split("Ranks under other policies\n--------------------------\n\n")[1] == (
        "policy                     tau  alpha  beta  gamma\n"
        "mean difference, matched            1     2      3\n"
        "Bradley–Terry, matched    0.33      2     1      3\n"
        "\n"
        "tau: Kendall's agreement with the order that was asked for\n"
        "names that keep their rank under every policy: 1 of 3\n"
    )


def test_ranks_with_one_benchmark_less_stand_beside_the_order() -> None:
    left = [{"name": "alpha", "best": 1, "worst": 3}]
    lines = ranking_text(ranking(stability={"leave_one_out": left, "agreement": []})).splitlines()
    assert [line.split()[-1] for line in lines[9:13]] == ["less", "1–3", "—", "—"]


def test_a_refused_order_says_why_and_keeps_its_pairs() -> None:
    text = ranking_text(ranking(ranking=[], status="undefined", reason="ranks need complete blocks"))
    assert "Nothing is ranked: ranks need complete blocks.\n" in text
    assert "alpha  gamma      9" in text


def test_friedman_has_its_correction_and_its_critical_difference() -> None:
    friedman = {
        "chi2": 12.78688524590164,
        "df": 4,
        "p": 0.012365447996854519,
        "iman_davenport": {"f": 3.7451984635083235, "p": 0.008724749218704347},
        "exact_p": None,
        "critical_difference": {"alpha": 0.05, "value": 1.5248722301369757},
        "blocks": 16,
    }
    assert (
        "Friedman test\n-------------\n\n"
        "chi-squared 12.79 with 4 df, p 0.0124, blocks: 16 benchmarks\n"
        "Iman–Davenport F 3.745, p 0.0087\n"
        "critical difference of mean ranks (Nemenyi): 1.52\n"
    ) in ranking_text(ranking(friedman=friedman))


def resampling(**more: Any) -> dict[str, Any]:
    names = [
        {"name": "alpha", "rank": 1, "low": 1, "median": 1, "high": 2, "first_share": 0.75, "shares": []},
        {"name": "beta", "rank": 2, "low": 1, "median": 2, "high": 2, "first_share": 0.25, "shares": []},
    ]
    law = {"law": "bootstrap", "resamples": 2000, "seed": 7, "ranked": 1.0}
    return {"status": "ok", "component": 0, "benchmarks": 9, "level": 0.95, "names": names} | law | more


def test_ranks_with_benchmarks_drawn_again_say_how_they_were_drawn() -> None:
    text = ranking_text(ranking(stability={"resampling": [resampling()]}))
    assert text.split("Ranks with benchmarks drawn again\n")[1] == (
        "---------------------------------\n"
        "\n"
        "rank  name   95 % range  median  first in\n"
        "   1  alpha  1–2              1    75.0 %\n"
        "   2  beta   1–2              2    25.0 %\n"
        "\n"
        "2,000 draws of 9 benchmarks with replacement, seed 7\n"
        "first in: the share of the draws in which a name is first; no probability that it is the best\n"
    )
    drawn = resampling(ranked=0.5)
    text = ranking_text(ranking(stability={"resampling": [drawn]}))
    assert "\n50.0 % of the draws rank all names together; the rest is given that\n" in text
    row_ = next(csv.DictReader(io.StringIO(ranking_csv(ranking(stability={"resampling": [drawn]})))))
    assert (row_["resampled_low"], row_["resampled_high"], row_["resampled_first_share"]) == ("1", "2", "0.75")


def test_what_was_too_much_to_draw_says_so_and_what_had_nothing_to_draw_keeps_quiet() -> None:
    refused = {"status": "insufficient", "names": [], "reason": "the resamples would take 2e+09 operations"}
    text = ranking_text(ranking(stability={"resampling": [resampling(**refused)]}))
    assert "not resampled: the resamples would take 2e+09 operations\n" in text
    alone = resampling(status="insufficient", benchmarks=1, names=[], reason="one benchmark cannot be resampled")
    assert "drawn again" not in ranking_text(ranking(stability={"resampling": [alone]}))


def test_below_eight_benchmarks_no_resampled_ranks_are_given() -> None:
    few = resampling(status="insufficient", benchmarks=4, names=[], reason="4 benchmarks are fewer than 8")
    text = ranking_text(ranking(stability={"resampling": [few]}))
    assert "not resampled: 4 benchmarks are fewer than 8\n" in text


def test_where_the_order_comes_from_wins_the_lead_takes_the_place_of_the_difference() -> None:
    nothing = dict.fromkeys(("difference", "interval", "detectable"))
    counted = pair("alpha", "beta", None) | nothing | {"estimand": "lead", "lead": -0.25}
    text = ranking_text(ranking(method="win_rate", pairs=[counted]))
    assert "slots  wins  ties  losses   lead   Holm p\n" in text
    assert "    9     9     0       0  -0.25  <0.0001\n" in text
    assert "lead: wins less losses over slots, benchmarks weighing equally; order and p are about it\n" in text
    assert "difference" not in text.split("Pairs")[1]


def test_a_ranking_over_no_cells_has_no_ranks() -> None:
    nobody = dict.fromkeys(("rank", "score", "rank_low", "rank_high"))
    text = ranking_text(ranking(ranking=[row(1, "alpha", None, 1, 1, "") | nobody], pairs=[], never_met=[]))
    assert "\n   —  —           —      alpha      —     10    12     3       6\n" in text


def test_what_is_not_counted_and_what_to_look_at_is_said() -> None:
    derived = [{"grid": "g", "benchmark": "Average", "model": model} for model in ("alpha", "beta")]
    warning = {"code": "one_benchmark_dominates", "detail": "WMT makes 97 % of the differences"}
    text = ranking_text(ranking(derived=derived, warnings=[warning], assumes=["exchangeable_cells"]))
    assert (
        "assumed: the cells are taken as exchangeable draws; their own noise is unknown or not used\n"
        "not ranked, for they are made of other grids: Average\n"
        "warning: WMT makes 97 % of the differences\n"
    ) in text


def test_names_that_all_met_need_no_word_about_meeting() -> None:
    text = ranking_text(ranking(never_met=[]))
    assert (
        "group: names that share a letter were compared, and the tests do not separate them; "
        "that does not make them equal\n"
    ) in text
    assert "never met" not in text


def test_where_no_pair_was_tested_every_rank_is_left_open_and_no_group_is_claimed() -> None:
    untested = pair(
        "alpha", "beta", 1.5, p=None, p_holm=None, test=None, status="undefined", reason="questions unknown"
    )
    text = ranking_text(ranking(pairs=[untested]))
    assert "no pair was tested, so every rank is left open: questions unknown\n" in text
    assert "the tests do not separate" not in text


def test_pairs_of_one_name_say_that_the_correction_is_over_those_of_all() -> None:
    some = ranking(pairs_of="alpha", pairs=[pair("alpha", "beta", 1.0), pair("alpha", "gamma", 2.0)])
    assert "Holm p over every tested pair of all 3 names" in ranking_text(some)
    assert "Holm p over 2 pairs" in ranking_text(ranking())


def test_a_suite_and_a_slice_stand_in_text_and_csv_where_they_were_asked_for() -> None:
    asked = ranking(suite="AIME", slice={"Context": [">=64000"], "Type": ["1", "<8k"]})
    text = ranking_text(asked)
    assert "suite AIME · 18 of 20 slots compared" in text
    assert 'Only Context at least 64000, Type 1 or "<8k"; nothing else is counted.' in text
    rows = list(csv.DictReader(io.StringIO(ranking_csv(asked))))
    assert {(row["suite"], row["slice"]) for row in rows} == {("AIME", 'Context at least 64000, Type 1 or "<8k"')}
    assert not {"suite", "slice"} & set(next(csv.DictReader(io.StringIO(ranking_csv(ranking())))))
