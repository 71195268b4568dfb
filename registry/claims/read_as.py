"""How the words and numbers of a claim are read, told with its judgement."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import islice, pairwise

from registry.claims.claim import Atom, Claim, atoms_of
from registry.claims.dictionary import BARE, PRINTED, ROUNDED, Reading, entries_by_word
from registry.claims.number import Number
from registry.claims.parsing.tokens import tokens_of

_MOST = 100
_NOISE = {word: entry for word, entry in entries_by_word() if entry.use == "noise"}


def noise_words(text: str) -> list[Reading]:
    """The words of a text by which its verdict is that beyond noise: "the most significant drop" is the largest one."""
    words = [token.word for token in tokens_of(text)]
    asked = (word for before, word in pairwise(["", *words]) if word in _NOISE and before not in ("most", "least"))
    return [Reading(word, _NOISE[word].read_as) for word in dict.fromkeys(asked)]


def readings_of(claim: Claim) -> Iterator[Reading]:
    """The words of the text that changed how it is taken, and every number with the values that it allows; a number by
    its JSON pointer in the claim."""
    yield from noise_words(claim.text)
    for pointer, atom in atoms_of(claim.says):
        for field, number in _numbers(atom):
            if (said := _read(number)) is not None:
                yield Reading(f"{pointer}/{field}", said)


def read_as(claim: Claim) -> list[dict[str, str]]:
    """The first hundred of them as an answer has them."""
    return [{"phrase": one.phrase, "read_as": one.read_as} for one in islice(readings_of(claim), _MOST)]


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
        return f"rounding [{low}, {high}]: {ROUNDED}; bare [{bare[0]}, {bare[1]}]: {BARE}"
    if number.within is not None:
        return f"[{low}, {high}]: within {number.within:g}"
    return f"[{low}, {high}]: {PRINTED}"


def _plain(end: float, decimals: int) -> str:
    return f"{end:.{decimals + 1}f}".rstrip("0").rstrip(".") if math.isfinite(end) else "unbounded"
