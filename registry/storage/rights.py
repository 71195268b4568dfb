"""Tables of which the role of the web process may do less than read, add, change and delete."""

from __future__ import annotations

APPEND_ONLY = (
    *("stored_revisions", "revisions", "shapes", "audit_log"),
    *("item_ids", "item_outcomes", "item_continuations"),
    *("judgements", "arrivals"),
)
READ_ONLY = (
    *("alembic_version", "bi_readers", "gate_verdicts", "signing_keys"),
    *("events", "event_heads", "delivery_attempts", "job_counts", "processes"),
)
