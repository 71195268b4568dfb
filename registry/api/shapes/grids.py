"""Shapes of grids and revisions, as they are sent and as they are stored."""

from __future__ import annotations

from registry.api.shapes.words import (
    AT,
    AT_ABOUT,
    BENCHMARK,
    CONTENT_DIGEST,
    COUNT,
    DESCRIPTION,
    EXPERIMENT,
    FLAG,
    GRID_ID,
    INSTANT,
    LABELS,
    MODEL,
    NULLABLE,
    NULLABLE_TEXT,
    NUMBER,
    NUMBER_OF_REVISION,
    STATE,
    TEXT,
    VARIANT,
    Shape,
    array_of,
    described,
    extended,
    map_of,
    may,
    nullable,
    object_of,
    one_of,
    page,
    page_with_warnings,
    record,
    ref,
)
from registry.grids.intake.levels import MAX_AXES
from registry.settings import Settings

_LABELS = described(LABELS, "Provenance as it was sent, such as a commit: texts by name.")
_SOURCE = ref("Source")
_GRID = {
    "id": GRID_ID,
    "project": described(TEXT, "The slug of its project."),
    "experiment": EXPERIMENT,
    "benchmark": BENCHMARK,
    "model": MODEL,
    "variant": VARIANT,
    "metric": ref("Metric"),
    "axes": described(array_of(ref("Axis")), "Zero to four axes; `values` are nested in their order."),
    "shape": described(array_of(COUNT), "How many levels each axis has."),
    "cell_count": described(COUNT, "How many cells were measured."),
    "revision": NUMBER_OF_REVISION,
    "digest": CONTENT_DIGEST,
    "derivation": ref("Derivation"),
    "labels": _LABELS,
    "description": DESCRIPTION,
    "created_at": described(INSTANT, "When the grid was first published."),
    "updated_at": described(INSTANT, "When this revision was published, or the grid amended."),
    "warnings": described(array_of(ref("Warning")), "Doubts about the content, of whoever sent it and the registry's."),
}
_MEMBERS: dict[str, Shape] = {
    "html_url": described(TEXT, "The grid's page for people; absent of a deleted grid and in a dry run."),
    "deleted_at": described(INSTANT, "When it was deleted; absent otherwise."),
    "source": _SOURCE,
    "questions": described(COUNT, "What the trials of each cell are about; where it was given."),
    "design_effect": described(NUMBER, "A cell's variance over that of independent trials; where it was given."),
    "derived": {
        "anyOf": [{"type": "boolean"}, array_of(TEXT)],
        "description": "Made of other grids: true, or the names of what it is made of; where it was declared.",
    },
    "protocol": ref("Protocol"),
}
_NESTED = "Nested to the depth of the axes"
_CARRIED: dict[str, Shape] = {
    "trials": described(
        ref("Nested"), f"Bernoulli trials behind the values: one number for all, or {_NESTED.lower()}."
    ),
    "stderr": described(ref("Nested"), f"Standard errors of the values: one number for all, or {_NESTED.lower()}."),
    "repeats": described(ref("Nested"), f"How many measurements each value is the mean of. {_NESTED}."),
    "sd": described(ref("Nested"), f"Standard deviations of those measurements, with ddof 1. {_NESTED}."),
}
_MISSING = one_of("failed", "not_applicable", "pending")

GRIDS: dict[str, Shape] = {
    "Nested": {
        "description": "A number, or lists of numbers nested to the depth of the axes; null where nobody measured.",
        "anyOf": [NUMBER, {"type": "null"}, *(ref(f"Nested{depth}") for depth in range(1, MAX_AXES + 1))],
    },
    **{
        f"Nested{depth}": described(array_of(ref(f"Nested{depth - 1}")), f"The numbers along {depth} axes.")
        for depth in range(2, MAX_AXES + 1)
    },
    "Nested1": described(array_of(NULLABLE), "The numbers along one axis; null where nobody measured."),
    "Coordinate": map_of(ref("Level")) | {"description": AT_ABOUT},
    "CellIn": object_of(
        "at value",
        at=AT,
        value=described(NULLABLE, "The measured value, in the metric's unit; null: not measured."),
        trials=described({"type": ["integer", "null"], "minimum": 1}, "The Bernoulli trials behind the value."),
        stderr=described({"type": ["number", "null"], "minimum": 0}, "The standard error of the value."),
        reason=described(nullable(_MISSING), "Why a null value is missing."),
    )
    | {"additionalProperties": False, "description": "A cell to publish."},
    "ReasonIn": object_of("at reason", at=AT, reason=described(_MISSING, "Why it is missing."))
    | {"additionalProperties": False, "description": "A cell that is missing, and why."},
    "WarningIn": object_of(
        "code detail",
        code=described(
            {"type": "string", "pattern": "^[a-z][a-z0-9_]{0,63}$"}, "What kind of doubt it is: a word of your own."
        ),
        detail=described({"type": "string", "maxLength": 1000}, "The doubt, in a sentence."),
        pointer=described({"type": ["string", "null"], "maxLength": 1000}, "The place that it is about."),
    )
    | {"additionalProperties": False, "description": "A doubt of whoever read the values from something else."},
    "Metric": record(
        "What the values of a grid are.",
        name=described(TEXT, "The metric's name."),
        unit=described(NULLABLE_TEXT, "What its values are in; null where it has no unit."),
        direction=described(nullable(one_of("higher", "lower")), "Which end is better; null: neither."),
        lower=described(NULLABLE, "The smallest value that is possible; null: none is."),
        upper=described(NULLABLE, "The largest value that is possible; null: none is."),
    ),
    "Axis": record(
        "A dimension of a grid.",
        name=described(TEXT, "The axis's name, unique in its grid."),
        kind=described(one_of("numeric", "ordinal", "nominal"), "Numbers, names in an order, or names without one."),
        unit=described(NULLABLE_TEXT, "What its numbers are in; null where it has no unit."),
        scale=described(one_of("linear", "log"), "How distances on a numeric axis are measured."),
        levels=described(array_of(ref("Level")), "Its levels, in order."),
    ),
    "Source": record(
        "The file that a revision was read from; where it was said.",
        format=may(described(TEXT, "What the file was read as, such as `lm-eval`; where it is known.")),
        name=may(described(TEXT, "The file's name, or its address; where it has one.")),
        sha256=may(described(TEXT, "SHA-256 of the file's bytes, in hexadecimal digits; where it is known.")),
    ),
    "Protocol": map_of({"anyOf": [TEXT, NUMBER, FLAG]})
    | {"description": "How the values were measured, by keys in lower case; where it was said."},
    "Derivation": record(
        "What is computed of this, and where.",
        state=described(STATE, "How the computation stands."),
        href=may(described(TEXT, "Where the answer will be. None: POST again.")),
        reason=may(described(NULLABLE_TEXT, "Why it failed; where it did.")),
        progress=may(described(NUMBER, "How much is done, 0 to 1; where it is known.")),
    ),
    "GridSummary": record("A grid without its values.", **_GRID, **{name: may(one) for name, one in _MEMBERS.items()}),
    "Grid": extended(
        "GridSummary",
        "A grid with its values.",
        values=described(ref("Nested"), f"The values, in the metric's unit. {_NESTED}; null where nobody measured."),
        **{name: may(one) for name, one in _CARRIED.items()},
        reasons=may(described(array_of(ref("Reason")), "Why cells are missing, where it was said.")),
        slice=may(described(map_of(array_of(TEXT)), "The slice that it is cut to, as it was asked for; else absent.")),
    ),
    "Reason": record(
        "A cell that is missing, and why.", at=AT, reason=described(TEXT, "failed, not_applicable or pending.")
    ),
    "Grids": page_with_warnings("GridSummary", "A page of grids."),
    "BatchAnswer": record(
        "What became of the grids of a batch.",
        failed=described(COUNT, "How many of the items are problems; 0 when all was stored."),
        items=described(array_of(ref("BatchItem")), "An answer for each grid, in the order of the request."),
    ),
    "BatchItem": record(
        "What became of one grid of a batch: `grid` if it was stored, else `problem`.",
        index=described(COUNT, "The grid's place in the request, from 0."),
        status=described(COUNT, "The status that the grid alone would have been answered with."),
        grid=may(ref("GridSummary")),
        problem=may(ref("Problem")),
    ),
    "Revision": record(
        "A revision of a grid; its content never changes.",
        revision=NUMBER_OF_REVISION,
        digest=CONTENT_DIGEST,
        cell_count=described(COUNT, "How many cells were measured."),
        labels=_LABELS,
        source=may(_SOURCE),
        derivation=object_of("state", state=described(STATE, "How its statistics stand."))
        | {"description": "What is computed of this revision."},
        created_at=described(INSTANT, "When it was published."),
    ),
    "Revisions": page("Revision", "A page of revisions."),
    "ChangedCell": record(
        "A cell that two revisions have with other content.",
        at=AT,
        **{"from": ref("Measurement"), "to": ref("Measurement")},
    ),
    "Difference": record(
        "What is not the same in two revisions of a grid.",
        **{"from": described(COUNT, "The revision before."), "to": described(COUNT, "The revision after.")},
        added=described(array_of(ref("Cell")), "Cells that only the revision after has."),
        removed=described(array_of(ref("Cell")), "Cells that only the revision before has."),
        changed=described(array_of(ref("ChangedCell")), "Cells that both have, with other content."),
        metric_changed=described(FLAG, "Whether the metric is another."),
        axes_changed=described(FLAG, "Whether the axes or their levels are others."),
        labels_changed=described(FLAG, "Whether the labels are others."),
        questions_changed=described(FLAG, "Whether `questions` is another."),
        design_effect_changed=described(FLAG, "Whether `design_effect` is another."),
        derived_changed=described(FLAG, "Whether `derived` is another."),
        protocol_changed=described(FLAG, "Whether `protocol` is another."),
    ),
}


def limited(settings: Settings) -> dict[str, Shape]:
    """The shapes that say a limit of these settings."""
    label = {"type": "string", "minLength": 1, "maxLength": settings.max_name}
    named = object_of(
        "label",
        label=described(label, "The level's name."),
        number=described(NULLABLE, "The number that it stands for; null: none."),
    )
    return {
        "Level": {
            "description": "A label, a number, or both: 32b means 32000000000.",
            "anyOf": [label, NUMBER, named | {"additionalProperties": False}],
        },
        "BatchIn": array_of(ref("GridIn"))
        | {
            "minItems": 1,
            "maxItems": settings.max_batch,
            "description": "The grids to publish; one that is at fault gets a problem and hinders no other.",
        },
    }
