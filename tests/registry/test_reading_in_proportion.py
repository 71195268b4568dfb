"""Reading costs in proportion to the body: twice the input, about twice the time, and so many bytes for each byte."""

from __future__ import annotations

import contextlib
import gc
import time
import tracemalloc
from collections.abc import Callable, Iterator

import pytest
from marshmallow import ValidationError

from registry.api.fields import Instant, Quantity, Share, Whole
from registry.api.picture_schemas import PictureParameters
from registry.api.query_schemas import RankingParameters
from registry.api.request_body import read_json, read_lines
from registry.api.schemas import FindParameters
from registry.errors import RegistryError
from registry.grids.derived_names import looks_derived
from registry.grids.intake.levels import has_control, read_number
from registry.importers import delimited, markdown
from registry.importers.cell_text import common_words
from registry.importers.imported_grid import Overrides
from registry.importers.source import Source

WANTED = Overrides(
    experiment="e", benchmark="b", model="m", metric="x", columns="Length", reads_prose=False, single=True
)
LONG, MANY, ROWS = 1_000_000, 60_000, 15_000
"""Of texts, of small things, and of what takes longest to read."""
FIELD = 40_000
"""Twice as many characters are still one cell of a CSV."""
NOISE = 0.02
"""Processor seconds by which a short measurement may be off."""

Body = Callable[[int], bytes]
Reader = Callable[[bytes], object]


def json_of(body: bytes) -> None:
    read_json(body)


def ndjson_of(body: bytes) -> None:
    read_lines(body, 1000)


def csv_of(body: bytes) -> None:
    for _ in delimited.read(Source("the body", given=body), WANTED):
        pass


def markdown_of(body: bytes) -> None:
    for _ in markdown.read(Source("the body", given=body), WANTED):
        pass


def prose_of(body: bytes) -> None:
    for _ in markdown.read(Source("a file", given=body), Overrides()):
        pass


def _numbers(size: int, form: str, *, between: str = "") -> bytes:
    """So many different numbers, each written in a form, as fit into a size."""
    return between.join(form % place for place in range(10_000, 10_000 + size // len(form % 10_000))).encode()


def _own(middle: bytes, *, rest: str = "") -> bytes:
    """The registry's own Markdown around something."""
    return "### b · m — x\n\n".encode() + middle + f"\n\n1 of 1 cells measured · revision 1{rest}\n".encode()


JSON: dict[str, tuple[Body, int]] = {
    "one long text": (lambda n: b'{"e":"' + b"x" * n + b'"}', LONG),
    "one text that nobody closes": (lambda n: b'{"e":"' + b"x" * n, LONG),
    "a text of escaped quotes": (lambda n: b'{"e":"' + rb"\"" * (n // 2) + b'"}', LONG),
    "a text of backslashes": (lambda n: b'{"e":"' + rb"\\" * (n // 2) + b'"}', LONG),
    "backslashes before a NUL": (lambda n: b'{"e":"' + rb"\\" * (n // 2) + rb"\u0000" + b'"}', LONG),
    "many keys": (lambda n: b"{" + _numbers(n, '"%d":1', between=",") + b"}", MANY),
    "the last of many keys twice": (lambda n: b"{" + _numbers(n, '"%d":1', between=",") + b',"a":1,"a":1}', MANY),
    "every key the same": (lambda n: b"{" + b'"a":1,' * (n // 6) + b'"a":1}', MANY),
    "open lists": (lambda n: b"[" * n, LONG),
    "many empty lists": (lambda n: b"[" + b"[]," * (n // 3) + b"[]]", MANY),
    "a number of many digits": (lambda n: b"[0." + b"1" * n + b"]", LONG),
    "a whole number of many digits": (lambda n: b"[" + b"1" * n + b"]", LONG),
    "many cells": (lambda n: b"[" + b"1.5," * (n // 4) + b"1]", MANY),
    "many tidy cells": (lambda n: b"[" + b'{"at":{"A":1},"value":1},' * (n // 25) + b"1]", MANY),
}
CSV: dict[str, tuple[Body, int]] = {
    "spaces in the corner": (lambda n: b"a" + b" " * n + b"b,1,2\nx,1,2\n", FIELD),
    "slashes in the corner": (lambda n: b"a" + b" / " * (n // 3) + b"b,1,2\nx,1,2\n", FIELD),
    "spaces in a level": (lambda n: b"T,value\n5" + b"\t" * n + b"x,1\n", FIELD),
    "digits in a level": (lambda n: b"T,value\n" + b"1" * n + b"x,1\n", FIELD),
    "an exponent in a level": (lambda n: b"T,value\n1e" + b"1" * n + b",1\n", FIELD),
    "digits in a value": (lambda n: b"T,value\na,0." + b"1" * n + b"\n", FIELD),
    "headings of many words": (lambda n: b"T," + _numbers(n, "ab cd %d", between=",") + b"\n", MANY),
    "many columns": (lambda n: b"value," + _numbers(n, "%d", between=",") + b"\n", MANY),
    "columns of numbers of levels": (lambda n: b"value," + _numbers(n, "%d_num", between=",") + b"\n", MANY),
    "many commas": (lambda n: b"," * n, MANY),
    "many quotes": (lambda n: b'T,value\n"' + b'""' * (n // 2) + b'",1\n', FIELD),
    "many empty lines": (lambda n: b"T,value\n" + b"\n" * n, MANY),
    "many rows of one cell": (lambda n: b"T,value\n" + b"a,1\n" * (n // 4), ROWS),
    "many rows ended by returns": (lambda n: b"T,value\r" + b"a,1\r" * (n // 4), ROWS),
    "many levels": (lambda n: b"T,value\n" + _numbers(n, "%d,1\n"), ROWS),
}
PIPES = b"|T|1|\n|-|-|\n"
MARKDOWN: dict[str, tuple[Body, int]] = {
    "pipes above a rule": (lambda n: b"|" * n + b"\n|-|\n", MANY),
    "a rule of many columns": (lambda n: b"|" * n + b"\n" + b"|-" * n + b"\n", MANY),
    "pipes in a row": (lambda n: PIPES + b"|" * n + b"\n", MANY),
    "escaped pipes": (lambda n: PIPES + b"|" + rb"\|" * (n // 2) + b"|1|\n", MANY),
    "backslashes": (lambda n: PIPES + b"|" + b"\\" * n + b"|1|\n", MANY),
    "asterisks": (lambda n: PIPES + b"|" + b"*" * n + b"|1|\n", LONG),
    "one long cell": (lambda n: PIPES + b"|" + b"x" * n + b"|1|\n", LONG),
    "spaces in the corner": (lambda n: b"|a" + b" " * n + b"b|1|\n|-|-|\n|x|1|\n", LONG),
    "slashes in the corner": (lambda n: b"|a" + b" / " * (n // 3) + b"b|1|\n|-|-|\n|x|1|\n", MANY),
    "spaces in a level": (lambda n: b"|T|value|\n|-|-|\n|5" + b" " * n + b"x|1|\n", LONG),
    "bold lines with spaces": (lambda n: (b"**a**" + b" " * 9_900 + b"x\n") * (n // 9_907), LONG),
    "lines of asterisks": (lambda n: (b"**" * 4_950 + b"x\n") * (n // 9_902), LONG),
    "lines of spaces": (lambda n: (b" " * 9_900 + b"x\n") * (n // 9_902), LONG),
    "a rule of dashes": (lambda n: b"a|b\n" + b"-" * n + b"x\n", LONG),
    "a rule of dashes and spaces": (lambda n: b"a|b\n" + b"- " * (n // 2) + b"\n", LONG),
    "many paragraphs": (lambda n: b"ab\n" * (n // 3), MANY),
    "many headings": (lambda n: b"# a\n" * (n // 4), MANY),
    "many small tables": (lambda n: b"|a|b|\n|-|-|\n\n" * (n // 14), ROWS),
    "own, with many numbers": (lambda n: _own(b"1\n" * (n // 2)), ROWS),
    "own, with many rows": (lambda n: _own(b"|T|x|\n|-|-|\n" + _numbers(n, "|%d|1|\n")), ROWS),
    "own, with many columns": (lambda n: _own(b"|T|" + _numbers(n, "%d|") + b"\n|-|\n"), MANY),
    "own, with many tables": (lambda n: _own(b"#### a 1\n|a|1|\n|-|-|\n" * (n // 22)), ROWS),
    "own, with a title of dashes": (lambda n: ("### " + " — " * (n // 5)).encode() + _own(b"1"), MANY),
    "own, with many trials": (lambda n: _own(b"1", rest=" · trials " + "9" * n), MANY),
}
PROSE: dict[str, tuple[Body, int]] = {
    "quotes that nobody closes": (lambda n: "“".encode() * (n // 3), FIELD),
    "models that are not named": (lambda n: "model named “".encode() * (n // 15), FIELD),
    "a quoted run of spaces": (lambda n: b'"a' + b" " * n + b'b"', FIELD),
    "bullets with spaces": (lambda n: (b"* a: 5" + b" " * 9_900 + b"x\n") * (n // 9_907), FIELD),
    "bullets of digits": (lambda n: (b"* X-axis: ranging from " + b"1" * 9_900 + b"\n") * (n // 9_924), FIELD),
    "a lowest value and no highest": (
        lambda n: (b"* lowest value is " + b"1" * 9_900 + b"\n") * (n // 9_919), FIELD,
    ),
    "headings with spaces": (lambda n: (b"# a" + b" " * 9_900 + b"x\n") * (n // 9_904), FIELD),
    "many headings": (lambda n: b'# a - b\nthe model named "x"\n' * (n // 28), FIELD),
}  # fmt: skip
READERS: dict[str, tuple[Reader, dict[str, tuple[Body, int]]]] = {
    "JSON": (json_of, JSON),
    "CSV": (csv_of, CSV),
    "Markdown": (markdown_of, MARKDOWN),
    "prose": (prose_of, PROSE),
}
ALL = [pytest.param(read, *body, id=f"{form}, {name}") for form, (read, bodies) in READERS.items()
       for name, body in bodies.items()]  # fmt: skip


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
        with contextlib.suppress(RegistryError):
            read()
        best = min(best, time.process_time() - begun)
    return best


def in_proportion(once: Callable[[], object], twice: Callable[[], object]) -> None:
    """What is in proportion is so in one of three looks at least; what is quadratic is never."""
    looks = ((seconds(once), seconds(twice)) for _ in range(3))
    assert any(long < 3 * short + NOISE for short, long in looks)


@pytest.mark.parametrize(("read", "body", "size"), ALL)
def test_twice_the_body_is_read_in_twice_the_time(read: Reader, body: Body, size: int) -> None:
    short, long = body(size), body(2 * size)
    assert len(long) > 1.9 * len(short)
    in_proportion(lambda: read(short), lambda: read(long))


def test_many_lines_of_a_batch_are_read_in_proportion() -> None:
    line = b'{"a":"' + b"x" * 1000 + b'"}\n'
    in_proportion(lambda: read_lines(line * 500, 9000), lambda: read_lines(line * 1000, 9000))
    in_proportion(lambda: ndjson_of(b"\n" * LONG), lambda: ndjson_of(b"\n" * 2 * LONG))


@pytest.mark.parametrize("text", ["5" + " " * FIELD + "x", "1" * FIELD + "x", "1e" + "1" * FIELD, " " * FIELD])
def test_the_number_of_a_label_is_read_in_proportion(text: str) -> None:
    in_proportion(lambda: read_number(text), lambda: read_number(text[:1] + text[1:-1] * 2 + text[-1:]))


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
}
LONG_TEXTS = {
    "digits": "1" * LONG + "x",
    "signs": "-" * LONG,
    "points": "1." * (LONG // 2),
    "spaces": "5" + " " * LONG + "x",
    "an axis": "axis:" + "x" * LONG + "\n",
    "hexadecimal": "0" * LONG + "~",
    "instants": "2026-11-21T08:00:00." + "1" * LONG,
    "averages": "(average" * (LONG // 8) + "x",
}


@pytest.mark.parametrize("text", LONG_TEXTS)
@pytest.mark.parametrize("kind", QUERY)
def test_a_parameter_of_a_query_is_read_in_proportion(kind: str, text: str) -> None:
    def read(given: str) -> None:
        with contextlib.suppress(ValidationError):
            QUERY[kind](given)

    given = LONG_TEXTS[text]
    in_proportion(lambda: read(given), lambda: read(given[:1] + given[1:-1] * 2 + given[-1:]))


def test_an_exponent_that_no_number_has_makes_no_number() -> None:
    assert read_number("1e" + "9" * 5000) is None
    assert read_number("1e999999999") is None


@pytest.mark.parametrize(
    ("texts", "common"),
    [
        (["Length 0", "Length 1"], ["Length"]),
        (["Length 10", "Length 1"], ["Length"]),
        (["Length", "Length 1"], ["Length"]),
        (["a b", "a b c", "a bc"], ["a"]),
        (["a", "b"], []),
        (["x y", "x y"], ["x", "y"]),
        ([], []),
    ],
)
def test_the_words_that_texts_begin_with_are_whole_words(texts: list[str], common: list[str]) -> None:
    assert common_words(texts) == common


HELD: dict[str, tuple[Reader, Body, int]] = {
    "JSON, one long text": (json_of, JSON["one long text"][0], 30),
    "JSON, a text of backslashes": (json_of, JSON["a text of backslashes"][0], 30),
    "JSON, a text of escaped quotes": (json_of, JSON["a text of escaped quotes"][0], 30),
    "JSON, many cells": (json_of, JSON["many cells"][0], 40),
    "JSON, many empty lists": (json_of, JSON["many empty lists"][0], 40),
    "JSON, many keys": (json_of, JSON["many keys"][0], 40),
    "CSV, many empty lines": (csv_of, CSV["many empty lines"][0], 30),
    "CSV, many columns": (csv_of, CSV["many columns"][0], 30),
    "CSV, many commas": (csv_of, CSV["many commas"][0], 30),
    "Markdown, one long cell": (markdown_of, MARKDOWN["one long cell"][0], 30),
    "Markdown, backslashes": (markdown_of, MARKDOWN["backslashes"][0], 30),
    "Markdown, pipes above a rule": (markdown_of, MARKDOWN["pipes above a rule"][0], 30),
    "Markdown, many paragraphs": (markdown_of, MARKDOWN["many paragraphs"][0], 30),
    "Markdown, many small tables": (markdown_of, MARKDOWN["many small tables"][0], 30),
}


@pytest.mark.parametrize("case", HELD)
def test_reading_holds_so_many_bytes_for_each_that_came(case: str) -> None:
    read, make, most = HELD[case]
    body = make(MANY)
    tracemalloc.start()
    with contextlib.suppress(RegistryError):
        read(body)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < most * len(body)
