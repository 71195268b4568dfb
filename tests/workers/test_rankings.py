"""Rankings: what is compared, what is never served, and what changes their ETag."""

import threading
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import func, select, update
from werkzeug.test import TestResponse

from registry.demo import demo_aliases, demo_grids
from registry.query import METHODS, MISSING, RankingQuery
from registry.storage.tables import cached_results, invalidations
from tests.house import ACCURACY, House, Project
from tests.workers.asking import computed, described, faults_of, join
from workers import derive, queries
from workers.jobs.invalidation import apply_invalidations
from workers.jobs.leases import claim
from workers.queries import compute_due
from workers.rankings.direct import direct_ranking

pytestmark = pytest.mark.usefixtures("nothing_due")


def asked(project: Project, experiment: str = "leaderboard", metric: str = "accuracy", **more: Any) -> dict[str, Any]:
    return {
        "path": f"projects/{project.slug}/rankings",
        "query_string": {"experiment": experiment, "metric": metric} | more,
    }


def ask(project: Project, **question: Any) -> TestResponse:
    return project.get(**asked(project, **question))


def answered(project: Project, **question: Any) -> dict[str, Any]:
    """The answer, computed now if it is due; a ranking that was computed a moment ago is due a moment later."""
    document: dict[str, Any] = computed(project, **asked(project, **question))
    return document


def all_answered(project: Project, *questions: dict[str, Any]) -> list[dict[str, Any]]:
    """The answers to several questions, computed at once."""
    for question in questions:
        ask(project, **question)
    return [answered(project, **question) for question in questions]


def score(project: Project, model: str, value: Any, **changes: Any) -> dict[str, Any]:
    """A single score on a leaderboard."""
    names = {"experiment": "leaderboard", "benchmark": "GSM8K", "variant": ""}
    return project.published(**names | {"model": model, "axes": [], "values": value, "trials": None} | changes)


def records(document: dict[str, Any]) -> dict[str, tuple[int, int, int]]:
    return {row["name"]: (row["wins"], row["ties"], row["losses"]) for row in document["ranking"]}


def inputs(document: dict[str, Any]) -> dict[str, int]:
    return {one["grid"]: one["revision"] for one in document["inputs"]}


def stored(project: Project, *columns: Any) -> list[tuple[Any, ...]]:
    """Columns of the stored results of a project."""
    with project.house.database.reading() as connection:
        rows = connection.execute(select(*columns).where(cached_results.c.project_id == project.id))
        return [tuple(row) for row in rows]


def due(project: Project, **values: Any) -> None:
    """Let the results of a project be due now."""
    with project.house.database.transaction() as connection:
        mine = cached_results.c.project_id == project.id
        connection.execute(update(cached_results).where(mine).values({"due_at": func.now()} | values))


def part(project: Project) -> None:
    """Take all aliases of a project back."""
    path = f"projects/{project.slug}/aliases"
    for alias in project.get(path).get_json()["items"]:
        assert project.call("DELETE", f"{path}/{alias['id']}", "admin").status_code == 204


# --- what is compared -----------------------------------------------------------------------------------------------


def publish_seeds(project: Project, aliases: bool) -> None:
    for grid in demo_grids():
        if grid["experiment"] == "window-by-ratio":
            assert project.publish({"axes": []} | grid).status_code == 201
    for alias in demo_aliases() if aliases else []:
        join(project, **alias)


def test_the_seed_models_meet_on_benchmarks_that_both_spell_alike_or_that_aliases_join(project: Project) -> None:
    publish_seeds(project, aliases=False)
    question = {"experiment": "window-by-ratio", "metric": "Pass@1"}
    document = answered(project, **question)
    assert document["slots"]["compared"] == 8
    assert records(document)["R1-Qwen"] == (5, 0, 3)
    alike = [one["detail"].split('"')[1::2] for one in document["warnings"] if one["code"] == "near_duplicate"]
    assert alike == [["AIME'24", "AIME24"], ["AIME'25", "AIME25"], ["GPQA D", "GPQA_D"]]
    join(project, "benchmark", "AIME25", "AIME'25")
    assert ask(project, **question).status_code == 202
    assert answered(project, **question)["slots"]["compared"] == 16
    part(project)
    assert ask(project, **question).status_code == 202
    assert answered(project, **question)["slots"]["compared"] == 8


def test_where_an_alias_puts_two_grids_in_the_same_slots_the_later_counts_with_a_warning(project: Project) -> None:
    older = score(project, "qwen2.5-3b", 90.0)
    score(project, "Llama", 50.0)
    newer = score(project, "Qwen-2.5 3B", 10.0)
    assert records(answered(project))["Qwen-2.5 3B"] == (0, 0, 2)
    join(project, "model", "qwen2.5-3b", "Qwen-2.5 3B")
    document = answered(project)
    assert records(document) == {"Llama": (1, 0, 0), "Qwen-2.5 3B": (0, 0, 1)}
    [warning] = document["warnings"]
    assert warning["code"] == "same_slots"
    assert older["id"] in warning["detail"]
    assert newer["id"] in warning["detail"]
    # The older one is updated: now it is the later one.
    score(project, "qwen2.5-3b", 91.0)
    assert records(answered(project)) == {"Llama": (0, 0, 1), "Qwen-2.5 3B": (1, 0, 0)}


def test_an_alias_of_the_experiment_joins_its_grids_and_their_later_changes(project: Project) -> None:
    score(project, "A", 60.0)
    score(project, "B", 50.0, experiment="leaderboard-v2")
    join(project, "experiment", "leaderboard-v2", "leaderboard")
    for experiment in ("leaderboard", "leaderboard-v2"):
        assert records(answered(project, experiment=experiment)) == {"A": (1, 0, 0), "B": (0, 0, 1)}
    score(project, "B", 70.0, experiment="leaderboard-v2")
    assert ask(project).status_code == 202
    assert records(answered(project)) == {"A": (0, 0, 1), "B": (1, 0, 0)}


def of(metric: dict[str, Any], *scores: tuple[str, Any], **more: Any) -> list[tuple[str, Any, dict[str, Any]]]:
    return [(model, value, {"metric": metric} | more) for model, value in scores]


def sizes(*levels: Any) -> dict[str, Any]:
    return {"axes": [{"name": "Size", "kind": "numeric", "levels": list(levels)}]}


X, Y = {"name": "x", "levels": ["p", "q"]}, {"name": "y", "levels": [1, 2, 3]}
SHARES = {"direction": "higher", "lower": 0}
SCENES: dict[str, tuple[list[tuple[str, Any, dict[str, Any]]], dict[str, Any], dict[str, Any]]] = {
    "names that look alike and meet somewhere are two": (
        of(ACCURACY, ("bge-small", 60.0), ("bge-smal", 50.0)), {}, {"warnings": []},
    ),
    "variants are compared where everything else is the same": (
        [*of(ACCURACY, ("A", 50.0), ("B", 40.0), ("C", 70.0), variant="Baseline"),
         *of(ACCURACY, ("A", 60.0), ("B", 45.0), ("C", 70.0), ("D", 99.0), variant="Tuned")],
        {"by": "variant"},
        {"records": {"Tuned": (2, 1, 0), "Baseline": (0, 1, 2)}, "slots": {"total": 4, "compared": 3},
         "by": "variant"},
    ),
    "levels of an axis are compared within each grid: 0 meets 1 and 2 in p only, 1 meets 2 in both": (
        of(ACCURACY, ("A", [[99.3, 96.7, 98.3], [None, 100.0, 99.7]]), axes=[X, Y]),
        {"by": "axis:y"},
        {"records": {"1": (2, 0, 0), "2": (1, 0, 2), "3": (1, 0, 2)}, "slots": {"total": 2, "compared": 2},
         "cells": {"1": 1, "2": 2, "3": 2}, "met": {"12": (1, 0, 0), "13": (1, 0, 0), "23": (1, 0, 1)}},
    ),
    "levels are the same by number whatever their labels say": (
        [*of(ACCURACY, ("A", [1.0, 4.0]), **sizes({"label": "1k", "number": 1000}, 2000)),
         *of(ACCURACY, ("B", [2.0, 3.0]), **sizes(1000, {"label": "2k", "number": 2000}))],
        {}, {"slots": {"total": 2, "compared": 2}, "records": {"A": (1, 0, 1), "B": (1, 0, 1)}},
    ),
    "the order of axes does not matter": (
        [*of(ACCURACY, ("A", [[1, 2, 3], [4, 5, 6]]), axes=[X, Y]),
         *of(ACCURACY, ("B", [[0, 5], [1, 6], [2, 7]]), axes=[Y, X])],
        {}, {"records": {"A": (3, 0, 3), "B": (3, 0, 3)}},
    ),
    "where lower is better the lower wins": (
        of({"name": "accuracy", "direction": "lower"}, ("A", 0.5), ("B", 0.75)),
        {},
        {"records": {"A": (1, 0, 0), "B": (0, 0, 1)}, "ranks": [(1, "A"), (2, "B")],
         "scale": {"unit": None, "direction": "lower", "lower": None, "upper": None}},
    ),
    "shares of one alone are no percentages": (
        of(SHARES | {"name": "accuracy", "upper": 1}, ("A", 0.5), ("B", 0.5)),
        {}, {"scale": SHARES | {"unit": None, "upper": 1}},
    ),
    "shares of one and of a hundred are of one scale": (
        [*of(SHARES | {"name": "accuracy", "upper": 1}, ("A", 0.5), ("B", 0.5), benchmark="1"),
         *of(SHARES | {"name": "accuracy", "upper": 100}, ("A", 50.0), ("B", 50.0), benchmark="100")],
        {}, {"scale": SHARES | {"unit": "%", "upper": 100}},
    ),
    "a metric without a better end ranks nobody and says so": (
        of({"name": "accuracy", "direction": None}, ("A", 5.0), ("B", 7.0)),
        {}, {"status": "undefined", "ranking": [], "reason": "the metric has no better end"},
    ),
    "a ranking over no cells ranks nobody": (
        of(ACCURACY, ("A", [None, None]), ("B", [None, None]), **sizes(1, 2)),
        {}, {"status": "insufficient", "ranking": [], "reason": "no cell was measured"},
    ),
    "who is compared with nobody has no rank": (
        of(ACCURACY, ("A", 60.0)), {},
        {"status": "insufficient", "ranks": [(None, "A")], "ranges": [(None, None)],
         "reason": "no two names share a slot"},
    ),
}  # fmt: skip
"""What is published, what is asked, and what is answered."""


def test_each_scene_is_ranked_over_http(project: Project, house: House, subtests: pytest.Subtests) -> None:
    score(house.make_project(), "of another project", 60.0)
    for name, (published, question, _) in SCENES.items():
        for model, value, changes in published:
            score(project, model, value, experiment=name, **changes)
        score(project, "of another metric", 60.0, experiment=name, metric=ACCURACY | {"name": "recall"})
        ask(project, experiment=name, **question)
    house.compute()
    for name, (published, question, expected) in SCENES.items():
        with subtests.test(name):
            document = ask(project, experiment=name, **question).get_json()
            rows, pairs = document["ranking"], document["pairs"]
            found = document | {
                "records": records(document),
                "cells": {row["name"]: row["cells"] for row in rows},
                "ranks": [(row["rank"], row["name"]) for row in rows],
                "ranges": [(row["rank_low"], row["rank_high"]) for row in rows],
                "met": {one["a"] + one["b"]: (one["wins"], one["ties"], one["losses"]) for one in pairs},
            }
            assert {key: found[key] for key in expected} == expected
            assert len(document["inputs"]) == len(published), "grids of other projects, metrics, experiments are none"
    assert ask(project, experiment=next(iter(SCENES)), by="axis:Depth").status_code == 422, "no grid has this axis"


def test_filters_choose_the_benchmarks_and_variants(project: Project) -> None:
    for benchmark, a, b in (("X", 10.0, 20.0), ("Y", 30.0, 20.0), ("Z", 30.0, 10.0)):
        score(project, "A", a, benchmark=benchmark)
        score(project, "B", b, benchmark=benchmark)
    score(project, "A", 0.0, benchmark="X", variant="odd")
    score(project, "B", 9.0, benchmark="X", variant="odd")
    asked: list[dict[str, Any]] = [{}, {"benchmark": "X"}, {"benchmark": ["X", "Z"], "variant": ""}, {"variant": "odd"}]
    asked += [{"benchmark": ["Z", "X"]}, {"benchmark": ["X", "Z", "X"]}]
    found = all_answered(project, *asked)
    assert [records(one)["A"] for one in found[:4]] == [(2, 0, 2), (0, 0, 2), (1, 0, 1), (0, 0, 1)]
    assert found[1]["benchmarks"] == ["X"]
    assert found[4] == found[5]


def test_every_method_and_missing_policy_is_answered_and_echoed(project: Project, subtests: pytest.Subtests) -> None:
    """Three models on two benchmarks of two slots each; B lacks one."""
    values = {"A": ([90.0, 80.0], [70.0, 60.0]), "B": ([85.0, None], [72.0, 50.0]), "C": ([40.0, 30.0], [20.0, 10.0])}
    for model, each in values.items():
        for benchmark, cells in zip("XY", each, strict=True):
            score(project, model, cells, benchmark=benchmark, **sizes(1, 2))
    asked = [{"method": method, "missing": missing} for method in METHODS for missing in MISSING]
    everybody = {"set_aside": "none"}
    refused = [("zero_votes", method) for method in ("mean_difference", "mean")]
    refused += [("zero_points", method) for method in METHODS if method != "borda"]
    for question in asked:
        answer = ask(project, **question, **everybody)
        if (question["missing"], question["method"]) in refused:
            [(place, detail)] = faults_of(answer).items()
            assert (place, "ask with the method" in detail) == ("/missing", True), question
    asked = [one for one in asked if (one["missing"], one["method"]) not in refused]
    asked = [one for one in asked if one["missing"] == "matched" or one["method"] in ("borda", "win_rate")]
    documents = [answered(project, **question, **everybody) for question in asked]
    for (method, missing), document in zip((question.values() for question in asked), documents, strict=True):
        with subtests.test(method, missing=missing):
            assert (document["method"], document["missing"]) == (method, missing)
            undefined = method == "borda" and missing in ("matched", "available")
            assert document["status"] == ("undefined" if undefined else "ok"), document.get("reason")
            assert bool(document["reason"] if undefined else document["ranking"])
            if not undefined:
                assert document["ranking"][-1]["name"] == "C"
                assert len(document["policy_sensitivity"]) == 3
                assert len(document["stability"]["leave_one_out"]) == 3
            assert len(described(document, "Ranking")["pairs"]) == 3


# --- what is never served -------------------------------------------------------------------------------------------


def test_a_ranking_and_its_etag_follow_every_input_at_once_and_nothing_else(project: Project, house: House) -> None:
    tags: list[str] = []

    def changed(**expected: int) -> None:
        """The ranking is pending from the moment on in which its inputs changed, and then has other inputs."""
        pending = ask(project)
        assert (pending.status_code, pending.get_json()["state"]) == (202, "pending")
        assert pending.headers["Retry-After"]
        apply_invalidations(house.database, house.settings)
        assert ask(project).status_code == 202
        assert {models[grid]: revision for grid, revision in inputs(answered(project)).items()} == expected
        tags.append(ask(project).headers["ETag"])

    a = score(project, "A", [60.0, 50.0], **sizes(1, 2))["id"]
    models = {a: "A"}
    house.compute()
    assert ask(project).status_code == 200, "the usual ranking is computed before anybody asks"
    tags.append(ask(project).headers["ETag"])
    b = score(project, "B", [70.0, 50.0], **sizes(1, 2))["id"]
    models |= {b: "B"}
    changed(A=1, B=1)
    cells = {"cells": [{"at": {"Size": 1}, "value": 1.0}]}
    assert project.call("PATCH", f"grids/{a}/cells", json=cells).status_code == 200
    changed(A=2, B=1)
    score(project, "A", [60.0, 50.0], **sizes(1, 2))
    changed(A=3, B=1)
    assert project.call("DELETE", f"grids/{a}").status_code == 204
    changed(B=1)
    assert set(records(answered(project))) == {"B"}
    score(project, "A", [55.0, 50.0], **sizes(1, 2))
    changed(A=4, B=1)
    assert len(set(tags)) == len(tags) == 6
    score(project, "C", 1.0, experiment="another")
    score(project, "B", [70.0, 50.0], **sizes(1, 2))
    assert ask(project).status_code == 200
    house.compute()
    again = ask(project)
    assert again.headers["ETag"] == tags[-1]
    due(project, state="pending", generation=cached_results.c.generation + 1)
    assert ask(project).status_code == 202
    assert answered(project) == again.get_json() | {"computed_at": answered(project)["computed_at"]}
    same = project.get(
        f"projects/{project.slug}/rankings?experiment=leaderboard&metric=accuracy", headers={"If-None-Match": tags[-1]}
    )
    assert (same.status_code, same.data, same.headers["ETag"]) == (304, b"", tags[-1])


def test_an_answer_to_what_no_grid_has_is_not_found_and_promises_nothing(project: Project) -> None:
    assert ask(project, experiment="leaderbord").status_code == 404
    assert stored(project, cached_results.c.id) == []


@contextmanager
def while_computing(act: Callable[[], object]) -> Iterator[None]:
    """Something happens between the reading of the inputs and the settling."""

    def late(*given: Any) -> Any:
        act()
        return direct_ranking(*given)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(queries, "direct_ranking", late)
        yield


@pytest.mark.parametrize("folded", [True, False])
def test_an_answer_for_inputs_that_changed_while_it_was_computed_stays_pending(
    project: Project, house: House, folded: bool
) -> None:
    """The new revision is published, and its mark folded or not, between the reading of the inputs and the settling."""
    score(project, "A", 60.0)
    apply_invalidations(house.database, house.settings)

    def publish() -> None:
        score(project, "B", 70.0)
        if folded:
            apply_invalidations(house.database, house.settings)

    with while_computing(publish):
        assert compute_due(house.database, house.settings) == 1
    assert ask(project).status_code == 202
    assert set(records(answered(project))) == {"A", "B"}


def test_while_grids_wait_rankings_that_nobody_reads_take_a_share_and_questions_go_on(
    project: Project, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = queries.Turns(house.database, house.settings)
    with monkeypatch.context() as patched:
        for module in (derive, queries):
            patched.setattr(module, "SHIFT_SECONDS", 0.0)  # a shift in which no grid is described
        score(project, "A", 60.0)
        apply_invalidations(house.database, house.settings)
        assert [turns.take(), turns.take()] == [1, 0]
        score(project, "B", 70.0)
        apply_invalidations(house.database, house.settings)
        due(project)
        turns.rests_until += 3_600
        assert turns.take() == 0
        ask(project, method="borda")
        assert turns.take() == 1
        assert set(records(ask(project, method="borda").get_json())) == {"A", "B"}
        turns.rests_until = 0.0
        due(project)
        assert turns.take() == 1
        score(project, "C", 80.0)
        ask(project)  # from now on somebody reads it
        apply_invalidations(house.database, house.settings)
        due(project)
        turns.rests_until += 3_600
        assert turns.take() == 1
    assert turns.take() >= 3, "the grids, as nothing stops the shift"


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
    project: Project, house: House
) -> None:
    score(project, "A", 60.0)
    apply_invalidations(house.database, house.settings)
    due(project, attempts=house.settings.attempts - 1)

    def fail() -> None:
        score(project, "B", 70.0)
        apply_invalidations(house.database, house.settings)
        raise ZeroDivisionError("for the old inputs")

    with while_computing(fail):
        compute_due(house.database, house.settings)
    assert ask(project).status_code == 202
    due(project)
    assert set(records(answered(project))) == {"A", "B"}


def test_a_ranking_that_cannot_be_computed_says_why_until_an_input_changes(project: Project, house: House) -> None:
    score(project, "A", 60.0)
    apply_invalidations(house.database, house.settings)

    def fail() -> None:
        raise ZeroDivisionError("no ranking today")

    with while_computing(fail):
        for _ in range(house.settings.attempts):
            assert compute_due(house.database, house.settings) == 1
            due(project)
    failed = ask(project)
    told = failed.get_json()
    assert (failed.status_code, told["state"], told["reason"]) == (200, "failed", "ZeroDivisionError: no ranking today")
    described(told, "Failed")
    score(project, "B", 70.0)
    assert set(records(answered(project))) == {"A", "B"}


def test_every_ranking_contains_each_revision_that_was_acknowledged_before_it_was_asked_for(
    project: Project, house: House
) -> None:
    """A publisher, a keeper of promises and two readers at once."""
    acknowledged: dict[str, int] = {}
    stale: list[tuple[dict[str, int], dict[str, int]]] = []
    over, served_again, seen = threading.Event(), threading.Event(), 0
    score(project, "model 0", 50.0)
    answered(project)

    def publish() -> None:
        try:
            for number in range(24):
                grid = score(project, f"model {number % 5}", float(number))
                acknowledged[grid["id"]] = grid["revision"]
                if number % 4 == 0:
                    served_again.clear()
                    served_again.wait(30)
        finally:
            over.set()

    def keep() -> None:
        while not over.is_set():
            house.compute()

    def read() -> None:
        nonlocal seen
        while not over.is_set():
            before = dict(acknowledged)
            found = ask(project)
            if found.status_code == 200:
                served = inputs(found.get_json())
                if any(served.get(grid, 0) < revision for grid, revision in before.items()):
                    stale.append((before, served))
                seen += 1
                served_again.set()

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(act) for act in (publish, keep, read, read)]:
            done.result()
    house.compute()
    assert stale == []
    assert seen >= 6, "the readers were never answered"
    assert inputs(answered(project)) == acknowledged


def test_marks_are_folded_once_and_by_one(project: Project, house: House) -> None:
    for number in range(12):
        score(project, f"model {number}", 1.0 * number)
    with ThreadPoolExecutor(4) as pool:
        folded = [pool.submit(apply_invalidations, house.database, house.settings) for _ in range(4)]
    assert sum(one.result() for one in folded) == 12
    with house.database.reading() as connection:
        assert connection.scalar(select(func.count()).select_from(invalidations)) == 0
    assert stored(project, cached_results.c.state) == [("pending",)]


def test_questions_are_told_apart_by_every_part(project: Project) -> None:
    score(project, "A", 60.0)
    questions: list[dict[str, Any]] = [{}, {"by": "variant"}, {"benchmark": "GSM8K"}, {"variant": ""}, {"alpha": 0.1}]
    assert {one["state"] for one in all_answered(project, *questions)} == {"ready"}
    assert len({*stored(project, cached_results.c.query_key)}) == len(questions)
    keys = {RankingQuery("e", "m", by=by).key for by in ("model", "variant", "axis:x")}
    assert (len(keys), {type(key) for key in keys}) == (3, {uuid.UUID})
