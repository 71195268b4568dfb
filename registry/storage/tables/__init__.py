"""Tables of the database. Statements over them are in `registry.operations` and `workers`."""

from registry.storage.tables.claims import claims, judgements
from registry.storage.tables.columns import Numbers, metadata, new_id
from registry.storage.tables.events import arrivals, deliveries, delivery_attempts, event_heads, events, webhooks
from registry.storage.tables.gates import alerts, gate_verdicts
from registry.storage.tables.grids import aliases, experiments, grids, names, revisions, shapes, stored_revisions
from registry.storage.tables.items import item_continuations, item_ids, item_outcomes
from registry.storage.tables.pair_sums import pair_sum_inputs, pair_sum_queue, pair_sum_scopes, pair_sums
from registry.storage.tables.processes import job_counts, processes
from registry.storage.tables.projects import (
    audit_log,
    baseline_versions,
    baselines,
    bi_readers,
    idempotency_keys,
    projects,
    shares,
    signing_keys,
    suites,
    tokens,
)
from registry.storage.tables.results import cached_results, derivations, invalidations, statistics
from registry.storage.tables.sign_in import members, sessions, submitted_forms, users

__all__ = [
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
