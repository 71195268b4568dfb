"""JSON bodies are read as Python's own reader reads them, and no key is lost because it came twice."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry import create_app
from registry.api.publication import read_grid
from registry.api.request_body import read_json
from registry.errors import Invalid, Malformed
from registry.grids.intake import Limits
from registry.settings import Settings
from tests.house import publication

pytestmark = pytest.mark.unit

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


def test_what_one_application_has_read_does_not_pass_another_that_allows_shorter_names() -> None:
    body = json.dumps(
        publication(metric={"name": "a metric of this name", "direction": "higher"}, trials=None)
    ).encode()

    with create_app(Settings()).app_context():
        read_grid(read_json(body), Limits())
    with create_app(replace(Settings(), max_name=10)).app_context(), pytest.raises(Invalid) as caught:
        read_grid(read_json(body), Limits())
    assert "/metric/name" in {fault.pointer for fault in caught.value.faults}
