"""The grids that an answer is made from, those that were left aside, and doubts about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from registry.results.terms import Count, Identifier, Presence


@dataclass(frozen=True, slots=True)
class Input:
    """A grid that an answer is made from."""

    grid: Annotated[Identifier, "The grid's id."]
    revision: Annotated[Count, "The revision that was read."]
    benchmark: Annotated[str | None, "Its benchmark.", Presence.OMITTED] = None
    model: Annotated[str | None, "Its model.", Presence.OMITTED] = None
    variant: Annotated[str | None, "Its variant.", Presence.OMITTED] = None


@dataclass(frozen=True, slots=True)
class DerivedGrid:
    """A grid that was declared to be made of others."""

    grid: Annotated[Identifier, "The grid's id."]
    benchmark: Annotated[str, "Its benchmark."]
    model: Annotated[str, "Its model."]


@dataclass(frozen=True, slots=True)
class Warning:
    """A doubt about what was stored all the same."""

    code: Annotated[
        str,
        "What kind of doubt it is; more kinds may come. level_added: an amendment brought a level that its axis did "
        "not have. level_number_read: a label was read as a number. rounded: a whole number above 2^53 that no double "
        "is. near_duplicate: a name is one edit from a known one. off_lattice: a value is no whole count out of its "
        "trials. stderr_zero: the standard error 0 of a proportion strictly between its bounds was left out. "
        "looks_derived: a name is that of an average or a total. repeats_read: a coordinate came several "
        "times, in cells or rows, and the cell is their mean; or a table brings repeats and sd. Of tables: left_out: "
        "columns that the registry computes. text_left_out: text around the table. kind_read: levels were read as "
        "numbers. identity_read: a title was read as names. protocol_differs, protocol_unknown: how it was measured.",
    ]
    detail: Annotated[str, "The doubt, in a sentence."]
    pointer: Annotated[str | None, "The place that it is about, where there is one.", Presence.OMITTED] = None
