"""Comparisons of grids whose cells have outcomes of the same items: over HTTP, by ids and by names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.house import Project
from tests.registry.test_items import bits
from tests.workers import test_comparisons_of_models as of_models
from tests.workers.test_comparisons import answered, ask
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
    return project.published(**{"axes": AXES, "values": values, "trials": 40, "model": model} | changes)


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


def test_outcomes_make_another_answer_than_the_one_before(project: Project, sides: Any) -> None:
    tables, baseline, contender = sides
    before = answered(project, baseline, contender)
    assert before["items"] == {
        "items": 0, "flips": None, "mcnemar": None, "paired": False, "cells": 0,
        "reason": "no outcomes of items were posted",
    }  # fmt: skip
    assert before["test"]["name"] == "mantel_haenszel"
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
    assert found["items"]["flips"]["only_contender"] == int(((tables[1] == 1) & (tables[0] == 0)).sum())
    for i, cell in enumerate(found["cells"]):
        b, c = int((tables[1][i] > tables[0][i]).sum()), int((tables[1][i] < tables[0][i]).sum())
        assert cell["test"] == "mcnemar"
        assert cell["p"] == pytest.approx(stats.binomtest(b, b + c).pvalue if b + c else 1.0, rel=1e-9)
        assert (cell["items"]["flips"]["only_contender"], cell["items"]["flips"]["only_baseline"]) == (b, c)


def test_an_answer_that_was_given_without_outcomes_stays_what_it_was(project: Project, sides: Any) -> None:
    """What is stored is what a second computation gives, also when outcomes came between the two."""
    tables, baseline, contender = sides
    answered(project, baseline, contender)
    post(project, baseline, tables[0])
    post(project, contender, tables[1])
    answered(project, baseline, contender)
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


def test_a_slice_has_the_items_of_its_cells(project: Project, sides: Any) -> None:
    tables, baseline, contender = sides
    post(project, baseline, tables[0])
    post(project, contender, tables[1])
    found = answered(project, baseline, contender, **{"at.Length": "1"})
    b, c = int((tables[1][1] > tables[0][1]).sum()), int((tables[1][1] < tables[0][1]).sum())
    assert found["test"]["name"] == "mcnemar"
    assert found["items"]["mcnemar"]["p"] == pytest.approx(stats.binomtest(b, b + c).pvalue, rel=1e-9)


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
    before = of_models.answered(project, experiment="type-by-length")
    assert not before["whole"]["paired"]
    for (name, side), grid in grids.items():
        post(project, grid, tables[name]["AB".index(side)])
    project.house.compute()
    found = of_models.answered(project, experiment="type-by-length")
    assert [one["items"]["paired"] for one in found["by_benchmark"]] == [True] * 3
    errors = [stats.sem((table[1] - table[0]).mean(axis=0)) for table in tables.values()]
    whole = found["whole"]
    assert (whole["paired"], whole["test"], found["assumes"]) == (True, "paired_items", ["independent_items"])
    assert whole["stderr"] == pytest.approx(100 * np.sqrt(np.square(errors).sum()) / 3, rel=1e-9)
    assert whole["difference"] == pytest.approx(before["whole"]["difference"], rel=1e-6)
    assert whole["stderr"] < before["whole"]["stderr"]
    assert whole["df"] == pytest.approx(sum(e**2 for e in errors) ** 2 / sum(e**4 / 39 for e in errors), rel=1e-9)


@pytest.mark.parametrize("suffix", [".txt", ".md", ".csv"])
def test_every_form_names_the_test_of_the_items(project: Project, sides: Any, suffix: str) -> None:
    tables, baseline, contender = sides
    post(project, baseline, tables[0])
    post(project, contender, tables[1])
    answered(project, baseline, contender)
    told = ask(project, baseline, contender, suffix).text
    assert "McNemar" in told or "mcnemar" in told


def test_the_page_has_the_flips_in_words_and_as_a_table(project: Project, sides: Any) -> None:
    tables, baseline, contender = sides
    post(project, baseline, tables[0])
    post(project, contender, tables[1])
    answered(project, baseline, contender)
    path = f"/projects/{project.slug}/comparisons?baseline={baseline['id']}&contender={contender['id']}"
    shown = project.house.call("GET", path, token=project.tokens["reader"])
    assert shown.status_code == 200
    up = int(((tables[1] == 1) & (tables[0] == 0)).sum())
    assert "Item by item" in shown.text
    assert f"the contender is right and the baseline wrong {up} times" in shown.text.replace("\n", " ")
    assert "baseline right" in shown.text
    assert "contender wrong" in shown.text


def test_a_page_without_outcomes_says_nothing_of_items(project: Project, sides: Any) -> None:
    _, baseline, contender = sides
    answered(project, baseline, contender)
    assert "Item by item" not in ask(project, baseline, contender, ".txt").text
