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

scopes = Table(
    "scopes",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("project_id", Uuid, ForeignKey("projects.id"), nullable=False),
    Column("experiment", Text, nullable=False),
    Column("metric", Text, nullable=False),
    Column("whole", Boolean, nullable=False, server_default=text("false"), comment="false: to be counted from nothing"),
    Column("exponent", SmallInteger, comment="sums are in units of 10^-exponent"),
    Column("grids", Integer, nullable=False, server_default="0"),
    Column("slots", BigInteger, nullable=False, server_default="0", comment="with a cell"),
    Column("compared", BigInteger, nullable=False, server_default="0", comment="slots with two names or more"),
    Column("kinds", JSONB, nullable=False, server_default=text("'{}'"), comment="grids by unit and direction"),
    Column("checksum", Uuid, nullable=False, server_default=text("'00000000-0000-0000-0000-000000000000'")),
    UniqueConstraint("project_id", "experiment", "metric"),
    comment="experiments and metrics that are too large to be ranked from their cells each time",
)

tallies = Table(
    "tallies",
    metadata,
    Column("scope_id", Uuid, ForeignKey("scopes.id"), primary_key=True),
    Column("place", Integer, primary_key=True),
    Column("name", Text, nullable=False),
    Column("cells", BigInteger, nullable=False),
    Column("sums", LargeBinary, nullable=False, comment="of the pairs with each place, as the grids of this name came"),
    UniqueConstraint("scope_id", "name"),
)

counted = Table(
    "counted",
    metadata,
    Column("scope_id", Uuid, ForeignKey("scopes.id"), primary_key=True),
    Column("grid_id", Uuid, ForeignKey("grids.id"), primary_key=True),
    Column("revision", Integer, nullable=False, comment="the one that is in the sums"),
    Column("updated_at", DateTime(timezone=True), nullable=False, comment="the grid's, when it was counted"),
)

uncounted = Table(
    "uncounted",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("scope_id", Uuid, nullable=False),
    Column("benchmark", Text, nullable=False, comment="that of the grid: they are counted benchmark by benchmark"),
    Column("grid_id", Uuid, comment="NULL: every grid of the benchmark"),
    Index(None, "scope_id", "benchmark"),
    comment="grids that changed since they were counted; the same one may stand here often",
)
