"""Names that suggest more than they say: near-duplicates, and those of computed values, such as Average."""

import re
import unicodedata
from collections.abc import Collection, Sequence
from functools import lru_cache

_FEWEST_CHARACTERS = 4
_LAST = re.compile(r"(?:^|[ _\-./:(])(?:average|avg|mean|overall|total) ?\.?\)?(?:[ _\-]scores?)?(?: ?\([^()]*\))?$")
_LONGEST = 100
"""Letters at the end of a name that are examined."""


def near_duplicates(new: Collection[str], known: Collection[str]) -> dict[str, str]:
    """For each new name the first other one that looks like it, if there is one.

    Two names look alike when they differ only in case, spacing or punctuation, or by one edit that is not of a digit or
    of a letter by itself. Digits tell AIME24 from AIME25 and 3B from 7B, and such letters modelA from modelB, run-a
    from run-b and gpt-4 from gpt-4o: names that differ in one are not alike.
    """
    others = sorted(filter(None, known))
    alike: dict[str, list[str]] = {}
    for other in others:
        alike.setdefault(fold(other), []).append(other)
    twins = _one_edit_away(new, others)
    for name in new:
        same = next((other for other in alike.get(fold(name), ()) if fold(name) and other != name), None)
        if same is not None:
            twins[name] = min(same, twins.get(name, same))
    return twins


def _one_edit_away(new: Collection[str], others: Sequence[str]) -> dict[str, str]:
    """For each new name the first other one that is one edit away.

    Two texts are one edit apart if one of them, or both, become the same by losing a character. So each name is looked
    up by its shortened forms instead of being compared with every other.
    """
    shapes = {_digits_and_length(name) for name in new}
    left: dict[str, list[str]] = {}
    for name in new:
        for text in _remains(name):
            left.setdefault(text, []).append(name)
    twins: dict[str, str] = {}
    for other in others:
        digits, length = _digits_and_length(other)
        if shapes.isdisjoint((digits, near) for near in (length - 1, length, length + 1)):
            continue
        for text in _remains(other):
            waiting = left.get(text)
            if not waiting:
                continue
            met = {name for name in waiting if name != other and _one_edit_apart(name, other)}
            for name in met:
                twins.setdefault(name, other)
            if met:
                left[text] = [name for name in waiting if name not in met]
    return twins


def _remains(name: str) -> set[str]:
    """The name and its forms shortened by one character; none for a name too short to be told apart."""
    text = name.casefold()
    if len(text) < _FEWEST_CHARACTERS:
        return set()
    return {text, *(text[:place] + text[place + 1 :] for place in range(len(text)))}


def _digits_and_length(name: str) -> tuple[str, int]:
    """Key that two names share, but for one in the length, when one edit that is not of a digit lies between them."""
    folded = name.casefold()
    return "".join(c for c in folded if c.isdigit()), len(folded)


def fold(name: str) -> str:
    """Letters and digits only, compatibility forms and case folded."""
    return "".join(c for c in unicodedata.normalize("NFKC", name).casefold() if c.isalnum())


def _one_edit_apart(a: str, b: str) -> bool:
    (short, of_short), (long, of_long) = sorted(((a.casefold(), a), (b.casefold(), b)), key=lambda both: len(both[0]))
    if len(short) < _FEWEST_CHARACTERS or len(long) - len(short) > 1:
        return False
    start = next((i for i, (x, y) in enumerate(zip(short, long, strict=False)) if x != y), len(short))
    changed = [(of_long, long)]
    if len(short) == len(long):
        changed, same = [*changed, (of_short, short)], short[start + 1 :] == long[start + 1 :]
    else:
        same = short[start:] == long[start + 1 :]
    return same and not any(_tells_apart(name if len(name) == len(text) else text, start) for name, text in changed)


def _tells_apart(name: str, place: int) -> bool:
    """Tell whether a character is a digit, or a letter between no others: a capital after a small one is such a
    letter."""
    if not name[place : place + 1].isalpha():
        return name[place : place + 1].isdigit()
    return _begins_word(name, place) and (place + 1 == len(name) or _begins_word(name, place + 1))


def _begins_word(name: str, place: int) -> bool:
    before, here = name[max(place - 1, 0) : place], name[place]
    return not (before.isalpha() and here.isalpha()) or (before.islower() and here.isupper())


def looks_derived(name: str) -> bool:
    """Tell whether a name is a usual one for an average or a total, or its last word is, but for "score" and what
    stands in brackets; in any case of letters.

    "MMLU average", "mean_score" and "Average (5-shot)" look derived; "Mean IoU tasks" and "Totally new" do not.
    """
    return _ends_so(name[-_LONGEST:].casefold())


@lru_cache(maxsize=4096)
def _ends_so(end: str) -> bool:
    """Kept by a text of its own: one that came with a million others would keep the memory around it."""
    return _LAST.search(" ".join(end.split())) is not None
