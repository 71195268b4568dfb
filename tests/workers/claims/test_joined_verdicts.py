"""Verdicts joined from those on statements are those on the whole."""

from __future__ import annotations

import random
from typing import Any

import pytest

from registry.claims.claim import atoms_of
from registry.claims.grammar import read_claim
from registry.operations.claims_across import joined_judgement
from tests.workers.claims.scenes import judged, with_about
from tests.workers.claims.test_verdicts_keep_laws import claims, facts, grid

pytestmark = [pytest.mark.unit, pytest.mark.usefixtures("unplanned")]


def compound(draw: random.Random, known: list[dict[str, Any]], depth: int = 2) -> dict[str, Any]:
    """A claim with several statements, which have one group each."""
    if depth == 0:
        return with_about(draw.choice(known))
    kind = draw.choice(["all_of", "any_of", "not"])
    count = 1 if kind == "not" else draw.choice([2, 3])
    return {"kind": kind, "claims": [compound(draw, known, draw.randint(0, depth - 1)) for _ in range(count)]}


@pytest.mark.parametrize("seed", range(1))
def test_what_is_judged_apart_is_what_is_judged_together(seed: int) -> None:
    draw, one = random.Random(seed), grid(seed, holes=0.1)
    known = [claim for claim in claims(seed) if "for" not in claim and "sweet_spot" not in claim["kind"]]
    decided = 0
    for _ in range(40):
        said = compound(draw, known)
        said = {"kind": "any_of", "claims": [said, with_about(draw.choice(known))]}
        claim = read_claim(said)
        statements = [statement for _, statement in atoms_of(claim.says)]
        found = facts(one, said)
        documents = written(said)
        assert len(documents) == len(statements)
        apart = [judged(found, statement | {"alpha": 0.05 / len(documents)}) for statement in documents]
        whole, joined = judged(found, said), joined_judgement(claim, apart)
        for field in ("verdict", "as_posted", "beyond_noise", "claim", "digest", "alpha", "inputs"):
            assert joined[field] == whole[field], (field, said)
        assert [part["numbers"] for part in joined["parts"]] == [part["numbers"] for part in whole["parts"]]
        assert [part["part"] for part in joined["parts"]] == [part["part"] for part in whole["parts"]]
        # What is told of other values of missing cells, or of the bare ends of ranges, is on the safe side.
        assert not joined["robust_to_missing"] or whole["robust_to_missing"], said
        assert joined["depends_on_reading"] or not whole["depends_on_reading"], said
        assert joined.keys() <= whole.keys() | {"trials_needed"}
        decided += joined["as_posted"] != "not_decidable"
    assert decided >= 20


def written(said: dict[str, Any]) -> list[dict[str, Any]]:
    """The statements of a claim, in their order."""
    return [one for part in said["claims"] for one in written(part)] if "claims" in said else [said]
