"""JSON bodies are read as Python's own reader reads them, and no key is lost because it came twice."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.api.publication import read_grid
from registry.api.request_body import LARGE, read_json
from registry.errors import Invalid, Malformed, TooLarge
from registry.grids.intake import Limits
from tests.house import House, publication

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
