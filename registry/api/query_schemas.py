"""Schemas of the parameters of what is computed: statistics, thresholds, rankings, comparisons, sweet spots."""

from __future__ import annotations

from typing import Any

from marshmallow import Schema

from registry.api.fields import AsOf, Matching, Name
from registry.api.schemas import about, many_names
from registry.results.field_paths import FORM


def fields_wanted() -> Any:
    """The parameter that chooses fields of the answer."""
    return Matching(
        FORM,
        "is paths of fields with commas between them, as in series.at,series.slope",
        metadata=about(
            "Only these fields of the JSON: paths with dots, commas between them, as in `series.at,series.slope`. Lists"
            " are passed through; in a mapping the next name is a key, or `*`; a name with a dot stands in backquotes."
        ),
    )


class OfOthersParameters(Schema):
    """What narrows a selection beside its models, the same in every operation."""

    benchmark = many_names("Only these; all if not given.")
    variant = many_names("Only these; all if not given.")
    suite = Name(empty=True, load_default="", metadata=about("The benchmarks of this suite, in place of `benchmark`."))
    as_of = AsOf(metadata=about("The grids as they were then; a day: where it began in UTC."))


class OfNamesParameters(OfOthersParameters):
    """The names to which a selection is narrowed."""

    model = many_names("Only these; all if not given.")


class NarrowedParameters(OfNamesParameters):
    """A selection without its metric."""

    experiment = Name(required=True, metadata=about("The experiment that is asked about."))


class SelectedParameters(NarrowedParameters):
    """A selection."""

    metric = Name(required=True, metadata=about("The name of the metric."))


class SharedSlotsParameters(Schema):
    """Who is left out of a view in which a slot must be common to all."""

    set_aside = many_names(
        "Names to leave out where a slot must be common to all that are shown; `none`: nobody. If not given, or `auto`:"
        " those that lack more than a fifth of the slots that most have. The answer lists them with what they lack."
    )


GRID_ID = "[0-9A-Fa-f]{8}-([0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}"
