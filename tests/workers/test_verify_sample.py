"""`registry verify --sample`: what it draws, what it finds in what was drawn, and what it says of the rest."""

from __future__ import annotations

import gzip
import uuid
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from itertools import combinations
from typing import Any

import orjson
import pytest
from scipy.stats import chi2
from sqlalchemy import func, insert, select, text, update

from registry.operations.audit_log import COMMAND
from registry.operations.purge import purge
from registry.query import RankingQuery
from registry.storage.tables import cached_results, grids, pair_sum_scopes, statistics
from tests.house import House, Project
from tests.registry.test_items import FIRST
from tests.registry.test_items import grid as grid_with_items
from tests.registry.test_items import post as post_items
from workers import verify as verify_process
from workers import verify_checks
from workers.rankings.pair_sums.scopes import open_scope
from workers.rankings.pair_sums.update import catch_up
from workers.verify import Tally, verify_sample
from workers.verify_draws import draw_grids
from workers.verify_sample import DrawOptions, Sample


def sampled(house: House, size: int, seed: int = 1, project: str | None = None) -> tuple[Tally, Sample]:
    *_, tally = verify_sample(house.database, house.settings, DrawOptions(size, seed, project))
    assert tally.sample is not None
    return tally, tally.sample


def tamper(house: House, *statements: Any) -> None:
    """What nobody can do by accident: the owner takes the triggers away first."""
    with house.database.engine.begin() as connection:
        for table in ("stored_revisions", "item_outcomes"):
            connection.execute(text(f"ALTER TABLE {table} DISABLE TRIGGER USER"))
        for statement in statements:
            connection.execute(text(statement) if isinstance(statement, str) else statement)
        for table in ("stored_revisions", "item_outcomes"):
            connection.execute(text(f"ALTER TABLE {table} ENABLE TRIGGER USER"))


def bend_statistics(house: House, grid_id: str) -> None:
    here = statistics.c.grid_id == grid_id
    with house.database.reading() as connection:
        document = orjson.loads(gzip.decompress(connection.scalar(select(statistics.c.document).where(here))))
    document["coverage"]["count"] = -1
    tamper(house, update(statistics).where(here).values(document=gzip.compress(orjson.dumps(document))))


def change_value(house: House, grid_id: str) -> None:
    tamper(house, f"UPDATE stored_revisions SET numbers[1] = 5 WHERE grid_id = '{grid_id}' AND number = 1")


def lose_revision(house: House, grid_id: str) -> None:
    here = f"WHERE grid_id = '{grid_id}'"
    tamper(house, f"DELETE FROM derivations {here}", f"DELETE FROM statistics {here}")
    tamper(house, f"DELETE FROM stored_revisions {here}")


@pytest.mark.parametrize(
    ("tampering", "checks"),
    [(bend_statistics, {"statistics"}), (change_value, {"digest", "statistics"}), (lose_revision, {"revisions"})],
)
def test_one_bad_grid_of_several_is_found_where_all_are_drawn_and_counts_once(
    own: House, tampering: Callable[[House, str], None], checks: set[str]
) -> None:
    project = own.make_project()
    made = [project.published(model=str(number))["id"] for number in range(25)]
    own.compute()
    before, sample = sampled(own, 25)
    assert before.differences == []
    assert (sample.grids.checked, sample.grids.differing, sample.statistics) == (25, 0, 25)
    tampering(own, made[7])
    after, sample = sampled(own, 25)
    assert {(str(one.grid), one.check) for one in after.differences if one.grid} == {(made[7], one) for one in checks}
    assert (sample.grids.total, sample.grids.checked, sample.grids.differing) == (25, 25, 1)
    assert sample.grids.limits() == (1, 1)


def test_superseded_revisions_and_outcomes_of_items_are_checked_too(own: House) -> None:
    project = own.make_project()
    old, *_ = (project.published(trials=trials)["id"] for trials in (100, 200, 300))
    items = grid_with_items(project, model="items")["id"]
    assert post_items(project, items, FIRST).status_code == 201
    own.compute()
    tally, sample = sampled(own, 9)
    assert (tally.revisions, sample.grids.checked, tally.differences) == (4, 2, [])
    change_value(own, old)
    tamper(own, f"UPDATE item_outcomes SET outcomes = 'torn' WHERE grid_id = '{items}'")
    tally, sample = sampled(own, 9)
    assert {(str(one.grid), one.revision, one.check) for one in tally.differences} == {
        (old, 1, "digest"),
        (items, 1, "items"),
    }
    assert sample.grids.differing == 2


def test_a_share_is_found_and_what_is_said_of_all_holds(own: House) -> None:
    """Of 12, half are bad: a sample of 6 finds some of them, and its limits hold 6 by either side."""
    project = own.make_project()
    made = [project.published(model=str(number))["id"] for number in range(12)]
    own.compute()
    for bad in made[::2]:
        bend_statistics(own, bad)
    tally, sample = sampled(own, 6, seed=3)
    assert (sample.grids.total, sample.grids.checked) == (12, 6)
    bad = {str(one.grid) for one in tally.differences if one.grid}
    assert bad <= set(made[::2])
    assert sample.grids.differing == len(bad) > 0
    low, high = sample.grids.limits()
    assert low <= 6 <= high


def test_a_seed_draws_the_same_again_also_after_rows_have_moved(project: Project) -> None:
    for number in range(12):
        project.published(model=str(number))

    def drawn(seed: int) -> list[uuid.UUID]:
        with project.house.database.snapshot() as connection:
            return draw_grids(connection, project.id, 5, seed).ids

    first, other = drawn(1), drawn(2)
    assert (len(first), len(set(first))) == (5, 5)
    with project.house.database.transaction() as connection:
        connection.execute(update(grids).where(grids.c.project_id == project.id).values(updated_at=func.now()))
    assert drawn(1) == first
    assert set(other) != set(first)


def test_every_grid_and_every_pair_is_drawn_as_often_as_any_other(project: Project) -> None:
    """Ids and seeds, and so the counts, are the same in each run. Other seeds would pass the bounds once in 10,000
    times. Ids follow one another, as those of one moment do."""
    count, size, draws = 40, 10, 1_000
    ids = [uuid.UUID(int=0x01A1FE08BDCB7000800000000000F000 + number) for number in range(count)]
    names = {"experiment": "e", "benchmark": "b", "variant": "", "metric": "m", "revision": 1}
    rows = [names | {"id": one, "project_id": project.id, "identity": one, "model": str(one)} for one in ids]
    found, pairs = Counter[uuid.UUID](), Counter[tuple[uuid.UUID, uuid.UUID]]()
    with project.house.database.engine.connect() as connection:  # never committed
        connection.execute(insert(grids), rows)
        for seed in range(draws):
            drawn = draw_grids(connection, project.id, size, seed)
            assert (len(drawn.ids), drawn.total) == (size, count)
            found.update(drawn.ids)
            pairs.update(combinations(sorted(drawn.ids), 2))
    share = size / count
    spread = draws * share * (1 - share) * count / (count - 1)
    assert sum((found[one] - draws * share) ** 2 for one in ids) / spread < chi2.isf(1e-4, count - 1)
    both = share * (size - 1) / (count - 1)
    furthest = max(abs(pairs[pair] - draws * both) for pair in combinations(ids, 2))
    assert furthest < 5.5 * (draws * both * (1 - both)) ** 0.5, "of 780 pairs, by a normal deviate"
    assert len(pairs) == count * (count - 1) // 2


def test_grids_that_were_purged_since_the_draw_belong_to_nothing(own: House) -> None:
    project = own.make_project()
    made = sorted(project.published(model=str(number))["id"] for number in range(23))
    own.compute()
    run = verify_sample(own.database, own.settings, DrawOptions(23, 1))
    next(run)
    assert project.call("DELETE", f"grids/{made[-1]}", "writer").status_code == 204
    with own.database.transaction() as connection:
        long_ago = {"deleted_at": func.now() - timedelta(days=400)}
        connection.execute(update(grids).where(grids.c.id == made[-1]).values(long_ago))
        assert purge(connection, COMMAND, older_than_days=399) == 1
    *_, tally = run
    assert tally.sample is not None
    assert (tally.sample.grids.checked, tally.sample.grids.total, tally.differences) == (22, 22, [])


def test_statistics_that_cannot_be_compared_are_not_counted_as_compared(own: House) -> None:
    project = own.make_project()
    project.published(model="computed")
    own.compute()
    project.published(model="pending")
    tally, sample = sampled(own, 2)
    assert (tally.differences, sample.grids.checked, sample.statistics) == ([], 2, 1)
    assert sample.sentences()[1] == (
        "Statistics of 1 of these 2 grids were compared; the others have none by this release's methods."
    )


def test_stored_answers_are_drawn_too(own: House) -> None:
    project, other = own.make_project(), own.make_project()
    for experiment in ("one", "two"):
        for model in ("a", "b"):
            project.published(experiment=experiment, model=model)
            other.published(experiment=experiment, model=model)
    own.compute()
    tally, sample = sampled(own, 10, project=project.slug)
    assert (sample.results.total, sample.results.checked, tally.differences) == (2, 2, [])
    mine = (cached_results.c.project_id == project.id, cached_results.c.experiment == "one")
    tamper(own, update(cached_results).where(*mine).values(etag="bent"))
    tally, sample = sampled(own, 10, project=project.slug)
    assert [one.check for one in tally.differences] == ["answer"]
    assert (sample.results.checked, sample.results.differing, sample.grids.differing) == (2, 1, 0)
    assert sampled(own, 10, project=other.slug)[0].differences == []
    assert sampled(own, 1)[1].results.total == 4
    tamper(own, update(cached_results).where(*mine).values(state="pending"))
    assert sampled(own, 10, project=project.slug)[1].results.total == 1, "what is not served is not drawn"


def test_pair_sums_are_counted_again_within_what_a_sample_may_read(own: House, monkeypatch: pytest.MonkeyPatch) -> None:
    project = own.make_project()
    for experiment, models in (("small", 2), ("large", 5)):
        for model in range(models):
            project.published(experiment=experiment, model=str(model))
    own.compute()
    for experiment in ("small", "large"):
        question = RankingQuery(experiment, "accuracy")
        open_scope(own.database, project.id, question)
        assert catch_up(own.database, project.id, question, float("inf"))
    tally, sample = sampled(own, 10)
    assert (sample.sums.checked, sample.sums.total, sample.sums.not_compared, tally.differences) == (2, 2, 0, [])
    tamper(own, update(pair_sum_scopes).where(pair_sum_scopes.c.experiment == "small").values(slots=999))
    tally, sample = sampled(own, 10)
    assert [one.check for one in tally.differences] == ["sums"]
    assert 'experiment "small"' in tally.differences[0].detail
    monkeypatch.setattr(verify_process, "GRIDS_OF_SUMS", 2)
    _, sample = sampled(own, 2)
    assert (sample.sums.checked, sample.sums.differing, sample.sums.not_compared) == (1, 1, 1)
    assert sample.sums.limits() == (1, 2), "the other one may differ too"
    assert sample.sums.sentence() == (
        "Every set of pair sums was drawn (2): 1 differs, 1 not compared (too large for this sample)."
    )


def test_an_answer_that_changes_while_it_is_compared_is_not_counted_as_equal(
    own: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = own.make_project()
    for model in ("a", "b"):
        project.published(model=model)
    own.compute()
    monkeypatch.setattr(verify_checks, "compute_again", lambda *_: None)
    tally, sample = sampled(own, 10)
    assert (sample.results.total, sample.results.checked, sample.results.not_compared) == (1, 0, 1)
    assert (tally.differences, sample.results.limits()) == ([], (0, 1))

    def change(*_: Any) -> None:
        tamper(own, update(cached_results).values(state="pending"))

    monkeypatch.setattr(verify_checks, "compute_again", change)
    tally, sample = sampled(own, 10)
    assert (sample.results.total, sample.results.checked, tally.differences) == (0, 0, []), "it is served no longer"


def test_events_are_all_counted(own: House) -> None:
    project = own.make_project()
    project.published()
    own.compute()
    assert sampled(own, 1)[0].differences == []
    tamper(own, "UPDATE event_heads SET position = position + 1")
    assert [one.check for one in sampled(own, 1)[0].differences] == ["events"]


def test_a_registry_without_grids_has_nothing_to_draw(own: House) -> None:
    tally, sample = sampled(own, 5)
    assert tally.differences == []
    assert sample.sentences()[:3] == [
        "There is no grid.",
        "There is no stored answer.",
        "There is no set of pair sums.",
    ]
