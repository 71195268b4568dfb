"""Rankings for new questions of models that answered the same items."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.house import Project
from tests.workers.asking import computed, now
from tests.workers.test_item_comparisons import post, published

NEW = {"experiment": "e", "metric": "accuracy", "target": "new_questions"}


def ranking(project: Project, **more: Any) -> dict[str, Any]:
    return computed(project, f"projects/{project.slug}/rankings", query_string=NEW | more)


def pairs(found: dict[str, Any]) -> dict[str, Any]:
    return {one["a"] + one["b"]: one for one in found["pairs"]}


def outcomes(seed: int, models: int = 3) -> Any:
    """Models x 2 cells x 40 items, each item as hard for all."""
    random = np.random.default_rng(seed)
    noise = 0.4 * random.normal(size=(models, 2, 40)) + 0.2 * np.arange(models)[:, None, None]
    return (random.normal(size=40) + noise > 0.1).astype(int)


@pytest.fixture
def three(project: Project) -> tuple[dict[str, Any], dict[tuple[str, str], Any]]:
    """Outcomes of three models on two benchmarks, and their grids without them."""
    tables = {name: outcomes(seed) for seed, name in enumerate("XY", start=1)}
    grids = {
        (name, model): published(project, table[i], model, experiment="e", variant="", benchmark=name, questions=40)
        for name, table in tables.items()
        for i, model in enumerate("ABC")
    }
    return tables, grids


def test_pairs_rest_on_the_items_that_both_answered(project: Project, three: Any) -> None:
    tables, grids = three
    before = ranking(project)
    assert {one["test"] for one in before["pairs"]} == {"question_bound"}
    for (name, model), grid in grids.items():
        if model != "C":
            post(project, grid, tables[name]["ABC".index(model)])
    found = ranking(project)
    told = pairs(found)
    errors = [stats.sem((table[0] - table[1]).mean(axis=0)) for table in tables.values()]
    both, bound = told["AB"], pairs(before)["AB"]
    assert both["test"] == "paired_items"
    assert both["stderr"] == pytest.approx(100 * np.hypot(*errors) / 2, rel=1e-9)
    assert both["df"] == pytest.approx(sum(e**2 for e in errors) ** 2 / sum(e**4 / 39 for e in errors), rel=1e-9)
    assert both["difference"] == pytest.approx(bound["difference"])
    assert both["stderr"] < bound["stderr"]
    p = 2 * stats.t.sf(abs(both["difference"]) / both["stderr"], both["df"])
    assert both["p"] == pytest.approx(p, rel=1e-9)
    assert told["AC"] | {"p_holm": 0} == pairs(before)["AC"] | {"p_holm": 0}
    assert found["assumes"] == ["independent_items", "p(1-p)/questions"]


def test_other_items_on_one_benchmark_leave_its_bound(project: Project, three: Any) -> None:
    tables, grids = three
    bound = pairs(ranking(project))["AB"]["stderr"]
    alone = pairs(ranking(project, benchmark="Y"))["AB"]["stderr"]
    for (name, model), grid in grids.items():
        own = {"digest": "cd" * 32} if (name, model) == ("Y", "B") else {}
        post(project, grid, tables[name]["ABC".index(model)], **own)
    one = pairs(ranking(project))["AB"]
    mine = 100 * stats.sem((tables["X"][0] - tables["X"][1]).mean(axis=0))
    assert one["test"] == "question_bound"
    assert one["stderr"] == pytest.approx(np.hypot(mine, alone) / 2, rel=1e-9)
    assert one["stderr"] < bound


def test_one_cell_of_bits_has_bonett_and_prices_error(project: Project) -> None:
    tables = outcomes(5, 2)[:, :1]
    axes = [{"name": "Length", "kind": "numeric", "levels": [0]}]
    for table, model in zip(tables, "AB", strict=True):
        names = {"experiment": "e", "variant": "", "axes": axes, "questions": 40}
        post(project, published(project, table, model, **names), table)
    [one] = ranking(project)["pairs"]
    up, down = int((tables[0] > tables[1]).sum()), int((tables[0] < tables[1]).sum())
    assert one["test"] == "paired_items"
    wald = (up + down + 2 - (up - down) ** 2 / 40) / 40 / 39
    assert one["stderr"] == pytest.approx(100 * np.sqrt(wald), rel=1e-9)


def test_levels_of_an_axis_that_answered_the_same_items_are_paired(project: Project) -> None:
    table = outcomes(6, 1)[0]
    post(project, published(project, table, "A", experiment="e", variant="", questions=40), table)
    [one] = ranking(project, by="axis:Length")["pairs"]
    assert (one["a"], one["b"], one["test"]) == ("0", "1", "paired_items")


def test_outcomes_that_are_posted_later_change_nothing_as_of_before(project: Project, three: Any) -> None:
    tables, grids = three
    then = now(project)
    before = pairs(ranking(project))
    for (name, model), grid in grids.items():
        post(project, grid, tables[name]["ABC".index(model)])
    assert pairs(ranking(project))["AB"]["test"] == "paired_items"
    assert pairs(ranking(project, as_of=then)) == before
    assert pairs(ranking(project, as_of=now(project))) == pairs(ranking(project))
