"""Tables of the database. Statements over them are in `registry.operations` and `workers`."""

from registry.storage.tables.columns import Numbers, metadata, new_id
from registry.storage.tables.grids import aliases, grids, names, revisions
from registry.storage.tables.pair_sums import counted, scopes, tallies, uncounted
from registry.storage.tables.projects import audit, bi_readers, idempotency_keys, projects, shares, signing_keys, tokens
from registry.storage.tables.results import answers, derivations, marks, statistics

__all__ = [
    "Numbers",
    "aliases",
    "answers",
    "audit",
    "bi_readers",
    "counted",
    "derivations",
    "grids",
    "idempotency_keys",
    "marks",
    "metadata",
    "names",
    "new_id",
    "projects",
    "revisions",
    "scopes",
    "shares",
    "signing_keys",
    "statistics",
    "tallies",
    "tokens",
    "uncounted",
]
