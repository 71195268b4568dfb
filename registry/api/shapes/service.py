"""Shapes, written by hand, of the service itself, such as problems, health and limits, and of each event's data."""

from dataclasses import fields

from registry.api.shapes.words import (
    COUNT,
    NULLABLE,
    NULLABLE_TEXT,
    NUMBER,
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
    record,
    ref,
)
from registry.results.event_documents import Event
from registry.results.events import CATALOGUE, EventKind
from registry.results.schema import components

_KINDS = (
    *("ranking", "aggregates", "statistics", "thresholds", "comparison", "model_comparison"),
    *("gate", "noise", "claims", "claim_plan", "stored_claims"),
)

SERVICE: dict[str, Shape] = {
    "Problem": object_of(
        "type title status detail instance",
        type=described(TEXT, "The kind of problem: a link to its meaning, which ends in its code."),
        title=described(TEXT, "The kind of problem in words; the same for all of a kind."),
        status=described({"type": "integer"}, "The status of the answer."),
        detail=described(TEXT, "What went wrong this time, for people."),
        instance=described(TEXT, "The request's id, as `urn:uuid:…`; the log has it too."),
        errors=described(array_of(ref("Fault")), "The places that are at fault, at most a hundred; with 422."),
        first=described(TEXT, "The cursor of all events that are kept; with 410."),
    )
    | {"description": "An error (RFC 9457)."},
    "Fault": record(
        "A place that is at fault.",
        pointer=described(TEXT, "A JSON pointer into the body, or the name of a parameter after a slash."),
        detail=described(TEXT, "What is wrong there."),
    ),
    "Query": record(
        "What was asked for: its kind, and the parameters that it was asked by, as they are understood.",
        kind=may(described(one_of(*_KINDS), "What is asked for; absent of the usual statistics of a grid.")),
    )
    | {"additionalProperties": True},
    "Pending": extended(
        "Query",
        "What is being computed.",
        state=described(one_of("pending"), "It is being computed."),
        derivation=ref("Derivation"),
    ),
    "Failed": extended(
        "Query",
        "What could not be computed, and why.",
        state=described(one_of("failed"), "It could not be computed."),
        reason=described(NULLABLE_TEXT, "Why not."),
        attempts=described(COUNT, "How often it was tried."),
    ),
    "Health": record(
        "The process is alive.",
        status=described(one_of("ok"), "The process answers."),
        version=described(TEXT, "The version of the service."),
    ),
    "Readiness": record(
        "Requests can be served, and how much work waits: statistics of grids, and answers to queries.",
        status=described(one_of("ready"), "Requests can be served."),
        writes=described(
            one_of("taken", "disk_full", "read_only"),
            "`disk_full`, `read_only`: why the database refused a write within a minute; reads are served.",
        ),
        derivations=ref("Backlog"),
        answers=ref("Backlog"),
    ),
    "Backlog": record(
        "Work that waits for a worker.",
        pending=described(COUNT, "How many wait."),
        failed=described(COUNT, "How many were given up."),
        oldest_seconds=described(NULLABLE, "How many seconds the oldest has waited; 0 where none waits."),
    ),
    "Retried": record(
        "How many jobs that had failed are due again.",
        derivations=described(COUNT, "Statistics of grids."),
        answers=described(COUNT, "Rankings, comparisons and the like."),
    ),
    "Root": record(
        "Where to go from here.",
        version=described(TEXT, "The version of the service."),
        links=described(map_of(ref("Href")), "What to begin with, by its relation."),
    ),
    "Href": record("A link.", href=described(TEXT, "A path of this service.")),
    "Rate": record(
        "How often one may ask.",
        per_second=described(NUMBER, "So many requests a second in the long run."),
        burst=described(NUMBER, "So many at once."),
    ),
    "Limits": record(
        "The most that one request may hold and take, and how often one may ask.",
        max_cells=described(COUNT, "Cells of a grid, measured or not."),
        max_levels=described(COUNT, "Levels of an axis."),
        max_body=described(COUNT, "Bytes of a body as it is sent."),
        max_inflated=described(COUNT, "Bytes of a body once it is decompressed."),
        max_batch=described(COUNT, "Grids of a batch."),
        max_labels=described(COUNT, "Labels of a grid."),
        max_label_length=described(COUNT, "Characters of a label's name and of its text."),
        max_name=described(COUNT, "Characters of a name."),
        max_description=described(COUNT, "Characters of a description."),
        max_outcomes=described(COUNT, "Outcomes of items in one request."),
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
}


def _line(kind: EventKind) -> str:
    data = ", ".join(_data(kind))
    closed = " Only administrators of the project read it." if kind.reader == "admin" else ""
    return f"- `{kind.name}`: {kind.description}{closed} Data: {data}."


def _data(kind: EventKind) -> list[str]:
    """The fields of the data of an event; those of an earlier type by its name, where all of these are the first."""
    own = [field.name for field in fields(kind.data)]
    for other in CATALOGUE.values():
        if other is kind:
            break
        known = [field.name for field in fields(other.data)]
        if len(known) > 1 and own[: len(known)] == known:
            return [f"that of `{other.name}`", *(f"`{name}`" for name in own[len(known) :])]
    return [f"`{name}`" for name in own]


EVENTS: dict[str, Shape] = components(Event)
_TYPES = "\n".join(map(_line, CATALOGUE.values()))
EVENTS["Event"] |= {"description": f"{EVENTS['Event']['description']}\n\n{_TYPES}"}
