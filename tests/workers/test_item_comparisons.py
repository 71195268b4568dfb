"""Comparisons and gates of grids whose cells have outcomes of the same items: over HTTP, by ids and by names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.house import Project
from tests.registry.test_items import bits
from tests.workers import test_comparisons_of_models as of_models
from tests.workers.test_comparisons import answered, ask
from tests.workers.test_gates import baseline as set_baseline
from tests.workers.test_gates import gate
from workers.verify import verify

SET = {"name": "forty", "count": 40, "digest": "ab" * 32}
AXES = [{"name": "Length", "kind": "numeric", "levels": [0, 1]}]


def outcomes(seed: int) -> Any:
    """Two cells of 40 items, two models: each item is as hard for both."""
    random = np.random.default_rng(seed)
    return (random.normal(size=40) + 0.4 * random.normal(size=(2, 2, 40)) > 0.1).astype(int)


def published(project: Project, table: Any, model: str, **changes: Any) -> dict[str, Any]:
    """A grid of a model, with a cell for each row of outcomes."""
    values = (100 * table.mean(axis=1)).tolist()
    names = {"experiment": "e", "variant": "", "benchmark": "X", "model": model}
    return project.published(**names | {"axes": AXES, "values": values, "trials": 40} | changes)


def post(project: Project, grid: Any, table: Any, **of: Any) -> None:
    cells = [{"at": {"Length": i}, "outcomes": bits(*row)} for i, row in enumerate(table)]
    sent = {"set": SET | of, "cells": cells}
    answer = project.call("POST", f"grids/{grid['id']}/items", json=sent)
    assert answer.status_code == 201, answer.text


@pytest.fixture
def sides(project: Project) -> tuple[Any, Any, Any]:
    """Outcomes, and the grids of the baseline and the contender without them."""
    tables = outcomes(1)
    return tables, published(project, tables[0], "A"), published(project, tables[1], "B")


def flips(tables: Any, at: Any = slice(None)) -> tuple[int, int]:
    """Items of these cells that only the contender has right, and only the baseline."""
    return int((tables[1][at] > tables[0][at]).sum()), int((tables[1][at] < tables[0][at]).sum())


def test_outcomes_make_another_answer_than_the_one_before_which_stays_what_it_was(project: Project, sides: Any) -> None:
    tables, baseline, contender = sides
    before = answered(project, baseline, contender)
    assert before["items"] == {
        "items": 0, "flips": None, "mcnemar": None, "paired": False, "cells": 0,
        "reason": "no outcomes of items were posted",
    }  # fmt: skip
    assert before["test"]["name"] == "mantel_haenszel"
    assert "Item by item" not in ask(project, baseline, contender, ".txt").text
    post(project, baseline, tables[0])
    half = answered(project, baseline, contender)
    assert half["items"]["reason"] == "no outcomes of items were posted for the contender"
    assert half["test"] == before["test"]
    post(project, contender, tables[1])
    found = answered(project, baseline, contender)
    d = (tables[1] - tables[0]).mean(axis=0)
    assert found["test"]["name"] == "clustered_t"
    assert found["test"]["p"] == pytest.approx(stats.ttest_1samp(d, 0).pvalue, rel=1e-9)
    assert found["test"]["stderr"] == pytest.approx(100 * stats.sem(d), rel=1e-9)
    assert found["test"]["difference"] == pytest.approx(before["test"]["difference"], rel=1e-9)
    up, _ = flips(tables)
    assert found["items"]["flips"]["only_contender"] == up
    for i, cell in enumerate(found["cells"]):
        b, c = flips(tables, i)
        assert cell["test"] == "mcnemar"
        assert cell["p"] == pytest.approx(stats.binomtest(b, b + c).pvalue if b + c else 1.0, rel=1e-9)
        assert (cell["items"]["flips"]["only_contender"], cell["items"]["flips"]["only_baseline"]) == (b, c)
    part = answered(project, baseline, contender, **{"at.Length": "1"})
    assert part["test"]["name"] == "mcnemar"
    assert part["items"]["mcnemar"]["p"] == pytest.approx(found["cells"][1]["p"], rel=1e-9)
    for suffix in (".txt", ".md", ".csv"):
        assert "mcnemar" in ask(project, baseline, contender, suffix).text.lower()
    path = f"/projects/{project.slug}/comparisons?baseline={baseline['id']}&contender={contender['id']}"
    shown = project.get(path)
    assert shown.status_code == 200
    told = f"the contender is right and the baseline wrong {up} times"
    for words in ("Item by item", told, "baseline right", "contender wrong"):
        assert words in shown.text.replace("\n", " ")
    # What is stored is what a second computation gives, also when outcomes came between the two.
    house = project.house
    house.compute()
    *_, tally = verify(house.database, house.settings, project.slug, None, None)
    assert [one.detail for one in tally.differences] == []


def test_other_items_are_not_paired(project: Project, sides: Any) -> None:
    tables, baseline, contender = sides
    post(project, baseline, tables[0])
    post(project, contender, tables[1], digest="cd" * 32)
    found = answered(project, baseline, contender)
    assert (found["items"]["paired"], found["items"]["reason"]) == (False, "the item sets are not the same")
    assert found["test"]["name"] == "mantel_haenszel"
    assert {cell["test"] for cell in found["cells"]} == {"fisher"}


def test_an_amended_cell_is_no_longer_paired(project: Project, sides: Any) -> None:
    tables, baseline, contender = sides
    post(project, baseline, tables[0])
    post(project, contender, tables[1])
    cells = {"cells": [{"at": {"Length": 1}, "value": 2.5, "trials": 40}]}
    assert project.call("PATCH", f"grids/{contender['id']}/cells", json=cells).status_code == 200
    found = answered(project, baseline, contender)
    assert (found["items"]["paired"], found["items"]["cells"]) == (False, 1)
    assert [cell["test"] for cell in found["cells"]] == ["mcnemar", "fisher"]
    older = answered(project, baseline, contender, contender_revision=1)
    assert older["items"]["paired"]


def test_two_models_are_paired_on_every_benchmark_that_has_items(project: Project) -> None:
    tables = {name: outcomes(seed) for seed, name in enumerate(("X", "Y", "Z"), start=3)}
    grids = {
        (name, side): published(project, table[i], side, benchmark=name)
        for name, table in tables.items()
        for i, side in enumerate("AB")
    }
    before = of_models.answered(project, experiment="e")
    assert not before["whole"]["paired"]
    for (name, side), grid in grids.items():
        post(project, grid, tables[name]["AB".index(side)])
    found = of_models.answered(project, experiment="e")
    assert [one["items"]["paired"] for one in found["by_benchmark"]] == [True] * 3
    errors = [stats.sem((table[1] - table[0]).mean(axis=0)) for table in tables.values()]
    whole = found["whole"]
    assert (whole["paired"], whole["test"], found["assumes"]) == (True, "paired_items", ["independent_items"])
    assert whole["stderr"] == pytest.approx(100 * np.sqrt(np.square(errors).sum()) / 3, rel=1e-9)
    assert whole["difference"] == pytest.approx(before["whole"]["difference"], rel=1e-6)
    assert whole["stderr"] < before["whole"]["stderr"]
    assert whole["df"] == pytest.approx(sum(e**2 for e in errors) ** 2 / sum(e**4 / 39 for e in errors), rel=1e-9)


def test_outcomes_of_the_same_items_pair_the_sides(project: Project, sides: Any) -> None:
    tables, mine, theirs = sides
    set_baseline(project, margin=2.0)
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
    set_baseline(project, kind="no_cell_worse", margin=0.0)
    found = gate(project)
    assert found["paired"] is True
    for unit in found["per"]:
        up, down = flips(tables, int(unit["at"]["Length"]))
        assert unit["paired"] is True
        assert unit["p"] >= stats.binomtest(up, up + down, alternative="less").pvalue - 1e-12
    cells = {"cells": [{"at": {"Length": 1}, "value": 2.5, "trials": 40}]}
    assert project.call("PATCH", f"grids/{theirs['id']}/cells", json=cells).status_code == 200
    amended = gate(project)
    assert {unit["at"]["Length"]: unit["paired"] for unit in amended["per"]} == {0.0: True, 1.0: False}
    assert amended["paired"] is False


def test_outcomes_that_a_pinned_revision_gets_later_are_used(project: Project, sides: Any) -> None:
    tables, mine, theirs = sides
    set_baseline(project, {"subject": {"grids": [{"grid": mine["id"]}]}}, margin=2.0)
    published(project, 1 - tables[0], "A")
    post(project, theirs, tables[1])
    assert gate(project)["paired"] is False
    cells = [{"at": {"Length": i}, "outcomes": bits(*row)} for i, row in enumerate(tables[0])]
    answer = project.call("POST", f"grids/{mine['id']}/items?revision=1", json={"set": SET, "cells": cells})
    assert answer.status_code == 201, answer.text
    found = gate(project)
    assert found["paired"] is True
    assert found["gap"] == pytest.approx(100 * float(np.mean(tables[1] - tables[0])))
