"""New names that look like known ones are found, and not by comparing each with each."""

from __future__ import annotations

import string
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from registry.grids.near_duplicates import near_duplicates
from tests.registry.test_reading_in_proportion import in_proportion

NAMES = st.sets(st.text("aB1 -", max_size=6), max_size=12)


def _edits(text: str) -> set[str]:
    """Every text of these characters that is one edit away from a text, if the edit is not of a digit."""
    letters = "ab -"
    removed = {text[:at] + text[at + 1 :] for at in range(len(text)) if text[at] != "1"}
    changed = {text[:at] + c + text[at + 1 :] for at, c in product(range(len(text)), letters) if text[at] != "1"}
    added = {text[:at] + c + text[at:] for at, c in product(range(len(text) + 1), letters)}
    return removed | changed | added


def _bare(text: str) -> str:
    return "".join(c for c in text.casefold() if c.isalnum())


def _looks_like(name: str, other: str) -> bool:
    if name == other:
        return False
    a, b = name.casefold(), other.casefold()
    return (bool(_bare(a)) and _bare(a) == _bare(b)) or (min(len(a), len(b)) >= 4 and (a == b or b in _edits(a)))


@settings(max_examples=300, deadline=None)
@given(NAMES, NAMES)
def test_a_new_name_has_the_first_twin_of_all_that_look_like_it(new: set[str], known: set[str]) -> None:
    new, known = new - {""}, new | known
    alike = {name: sorted(other for other in known - {""} if _looks_like(name, other)) for name in new}
    assert near_duplicates(new, known) == {name: found[0] for name, found in alike.items() if found}


def test_many_names_of_one_shape_are_compared_in_proportion() -> None:
    ends = ["".join(letters) for letters in product(string.ascii_lowercase, repeat=2)]
    few, many = ({"x" * 100 + end for end in ends[:count]} for count in (300, 600))
    in_proportion(lambda: near_duplicates(few, few), lambda: near_duplicates(many, many))
    apart = [{f"{end * 6}" for end in ends[:count]} for count in (300, 600)]
    in_proportion(lambda: near_duplicates(apart[0], apart[0]), lambda: near_duplicates(apart[1], apart[1]))
    saved = [{f"lab/checkpoint-{number:04}" for number in range(count)} for count in (1000, 2000)]
    in_proportion(lambda: near_duplicates(saved[0], saved[0]), lambda: near_duplicates(saved[1], saved[1]))
