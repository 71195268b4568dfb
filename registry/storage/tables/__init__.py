"""Tables of the database. Statements over them are in `registry.operations` and `workers`."""

from registry.storage.tables.columns import Numbers, metadata, new_id
from registry.storage.tables.grids import aliases, grids, names, revisions, shapes, stored_revisions
from registry.storage.tables.pair_sums import pair_sum_inputs, pair_sum_queue, pair_sum_scopes, pair_sums
from registry.storage.tables.projects import (
    audit_log,
    bi_readers,
    idempotency_keys,
    projects,
    shares,
    signing_keys,
    suites,
    tokens,
)
from registry.storage.tables.results import cached_results, derivations, invalidations, statistics

__all__ = [
    "Numbers",
    "aliases",
    "audit_log",
    "bi_readers",
    "cached_results",
    "derivations",
    "grids",
    "idempotency_keys",
    "invalidations",
    "metadata",
    "names",
    "new_id",
    "pair_sum_inputs",
    "pair_sum_queue",
    "pair_sum_scopes",
    "pair_sums",
    "projects",
    "revisions",
    "shapes",
    "shares",
    "signing_keys",
    "statistics",
    "stored_revisions",
    "suites",
    "tokens",
]
