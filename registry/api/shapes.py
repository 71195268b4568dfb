"""The shapes of answers, as JSON Schema: what a caller may rely on. Fields may be added, never taken away."""

from __future__ import annotations

from typing import Any

Shape = dict[str, Any]


def _object(required: str, **properties: Any) -> Shape:
    return {"type": "object", "required": required.split(), "properties": properties}


def _array(items: Shape) -> Shape:
    return {"type": "array", "items": items}


def _ref(name: str) -> Shape:
    return {"$ref": f"#/components/schemas/{name}"}


def _nullable(shape: Shape) -> Shape:
    return {"anyOf": [shape, {"type": "null"}]}


def _page(name: str) -> Shape:
    next_page = NULLABLE_TEXT | {"description": "The cursor of the next page; null on the last one."}
    return _object("items next", items=_array(_ref(name)), next=next_page)


TEXT: Shape = {"type": "string"}
NULLABLE_TEXT: Shape = {"type": ["string", "null"]}
NUMBER: Shape = {"type": "number"}
NULLABLE: Shape = {"type": ["number", "null"]}
COUNT: Shape = {"type": "integer", "minimum": 0}
FLAG: Shape = {"type": "boolean"}
ID: Shape = {"type": "string", "format": "uuid"}
INSTANT: Shape = {"type": "string", "format": "date-time"}
ANY: Shape = {}
PLAIN: Shape = {"type": "object"}
LEVEL_VALUE: Shape = {"type": ["string", "number"]}
AT: Shape = {"type": "object", "description": "A level for each axis, by the axis's name.", "additionalProperties": ANY}
DIGEST: Shape = {"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"}
NESTED: Shape = {"description": "Nested to the depth of the axes; null where nobody measured."}
STATUS: Shape = {"enum": ["ok", "insufficient", "undefined", "not_comparable", "confounded"]}
STATE: Shape = {"enum": ["pending", "ready", "failed"]}
LABELS: Shape = {"type": "object", "additionalProperties": TEXT}

_GRID = {
    "id": ID,
    "project": TEXT,
    "experiment": TEXT,
    "benchmark": TEXT,
    "model": TEXT,
    "variant": TEXT,
    "metric": _ref("Metric"),
    "axes": _array(_ref("Axis")),
    "shape": _array(COUNT),
    "cell_count": COUNT,
    "revision": {"type": "integer", "minimum": 1},
    "digest": DIGEST,
    "derivation": _ref("Derivation"),
    "labels": LABELS,
    "created_at": INSTANT,
    "updated_at": INSTANT,
    "warnings": _array(_ref("Warning")),
}
_GRID_FIELDS = " ".join(_GRID)

COMPONENTS: dict[str, Shape] = {
    "Problem": _object(
        "type title status detail instance",
        type=TEXT,
        title=TEXT,
        status={"type": "integer"},
        detail=TEXT,
        instance={"type": "string", "description": "The request's id."},
        errors=_array(_object("pointer detail", pointer=TEXT, detail=TEXT)),
    )
    | {"description": "RFC 9457. `errors` carry a JSON pointer into the body, or the name of a query parameter."},
    "Level": {
        "description": "A label, a number, or both: 32b means 32000000000.",
        "anyOf": [
            {"type": "string", "minLength": 1, "maxLength": 200},
            NUMBER,
            _object("label", label={"type": "string", "minLength": 1}, number=NULLABLE)
            | {"additionalProperties": False},
        ],
    },
    "CellIn": _object(
        "at value",
        at=AT,
        value=NULLABLE,
        trials={"type": ["integer", "null"], "minimum": 1},
        stderr={"type": ["number", "null"], "minimum": 0},
        reason={"enum": ["failed", "not_applicable", "pending", None], "description": "Why a null value is missing."},
    )
    | {"additionalProperties": False},
    "Metric": _object(
        "name unit direction lower upper",
        name=TEXT,
        unit=NULLABLE_TEXT,
        direction={"enum": ["higher", "lower", None]},
        lower=NULLABLE,
        upper=NULLABLE,
    ),
    "Axis": _object(
        "name kind unit scale levels",
        name=TEXT,
        kind={"enum": ["numeric", "ordinal", "nominal"]},
        unit=NULLABLE_TEXT,
        scale={"enum": ["linear", "log"]},
        levels=_array(_ref("Level")),
    ),
    "Derivation": _object("state href", state=STATE, href=TEXT, reason=NULLABLE_TEXT),
    "Warning": _object("code detail", code=TEXT, detail=TEXT, pointer=TEXT),
    "GridSummary": _object(_GRID_FIELDS, **_GRID),
    "Grid": _object(
        _GRID_FIELDS + " values",
        **_GRID,
        values=NESTED,
        trials=NESTED,
        stderr=NESTED,
        repeats=NESTED,
        sd=NESTED,
        reasons=_array(_object("at reason", at=AT, reason=TEXT)),
    ),
    "Grids": _page("GridSummary"),
    "BatchAnswer": _object(
        "items",
        items=_array(
            _object("index status", index=COUNT, status=COUNT, grid=_ref("GridSummary"), problem=_ref("Problem"))
        ),
    ),
    "Cell": _object("at value", at=AT, value=NUMBER, trials=COUNT, stderr=NUMBER, repeats=COUNT, sd=NUMBER),
    "Cells": _object("grid revision digest items", grid=ID, revision=COUNT, digest=DIGEST, items=_array(_ref("Cell"))),
    "Revision": _object(
        "revision digest cell_count labels derivation created_at",
        revision=COUNT,
        digest=DIGEST,
        cell_count=COUNT,
        labels=LABELS,
        derivation=_object("state", state=STATE),
        created_at=INSTANT,
    ),
    "Revisions": _page("Revision"),
    "Difference": _object(
        "from to added removed changed metric_changed axes_changed labels_changed",
        **{"from": COUNT, "to": COUNT},
        added=_array(_ref("Cell")),
        removed=_array(_ref("Cell")),
        changed=_array(_object("at from to", **{"at": AT, "from": PLAIN, "to": PLAIN})),
        metric_changed=FLAG,
        axes_changed=FLAG,
        labels_changed=FLAG,
    ),
    "Project": _object(
        "id slug name visibility created_at updated_at",
        id=ID,
        slug=TEXT,
        name=TEXT,
        visibility={"enum": ["private", "public"]},
        created_at=INSTANT,
        updated_at=INSTANT,
    ),
    "Projects": _page("Project"),
    "Token": _object(
        "id name role created_at expires_at last_used_at",
        id=ID,
        name=TEXT,
        role={"enum": ["reader", "writer", "admin"]},
        created_at=INSTANT,
        expires_at=INSTANT,
        last_used_at=_nullable(INSTANT),
    ),
    "TokenSecret": {
        "allOf": [_ref("Token"), _object("token", token={"type": "string", "description": "Shown this once."})]
    },
    "Tokens": _page("Token"),
    "Alias": _object(
        "id kind alias name created_at",
        id=ID,
        kind={"enum": ["model", "benchmark", "variant", "experiment"]},
        alias=TEXT,
        name=TEXT,
        created_at=INSTANT,
    ),
    "Aliases": _page("Alias"),
    "NameInUse": _object(
        "name grids alias_of updated_at", name=TEXT, grids=COUNT, alias_of=NULLABLE_TEXT, updated_at=INSTANT
    ),
    "Names": _page("NameInUse"),
    "Pending": _object(
        "grid revision state derivation", grid=ID, revision=COUNT, state=STATE, derivation=_ref("Derivation")
    ),
    "PendingAnswer": _object(
        "kind experiment metric state",
        kind={"enum": ["ranking", "sweet_spot", "thresholds"]},
        experiment=TEXT,
        metric=TEXT,
        state=STATE,
        derivation=_ref("Derivation"),
    ),
    "Interval": _object("level low high", level=NUMBER, low=NULLABLE, high=NULLABLE),
    "Change": _object(
        "from to size sharp",
        **{"from": LEVEL_VALUE, "to": LEVEL_VALUE},
        size=NUMBER,
        sharp={"type": ["boolean", "null"]},
        p=NULLABLE,
        p_holm=NULLABLE | {"description": "Fisher's exact test, Holm over the series; where trials are known."},
        interval=_nullable(_ref("Interval")),
    ),
    "Series": _object(
        "along at count first last slope slope_interval ols mann_kendall logit direction q changes shape",
        along=TEXT,
        at=AT,
        count=COUNT,
        first=NULLABLE,
        last=NULLABLE,
        slope=NULLABLE
        | {"description": "Theil–Sen, metric units for one unit of the axis (a decade, if x_scale is log10)."},
        slope_interval=_nullable(_ref("Interval")),
        ols=_nullable(PLAIN),
        mann_kendall=_nullable(
            _object("s p min_attainable_p", s={"type": ["integer", "null"]}, p=NULLABLE, min_attainable_p=NULLABLE)
        ),
        logit=_nullable(PLAIN),
        direction={"type": "string"},
        q=NULLABLE | {"description": "Benjamini–Hochberg over the series of this grid along this axis."},
        changes=_array(_ref("Change")),
        shape=_nullable(PLAIN),
    ),
    "Peaks": _object(
        "status",
        status=STATUS,
        reason=TEXT,
        best=_nullable(_object("value at", value=NUMBER, at=_array(AT))),
        runner_up=_nullable(PLAIN),
        by={"type": "object", "additionalProperties": _array(PLAIN)},
        probability_best=ANY,
        expected_max_if_equal=ANY,
    ),
    "Coverage": _object(
        "cells possible fraction", status=STATUS, cells=COUNT, possible=COUNT, fraction=NULLABLE, by=PLAIN
    ),
    "Statistics": _object(
        "grid state",
        grid=ID,
        revision=COUNT,
        digest=DIGEST,
        state={"enum": ["ready", "failed"]},
        reason=NULLABLE_TEXT,
        attempts=COUNT,
        methods_version=TEXT,
        params=PLAIN,
        computed_at=INSTANT,
        metric=_ref("Metric"),
        axes=_array(_ref("Axis")),
        coverage=_ref("Coverage"),
        series=_array(_ref("Series")),
        peaks=_ref("Peaks"),
        sensitivity=_nullable(PLAIN),
        precision=_nullable(PLAIN),
        grid_trend=ANY,
    ),
    "Thresholds": _object(
        "grid revision thresholds series state",
        grid=ID,
        revision=COUNT,
        metric=_ref("Metric"),
        axes=_array(_ref("Axis")),
        thresholds=_array(NUMBER),
        series=_array(_object("along at thresholds", along=TEXT, at=AT, thresholds=_array(_ref("Threshold")))),
        series_left_out=COUNT,
        methods_version=TEXT,
        computed_at=INSTANT,
        state=STATE,
    ),
    "Threshold": _object(
        "level side first_below crossing sustained_until recovers",
        level=NUMBER,
        side={
            "enum": ["below", "above"],
            "description": "Which side of the level is the failure: below where higher is better.",
        },
        first_below=_nullable(LEVEL_VALUE),
        crossing=NULLABLE | {"description": "Interpolated between the neighbouring points."},
        sustained_until=_nullable(LEVEL_VALUE),
        recovers=FLAG,
        isotonic_first_below=_nullable(LEVEL_VALUE),
    ),
    "Favourite": _object("value at", value=NUMBER, at=_array(AT)),
    "SweetSpot": _object(
        "experiment metric state",
        experiment=TEXT,
        metric=TEXT,
        state={"enum": ["ready", "failed"]},
        status=STATUS,
        reason=NULLABLE_TEXT,
        grids=COUNT,
        common_cells=COUNT,
        mean_rank=_nullable(_ref("Favourite")),
        best_rank_p=NULLABLE
        | {"description": "A bound on the probability that any cell had so low a mean rank by chance."},
        mean_z=_nullable(_ref("Favourite")),
        mean_regret=_nullable(_ref("Favourite")),
        mean_normalised_regret=_nullable(_ref("Favourite")),
        minimax_normalised_regret=_nullable(_ref("Favourite")),
        pareto=_array(AT),
        pareto_count=COUNT,
        agreement=_nullable(_object("grids at p", grids=COUNT, at=_array(AT), p=NUMBER)),
        friedman=_nullable(_ref("Friedman")),
        axes=_nullable({"type": "object", "additionalProperties": PLAIN}),
        inputs=_array(_object("grid revision", grid=ID, revision=COUNT)),
        methods_version=TEXT,
        computed_at=INSTANT,
        attempts=COUNT,
    ),
    "Friedman": _object(
        "status mean_ranks chi2 df p",
        status=STATUS,
        reason=NULLABLE_TEXT,
        mean_ranks=_array(NUMBER),
        chi2=NULLABLE | {"description": "Corrected for ties."},
        df=COUNT,
        p=NULLABLE,
        iman_davenport=_nullable(_object("f p", f=NULLABLE, p=NULLABLE)),
        exact_p=NULLABLE | {"description": "Over all permutations within blocks, where they can be enumerated."},
        critical_difference=_nullable(_object("alpha value", alpha=NUMBER, value=NULLABLE)),
        blocks=COUNT,
    ),
    "Ranked": _object(
        "rank name score rank_low rank_high group cells wins ties losses",
        rank={"type": ["integer", "null"]},
        name=TEXT,
        score=NULLABLE,
        rank_low={"type": ["integer", "null"]},
        rank_high={"type": ["integer", "null"]},
        group=_array(TEXT),
        cells=COUNT,
        wins=COUNT,
        ties=COUNT,
        losses=COUNT,
    ),
    "Pair": _object(
        "a b n_common wins ties losses difference interval p p_holm test target",
        a=TEXT,
        b=TEXT,
        status=STATUS,
        n_common=COUNT,
        wins=COUNT,
        ties=COUNT,
        losses=COUNT,
        difference=NULLABLE,
        interval=_nullable(_ref("Interval")),
        p=NULLABLE,
        p_holm=NULLABLE,
        test=NULLABLE_TEXT,
        target=NULLABLE_TEXT,
    ),
    "Ranking": _object(
        "by method missing alpha experiment metric state",
        by=TEXT,
        method=TEXT,
        missing=TEXT,
        alpha=NUMBER,
        experiment=TEXT,
        metric=TEXT,
        benchmarks=_array(TEXT),
        status=STATUS,
        reason=NULLABLE_TEXT,
        slots=_object("total compared", total=COUNT, compared=COUNT),
        ranking=_array(_ref("Ranked")),
        groups=_array(_array(TEXT)),
        pairs=_array(_ref("Pair")),
        components=_array(_array(TEXT)),
        policy_sensitivity=ANY,
        inputs=_array(_object("grid revision", grid=ID, revision=COUNT)),
        computed_at=INSTANT,
        state={"enum": ["ready", "failed"]},
        attempts=COUNT,
    ),
}

HEADERS: dict[str, Shape] = {
    "X-Request-Id": {"description": "The request's id, as in the log.", "schema": ID},
    "ETag": {"description": "Changes whenever the answer does.", "schema": TEXT},
    "Location": {"description": "Where the new thing is.", "schema": {"type": "string"}},
    "Link": {"description": 'The next page: <…>; rel="next".', "schema": TEXT},
    "Retry-After": {"description": "Seconds after which to try again.", "schema": {"type": "integer"}},
    "WWW-Authenticate": {"description": "How to authenticate.", "schema": TEXT},
    "Allow": {"description": "The methods that this path has.", "schema": TEXT},
    "Idempotent-Replayed": {"description": "`true` when this is the stored answer to the key.", "schema": TEXT},
}

PARAMETERS: dict[str, Shape] = {
    "Idempotency-Key": {
        "name": "Idempotency-Key",
        "in": "header",
        "description": "The first answer to a key is given to every repetition of the request; another request is 422.",
        "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
    },
    "If-None-Match": {
        "name": "If-None-Match",
        "in": "header",
        "description": "Tags that you have: 304 if one still holds.",
        "schema": TEXT,
    },
    "If-None-Match-Any": {
        "name": "If-None-Match",
        "in": "header",
        "description": "`*` publishes only what is new; 412 else.",
        "schema": TEXT,
    },
    "If-Match": {
        "name": "If-Match",
        "in": "header",
        "description": "Write only if the grid has this ETag still; 412 else.",
        "schema": TEXT,
    },
    "Prefer": {
        "name": "Prefer",
        "in": "header",
        "description": "`wait=N` waits up to N seconds (at most 30) for what is pending.",
        "schema": TEXT,
    },
    "label": {
        "name": "label.<key>",
        "in": "query",
        "description": "Only grids with this text as the label <key>; may be given for several keys.",
        "schema": TEXT,
        "example": "4f2c1e9",
    },
}
