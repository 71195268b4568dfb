"""Rankings of leaderboards, whose cells are read all at once: what rankings from the same cells say, one by one."""

from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import select

from registry.query import RankingQuery
from registry.storage.tables import pair_sum_scopes
from tests.house import ACCURACY, House, Project
from tests.workers.asking import faults_of, join
from tests.workers.test_counted_rankings import QUESTION, from_cells, publish_ragged, table
from tests.workers.test_rankings import answered, ask, records, score
from workers.jobs.invalidation import apply_invalidations
from workers.queries import about, compute, compute_again, document_of
from workers.rankings.pair_sums import catch_up, open_scope


@pytest.fixture(scope="module")
def boards(house: House) -> House:
    """A house in which every experiment is a leaderboard."""
    return House(house.app, house.database, replace(house.settings, ranking_work=0))


def from_board(boards: House, project: Project, question: RankingQuery = QUESTION) -> dict[str, Any]:
    apply_invalidations(boards.database, boards.settings)
    found = compute(boards.database, boards.settings, project.id, question)
    assert found is not None
    return document_of(found) | about(question)


SAME = ("by", "method", "missing", "experiment", "metric", "benchmarks", "slots", "components", "status", "scale")


def same_order(board: dict[str, Any], cells: dict[str, Any]) -> None:
    assert [board.get(name) for name in SAME] == [cells.get(name) for name in SAME]
    assert board["inputs_left_out"]["count"] == len(cells["inputs"])
    for one, other in zip(board["ranking"], cells["ranking"], strict=True):
        assert (one["name"], one["rank"], one["cells"]) == (other["name"], other["rank"], other["cells"])
        scored = other["score"] if other["score"] is None else pytest.approx(other["score"], rel=1e-9, abs=1e-9)
        assert one["score"] == scored
    assert records(board) == records(cells)


def scopes(project: Project) -> int:
    mine = select(pair_sum_scopes.c.id).where(pair_sum_scopes.c.project_id == project.id)
    with project.house.database.reading() as connection:
        return len(connection.execute(mine).all())


def count_sums(boards: House, project: Project) -> None:
    open_scope(boards.database, project.id, QUESTION)
    assert catch_up(boards.database, project.id, QUESTION, float("inf"))


ASKED: list[dict[str, Any]] = [
    {},
    {"method": "borda", "missing": "zero_points"},
    {"method": "mean", "missing": "available"},
    {"method": "win_rate", "missing": "zero_votes"},
    {"method": "borda", "missing": "worst"},
    {"benchmark": ("B", "D")},
    {"benchmark": ("B", "D"), "model": ("m1", "m3", "m4"), "method": "bradley_terry"},
]


def test_a_board_has_the_order_and_the_records_that_its_cells_give(
    boards: House, project: Project, subtests: pytest.Subtests
) -> None:
    publish_ragged(project)
    for asked in ASKED:
        with subtests.test(msg=str(asked)):
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
    join(project, "model", "old B", "B")
    board, cells = from_board(boards, project), from_cells(project)
    same_order(board, cells)
    assert [row["name"] for row in board["ranking"]] == ["B", "C", "A"]
    assert [one["code"] for one in board["warnings"]] == ["same_slots"]
    score(project, "old B", 20.0, benchmark="X")  # updated last
    board, cells = from_board(boards, project), from_cells(project)
    same_order(board, cells)
    assert records(board)["B"] == (2, 0, 2)


def test_scales_are_joined_and_turned_as_for_a_few_grids(boards: House, project: Project) -> None:
    share = ACCURACY | {"unit": None, "upper": 1}
    loss = {"name": "accuracy", "unit": "nats", "direction": "lower", "lower": 0, "upper": None}
    for model, a, b, c in (("A", 90.0, 0.5, 2.0), ("B", 80.0, 0.7, 1.5), ("C", 70.0, 0.6, 1.25)):
        score(project, model, a, benchmark="X", metric=ACCURACY)
        score(project, model, b, benchmark="Y", metric=share)
        question = replace(QUESTION, method="mean", missing="available")
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


def test_verifying_a_board_gives_the_same_bytes_and_leaves_sums_that_the_next_computation_gives_up(
    boards: House, project: Project
) -> None:
    publish_ragged(project)
    first = from_board(boards, project)
    assert compute_again(boards.database, boards.settings, project.id, QUESTION) == first
    assert scopes(project) == 0
    count_sums(boards, project)
    assert compute_again(boards.database, boards.settings, project.id, QUESTION) == first
    assert scopes(project) == 1
    assert from_board(boards, project) == first
    assert scopes(project) == 0
    same_order(first, from_cells(project))


def test_pairs_of_a_name_are_answered_over_http_and_an_unknown_name_is_refused(project: Project) -> None:
    publish_ragged(project)
    document = answered(project, pairs_of="m2")
    assert document["pairs_of"] == "m2"
    pairs = {tuple(sorted((pair["a"], pair["b"]))) for pair in document["pairs"]}
    assert pairs == {tuple(sorted(("m2", f"m{i}"))) for i in range(6) if i != 2}
    faults = faults_of(ask(project, pairs_of="m9"))
    assert list(faults) == ["/pairs_of"]
    assert "there are m0, m1" in faults["/pairs_of"]
