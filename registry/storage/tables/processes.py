"""Tables in which dispatchers and workers report themselves, and what they computed."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Double, Integer, Table, Text, Uuid

from registry.storage.tables.columns import instant, metadata

processes = Table(
    "processes",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("role", Text, nullable=False, comment="dispatcher, worker or inline-worker"),
    Column("host", Text, nullable=False),
    Column("pid", Integer, nullable=False),
    Column("version", Text, nullable=False),
    Column("methods_version", Text, nullable=False),
    Column("broker_up", Boolean, comment="whether the broker answered it last; NULL: it does not ask"),
    instant("started_at"),
    instant("seen_at"),
    comment="processes that compute; each writes its own row every few seconds while it lives",
)

job_counts = Table(
    "job_counts",
    metadata,
    Column("kind", Text, primary_key=True, comment="statistics, or the kind of a query"),
    Column("computed", BigInteger, nullable=False),
    Column("failed", BigInteger, nullable=False, comment="attempts that failed"),
    Column("seconds", Double, nullable=False, comment="what all of them took"),
    comment="jobs since the registry was made; the numbers only grow",
)
