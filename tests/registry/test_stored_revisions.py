"""How revisions are stored: shapes once, few decimals as whole numbers, and every value exactly as it was posted."""

import math
import threading
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sqlalchemy import func, insert, select, text

from registry.operations.purge import purge_shapes
from registry.storage.rows import packed
from registry.storage.tables import grids, new_id, shapes, stored_revisions
from tests.house import CITUS, House, Project, publication
from tests.registry.test_purging import age, purged
from tests.registry.test_statement_budgets import AMENDED

DECIMALS = st.builds(
    lambda digits, places: float(Decimal(digits).scaleb(-places)),
    st.integers(-(2**31) + 1, 2**31 - 1),
    st.integers(0, 6),
).filter(lambda value: value != 0 or math.copysign(1, value) > 0)


@pytest.mark.unit
@given(st.lists(st.none() | DECIMALS, max_size=20))
@example([0.1, 72.3, None, 100.0, 99.999999])
def test_what_is_packed_is_exactly_what_was_given(values: list[float | None]) -> None:
    found = packed(values)
    if found is None:  # a mixture may need more digits than four bytes hold
        places = max((-Decimal(repr(v)).as_tuple().exponent for v in values if v is not None), default=0)  # type: ignore[operator]
        measured = [abs(v) for v in values if v is not None]
        assert max(measured) * 10**places > 2**31 - 1 or any(0 < v < 1e-4 for v in measured)
        return
    numbers, scale = found
    for value, number in zip(values, numbers, strict=True):
        assert (value is None) == (number is None)
        if value is not None and number is not None:
            assert float(Fraction(number, scale)) == value


@pytest.mark.unit
def test_a_value_that_is_no_short_decimal_is_not_packed() -> None:
    for value in (1 / 3, -0.0, 1e-7, 2.0**31, 1e300, 0.1 + 0.2, 5e-324):
        assert packed([1.5, value]) is None, value


def rows(house: House, grid: dict[str, Any]) -> list[Any]:
    with house.database.reading() as connection:
        query = select(stored_revisions).where(stored_revisions.c.grid_id == grid["id"])
        return list(connection.execute(query.order_by(stored_revisions.c.number)))


def test_revisions_of_equal_axes_and_metric_share_a_shape(house: House, project: Project) -> None:
    level = f"only here {project.slug}"
    axes = [{"name": "Type", "kind": "nominal", "levels": [level]}]
    published = [project.published(axes=axes, values=[value], model=f"m{value}") for value in (1.0, 2.0)]
    sent = [publication(axes=axes, values=[3.0], model=f"batch {n}") for n in range(3)]
    answer = project.call("POST", f"projects/{project.slug}/grids/batch", json=sent)
    published += [item["grid"] for item in answer.get_json()["items"]]
    with house.database.reading() as connection:
        here = func.jsonb_path_exists(shapes.c.axes, text(f"""'$[*].levels[*] ? (@ == "{level}")'"""))
        assert connection.scalar(select(func.count()).select_from(shapes).where(here)) == 1
    assert len({row.shape_id for grid in published for row in rows(house, grid)}) == 1
    # A level more is another shape.
    cells = {"cells": [{"at": {"Type": "another"}, "value": 1}]}
    assert project.call("PATCH", f"grids/{published[0]['id']}/cells", json=cells).status_code == 200
    first, second = rows(house, published[0])
    assert first.shape_id != second.shape_id


def test_few_decimals_take_four_bytes_a_cell_and_others_eight_and_come_back_as_they_were_posted(
    house: House, project: Project
) -> None:
    axes = [{"name": "Step", "kind": "numeric", "levels": [1, 2, 3]}]
    cases: list[tuple[list[Any], Any, Any]] = [
        ([72.3, None, 100], [723, None, 1000], 10),
        ([72.3, 2.25, 0.0], [7230, 225, 0], 100),
        ([1 / 3, 2 / 3, None], None, None),
        ([-0.5, 1e-300, 2.5e9], None, None),
    ]
    for number, (values, numbers, scale) in enumerate(cases):
        metric = {"name": f"loss {number}", "unit": None, "direction": "lower"}
        grid = project.published(axes=axes, values=values, metric=metric, trials=None)
        [row] = rows(house, grid)
        assert (row.numbers, row.scale, row.values) == (numbers, scale, values if numbers is None else None)
        assert project.get(f"grids/{grid['id']}").get_json()["values"] == values
        shown = project.get(f"projects/{project.slug}/cells.json?metric=loss {number}").get_json()
        assert [cell["value"] for cell in shown["items"]] == [value for value in values if value is not None]


def test_a_shape_that_is_being_published_again_is_not_purged(own: House) -> None:
    """The writer has seen the shape and writes its revision only after the purge has begun."""
    project = own.make_project()
    gone = project.published(model="gone")
    assert project.call("DELETE", f"grids/{gone['id']}").status_code == 204
    age(own, grids)
    assert purged(own) == 1
    begun, finished = threading.Event(), threading.Event()

    def clear() -> None:
        with own.database.transaction() as connection:
            begun.set()
            assert purge_shapes(connection) == 0
        finished.set()

    with own.database.engine.begin() as connection:
        # What every publication does first.
        connection.execute(text("INSERT INTO shapes SELECT * FROM shapes ON CONFLICT DO NOTHING"))
        thread = threading.Thread(target=clear)
        thread.start()
        assert begun.wait(60)
        waits = text("SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'shapes'::regclass")
        while not connection.scalar(waits):
            pass
        [shape] = connection.execute(select(shapes.c.id)).scalars()
        grid = {"id": new_id(), "project_id": project.id, "identity": new_id(), "revision": 1}
        named = {"experiment": "e", "benchmark": "b", "model": "m", "variant": "", "metric": "accuracy"}
        connection.execute(insert(grids).values(grid | named))
        row = {"project_id": project.id, "grid_id": grid["id"], "number": 1, "digest": b"", "cell_count": 0}
        connection.execute(insert(stored_revisions), [row | {"shape_id": shape, "numbers": [], "scale": 1}])
    thread.join(60)
    assert finished.is_set()


if CITUS:  # one PostgreSQL commits once

    def test_the_node_and_the_coordinator_commit_a_revision_together(house: House) -> None:
        """A node that had committed by itself would keep a number that its coordinator, restarted, gives out again."""
        project = house.make_project()
        grid = project.published(model="amended")["id"]
        batch = [publication(model=f"model {number}") for number in range(3)]
        for write in (
            project.published,
            lambda: project.published(trials=301),
            lambda: project.call("POST", f"projects/{project.slug}/grids/batch", json=batch),
            lambda: project.call("PATCH", f"grids/{grid}/cells", json=AMENDED),
        ):
            with house.database.transaction() as connection:
                connection.execute(text("SELECT recover_prepared_transactions()"))
            write()
            with house.database.reading() as connection:
                assert connection.scalar(text("SELECT count(*) FROM pg_dist_transaction")) == 1
