"""Assumptions of the tests of an answer, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from registry.renderings.words import said

_SENTENCES = {
    "independent_trials": "the trials of a cell are taken as independent; publish design_effect if they are not",
    "design_effect_of_repeats": (
        "repeats vary by more than their trials explain: errors of trials are larger by as much as the repeats show"
    ),
    "independent_levels": (
        "the scatter about a course is taken as independent from level to level; a curve that drifts slowly, as over "
        "the steps of one run, looks like a trend then"
    ),
    "independent_items": "the items are taken as independent draws of one kind; questions about one text are not",
    "exchangeable_cells": "the cells are taken as exchangeable draws; their own noise is unknown or not used",
    "p(1-p)/questions": "questions are taken as all or nothing, p(1-p)/questions: the most that counts leave possible",
}


def assumptions(assumes: Sequence[str], design_effect: float | None = None) -> Iterator[str]:
    """One line for each assumption that a document names, and the design effect that it was given."""
    for word in assumes:
        yield f"assumed: {_SENTENCES.get(word, said(word))}"
    if design_effect is not None:
        yield f"design effect {design_effect:g}, as published: every binomial variance is multiplied by it"
