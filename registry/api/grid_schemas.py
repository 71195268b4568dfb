"""Schemas of publications, which `publication.py` reads: a grid as JSON, cells for one, what goes with a table."""

from typing import Any

from marshmallow import Schema, fields, post_load

from registry.api.fields import Axes, Body, Choice, Matching, Name, Number, Quantity, Whole
from registry.api.grid_fields import (
    Block,
    Cells,
    Derived,
    Labels,
    Levels,
    Line,
    Markdown,
    Protocol,
    ProtocolTexts,
    Reasons,
    Recurring,
    Warnings,
)
from registry.api.schemas import about
from registry.grids.intake.members import MOST_DESIGN_EFFECT, MOST_QUESTIONS

READ_ONLY = (
    "html_url",
    "id", "project", "shape", "cell_count", "revision", "digest", "derivation", "created_at", "updated_at",
)  # fmt: skip
"""Fields that the registry itself adds to a grid: a grid that was read may be sent back with them, and they
are ignored."""


class MetricIn(Body):
    """Metric of the values of a grid."""

    error_messages = {"type": 'must be an object such as {"name": "accuracy"}'}  # noqa: RUF012 (marshmallow's)

    name = Name(required=True, metadata=about("The metric's name.", "accuracy"))
    unit = Name(
        load_default=None,
        allow_none=True,
        empty=True,
        metadata=about("What its values are in, such as % or s; null: no unit."),
    )
    direction = Choice(
        "higher", "lower", load_default=None, allow_none=True, metadata=about("Which end is better; null: neither.")
    )
    lower = Number(
        load_default=None, allow_none=True, metadata=about("The smallest value that is possible; null: none is.")
    )
    upper = Number(
        load_default=None, allow_none=True, metadata=about("The largest value that is possible; null: none is.")
    )


class AxisIn(Body):
    """A dimension of a grid."""

    error_messages = {"type": 'must be an object such as {"name": "Length", "levels": [1, 2]}'}  # noqa: RUF012

    name = Name(required=True, metadata=about("The axis's name, unique in its grid.", "Length"))
    kind = Choice(
        "numeric",
        "ordinal",
        "nominal",
        metadata=about("numeric when not given and every level is a number, else nominal."),
    )
    unit = Name(
        load_default=None, allow_none=True, empty=True, metadata=about("What its numbers are in; null: no unit.")
    )
    scale = Choice(
        "linear",
        "log",
        load_default="linear",
        metadata=about("How distances on a numeric axis are measured: `linear` if not given, or `log`."),
    )
    levels = Levels(load_default=list, metadata=about("In order; those of a numeric axis in any order."))


_QUESTIONS = (
    "With trials: the questions that the trials of a cell are about, so that trials = questions × samples; not above"
    " the trials of any cell."
)
_DESIGN_EFFECT = (
    "With trials: a cell's variance as a multiple of what independent trials would have (Kish). 1 says that they are."
)
_DERIVED = (
    "Made of other grids: true, or the names of what it is made of. Shown, but neither ranked, counted nor averaged."
)

_PROTOCOL = (
    "How the values were measured (harness, version, dataset revision, shots …): up to 32 keys with a text, a number or"
    " a boolean each. Part of the content. Keys are compared in lower case and in Unicode's form NFC."
)
_REPEATS = (
    "A coordinate given several times is repeats: the cell's value is their mean, with repeats and their sd kept."
)
_WARNINGS = (
    "Doubts of whoever read the values from something else: they are kept with the revision, before the registry's own."
)
MOST_IN_FORMAT, MOST_IN_FILE_NAME = 64, 1_024


class SourceIn(Body):
    """The file that a grid was read from."""

    error_messages = {"type": 'must be an object such as {"format": "csv", "name": "results.csv"}'}  # noqa: RUF012

    format = Line(MOST_IN_FORMAT, metadata=about("What the file was read as.", "lm-eval"))
    name = Line(MOST_IN_FILE_NAME, metadata=about("The file's name, or its address.", "results.json"))
    sha256 = Matching(
        "[0-9a-fA-F]{64}",
        "is the SHA-256 of the file's bytes: 64 hexadecimal digits",
        metadata=about("SHA-256 of the file's bytes, in hexadecimal digits."),
    )

    @post_load
    def lower(self, data: dict[str, str], **_options: Any) -> dict[str, str]:
        return data | {"sha256": data["sha256"].lower()} if "sha256" in data else data


_SOURCE = (
    "Where the values came from. It is stored with the revision and is no part of its content: the same content from"
    " another source makes no revision, and leaves the source that is stored."
)
_NOTES = (
    "Markdown, for people. It belongs to the grid, not to a revision: another one takes its place without making a"
    " revision, an empty one removes it, and a publication without one leaves it."
)


class GridIn(Body):
    """A grid to publish. Give `values`, nested to the depth of the axes, or `cells`, one object a cell; not both."""

    error_messages = {"type": "a grid is an object"}  # noqa: RUF012

    experiment = Name(required=True, metadata=about("What is ranked together.", "type-by-length"))
    benchmark = Name(required=True, metadata=about("What was measured."))
    model = Name(required=True, metadata=about("What it was measured on."))
    variant = Name(load_default="", empty=True, metadata=about("Method or condition; empty if not given."))
    metric = Recurring(MetricIn, required=True, metadata=about("What the values are."))
    axes = Axes(Recurring(AxisIn), load_default=list, metadata=about("Zero to four."))
    values = Block(allow_none=True, metadata=about("Nested to the depth of the axes; null where nobody measured."))
    cells = Cells(metadata=about(f"Instead of values: tidy. Levels that were not declared are added. {_REPEATS}"))
    trials = Block(allow_none=True, metadata=about("The Bernoulli trials behind each value: one number, or nested."))
    stderr = Block(allow_none=True, metadata=about("The standard error of each value: one number, or nested."))
    repeats = Block(
        allow_none=True, metadata=about("Beside values, with sd: how many measurements each is the mean of.")
    )
    sd = Block(allow_none=True, metadata=about("Beside values, with repeats: the standard deviation of those."))
    reasons = Reasons(allow_none=True, metadata=about("Beside values: why cells that nobody measured are missing."))
    questions = Whole(1, MOST_QUESTIONS, allow_none=True, metadata=about(_QUESTIONS))
    design_effect = Number(least=1, most=MOST_DESIGN_EFFECT, allow_none=True, metadata=about(_DESIGN_EFFECT))
    derived = Derived(allow_none=True, metadata=about(_DERIVED))
    protocol = Protocol(allow_none=True, metadata=about(_PROTOCOL))
    labels = Labels(load_default=dict, metadata=about("Provenance, such as a commit."))
    warnings = Warnings(metadata=about(_WARNINGS))
    source = fields.Nested(SourceIn, allow_none=True, metadata=about(_SOURCE))
    description = Markdown(allow_none=True, metadata=about(_NOTES))


class CellsIn(Body):
    """Cells to add to a grid, or to put in the place of those that it has."""

    cells = Cells(required=True, least=1, metadata=about(f"At least one. {_REPEATS}"))


class AmendParameters(Schema):
    levels = Choice(
        "growing",
        "fixed",
        load_default="growing",
        metadata=about("`fixed`: a level that an axis does not have is a fault, not a new level."),
    )


def _axis_names(text: str) -> Any:
    return fields.List(Name(), metadata=about(text))


class PublishParameters(Schema):
    """All but `dry_run` go with a table; the view adds nothing to them, and JSON says them in its body."""

    dry_run = fields.Boolean(load_default=False, metadata=about("Answer what would be stored, and store nothing."))
    experiment = Name(metadata=about("Of a table: its experiment, if no column says it."))
    benchmark = Name(metadata=about("Of a table: its benchmark."))
    model = Name(metadata=about("Of a table: its model."))
    variant = Name(empty=True, metadata=about("Of a table: its variant."))
    metric = Name(metadata=about("Of a table: the metric's name; a column of this name holds the values."))
    unit = Name(empty=True, metadata=about("Of a table: the metric's unit."))
    direction = Choice("higher", "lower", metadata=about("Of a table: which end is better; neither if not given."))
    lower = Quantity(metadata=about("Of a table: the smallest value that is possible."))
    upper = Quantity(metadata=about("Of a table: the largest value that is possible."))
    trials = Whole(1, 2**53, text=True, metadata=about("Of a table: the Bernoulli trials behind each value."))
    questions = Whole(1, MOST_QUESTIONS, text=True, metadata=about("Of a table: what the trials are about."))
    design_effect = Quantity(
        least=1,
        most=MOST_DESIGN_EFFECT,
        metadata=about("Of a table: a cell's variance over that of independent trials."),
    )
    derived = fields.Boolean(metadata=about("Of a table: its values are made of other grids."))
    protocol = ProtocolTexts(
        metadata=about('Of a table: a key and a value of its protocol, `shots=5`; may be repeated. `"5"` is a text.')
    )
    source_name = Line(MOST_IN_FILE_NAME, metadata=about("Of a table: the name of its file, or its address."))
    rows = Name(metadata=about("Of a pivot: the axis down the first column; its heading if not given."))
    columns = Name(
        metadata=about("Of a pivot: the axis across the heading; words that all headings share if not given.")
    )
    numeric = _axis_names("Of a table: an axis of numbers; may be repeated.")
    ordinal = _axis_names("Of a table: an axis of names in an order; may be repeated.")
    nominal = _axis_names("Of a table: an axis of names, also if they look like numbers; may be repeated.")
