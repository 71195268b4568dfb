"""What is stored of statistics in columns is read as it was, now and by later releases."""

import gzip
from hashlib import sha256
from importlib.resources import files

import orjson
from hypothesis import given
from hypothesis import strategies as st

from registry.results.codec import compressed, from_bytes, is_served
from registry.results.columns import in_columns, packed

FLOATS = st.floats(allow_nan=False, allow_infinity=False).map(lambda one: one + 0.0)
"""Without a negative zero, which may become the other one."""
SCALARS = st.none() | st.booleans() | st.integers(-3, 3) | FLOATS | st.text()
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abc"), inner), max_leaves=30
)
SERIES = {"along": "x", "at": {"y": 1}, "steps": [{"p": 0.5, "ends": None}, {"p": 1.0, "ends": {"low": 1}}], "q": None}


@given(st.dictionaries(st.text(), JSON))
def test_every_document_is_read_as_it_was_written(document: dict[str, object]) -> None:
    assert orjson.dumps(from_bytes(memoryview(packed(document)))) == orjson.dumps(document)


def test_objects_with_the_same_keys_name_each_key_once() -> None:
    series = [SERIES, SERIES | {"at": {"y": 2}, "steps": []}, SERIES | {"q": 0.25}]
    assert orjson.dumps(in_columns({"series": series})).count(b'"low"') == 1
    assert from_bytes(packed({"series": series})) == {"series": series}


def test_what_was_stored_as_gzip_is_still_read() -> None:
    assert from_bytes(gzip.compress(b'{"p":0.5}')) == {"p": 0.5}
    assert (is_served(compressed({"p": 0.5})), is_served(packed({"p": 0.5}))) == (True, False)


def test_no_words_that_something_was_stored_with_are_ever_changed() -> None:
    found = {one.name: sha256(one.read_bytes()).hexdigest()[:16] for one in files("registry.results").iterdir()
             if one.name.endswith(".words")}  # fmt: skip
    assert found == {"1.words": "6610dbdd7e2dc59a"}
