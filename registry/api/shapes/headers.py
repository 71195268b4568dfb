"""Shapes of headers and parameters that several operations share."""

from registry.api.shapes.words import (
    PRINTABLE,
    TEXT,
    Shape,
    map_of,
)

HEADERS: dict[str, Shape] = {
    "ETag": {"description": "Changes whenever the answer does.", "schema": TEXT},
    "Location": {"description": "Where the new thing is; on 202, where to ask again.", "schema": {"type": "string"}},
    "Accept-Ranges": {"description": "`bytes`: ranges are answered; `none`: too large, sent whole.", "schema": TEXT},
    "Content-Range": {"description": "Which bytes these are, and of how many.", "schema": TEXT},
    "Link": {"description": 'The next page: <…>; rel="next".', "schema": TEXT},
    "Preference-Applied": {"description": "`wait=N`: the answer was waited for as preferred.", "schema": TEXT},
    "Retry-After": {"description": "Seconds after which to try again.", "schema": {"type": "integer"}},
    "WWW-Authenticate": {"description": "How to authenticate.", "schema": TEXT},
    "Allow": {"description": "The methods that this path has.", "schema": TEXT},
    "Registry-Events-Cursor": {
        "description": "`after` of the events that come later than this answer.",
        "schema": TEXT,
    },
    "Registry-Events-Position": {"description": "The position of that cursor.", "schema": {"type": "integer"}},
    "Idempotent-Replayed": {"description": "`true` when this is the stored answer to the key.", "schema": TEXT},
}

PARAMETERS: dict[str, Shape] = {
    "Idempotency-Key": {
        "name": "Idempotency-Key",
        "in": "header",
        "description": "The first answer to a key is given to every repetition of the request, compressed or not;"
        " another request is 422. Keys are of one project: in another project, also one to be made of another slug, the"
        " same key is a new one. While the first request is under way, the others with its key are answered 409"
        " with `Retry-After`; they get the first answer when they are repeated.",
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
    "Last-Event-ID": {
        "name": "Last-Event-ID",
        "in": "header",
        "description": "Of a stream: the last `id` that you have; it goes before `after`.",
        "schema": TEXT,
    },
    "Range": {
        "name": "Range",
        "in": "header",
        "description": "One range of bytes: `bytes=0-99`, `bytes=100-`, `bytes=-100`.",
        "schema": TEXT,
    },
    "If-Range": {
        "name": "If-Range",
        "in": "header",
        "description": "The range only of what has this tag; else the whole.",
        "schema": TEXT,
    },
    "If-Match": {
        "name": "If-Match",
        "in": "header",
        "description": "Write only if the grid has this ETag still; 412 else. Its weak form `W/…`, which comes with a"
        " compressed answer, is taken as well: the tag names a revision, whatever form it was read in.",
        "schema": TEXT,
    },
    "Prefer": {
        "name": "Prefer",
        "in": "header",
        "description": "`wait=N` waits up to N seconds (at most 30) for what is pending.",
        "schema": TEXT,
    },
    "labels": {
        "name": "labels",
        "in": "query",
        "description": "Only grids with these labels: `label.<key>=<text>` in the query, for any number of keys;"
        " repeated for OR.",
        "style": "form",
        "explode": True,
        "schema": map_of(TEXT | {"pattern": PRINTABLE})
        | {"propertyNames": {"pattern": r"^label\.[^<>\u0000-\u001f\u007f-\u009f]*$"}},
        "example": {"label.git_sha": "4f2c1e9"},
    },
    "slice": {
        "name": "slice",
        "in": "query",
        "description": "Only these levels of an axis: `at.<axis>=<level>` in the query, for any number of axes;"
        " repeated for OR. A level is its label or its number; `at.<axis>=>=64000` is a range (>=, <=, > or <), and"
        " several ranges hold at once. Computed as if nothing else had been posted.",
        "style": "form",
        "explode": True,
        "schema": map_of(TEXT | {"pattern": PRINTABLE, "minLength": 1})
        | {"propertyNames": {"pattern": r"^at\.[^<>\u0000-\u001f\u007f-\u009f]+$"}},
        "example": {"at.Context": ">=64000"},
    },
    "slice_of_quantity": {
        "name": "slice_of_quantity",
        "in": "query",
        "description": "Levels of one of the two quantities alone, `x.at.<axis>=<level>` or `y.at.<axis>=<level>`: as"
        " `at.<axis>`, in whose place it stands for that axis. So one metric is set against itself at two slices.",
        "style": "form",
        "explode": True,
        "schema": map_of(TEXT | {"pattern": PRINTABLE, "minLength": 1})
        | {"propertyNames": {"pattern": r"^[xy]\.at\.[^<>\u0000-\u001f\u007f-\u009f]+$"}},
        "example": {"x.at.Context": "<=8000"},
    },
}
