"""Rankings of leaderboards, whose cells are read all at once: what rankings from the same cells say, one by one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import select

from registry.query import RankingQuery
from registry.storage.tables import pair_sum_scopes
from tests.house import House, Project
from tests.workers.test_counted_rankings import QUESTION, from_cells, publish_ragged, table
from tests.workers.test_rankings import answered, ask, records, score
from workers.jobs.invalidation import apply_invalidations
from workers.queries import compute, compute_again, document_of
from workers.rankings.pair_sums.scopes import open_scope
from workers.rankings.pair_sums.update import catch_up


@pytest.fixture
def boards(house: House) -> House:
    """A house in which every experiment is a leaderboard."""
    return House(house.app, house.database, replace(house.settings, ranking_work=0))


def from_board(boards: House, project: Project, question: RankingQuery = QUESTION) -> dict[str, Any]:
    apply_invalidations(boards.database, boards.settings)
    found = compute(boards.database, boards.settings, project.id, question)
    assert found is not None
    return document_of(found)


def same_order(board: dict[str, Any], cells: dict[str, Any]) -> None:
    for name in (
        "by",
        "method",
        "missing",
        "experiment",
        "metric",
        "benchmarks",
        "slots",
        "components",
        "status",
        "scale",
    ):
        assert board.get(name) == cells.get(name), name
    assert board["inputs_left_out"]["count"] == len(cells["inputs"])
    assert [(row["name"], row["rank"], row["cells"]) for row in board["ranking"]] == [
        (row["name"], row["rank"], row["cells"]) for row in cells["ranking"]
    ]
    for one, other in zip(board["ranking"], cells["ranking"], strict=True):
        assert one["score"] == pytest.approx(other["score"], rel=1e-9, abs=1e-9)
    assert records(board) == records(cells)


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"method": "borda", "missing": "zero_points"},
        {"method": "helm_win_rate"},
        {"method": "adjusted_mean"},
        {"method": "win_rate", "missing": "zero_votes"},
        {"method": "mean_rank", "missing": "worst"},
        {"benchmark": ("B", "D")},
        {"benchmark": ("B", "D"), "model": ("m1", "m3", "m4"), "method": "bradley_terry"},
    ],
)
def test_a_board_has_the_order_and_the_records_that_its_cells_give(
    boards: House, project: Project, asked: dict[str, Any]
) -> None:
    publish_ragged(project)
    question = replace(QUESTION, **asked)
    same_order(from_board(boards, project, question), from_cells(project, question))


def test_variants_are_ranked_too(boards: House, project: Project) -> None:
    for variant, more in (("plain", 0.0), ("thinking", 4.0)):
        for model in ("A", "B", "C"):
            values = [10 + more, 20 - more / 4, None if model == "C" else 30 + more]
            table(project, model, "X", values, variant=variant)
    question = replace(QUESTION, by="variant")
    board = from_board(boards, project, question)
    same_order(board, from_cells(project, question))
    assert [row["name"] for row in board["ranking"]] == ["thinking", "plain"]


def test_aliases_join_names_and_of_two_grids_on_one_slot_the_later_counts(boards: House, project: Project) -> None:
    for model, value in (("A", 50.0), ("old B", 10.0), ("B", 60.0), ("C", 55.0)):
        for benchmark in ("X", "Y"):
            score(project, model, value, benchmark=benchmark)
    project.call("POST", f"projects/{project.slug}/aliases", json={"kind": "model", "alias": "old B", "name": "B"})
    board, cells = from_board(boards, project), from_cells(project)
    same_order(board, cells)
    assert [row["name"] for row in board["ranking"]] == ["B", "C", "A"]
    assert [one["code"] for one in board["warnings"]] == ["same_slots"]
    score(project, "old B", 20.0, benchmark="X")  # updated last
    board, cells = from_board(boards, project), from_cells(project)
    same_order(board, cells)
    assert records(board)["B"] == (2, 0, 2)


def test_scales_are_joined_and_turned_as_for_a_few_grids(boards: House, project: Project) -> None:
    percent = {"name": "accuracy", "unit": "%", "direction": "higher", "lower": 0, "upper": 100}
    share = {"name": "accuracy", "unit": None, "direction": "higher", "lower": 0, "upper": 1}
    loss = {"name": "accuracy", "unit": "nats", "direction": "lower", "lower": 0, "upper": None}
    for model, a, b, c in (("A", 90.0, 0.5, 2.0), ("B", 80.0, 0.7, 1.5), ("C", 70.0, 0.6, 1.25)):
        score(project, model, a, benchmark="X", metric=percent)
        score(project, model, b, benchmark="Y", metric=share)
        question = replace(QUESTION, method="mean", missing="observed")
        same_order(from_board(boards, project, question), from_cells(project, question))
        score(project, model, c, benchmark="Z", metric=loss, trials=None)
    for method, missing in (("win_rate", "matched"), ("borda", "zero_points"), ("borda", "worst")):
        question = replace(QUESTION, method=method, missing=missing)
        board = from_board(boards, project, question)
        same_order(board, from_cells(project, question))
        assert "scale" in [one["code"] for one in board["warnings"]]
    refused = from_board(boards, project, replace(QUESTION, method="mean"))
    assert (refused["status"], refused["ranking"]) == ("undefined", [])


def test_derived_grids_are_listed_and_not_ranked(boards: House, project: Project) -> None:
    for model, value in (("A", 50.0), ("B", 60.0)):
        score(project, model, value, benchmark="X")
        score(project, model, 100 - value, benchmark="Mean of all", derived=True)
    board, cells = from_board(boards, project), from_cells(project)
    same_order(board, cells)
    assert board["derived"] == cells["derived"]
    assert len(board["derived"]) == 2


def test_verifying_a_board_gives_the_same_bytes_and_writes_nothing(boards: House, project: Project) -> None:
    publish_ragged(project)
    first = from_board(boards, project)
    assert compute_again(boards.database, boards.settings, project.id, QUESTION) == first
    with boards.database.reading() as connection:
        kept = select(pair_sum_scopes.c.id).where(pair_sum_scopes.c.project_id == project.id)
        assert connection.execute(kept).all() == []


def test_verifying_leaves_the_sums_that_the_next_computation_gives_up(boards: House, project: Project) -> None:
    publish_ragged(project)
    open_scope(boards.database, project.id, QUESTION)
    assert catch_up(boards.database, project.id, QUESTION, float("inf"))
    again = compute_again(boards.database, boards.settings, project.id, QUESTION)
    with boards.database.reading() as connection:
        kept = select(pair_sum_scopes.c.id).where(pair_sum_scopes.c.project_id == project.id)
        assert len(connection.execute(kept).all()) == 1
    assert again == from_board(boards, project)


def test_sums_of_a_scope_that_is_a_leaderboard_now_are_given_up(boards: House, project: Project) -> None:
    publish_ragged(project)
    open_scope(boards.database, project.id, QUESTION)
    assert catch_up(boards.database, project.id, QUESTION, float("inf"))
    same_order(from_board(boards, project), from_cells(project))
    with boards.database.reading() as connection:
        kept = select(pair_sum_scopes.c.id).where(pair_sum_scopes.c.project_id == project.id)
        assert connection.execute(kept).all() == []


def test_of_more_cells_than_a_leaderboard_may_have_sums_are_kept(boards: House, project: Project) -> None:
    publish_ragged(project)
    small = House(boards.app, boards.database, replace(boards.settings, ranking_cells=10))
    apply_invalidations(small.database, small.settings)
    found = compute(small.database, small.settings, project.id, QUESTION)
    assert found is None or document_of(found)["ranking"]
    with boards.database.reading() as connection:
        kept = select(pair_sum_scopes.c.id).where(pair_sum_scopes.c.project_id == project.id)
        assert len(connection.execute(kept).all()) == 1


def test_pairs_of_a_name_are_answered_over_http_and_an_unknown_name_is_refused(project: Project) -> None:
    publish_ragged(project)
    document = answered(project, pairs_of="m2")
    assert document["pairs_of"] == "m2"
    assert {tuple(sorted((pair["a"], pair["b"]))) for pair in document["pairs"]} == {
        tuple(sorted(("m2", f"m{i}"))) for i in range(6) if i != 2
    }
    refused = ask(project, pairs_of="m9")
    assert refused.status_code == 422
    assert refused.json is not None
    [error] = refused.json["errors"]
    assert (error["pointer"], "there are m0, m1" in error["detail"]) == ("/pairs_of", True)
