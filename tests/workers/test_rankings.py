"""Rankings: what is compared, what is never served, and what changes their ETag."""

from __future__ import annotations

import threading
import time
import uuid
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from sqlalchemy import func, select, update
from werkzeug.test import TestResponse

from registry.api.shapes import COMPONENTS
from registry.demo import _data
from registry.query import METHODS, MISSING, RankingQuery
from registry.storage.tables import cached_results, invalidations
from tests.house import ACCURACY, House, Project
from workers import queries
from workers.jobs.invalidation import apply_invalidations
from workers.jobs.leases import claim
from workers.queries import compute_due, compute_from_rows


@pytest.fixture(autouse=True)
def _nothing_due(house: House) -> None:
    """Promises that other tests left are kept first."""
    with house.database.transaction() as connection:
        fresh = {"lease": None, "leased_until": None, "due_at": func.now(), "attempts": 0}
        connection.execute(update(cached_results).where(cached_results.c.state == "pending").values(fresh))
    house.compute()


def ask(project: Project, experiment: str = "leaderboard", metric: str = "accuracy", **more: Any) -> TestResponse:
    return project.get(
        f"projects/{project.slug}/rankings", query_string={"experiment": experiment, "metric": metric} | more
    )


def answered(project: Project, **question: Any) -> dict[str, Any]:
    """The answer, computed now if it is due; a ranking that was computed a moment ago is due a moment later."""
    until = time.monotonic() + 10
    while (found := ask(project, **question)).status_code == 202 and time.monotonic() < until:
        project.house.compute()
    assert found.status_code == 200, found.text
    document: dict[str, Any] = found.get_json()
    return document


def score(project: Project, model: str, value: float, **changes: Any) -> dict[str, Any]:
    """A single score on a leaderboard."""
    names = {"experiment": "leaderboard", "benchmark": "GSM8K", "variant": ""}
    return project.published(**names | {"model": model, "axes": [], "values": value, "trials": None} | changes)


def records(document: dict[str, Any]) -> dict[str, tuple[int, int, int]]:
    return {row["name"]: (row["wins"], row["ties"], row["losses"]) for row in document["ranking"]}


def inputs(document: dict[str, Any]) -> dict[str, int]:
    return {one["grid"]: one["revision"] for one in document["inputs"]}


# --- what is compared -----------------------------------------------------------------------------------------------


def publish_seeds(project: Project, aliases: bool) -> None:
    data = _data()
    for grid in data["grids"]:
        if grid["experiment"] == "window-by-ratio":
            assert project.publish({"axes": []} | grid).status_code == 201
    for alias in data["aliases"] if aliases else []:
        assert project.call("POST", f"projects/{project.slug}/aliases", "admin", json=alias).status_code == 201


def test_the_seed_models_meet_in_32_slots_once_aliases_join_their_benchmarks(project: Project) -> None:
    """Counted by hand in the tables: R1-Qwen against R1-Llama 3-1-4 on AIME'24, 8-0-0 on AIME'25, 5-0-3 on AMC23
    and 8-0-0 on GPQA_D, over four windows and the two ratios that R1-Llama has."""
    publish_seeds(project, aliases=True)
    document = answered(project, experiment="window-by-ratio", metric="Pass@1")
    [pair] = document["pairs"]
    assert (pair["a"], pair["b"], pair["n_common"]) == ("R1-Llama", "R1-Qwen", 32)
    assert (pair["wins"], pair["ties"], pair["losses"]) == (7, 1, 24)
    assert records(document) == {"R1-Qwen": (24, 1, 7), "R1-Llama": (7, 1, 24)}
    assert [row["name"] for row in document["ranking"]] == ["R1-Qwen", "R1-Llama"]
    assert [row["cells"] for row in document["ranking"]] == [80, 32]
    assert document["slots"] == {"total": 80, "compared": 32}
    assert document["benchmarks"] == ["AIME'24", "AIME'25", "AMC23", "GPQA_D"]
    assert len(document["inputs"]) == 8
    assert document["warnings"] == []


def test_without_aliases_they_meet_on_the_one_benchmark_that_both_spell_alike(project: Project) -> None:
    publish_seeds(project, aliases=False)
    document = answered(project, experiment="window-by-ratio", metric="Pass@1")
    assert document["slots"]["compared"] == 8
    assert records(document)["R1-Qwen"] == (5, 0, 3)
    alike = [one["detail"].split('"')[1::2] for one in document["warnings"] if one["code"] == "near_duplicate"]
    assert alike == [["AIME'24", "AIME24"], ["AIME'25", "AIME25"], ["GPQA D", "GPQA_D"]]


def test_names_that_look_alike_and_meet_somewhere_are_two(project: Project) -> None:
    for model, value in (("bge-small", 60.0), ("bge-smal", 50.0)):
        score(project, model, value)
    assert answered(project)["warnings"] == []


def test_an_alias_answers_pending_at_once_and_then_another_ranking(project: Project) -> None:
    publish_seeds(project, aliases=False)
    question = {"experiment": "window-by-ratio", "metric": "Pass@1"}
    answered(project, **question)
    alias = {"kind": "benchmark", "alias": "AIME25", "name": "AIME'25"}
    made = project.call("POST", f"projects/{project.slug}/aliases", "admin", json=alias)
    assert ask(project, **question).status_code == 202
    assert answered(project, **question)["slots"]["compared"] == 16
    path = f"projects/{project.slug}/aliases/{made.get_json()['id']}"
    assert project.call("DELETE", path, "admin").status_code == 204
    assert ask(project, **question).status_code == 202
    assert answered(project, **question)["slots"]["compared"] == 8


def test_where_an_alias_puts_two_grids_in_the_same_slots_the_later_counts_with_a_warning(project: Project) -> None:
    older = score(project, "qwen2.5-3b", 90.0)
    score(project, "Llama", 50.0)
    newer = score(project, "Qwen-2.5 3B", 10.0)
    assert records(answered(project))["Qwen-2.5 3B"] == (0, 0, 2)
    alias = {"kind": "model", "alias": "qwen2.5-3b", "name": "Qwen-2.5 3B"}
    project.call("POST", f"projects/{project.slug}/aliases", "admin", json=alias)
    document = answered(project)
    assert records(document) == {"Llama": (1, 0, 0), "Qwen-2.5 3B": (0, 0, 1)}
    [warning] = document["warnings"]
    assert warning["code"] == "same_slots"
    assert older["id"] in warning["detail"]
    assert newer["id"] in warning["detail"]
    # The older one is updated: now it is the later one.
    score(project, "qwen2.5-3b", 91.0)
    document = answered(project)
    assert records(document) == {"Llama": (0, 0, 1), "Qwen-2.5 3B": (1, 0, 0)}


def test_an_alias_of_the_experiment_joins_its_grids_and_their_later_changes(project: Project) -> None:
    score(project, "A", 60.0)
    score(project, "B", 50.0, experiment="leaderboard-v2")
    alias = {"kind": "experiment", "alias": "leaderboard-v2", "name": "leaderboard"}
    project.call("POST", f"projects/{project.slug}/aliases", "admin", json=alias)
    assert records(answered(project)) == {"A": (1, 0, 0), "B": (0, 0, 1)}
    assert records(answered(project, experiment="leaderboard-v2")) == {"A": (1, 0, 0), "B": (0, 0, 1)}
    score(project, "B", 70.0, experiment="leaderboard-v2")
    assert ask(project).status_code == 202
    assert records(answered(project)) == {"A": (0, 0, 1), "B": (1, 0, 0)}


def test_variants_are_compared_where_everything_else_is_the_same(project: Project) -> None:
    for model, base, tuned in (("A", 50.0, 60.0), ("B", 40.0, 45.0), ("C", 70.0, 70.0)):
        score(project, model, base, variant="Baseline")
        score(project, model, tuned, variant="Tuned")
    score(project, "D", 99.0, variant="Tuned")
    document = answered(project, by="variant")
    assert records(document) == {"Tuned": (2, 1, 0), "Baseline": (0, 1, 2)}
    assert document["slots"] == {"total": 4, "compared": 3}
    assert document["by"] == "variant"


def test_levels_of_an_axis_are_compared_within_each_grid(project: Project) -> None:
    """In the small grid Length 0 meets 1 and 2 in Type 1 only: 99.3 > 98.3 > 96.7; 1 meets 2 in both: 100 > 99.7."""
    project.published(experiment="leaderboard")
    document = answered(project, by="axis:Length")
    pairs = {(pair["a"], pair["b"]): (pair["wins"], pair["ties"], pair["losses"]) for pair in document["pairs"]}
    assert pairs == {("0", "1"): (1, 0, 0), ("0", "2"): (1, 0, 0), ("1", "2"): (1, 0, 1)}
    assert document["slots"] == {"total": 2, "compared": 2}
    assert {row["name"]: row["cells"] for row in document["ranking"]} == {"0": 1, "1": 2, "2": 2}


def test_levels_are_the_same_by_number_whatever_their_labels_say(project: Project) -> None:
    axes = [{"name": "Size", "kind": "numeric", "levels": [{"label": "1k", "number": 1000}, 2000]}]
    score(project, "A", [1.0, 4.0], axes=axes)
    axes = [{"name": "Size", "kind": "numeric", "levels": [1000, {"label": "2k", "number": 2000}]}]
    score(project, "B", [2.0, 3.0], axes=axes)
    document = answered(project)
    assert document["slots"] == {"total": 2, "compared": 2}
    assert records(document)["A"] == (1, 0, 1)


def test_the_order_of_axes_does_not_matter(project: Project) -> None:
    x, y = {"name": "x", "levels": ["p", "q"]}, {"name": "y", "levels": [1, 2, 3]}
    score(project, "A", [[1, 2, 3], [4, 5, 6]], axes=[x, y])
    score(project, "B", [[0, 5], [1, 6], [2, 7]], axes=[y, x])
    assert records(answered(project))["A"] == (3, 0, 3)


def test_an_axis_that_no_grid_has_is_no_question(project: Project) -> None:
    score(project, "A", 50.0)
    assert ask(project, by="axis:Depth").status_code == 422


def test_filters_choose_the_benchmarks_and_variants(project: Project) -> None:
    for benchmark, a, b in (("X", 10.0, 20.0), ("Y", 30.0, 20.0), ("Z", 30.0, 10.0)):
        score(project, "A", a, benchmark=benchmark)
        score(project, "B", b, benchmark=benchmark)
    score(project, "A", 0.0, benchmark="X", variant="odd")
    score(project, "B", 9.0, benchmark="X", variant="odd")
    assert records(answered(project))["A"] == (2, 0, 2)
    only = answered(project, benchmark="X")
    assert (only["benchmarks"], records(only)["A"]) == (["X"], (0, 0, 2))
    assert records(answered(project, benchmark=["X", "Z"], variant=""))["A"] == (1, 0, 1)
    assert records(answered(project, variant="odd"))["A"] == (0, 0, 1)
    assert answered(project, benchmark=["Z", "X"]) == answered(project, benchmark=["X", "Z", "X"])


def test_where_lower_is_better_the_lower_wins(project: Project) -> None:
    metric = {"name": "loss", "direction": "lower"}
    score(project, "A", 0.5, metric=metric)
    score(project, "B", 0.75, metric=metric)
    document = answered(project, metric="loss")
    assert [(row["rank"], row["name"]) for row in document["ranking"]] == [(1, "A"), (2, "B")]
    assert records(document)["A"] == (1, 0, 0)
    assert document["scale"] == {"unit": None, "direction": "lower", "lower": None, "upper": None}


def test_shares_of_one_and_of_a_hundred_are_of_one_scale_and_of_one_alone_no_percentages(project: Project) -> None:
    for name, parts in (("few", 1), ("all", 1), ("all", 100)):
        metric = {"name": name, "direction": "higher", "lower": 0, "upper": parts}
        for model in ("A", "B"):
            score(project, model, 0.5 * parts, benchmark=f"{name} {parts}", metric=metric)
    scale = {"direction": "higher", "lower": 0}
    assert answered(project, metric="few")["scale"] == scale | {"unit": None, "upper": 1}
    assert answered(project, metric="all")["scale"] == scale | {"unit": "%", "upper": 100}


def test_a_metric_without_a_better_end_ranks_nobody_and_says_so(project: Project) -> None:
    metric = {"name": "tokens", "direction": None}
    score(project, "A", 5.0, metric=metric)
    score(project, "B", 7.0, metric=metric)
    document = answered(project, metric="tokens")
    assert (document["status"], document["ranking"]) == ("undefined", [])
    assert document["reason"] == "the metric has no better end"
    assert len(document["inputs"]) == 2


def test_a_deleted_grid_leaves_the_ranking(project: Project) -> None:
    score(project, "A", 60.0)
    gone = score(project, "B", 50.0)
    assert set(records(answered(project))) == {"A", "B"}
    assert project.call("DELETE", f"grids/{gone['id']}").status_code == 204
    assert ask(project).status_code == 202
    document = answered(project)
    assert set(records(document)) == {"A"}
    assert gone["id"] not in inputs(document)
    score(project, "B", 55.0)
    assert inputs(answered(project))[gone["id"]] == 2


def test_other_projects_experiments_and_metrics_are_no_inputs(project: Project, house: House) -> None:
    score(project, "A", 60.0)
    score(project, "B", 60.0, experiment="another")
    score(project, "C", 60.0, metric=ACCURACY | {"name": "recall"})
    score(house.make_project(), "D", 60.0)
    assert set(records(answered(project))) == {"A"}


def ragged(project: Project) -> None:
    """Three models on two benchmarks of two slots each; B lacks one."""
    axes = [{"name": "Length", "levels": [1, 2]}]
    values = {
        "A": ([90.0, 80.0], [70.0, 60.0]),
        "B": ([85.0, None], [72.0, 50.0]),
        "C": ([40.0, 30.0], [20.0, 10.0]),
    }
    for model, each in values.items():
        for benchmark, cells in zip(("X", "Y"), each, strict=True):
            score(project, model, cells, benchmark=benchmark, axes=axes)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_and_missing_policy_is_answered_and_echoed(project: Project, method: str) -> None:
    ragged(project)
    for missing in MISSING:
        of_values = ("mean_difference", "standardised_difference", "mean", "adjusted_mean")
        if (method in of_values and missing == "zero_votes") or (method != "borda" and missing == "zero_points"):
            answer = ask(project, method=method, missing=missing)
            assert answer.status_code == 422
            [fault] = answer.get_json()["errors"]
            assert (fault["pointer"], "ask with method=" in fault["detail"]) == ("/missing", True)
            continue
        document = answered(project, method=method, missing=missing)
        assert (document["method"], document["missing"]) == (method, missing)
        refused = method in ("mean_rank", "borda") and missing in ("matched", "observed")
        assert document["status"] == ("undefined" if refused else "ok"), (missing, document.get("reason"))
        assert bool(document["reason"] if refused else document["ranking"])
        if not refused:
            assert document["ranking"][-1]["name"] == "C"
            assert len(document["policy_sensitivity"]) == 3
            assert len(document["stability"]["leave_one_out"]) == 3
        assert len(document["pairs"]) == 3
        assert shape_faults(document) == []


def test_ranks_under_resampled_benchmarks_are_in_the_answer_from_eight_benchmarks_on(project: Project) -> None:
    """A is ahead of B by 5 on every benchmark but the last: no draw of eight puts B first but that of the last only."""
    for number in range(7):
        score(project, "A", 65.0, benchmark=f"X{number}")
        score(project, "B", 60.0, benchmark=f"X{number}")
    [few] = answered(project)["stability"]["resampling"]
    assert (few["status"], few["benchmarks"], few["names"]) == ("insufficient", 7, [])
    score(project, "A", 60.0, benchmark="X7")
    score(project, "B", 64.0, benchmark="X7")
    [found] = answered(project)["stability"]["resampling"]
    assert (found["law"], found["resamples"], found["benchmarks"], found["seed"]) == ("bootstrap", 2000, 8, 20260101)
    shares = {one["name"]: one["first_share"] for one in found["names"]}
    assert shares["A"] == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize("other", [{"unit": "points"}, {"direction": "lower"}])
def test_means_are_refused_across_units_and_directions_but_not_wins(project: Project, other: dict[str, str]) -> None:
    odd = {"name": "accuracy", "unit": "%", "direction": "higher"} | other
    plain = {"name": "accuracy", "unit": "%", "direction": "higher"}
    lower_wins = odd["direction"] == "lower"
    for model, x, y in (("A", 3.0, 30.0), ("B", 2.0, 20.0), ("C", 1.0, 10.0)):
        score(project, model, x, benchmark="X", metric=plain)
        score(project, model, -y if lower_wins else y, benchmark="Y", metric=odd)
    for method in METHODS:
        document = answered(project, method=method)
        if method in ("mean_difference", "mean", "adjusted_mean"):
            assert (document["status"], document["ranking"]) == ("undefined", [])
            assert "no means" in document["reason"]
        else:
            assert [row["name"] for row in document["ranking"]] == ["A", "B", "C"]
        if method != "standardised_difference":
            assert [pair["difference"] for pair in document["pairs"]] == [None] * 3
        assert "scale" not in document


def test_one_two_and_tied_models_are_ranked_over_http(project: Project) -> None:
    score(project, "A", 60.0)
    [only] = answered(project)["ranking"]
    assert (only["rank"], only["rank_low"], only["rank_high"], only["name"]) == (1, 1, 1, "A")
    score(project, "B", 60.0)
    document = answered(project)
    assert [(row["rank"], row["ties"]) for row in document["ranking"]] == [(1, 1), (1, 1)]
    assert document["groups"] == [["A", "B"]]


def shape_faults(document: dict[str, Any]) -> list[str]:
    """What the document promises and the answer does not keep."""
    promised = {"$ref": "#/components/schemas/Ranking", "components": {"schemas": COMPONENTS}}
    faults = Draft202012Validator(promised).iter_errors(document)
    return [f"{list(fault.absolute_path)}: {fault.message}" for fault in faults]


# --- what is never served -------------------------------------------------------------------------------------------


def test_a_publication_makes_the_ranking_pending_at_once(project: Project, house: House) -> None:
    score(project, "A", 60.0)
    first = answered(project)
    score(project, "B", 70.0)
    marked = ask(project)
    assert (marked.status_code, marked.get_json()["state"]) == (202, "pending")
    assert marked.headers["Retry-After"]
    apply_invalidations(house.database, house.settings)
    assert ask(project).status_code == 202
    second = answered(project)
    assert (len(first["inputs"]), len(second["inputs"])) == (1, 2)


def test_an_amendment_makes_the_ranking_pending_at_once(project: Project) -> None:
    grid = project.published(experiment="leaderboard")
    answered(project)
    cells = {"cells": [{"at": {"Type": "1", "Length": 0}, "value": 1.0, "trials": 300}]}
    assert project.call("PATCH", f"grids/{grid['id']}/cells", json=cells).status_code == 200
    assert ask(project).status_code == 202
    assert inputs(answered(project)) == {grid["id"]: 2}


def test_a_publication_that_changes_nothing_leaves_the_ranking_as_it_is(project: Project) -> None:
    score(project, "A", 60.0)
    before = answered(project)
    score(project, "A", 60.0)
    assert ask(project).status_code == 200
    assert answered(project) == before


def test_the_usual_ranking_is_computed_before_anybody_asks(project: Project, house: House) -> None:
    score(project, "A", 60.0)
    house.compute()
    assert ask(project).status_code == 200


def test_an_answer_to_what_no_grid_has_is_not_found_and_promises_nothing(project: Project, house: House) -> None:
    assert ask(project, experiment="leaderbord").status_code == 404
    with house.database.reading() as connection:
        count = select(func.count()).where(cached_results.c.project_id == project.id)
        assert connection.scalar(count) == 0


def test_an_answer_for_inputs_that_changed_while_it_was_computed_stays_pending(
    project: Project, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The new revision is published, and its mark folded, between the reading of the inputs and the settling."""
    score(project, "A", 60.0)
    answered(project)
    score(project, "B", 50.0)
    apply_invalidations(house.database, house.settings)

    def late(question: RankingQuery, rows: Any, joined: Any) -> dict[str, Any]:
        score(project, "C", 70.0)
        apply_invalidations(house.database, house.settings)
        return compute_from_rows(question, rows, joined)

    with monkeypatch.context() as patched:
        patched.setattr(queries, "compute_from_rows", late)
        while not compute_due(house.database, house.settings):
            pass
    assert ask(project).status_code == 202
    assert set(records(answered(project))) == {"A", "B", "C"}


def test_a_mark_that_nobody_folded_yet_hides_the_answer_that_was_settled_meanwhile(
    project: Project, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    score(project, "A", 60.0)
    apply_invalidations(house.database, house.settings)

    def late(question: RankingQuery, rows: Any, joined: Any) -> dict[str, Any]:
        score(project, "B", 70.0)
        return compute_from_rows(question, rows, joined)

    with monkeypatch.context() as patched:
        patched.setattr(queries, "compute_from_rows", late)
        assert compute_due(house.database, house.settings) == 1
    assert ask(project).status_code == 202
    house.compute()
    assert set(records(answered(project))) == {"A", "B"}


def test_an_older_answer_does_not_overwrite_a_newer_one(project: Project, house: House) -> None:
    """A ranker that sleeps past its lease wakes up after another has answered for newer inputs."""
    score(project, "A", 60.0)
    apply_invalidations(house.database, house.settings)
    [late] = (old := claim(house.database, house.settings, cached_results, 1)).rows
    score(project, "B", 70.0)
    apply_invalidations(house.database, house.settings)
    with house.database.transaction() as connection:
        expired = {"leased_until": func.now() - func.make_interval(0, 0, 0, 0, 0, 0, 1)}
        connection.execute(update(cached_results).where(cached_results.c.id == late.id).values(expired))
    answered(project)
    before = ask(project)
    queries._compute_and_settle(house.database, house.settings, old, late)
    assert (before.status_code, ask(project).status_code) == (200, 200)
    assert ask(project).data == before.data


def test_a_ranking_whose_fifth_attempt_fails_after_an_input_changed_is_tried_again(
    project: Project, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    score(project, "A", 60.0)
    apply_invalidations(house.database, house.settings)
    mine = cached_results.c.project_id == project.id
    with house.database.transaction() as connection:
        connection.execute(update(cached_results).where(mine).values(attempts=house.settings.attempts - 1))

    def late(*_arguments: Any) -> dict[str, Any]:
        score(project, "B", 70.0)
        apply_invalidations(house.database, house.settings)
        raise ZeroDivisionError("for the old inputs")

    with monkeypatch.context() as patched:
        patched.setattr(queries, "compute_from_rows", late)
        compute_due(house.database, house.settings)
    assert ask(project).status_code == 202
    with house.database.transaction() as connection:
        connection.execute(update(cached_results).where(mine).values(due_at=func.now()))
    house.compute()
    assert set(records(answered(project))) == {"A", "B"}


def test_a_ranking_that_cannot_be_computed_says_why_until_an_input_changes(
    project: Project, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    score(project, "A", 60.0)
    apply_invalidations(house.database, house.settings)

    def refuse(*_arguments: Any) -> dict[str, Any]:
        raise ZeroDivisionError("no ranking today")

    with monkeypatch.context() as patched:
        patched.setattr(queries, "compute_from_rows", refuse)
        for _ in range(house.settings.attempts):
            assert compute_due(house.database, house.settings) == 1
            with house.database.transaction() as connection:
                here = cached_results.c.project_id == project.id
                connection.execute(update(cached_results).where(here).values(due_at=func.now()))
    failed = ask(project)
    assert failed.status_code == 200
    assert (failed.get_json()["state"], failed.get_json()["reason"]) == (
        "failed",
        "ZeroDivisionError: no ranking today",
    )
    score(project, "B", 70.0)
    assert set(records(answered(project))) == {"A", "B"}


def test_every_ranking_contains_each_revision_that_was_acknowledged_before_it_was_asked_for(
    project: Project, house: House
) -> None:
    """A publisher, a keeper of promises and two readers at once."""
    acknowledged: dict[str, int] = {}
    stale: list[tuple[dict[str, int], dict[str, int]]] = []
    over, seen = threading.Event(), []
    score(project, "model 0", 50.0)
    answered(project)

    def publish() -> None:
        try:
            for number in range(60):
                grid = score(project, f"model {number % 12}", float(number))
                acknowledged[grid["id"]] = grid["revision"]
                answers, until = len(seen), time.monotonic() + 5
                while number % 4 == 0 and len(seen) == answers and time.monotonic() < until:
                    time.sleep(0.002)
        finally:
            over.set()

    def keep() -> None:
        while not over.is_set():
            house.compute()

    def read() -> None:
        while not over.is_set():
            before = dict(acknowledged)
            found = ask(project)
            if found.status_code == 200:
                served = inputs(found.get_json())
                seen.append(len(served))
                if any(served.get(grid, 0) < revision for grid, revision in before.items()):
                    stale.append((before, served))

    threads = [threading.Thread(target=act) for act in (publish, keep, read, read)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    house.compute()
    assert stale == []
    assert len(seen) >= 15, "the readers were never answered"
    assert inputs(answered(project)) == acknowledged


def test_marks_are_folded_once_and_by_one(project: Project, house: House) -> None:
    for number in range(30):
        score(project, f"model {number}", 1.0 * number)
    folded: list[int] = []
    folders = [
        threading.Thread(target=lambda: folded.append(apply_invalidations(house.database, house.settings)))
        for _ in range(4)
    ]
    for folder in folders:
        folder.start()
    for folder in folders:
        folder.join()
    assert sum(folded) == 30
    with house.database.reading() as connection:
        assert connection.scalar(select(func.count()).select_from(invalidations)) == 0
        rows = connection.execute(select(cached_results.c.state).where(cached_results.c.project_id == project.id)).all()
    assert [row.state for row in rows] == ["pending"]


# --- the ETag -------------------------------------------------------------------------------------------------------


def test_the_etag_changes_with_any_input_and_not_otherwise(project: Project, house: House) -> None:
    tags = []

    def tag() -> str:
        answered(project)
        return ask(project).headers["ETag"]

    grid = score(project, "A", 60.0)
    tags.append(tag())
    score(project, "B", 50.0)
    tags.append(tag())
    score(project, "A", 61.0)
    tags.append(tag())
    score(project, "A", 60.0)
    tags.append(tag())
    project.call("DELETE", f"grids/{grid['id']}")
    tags.append(tag())
    assert len(set(tags)) == 5
    score(project, "C", 1.0, experiment="another")
    score(project, "B", 50.0)
    house.compute()
    assert tag() == tags[-1]
    again = project.get(
        f"projects/{project.slug}/rankings?experiment=leaderboard&metric=accuracy", headers={"If-None-Match": tags[-1]}
    )
    assert (again.status_code, again.data) == (304, b"")


def test_the_same_inputs_computed_again_have_the_same_etag(project: Project, house: House) -> None:
    score(project, "A", 60.0)
    answered(project)
    before = ask(project)
    with house.database.transaction() as connection:
        again = {"state": "pending", "due_at": func.now(), "generation": cached_results.c.generation + 1}
        connection.execute(update(cached_results).where(cached_results.c.project_id == project.id).values(again))
    assert ask(project).status_code == 202
    answered(project)
    after = ask(project)
    assert before.headers["ETag"] == after.headers["ETag"]


def test_questions_are_told_apart_by_every_part(project: Project, house: House) -> None:
    score(project, "A", 60.0)
    house.compute()
    questions: list[dict[str, Any]] = [{}, {"by": "variant"}, {"benchmark": "GSM8K"}, {"variant": ""}, {"alpha": 0.1}]
    for question in questions:
        assert answered(project, **question)["state"] == "ready"
    with house.database.reading() as connection:
        count = select(func.count(cached_results.c.query_key.distinct())).where(
            cached_results.c.project_id == project.id
        )
        assert connection.scalar(count) == len(questions)
    keys = {RankingQuery("e", "m", by=by).key for by in ("model", "variant", "axis:x")}
    assert len(keys) == 3
    assert all(isinstance(key, uuid.UUID) for key in keys)
