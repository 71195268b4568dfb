"""New names that look like known ones are found, and not by comparing each with each; names of averages."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from registry.grids.suspect_names import looks_derived, near_duplicates

NAMES = st.sets(st.text("aB1 -", max_size=6), max_size=12)
WORDS = re.compile(r"[a-z]+|[B]+")
"""Of the letters above: a capital after a small one begins a word."""


def _alone(text: str) -> set[int]:
    """Places of digits and of letters that are a word by themselves."""
    words = [match for match in WORDS.finditer(text) if match.end() - match.start() == 1]
    return {match.start() for match in words} | {place for place, one in enumerate(text) if one == "1"}


def _shortened(text: str) -> set[str]:
    """The text less one character that tells nothing by itself."""
    return {(text[:at] + text[at + 1 :]).casefold() for at in set(range(len(text))) - _alone(text)}


def _changed(text: str, other: str) -> bool:
    """Whether the texts differ in one character, which tells nothing by itself in either."""
    at = [place for place, pair in enumerate(zip(text.casefold(), other.casefold(), strict=True)) if len(set(pair)) > 1]
    return len(at) == 1 and not (_alone(text) | _alone(other)) & set(at)


def _bare(text: str) -> str:
    return "".join(c for c in text.casefold() if c.isalnum())


def _looks_like(name: str, other: str) -> bool:
    if name == other:
        return False
    a, b = name.casefold(), other.casefold()
    if bool(_bare(a)) and _bare(a) == _bare(b):
        return True
    if min(len(a), len(b)) < 4:
        return False
    edited = _changed(name, other) if len(a) == len(b) else a in _shortened(other) or b in _shortened(name)
    return a == b or edited


@given(NAMES, NAMES)
def test_a_new_name_has_the_first_twin_of_all_that_look_like_it(new: set[str], known: set[str]) -> None:
    new, known = new - {""}, new | known
    alike = {name: sorted(other for other in known - {""} if _looks_like(name, other)) for name in new}
    assert near_duplicates(new, known) == {name: found[0] for name, found in alike.items() if found}


AVERAGES = ["Average", "AVG", "avg.", "Mean", "overall", "Total", "Macro avg", "Micro avg", "MMLU average", "x_mean"]
AVERAGES += ["mean_score", "Average (5-shot)", "Overall score", "macro-avg (all tasks)"]
OTHERS = [
    "",
    "GSM8K",
    "Mean IoU",
    "Meaning",
    "Totally new",
    "Averaged",
    "demean",
    "GPQA_D",
    "score",
    "Meaning (5-shot)",
    "F1 score",
]


def test_a_name_that_ends_in_the_word_for_an_average_looks_derived() -> None:
    assert [name for name in (*AVERAGES, *OTHERS) if looks_derived(name)] == AVERAGES
