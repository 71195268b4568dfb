"""Shapes, written by hand, of grids, revisions, their cells and item outcomes, and of the feeds of a project."""

from registry.api.shapes.words import (
    AT,
    AT_ABOUT,
    COUNT,
    DESCRIPTION,
    DIGEST,
    FLAG,
    ID,
    INSTANT,
    LABELS,
    NULLABLE,
    NULLABLE_TEXT,
    NUMBER,
    STATE,
    TEXT,
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
from registry.renderings.rows import Field
from registry.renderings.statistics_columns import MEASURED, STANDING
from registry.settings import Settings

EXPERIMENT = described(TEXT, "What is ranked together.")
BENCHMARK = described(TEXT, "What was measured.")
MODEL = described(TEXT, "What it was measured on.")
VARIANT = described(TEXT, "The method or condition; empty where there is only one.")
NUMBER_OF_REVISION = described({"type": "integer", "minimum": 1}, "The number of the revision, from 1.")
CONTENT_DIGEST = described(DIGEST, "SHA-256 of the revision's content in its canonical form.")
GRID_ID = described(ID, "The grid's id.")
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


IDENTITY: dict[str, Shape] = {
    "grid": GRID_ID,
    "revision": NUMBER_OF_REVISION,
    "experiment": EXPERIMENT,
    "benchmark": BENCHMARK,
    "model": MODEL,
    "variant": VARIANT,
    "metric": described(TEXT, "The metric's name."),
    "unit": described(NULLABLE_TEXT, "The metric's unit; null where it has none."),
}
_FEED_ROW: dict[str, Shape] = {
    **IDENTITY,
    "value": described(NULLABLE, "The measured value, in the metric's unit; null only with `missing=explicit`."),
    "trials": described(NULLABLE, "The Bernoulli trials behind the value; null where they are not known."),
    "stderr": described(NULLABLE, "The standard error of the value; null where it is not known."),
    "ci_low": described(NULLABLE, "The lower end of the 95 % confidence interval; null where the noise is not known."),
    "ci_high": described(NULLABLE, "Its upper end."),
    "updated_at": described(INSTANT, "When the revision was published."),
    "protocol": described(NULLABLE_TEXT, "How it was measured: JSON text, keys sorted; null where nothing is said."),
}
AS_SENT: dict[str, Shape] = {
    f"{kind}_as_sent": described(TEXT, f"The {kind} as it was posted; absent with `names=sent`.")
    for kind in ("experiment", "benchmark", "model", "variant")
}
SLICE: dict[str, Shape] = {"slice": described(TEXT, "What the cells are cut to; absent where they are whole.")}
AXIS_COLUMN = {"description": "The columns of the axes.", "type": ["string", "number", "null"]}
_ROW_ABOUT = "A row of the feed; besides these columns a text and a number (`<axis>_num`) for each axis."
CELL: dict[str, Shape] = {
    "value": described(NUMBER, "The measured value, in the metric's unit."),
    "trials": may(described(COUNT, "The Bernoulli trials behind the value; left out where they are not known.")),
    "stderr": may(described(NUMBER, "The standard error of the value; left out where it is not known.")),
    "repeats": may(described(COUNT, "How many measurements the value is the mean of; left out where it is one.")),
    "sd": may(described(NUMBER, "The standard deviation of those measurements, with ddof 1.")),
}

CELLS: dict[str, Shape] = {
    "Cell": record("A measured cell.", at=AT, **CELL),
    "Measurement": record("What a cell holds.", **CELL),
    "FeedValue": record("A cell of a grid, and whose it is.", **_FEED_ROW),
    # Generators make an index signature of the columns, with which nothing beside it in the same object may disagree.
    "FeedCell": described(
        {
            "allOf": [
                ref("FeedValue"),
                object_of("", **AS_SENT, **SLICE),
                {"type": "object", "additionalProperties": AXIS_COLUMN},
            ]
        },
        _ROW_ABOUT,
    ),
    "Feed": record(
        "The cells of a project.", items=described(array_of(ref("FeedCell")), "A row a cell, the oldest grid first.")
    ),
    "GridCell": extended(
        "FeedValue",
        _ROW_ABOUT,
        {"description": AXIS_COLUMN["description"]},
        at=AT,
        repeats=may(described(NULLABLE, "How many measurements the value is the mean of; left out where it is one.")),
        sd=may(described(NULLABLE, "The standard deviation of those measurements, with ddof 1.")),
        slice=may(SLICE["slice"]),
    ),
    "Cells": record(
        "The cells of a grid.",
        grid=GRID_ID,
        revision=NUMBER_OF_REVISION,
        digest=CONTENT_DIGEST,
        items=described(array_of(ref("GridCell")), "A row a cell, in row-major order."),
    ),
}
_OUTCOMES = described(
    {"anyOf": [TEXT, array_of({"type": "number", "minimum": 0, "maximum": 1})]},
    "An outcome an item: bits in base64, the first item in the highest bit of the first byte, or scores from 0 to 1.",
)
_REPEATS = described({"type": "integer", "minimum": 1}, "How many trials each score is the mean of; 1 if not given.")

ITEMS: dict[str, Shape] = {
    "ItemCellIn": object_of("at outcomes", at=AT, outcomes=_OUTCOMES, repeats=_REPEATS | {"type": ["integer", "null"]})
    | {"additionalProperties": False, "description": "Outcomes of the items in one cell."},
    "Items": record(
        "The outcomes of items behind the cells of a grid.",
        grid=GRID_ID,
        revision=NUMBER_OF_REVISION,
        sets=described(array_of(ref("ItemSet")), "The item sets, by digest."),
        cells=described(array_of(ref("ItemCell")), "The cells that have outcomes, in row-major order."),
        flips=may(described(array_of(ref("ItemFlips")), "With `against`, of each cell that both have of one set.")),
        life=may(described(array_of(ref("ItemLife")), "With `life`, of each cell and set that a model has.")),
    ),
    "ItemFlips": record(
        "The items of a cell that came out otherwise than in another grid: ids, or positions from 0 without ids.",
        at=AT,
        set=described(DIGEST, "The digest of the item set."),
        gained=described(array_of(TEXT), "1 here and 0 there; of scores, those that are higher."),
        lost=described(array_of(TEXT), "0 here and 1 there; of scores, those that are lower."),
        both=may(described(COUNT, "Items with 1 in both; this and the following only of outcomes that are 0 or 1.")),
        neither=may(described(COUNT, "Items with 0 in both.")),
        agreement=may(described(NUMBER, "The share of items with the same outcome.")),
        kappa=may(
            described(NULLABLE, "Cohen's kappa: the agreement beyond chance; null where one side says the same of all.")
        ),
        kappa_stderr=may(described(NULLABLE, "Its standard error (Fleiss, Cohen and Everitt 1969).")),
        needed=may(
            described(
                {"type": ["integer", "null"]},
                "Items that must differ for McNemar's exact test to find at 0.05, with 80 %, a share of gains such"
                " as this (of more than 500 as Connor 1987); null where as many were lost.",
            )
        ),
    ),
    "ItemLife": record(
        "What the items of a cell say of the grids that have outcomes of them, a model or variant each: ids or places.",
        at=AT,
        set=described(DIGEST, "The digest of the item set."),
        grids=described(COUNT, "How many grids: of few, an item that none solves says little."),
        dead=described(array_of(TEXT), "Items that none solves, not once in its repeats."),
        saturated=described(array_of(TEXT), "Items that each always solves."),
        deciding=described(array_of(TEXT), "Items that did not come out alike: they alone tell grids apart."),
        solved_at_most=described(
            NUMBER, "The share of such models that may solve a dead item even so, 95 % confidence: 1 - 0.05^(1/grids)."
        ),
    ),
    "ItemSet": record(
        "A set of items.",
        name=described(TEXT, "What the items are called."),
        digest=described(DIGEST, "What tells these items from others."),
        count=described(COUNT, "How many items there are."),
        cells=described(COUNT, "How many cells have outcomes of them."),
        ids=may(described(array_of(TEXT), "The id of each item; with `outcomes=true`, where they were given.")),
    ),
    "ItemCell": record(
        "A cell and the outcomes of its items; `outcomes` are there with `outcomes=true`.",
        at=AT,
        set=described(DIGEST, "The digest of its item set."),
        mean=described(NUMBER, "The mean of its outcomes, from 0 to 1."),
        stderr=described(
            NULLABLE, "The standard error of the mean by its outcomes, clustered where there are clusters."
        ),
        repeats=_REPEATS,
        pass_at_k=may(
            described(NUMBER, "With `k`: the chance that at least one of k tries of an item succeeds, pass@k.")
        ),
        pass_hat_k=may(described(NUMBER, "With `k`: the chance that all k tries of an item succeed, pass^k.")),
        outcomes=may(_OUTCOMES),
    ),
}
_TYPES: dict[str, Shape] = {"instant": INSTANT, "number": NULLABLE, "whole": {"type": ["integer", "null"]}}


def _shape(field: Field) -> Shape:
    text = NULLABLE_TEXT if field.nullable else TEXT
    return described(_TYPES.get(field.kind, text), field.about)


def _row(statistic: str) -> Shape:
    own = {field.name: _shape(field) for field in MEASURED[statistic]}
    about = "A row of the feed" + (
        "." if statistic == "coverage" else "; besides these columns a text and a number (`<axis>_num`) for each axis."
    )
    return extended("FeedNames", about, None if statistic == "coverage" else AXIS_COLUMN, **own)


_STANDING = {field.name: _shape(field) for field in STANDING}
STATISTICS_FEEDS: dict[str, Shape] = {
    "FeedNames": record(
        "Whose statistic a row is.", **IDENTITY, **_STANDING, **{name: may(one) for name, one in AS_SENT.items()}
    ),
    **{f"{statistic.capitalize()}Row": _row(statistic) for statistic in MEASURED},
    **{
        f"{statistic.capitalize()}Feed": record(
            f"The {statistic} of the grids of a project.",
            items=described(array_of(ref(f"{statistic.capitalize()}Row")), "The rows, the oldest grid first."),
        )
        for statistic in MEASURED
    },
}
