"""Reading takes time in proportion to the body: twice the input, about twice the time."""

from __future__ import annotations

import contextlib
import gc
import time
from collections.abc import Callable, Iterator
from functools import partial

import pytest
from marshmallow import ValidationError

from registry.api.fields import Instant, Quantity, Share, Whole
from registry.api.pictures import PictureParameters
from registry.api.rankings import RankingParameters
from registry.api.request_body import read_lines
from registry.api.schemas import FindParameters
from registry.errors import RegistryError
from registry.grids.intake.levels import has_control, read_number
from registry.grids.suspect_names import looks_derived
from tests.registry.test_reading_in_proportion import FIELD, LONG, READERS, ndjson_of

NOISE = 0.02
"""Processor seconds by which a short measurement may be off."""


@pytest.fixture(autouse=True)
def _without_looking_for_cycles() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


def seconds(read: Callable[[], object]) -> float:
    """The processor time of a call, the better of two."""
    best = float("inf")
    for _ in range(2):
        begun = time.process_time()
        with contextlib.suppress(RegistryError, ValidationError):
            read()
        best = min(best, time.process_time() - begun)
    return best


def in_proportion(once: Callable[[], object], twice: Callable[[], object]) -> None:
    """What is in proportion is so in one of three looks at least; what is quadratic is never."""
    looks = ((seconds(once), seconds(twice)) for _ in range(3))
    assert any(long < 3 * short + NOISE for short, long in looks)


def longer(text: str) -> str:
    """All but the ends twice."""
    return text[:1] + text[1:-1] * 2 + text[-1:]


@pytest.mark.parametrize("form", READERS)
def test_twice_the_body_is_read_in_twice_the_time(form: str, subtests: pytest.Subtests) -> None:
    read, bodies = READERS[form]
    for name, (body, size) in bodies.items():
        short, long = body(size), body(2 * size)
        with subtests.test(name):
            assert len(long) > 1.9 * len(short)
            in_proportion(partial(read, short), partial(read, long))


def test_many_lines_of_a_batch_are_read_in_proportion() -> None:
    line = b'{"a":"' + b"x" * 1000 + b'"}\n'
    in_proportion(lambda: read_lines(line * 500, 9000), lambda: read_lines(line * 1000, 9000))
    in_proportion(lambda: ndjson_of(b"\n" * LONG), lambda: ndjson_of(b"\n" * 2 * LONG))


QUERY: dict[str, Callable[[str], object]] = {
    "a number": Quantity().deserialize,
    "a whole number": Whole(1, 10, text=True).deserialize,
    "an instant": Instant().deserialize,
    "a share": Share().deserialize,
    "a colour range": PictureParameters().fields["range"].deserialize,
    "the slots of a ranking": RankingParameters().fields["by"].deserialize,
    "a cursor": FindParameters().fields["cursor"].deserialize,
    "a control character": has_control,
    "an average": looks_derived,
    "the number of a label": read_number,
}
LONG_TEXTS = [
    "1" * LONG + "x", "-" * LONG, "1." * (LONG // 2), "5" + " " * LONG + "x", "axis:" + "x" * LONG + "\n",
    "0" * LONG + "~", "2026-11-21T08:00:00." + "1" * LONG, "(average" * (LONG // 8) + "x",
]  # fmt: skip
LABELS = ["5" + " " * FIELD + "x", "1" * FIELD + "x", "1e" + "1" * FIELD, " " * FIELD]
"""A label has no more characters than a field."""


@pytest.mark.parametrize("kind", QUERY)
def test_a_parameter_of_a_query_is_read_in_proportion(kind: str, subtests: pytest.Subtests) -> None:
    read = QUERY[kind]
    for text in LABELS if read is read_number else LONG_TEXTS:
        with subtests.test(text[:20]):
            in_proportion(partial(read, text), partial(read, longer(text)))
