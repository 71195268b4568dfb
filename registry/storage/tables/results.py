"""Tables of what workers compute: statistics, cached results and pair sums, what makes them due, and who computes."""

from __future__ import annotations

from sqlalchemy import (
    ARRAY,
    REAL,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Identity,
    Index,
    Integer,
    LargeBinary,
    SmallInteger,
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
pair_sum_scopes = Table(
    "pair_sum_scopes",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("project_id", Uuid, ForeignKey("projects.id"), nullable=False),
    Column("experiment", Text, nullable=False),
    Column("metric", Text, nullable=False),
    Column(
        "is_complete",
        Boolean,
        nullable=False,
        server_default=text("false"),
        comment="false: the sums are to be computed from nothing",
    ),
    Column("exponent", SmallInteger, comment="sums are in units of 10^-exponent"),
    Column("grids", Integer, nullable=False, server_default="0"),
    Column("slots", BigInteger, nullable=False, server_default="0", comment="with a cell"),
    Column("compared", BigInteger, nullable=False, server_default="0", comment="slots with two names or more"),
    Column("kinds", JSONB, nullable=False, server_default=text("'{}'"), comment="grids by unit and direction"),
    Column("checksum", Uuid, nullable=False, server_default=text("'00000000-0000-0000-0000-000000000000'")),
    UniqueConstraint("project_id", "experiment", "metric"),
    comment="experiments and metrics that are too large to be ranked from their cells each time",
)

pair_sums = Table(
    "pair_sums",
    metadata,
    Column("scope_id", Uuid, ForeignKey("pair_sum_scopes.id"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("name", Text, nullable=False),
    Column("cells", BigInteger, nullable=False),
    Column(
        "sums", LargeBinary, nullable=False, comment="of the pairs with each position, as the grids of this name came"
    ),
    UniqueConstraint("scope_id", "name"),
)

pair_sum_inputs = Table(
    "pair_sum_inputs",
    metadata,
    Column("scope_id", Uuid, ForeignKey("pair_sum_scopes.id"), primary_key=True),
    Column("grid_id", Uuid, ForeignKey("grids.id"), primary_key=True),
    Column("revision", Integer, nullable=False, comment="the one that is in the sums"),
    Column("updated_at", DateTime(timezone=True), nullable=False, comment="the grid's, when it was added to the sums"),
)

pair_sum_queue = Table(
    "pair_sum_queue",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("scope_id", Uuid, nullable=False),
    Column("benchmark", Text, nullable=False, comment="that of the grid: they are added benchmark by benchmark"),
    Column("grid_id", Uuid, comment="NULL: every grid of the benchmark"),
    Index(None, "scope_id", "benchmark"),
    comment="grids that changed since they were added to the sums; the same one may stand here often",
)
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
