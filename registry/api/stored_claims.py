"""Routes of claims that are kept: posted once, judged again whenever a grid that they are about changes."""

import uuid
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from hashlib import sha256
from typing import Any, get_args

import orjson
from flask import Response, request
from marshmallow import Schema, fields
from sqlalchemy import Connection

from registry.api.claims import BODY, blp, judged, read_claims
from registry.api.context import actor, authorize_body, caller, enter, entered, owned_claim, parts
from registry.api.fields import Choice, Matching
from registry.api.idempotency import idempotency_key, idempotent_write, written
from registry.api.long_poll import preference, waited
from registry.api.paging import page
from registry.api.request_body import sent_json
from registry.api.responses import dumps, known_tags, send
from registry.api.schemas import ByIdParameters, RevisionsParameters, about, many_names
from registry.api.smorest import API_PREFIX, reply
from registry.operations import stored_claims
from registry.operations.auth import authorize
from registry.operations.find_claims import (
    ClaimFilters,
    count_verdicts,
    find_claim,
    find_claims,
    list_claims,
    list_judgements,
)
from registry.operations.stored_claims import Added, tag_of
from registry.results.codec import from_bytes, to_document
from registry.results.judgement import Verdict

_ADDRESS = r"[^\u0000-\u001f\u007f-\u009f]{1,2000}"


class DryRun(Schema):
    dry_run = fields.Boolean(load_default=False, metadata=about("Judge the claims, and keep none."))


def _several(field: Any, text: str) -> Any:
    return fields.List(field, load_default=list, metadata=about(text))


class ClaimsParameters(ByIdParameters):
    verdict = _several(Choice(*get_args(Verdict)), "The latest verdict; repeat for OR.")
    state = _several(
        Choice("pending", "ready", "failed"), "Whether that is of the grids as they are now; repeat for OR."
    )
    experiment = many_names("As the claim names it; repeat for OR.")
    source = _several(
        Matching(_ADDRESS, "is 1 to 2,000 characters, none of them a control character"),
        "`url` of the source; repeat for OR.",
    )


_LARGE = ("parts", "inputs")
"""What of a judgement is left out of lists."""
_ONE_OR_MORE = {"anyOf": [{"$ref": f"#/components/schemas/{name}"} for name in ("StoredClaim", "AddedClaims")]}
_JUDGED = [{"$ref": f"#/components/schemas/{name}"} for name in ("Judgement", "Judgements", "Failed")]
_ADDED = (
    reply(201, "Kept", _ONE_OR_MORE, example="stored_claim", headers=["Location", "ETag", "Preference-Applied"]),
    reply(
        200,
        "Each is there already; of a dry run the judgements",
        {"anyOf": [*_ONE_OR_MORE["anyOf"], *_JUDGED]},
        example="judgement",
        headers=["ETag"],
    ),
    reply(202, "Pending"),
)
_ADDS: dict[str, Any] = {"errors": [413], "parameters": ["Prefer"]}


@blp.post("/projects/<project>/claims", operation="addClaims")
@blp.arguments(DryRun, location="query")
@blp.answers(*_ADDED, requestBody=BODY, **_ADDS)
def add_claims(query: dict[str, Any], project: str) -> Response:
    """Keep claims

    One claim, or a list. They are judged now and again whenever a grid that they are about changes; a judgement that
    says something new is added to their history. The same statement again is the claim that is there, with its text. A
    claim may be about names that are not published yet: it is `not_decidable`, `not_published`, and `warnings` has what
    may have been meant. `Prefer: wait=10` waits for the judgement.

    `dry_run=true` keeps nothing, and needs no more than reading: the answer is what the data say now, supported,
    contradicted or not decidable, by the posted numbers and beyond noise, with the numbers, the reason and the
    revisions that were read. Nothing missing counts as agreement. After 202 send the same again.
    """
    if query["dry_run"]:
        idempotency_key()  # it has nothing to repeat, and is refused where a write would be
        return judged(project)
    authorize_body()
    sent = sent_json()
    claims = read_claims(sent)
    single = not isinstance(sent, list)

    def write(connection: Connection, row: Any) -> Response:
        added = stored_claims.add_claims(connection, actor(connection), row.project_id, claims)
        rows = find_claims(connection, [one.row.id for one in added])
        return _answer(added, rows, single=single)

    return _judged(written(partial(enter, slug=project, needs="writer"), write))


def _answer(added: Sequence[Added], rows: Mapping[uuid.UUID, Any], *, single: bool) -> Response:
    items = [document(rows[one.row.id]) | {"warnings": to_document(one.warnings)} for one in added]
    is_new = any(one.is_new or one.is_back for one in added)
    response = Response(
        dumps(items[0] if single else {"items": items}), 201 if is_new else 200, content_type="application/json"
    )
    if single:
        response.headers["ETag"] = f'"{_tag(rows[added[0].row.id], dumps(items[0]))}"'
        response.headers["Location"] = f"{API_PREFIX}/claims/{added[0].row.id}"
    return response


def _judged(response: Response) -> Response:
    """The answer to a write, given after the judgements if the caller prefers to wait for them."""
    if response.status_code not in (200, 201) or not preference():
        return response
    told = orjson.loads(response.get_data())
    items = told.get("items", [told])
    ids = [uuid.UUID(one["id"]) for one in items]

    def look() -> Any:
        with parts().database.reading() as connection:
            return find_claims(connection, ids)

    rows = waited(look, lambda rows: all(row.state != "pending" for row in rows.values()))
    for one, claim_id in zip(items, ids, strict=True):
        one.update(document(rows[claim_id]) if claim_id in rows else {})
    response.set_data(dumps(told))
    if "items" not in told and ids[0] in rows:
        response.headers["ETag"] = f'"{_tag(rows[ids[0]], dumps(told))}"'
    return response


@blp.get("/projects/<project>/claims", operation="listClaims")
@blp.arguments(ClaimsParameters, location="query")
@blp.answers(reply(200, "A page of claims", "StoredClaims", headers=["Link"]), public=True)
def list_all(query: dict[str, Any], project: str) -> Response:
    """List the claims that are kept

    The oldest first, with their latest judgements but for the parts and inputs of these; `counts` has the numbers by
    verdict, whatever `verdict` asks for.
    """
    named = {name: tuple(query.get(name, ())) for name in ("verdict", "state", "experiment", "source")}
    filters = ClaimFilters(**named)
    after = uuid.UUID(query["cursor"]) if "cursor" in query else None
    with entered(project) as (connection, row):
        found = list_claims(connection, row.id, filters, after, query["limit"] + 1)
        counts = count_verdicts(connection, row.id, filters)
    return page(found, query["limit"], _listed, lambda one: str(one.id), more={"counts": counts})


@blp.get("/claims/<uuid:claim>", operation="getClaim")
@blp.answers(
    reply(200, "The claim", "StoredClaim", headers=["ETag", "Preference-Applied"]),
    public=True,
    parameters=["Prefer", "If-None-Match"],
)
def read_claim_kept(claim: uuid.UUID) -> Response:
    """Read a claim

    With its latest judgement. `state` is `ready` where that is of the grids as they are now, and `checked_at` says when
    it was last found so. `Prefer: wait=10` waits for it.
    """
    row = waited(partial(_row, claim), lambda row: row.state != "pending")
    body = dumps(document(row))
    return send(body, tag=_tag(row, body))


def _row(claim_id: uuid.UUID) -> Any:
    with parts().database.reading() as connection:
        row = find_claim(connection, claim_id)
        authorize(caller(connection), row, "reader")
        return row


@blp.get("/claims/<uuid:claim>/judgements", operation="listJudgements")
@blp.arguments(RevisionsParameters, location="query")
@blp.answers(reply(200, "A page of judgements", "RecordedJudgements", headers=["Link"]), public=True)
def list_of_judgements(query: dict[str, Any], claim: uuid.UUID) -> Response:
    """List the judgements of a claim

    The latest first. One is added when verdicts, reason or numbers are others than before; none is ever changed.
    `inputs` are the revisions that were read when it was first found.
    """
    before = int(query["cursor"]) if "cursor" in query else None
    with parts().database.reading() as connection:
        owned_claim(connection, claim, "reader")
        found = list_judgements(connection, claim, before, query["limit"] + 1)
    return page(found, query["limit"], _recorded, lambda row: str(row.number))


@blp.delete("/claims/<uuid:claim>", operation="deleteClaim")
@blp.answers(reply(204, "Removed"), parameters=["If-Match"])
@idempotent_write()
def delete_claim(connection: Connection, row: Any, claim: uuid.UUID) -> Response:
    """Remove a claim

    It is judged no more. Posting the same statement brings it back with its judgements, under the text and the source
    that are sent then, until it is purged.
    """
    stored_claims.remove_claim(connection, actor(connection), row, _expected())
    return Response(status=204)


def document(row: Any) -> dict[str, Any]:
    """A claim as it is served, with its whole judgement."""
    told = ("id", "project", "experiment", "metric", "text", "source", "state", "failure", "verdict")
    found = {name: getattr(row, name) for name in told}
    judgement = None if row.document is None else {**from_bytes(row.document), "methods_version": row.methods_version}
    return {
        **found,
        "claim": orjson.loads(row.normal),
        "digest": f"sha256:{bytes(row.digest).hex()}",
        "judgement": judgement,
        "judgement_number": row.number,
        **{name: getattr(row, name) for name in ("judged_at", "checked_at", "created_at", "updated_at")},
    }


def _listed(row: Any) -> dict[str, Any]:
    found = document(row)
    judgement = found["judgement"]
    if judgement is not None:
        found["judgement"] = {name: said for name, said in judgement.items() if name not in _LARGE}
        found["judgement"]["parts_left_out"] = len(judgement["parts"]) + judgement["parts_left_out"]
    return found


def _recorded(row: Any) -> dict[str, Any]:
    judgement = {**from_bytes(row.document), "methods_version": row.methods_version}
    return {"number": row.number, "judged_at": row.judged_at, "judgement": judgement}


def _tag(row: Any, body: bytes) -> str:
    return f"{tag_of(row)}-{sha256(body).hexdigest()[:12]}"


def _expected() -> Collection[str] | None:
    return [tag.partition("-")[0] for tag in known_tags("If-Match")] if "If-Match" in request.headers else None
