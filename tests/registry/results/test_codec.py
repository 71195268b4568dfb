"""A document is written and read without a loss, byte by byte, and of other versions as far as it is understood."""

import gzip
from dataclasses import dataclass
from typing import Annotated

import pytest

from registry.results.codec import from_bytes, from_document, read, to_bytes, to_short_document
from registry.results.courses import Change, LargestSteps, LevelSpan
from registry.results.terms import Interval, Presence


@dataclass(frozen=True, slots=True)
class Found:
    value: float | None
    parts: tuple[Interval, ...]
    by: dict[str, Interval]
    level: float = 0.95
    reason: Annotated[str | None, Presence.OMITTED] = None


def test_stored_bytes_are_compressed_json_and_always_the_same() -> None:
    document = {"series": [], "value": 0.1}
    assert gzip.decompress(to_bytes(document)) == b'{"series":[],"value":0.1}'
    assert to_bytes(document) == to_bytes(dict(document))
    assert from_bytes(to_bytes(document)) == document
    assert read(LevelSpan, to_bytes({"from": 1, "to": "2"})) == LevelSpan(1, "2")


def test_a_number_that_is_none_is_not_stored_as_null() -> None:
    for wrong in (float("nan"), float("inf"), [1.0, {"deep": (2.0, -float("inf"))}]):
        with pytest.raises(ValueError, match="a statistic is "):
            to_bytes({"coverage": wrong})


def test_statistics_have_the_digits_that_tell_something_and_levels_all_of_theirs() -> None:
    third = 1 / 3
    found = to_short_document(
        [Change(third, 2 * third, third, True, 1.23456789012e-45, 4e6 / 3, None, float("nan")), 123456789012.0], 6
    )
    assert (found[0]["from"], found[0]["to"]) == (third, 2 * third)
    assert (found[0]["size"], found[0]["p"]) == (0.333333, 1.235e-45)
    assert (found[0]["p_holm"], found[0]["detectable"], found[1]) == (4e6 / 3, None, 123456789012.0)


def test_other_versions_are_read_as_far_as_they_are_understood() -> None:
    later = {"from": 1, "to": 2, "size": 3.0, "sharp": None, "news": {"from": 1}}
    assert from_document(Change, later).size == 3.0
    assert from_document(Found, {}) == Found(None, (), {})
    assert from_document(LargestSteps, {"drop": {}}).drop.at == ()
    assert from_document(Found, {"by": {"x": {"level": 0.9, "low": 1, "high": 2}}}).by["x"] == Interval(0.9, 1, 2)
    with pytest.raises(ValueError, match="Interval is no JSON object"):
        from_document(Found, {"parts": ["a"]})
