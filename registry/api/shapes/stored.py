"""The shapes of what is stored: projects, tokens, grids, revisions, names."""

from __future__ import annotations

from registry.api.shapes.words import (
    ANY,
    AT,
    AT_ABOUT,
    COUNT,
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
    nullable,
    object_of,
    one_of,
    page,
    ref,
)
from registry.grids.intake.levels import MAX_AXES
from registry.settings import Settings

_EXPERIMENT = described(TEXT, "The protocol that makes grids comparable.")
_BENCHMARK = described(TEXT, "What was measured.")
_MODEL = described(TEXT, "What it was measured on.")
_VARIANT = described(TEXT, "The method or condition; empty where there is only one.")
_NUMBER_OF_REVISION = described({"type": "integer", "minimum": 1}, "The number of the revision, from 1.")
_DIGEST = described(DIGEST, "SHA-256 of the revision's content in its canonical form.")
_LABELS = described(LABELS, "Provenance as it was sent, such as a commit: texts by name.")
_GRID_ID = described(ID, "The grid's id.")
_MADE = described(INSTANT, "When it was made.")

_GRID = {
    "id": _GRID_ID,
    "project": described(TEXT, "The slug of its project."),
    "experiment": _EXPERIMENT,
    "benchmark": _BENCHMARK,
    "model": _MODEL,
    "variant": _VARIANT,
    "metric": ref("Metric"),
    "axes": described(array_of(ref("Axis")), "Zero to four axes; `values` are nested in their order."),
    "shape": described(array_of(COUNT), "How many levels each axis has."),
    "cell_count": described(COUNT, "How many cells were measured."),
    "revision": _NUMBER_OF_REVISION,
    "digest": _DIGEST,
    "derivation": ref("Derivation"),
    "labels": _LABELS,
    "created_at": described(INSTANT, "When the grid was first published."),
    "updated_at": described(INSTANT, "When this revision was published, or the grid amended."),
    "warnings": described(array_of(ref("Warning")), "Doubts about the content, of whoever sent it and the registry's."),
}
_GRID_FIELDS = " ".join(_GRID)
_MEMBERS: dict[str, Shape] = {
    "html_url": described(TEXT, "The grid's page for people, in answers to who published it."),
    "questions": described(COUNT, "What the trials of each cell are about; where it was given."),
    "design_effect": described(NUMBER, "A cell's variance over that of independent trials; where it was given."),
    "derived": {
        "anyOf": [{"type": "boolean"}, array_of(TEXT)],
        "description": "Made of other grids: true, or the names of what it is made of; where it was declared.",
    },
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

_SHARE = {
    "id": described(ID, "The share's id, by which it is revoked."),
    "path": described(TEXT, "What the link opens, with its forms and what is below."),
    "created_at": _MADE,
    "expires_at": described(INSTANT, "From when on the link opens nothing."),
}
_FEED_ROW: dict[str, Shape] = {
    "grid": _GRID_ID,
    "revision": _NUMBER_OF_REVISION,
    "experiment": _EXPERIMENT,
    "benchmark": _BENCHMARK,
    "model": _MODEL,
    "variant": _VARIANT,
    "metric": described(TEXT, "The metric's name."),
    "unit": described(NULLABLE_TEXT, "The metric's unit; null where it has none."),
    "value": described(NULLABLE, "The measured value, in the metric's unit; null only with `missing=explicit`."),
    "trials": described(NULLABLE, "The Bernoulli trials behind the value; null where they are not known."),
    "stderr": described(NULLABLE, "The standard error of the value; null where it is not known."),
    "ci_low": described(NULLABLE, "The lower end of the 95 % confidence interval; null where the noise is not known."),
    "ci_high": described(NULLABLE, "Its upper end."),
    "updated_at": described(INSTANT, "When the revision was published."),
}
_AXIS_COLUMN = {"description": "The columns of the axes.", "type": ["string", "number", "null"]}
_ROW_ABOUT = "A row of the feed; besides these columns a text and a number (`<axis>_num`) for each axis."

_MISSING = one_of("failed", "not_applicable", "pending")
_CELL: dict[str, Shape] = {
    "value": described(NUMBER, "The measured value, in the metric's unit."),
    "trials": described(COUNT, "The Bernoulli trials behind the value; left out where they are not known."),
    "stderr": described(NUMBER, "The standard error of the value; left out where it is not known."),
    "repeats": described(COUNT, "How many measurements the value is the mean of; left out where it is one."),
    "sd": described(NUMBER, "The standard deviation of those measurements, with ddof 1."),
}
_TOKEN: dict[str, Shape] = {
    "id": described(ID, "The token's id, by which it is revoked."),
    "name": described(TEXT, "What uses the token."),
    "role": described(one_of("reader", "writer", "admin"), "What it may do; each may do what those before it may."),
    "created_at": _MADE,
    "expires_at": described(INSTANT, "From when on it is refused."),
    "last_used_at": described(nullable(INSTANT), "When it was last used, to the minute; null: never."),
}
_QUERY: dict[str, Shape] = {
    "kind": described(one_of("ranking", "sweet_spot", "statistics", "thresholds", "comparison"), "What is asked for."),
    "grid": described(ID, "The grid that is asked about."),
    "revision": _NUMBER_OF_REVISION,
    "experiment": described(TEXT, "Of this experiment; empty where one grid or two are asked about."),
    "metric": described(TEXT, "By the metric of this name; empty where one grid or two are asked about."),
    "benchmark": described(array_of(TEXT), "Only these benchmarks; empty: all."),
    "model": described(array_of(TEXT), "Only these models; empty: all."),
    "variant": described(array_of(TEXT), "Only these variants; empty: all."),
    "by": described(TEXT, "What is ranked: `model`, `variant` or `axis:<name>`."),
    "method": described(TEXT, "The method of the ranking."),
    "missing": described(TEXT, "What the ranking makes of missing slots."),
    "target": described(TEXT, "What the ranking is to hold for."),
    "alpha": described(NUMBER, "The level of the tests."),
    "sharp_change": described(NUMBER, "The size from which a step may be called sharp, in the metric's unit."),
    "equivalence": described(NUMBER, "The margin within which a series may be called flat, in the metric's unit."),
    "along": described(TEXT, "Only the series along this axis; empty: all."),
    "thresholds": described(array_of(NUMBER), "The levels that series may cross, in the metric's unit."),
    "baseline": described(ID, "The grid that is subtracted."),
    "baseline_revision": described(COUNT, "Its revision."),
    "contender": described(ID, "The grid that it is subtracted from."),
    "contender_revision": described(COUNT, "Its revision."),
}
_TOKEN_FIELDS = " ".join(_TOKEN)

STORED: dict[str, Shape] = {
    "Problem": object_of(
        "type title status detail instance",
        type=described(TEXT, "The kind of problem: a link to its meaning, which ends in its code."),
        title=described(TEXT, "The kind of problem in words; the same for all of a kind."),
        status=described({"type": "integer"}, "The status of the answer."),
        detail=described(TEXT, "What went wrong this time, for people."),
        instance=described(TEXT, "The request's id, as `urn:uuid:…`; the log has it too."),
        errors=described(array_of(ref("Fault")), "The places that are at fault, at most a hundred; with 422."),
    )
    | {"description": "An error (RFC 9457)."},
    "Fault": described(
        object_of(
            "pointer detail",
            pointer=described(TEXT, "A JSON pointer into the body, or the name of a parameter after a slash."),
            detail=described(TEXT, "What is wrong there."),
        ),
        "A place that is at fault.",
    ),
    "Nested": {
        "description": "A number, or lists of numbers nested to the depth of the axes; null where nobody measured.",
        "anyOf": [NUMBER, {"type": "null"}, *(ref(f"Nested{depth}") for depth in range(1, MAX_AXES + 1))],
    },
    "Nested1": described(array_of(NULLABLE), "The numbers along one axis; null where nobody measured."),
    **{
        f"Nested{depth}": described(array_of(ref(f"Nested{depth - 1}")), f"The numbers along {depth} axes.")
        for depth in range(2, MAX_AXES + 1)
    },
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
        pointer=described({"type": "string", "maxLength": 1000}, "The place that it is about."),
    )
    | {"additionalProperties": False, "description": "A doubt of whoever read the values from something else."},
    "Metric": described(
        object_of(
            "name unit direction lower upper",
            name=described(TEXT, "The metric's name."),
            unit=described(NULLABLE_TEXT, "What its values are in; null where it has no unit."),
            direction=described(nullable(one_of("higher", "lower")), "Which end is better; null: neither."),
            lower=described(NULLABLE, "The smallest value that is possible; null: none is."),
            upper=described(NULLABLE, "The largest value that is possible; null: none is."),
        ),
        "What the values of a grid are.",
    ),
    "Axis": described(
        object_of(
            "name kind unit scale levels",
            name=described(TEXT, "The axis's name, unique in its grid."),
            kind=described(
                one_of("numeric", "ordinal", "nominal"), "Numbers, names in an order, or names without one."
            ),
            unit=described(NULLABLE_TEXT, "What its numbers are in; null where it has no unit."),
            scale=described(one_of("linear", "log"), "How distances on a numeric axis are measured."),
            levels=described(array_of(ref("Level")), "Its levels, in order."),
        ),
        "A dimension of a grid.",
    ),
    "Derivation": described(
        object_of(
            "state href",
            state=described(STATE, "How the computation stands."),
            href=described(TEXT, "Where the answer is or will be."),
            reason=described(NULLABLE_TEXT, "Why it failed; where it did."),
        ),
        "What is computed of this, and where.",
    ),
    "GridSummary": described(object_of(_GRID_FIELDS, **_GRID, **_MEMBERS), "A grid without its values."),
    "Grid": extended(
        "GridSummary",
        object_of(
            "values",
            values=described(
                ref("Nested"), f"The values, in the metric's unit. {_NESTED}; null where nobody measured."
            ),
            **_CARRIED,
            reasons=described(array_of(ref("Reason")), "Why cells are missing, where it was said."),
        ),
        "A grid with its values.",
    ),
    "Reason": described(
        object_of("at reason", at=AT, reason=described(TEXT, "failed, not_applicable or pending.")),
        "A cell that is missing, and why.",
    ),
    "Grids": page("GridSummary", "A page of grids."),
    "BatchAnswer": described(
        object_of(
            "items failed",
            failed=described(COUNT, "How many of the items are problems; 0 when all was stored."),
            items=described(array_of(ref("BatchItem")), "An answer for each grid, in the order of the request."),
        ),
        "What became of the grids of a batch.",
    ),
    "BatchItem": described(
        object_of(
            "index status",
            index=described(COUNT, "The grid's place in the request, from 0."),
            status=described(COUNT, "The status that the grid alone would have been answered with."),
            grid=ref("GridSummary"),
            problem=ref("Problem"),
        ),
        "What became of one grid of a batch: `grid` if it was stored, else `problem`.",
    ),
    "Cell": described(object_of("at value", at=AT, **_CELL), "A measured cell."),
    "Measurement": described(object_of("value", **_CELL), "What a cell holds."),
    "Share": described(object_of("id path created_at expires_at", **_SHARE), "A link that opens one path, without it."),
    "ShareLink": extended(
        "Share",
        object_of(
            "url",
            url=described(TEXT, "The link, which needs no token; shown this once."),
        ),
        "A link that opens one path of a project without a token.",
    ),
    "Shares": page("Share", "A page of shares."),
    "FeedCell": described(object_of(" ".join(_FEED_ROW), **_FEED_ROW), _ROW_ABOUT)
    | {"additionalProperties": _AXIS_COLUMN},
    "Feed": described(
        object_of("items", items=described(array_of(ref("FeedCell")), "A row a cell, the oldest grid first.")),
        "The cells of a project.",
    ),
    "GridCell": described(
        object_of(
            " ".join(_FEED_ROW) + " at",
            **_FEED_ROW,
            at=AT,
            repeats=described(NULLABLE, "How many measurements the value is the mean of; left out where it is one."),
            sd=described(NULLABLE, "The standard deviation of those measurements, with ddof 1."),
        ),
        _ROW_ABOUT,
    )
    | {"additionalProperties": _AXIS_COLUMN},
    "Cells": described(
        object_of(
            "grid revision digest items",
            grid=_GRID_ID,
            revision=_NUMBER_OF_REVISION,
            digest=_DIGEST,
            items=described(array_of(ref("GridCell")), "A row a cell, in row-major order."),
        ),
        "The cells of a grid.",
    ),
    "Revision": described(
        object_of(
            "revision digest cell_count labels derivation created_at",
            revision=_NUMBER_OF_REVISION,
            digest=_DIGEST,
            cell_count=described(COUNT, "How many cells were measured."),
            labels=_LABELS,
            derivation=object_of("state", state=described(STATE, "How its statistics stand."))
            | {"description": "What is computed of this revision."},
            created_at=described(INSTANT, "When it was published."),
        ),
        "A revision of a grid; its content never changes.",
    ),
    "Revisions": page("Revision", "A page of revisions."),
    "ChangedCell": described(
        object_of("at from to", at=AT, **{"from": ref("Measurement"), "to": ref("Measurement")}),
        "A cell that two revisions have with other content.",
    ),
    "Difference": described(
        object_of(
            "from to added removed changed metric_changed axes_changed labels_changed questions_changed"
            " design_effect_changed derived_changed",
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
        ),
        "What is not the same in two revisions of a grid.",
    ),
    "Project": described(
        object_of(
            "id slug name visibility created_at updated_at",
            id=described(ID, "The project's id."),
            slug=described(TEXT, "Its name in paths; it never changes."),
            name=described(TEXT, "Its name for people."),
            visibility=described(one_of("private", "public"), "Public: read without a token."),
            created_at=_MADE,
            updated_at=described(INSTANT, "When its name or visibility last changed."),
        ),
        "A project: it holds grids, and is the boundary of access.",
    ),
    "Projects": page("Project", "A page of projects."),
    "Token": described(object_of(_TOKEN_FIELDS, **_TOKEN), "A token, without its secret."),
    "TokenSecret": extended(
        "Token",
        object_of(
            "token",
            token=described(TEXT, "The secret, to be sent as `Authorization: Bearer <token>`; shown this once."),
        ),
        "A token with its secret.",
    ),
    "Tokens": page("Token", "A page of tokens."),
    "Identity": extended(
        "Token",
        object_of(
            "project",
            project=described(NULLABLE_TEXT, "The slug of the project that it is for; null: every project."),
        ),
        "The token that was sent.",
    ),
    "Alias": described(
        object_of(
            "id kind alias name created_at",
            id=described(ID, "The alias's id."),
            kind=described(one_of("model", "benchmark", "variant", "experiment"), "What the names are names of."),
            alias=described(TEXT, "What some grids say."),
            name=described(TEXT, "What it stands for."),
            created_at=_MADE,
        ),
        "Two names that count as one.",
    ),
    "Aliases": page("Alias", "A page of aliases."),
    "Act": described(
        object_of(
            "id at act subject detail token_id request_id",
            id=described(ID, "The line's id."),
            at=described(INSTANT, "When it was done."),
            act=described(TEXT, "What was done, `token.created` or `grid.deleted`; more kinds may come."),
            subject=described(TEXT, "The id of what it was done to."),
            detail=described(map_of(ANY), "Names and values, by act."),
            token_id=described(nullable(ID), "The token that did it; null: a command with access to the database."),
            request_id=described(nullable(ID), "The `X-Request-Id` of the request that did it; null: a command."),
        ),
        "A line of the audit log.",
    ),
    "Acts": page("Act", "A page of the audit log, the newest line first."),
    "NameInUse": described(
        object_of(
            "name grids alias_of updated_at",
            name=described(TEXT, "The name, as grids were published with it."),
            grids=described(COUNT, "How many grids carry it."),
            alias_of=described(NULLABLE_TEXT, "What it is an alias of; null where it is none."),
            updated_at=described(INSTANT, "When a grid with this name last changed."),
        ),
        "A name that grids carry.",
    ),
    "Names": page("NameInUse", "A page of names."),
    "Query": described(object_of("", **_QUERY), "What was asked for: of these fields those that belong to its kind."),
    "Pending": extended(
        "Query",
        object_of(
            "state derivation",
            state=described(one_of("pending"), "It is being computed."),
            derivation=ref("Derivation"),
        ),
        "What is being computed, and where to ask for it again.",
    ),
    "Failed": extended(
        "Query",
        object_of(
            "state reason attempts",
            state=described(one_of("failed"), "It could not be computed."),
            reason=described(NULLABLE_TEXT, "Why not."),
            attempts=described(COUNT, "How often it was tried."),
        ),
        "What could not be computed, and why.",
    ),
    "Health": described(
        object_of(
            "status version",
            status=described(one_of("ok"), "The process answers."),
            version=described(TEXT, "The version of the service."),
        ),
        "The process is alive.",
    ),
    "Readiness": described(
        object_of(
            "status derivations answers",
            status=described(one_of("ready"), "Requests can be served."),
            derivations=ref("Backlog"),
            answers=ref("Backlog"),
        ),
        "Requests can be served, and how much work waits: statistics of grids, and answers to queries.",
    ),
    "Backlog": described(
        object_of(
            "pending failed oldest_seconds",
            pending=described(COUNT, "How many wait."),
            failed=described(COUNT, "How many were given up."),
            oldest_seconds=described(NULLABLE, "How many seconds the oldest has waited; 0 where none waits."),
        ),
        "Work that waits for a worker.",
    ),
    "Root": described(
        object_of(
            "version links",
            version=described(TEXT, "The version of the service."),
            links=described(map_of(ref("Href")), "What to begin with, by its relation."),
        ),
        "Where to go from here.",
    ),
    "Href": described(object_of("href", href=described(TEXT, "A path of this service.")), "A link."),
    "Rate": described(
        object_of(
            "per_second burst",
            per_second=described(NUMBER, "So many requests a second in the long run."),
            burst=described(NUMBER, "So many at once."),
        ),
        "How often one may ask.",
    ),
    "Limits": described(
        object_of(
            "max_cells max_levels max_body max_inflated max_batch max_labels max_label_length max_name max_wait"
            " max_page request_seconds statement_seconds lock_seconds idempotency_days token_days rates",
            max_cells=described(COUNT, "Cells of a grid, measured or not."),
            max_levels=described(COUNT, "Levels of an axis."),
            max_body=described(COUNT, "Bytes of a body as it is sent."),
            max_inflated=described(COUNT, "Bytes of a body once it is decompressed."),
            max_batch=described(COUNT, "Grids of a batch."),
            max_labels=described(COUNT, "Labels of a grid."),
            max_label_length=described(COUNT, "Characters of a label's name and of its text."),
            max_name=described(COUNT, "Characters of a name."),
            max_wait=described(COUNT, "Seconds that `Prefer: wait` waits."),
            max_page=described(COUNT, "Items of a page."),
            request_seconds=described(NUMBER, "Seconds that a request takes."),
            statement_seconds=described(NUMBER, "Seconds that a statement of the database takes."),
            lock_seconds=described(NUMBER, "Seconds that a request waits for another writer."),
            idempotency_days=described(NUMBER, "Days for which the answer to an `Idempotency-Key` is kept."),
            token_days=described(COUNT, "Days until a token expires, where nothing else is asked for."),
            rates=described(
                map_of(nullable(ref("Rate"))),
                "How often one may ask: with a token, from an address, with bad tokens; null: as often as one likes.",
            ),
        ),
        "The most that one request may hold and take, and how often one may ask.",
    ),
    "Badge": described(
        object_of(
            "schemaVersion label message color",
            schemaVersion=described(COUNT, "The version of shields.io's endpoint schema."),
            label=described(TEXT, "The left half of the badge."),
            message=described(TEXT, "Its right half: the best value, or what is missing."),
            color=described(TEXT, "The colour of the right half, in hexadecimal."),
        ),
        "An endpoint badge of shields.io.",
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
