"""Outcomes of items over HTTP: what is stored, what is refused, and how long it holds."""

import base64
import hashlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sqlalchemy import func, select, text, update
from sqlalchemy.exc import DBAPIError

from registry import create_app
from registry.grids.outcomes import HeldItems, Outcomes
from registry.operations import items
from registry.operations.audit_log import COMMAND
from registry.operations.purge import purge, purge_item_ids
from registry.storage.item_outcomes import packed_cells
from registry.storage.tables import grids, item_continuations, item_ids, item_outcomes
from tests.house import CITUS, House, Project
from workers.verify import verify

IDS = ["q1", "q2", "q3", "q4"]
SET = {"name": "four", "count": 4, "ids": IDS}
AXES = [{"name": "Length", "kind": "numeric", "levels": [0, 1, 2]}]
VALUES = [75.0, 50.0, None]


def grid(project: Project, **changes: Any) -> dict[str, Any]:
    """Cells of four trials: three of four right, and two of four."""
    return project.published(**{"axes": AXES, "values": VALUES, "trials": 4} | changes)


def bits(*flags: int) -> str:
    return base64.b64encode(np.packbits(np.array(flags, dtype=np.uint8)).tobytes()).decode()


FIRST = {"at": {"Length": 0}, "outcomes": bits(1, 1, 0, 1)}
SECOND = {"at": {"Length": 1}, "outcomes": bits(1, 0, 0, 1)}


def post(project: Project, grid_id: str, *cells: Any, role: str = "writer", path: str = "", **changes: Any) -> Any:
    body = {"set": SET | changes, "cells": list(cells)}
    return project.call("POST", f"grids/{grid_id}/items{path}", role, json=body)


def held(project: Project, grid_id: str, query: str = "") -> dict[Any, Any]:
    """Outcomes by length."""
    found = project.get(f"grids/{grid_id}/items?outcomes=true{query}").get_json()
    return {cell["at"]["Length"]: cell["outcomes"] for cell in found["cells"]}


def rows(project: Project, grid_id: str) -> int | None:
    with project.house.database.reading() as connection:
        mine = select(func.count()).select_from(item_outcomes).where(item_outcomes.c.grid_id == grid_id)
        return connection.scalar(mine)


def test_outcomes_are_stored_once_and_read_back(project: Project) -> None:
    made = grid(project)["id"]
    first = post(project, made, FIRST, SECOND)
    assert first.status_code == 201, first.text
    digest = "sha256:" + hashlib.sha256(b'["q1","q2","q3","q4"]').hexdigest()
    assert first.get_json()["sets"] == [{"name": "four", "digest": digest, "count": 4, "cells": 2}]
    means = [(one["at"], one["mean"]) for one in first.get_json()["cells"]]
    assert means == [({"Length": 0}, 0.75), ({"Length": 1}, 0.5)]
    again = post(project, made, SECOND, FIRST)
    assert (again.status_code, again.get_json()) == (200, first.get_json())
    whole = project.get(f"grids/{made}/items?outcomes=true").get_json()
    assert whole["sets"][0]["ids"] == IDS
    assert held(project, made) == {0: FIRST["outcomes"], 1: SECOND["outcomes"]}
    assert rows(project, made) == 1


def test_the_items_that_came_out_otherwise_are_named_by_their_ids(project: Project) -> None:
    one, other = grid(project)["id"], grid(project, model="B", values=[75.0, None, None])["id"]
    post(project, one, FIRST, SECOND)
    post(project, other, FIRST | {"outcomes": bits(0, 1, 1, 1)})
    [cell] = project.get(f"grids/{other}/items?against={one}").get_json()["flips"]
    assert (cell["at"], cell["gained"], cell["lost"]) == ({"Length": 0}, ["q3"], ["q1"])
    [back] = project.get(f"grids/{one}/items?against={other}").get_json()["flips"]
    assert (back["gained"], back["lost"]) == (["q1"], ["q3"])
    assert "flips" not in project.get(f"grids/{one}/items").get_json()
    assert project.get(f"grids/{one}/items?against_revision=1").get_json()["flips"][1]["gained"] == []
    stranger = project.house.make_project()
    hidden = grid(stranger)["id"]
    assert project.get(f"grids/{one}/items?against={hidden}").status_code == 404


def test_items_are_dead_saturated_or_deciding_over_the_models_that_answered_them(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = [grid(project, model=model, values=[75.0, None, None])["id"] for model in "ABC"]
    for one, outcomes in zip(made, ((1, 1, 0, 1), (0, 1, 1, 1), (1, 1, 0, 1)), strict=True):
        post(project, one, FIRST | {"outcomes": bits(*outcomes)})
    other = grid(project, model="D", benchmark="another", values=[75.0, None, None])["id"]
    post(project, other, FIRST | {"outcomes": bits(1, 1, 1, 0)})
    bare = grid(project, model="E")["id"]
    for one in (made[0], bare):
        [cell] = project.get(f"grids/{one}/items?life=true").get_json()["life"]
        assert (cell["at"], cell["grids"]) == ({"Length": 0}, 3)
        assert (cell["dead"], cell["saturated"], cell["deciding"]) == ([], ["q2", "q4"], ["q1", "q3"])
        assert cell["solved_at_most"] == pytest.approx(0.6316, abs=1e-4), "none of three: Clopper and Pearson's end"
    [cell] = project.get(f"grids/{bare}/items?life=true&model=A&model=C").get_json()["life"]
    assert (cell["grids"], cell["dead"], cell["deciding"]) == (2, ["q3"], [])
    monkeypatch.setattr(items, "MOST_TOLD", 3)
    [fault] = project.get(f"grids/{bare}/items?life=true").get_json()["errors"]
    assert fault == {"pointer": "/model", "detail": "4 grids are more than 3: name some models"}
    monkeypatch.undo()
    assert "life" not in project.get(f"grids/{bare}/items").get_json()
    shorter = grid(project, model="F", values=[50.0, None, None], trials=2)["id"]
    of = {"ids": None, "digest": project.get(f"grids/{made[0]}/items").get_json()["sets"][0]["digest"], "count": 2}
    post(project, shorter, {"at": {"Length": 0}, "outcomes": bits(1, 0)}, **of)
    found = project.get(f"grids/{shorter}/items?life=true&against={made[0]}").get_json()
    assert ([cell["grids"] for cell in found["life"]], found["flips"]) == ([3, 1], []), "other items by their count"
    errors = {"metric": {"name": "errors", "unit": "%", "direction": "lower", "lower": 0, "upper": 100}}
    one = grid(project, values=[75.0, None, None], **errors)["id"]
    post(project, one, FIRST)
    [cell] = project.get(f"grids/{one}/items?life=true").get_json()["life"]
    assert (cell["dead"], cell["saturated"]) == (["q1", "q2", "q4"], ["q3"]), "where less is better, a 1 is no solution"
    made = project.call("POST", f"projects/{project.slug}/shares", "admin", json={"path": f"/api/v1/grids/{one}"})
    link = made.get_json()["url"].partition("?")[2]
    answers = [project.house.call("GET", f"grids/{one}/items?{query}{link}") for query in ("", "life=true&")]
    assert [one.status_code for one in answers] == [200, 403]


def test_cells_may_come_one_by_one_with_other_sets_and_no_other_outcomes(project: Project) -> None:
    made = grid(project)["id"]
    assert post(project, made, FIRST).status_code == 201
    other = post(project, made, FIRST | {"outcomes": bits(1, 0, 1, 1)})
    assert (other.status_code, "Length 0" in other.get_json()["detail"]) == (409, True)
    assert post(project, made, FIRST, ids=None, digest="ab" * 32).status_code == 409
    assert held(project, made) == {0: FIRST["outcomes"]}
    assert post(project, made, SECOND, ids=None, digest="AB" * 32).status_code == 201
    found = project.get(f"grids/{made}/items").get_json()
    assert [one["cells"] for one in found["sets"]] == [1, 1]
    assert {one["digest"] for one in found["sets"]} >= {"sha256:" + "ab" * 32}
    assert all("outcomes" not in one for one in found["cells"])


FAULTS: list[tuple[dict[str, Any], dict[str, Any], str, str]] = [
    ({"count": 5}, {}, "/set/ids", "4 ids and 5 items"),
    ({"count": 0}, {}, "/set/count", "whole number"),
    ({"count": True}, {}, "/set/count", "whole number"),
    ({"name": ""}, {}, "/set/name", "empty"),
    ({"ids": ["a", "b", "a", "c"]}, {}, "/set/ids/2", "already"),
    ({"ids": ["a", "b", 3, "c"]}, {}, "/set/ids/2", "text"),
    ({"ids": ["a", "b", "\n", "c"]}, {}, "/set/ids/2", "control"),
    ({"digest": "ab" * 32}, {}, "/set/digest", "not that of the ids"),
    ({"digest": "ab"}, {}, "/set/digest", "64"),
    ({"ids": None}, {}, "/set/digest", "needed"),
    ({"size": 4}, {}, "/set/size", "Unknown"),
    ({}, {"at": {"Length": 7}}, "/cells/0/at", "no measured cell"),
    ({}, {"at": {"Length": 2}}, "/cells/0/at", "no measured cell"),
    ({}, {"at": {}}, "/cells/0/at", "its axes are Length"),
    ({}, {"at": {"Length": 0, "Type": 1}}, "/cells/0/at", "its axes are Length"),
    ({}, {"at": {"Length": "long"}}, "/cells/0/at/Length", "not a number"),
    ({}, {"at": 3}, "/cells/0/at", "object"),
    ({}, {"outcomes": "not base64"}, "/cells/0/outcomes", "base64"),
    ({}, {"outcomes": ""}, "/cells/0/outcomes", "0 bytes; 4 items are 1"),
    ({}, {"outcomes": bits(*[1] * 9)}, "/cells/0/outcomes", "2 bytes; 4 items are 1"),
    ({}, {"outcomes": bits(1, 1, 0, 1, 1)}, "/cells/0/outcomes", "beyond the last item"),
    ({}, {"outcomes": bits(1, 1, 1, 1)}, "/cells/0/outcomes", "4 successes in 4 trials, 100; the cell has 75"),
    ({}, {"outcomes": [1, 1, 0]}, "/cells/0/outcomes", "3 outcomes and 4 items"),
    ({}, {"outcomes": [1, 1, 0, 1.5]}, "/cells/0/outcomes/3", "from 0 to 1"),
    ({}, {"outcomes": [1, 1, 0, None]}, "/cells/0/outcomes/3", "from 0 to 1"),
    ({}, {"outcomes": [1, 1, 0, True]}, "/cells/0/outcomes/3", "from 0 to 1"),
    ({}, {"outcomes": None}, "/cells/0/outcomes", "base64"),
    ({}, {"repeats": 2}, "/cells/0/outcomes", "scores"),
    ({}, {"repeats": 0}, "/cells/0/repeats", "whole number"),
    ({}, {"outcomes": [1, 1, 0, 1], "repeats": 2}, "/cells/0/outcomes", "4 items × 2 repeats are 8"),
    ({}, {"value": 3}, "/cells/0/value", "Unknown field; there are at, outcomes, repeats."),
]


def test_a_fault_is_named_by_its_place(project: Project, subtests: pytest.Subtests) -> None:
    made = grid(project)["id"]
    score = grid(project, metric={"name": "score", "lower": 1, "upper": 10}, values=[7.5, 5, None], trials=None)["id"]
    faults = [(made, of, [FIRST | cell], pointer, told) for of, cell, pointer, told in FAULTS]
    faults += [(made, {}, [FIRST, FIRST], "/cells/1/at", ""), (score, {}, [FIRST], "/cells", "")]  # no proportion
    for sent_to, of, cells, pointer, told in faults:
        with subtests.test(msg=f"{of} {cells}"):
            answer = post(project, sent_to, *cells, **of)
            assert answer.status_code == 422, answer.text
            found = [(one["pointer"], one["detail"]) for one in answer.get_json()["errors"]]
            assert any(place == pointer and told in detail for place, detail in found), found
            assert held(project, sent_to) == {}


def test_outcomes_beyond_the_limit_are_refused(house: House) -> None:
    small = replace(house, app=create_app(replace(house.settings, max_outcomes=7))).make_project()
    made = grid(small)["id"]
    assert post(small, made, FIRST).status_code == 201
    assert post(small, made, FIRST, SECOND).status_code == 422


def test_an_amendment_keeps_the_outcomes_of_cells_that_it_leaves(project: Project) -> None:
    made = grid(project)["id"]
    post(project, made, FIRST, SECOND)
    changed = [{"at": {"Length": n}, "value": value, "trials": 4} for n, value in ((1, 25), (3, 50))]
    assert project.call("PATCH", f"grids/{made}/cells", json={"cells": changed}).status_code == 200
    assert held(project, made) == {0: FIRST["outcomes"]}
    assert held(project, made, "&revision=1") == {0: FIRST["outcomes"], 1: SECOND["outcomes"]}
    assert post(project, made, {"at": {"Length": 3}, "outcomes": bits(0, 0, 1, 1)}).status_code == 201
    assert project.call("PATCH", f"grids/{made}", json={"labels": {"a": "b"}}).status_code == 200
    assert held(project, made) == {0: FIRST["outcomes"], 3: bits(0, 0, 1, 1)}
    # What an earlier revision left may be said anew for a later one.
    assert post(project, made, FIRST | {"outcomes": bits(0, 1, 1, 1)}).status_code == 201
    assert held(project, made)[0] == bits(0, 1, 1, 1)
    assert held(project, made, "&revision=2") == {0: FIRST["outcomes"], 3: bits(0, 0, 1, 1)}


def test_outcomes_that_come_after_the_next_amendment_hold_for_it(project: Project) -> None:
    made = grid(project)["id"]
    cells = {"cells": [{"at": {"Length": 2}, "value": 50, "trials": 4}]}
    assert project.call("PATCH", f"grids/{made}/cells", json=cells).get_json()["revision"] == 2
    assert post(project, made, FIRST, path="?revision=1").get_json()["revision"] == 1
    assert held(project, made) == {0: FIRST["outcomes"]}
    assert post(project, made, FIRST, path="?revision=3").status_code == 404


def test_deleting_hides_outcomes_and_another_publication_begins_without(project: Project) -> None:
    made = grid(project)["id"]
    post(project, made, FIRST, SECOND)
    both = {0: FIRST["outcomes"], 1: SECOND["outcomes"]}
    project.call("DELETE", f"grids/{made}")
    assert project.get(f"grids/{made}/items").status_code == 404
    project.call("POST", f"grids/{made}/restore")
    assert held(project, made) == both
    assert grid(project, values=[75.0, 25.0, None])["revision"] == 2
    assert (held(project, made), held(project, made, "&revision=1")) == ({}, both)


def test_a_purge_takes_outcomes_and_ids_along(project: Project) -> None:
    made, kept = grid(project)["id"], grid(project, model="kept")["id"]
    post(project, made, FIRST)
    post(project, kept, FIRST)
    post(project, made, SECOND, ids=["a", "b", "c", "d"])
    project.call("PATCH", f"grids/{made}", json={"labels": {"a": "b"}})
    project.call("DELETE", f"grids/{made}")
    database = project.house.database
    with database.transaction() as connection:
        old = {"deleted_at": func.now() - text("interval '40 days'")}
        connection.execute(update(grids).where(grids.c.id == made).values(old))
        while purge(connection, COMMAND, older_than_days=30):
            pass
    with database.transaction() as connection:
        purge_item_ids(connection)
    with database.reading() as connection:
        for table in (item_outcomes, item_continuations):
            assert connection.execute(select(table).where(table.c.grid_id == made)).all() == []
        sets = connection.execute(select(item_ids).where(item_ids.c.project_id == project.id)).all()
    assert len(sets) == 1
    assert held(project, kept) == {0: FIRST["outcomes"]}


def test_the_database_refuses_to_change_what_was_posted(project: Project) -> None:
    made = grid(project)["id"]
    post(project, made, FIRST)
    project.call("PATCH", f"grids/{made}", json={"labels": {"a": "b"}})
    for table in (item_outcomes, item_ids, item_continuations):
        for statement in (f"UPDATE {table.name} SET {list(table.c)[1].name} = NULL", f"DELETE FROM {table.name}"):
            with pytest.raises(DBAPIError, match="never changed"), project.house.database.transaction() as connection:
                connection.execute(text(statement))


def test_of_two_writers_at_once_one_is_stored_and_logged(project: Project) -> None:
    """Each sends other outcomes of the same mean: one wins, the others conflict, and nothing is mixed."""
    made = grid(project)["id"]
    sent = [bits(1, 1, 0, 1), bits(0, 1, 1, 1)] * 4
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda one: post(project, made, FIRST | {"outcomes": one}).status_code, sent))
    assert (found.count(201), found.count(200), found.count(409)) == (1, 3, 4)
    assert held(project, made)[0] in sent
    assert rows(project, made) == 1
    acts = project.call("GET", f"projects/{project.slug}/audit", "admin").get_json()["items"]
    [entry] = [one for one in acts if one["act"] == "items.added"]
    logged = [entry["detail"][name] for name in ("set", "cells", "revision")]
    assert (entry["subject"], logged) == (made, ["four", 1, 1])


ON_DISK = """SELECT pg_relation_size('item_outcomes') + pg_relation_size(reltoastrelid) FROM pg_class
WHERE oid = 'item_outcomes'::regclass"""


@pytest.mark.skipif(CITUS, reason="the coordinator knows the size of its own empty table only")
def test_ten_thousand_items_in_twenty_cells_take_one_bit_and_a_tenth_each(own: House) -> None:
    """The pages of the table and of its large values, for each grid more; random bits do not compress."""
    project = own.make_project()
    random = np.random.default_rng(7)
    axes = [{"name": "Length", "kind": "numeric", "levels": list(range(20))}]
    sizes = []
    for model in range(21):
        flags = random.integers(0, 2, (20, 10_000))
        made = project.published(axes=axes, values=(flags.sum(1) / 100).tolist(), trials=10_000, model=str(model))
        cells = [{"at": {"Length": i}, "outcomes": bits(*row)} for i, row in enumerate(flags)]
        body = {"set": {"name": "many", "count": 10_000, "digest": "cd" * 32}, "cells": cells}
        assert project.call("POST", f"grids/{made['id']}/items", json=body).status_code == 201
        with own.database.reading() as connection:
            sizes.append(connection.scalar(text(ON_DISK)))
    per_item = 8 * (sizes[20] - sizes[4]) / (16 * 20 * 10_000)
    assert 1 <= per_item <= 1.1


def test_verify_finds_outcomes_that_are_not_those_of_their_cell(own: House) -> None:
    project = own.make_project()
    post(project, grid(project)["id"], FIRST)
    own.compute()

    def differences() -> list[tuple[str, str]]:
        *_, tally = verify(own.database, own.settings, None)
        return [(one.check, one.detail) for one in tally.differences]

    assert differences() == []
    held_wrong = packed_cells([HeldItems("four", "", ("0",), 75.0, 4, Outcomes(4, bits=b"\x80"))])
    with own.database.engine.begin() as connection:
        connection.execute(text("ALTER TABLE item_outcomes DISABLE TRIGGER USER"))
        connection.execute(update(item_outcomes).values(**held_wrong))
    assert differences() == [("items", "0: its outcomes have 1 successes in 4 trials, 25; the cell has 75")]
    with own.database.engine.begin() as connection:
        connection.execute(update(item_outcomes).values(outcomes=b"torn"))
    [(check, detail)] = differences()
    assert (check, detail.startswith("cannot be read")) == ("items", True)


def test_the_standard_error_is_that_of_the_clusters(project: Project) -> None:
    """Three of four right: deviations of ¼, ¼, -¾ and ¼, whose sums in the clusters 1 2, 3 and 4 are ½, -¾ and ¼."""
    one, other = grid(project), grid(project, model="another")
    assert post(project, one["id"], FIRST, clusters=["x", "x", "y", "z"]).status_code == 201
    assert post(project, other["id"], FIRST).status_code == 201
    found = [project.get(f"grids/{each['id']}/items").get_json()["cells"][0]["stderr"] for each in (one, other)]
    assert found == pytest.approx([(14 / 16 / 16 * 3 / 2) ** 0.5, (3 / 16 / 3) ** 0.5], rel=1e-12)
    assert post(project, one["id"], FIRST, clusters=["x", "y", "z", "w"]).status_code == 409
    refused = post(project, one["id"], SECOND, clusters=["x"])
    assert refused.get_json()["errors"][0]["pointer"] == "/set/clusters"


def test_pass_at_k_and_pass_hat_k_come_from_the_same_counts(project: Project) -> None:
    """Four, two, one and none of four tries succeed. Of the six pairs of tries: 6, 5, 3 and 0 have a success, 6, 1, 0
    and 0 have two."""
    one = project.published(axes=[], values=43.75, trials=16)
    cell = {"at": {}, "outcomes": [1, 0.5, 0.25, 0], "repeats": 4}
    assert post(project, one["id"], cell).status_code == 201
    [found] = project.get(f"grids/{one['id']}/items?k=2").get_json()["cells"]
    assert (found["pass_at_k"], found["pass_hat_k"]) == pytest.approx((14 / 24, 7 / 24), rel=1e-12)
    [found] = project.get(f"grids/{one['id']}/items?k=5").get_json()["cells"]
    assert "pass_at_k" not in found, "four tries say nothing of five"
