"""The shapes of what is stored: projects, tokens, grids, revisions, names."""

from __future__ import annotations

from registry.api.shapes.words import (
    ANY,
    AT,
    COUNT,
    DIGEST,
    FLAG,
    ID,
    INSTANT,
    LABELS,
    NESTED,
    NULLABLE,
    NULLABLE_TEXT,
    NUMBER,
    PLAIN,
    STATE,
    TEXT,
    Shape,
    array_of,
    described,
    nullable,
    object_of,
    page,
    ref,
)
from registry.settings import Settings

_GRID = {
    "id": ID,
    "project": TEXT,
    "experiment": TEXT,
    "benchmark": TEXT,
    "model": TEXT,
    "variant": TEXT,
    "metric": ref("Metric"),
    "axes": array_of(ref("Axis")),
    "shape": array_of(COUNT),
    "cell_count": COUNT,
    "revision": {"type": "integer", "minimum": 1},
    "digest": DIGEST,
    "derivation": ref("Derivation"),
    "labels": LABELS,
    "created_at": INSTANT,
    "updated_at": INSTANT,
    "warnings": array_of(ref("Warning")),
}
_GRID_FIELDS = " ".join(_GRID)
_MEMBERS: dict[str, Shape] = {
    "html_url": described(TEXT, "The grid's page for people, in answers to who published it."),
    "questions": described(COUNT, "What the trials of each cell are about; where it was given."),
    "design_effect": described(NUMBER, "A cell's variance over that of independent trials; where it was given."),
    "derived": {
        "anyOf": [{"const": True}, array_of(TEXT)],
        "description": "Made of others, or of these; where it was declared.",
    },
}

_SHARE = {"id": ID, "path": TEXT, "created_at": INSTANT, "expires_at": INSTANT}
FEED_CELL = described(
    object_of(
        "grid revision experiment benchmark model variant metric unit value trials stderr ci_low ci_high updated_at",
        grid=ID,
        revision=COUNT,
        **dict.fromkeys(("experiment", "benchmark", "model", "variant", "metric"), TEXT),
        unit=NULLABLE_TEXT,
        **dict.fromkeys(("value", "trials", "stderr", "ci_low", "ci_high"), NULLABLE),
        updated_at=INSTANT,
    ),
    "A row of the feed; besides these columns a text and a number (`<axis>_num`) for each axis.",
)

_CODES = (
    "What kind of doubt it is; more kinds may come. level_added: an amendment brought a level that its axis did not"
    " have. level_number_read: a label was read as a number. rounded: a whole number above 2^53 that no double is."
    " near_duplicate: a name is one edit from a known one. off_lattice: a value is no whole count out of its trials."
    " looks_derived: a name is that of an average or a total. repeats_read: a coordinate came several times, in cells"
    " or rows, and the cell is their mean; or a table brings repeats and sd. Of tables: left_out: columns that the"
    " registry computes. text_left_out: text around the table. kind_read: levels were read as numbers. identity_read:"
    " a title was read as names."
)

STORED: dict[str, Shape] = {
    "Problem": object_of(
        "type title status detail instance",
        type=TEXT,
        title=TEXT,
        status={"type": "integer"},
        detail=TEXT,
        instance={"type": "string", "description": "The request's id."},
        errors=array_of(object_of("pointer detail", pointer=TEXT, detail=TEXT)),
    )
    | {"description": "RFC 9457. `errors` carry a JSON pointer into the body, or the name of a query parameter."},
    "CellIn": object_of(
        "at value",
        at=AT,
        value=NULLABLE,
        trials={"type": ["integer", "null"], "minimum": 1},
        stderr={"type": ["number", "null"], "minimum": 0},
        reason={"enum": ["failed", "not_applicable", "pending", None], "description": "Why a null value is missing."},
    )
    | {"additionalProperties": False},
    "ReasonIn": object_of("at reason", at=AT, reason={"enum": ["failed", "not_applicable", "pending"]})
    | {"additionalProperties": False},
    "Metric": object_of(
        "name unit direction lower upper",
        name=TEXT,
        unit=NULLABLE_TEXT,
        direction={"enum": ["higher", "lower", None]},
        lower=NULLABLE,
        upper=NULLABLE,
    ),
    "Axis": object_of(
        "name kind unit scale levels",
        name=TEXT,
        kind={"enum": ["numeric", "ordinal", "nominal"]},
        unit=NULLABLE_TEXT,
        scale={"enum": ["linear", "log"]},
        levels=array_of(ref("Level")),
    ),
    "Derivation": object_of("state href", state=STATE, href=TEXT, reason=NULLABLE_TEXT),
    "Warning": object_of("code detail", code=described(TEXT, _CODES), detail=TEXT, pointer=TEXT),
    "GridSummary": object_of(_GRID_FIELDS, **_GRID, **_MEMBERS),
    "Grid": object_of(
        _GRID_FIELDS + " values",
        **_GRID,
        **_MEMBERS,
        values=NESTED,
        trials=NESTED,
        stderr=NESTED,
        repeats=NESTED,
        sd=NESTED,
        reasons=array_of(object_of("at reason", at=AT, reason=TEXT)),
    ),
    "Grids": page("GridSummary"),
    "BatchAnswer": object_of(
        "items failed",
        failed=described(COUNT, "How many of the items are problems; 0 when all was stored."),
        items=array_of(
            object_of("index status", index=COUNT, status=COUNT, grid=ref("GridSummary"), problem=ref("Problem"))
        ),
    ),
    "Cell": object_of("at value", at=AT, value=NUMBER, trials=COUNT, stderr=NUMBER, repeats=COUNT, sd=NUMBER),
    "Share": object_of("id path created_at expires_at", **_SHARE),
    "ShareLink": object_of("id path created_at expires_at url", **_SHARE, url=TEXT),
    "Shares": page("Share"),
    "FeedCell": FEED_CELL,
    "Feed": object_of("items", items=array_of(ref("FeedCell"))),
    "Cells": object_of(
        "grid revision digest items",
        grid=ID,
        revision=COUNT,
        digest=DIGEST,
        items=array_of({"allOf": [ref("FeedCell"), object_of("at", at=AT, repeats=NULLABLE, sd=NULLABLE)]}),
    ),
    "Revision": object_of(
        "revision digest cell_count labels derivation created_at",
        revision=COUNT,
        digest=DIGEST,
        cell_count=COUNT,
        labels=LABELS,
        derivation=object_of("state", state=STATE),
        created_at=INSTANT,
    ),
    "Revisions": page("Revision"),
    "Difference": object_of(
        "from to added removed changed metric_changed axes_changed labels_changed questions_changed"
        " design_effect_changed derived_changed",
        **{"from": COUNT, "to": COUNT},
        added=array_of(ref("Cell")),
        removed=array_of(ref("Cell")),
        changed=array_of(object_of("at from to", **{"at": AT, "from": PLAIN, "to": PLAIN})),
        metric_changed=FLAG,
        axes_changed=FLAG,
        labels_changed=FLAG,
        questions_changed=FLAG,
        design_effect_changed=FLAG,
        derived_changed=FLAG,
    ),
    "Project": object_of(
        "id slug name visibility created_at updated_at",
        id=ID,
        slug=TEXT,
        name=TEXT,
        visibility={"enum": ["private", "public"]},
        created_at=INSTANT,
        updated_at=INSTANT,
    ),
    "Projects": page("Project"),
    "Token": object_of(
        "id name role created_at expires_at last_used_at",
        id=ID,
        name=TEXT,
        role={"enum": ["reader", "writer", "admin"]},
        created_at=INSTANT,
        expires_at=INSTANT,
        last_used_at=nullable(INSTANT),
    ),
    "TokenSecret": {
        "allOf": [ref("Token"), object_of("token", token={"type": "string", "description": "Shown this once."})]
    },
    "Tokens": page("Token"),
    "Identity": {
        "allOf": [
            ref("Token"),
            object_of("project", project=described(NULLABLE_TEXT, "The project's slug; null for every project.")),
        ]
    },
    "Alias": object_of(
        "id kind alias name created_at",
        id=ID,
        kind={"enum": ["model", "benchmark", "variant", "experiment"]},
        alias=TEXT,
        name=TEXT,
        created_at=INSTANT,
    ),
    "Aliases": page("Alias"),
    "Act": object_of(
        "id at act subject detail token_id request_id",
        id=ID,
        at=INSTANT,
        act=described(TEXT, "What was done: `token.made`, `grid.deleted` …"),
        subject=described(TEXT, "The id of what it was done to."),
        detail={"type": "object", "description": "Names and values, by act."},
        token_id=described(nullable(ID), "Who did it; null: a command with access to the database."),
        request_id=described(nullable(ID), "The `X-Request-Id` of the request that did it."),
    ),
    "Acts": page("Act"),
    "NameInUse": object_of(
        "name grids alias_of updated_at", name=TEXT, grids=COUNT, alias_of=NULLABLE_TEXT, updated_at=INSTANT
    ),
    "Names": page("NameInUse"),
    "Pending": object_of(
        "grid revision state derivation", grid=ID, revision=COUNT, state=STATE, derivation=ref("Derivation")
    ),
}


def limited(settings: Settings) -> dict[str, Shape]:
    """The shapes that say a limit of these settings."""
    label = {"type": "string", "minLength": 1, "maxLength": settings.max_name}
    grids = {"anyOf": [ref("GridIn"), ANY]}
    return {
        "Level": {
            "description": "A label, a number, or both: 32b means 32000000000.",
            "anyOf": [
                label,
                NUMBER,
                object_of("label", label=label, number=NULLABLE) | {"additionalProperties": False},
            ],
        },
        "BatchIn": array_of(grids) | {"minItems": 1, "maxItems": settings.max_batch},
    }
