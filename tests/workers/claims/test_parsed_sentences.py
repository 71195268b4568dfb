"""Sentences about the first seed, read by rules and judged: verdicts that were found by eye in its heatmap."""

from __future__ import annotations

import pytest

from registry.claims.grammar import read_claim
from registry.claims.parsing.parse import parse
from tests.registry.claims.readings import LENGTH, TYPE, scope
from tests.workers.claims.scenes import seeds
from workers.claims.answer import judgement_of
from workers.claims.judgement import judge_claim

pytestmark = pytest.mark.unit

FACTS = seeds("type-by-length")
SCOPE = scope(TYPE, LENGTH, benchmarks="Core Generalization")


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("Type 1 declines to the low 80s by Length 9.", "contradicted"),  # 83.7
        ("Type 7 begins at 99.7%.", "supported"),
        ("Type 5 only has data for longer lengths (7-19).", "supported"),
        ("Types 1 and 7: accuracy drops by over 10 points.", "supported"),  # 99.3 to 83.7, 99.7 to 87.3
        ("Type 7 steadily decreases to Length 12.", "contradicted"),  # 98.0, then 98.7
        ("Type 4 is mostly in the 91–92% range.", "supported"),  # 7 of 11 from 90.5 to 92.5
        ("Type 6 is consistently above 97.7%.", "contradicted"),  # 97.7
        ("Type 1 has no data beyond Length 9.", "supported"),
        ("Not all types decline.", "supported"),
        ("Type 1 should do better.", "ill_posed"),
    ],
)
def test_a_sentence_has_the_verdict_that_the_eye_finds(text: str, verdict: str) -> None:
    [candidate] = parse(text, [SCOPE], {"benchmark": "Core Generalization"})[0]
    assert judgement_of(judge_claim(read_claim(candidate.claim), FACTS)).verdict == verdict
