"""Rankings of scopes that are too large for their cells: sums of pairs, counted exactly and only once."""

import random
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import product
from typing import Any

import numpy as np
import pytest
from sqlalchemy import delete, func, insert, select, update

from registry.commands.session import sentence
from registry.operations.audit_log import COMMAND
from registry.operations.purge import purge
from registry.query import RankingQuery
from registry.storage.database import Database
from registry.storage.tables import (
    aliases,
    cached_results,
    grids,
    invalidations,
    pair_sum_inputs,
    pair_sum_queue,
    pair_sum_scopes,
    pair_sums,
)
from tests.house import ENDED, House, Project
from tests.workers.asking import join
from tests.workers.test_rankings import ask, publish_seeds, records, score
from workers import queries
from workers.jobs.invalidation import APPLIED_AT_ONCE, apply_invalidations
from workers.queries import compute, document_of
from workers.rankings.direct import direct_ranking
from workers.rankings.pair_sums import catch_up, check_sums, close_scope, open_scope, stored_sums
from workers.scope import alias_map, scope_rows
from workers.statistics.pair_sums import LARGER, canonical, packed, unpacked

QUESTION = RankingQuery("leaderboard", "accuracy")
FOR_EVER = float("inf")


def from_sums(large: House, project: Project, question: RankingQuery = QUESTION) -> dict[str, Any]:
    apply_invalidations(large.database, large.settings)
    found = compute(large.database, large.settings, project.id, question)
    assert found is not None
    return document_of(found)


def from_cells(project: Project, question: RankingQuery = QUESTION) -> dict[str, Any]:
    with project.house.database.reading() as connection:
        joined = alias_map(connection, project.id)
        return document_of(direct_ranking(question, scope_rows(connection, project.id, question), joined))


def stored(project: Project) -> tuple[Any, ...]:
    """All integers of the project's only scope: of pairs by name, of names, of the scope."""
    with project.house.database.reading() as connection:
        scope = connection.execute(select(pair_sum_scopes).where(pair_sum_scopes.c.project_id == project.id)).one()
        rows = connection.execute(
            select(pair_sums).where(pair_sums.c.scope_id == scope.id).order_by(pair_sums.c.name)
        ).all()
    rows = [row for row in rows if row.cells]
    places = [row.position for row in rows]
    sums = np.stack([stored_sums(row.sums, max(places) + 1)[:, places] for row in rows], axis=1)
    names = [(row.name, row.cells) for row in rows]
    return canonical(sums).tobytes(), names, scope.grids, scope.slots, scope.compared, scope.kinds, scope.checksum


def scope_of(project: Project) -> Any:
    return select(pair_sum_scopes.c.id).where(pair_sum_scopes.c.project_id == project.id).scalar_subquery()


def rebuilt(project: Project) -> tuple[Any, ...]:
    """The same from nothing."""
    close_scope(project.house.database, project.id, QUESTION)
    open_scope(project.house.database, project.id, QUESTION)
    assert catch_up(project.house.database, project.id, QUESTION, FOR_EVER)
    return stored(project)


def table(project: Project, model: str, benchmark: str, values: list[Any], **changes: Any) -> dict[str, Any]:
    axes = [{"name": "Length", "kind": "numeric", "levels": list(range(len(values)))}]
    names = {"experiment": "leaderboard", "benchmark": benchmark, "variant": "", "model": model}
    return project.published(**names | {"axes": axes, "values": values, "trials": None} | changes)


def publish_ragged(project: Project, models: int = 6) -> None:
    chance = random.Random(7)
    for benchmark in ("A", "B", "C", "D"):
        for model in range(models):
            if chance.random() < 0.8:
                values = [
                    None if chance.random() < 0.2 else round(40 + 5 * model + chance.gauss(0, 9), 1) for _ in range(9)
                ]
                if any(value is not None for value in values):
                    table(project, f"m{model}", benchmark, values)


@pytest.fixture(scope="module")
def ragged(house: House) -> Iterator[Project]:
    """Six models on four benchmarks, of which everybody reads."""
    project = house.make_project()
    publish_ragged(project)
    yield project
    ENDED.append(project)


SAME = ("by", "method", "missing", "alpha", "experiment", "metric", "benchmarks", "slots", "components")


def test_sums_give_the_order_the_records_and_the_intervals_that_the_cells_give(
    large: House, ragged: Project, subtests: pytest.Subtests
) -> None:
    for method, target in product(("mean_difference", "win_rate", "bradley_terry"), ("rerun", "new_benchmarks")):
        with subtests.test(msg=f"{method}, {target}"):
            question = replace(QUESTION, method=method, target=target)
            sums, cells = from_sums(large, ragged, question), from_cells(ragged, question)
            assert sums["inputs_left_out"]["count"] == len(cells["inputs"])
            assert {name: sums[name] for name in SAME} == {name: cells[name] for name in SAME}
            assert records(sums) == records(cells)
            for one, other in zip(sums["ranking"], cells["ranking"], strict=True):
                assert (one["name"], one["rank"], one["cells"]) == (other["name"], other["rank"], other["cells"])
                assert one["score"] == pytest.approx(other["score"], rel=1e-9, abs=1e-9)
            named = [(one["name"], one["rank"]) for one in sums["ranking"]]
            assert sorted((one["name"], one["rank"]) for one in sums["policy_sensitivity"]) == sorted(named)
            for one, other in zip(sums["pairs"], cells["pairs"], strict=True):
                for name in ("a", "b", "n_common", "wins", "ties", "losses", "target"):
                    assert one[name] == other[name]
                assert one["lead"] == pytest.approx(other["lead"], rel=1e-8, abs=1e-8)
                assert (one["difference"] is None) == (other["difference"] is None) == (method != "mean_difference")
                if one["difference"] is not None:
                    assert one["difference"] == pytest.approx(other["difference"], rel=1e-9, abs=1e-9)
                if one["interval"]:
                    ends, others = ([pair["interval"][end] for end in ("low", "high")] for pair in (one, other))
                    assert ends == pytest.approx(others, rel=1e-7, abs=1e-7)


def test_p_values_from_sums_are_near_the_exact_ones_and_models_can_be_picked_out(large: House, ragged: Project) -> None:
    wins = replace(QUESTION, method="win_rate")
    exact = {(pair["a"], pair["b"]): pair for pair in from_cells(ragged, wins)["pairs"]}
    for pair in from_sums(large, ragged, wins)["pairs"]:
        assert pair["p"] == pytest.approx(exact[pair["a"], pair["b"]]["p"], rel=0.25, abs=0.02)
        assert pair["test"] == "sign_flip_normal"
    document = from_sums(large, ragged, replace(QUESTION, model=("m1", "m4")))
    assert {row["name"] for row in document["ranking"]} == {"m1", "m4"}
    [pair] = document["pairs"]
    assert [pair[name] for name in ("wins", "ties", "losses")] == [
        exact["m1", "m4"][name] for name in ("wins", "ties", "losses")
    ]


def test_what_needs_every_cell_is_refused_with_a_reason(large: House, ragged: Project) -> None:
    for change in (
        {"method": "mean"},
        {"missing": "worst"},
        {"by": "variant"},
        {"by": "axis:Length"},
        {"benchmark": ("A",)},
    ):
        document = from_sums(large, ragged, replace(QUESTION, **change))
        assert (document["status"], "ask about fewer" in document["reason"]) == ("undefined", True)
        assert "REGISTRY_RANKING_CELLS is 0" in document["reason"]


def test_where_lower_is_better_smaller_values_win_and_mixed_directions_are_not_compared(
    large: House, project: Project
) -> None:
    loss = {"name": "accuracy", "unit": "nats", "direction": "lower", "lower": 0, "upper": None}
    table(project, "A", "X", [1.0, 2.0, 3.0], metric=loss)
    table(project, "B", "X", [1.5, 2.0, 3.5], metric=loss)
    sums, cells = from_sums(large, project), from_cells(project)
    assert sums["scale"] == cells["scale"] == {"unit": "nats", "direction": "lower", "lower": 0, "upper": None}
    assert records(sums) == records(cells) == {"A": (2, 1, 0), "B": (0, 1, 2)}
    assert [row["name"] for row in sums["ranking"]] == ["A", "B"]
    assert sums["ranking"][0]["score"] == pytest.approx(cells["ranking"][0]["score"])
    table(project, "C", "X", [1.0, 2.0, 3.0], metric=loss | {"direction": "higher"})
    assert from_sums(large, project)["reason"].startswith("units, directions or bounds differ")


def test_a_change_is_subtracted_and_added_and_nothing_is_left_of_what_was(large: House, project: Project) -> None:
    publish_ragged(project)
    from_sums(large, project)
    table(project, "m1", "A", [99.9, None, 12.3])
    gone, purged = table(project, "new", "B", [1.0, 2.0, 3.0, 4.0]), table(project, "old", "A", [1.0, 2.0, 3.0])
    table(project, "m0", "E", [50.0])
    from_sums(large, project)
    for grid in (gone, purged):
        assert project.call("DELETE", f"grids/{grid['id']}", "writer").status_code == 204
    table(project, "m2", "A", [5.55, 6.66])
    # Workers may have been away for as long as deleted grids are kept.
    with large.database.transaction() as connection:
        long_ago = {"deleted_at": func.now() - timedelta(days=4000)}
        connection.execute(update(grids).where(grids.c.id == purged["id"]).values(long_ago))
        assert purge(connection, COMMAND, older_than_days=3999) == 1
    document = from_sums(large, project)
    assert not {"new", "old"} & set(records(document))
    assert records(document) == records(from_cells(project))
    assert stored(project) == rebuilt(project)


def test_a_second_telling_changes_nothing(large: House, project: Project) -> None:
    publish_ragged(project, 3)
    from_sums(large, project)
    before = stored(project)
    with project.house.database.transaction() as connection:
        every = select(pair_sum_inputs.c.scope_id, grids.c.benchmark, grids.c.id)
        every = every.join_from(pair_sum_inputs, grids, grids.c.id == pair_sum_inputs.c.grid_id)
        every = every.where(pair_sum_inputs.c.scope_id == scope_of(project))
        for _ in range(2):
            connection.execute(insert(pair_sum_queue).from_select(["scope_id", "benchmark", "grid_id"], every))
    from_sums(large, project)
    assert stored(project) == before


def test_sixteen_writers_and_counting_at_the_same_time_leave_the_sums_of_a_rebuild(
    large: House, project: Project
) -> None:
    publish_ragged(project)
    from_sums(large, project)
    done = threading.Event()

    def write(number: int) -> None:
        chance = random.Random(number)
        for _ in range(3):
            values = [None if chance.random() < 0.2 else round(chance.uniform(0, 100), 2) for _ in range(8)]
            table(project, f"m{chance.randrange(8)}", chance.choice("ABC"), values)

    def count() -> None:
        while not done.is_set():
            apply_invalidations(large.database, large.settings)
            catch_up(large.database, project.id, QUESTION, 0.0)

    writers = [threading.Thread(target=write, args=(number,)) for number in range(16)]
    counters = [threading.Thread(target=count) for _ in range(2)]
    for thread in (*writers, *counters):
        thread.start()
    for thread in writers:
        thread.join(120)
    done.set()
    for thread in counters:
        thread.join(120)
    document = from_sums(large, project)
    assert stored(project) == rebuilt(project)
    assert records(document) == records(from_cells(project))
    with project.house.database.reading() as connection:
        assert connection.scalar(select(func.count()).where(invalidations.c.project_id == project.id)) == 0


def test_a_night_of_batches_that_nobody_folded_is_folded(large: House, project: Project) -> None:
    """The server ends a transaction in which its client is silent for too long."""
    publish_ragged(project, 2)
    from_sums(large, project)
    with large.database.reading() as connection:
        known = list(connection.scalars(select(grids.c.id).where(grids.c.project_id == project.id).limit(2)))
    here = {"project_id": project.id, "experiment": QUESTION.experiment, "metric": QUESTION.metric}
    batches = [here | {"grid_ids": 250 * known} for _ in range(APPLIED_AT_ONCE + 1)]
    with large.database.transaction() as connection:
        connection.execute(insert(invalidations), batches)
    hasty = Database(replace(large.settings, idle_timeout=0.2), name="hasty")
    assert apply_invalidations(hasty, large.settings) >= len(batches)
    hasty.close()
    mine = pair_sum_queue.c.scope_id == scope_of(project)
    with large.database.transaction() as connection:
        assert connection.scalar(select(func.count()).where(mine)) == 500 * len(batches)
        connection.execute(delete(pair_sum_queue).where(mine))


def test_an_alias_counts_the_scope_from_nothing(large: House, project: Project) -> None:
    publish_seeds(project, aliases=False)
    question = RankingQuery("window-by-ratio", "Pass@1")
    assert from_sums(large, project, question)["slots"]["compared"] == 8
    join(project, "benchmark", "AIME25", "AIME'25")
    document = from_sums(large, project, question)
    assert document["slots"]["compared"] == 16
    assert records(document) == records(from_cells(project, question))


def test_grids_that_an_alias_makes_one_are_counted_as_the_cells_say(large: House, project: Project) -> None:
    table(project, "long name", "X", [1.0, 2.0, None])
    table(project, "B", "X", [1.5, 1.5, 1.5])
    table(project, "short", "X", [None, 1.0, 9.0])
    join(project, "model", "long name", "short")
    assert records(from_sums(large, project)) == records(from_cells(project)) == {"B": (2, 0, 1), "short": (1, 0, 2)}
    table(project, "long name", "X", [1.0, 2.0, 3.0])
    assert records(from_sums(large, project)) == records(from_cells(project)) == {"B": (1, 0, 2), "short": (2, 0, 1)}
    assert stored(project) == rebuilt(project)
    # What was listed under an alias that is lost holds nobody up.
    join(project, "experiment", "old", "leaderboard")
    from_sums(large, project)
    table(project, "C", "X", [3.0, 3.0, 3.0], experiment="old")
    apply_invalidations(large.database, large.settings)
    with large.database.transaction() as connection:
        connection.execute(delete(aliases).where(aliases.c.project_id == project.id, aliases.c.alias == "old"))
    assert catch_up(large.database, project.id, QUESTION, time.monotonic() + 60)
    assert set(records(from_sums(large, project))) == {"short", "B"}


def test_a_value_too_large_for_the_sums_has_everything_counted_anew(large: House, project: Project) -> None:
    open_ended = {"name": "accuracy", "unit": None, "direction": "higher", "lower": None, "upper": None}
    table(project, "A", "X", [1.25, 2.5], metric=open_ended)
    table(project, "B", "X", [1.0, 3.0], metric=open_ended)
    from_sums(large, project)
    table(project, "A", "Y", [1e6, 5.0], metric=open_ended)
    table(project, "B", "Y", [2e6, 7.0], metric=open_ended)
    assert records(from_sums(large, project)) == {"A": (1, 0, 3), "B": (3, 0, 1)}


def test_a_scope_that_has_become_small_is_read_from_its_cells_again(house: House, project: Project) -> None:
    score(project, "A", 1.0)
    score(project, "B", 2.0)
    open_scope(house.database, project.id, QUESTION)
    house.compute()
    document = ask(project).get_json()
    assert document["pairs"][0]["reason"] == "the noise of some common cell is not known"
    with house.database.reading() as connection:
        assert connection.scalar(select(scope_of(project))) is None


def test_while_sums_are_counted_the_answer_is_pending(
    large: House, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish_ragged(project, 2)
    apply_invalidations(large.database, large.settings)
    monkeypatch.setattr(queries, "_COUNTING_SHIFT", 0.0)
    turns = 0
    while compute(large.database, large.settings, project.id, QUESTION) is None:
        turns += 1
    assert turns >= 1
    with large.database.reading() as connection:
        state = connection.scalar(select(cached_results.c.state).where(cached_results.c.project_id == project.id))
    assert state == "pending"


def recounted(house: House, project: Project) -> list[str]:
    with house.database.snapshot() as connection:
        scope = connection.execute(select(pair_sum_scopes).where(pair_sum_scopes.c.project_id == project.id)).one()
        return list(check_sums(connection, scope))


def test_a_recount_finds_nothing_until_a_sum_is_wrong(large: House, project: Project) -> None:
    publish_ragged(project)
    from_sums(large, project)
    table(project, "m1", "A", [1.0, 99.0])
    from_sums(large, project)
    assert recounted(large, project) == []
    with large.database.transaction() as connection:
        mine = pair_sums.c.scope_id == scope_of(project)
        sums = connection.scalar(select(pair_sums.c.sums).where(mine, pair_sums.c.name == "m3"))
        wrong = unpacked(sums)
        wrong[LARGER, 0] += 1
        connection.execute(update(pair_sums).where(mine, pair_sums.c.name == "m3").values(sums=packed(wrong)))
    [difference] = recounted(large, project)
    assert "m3" in difference
    with large.database.transaction() as connection:  # as if counted by an older version
        mine = pair_sum_scopes.c.project_id == project.id
        connection.execute(update(pair_sum_scopes).where(mine).values(is_complete=False))
    assert records(from_sums(large, project)) == records(from_cells(project))
    assert recounted(large, project) == []


def progress(project: Project) -> float | None:
    answer = ask(project)
    assert answer.status_code == 202
    found: float | None = answer.get_json()["derivation"].get("progress")
    return found


def test_a_pending_ranking_tells_the_share_of_its_grids_that_are_counted(large: House, project: Project) -> None:
    """Two grids of four benchmarks each; a count whose time is up counts one benchmark."""
    for benchmark in "ABCD":
        for model in ("m1", "m2"):
            table(project, model, benchmark, [1.0, 2.0])
    assert progress(project) is None
    apply_invalidations(large.database, large.settings)
    open_scope(large.database, project.id, QUESTION)
    told = []
    for _ in range(5):
        catch_up(large.database, project.id, QUESTION, 0.0)
        told.append(progress(project))
    assert told == [0.0, 0.25, 0.5, 0.75, 1.0]
    project.call("PATCH", f"projects/{project.slug}", "admin", json={"visibility": "public"})
    shown = project.house.call("GET", f"/projects/{project.slug}/rankings?experiment=leaderboard&metric=accuracy").text
    assert '<progress max="1" value="1.0">100%</progress>' in shown


def test_a_terminal_shows_it_as_a_bar() -> None:
    assert sentence("ranking", None) == "waiting for ranking"
    assert sentence("ranking", 0.25) == "waiting for ranking, 25% counted"
