"""Names that cost the others slots are set aside where a slot must be common to all, and come back when asked for."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from registry.query import METHODS
from registry.renderings import aggregates, ranking, trade_off
from registry.renderings.sheet import markdown, text
from registry.renderings.verdicts.ranking import ranking_verdict
from registry.results.aggregates import Aggregates
from registry.results.codec import from_document
from registry.results.ranking import Ranking
from registry.results.trade_offs import TradeOff
from tests.house import Project
from tests.workers.asking import computed, faults_of, join
from tests.workers.test_rankings import answered, ask, score
from workers.statistics.ranking import rank
from workers.statistics.score_matrix import ScoreMatrix

CELLS: Mapping[str, list[float | None]] = {
    "Claude": [90.0, 88.0, 80.0, 70.0, 60.0],
    "Gemma": [95.0, 93.0, 70.0, None, None],
    "Qwen": [85.0, 80.0, 75.0, 72.0, 66.0],
}
CONTEXT = {"name": "Context", "kind": "numeric", "levels": [4_000, 16_000, 64_000, 128_000, 256_000]}
LACKS = "lacks 4 of 10 slots, all of 128000, 256000"
OF_TABLE = {"experiment": "leaderboard", "metric": "accuracy"}


@pytest.fixture
def contexts(project: Project) -> Project:
    """Two benchmarks at five lengths of context, two of which Gemma has not."""
    for benchmark in ("Needle", "Recall"):
        for model, values in CELLS.items():
            score(project, model, values, benchmark=benchmark, axes=[CONTEXT])
    return project


def test_a_ranking_over_common_slots_is_that_of_the_others(contexts: Project, subtests: pytest.Subtests) -> None:
    for asked in ({"missing": "complete"}, {"method": "mean"}, {"method": "borda"}):
        with subtests.test(msg=str(asked)):
            found = answered(contexts, **asked)
            assert [one["name"] for one in found["set_aside"]] == ["Gemma"]
            alone = answered(contexts, **asked, model=["Claude", "Qwen"])
            assert (found["ranking"], found["pairs"]) == (alone["ranking"], alone["pairs"])
    everybody = answered(contexts, missing="complete", set_aside="none")
    assert ([len(everybody["ranking"]), everybody["slots"]["compared"]], everybody["set_aside"]) == ([3, 6], [])
    assert {(row["cells"], row["compared"]) for row in everybody["ranking"]} == {(6, 6), (10, 6)}
    assert "6 of 10 slots compared" in text(ranking.page(from_document(Ranking, everybody)))
    assert {pair["n_common"] for pair in everybody["pairs"]} == {6}
    assert answered(contexts)["set_aside"] == []  # by pairs nobody costs anybody anything
    found = from_document(Ranking, answered(contexts, missing="complete"))
    for written in (text(ranking.page(found)), markdown(ranking.page(found))):
        assert f"Gemma {LACKS}" in " ".join(written.replace("\\", "").split())
        assert "With nobody set aside they are compared too." in " ".join(written.split())


def test_a_lead_over_common_cells_is_on_those_that_all_have() -> None:
    values = np.array([[90.0, 88.0, 91.0], [70.0, 71.0, 72.0], [50.0, 51.0, np.nan]])
    board = ScoreMatrix(
        ("a", "b", "c"), values, np.array([0, 1, 1]), ("X", "Y"), np.full((3, 3), 900), "higher", 0, 100
    )
    [lead, *_] = ranking_verdict(rank(board, missing="complete")).more
    assert lead.endswith("on the 2 of 3 cells of 2 benchmarks that all have.")
    lead = ranking_verdict(replace(rank(board), by="benchmark")).more[0]
    assert lead.endswith("on the 3 cells of 2 models that both have.")


def test_named_ones_are_set_aside_by_name_alias_and_page(contexts: Project) -> None:
    join(contexts, "model", "Claude 4", "Claude")
    found = answered(contexts, missing="complete", set_aside="Claude 4")
    assert [one["name"] for one in found["set_aside"]] == ["Claude"]
    assert (found["selection"]["set_aside"], "Claude set aside" in found["selection"]["sentence"]) == (["Claude"], True)
    assert list(faults_of(ask(contexts, missing="complete", set_aside="Nobody else"))) == ["/set_aside"]
    page = contexts.get(
        f"/projects/{contexts.slug}/rankings", query_string=OF_TABLE | {"missing": "complete", "set_aside": "Claude"}
    )
    assert (page.status_code, "With nobody set aside they are compared too" in page.text) == (200, True)


def test_who_is_set_aside_of_means_alone_is_ranked_and_said_to_be_so(contexts: Project) -> None:
    found = answered(contexts, set_aside="Claude")
    assert len(found["ranking"]) == 3
    assert found["selection"]["sentence"].endswith(", Claude set aside in means")
    assert "no mean: Claude was set aside\n" in text(ranking.page(from_document(Ranking, found)))
    usual = text(ranking.page(from_document(Ranking, answered(contexts))))
    assert "no mean: Gemma lacks too much of what most others have\n" in usual
    found = answered(contexts, set_aside="Claude", missing="available")
    assert found["selection"]["sentence"] == "accuracy in leaderboard"


def view(project: Project, name: str, asked: dict[str, Any]) -> Any:
    return computed(project, f"projects/{project.slug}/{name}", query_string=asked)


def means(found: Any) -> dict[tuple[Any, ...], float | None]:
    return {tuple(one["at"].values()): one["value"] for one in found["entries"]}


def test_a_table_keeps_the_slots_of_the_others(contexts: Project) -> None:
    found = view(contexts, "aggregates", OF_TABLE | {"group_by": "model"})
    assert means(found) == {("Claude",): pytest.approx(77.6), ("Gemma",): None, ("Qwen",): pytest.approx(75.6)}
    [one] = found["set_aside"]
    assert (one["lacks"], one["missing"], one["slots"]) == (["128000", "256000"], 4, 10)
    assert f"Gemma {LACKS}" in " ".join(text(aggregates.page(from_document(Aggregates, found))).split())
    found = view(contexts, "aggregates", OF_TABLE | {"group_by": "model", "set_aside": "none"})
    assert means(found) == {("Claude",): 86.0, ("Gemma",): 86.0, ("Qwen",): 80.0}
    assert found["set_aside"] == []
    found = view(contexts, "aggregates", OF_TABLE | {"group_by": "model,benchmark"})
    assert [(one["name"], one["at"]) for one in found["set_aside"]] == [
        ("Gemma", {"benchmark": "Needle"}),
        ("Gemma", {"benchmark": "Recall"}),
    ]


def test_of_a_line_a_level_that_it_lacks_is_a_gap_and_nobody_elses(contexts: Project) -> None:
    score(contexts, "Gemma", [95.0, 93.0, 70.0, 50.0, None], benchmark="Recall", axes=[CONTEXT])
    found = view(contexts, "lines", OF_TABLE)
    drawn = {line["name"]: {point["level"]: point["mean"] for point in line["points"]} for line in found["lines"]}
    assert drawn["Claude"] == dict(zip(CONTEXT["levels"], CELLS["Claude"], strict=True))
    # At 128,000 it has one of two benchmarks: it is set aside there, and the others keep both.
    assert list(drawn["Gemma"]) == CONTEXT["levels"][:3]
    assert {level["shared"] for level in found["levels"]} == {2}
    assert "Gemma at 128000 lacks 1 of 2 slots, all of Needle" in " ".join(one["detail"] for one in found["warnings"])


def test_of_a_trade_off_it_is_told_who_is_set_aside_and_what_it_lacks(contexts: Project) -> None:
    asked = {"experiment": "leaderboard", "x": "metric:accuracy", "y": "metric:accuracy", "y.at.Context": "4000"}
    found = view(contexts, "trade-offs", asked)
    assert [point["name"] for point in found["points"]] == ["Qwen", "Claude"]
    [told] = trade_off.without(from_document(TradeOff, found))
    assert told == f"Without a point: Gemma (is set aside in accuracy, as it {LACKS})."
    found = view(contexts, "trade-offs", asked | {"set_aside": "none"})
    assert (len(found["points"]), found["without"]) == (3, [])


def test_a_trade_off_says_which_quantity_a_doubt_is_about_and_that_slots_differ(contexts: Project) -> None:
    contexts.call("PUT", f"projects/{contexts.slug}/suites/both", json={"benchmarks": ["Needle", "Recall"]})
    seconds = {"name": "seconds", "unit": "s", "direction": "lower"}
    for model in CELLS:
        contexts.published(
            experiment="leaderboard", benchmark="Needle", model=model, metric=seconds, trials=None,
            axes=[CONTEXT], values=[1.0, 2.0, 3.0, 4.0, 5.0],
        )  # fmt: skip
    asked = {"experiment": "leaderboard", "x": "metric:seconds", "y": "metric:accuracy", "suite": "both"}
    told = {one["code"]: one["detail"] for one in view(contexts, "trade-offs", asked)["warnings"]}
    assert told["suite_incomplete"].startswith("seconds: Nothing is tabulated on 1 of the 2 benchmarks of the suite")
    assert told["other_slots"] == (
        "The two quantities are over different slots: accuracy over 10, seconds over 5; accuracy alone is measured on"
        " Recall."
    )


def test_where_most_lack_something_nobody_is_set_aside(project: Project) -> None:
    for place, model in enumerate(("a", "b", "c", "d")):
        for benchmark in range(4):
            if benchmark != place:
                score(project, model, 50.0 + place + benchmark, benchmark=f"x{benchmark}")
    found = answered(project, missing="complete")
    assert (found["status"], found["reason"], found["set_aside"]) == ("insufficient", "no slot has all names", [])


def test_who_is_compared_with_nobody_has_no_place_by_any_method(project: Project) -> None:
    for model in ("a", "b"):
        score(project, model, 50.0, benchmark=f"only of {model}")
    for method in METHODS:
        for missing in ("matched", "available"):
            found = answered(project, method=method, missing=missing)
            assert found["slots"]["compared"] == 0
            assert found["status"] in ("insufficient", "undefined")
            for row in found["ranking"]:
                assert (row["rank"], row["score"], row["rank_low"], row["rank_high"], row["group"]) == (*[None] * 4, [])
