"""Sentences that people wrote about the demo's grids, and statements near them (`statements.json`). Each verdict was
found by hand from the numbers beside it."""

import json
import re
from functools import lru_cache
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from scipy.stats import binom, norm

from registry.claims.grammar import claim_schema, read_claim
from registry.claims.kinds import KINDS
from registry.claims.normal import digest_of
from registry.demo import demo_claims
from tests import ROOT
from tests.workers.claims.scenes import judged, rows_of, seeds, source, table
from tests.workers.claims.sentences import NO, OPEN, VERDICTS
from workers.claims.facts import Facts

pytestmark = pytest.mark.unit

STATEMENTS = rows_of("statements.json")

facts_of = lru_cache(seeds)


def types() -> Facts:
    """Accuracy in percent of 300 trials each, by Type and Length."""
    return facts_of("type-by-length")


def of_type(number: int, **more: Any) -> dict[str, Any]:
    """A value of one Type of the core benchmark."""
    return {"kind": "value", "about": {"benchmark": "Core Generalization"}, **more, "where": {"Type": [number]}}


@pytest.mark.usefixtures("unplanned")
def test_each_sentence_of_the_demonstration_has_the_verdict_that_was_found_by_hand(subtests: Any) -> None:
    claims, open_to_readings = demo_claims(), []
    for document, expected in VERDICTS.items():
        mine = [one for one in claims if one["source"]["url"] == document]
        for claim, (begins, posted, noise) in zip(mine, expected, strict=True):
            with subtests.test(document, begins=begins):
                assert claim["text"].startswith(begins)
                found = judged(facts_of(claim["about"]["experiment"]), claim)
                assert found["as_posted"] == posted, found["sentence"]
                assert found["beyond_noise"] in ((posted, OPEN) if noise is None else (noise,)), found["sentence"]
                open_to_readings += [claim["text"]] * found["depends_on_reading"]
    # Ranges of whole numbers.
    assert open_to_readings == [
        "Type 4: … mostly in the 91-92% range",
        "AMC23 yields the highest scores (85-88)",
        "AIME'25 yields the lowest scores (31-37)",
    ]
    assert len({digest_of(read_claim(claim)) for claim in claims}) == len(claims), "no two are one claim"


def test_the_readme_counts_the_sentences_that_are_contradicted() -> None:
    rows = [row for rows in VERDICTS.values() for row in rows]
    wrong = sum(row[1] == NO for row in rows)
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert f"Of the {len(rows)} sentences that describe the heatmaps of `demo`, {wrong} are contradicted" in readme


@pytest.mark.usefixtures("unplanned")
def test_statements_near_those_sentences(subtests: Any) -> None:
    for one in STATEMENTS:
        with subtests.test(one["says"]):
            found = judged(facts_of(one["experiment"]), one["claim"])
            assert (found["as_posted"], found["beyond_noise"]) == (one["posted"], one["noise"]), found["sentence"]


@pytest.mark.usefixtures("unplanned")
def test_the_twenty_examples_of_the_manual_have_the_verdicts_that_it_tells(subtests: Any) -> None:
    manual = (ROOT / "docs" / "claims.md").read_text(encoding="utf-8")
    examples = re.findall(r"^\| (.+) \| `(.*)` \| (\w+) \|$", manual, re.MULTILINE)
    about, schema = {"benchmark": "Core Generalization"}, Draft202012Validator(claim_schema())
    for sentence, written, verdict in examples:
        with subtests.test(sentence):
            claim = {"about": {"experiment": "type-by-length", "metric": "accuracy", **about}, **json.loads(written)}
            schema.validate(claim)
            assert judged(facts_of(claim["about"]["experiment"]), claim)["verdict"] == verdict
    assert len(examples) == 20
    assert {json.loads(written)["kind"] for _, written, _ in examples} >= KINDS.keys() | {"not", "all_of"}


def test_what_missing_cells_could_change_is_said() -> None:
    [highest] = [one["claim"] for one in STATEMENTS if one["says"] == "Llama AMC23: highest about 89.0"]
    assert judged(facts_of("window-by-ratio"), highest)["robust_to_missing"] is False
    # Length 0 of Type 2 is missing: what comes first may be another value.
    for number, value, robust in ((3, 99.7, True), (2, 100.0, False)):
        first = of_type(number, of="first", **{"is": {"op": "=", "number": value}})
        assert judged(types(), first)["robust_to_missing"] is robust


def test_coordinates_that_one_model_does_not_declare_may_change_what_is_said_of_all() -> None:
    """M1 and M2 have three lengths, M3 the first: there M2 is ahead of M1, and over all lengths M1 would be."""
    rows = {"M1": [80.0, 70.0, 60.0], "M2": [81.0, 60.0, 50.0], "M3": [75.0]}
    facts = Facts.of(
        [
            source(table([row], ["1"], range(len(row))), place, model=model)
            for place, (model, row) in enumerate(rows.items())
        ]
    )
    about = {"T": ["1"]}
    rank = {"kind": "rank", "by": "model", "name": "M1", "where": about}
    compare = {"kind": "compare", "left": {"model": ["M2"]}, "right": {"model": ["M3"]}, "is": "higher"}
    for claim, verdict in ((rank, "contradicted"), (compare, "supported")):
        found = judged(facts, claim)
        assert (found["as_posted"], found["robust_to_missing"]) == (verdict, None)
        assert "could change is not known: 2 of 3 levels of L that not all have were left out." in found["sentence"]
    both = judged(facts, rank | {"where": about | {"model": ["M1", "M2"]}})
    assert (both["as_posted"], both["robust_to_missing"]) == ("supported", True)


def test_an_experiment_without_numbers_decides_nothing() -> None:
    claim = {"kind": "trend", "about": {"benchmark": "GSM8K"}, "along": "Training Progress", "goes": "up"}
    found = judged(facts_of("size-by-progress"), claim)
    assert (found["verdict"], found["reason"]) == (OPEN, "not_published")


def test_a_sentence_gives_the_numbers() -> None:
    claim = of_type(1, **{"is": {"op": "=", "number": 83.7}})
    found = judged(types(), claim | {"where": {"Type": [1], "Length": [9]}})
    # 83.65 to 83.75 is claimed, and the error is 2.13: each end takes z(0.975) + z(0.9).
    error = 100 * (0.837 * 0.163 / 300) ** 0.5
    factor, trials = found["trials_needed"]["needed"]["factor"], found["trials_needed"]["needed"]["trials"]
    assert factor == pytest.approx(((norm.ppf(0.975) + norm.ppf(0.9)) * error / 0.05) ** 2, rel=0.01)
    assert found["sentence"] == (
        "Supported as posted: the value at Length 9, Type 1 is 83.7 (claimed: 83.7). "
        "Not decidable beyond noise, it is within the noise: 78.99 to 87.67 at 95 % confidence. "
        f"With {factor:,.0f} times the trials ({trials:,} of a cell) it is decided with a probability of 80 %, if the "
        "posted numbers are true."
    )
    [numbers] = [part["numbers"] for part in found["parts"]]
    # The definition of Clopper and Pearson's limits: each tail of 251 of 300 has a probability of 2.5 %.
    assert binom.sf(250, 300, numbers["low"] / 100) == pytest.approx(0.025)
    assert binom.cdf(251, 300, numbers["high"] / 100) == pytest.approx(0.025)
    assert [cell["value"] for cell in numbers["cells"]] == [83.7]
