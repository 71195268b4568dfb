"""Tables of the database. Statements over them are in `registry.operations` and `workers`."""

from registry.storage.tables.claims import claims, judgements
from registry.storage.tables.columns import Numbers, metadata, new_id
from registry.storage.tables.events import arrivals, deliveries, delivery_attempts, event_heads, events, webhooks
from registry.storage.tables.gates import alerts, baseline_versions, baselines, gate_verdicts
from registry.storage.tables.grids import (
    aliases,
    experiments,
    grids,
    item_continuations,
    item_ids,
    item_outcomes,
    names,
    revisions,
    shapes,
    stored_revisions,
)
from registry.storage.tables.projects import (
    audit_log,
    bi_readers,
    idempotency_keys,
    members,
    projects,
    sessions,
    shares,
    signing_keys,
    submitted_forms,
    suites,
    tokens,
    users,
)
from registry.storage.tables.results import (
    cached_results,
    derivations,
    invalidations,
    job_counts,
    pair_sum_inputs,
    pair_sum_queue,
    pair_sum_scopes,
    pair_sums,
    processes,
    statistics,
)

APPEND_ONLY = (
    *("stored_revisions", "revisions", "shapes", "audit_log"),
    *("item_ids", "item_outcomes", "item_continuations"),
    *("judgements", "arrivals"),
)
READ_ONLY = (
    *("alembic_version", "bi_readers", "gate_verdicts", "signing_keys"),
    *("events", "event_heads", "delivery_attempts", "job_counts", "processes"),
)
"""Tables of which the role of the web process may do less than read, add, change and delete."""

__all__ = [
    "APPEND_ONLY",
    "READ_ONLY",
    "Numbers",
    "alerts",
    "aliases",
    "arrivals",
    "audit_log",
    "baseline_versions",
    "baselines",
    "bi_readers",
    "cached_results",
    "claims",
    "deliveries",
    "delivery_attempts",
    "derivations",
    "event_heads",
    "events",
    "experiments",
    "gate_verdicts",
    "grids",
    "idempotency_keys",
    "invalidations",
    "item_continuations",
    "item_ids",
    "item_outcomes",
    "job_counts",
    "judgements",
    "members",
    "metadata",
    "names",
    "new_id",
    "pair_sum_inputs",
    "pair_sum_queue",
    "pair_sum_scopes",
    "pair_sums",
    "processes",
    "projects",
    "revisions",
    "sessions",
    "shapes",
    "shares",
    "signing_keys",
    "statistics",
    "stored_revisions",
    "submitted_forms",
    "suites",
    "tokens",
    "users",
    "webhooks",
]
