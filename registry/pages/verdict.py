"""Verdicts as the pages show them: the first sentence of a page, and its description where a link to it is shown."""

from __future__ import annotations

from dataclasses import dataclass

from registry.pages.blocks import typeset
from registry.renderings.verdicts.terms import Answer, Verdict

_LABELS: dict[Answer, str] = {
    "shown": "shown",
    "absent": "shown to be equal",
    "open": "left open",
    "none": "no answer",
}


@dataclass(frozen=True, slots=True)
class ShownVerdict:
    """A verdict with its label, typeset; `about` says what it answers where a page has several."""

    answer: Answer
    label: str
    sentence: str
    more: tuple[str, ...]
    about: str = ""


def shown(verdict: Verdict, about: str = "") -> ShownVerdict:
    """The verdict as a template takes it."""
    more = tuple(map(typeset, verdict.more))
    label = "shown for these cells" if verdict.only_here else _LABELS[verdict.answer]
    return ShownVerdict("open" if verdict.only_here else verdict.answer, label, typeset(verdict.sentence), more, about)
