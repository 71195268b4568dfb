"""How the words and numbers of a claim are read, told with its judgement."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import islice, pairwise

from registry.claims.claim import Atom, Claim, atoms_of
from registry.claims.number import Number

_MOST = 100
_NOISE = ("significant", "significantly")
_WORD = re.compile(r"[^\W_]+|\S")


def noise_words(text: str) -> list[str]:
    """The words of a text by which its verdict is that beyond noise: "the most significant drop" is the largest one."""
    words = [one[0].casefold() for one in _WORD.finditer(text)]
    asked = (word for before, word in pairwise(["", *words]) if word in _NOISE and before not in ("most", "least"))
    return list(dict.fromkeys(asked))


def read_as(claim: Claim) -> list[dict[str, str]]:
    """The first hundred readings as an answer has them: the words of the text that changed how the claim is taken, and
    every number, by its JSON pointer, with the values that it allows."""
    return [{"phrase": phrase, "read_as": said} for phrase, said in islice(_readings(claim), _MOST)]


def _readings(claim: Claim) -> Iterator[tuple[str, str]]:
    for word in noise_words(claim.text):
        yield word, "the verdict is that beyond noise"
    for pointer, atom in atoms_of(claim.says):
        for field, number in _numbers(atom):
            if (said := _read(number)) is not None:
                yield f"{pointer}/{field}", said


def _numbers(atom: Atom) -> Iterator[tuple[str, Number]]:
    for field in ("is_", "size", "matching", "by", "count"):
        number = getattr(atom.says, field, None)
        if isinstance(number, Number):
            yield field.rstrip("_"), number


def _read(number: Number) -> str | None:
    if number.op not in ("=", "about", "between"):
        return None
    low, high = (_plain(end, number.decimals) for end in number.ends()[:2])
    if number.op == "between":
        bare = [_plain(end, number.decimals) for end in (number.low, number.high)]
        rounded = "its ends are printed numbers: half a unit of the last digit to either side"
        return f"rounding [{low}, {high}]: {rounded}; bare [{bare[0]}, {bare[1]}]: its ends as written"
    if number.within is not None:
        return f"[{low}, {high}]: within {number.within:g}"
    return f"[{low}, {high}]: every value that prints as this number"


def _plain(end: float, decimals: int) -> str:
    return f"{end:.{decimals + 1}f}".rstrip("0").rstrip(".") if math.isfinite(end) else "unbounded"
