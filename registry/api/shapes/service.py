"""The service itself: problems, what is pending, health and limits."""

from __future__ import annotations

from registry.api.shapes.common import NUMBER_OF_REVISION
from registry.api.shapes.words import (
    COUNT,
    ID,
    NULLABLE,
    NULLABLE_TEXT,
    NUMBER,
    TEXT,
    Shape,
    array_of,
    described,
    extended,
    map_of,
    nullable,
    object_of,
    one_of,
    ref,
)

_QUERY: dict[str, Shape] = {
    "kind": described(
        one_of(
            *("ranking", "aggregates", "statistics", "thresholds", "comparison", "model_comparison"),
            *("gate", "noise", "claims", "claim_plan", "stored_claims"),
        ),
        "What is asked for.",
    ),
    "grid": described(ID, "The grid that is asked about."),
    "revision": NUMBER_OF_REVISION,
    "experiment": described(TEXT, "Of this experiment; empty where one grid or two are asked about."),
    "metric": described(TEXT, "By the metric of this name; empty where one grid or two are asked about."),
    "benchmark": described(array_of(TEXT), "Only these benchmarks; empty: all."),
    "model": described(array_of(TEXT), "Only these models; empty: all."),
    "variant": described(array_of(TEXT), "Only these variants; empty: all."),
    "by": described(TEXT, "What is ranked: `model`, `variant`, `benchmark` or `axis:<name>`."),
    "method": described(TEXT, "The method of the ranking."),
    "missing": described(TEXT, "What the ranking or the table makes of missing slots."),
    "group_by": described(array_of(TEXT), "The dimensions of the table."),
    "over": described(array_of(TEXT), "The dimensions whose levels the table averages over."),
    "value": described(TEXT, "What the cells of an entry of the table become: mean, best or count."),
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
    "baseline_items": described(COUNT, "Which outcomes of its items were known; absent: none."),
    "contender_items": described(COUNT, "Which outcomes of its items were known; absent: none."),
    "baseline_model": described(TEXT, "The model that is subtracted."),
    "baseline_variant": described(TEXT, "Its variant; absent: that of the contender."),
    "contender_model": described(TEXT, "The model that it is subtracted from."),
    "contender_variant": described(TEXT, "Its variant; absent: that of the baseline."),
    "suite": described(TEXT, "The suite that the benchmarks are from."),
}

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
    "Fault": described(
        object_of(
            "pointer detail",
            pointer=described(TEXT, "A JSON pointer into the body, or the name of a parameter after a slash."),
            detail=described(TEXT, "What is wrong there."),
        ),
        "A place that is at fault.",
    ),
    "Query": described(object_of("", **_QUERY), "What was asked for: of these fields those that belong to its kind."),
    "Pending": extended(
        "Query",
        object_of(
            "state derivation",
            state=described(one_of("pending"), "It is being computed."),
            derivation=ref("Derivation"),
        ),
        "What is being computed.",
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
            "status writes derivations answers",
            status=described(one_of("ready"), "Requests can be served."),
            writes=described(
                one_of("taken", "disk_full", "read_only"),
                "`disk_full`, `read_only`: why the database refused a write within a minute; reads are served.",
            ),
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
    "Retried": described(
        object_of(
            "derivations answers",
            derivations=described(COUNT, "Statistics of grids."),
            answers=described(COUNT, "Rankings, comparisons and the like."),
        ),
        "How many jobs that had failed are due again.",
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
            "max_cells max_levels max_body max_inflated max_batch max_labels max_label_length max_name"
            " max_description max_outcomes max_wait max_page request_seconds statement_seconds lock_seconds"
            " idempotency_days token_days rates",
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
        "The most that one request may hold and take, and how often one may ask.",
    ),
}
