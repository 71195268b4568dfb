"""Routes of claims that are judged but not kept; those that are kept are in `stored_claims.py`."""

import time
from collections.abc import Sequence
from typing import Any

from flask import Response

from registry.api import examples
from registry.api.answers import ask, settled
from registry.api.context import parts, project_for
from registry.api.long_poll import preference, unready
from registry.api.request_body import sent_json
from registry.api.responses import MEDIA, json_answer
from registry.api.smorest import Blueprint, reply
from registry.claims.claim import Claim
from registry.claims.grammar import MOST_CLAIMS, claim_schema, read_claim
from registry.errors import Fault, Invalid
from registry.operations.stored_claims import Questions, questions_of
from registry.results.codec import from_bytes

blp = Blueprint("claims", "What is said of results, judged against them.")

_CLAIM = {"$ref": "#/components/schemas/Claim"}
BODY = {
    "required": True,
    "content": {
        "application/json": {
            "schema": {"anyOf": [_CLAIM, {"type": "array", "items": _CLAIM, "minItems": 1, "maxItems": MOST_CLAIMS}]},
            "example": examples.CLAIM,
        },
    },
}


def judged(project: str) -> Response:
    """The judgement of the sent claim, or of each of a list; nothing is stored but the answer, which is kept until its
    grids change."""
    row = project_for(project, "reader")
    sent = sent_json()
    claims = read_claims(sent)
    with parts().database.reading() as connection:
        questions = questions_of(connection, row.id, claims)
    return _answer(questions, project, single=not isinstance(sent, list))


def read_claims(sent: Any) -> list[tuple[str, Claim]]:
    """The claims with their pointers; `Invalid` with the faults of all of them."""
    several: list[Any] = sent if isinstance(sent, list) else [sent]
    if not 1 <= len(several) <= MOST_CLAIMS:
        raise Invalid([Fault("", f"a list has 1 to {MOST_CLAIMS} claims")])
    found: list[tuple[str, Claim]] = []
    faults: list[Fault] = []
    for place, one in enumerate(several):
        pointer = f"/{place}" if isinstance(sent, list) else ""
        try:
            found.append((pointer, read_claim(one, pointer)))
        except Invalid as error:
            faults += error.faults
    if faults:
        raise Invalid(faults)
    return found


def _answer(questions: Questions, project: str, *, single: bool) -> Response:
    until = time.monotonic() + preference()
    # All are asked before any is waited for, so that workers compute them side by side.
    for one in questions.asked[1:]:
        ask(one, project, most=0.0)
    documents = []
    for one in questions.asked:
        question, row = ask(one, project, most=max(0.0, until - time.monotonic()))
        if not settled(row) or row.document is None:
            return unready(row, {"kind": question.kind}, "json", pending=not settled(row))
        documents.append(from_bytes(row.document))
    refused = next((document for document in documents if "judgements" not in document), None)
    if refused is not None:
        return json_answer({"state": "failed", "reason": refused["reason"], "attempts": 0})
    items = [_item(documents[question], place) for question, place in questions.places]
    return json_answer(items[0] if single else {"items": items})


def _item(document: dict[str, Any], place: int) -> dict[str, Any]:
    """A judgement with what tells how it was computed."""
    judgements: Sequence[dict[str, Any]] = document["judgements"]
    told: dict[str, Any] = {
        name: document[name] for name in ("methods_version", "state", "computed_at") if name in document
    }
    return {**judgements[place], **told}


@blp.get("/schemas/claim", operation="getClaimSchema")
@blp.answers(reply(200, "The JSON Schema", forms=["schema"]), public=True)
def schema() -> Response:
    """Read the JSON Schema of a claim

    For editors, and for models that write claims from sentences. What it refuses is refused; what it takes may still
    name what is not there, or have fields that do not go together: the answer is then 422 with pointers.
    """
    return json_answer(claim_schema(), Content_Type=MEDIA["schema"])
