"""The tables: what is stored, nothing else. Statements over them live in `registry.operations` and `workers`."""

from __future__ import annotations

import os
import time
import uuid
from typing import Any

import orjson
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
    MetaData,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    Uuid,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.types import UserDefinedType

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def new_id() -> uuid.UUID:
    """A UUIDv7 (RFC 9562, 5.7): sorts by the millisecond in which it was made."""
    stamp = time.time_ns() // 1_000_000
    number = (stamp << 80) | int.from_bytes(os.urandom(10), "big")
    number = number & ~(0xF << 76) | (0x7 << 76)
    return uuid.UUID(int=number & ~(0x3 << 62) | (0x2 << 62))


class Numbers(UserDefinedType[tuple[float | None, ...]]):
    """A PostgreSQL array of numbers, sent as one text literal: psycopg2 adapts a list three times slower."""

    cache_ok = True

    def __init__(self, element: str) -> None:
        self.element = element

    def get_col_spec(self, **_options: Any) -> str:
        return f"{self.element}[]"

    def bind_processor(self, dialect: Any) -> Any:
        def literal(numbers: Any) -> str | None:
            return None if numbers is None else "{" + orjson.dumps(numbers).decode()[1:-1] + "}"

        return literal


def _instant(name: str, *, required: bool = True) -> Column:  # type: ignore[type-arg]
    return Column(name, DateTime(timezone=True), nullable=not required, server_default=func.now() if required else None)


projects = Table(
    "projects",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("slug", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("visibility", Text, nullable=False),
    _instant("created_at"),
    _instant("updated_at"),
    Column("deleted_at", DateTime(timezone=True)),
    CheckConstraint("visibility IN ('private', 'public')", name="visibility"),
    Index("uq_projects_slug", "slug", unique=True, postgresql_where=text("deleted_at IS NULL")),
)

tokens = Table(
    "tokens",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("public_id", Text, nullable=False, unique=True),
    Column("secret_hash", LargeBinary, nullable=False),
    Column("project_id", Uuid, ForeignKey("projects.id"), comment="NULL: every project"),
    Column("role", Text, nullable=False),
    Column("name", Text, nullable=False),
    _instant("created_at"),
    Column("expires_at", DateTime(timezone=True), nullable=False),
    Column("last_used_at", DateTime(timezone=True)),
    Column("revoked_at", DateTime(timezone=True)),
    CheckConstraint("role IN ('reader', 'writer', 'admin')", name="role"),
    Index(None, "project_id", "id"),
)

names = Table(
    "names",
    metadata,
    Column("project_id", Uuid, ForeignKey("projects.id"), primary_key=True),
    Column("kind", Text, primary_key=True),
    Column("name", Text, primary_key=True),
)

aliases = Table(
    "aliases",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("project_id", Uuid, ForeignKey("projects.id"), nullable=False),
    Column("kind", Text, nullable=False),
    Column("alias", Text, nullable=False),
    Column("name", Text, nullable=False),
    _instant("created_at"),
    CheckConstraint("kind IN ('model', 'benchmark', 'variant', 'experiment')", name="kind"),
    UniqueConstraint("project_id", "kind", "alias"),
)

grids = Table(
    "grids",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("project_id", Uuid, ForeignKey("projects.id"), nullable=False),
    Column("identity", Uuid, nullable=False, comment="hash of the names below; they may be too long for an index"),
    Column("experiment", Text, nullable=False),
    Column("benchmark", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("variant", Text, nullable=False),
    Column("metric", Text, nullable=False),
    Column("revision", Integer, nullable=False, comment="the current one"),
    _instant("created_at"),
    _instant("updated_at"),
    Column("deleted_at", DateTime(timezone=True)),
    UniqueConstraint("project_id", "identity"),
    Index(None, "project_id", "updated_at", "id"),
    Index(None, "project_id", "experiment", "metric", "benchmark"),
    Index(None, "project_id", "model"),
)

revisions = Table(
    "revisions",
    metadata,
    Column("grid_id", Uuid, ForeignKey("grids.id"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("digest", LargeBinary, nullable=False),
    Column("metric", JSONB, nullable=False),
    Column("axes", JSONB, nullable=False),
    Column("cell_count", Integer, nullable=False),
    Column("values", Numbers("double precision"), nullable=False, comment="row-major, NULL where nobody measured"),
    Column("trials", BigInteger, comment="one number for every cell"),
    Column("cell_trials", Numbers("bigint")),
    Column("stderr", Numbers("double precision")),
    Column("repeats", Numbers("integer")),
    Column("sd", Numbers("double precision")),
    Column("reasons", JSONB),
    Column("questions", Integer, comment="that the trials of each cell are about"),
    Column("design_effect", Double, comment="the variance of a cell, over that of independent trials"),
    Column("derived", JSONB(none_as_null=True), comment="true, or the names of what it is made of; NULL: measured"),
    Column("labels", JSONB, nullable=False, server_default=text("'{}'")),
    Column("warnings", JSONB, nullable=False, server_default=text("'[]'")),
    _instant("created_at"),
    Column("token_id", Uuid, ForeignKey("tokens.id"), comment="who posted it; NULL: the server itself"),
    CheckConstraint("number > 0", name="number"),
    Index(
        None,
        "labels",
        postgresql_using="gin",
        postgresql_ops={"labels": "jsonb_path_ops"},
        postgresql_where=text("labels <> '{}'"),
    ),
)


def _promise() -> list[Column]:  # type: ignore[type-arg]
    """The columns of a promise to compute: what state it is in, who holds it, when it is due."""
    return [
        Column("state", Text, nullable=False, server_default="pending"),
        _instant("due_at"),
        Column("attempts", SmallInteger, nullable=False, server_default="0"),
        Column("lease", Uuid),
        Column("leased_until", DateTime(timezone=True)),
        Column("reason", Text, comment="why the last attempt failed"),
    ]


_STATES = "state IN ('pending', 'ready', 'failed')"

derivations = Table(
    "derivations",
    metadata,
    Column("grid_id", Uuid, primary_key=True),
    Column("revision", Integer, primary_key=True),
    *_promise(),
    Column("methods_version", Text),
    Column("settled_at", DateTime(timezone=True)),
    ForeignKeyConstraint(["grid_id", "revision"], ["revisions.grid_id", "revisions.number"]),
    CheckConstraint(_STATES, name="state"),
    Index("ix_derivations_pending", "due_at", postgresql_where=text("state = 'pending'")),
    Index("ix_derivations_failed", "grid_id", postgresql_where=text("state = 'failed'")),
)


def _facts() -> Column:  # type: ignore[type-arg]
    return Column("facts", JSONB(none_as_null=True), comment="what the views of the schema bi show of the document")


statistics = Table(
    "statistics",
    metadata,
    Column("grid_id", Uuid, primary_key=True),
    Column("revision", Integer, primary_key=True),
    Column("methods_version", Text, nullable=False),
    Column("etag", Text, nullable=False),
    Column("document", LargeBinary, nullable=False, comment="the finished JSON answer, gzip"),
    _facts(),
    _instant("computed_at"),
    ForeignKeyConstraint(["grid_id", "revision"], ["revisions.grid_id", "revisions.number"]),
)

answers = Table(
    "answers",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("project_id", Uuid, ForeignKey("projects.id"), nullable=False),
    Column("experiment", Text, nullable=False),
    Column("metric", Text, nullable=False),
    Column("question", JSONB, nullable=False),
    Column("question_key", Uuid, nullable=False, comment="hash of the question"),
    *_promise(),
    Column("generation", Integer, nullable=False, server_default="1", comment="grows when an input changes"),
    Column("answered", Integer, nullable=False, server_default="0", comment="the generation that the document is for"),
    Column("document", LargeBinary, comment="the finished JSON answer, gzip"),
    _facts(),
    Column("etag", Text),
    Column("methods_version", Text),
    Column("seconds", REAL, nullable=False, server_default="0", comment="what the last computation took"),
    Column("computed_at", DateTime(timezone=True)),
    _instant("asked_at"),
    Column(
        "usual",
        Boolean,
        nullable=False,
        server_default=text("false"),
        comment="whether it is computed before anyone asks",
    ),
    CheckConstraint(_STATES, name="state"),
    UniqueConstraint("project_id", "question_key"),
    Index(None, "project_id", "experiment", "metric"),
    Index("ix_answers_pending", "due_at", postgresql_where=text("state = 'pending'")),
)

marks = Table(
    "marks",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("project_id", Uuid, nullable=False),
    Column("experiment", Text, comment="NULL: every experiment of the project"),
    Column("metric", Text),
    Column("grid_ids", ARRAY(Uuid), comment="what changed; NULL: it may be any grid of the scope"),
    Index(None, "project_id"),
)

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

audit = Table(
    "audit",
    metadata,
    Column("id", Uuid, primary_key=True),
    _instant("at"),
    Column("project_id", Uuid, comment="NULL: it concerns every project"),
    Column("act", Text, nullable=False),
    Column("subject", Text, nullable=False, comment="the id of what it was done to"),
    Column("detail", JSONB, nullable=False, server_default=text("'{}'")),
    Column("token_id", Uuid, comment="who did it; NULL: a command with access to the database"),
    Column("request_id", Uuid),
    Index(None, "project_id", "id"),
    comment="who did what and when; nothing is changed or removed here",
)

idempotency_keys = Table(
    "idempotency_keys",
    metadata,
    Column("project_id", Uuid, ForeignKey("projects.id"), primary_key=True),
    Column("key", Text, primary_key=True),
    Column("request_digest", LargeBinary, nullable=False),
    Column("status", SmallInteger, nullable=False),
    Column("headers", JSONB, nullable=False),
    Column("body", LargeBinary, nullable=False),
    _instant("created_at"),
    Index(None, "created_at"),
)

bi_readers = Table(
    "bi_readers",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("role_name", Text, nullable=False),
    Column("project_id", Uuid, ForeignKey("projects.id"), comment="NULL: every project"),
    Index(None, "role_name"),
)

signing_keys = Table(
    "signing_keys",
    metadata,
    Column("name", Text, primary_key=True),
    Column("secret", LargeBinary, nullable=False),
    _instant("created_at"),
)

shares = Table(
    "shares",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("project_id", Uuid, ForeignKey("projects.id"), nullable=False),
    Column("path", Text, nullable=False, comment="what may be read: this path, its forms and what is below"),
    _instant("created_at"),
    Column("expires_at", DateTime(timezone=True), nullable=False),
    Index(None, "project_id", "id"),
)
