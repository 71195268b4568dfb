"""Comparisons, gates and rankings of grids whose cells have outcomes of the same items, over HTTP."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.house import Project
from tests.registry.test_items import bits
from tests.workers import test_comparisons_of_models as of_models
from tests.workers.asking import computed, now
from tests.workers.test_comparisons import answered, ask
from tests.workers.test_gates import baseline as set_baseline
from tests.workers.test_gates import gate
from workers.verify import verify

SET = {"name": "forty", "count": 40, "digest": "ab" * 32}
AXES = [{"name": "Length", "kind": "numeric", "levels": [0, 1]}]


def outcomes(seed: int, models: int = 2) -> Any:
    """Models x 2 cells x 40 items, each item as hard for all."""
    random = np.random.default_rng(seed)
    noise = 0.4 * random.normal(size=(models, 2, 40)) + 0.2 * np.arange(models)[:, None, None]
    return (random.normal(size=40) + noise > 0.1).astype(int)


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
    assert before["test"]["name"] == "score"
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
    *_, tally = verify(house.database, house.settings, project.slug)
    assert [one.detail for one in tally.differences] == []


def test_other_items_are_not_paired(project: Project, sides: Any) -> None:
    tables, baseline, contender = sides
    post(project, baseline, tables[0])
    post(project, contender, tables[1], digest="cd" * 32)
    found = answered(project, baseline, contender)
    assert (found["items"]["paired"], found["items"]["reason"]) == (False, "the item sets are not the same")
    assert found["test"]["name"] == "score"
    assert {cell["test"] for cell in found["cells"]} == {"score"}


def test_an_amended_cell_is_no_longer_paired(project: Project, sides: Any) -> None:
    tables, baseline, contender = sides
    post(project, baseline, tables[0])
    post(project, contender, tables[1])
    cells = {"cells": [{"at": {"Length": 1}, "value": 2.5, "trials": 40}]}
    assert project.call("PATCH", f"grids/{contender['id']}/cells", json=cells).status_code == 200
    found = answered(project, baseline, contender)
    assert (found["items"]["paired"], found["items"]["cells"]) == (False, 1)
    assert [cell["test"] for cell in found["cells"]] == ["mcnemar", "score"]
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


NEW = {"experiment": "e", "metric": "accuracy", "target": "new_questions"}


def ranking(project: Project, **more: Any) -> dict[str, Any]:
    return computed(project, f"projects/{project.slug}/rankings", query_string=NEW | more)


def pairs(found: dict[str, Any]) -> dict[str, Any]:
    return {one["a"] + one["b"]: one for one in found["pairs"]}


@pytest.fixture
def three(project: Project) -> tuple[dict[str, Any], dict[tuple[str, str], Any]]:
    """Outcomes of three models on two benchmarks, and their grids without them."""
    tables = {name: outcomes(seed, 3) for seed, name in enumerate("XY", start=1)}
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


def test_clusters_of_items_are_the_observations_of_rankings_gates_and_comparisons(project: Project) -> None:
    """Ten texts with four questions each: every error is that of the mean over the ten means of a text."""
    tables = outcomes(4)
    grids = [published(project, table, model, questions=40) for table, model in zip(tables, "AB", strict=True)]
    set_baseline(project, margin=2.0)
    for grid, table in zip(grids, tables, strict=True):
        post(project, grid, table, clusters=[f"text {i // 4}" for i in range(40)])
    texts = 100 * (tables[1] - tables[0]).mean(axis=0).reshape(10, 4).mean(axis=1)
    found, [one], judged = answered(project, *grids)["test"], ranking(project)["pairs"], gate(project)
    assert (found["stderr"], found["df"]) == pytest.approx((stats.sem(texts), 9), rel=1e-9)
    assert (one["stderr"], one["df"]) == pytest.approx((stats.sem(texts), 9), rel=1e-9)
    assert judged["high"] - judged["low"] == pytest.approx(2 * stats.t.isf(0.05, 9) * stats.sem(texts), rel=1e-9)


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
