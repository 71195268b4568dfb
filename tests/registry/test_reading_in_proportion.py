"""Bodies are read as Python reads them, within bounds, and in proportion to what came."""

import contextlib
import json
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.api.publication import read_grid
from registry.api.request_body import LARGE, read_json, read_lines
from registry.errors import Invalid, Malformed, RegistryError, TooLarge
from registry.grids.intake import Limits
from registry.grids.intake.levels import read_number
from registry.importers import delimited, markdown
from registry.importers.cell_text import common_words
from registry.importers.imported_grid import Overrides
from registry.importers.source import Source
from tests.house import House, publication

WANTED = Overrides(
    experiment="e", benchmark="b", model="m", metric="x", columns="Length", reads_prose=False, single=True
)
LONG, MANY, ROWS = 1_000_000, 60_000, 15_000
"""Of texts, of small things, and of what takes longest to read."""
FIELD = 40_000
"""Twice as many characters are still one cell of a CSV."""
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
HELD = {
    30: [
        ("JSON", "one long text"), ("JSON", "a text of backslashes"), ("JSON", "a text of escaped quotes"),
        ("CSV", "many empty lines"), ("CSV", "many columns"), ("CSV", "many commas"), ("Markdown", "one long cell"),
        ("Markdown", "backslashes"), ("Markdown", "pipes above a rule"), ("Markdown", "many paragraphs"),
        ("Markdown", "many small tables"),
    ],
    40: [("JSON", "many cells"), ("JSON", "many empty lists"), ("JSON", "many keys")],
}  # fmt: skip


def test_reading_holds_so_many_bytes_for_each_that_came(subtests: pytest.Subtests) -> None:
    for most, bodies in HELD.items():
        for form, name in bodies:
            read, made = READERS[form]
            body = made[name][0](MANY)
            with subtests.test(form, body=name):
                tracemalloc.start()
                with contextlib.suppress(RegistryError):
                    read(body)
                peak = tracemalloc.get_traced_memory()[1]
                tracemalloc.stop()
                assert peak < most * len(body)


def test_the_words_that_texts_begin_with_are_whole_and_an_exponent_that_no_number_has_makes_none() -> None:
    for texts, common in (
        (["Length 0", "Length 1"], ["Length"]),
        (["Length 10", "Length 1"], ["Length"]),
        (["Length", "Length 1"], ["Length"]),
        (["a b", "a b c", "a bc"], ["a"]),
        (["a", "b"], []),
        (["x y", "x y"], ["x", "y"]),
        ([], []),
    ):
        assert common_words(texts) == common
    assert read_number("1e" + "9" * 5000) is read_number("1e999999999") is None


def test_a_table_that_no_grid_can_be_is_refused_before_its_cells_are_made(subtests: pytest.Subtests) -> None:
    wide = b"," * LONG
    tidy = replace(WANTED, columns=None)
    for name, body, read, wanted in (
        ("a wide row", b"a,value\n" + wide + b"\n", delimited.read, WANTED),
        ("a wide heading", wide + b"\n1\n", delimited.read, WANTED),
        ("a row over many lines", b"a,value\n" + b',,,,,,,,,"\n",' * (LONG // 12), delimited.read, WANTED),
        ("a wide row of pipes", b"|a|b|\n|-|-|\n" + b"|" * LONG, markdown.read, WANTED),
        ("a wide rule", b"|a" * LONG + b"|\n" + b"|-" * LONG + b"|\n", markdown.read, WANTED),
        ("many lines", b"|a|b|\n|-|-|\n" + b"\n" * 1_100_000, markdown.read, WANTED),
        ("many positions", b"a,b,value\n" + b"".join(b"%d,%d,1\n" % (n, n) for n in range(9000)), delimited.read, tidy),
    ):
        with subtests.test(name):
            tracemalloc.start()
            with pytest.raises(RegistryError):
                list(read(Source("the body", given=body), wanted))
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert peak < 2 * LONG + 8 * len(body) + (10_000_000 if name == "many positions" else 0)


TEXTS = st.sampled_from(['a":', '": "', "\\", 'x" :1', "plain", ""]) | st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


@given(VALUES, st.booleans())
def test_a_body_is_read_as_python_reads_it(value: Any, indented: bool) -> None:
    text = json.dumps(value, indent=2 if indented else None, separators=(",", " : ") if indented else None)
    found = read_json(text.encode())
    assert (found, repr(found)) == (json.loads(text), repr(json.loads(text)))


@given(st.dictionaries(TEXTS, VALUES, min_size=1, max_size=4), st.integers(0, 2))
def test_a_key_that_comes_twice_is_refused_wherever_it_stands(value: dict[str, Any], depth: int) -> None:
    pairs = [f"{json.dumps(key)}:{json.dumps(held)}" for key, held in value.items()]
    text = "{" + ",".join([*pairs, pairs[0]]) + "}"
    for _ in range(depth):
        text = f'[{{"k": {text}}}]'
    with pytest.raises(Malformed, match="comes twice"):
        read_json(text.encode())


def test_a_whole_number_beyond_64_bits_is_exact_in_a_small_body_and_refused_in_a_large_one(
    subtests: pytest.Subtests,
) -> None:
    for number in (2**64, -(2**63) - 1, 10**30):
        for text in (str(number), f'[1,{{"a": {number}}}]'):
            with subtests.test(text):
                assert read_json(text.encode()) == json.loads(text)
                with pytest.raises(Malformed, match="more than 64 bits"):
                    read_json(text.encode() + b" " * LARGE)
    for kept in ("1e30", '"18446744073709551616"', "0.18446744073709551616", "1E+00000000000000000000018", "-1.5e+30"):
        with subtests.test(kept):
            assert read_json(kept.encode()) == json.loads(kept)


def test_texts_escapes_and_numbers_go_on_behind_the_first_mebibyte() -> None:
    for item in ("1234567.875", json.dumps('\\"é[{'), '"\\u00e9"', '{"a":[1,"]"]}', "12"):
        text = f"[{','.join([item] * (LARGE // len(item) + 1))}]"
        assert read_json(text.encode()) == json.loads(text)
    twice = '{"a":1,"b":2,"a":3}'
    with pytest.raises(Malformed, match="comes twice"):
        read_json(f"[{'[1,2],' * 300_000}{twice}]".encode())
    with pytest.raises(Malformed, match="NUL"):
        read_json(f'["{"x" * 1_300_000}\\u0000"]'.encode())
    with pytest.raises(Malformed, match="deeper than 12"):
        read_json(f"[{'[1,2],' * 300_000}{'[' * 13}{']' * 13}]".encode())


def test_what_a_body_may_say_is_bounded_before_it_is_read(subtests: pytest.Subtests) -> None:
    for item in ("{}", "[]", '{"a":1}', '"ab"', "1"):
        with subtests.test(item), pytest.raises(TooLarge, match="fewer cells"):
            read_json(b"[" + (item + ",").encode() * 6_000_000 + b"1]")
    with pytest.raises(TooLarge, match="at most 10000 keys"):
        read_json(json.dumps(dict.fromkeys(map(str, range(10_001)))).encode())


def test_what_was_read_under_some_settings_does_not_pass_under_others(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = json.dumps(publication(metric={"name": "a metric of this name"}, trials=None)).encode()
    shorter = replace(house.app.extensions["registry"], settings=replace(house.settings, max_name=10))
    with house.app.app_context():
        read_grid(read_json(body), Limits())
        monkeypatch.setitem(house.app.extensions, "registry", shorter)
        with pytest.raises(Invalid) as caught:
            read_grid(read_json(body), Limits())
    assert "/metric/name" in {fault.pointer for fault in caught.value.faults}
