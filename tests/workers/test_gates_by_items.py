"""Gates whose sides have outcomes of the same items: over HTTP."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.house import Project
from tests.registry.test_items import bits
from tests.workers.test_gates import baseline, gate
from tests.workers.test_item_comparisons import SET, outcomes, post, published

NAMES = {"experiment": "e", "variant": "", "benchmark": "X"}


@pytest.fixture
def sides(project: Project) -> tuple[Any, Any, Any]:
    """Outcomes of two cells, and the grids of both models without them."""
    tables = outcomes(1)
    return tables, *(published(project, table, model, **NAMES) for table, model in zip(tables, "AB", strict=True))


def test_outcomes_of_the_same_items_pair_the_sides(project: Project, sides: Any) -> None:
    tables, mine, theirs = sides
    baseline(project, margin=2.0)
    before = gate(project)
    assert before["paired"] is False
    post(project, mine, tables[0])
    post(project, theirs, tables[1])
    found = gate(project)
    d = 100 * (tables[1] - tables[0]).mean(axis=0)
    reach = stats.t.isf(0.05, 39) * stats.sem(d)
    assert (found["paired"], found["gap"]) == (True, pytest.approx(before["gap"]))
    assert (found["low"], found["high"]) == (pytest.approx(d.mean() - reach), pytest.approx(d.mean() + reach))
    assert found["high"] - found["low"] < before["high"] - before["low"]


def test_a_cell_is_judged_by_its_items_and_says_so(project: Project, sides: Any) -> None:
    tables, mine, theirs = sides
    post(project, mine, tables[0])
    post(project, theirs, tables[1])
    baseline(project, kind="no_cell_worse", margin=0.0)
    found = gate(project)
    assert found["paired"] is True
    for unit in found["per"]:
        one, other = (tables[side][int(unit["at"]["Length"])] for side in (1, 0))
        up, down = int((one > other).sum()), int((one < other).sum())
        assert unit["paired"] is True
        assert unit["p"] >= stats.binomtest(up, up + down, alternative="less").pvalue - 1e-12
    cells = {"cells": [{"at": {"Length": 1}, "value": 2.5, "trials": 40}]}
    assert project.call("PATCH", f"grids/{theirs['id']}/cells", json=cells).status_code == 200
    amended = gate(project)
    assert {unit["at"]["Length"]: unit["paired"] for unit in amended["per"]} == {0.0: True, 1.0: False}
    assert amended["paired"] is False


def test_outcomes_that_a_pinned_revision_gets_later_are_used(project: Project, sides: Any) -> None:
    tables, mine, theirs = sides
    baseline(project, {"subject": {"grids": [{"grid": mine["id"]}]}}, margin=2.0)
    published(project, 1 - tables[0], "A", **NAMES)
    post(project, theirs, tables[1])
    assert gate(project)["paired"] is False
    cells = [{"at": {"Length": i}, "outcomes": bits(*row)} for i, row in enumerate(tables[0])]
    answer = project.call("POST", f"grids/{mine['id']}/items?revision=1", json={"set": SET, "cells": cells})
    assert answer.status_code == 201, answer.text
    found = gate(project)
    assert found["paired"] is True
    assert found["gap"] == pytest.approx(100 * float(np.mean(tables[1] - tables[0])))
