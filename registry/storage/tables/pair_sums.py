"""Tables of pair sums, for scopes that are too large to be ranked from their cells each time."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    DateTime,
    ForeignKey,
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

from registry.storage.tables.columns import metadata

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
