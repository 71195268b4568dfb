"""Verdicts as set inclusions, against the definition on a lattice of numbers and Kleene's truth tables."""

import itertools
import math
import random

import pytest

from workers.statistics.judging import Answer, Span, all_of, any_of, count_within, judge, opened, opposite, simes

pytestmark = pytest.mark.unit

LATTICE = [half / 4 for half in range(-9, 10)]
"""Whole numbers are ends of spans, and between any two ends there are numbers."""


def members(span: Span) -> set[float]:
    """By the definition of open and closed ends, written without `Span`'s own comparisons."""
    low = {number for number in LATTICE if not (number < span.low or (span.low_open and number == span.low))}
    return low - {number for number in LATTICE if number > span.high or (span.high_open and number == span.high)}


def spans() -> list[Span]:
    ends = [-2.0, -1.0, 0.0, 1.0, 2.0]
    kinds = list(itertools.product((False, True), repeat=2))
    wide = [Span(low, high, *kind) for low, high in itertools.combinations(ends, 2) for kind in kinds]
    halves = [Span(high=end, high_open=is_open) for end in ends for is_open in (False, True)]
    return wide + halves + [Span(end, end) for end in ends]


def test_a_verdict_is_the_inclusion_of_sets() -> None:
    seen = set()
    for region, found in itertools.product(spans(), repeat=2):
        inside, shared = members(found) <= members(region), members(found) & members(region)
        answer: Answer = "supported" if inside else "not_decidable" if shared else "contradicted"
        assert judge([region], found) == answer, (region, found)
        seen.add(answer)
    assert len(seen) == 3


def test_a_region_of_two_spans_is_judged_as_their_union() -> None:
    outside = [Span(high=-1, high_open=True), Span(1, low_open=True)]
    assert judge(outside, Span(1.5, 2)) == "supported"
    assert judge(outside, Span(-1, 1)) == "contradicted"
    assert judge(outside, Span(-2, 2)) == "not_decidable"


def test_nothing_measured_decides_nothing() -> None:
    assert judge([Span()], None) == "not_decidable"


def test_what_holds_no_number_is_no_span() -> None:
    for ends in ((1, 0), (math.nan, 0), (0, math.nan)):
        with pytest.raises(ValueError, match="no span goes"):
            Span(*ends)
    for kind in ((True, False), (False, True), (True, True)):
        with pytest.raises(ValueError, match="is empty"):
            Span(1, 1, *kind)


def completions(answers: list[Answer]) -> set[tuple[bool, ...]]:
    """Every way in which the undecided could turn out."""
    free = [(True, False) if one == "not_decidable" else (one == "supported",) for one in answers]
    return set(itertools.product(*free))


def said_of(truths: set[bool]) -> Answer:
    return "not_decidable" if len(truths) == 2 else "supported" if True in truths else "contradicted"


def test_quantifiers_say_what_every_completion_says() -> None:
    draw = random.Random(7)
    for _ in range(500):
        answers: list[Answer] = draw.choices(["supported", "contradicted", "not_decidable"], k=draw.randint(0, 6))
        worlds = completions(answers)
        least = draw.randint(0, 6)
        most = draw.randint(least, 6)
        assert all_of(answers) == said_of({all(world) for world in worlds})
        assert any_of(answers) == said_of({any(world) for world in worlds})
        assert count_within(answers, least, most) == said_of({least <= sum(world) <= most for world in worlds})


def test_the_negation_swaps_and_keeps_what_is_open() -> None:
    answers: list[Answer] = ["supported", "contradicted", "not_decidable"]
    assert [opposite(one) for one in answers] == ["contradicted", "supported", "not_decidable"]


def test_the_p_of_a_family_is_simes() -> None:
    """By hand: the least of 3 x .02, 3/2 x .03 and .9; with weights the first error counts by its own."""
    assert simes([0.03, None, 0.02, 0.9]) == pytest.approx(0.045)
    assert simes([0.04, 0.5], [0.75, 0.25]) == pytest.approx(0.04 / 0.75)
    assert simes([0.5, 0.04], [0.75, 0.25]) == pytest.approx(0.16)
    assert simes([None]) is None


def test_a_report_opens_its_families_by_closed_testing() -> None:
    """Of two families the only hypothesis of both is that all cells are equal, so each then has its own p; of three,
    two together are tested by Bonferroni."""
    assert opened([0.01, 0.03], [1, 1]) == (pytest.approx(0.02), [pytest.approx(0.02), pytest.approx(0.03)])
    assert opened([0.04, None], [3, 0]) == (0.04, [0.04, None])
    report, families = opened([0.012, 0.2, 0.02], [1, 1, 1])
    assert report == pytest.approx(0.03)
    assert families == pytest.approx([0.03, 0.2, 0.04])
    assert opened([None, None], [0, 0]) == (None, [None, None]), "nothing is tested"
