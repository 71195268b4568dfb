"""A verdict, and the phrases that all verdicts share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from registry.grids.slices import slice_of, slice_text
from registry.renderings.words import isolated
from registry.results.terms import SliceDocument

Answer = Literal["shown", "absent", "open", "none"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """One sentence, which kind of answer it is, and sentences that locate or weaken it.

    shown: the tests show it. absent: it is shown to lie within the margin of equivalence. open: neither. none: the
    question has no answer, and the sentence says why.
    """

    answer: Answer
    sentence: str
    more: tuple[str, ...] = ()
    only_here: bool = False
    """Whether what is shown of these cells was not shown of other questions and benchmarks."""


def common_cells(count: int, total: int, of: str = "") -> str:
    """The cells that two results share: `on the 32 of 80 cells of 4 benchmarks that both have`."""
    about = f" of {of}" if of else ""
    if total == 1:
        return f"in the one cell{about} that both have"
    whole = f"{count:,} cells" if count == total else f"{count:,} of {total:,} cells"
    return f"on the {whole}{about} that both have"


def slice_words(document: SliceDocument, suite: str | None = None) -> str:
    """The suite and the slice in a sentence: ` in the suite reasoning at Context at least 64000`; empty for all."""
    of = f" in the suite {isolated(suite)}" if suite else ""
    return f"{of} at {isolated(slice_text(slice_of(document)))}" if document else of


def joined(names: Sequence[str], most: int = 4) -> str:
    """Names in a sentence, of many the first ones: `a, b and 3 more`."""
    shown = [isolated(name) for name in names[:most]]
    rest = len(names) - len(shown)
    last = f"{rest:,} more" if rest else shown.pop() if shown else ""
    return f"{', '.join(shown)} and {last}" if shown else last


def sentence(text: str) -> str:
    """The text with a full stop; a name at its start keeps its letters."""
    return f"{text.rstrip('.')}."
