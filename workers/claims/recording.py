"""Judgements are recorded where they say something new, and trials are added to those that were recorded without."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import orjson
from sqlalchemy import Connection, and_, bindparam, case, func, insert, select, update

from registry.methods_version import METHODS_VERSION
from registry.results.codec import from_bytes, to_bytes, to_document
from registry.results.event_data import JudgementEvent
from registry.storage.arrivals import Arrival, announce, cut
from registry.storage.tables import cached_results, claims, judgements
from workers.claims.stored import is_complete

_DIGITS = 9
"""Significant digits in which numbers are compared: another machine may round the last ones in another way."""
_COMPARED = ("verdict", "as_posted", "beyond_noise", "reason", "robust_to_missing", "depends_on_reading")
_OF_PARTS = ("part", "group", "as_posted", "beyond_noise", "reason")
_OF_NUMBERS = ("estimate", "low", "high", "cells", "ties", "smallest_p")


def told_of(claim: Any, number: int, document: Mapping[str, Any]) -> Arrival:
    """The event of a judgement of a claim, whose row still has the verdict before."""
    first = next(iter(document["parts"]), None)
    event = JudgementEvent(
        claim=str(claim.id),
        judgement=number,
        verdict=document["verdict"],
        reason=document["reason"],
        estimate=first["numbers"].get("estimate") if first else None,
        experiment=claim.experiment,
        metric=claim.metric,
        text=cut(claim.text),
    )
    said, subject = to_document(event), f"claims/{claim.id}"
    # The judgement before may have been purged with its grids: then nothing is known to have flipped.
    if claim.verdict in (None, event.verdict):
        return Arrival("claim.judged", subject, said)
    return Arrival("claim.flipped", subject, {**said, "before": claim.verdict})


def record_judgements(connection: Connection, row: Any, result: Mapping[str, Any]) -> None:
    """Add the judgements that differ from the latest ones in verdicts, reason or numbers, and their trials to the
    others. Where claims are left, the part is due again at once, and not ready."""
    if result["left"]:
        again = {"state": "pending", "due_at": func.now(), "document_generation": row.generation - 1}
        connection.execute(update(cached_results).where(cached_results.c.id == row.id).values(again))
    judged = {uuid.UUID(one["id"]): one for one in result["judgements"]}
    added, told = [], []
    completed: list[dict[str, Any]] = []
    for known in connection.execute(_latest(row.project_id, row.query_key)):
        document = {name: said for name, said in judged.get(known.id, {}).items() if name not in ("id", "key")}
        mark = fingerprint(document) if document else b""
        if mark and (known.fingerprint is None or bytes(known.fingerprint) != mark):
            verdicts = {name: document[name] for name in ("verdict", "as_posted", "beyond_noise", "reason", "inputs")}
            numbered = {"claim_id": known.id, "number": known.judgement + 1, "generation": row.generation}
            written = {"document": to_bytes(document), "fingerprint": mark, "methods_version": METHODS_VERSION}
            added.append({**numbered, **verdicts, **written, "is_complete": is_complete(document)})
            told.append(told_of(known, known.judgement + 1, document))
        elif mark and known.is_complete is False and is_complete(document):
            completed.append({"of": known.id, "at": known.judgement, "whole": to_bytes(_with_trials(known, document))})
    if completed:
        its = (judgements.c.claim_id == bindparam("of"), judgements.c.number == bindparam("at"))
        whole: dict[str, Any] = {"document": bindparam("whole"), "is_complete": True}
        connection.execute(update(judgements).where(*its).values(whole), completed)
    if added:
        connection.execute(insert(judgements), added)
        latest: dict[str, Any] = {"judgement": bindparam("new_number"), "verdict": bindparam("new_verdict")}
        statement = update(claims).where(claims.c.id == bindparam("of")).values(latest)
        columns = {"of": "claim_id", "new_number": "number", "new_verdict": "verdict"}
        connection.execute(statement, [{name: one[column] for name, column in columns.items()} for one in added])
        announce(connection, row.project_id, told)


def _latest(project_id: Any, key: uuid.UUID) -> Any:
    """Claims of a part as they stand, with the fingerprints of their latest judgements, locked."""
    latest = and_(judgements.c.claim_id == claims.c.id, judgements.c.number == claims.c.judgement)
    here = (claims.c.project_id == project_id, claims.c.query_key == key, claims.c.archived_at.is_(None))
    said = (claims.c[name] for name in ("id", "judgement", "verdict", "text", "experiment", "metric"))
    incomplete = case((~judgements.c.is_complete, judgements.c.document)).label("document")
    query = select(*said, judgements.c.fingerprint, judgements.c.is_complete, incomplete).outerjoin(judgements, latest)
    return query.where(*here).order_by(claims.c.id).with_for_update(of=claims, key_share=True)


def _with_trials(known: Any, document: Mapping[str, Any]) -> dict[str, Any]:
    """The judgement as it was recorded, with the trials that the same one has now."""
    before = {name: said for name, said in from_bytes(known.document).items() if name != "trials_needed"}
    return {**before, **{name: document[name] for name in ("sentence", "trials_needed") if name in document}}


def fingerprint(document: Mapping[str, Any]) -> bytes:
    """SHA-256 of verdicts, reason and numbers: not of the revisions that were read, nor of words."""
    said: dict[str, Any] = {name: document[name] for name in _COMPARED}
    parts = [
        {name: part.get(name) for name in _OF_PARTS} | {name: part["numbers"].get(name) for name in _OF_NUMBERS}
        for part in document["parts"]
    ]
    said |= {"parts": _rounded(parts), "parts_left_out": document["parts_left_out"]}
    return sha256(orjson.dumps(said, option=orjson.OPT_SORT_KEYS)).digest()


def _rounded(value: Any) -> Any:
    match value:
        case float():
            return float(f"{value:.{_DIGITS}g}")
        case Mapping():
            return {name: _rounded(said) for name, said in value.items()}
        case list() | tuple():
            return [_rounded(one) for one in value]
    return value
