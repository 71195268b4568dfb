"""The vague words that sentences about results use, and the one reading that each has: published in docs/claims.md.

The parser of sentences and the answers of the judge both tell which of these readings they took (`read_as`). A reading
in points is for a metric from 0 to 100 or from 0 to 1, where a point is a hundredth; other metrics have no points, and
such a word is not read there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

Use = Literal["number", "cells", "size", "course", "equal", "noise", "nothing", "ill_posed"]


@dataclass(frozen=True, slots=True)
class Entry:
    """Words with one reading. `use`: what they change in a statement, by `value`."""

    words: tuple[str, ...]
    use: Use
    read_as: str
    value: Any = None


@dataclass(frozen=True, slots=True)
class Reading:
    """A phrase or a field of a claim, and what it was taken for."""

    phrase: str
    read_as: str


DECADES = {"low": (0, 3.4), "mid": (3.5, 6.5), "high": (6.5, 9.9), "": (0, 9.9)}
"""Parts of a decade such as "the low 80s": from and to, above its first number."""

ENTRIES = (
    Entry(("about", "around", "approximately", "roughly", "~"), "number",
          "within half a unit of the last digit shown", "about"),
    Entry(("mostly", "mainly", "largely", "predominantly", "typically"), "cells",
          "more than half of the cells", "most"),
    Entry(("almost exclusively", "almost always", "almost all", "nearly all", "nearly always"), "cells",
          "at least 90 % of the cells", {"share": 0.9}),
    Entry(("consistently", "always", "uniformly", "throughout"), "cells",
          "all of the cells; of a trend: no step against it", "all"),
    Entry(("slight", "slightly", "small", "minor", "modest", "modestly", "marginal", "marginally"), "size",
          "at most 2 points", 2),
    Entry(("sharp", "sharply", "steep", "steeply", "abrupt", "abruptly"), "size",
          "the largest step of its series, beyond noise", "largest"),
    Entry(("significant", "significantly"), "noise", "the verdict is that beyond noise", "noise"),
    Entry(("general", "generally", "overall", "on average"), "course",
          "by the fitted line, or by the mean; single cells may differ", "overall"),
    Entry(("steady", "steadily", "gradual", "gradually", "monotonic", "monotonically"), "course",
          "no step against it", "monotone"),
    Entry(("strictly",), "course", "every step goes with it", "strictly"),
    Entry(("stable", "flat", "constant", "steady performance", "minimal variation", "little variation",
           "minimal degradation", "little degradation", "consistent"), "equal",
          "all cells of the series lie within 2 points of each other", 2),
    Entry(("robust", "robustness"), "equal", "all cells of the series lie within 3 points of each other", 3),
    Entry(("comparable", "similar", "on par", "equivalent"), "equal", "the means differ by at most 3 points", 3),
    Entry(("little impact", "little effect", "small impact", "small effect", "minimal impact", "minimal effect",
           "no impact", "no effect", "little influence", "no influence"), "equal",
          "the means of its levels differ by at most 3 points", 3),
    Entry(("clear", "clearly", "strong", "strongly", "notable", "notably", "noticeable", "noticeably", "very",
           "exceptionally", "exceptional", "highly", "considerable", "considerably", "substantial", "substantially",
           "dramatic", "dramatically", "high accuracy", "very high", "exceptionally high", "extremely high",
           "high performance", "very low", "high", "low", "well", "very well", "good"), "nothing",
          "emphasis, which is not judged"),
    Entry(("because", "because of", "caused by", "causes", "due to", "owing to", "thanks to", "attention mechanism",
           "training data", "architecture", "breaking point"), "ill_posed", "a cause, which no results decide"),
    Entry(("should", "recommend", "recommended", "recommends", "must", "ought", "advisable"), "ill_posed",
          "advice, which no results decide"),
    Entry(("suggests", "suggest", "suggesting", "implies", "imply", "implying", "likely", "probably", "may", "might",
           "could", "potential", "potentially", "presumably", "limitation"), "ill_posed",
          "a conclusion, which no results decide"),
)  # fmt: skip

ROUNDED = "its ends are printed numbers: half a unit of the last digit to either side"
BARE = "its ends as written"
PRINTED = "every value that prints as this number"


def entries_by_word() -> Iterator[tuple[str, Entry]]:
    """Every word or phrase with its entry."""
    for entry in ENTRIES:
        for word in entry.words:
            yield word, entry


def decade(part: str, first: float) -> tuple[float, float]:
    """The values of "low 80s" and the like; `first` is 80."""
    low, high = DECADES[part]
    return first + low, first + high


def table() -> Iterator[tuple[str, str]]:
    """The rows of the published table: words, and how they are read."""
    yield "91-92, between 91 and 92", f"rounding [90.5, 92.5]: {ROUNDED}; bare [91, 92]: {BARE}"
    yield "92.7", f"{PRINTED}: [92.65, 92.75]"
    for part in ("low", "mid", "high", ""):
        low, high = decade(part, 80)
        yield f"{part} 80s".strip(), f"[{low:g}, {high:g}]"
    for entry in ENTRIES:
        yield ", ".join(entry.words), entry.read_as
