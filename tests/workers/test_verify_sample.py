"""`registry verify --sample`: what it draws, what it finds in what was drawn, and what it says of the rest."""

import json
import re
import uuid
from collections import Counter
from datetime import timedelta
from itertools import combinations
from typing import Any

import pytest
from click.testing import CliRunner
from scipy.stats import chi2, hypergeom
from sqlalchemy import func, insert, select, text, update

from registry.cli import main
from registry.operations.audit_log import COMMAND
from registry.operations.purge import purge
from registry.query import RankingQuery
from registry.results.codec import from_bytes
from registry.results.columns import packed
from registry.storage.tables import cached_results, grids, pair_sum_scopes, statistics
from tests.house import House, Project
from tests.registry.test_items import FIRST
from tests.registry.test_items import grid as grid_with_items
from tests.registry.test_items import post as post_items
from tests.registry.test_upkeep import command
from workers import verify_checks
from workers.rankings.pair_sums import catch_up, open_scope
from workers.verify import Tally, verify_sample
from workers.verify_sample import DrawOptions, Sample, Seen

AIMLESS = {"name": "accuracy", "unit": "%", "direction": None, "lower": 0, "upper": 100}
"""A metric whose rankings take no time."""


def sampled(of: House | Project, size: int, seed: int = 1) -> tuple[Tally, Sample]:
    """What is found in a sample of a project or of a whole registry."""
    house, slug = (of.house, of.slug) if isinstance(of, Project) else (of, None)
    *_, tally = verify_sample(house.database, house.settings, DrawOptions(size, seed, slug))
    assert tally.sample is not None
    return tally, tally.sample


def published(project: Project, count: int) -> list[str]:
    """The ids of so many grids, in their order, of which everything is computed."""
    made = [project.published(model=str(number), metric=AIMLESS)["id"] for number in range(count)]
    project.house.compute()
    return sorted(made)


def found(tally: Tally) -> set[tuple[str, str]]:
    return {(str(one.grid), one.check) for one in tally.differences if one.grid}


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
        document = from_bytes(connection.scalar(select(statistics.c.document).where(here)))
    document["coverage"]["count"] = -1
    tamper(house, update(statistics).where(here).values(document=packed(document)))


def change_value(house: House, grid_id: str) -> None:
    tamper(house, f"UPDATE stored_revisions SET numbers[1] = 5 WHERE grid_id = '{grid_id}' AND number = 1")


def lose_revision(house: House, grid_id: str) -> None:
    tables = ("derivations", "statistics", "stored_revisions")
    tamper(house, *(f"DELETE FROM {table} WHERE grid_id = '{grid_id}'" for table in tables))


# --- what is drawn --------------------------------------------------------------------------------------------------


def test_a_seed_draws_the_same_again_also_after_rows_have_moved(project: Project) -> None:
    for number in range(12):
        project.published(model=str(number))

    def drawn(seed: int) -> list[uuid.UUID]:
        with project.house.database.snapshot() as connection:
            return Sample.drawn(connection, project.id, DrawOptions(5, seed)).grids.ids

    first, other = drawn(1), drawn(2)
    assert (len(first), len(set(first))) == (5, 5)
    with project.house.database.transaction() as connection:
        connection.execute(update(grids).where(grids.c.project_id == project.id).values(updated_at=func.now()))
    assert drawn(1) == first
    assert set(other) != set(first)


def test_every_grid_and_every_pair_is_drawn_as_often_as_any_other(project: Project) -> None:
    """Ids and seeds, and so the counts, are the same in each run. Other seeds would pass the bounds once in 10,000
    times. Ids follow one another, as those of one moment do."""
    count, size, draws = 40, 10, 500
    ids = [uuid.UUID(int=0x01A1FE08BDCB7000800000000000F000 + number) for number in range(count)]
    names = {"experiment": "e", "benchmark": "b", "variant": "", "metric": "m", "revision": 1}
    rows = [names | {"id": one, "project_id": project.id, "identity": one, "model": str(one)} for one in ids]
    seen, pairs = Counter[uuid.UUID](), Counter[tuple[uuid.UUID, uuid.UUID]]()
    with project.house.database.engine.connect() as connection:  # never committed
        connection.execute(insert(grids), rows)
        for seed in range(draws):
            drawn = Sample.drawn(connection, project.id, DrawOptions(size, seed)).grids
            assert (len(drawn.ids), drawn.total) == (size, count)
            seen.update(drawn.ids)
            pairs.update(combinations(sorted(drawn.ids), 2))
    share = size / count
    spread = draws * share * (1 - share) * count / (count - 1)
    assert sum((seen[one] - draws * share) ** 2 for one in ids) / spread < chi2.isf(1e-4, count - 1)
    both = share * (size - 1) / (count - 1)
    furthest = max(abs(pairs[pair] - draws * both) for pair in combinations(ids, 2))
    assert furthest < 5.5 * (draws * both * (1 - both)) ** 0.5, "of 780 pairs, by a normal deviate"
    assert len(pairs) == count * (count - 1) // 2


# --- what is found --------------------------------------------------------------------------------------------------


def test_each_bad_grid_of_several_is_found_where_all_are_drawn_and_counts_once(project: Project) -> None:
    """One more grid is purged between the draw and its turn, and belongs to nothing."""
    house, made = project.house, published(project, 22)
    run = verify_sample(house.database, house.settings, DrawOptions(22, 1, project.slug))
    next(run)
    assert project.call("DELETE", f"grids/{made[-1]}", "writer").status_code == 204
    with house.database.transaction() as connection:
        long_ago = {"deleted_at": func.now() - timedelta(days=400)}
        connection.execute(update(grids).where(grids.c.id == made[-1]).values(long_ago))
        assert purge(connection, COMMAND, older_than_days=399) == 1
    *_, before = run
    assert before.sample is not None
    assert (before.sample.grids.total, before.sample.grids.checked, before.sample.statistics) == (22, 21, 21)
    assert (before.sample.grids.differing, before.differences) == (0, [])
    bad = ((bend_statistics, {"statistics"}), (change_value, {"digest", "statistics"}), (lose_revision, {"revisions"}))
    expected = set[tuple[str, str]]()
    for place, (tampering, checks) in enumerate(bad):
        tampering(house, made[7 * place])
        expected |= {(made[7 * place], check) for check in checks}
        after, sample = sampled(project, 22)
        assert found(after) == expected
        assert (sample.grids.total, sample.grids.checked, sample.grids.differing) == (21, 21, place + 1)
        assert sample.grids.at_most == (place + 1) / 21


def test_superseded_revisions_and_outcomes_of_items_are_checked_too(project: Project) -> None:
    house = project.house
    old, *_ = (project.published(trials=trials)["id"] for trials in (100, 200, 300))
    items = grid_with_items(project, model="items")["id"]
    assert post_items(project, items, FIRST).status_code == 201
    house.compute()
    tally, sample = sampled(project, 9)
    assert (tally.revisions, sample.grids.checked, tally.differences) == (4, 2, [])
    change_value(house, old)
    tamper(house, f"UPDATE item_outcomes SET outcomes = 'torn' WHERE grid_id = '{items}'")
    tally, sample = sampled(project, 9)
    places = {(str(one.grid), one.revision, one.check) for one in tally.differences}
    assert places == {(old, 1, "digest"), (items, 1, "items")}
    assert sample.grids.differing == 2


def test_statistics_that_cannot_be_compared_are_not_counted_as_compared_and_events_are_all_counted(
    project: Project,
) -> None:
    published(project, 1)
    project.published(model="pending")
    tally, sample = sampled(project, 2)
    assert (tally.differences, sample.grids.checked, sample.statistics) == ([], 2, 1)
    assert sample.sentences()[0] == (
        "Statistics of 1 of the 2 checked grids were compared; the others have none by this release's methods."
    )
    tamper(project.house, f"UPDATE event_heads SET position = position + 1 WHERE project_id = '{project.id}'")
    assert [one.check for one in sampled(project, 1)[0].differences] == ["events"]


def test_stored_answers_are_drawn_too(own: House) -> None:
    tally, sample = sampled(own, 5)
    assert tally.differences == []
    kinds = ("grids", "stored answers", "sets of pair sums")
    assert sample.sentences()[:3] == [f"{kind}: 0 of 0 checked, 0 differ" for kind in kinds]
    project, other = own.make_project(), own.make_project()
    for experiment in ("one", "two"):
        for model in ("a", "b"):
            project.published(experiment=experiment, model=model)
            other.published(experiment=experiment, model=model)
    own.compute()
    tally, sample = sampled(project, 10)
    assert (sample.results.total, sample.results.checked, tally.differences) == (2, 2, [])
    mine = (cached_results.c.project_id == project.id, cached_results.c.experiment == "one")
    tamper(own, update(cached_results).where(*mine).values(etag="bent"))
    tally, sample = sampled(project, 10)
    assert [one.check for one in tally.differences] == ["answer"]
    assert (sample.results.checked, sample.results.differing, sample.grids.differing) == (2, 1, 0)
    assert sampled(other, 10)[0].differences == []
    assert sampled(own, 1)[1].results.total == 4
    tamper(own, update(cached_results).where(*mine).values(state="pending"))
    assert sampled(project, 10)[1].results.total == 1, "what is not served is not drawn"


def test_pair_sums_are_counted_again_within_what_a_sample_may_read(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = project.house
    for experiment, models in (("small", 2), ("large", 5)):
        for model in range(models):
            project.published(experiment=experiment, model=str(model))
    house.compute()
    for experiment in ("small", "large"):
        question = RankingQuery(experiment, "accuracy")
        open_scope(house.database, project.id, question)
        assert catch_up(house.database, project.id, question, float("inf"))
    tally, sample = sampled(project, 10)
    assert (sample.sums.checked, sample.sums.total, tally.differences) == (2, 2, [])
    mine = (pair_sum_scopes.c.project_id == project.id, pair_sum_scopes.c.experiment == "small")
    tamper(house, update(pair_sum_scopes).where(*mine).values(slots=999))
    tally, sample = sampled(project, 10)
    assert [one.check for one in tally.differences] == ["sums"]
    assert 'experiment "small"' in tally.differences[0].detail
    monkeypatch.setattr("workers.verify_sample._GRIDS_OF_SUMS", 2)
    _, sample = sampled(project, 2)
    assert (sample.sums.total, sample.sums.differing) == (1, 1), "what is too large is not drawn"


def test_an_answer_that_changes_while_it_is_compared_is_not_counted_as_equal(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    published(project, 2)
    monkeypatch.setattr(verify_checks, "compute_again", lambda *_: None)
    tally, sample = sampled(project, 10)
    assert (sample.results.total, sample.results.checked, tally.differences) == (1, 0, [])
    assert sample.results.at_most == 1, "nothing is known of it"


# --- what is said ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("total", "checked", "differing", "said"),
    [
        # 1 - 0.05^(1/1000) is 0.299 %; of 100,000 a hundredth of it.
        (1_234_567, 1_000, 0, "1,000 of 1,234,567 checked, 0 differ: at most 0.30 % of all (95 %, one-sided)"),
        (10**8, 10**5, 0, "100,000 of 100,000,000 checked, 0 differ: at most 0.0030 % of all (95 %, one-sided)"),
        # The 90 % limits of Clopper and Pearson's table for 1 of 20 and 5 of 10 end at 0.2161 and 0.7776.
        (1_000, 20, 1, "20 of 1,000 checked, 1 differ: at most 22 % of all (95 %, one-sided)"),
        (1_000, 10, 5, "10 of 1,000 checked, 5 differ: at most 78 % of all (95 %, one-sided)"),
        (9, 1, 1, "1 of 9 checked, 1 differ: at most 100 % of all (95 %, one-sided)"),
        (12, 12, 1, "12 of 12 checked, 1 differ"),
    ],
)
def test_the_end_says_what_was_seen_and_what_that_tells_of_all(
    total: int, checked: int, differing: int, said: str
) -> None:
    assert Seen("grids", total, [], checked, differing).sentence() == f"grids: {said}"


def test_the_limit_misses_in_no_more_samples_than_it_says() -> None:
    total, size = 60, 20
    for bad in range(total + 1):
        missed = [k for k in range(size + 1) if Seen("grids", total, [], size, k).at_most < bad / total]
        assert sum(hypergeom.pmf(k, total, bad, size) for k in missed) <= 0.05


def test_a_sample_is_told_as_json_and_as_text_and_its_seed_draws_it_again(project: Project) -> None:
    published(project, 3)
    of_project, settings = ("--project", project.slug), project.house.settings
    ran = command(settings, "verify", "--sample", 2, "--seed", 7, *of_project, "--json")
    assert ran.returncode == 0, ran.stderr
    told = json.loads(ran.stdout)
    assert (told["revisions"], told["differences"]) == (2, [])
    sample = told["sample"]
    assert (sample["size"], sample["seed"], sample["statistics"]) == (2, 7, 2)
    # 1 - 0.05^(1/2)
    assert sample["grids"] == {"total": 3, "checked": 2, "differing": 0, "at_most": pytest.approx(0.7764, abs=1e-4)}
    assert sample["answers"] == {"total": 1, "checked": 1, "differing": 0, "at_most": 0}
    said = command(settings, "verify", "--sample", 2, *of_project)
    assert said.returncode == 0
    lines = said.stdout.splitlines()
    assert lines[0] == "grids: 2 of 3 checked, 0 differ: at most 78 % of all (95 %, one-sided)"
    again = re.fullmatch(rf"The same draw again: (--sample 2 --seed \d+ --project {project.slug})", lines[-1])
    assert again is not None
    assert f"Drawing: {again[1]}" in said.stderr, "a run that was broken off can be repeated too"
    assert command(settings, "verify", *again[1].split()).stdout == said.stdout
    assert command(settings, "verify", "--sample", 2, "--project", "nobody").returncode == 1


def test_options_that_do_not_go_together_are_refused_by_name(subtests: pytest.Subtests) -> None:
    for arguments, named in (
        ("--seed 5", "--seed"),
        ("--sample 0", "--sample"),
        ("--sample 2000000", "--sample"),
        ("--sample 5 --seed -1", "--seed"),
    ):
        with subtests.test(arguments):
            ran = CliRunner().invoke(main, ["verify", *arguments.split()])
            assert (ran.exit_code, named in ran.stderr.splitlines()[-1]) == (2, True), ran.stderr
