"""Publications out of a request: one, as JSON or a table whose identity is in the query; or many, each by itself."""

import uuid
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any

from flask import Response, request
from marshmallow import ValidationError
from sqlalchemy import Connection
from werkzeug.exceptions import UnsupportedMediaType

from registry.api import examples, serializers
from registry.api.arguments import faults_of
from registry.api.context import actor, authorize_body, caller, enter, parts
from registry.api.grid_schemas import READ_ONLY, GridIn
from registry.api.idempotency import written
from registry.api.problems import problem_of
from registry.api.request_body import read_lines, sent_bytes, sent_json
from registry.api.responses import json_answer
from registry.api.smorest import Blueprint, reply
from registry.errors import Fault, Invalid, Malformed, RegistryError
from registry.grids.intake import IntakeWarning, Submission, read_submission
from registry.grids.intake.faults import Limits
from registry.importers import delimited, markdown
from registry.importers.imported_grid import ImportedGrid, Overrides
from registry.importers.source import Source
from registry.operations.amend import told_changes
from registry.operations.audit_log import record
from registry.operations.publish import Published, announce_import, publish

SCHEMA = GridIn()
_FORMATS = {"text/csv": "csv", "text/markdown": "markdown"}
READERS = {"text/csv": delimited.read, "text/markdown": markdown.read}
_AS_JSON = {"application/json": {"schema": {"$ref": "#/components/schemas/GridIn"}, "example": examples.GRID_IN}}
OF_A_GRID_SENT: dict[str, Any] = {
    "errors": [413], "public": True, "parameters": ["Prefer"], "requestBody": {"required": True, "content": _AS_JSON},
}  # fmt: skip
"""What the document says of a question about a grid that is not stored."""
GRID_BODY = {
    "required": True,
    "content": {
        **_AS_JSON,
        "text/csv": {
            "schema": {"type": "string"},
            "examples": {
                "tidy": {"summary": "Tidy: a column value, a row a cell", "value": examples.GRID_TIDY},
                "pivot": {"summary": "A pivot, with columns=Length in the query", "value": examples.GRID_PIVOT},
            },
        },
        "text/markdown": {"schema": {"type": "string"}, "example": examples.GRID_PIPES},
    },
}
_FORMATS_TAKEN = "application/json, text/csv or text/markdown"


def read_publication(query: dict[str, Any]) -> Submission:
    """The grid that a request publishes; faults of a table name its line and cell."""
    authorize_body()
    if request.is_json:
        said = [name for name in query if name != "dry_run"]
        if said:
            raise Invalid([Fault(f"/{name}", "goes with a table; JSON says it in the body") for name in said])
        return read_grid(sent_json(), parts().limits)
    reader = READERS.get(request.mimetype)
    if reader is None:
        sent = request.mimetype or "no content type"
        hint = " (curl -d sends that unless -H says otherwise)" if sent.endswith("form-urlencoded") else ""
        raise UnsupportedMediaType(f"Send Content-Type: {_FORMATS_TAKEN}, not {sent}{hint}.")
    if request.mimetype_params.get("charset", "utf-8").lower() not in ("utf-8", "utf8", "us-ascii"):
        raise UnsupportedMediaType("A table is sent as UTF-8.")
    body = sent_bytes()
    source = Source("the body", given=body)
    known = {"format": _FORMATS[request.mimetype], "name": query.get("source_name"), "sha256": source.sha256}
    submission = _submission(_only_grid(reader, source, _overrides(query)))
    return replace(submission, source={name: text for name, text in known.items() if text})


def read_grid(sent: Any, limits: Limits) -> Submission:
    """A grid as JSON; shape and content are judged together with their pointers."""
    try:
        return read_submission(SCHEMA.load(_without_read_only(sent)), limits)
    except ValidationError as error:
        raise Invalid(faults_of({"json": error.messages}, SCHEMA)) from None
    except RecursionError:
        raise Malformed("nested too deep") from None


def _without_read_only(sent: Any) -> Any:
    if not isinstance(sent, dict):
        return sent
    return {name: value for name, value in sent.items() if name not in READ_ONLY}


def _overrides(query: dict[str, Any]) -> Overrides:
    given: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in query.items()}
    given = {name: value for name, value in given.items() if name not in ("dry_run", "source_name")}
    return Overrides(**given, reads_prose=False, single=True, limits=parts().limits)


def _only_grid(reader: Callable[[Source, Overrides], Any], source: Source, wanted: Overrides) -> ImportedGrid:
    grids = reader(source, wanted)
    found: ImportedGrid | None = next(grids, None)
    if found is None:
        raise Invalid([Fault("", "the table holds no cell")])
    if next(grids, None) is not None:
        raise Invalid([Fault("", "there are several tables: send each by itself, or use `registry push`")])
    return found


def _submission(found: ImportedGrid) -> Submission:
    """Submission with the grid; faults and warnings point to lines and cells of the table."""

    def at(pointer: str | None) -> str | None:
        place = None if pointer is None else found.place_of(pointer)
        return pointer if place is None else place.pointer()

    try:
        submission = read_grid(found.submission, parts().limits)
    except Invalid as error:
        raise Invalid(Fault(at(fault.pointer) or "", fault.detail) for fault in error.faults) from None
    notes = [
        IntakeWarning(note.code, note.detail, note.place.pointer() if note.place else None) for note in found.notes
    ]
    own = [IntakeWarning(warning.code, warning.detail, at(warning.pointer)) for warning in submission.warnings]
    return replace(submission, warnings=(*notes, *own))


blp = Blueprint("batch", "Many grids in one request.")

_BODY = {
    "required": True,
    "content": {
        "application/json": {
            "schema": {"$ref": "#/components/schemas/BatchIn"},
            "example": [examples.GRID_IN],
        },
    },
}


@blp.post("/projects/<project>/grids/batch", operation="publishGrids")
@blp.answers(reply(200, "An answer for each grid, in order", "BatchAnswer"), errors=[413], requestBody=_BODY)
def publish_batch(project: str) -> Response:
    """Publish many grids

    A JSON array, or NDJSON with `Content-Type: application/x-ndjson`. A grid that is at fault gets a problem and
    hinders no other; all that are answered 200 or 201 are stored when the answer comes.
    """

    def write(connection: Connection, row: Any) -> Response:
        items: list[dict[str, Any]] = [{} for _ in sent]
        submissions: dict[int, Submission] = {}
        for place, one in enumerate(sent):
            try:
                submissions[place] = read_one(one)
            except RegistryError as error:
                problem = problem_of(error)
                items[place] = {"index": place, "status": problem["status"], "problem": problem}
        published = publish(connection, row, list(submissions.values()), token_id=caller(connection).token_id)
        for place, outcome in zip(submissions, published, strict=True):
            record_description(connection, row.id, outcome)
            items[place] = {"index": place, "status": 201 if outcome.is_new else 200, "grid": item(outcome)}
        announce_import(connection, row, submissions.values(), published, len(sent) - len(published))
        return json_answer({"items": items, "failed": len(sent) - len(published)})

    sent = read_batch()
    return written(lambda connection: enter(connection, project, "writer"), write)


def read_batch() -> Sequence[Any]:
    """The grids as they were sent; `Invalid` when there are none or too many."""
    authorize_body()
    if request.mimetype in ("application/x-ndjson", "application/ndjson", "application/jsonl"):
        sent: Any = read_lines(sent_bytes(), parts().settings.max_batch)
    elif request.is_json:
        sent = sent_json()
    else:
        raise UnsupportedMediaType("Send application/json (an array) or application/x-ndjson.")
    if not isinstance(sent, list):
        raise Invalid([Fault("", "a batch is a JSON array of grids, or NDJSON")])
    if not 1 <= len(sent) <= parts().settings.max_batch:
        raise Invalid([Fault("", f"a batch has 1 to {parts().settings.max_batch} grids")])
    return sent


def read_one(sent: Any) -> Submission:
    """One grid of a batch; a line that could not be read raises what was wrong with it."""
    if isinstance(sent, Malformed):
        raise sent
    return read_grid(sent, parts().limits)


def item(outcome: Published) -> dict[str, Any]:
    return serializers.summary(outcome.stored)


def record_description(connection: Connection, project_id: uuid.UUID, published: Published) -> None:
    """Add to the log that a publication gave a grid, which was there, another description."""
    if published.is_described:
        stored = published.stored
        told = told_changes(
            {"names": asdict(stored.names), "revision": stored.revision, "description": stored.description}
        )
        record(connection, actor(connection), "grid.updated", stored.id, project_id=project_id, **told)
