"""Shapes of headers and parameters that several operations of the OpenAPI document share."""

from typing import Any

from registry.api.shapes.words import PRINTABLE, TEXT, Shape, map_of

HEADERS: dict[str, Shape] = {
    name: {"description": about, "schema": schema}
    for name, about, schema in (
        ("ETag", "Changes whenever the answer does.", TEXT),
        ("Location", "Where the new thing is; on 202, where to ask again.", TEXT),
        ("Accept-Ranges", "`bytes`: ranges are answered; `none`: too large, sent whole.", TEXT),
        ("Content-Range", "Which bytes these are, and of how many.", TEXT),
        ("Link", 'The next page: <…>; rel="next".', TEXT),
        ("Preference-Applied", "`wait=N`: the answer was waited for as preferred.", TEXT),
        ("Retry-After", "Seconds after which to try again.", {"type": "integer"}),
        ("WWW-Authenticate", "How to authenticate.", TEXT),
        ("Allow", "The methods that this path has.", TEXT),
        ("Registry-Events-Cursor", "`after` of the events that come later than this answer.", TEXT),
        ("Registry-Events-Position", "The position of that cursor.", {"type": "integer"}),
        ("Idempotent-Replayed", "`true` when this is the stored answer to the key.", TEXT),
    )
}


def _header(name: str, about: str, **schema: Any) -> Shape:
    return {"name": name, "in": "header", "description": about, "schema": TEXT | schema}


def _exploded(name: str, about: str, names: str, example: Shape, **text: Any) -> Shape:
    """A parameter of the query for each of any number of names, which match this pattern."""
    values = map_of(TEXT | {"pattern": PRINTABLE, **text}) | {"propertyNames": {"pattern": names}}
    place = {"name": name, "in": "query", "description": about, "style": "form", "explode": True}
    return place | {"schema": values, "example": example}


PARAMETERS: dict[str, Shape] = {
    "Idempotency-Key": _header(
        "Idempotency-Key",
        "The first answer to a key is given to every repetition of the request, compressed or not;"
        " another request is 422. Keys are of one project: in another project, also one to be made of another slug, the"
        " same key is a new one. While the first request is under way, the others with its key are answered 409"
        " with `Retry-After`; they get the first answer when they are repeated.",
        minLength=1,
        maxLength=255,
        pattern="^[!-~]+$",
    ),
    "If-None-Match": _header("If-None-Match", "Tags that you have: 304 if one still holds."),
    "If-None-Match-Any": _header("If-None-Match", "`*` publishes only what is new; 412 else."),
    "Last-Event-ID": _header("Last-Event-ID", "Of a stream: the last `id` that you have; it goes before `after`."),
    "Range": _header("Range", "One range of bytes: `bytes=0-99`, `bytes=100-`, `bytes=-100`."),
    "If-Range": _header("If-Range", "The range only of what has this tag; else the whole."),
    "If-Match": _header(
        "If-Match",
        "Write only if the grid has this ETag still; 412 else. Its weak form `W/…`, which comes with a"
        " compressed answer, is taken as well: the tag names a revision, whatever form it was read in.",
    ),
    "Prefer": _header("Prefer", "`wait=N` waits up to N seconds (at most 30) for what is pending."),
    "labels": _exploded(
        "labels",
        "Only grids with these labels: `label.<key>=<text>` in the query, for any number of keys; repeated for OR.",
        r"^label\.[^<>\u0000-\u001f\u007f-\u009f]*$",
        {"label.git_sha": "4f2c1e9"},
    ),
    "slice": _exploded(
        "slice",
        "Only these levels of an axis: `at.<axis>=<level>` in the query, for any number of axes;"
        " repeated for OR. A level is its label or its number; `at.<axis>=>=64000` is a range (>=, <=, > or <), and"
        " several ranges hold at once. Computed as if nothing else had been posted.",
        r"^at\.[^<>\u0000-\u001f\u007f-\u009f]+$",
        {"at.Context": ">=64000"},
        minLength=1,
    ),
    "slice_of_quantity": _exploded(
        "slice_of_quantity",
        "Levels of one of the two quantities alone, `x.at.<axis>=<level>` or `y.at.<axis>=<level>`: as"
        " `at.<axis>`, in whose place it stands for that axis. So one metric is set against itself at two slices.",
        r"^[xy]\.at\.[^<>\u0000-\u001f\u007f-\u009f]+$",
        {"x.at.Context": "<=8000"},
        minLength=1,
    ),
}
