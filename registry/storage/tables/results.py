"""Tables of results: derivations with statistics, cached results of queries, and invalidations."""

from __future__ import annotations

from sqlalchemy import (
    ARRAY,
    REAL,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    ForeignKey,
    ForeignKeyConstraint,
    Identity,
    Index,
    Integer,
    LargeBinary,
    Table,
    Text,
    UniqueConstraint,
    Uuid,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from registry.storage.tables.columns import STATES, facts, instant, job, metadata, of_project

derivations = Table(
    "derivations",
    metadata,
    Column("grid_id", Uuid, primary_key=True),
    Column("revision", Integer, primary_key=True),
    *job(),
    Column("methods_version", Text),
    Column("settled_at", DateTime(timezone=True)),
    of_project(),
    ForeignKeyConstraint(["grid_id", "revision"], ["stored_revisions.grid_id", "stored_revisions.number"]),
    CheckConstraint(STATES, name="state"),
    Index("ix_derivations_pending", "due_at", postgresql_where=text("state = 'pending'")),
    Index("ix_derivations_failed", "grid_id", postgresql_where=text("state = 'failed'")),
)

statistics = Table(
    "statistics",
    metadata,
    Column("grid_id", Uuid, primary_key=True),
    Column("revision", Integer, primary_key=True),
    Column("methods_version", Text, nullable=False),
    Column("etag", Text, nullable=False),
    Column("document", LargeBinary, nullable=False, comment="the finished JSON answer, gzip"),
    facts(),
    instant("computed_at"),
    of_project(),
    ForeignKeyConstraint(["grid_id", "revision"], ["stored_revisions.grid_id", "stored_revisions.number"]),
)

cached_results = Table(
    "cached_results",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("project_id", Uuid, ForeignKey("projects.id"), nullable=False),
    Column("experiment", Text, nullable=False),
    Column("metric", Text, nullable=False),
    Column("query", JSONB, nullable=False),
    Column("query_key", Uuid, nullable=False, comment="hash of the query"),
    *job(),
    Column("generation", Integer, nullable=False, server_default="1", comment="grows when an input changes"),
    Column(
        "document_generation",
        Integer,
        nullable=False,
        server_default="0",
        comment="the generation that the document was computed for",
    ),
    Column("document", LargeBinary, comment="the finished JSON answer, gzip"),
    facts(),
    Column("etag", Text),
    Column("methods_version", Text),
    Column("seconds", REAL, nullable=False, server_default="0", comment="what the last computation took"),
    Column("computed_at", DateTime(timezone=True)),
    instant("read_at"),
    Column(
        "is_default",
        Boolean,
        nullable=False,
        server_default=text("false"),
        comment="whether every parameter has its default; such a result is computed before it is read",
    ),
    CheckConstraint(STATES, name="state"),
    UniqueConstraint("project_id", "query_key"),
    Index(None, "project_id", "experiment", "metric"),
    Index("ix_cached_results_pending", "due_at", postgresql_where=text("state = 'pending'")),
)

invalidations = Table(
    "invalidations",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("project_id", Uuid, nullable=False),
    Column("experiment", Text, comment="NULL: every experiment of the project"),
    Column("metric", Text),
    Column("grid_ids", ARRAY(Uuid), comment="what changed; NULL: it may be any grid of the scope"),
    Index(None, "project_id"),
)
