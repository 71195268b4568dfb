"""Tables of projects: access, shares, the audit log and stored responses."""

from __future__ import annotations

from sqlalchemy import (
    ARRAY,
    CheckConstraint,
    Column,
    DateTime,
    ForeignKey,
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

from registry.storage.tables.columns import description, instant, metadata

projects = Table(
    "projects",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("slug", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("visibility", Text, nullable=False),
    instant("created_at"),
    instant("updated_at"),
    Column("deleted_at", DateTime(timezone=True)),
    description(),
    Column("labels", JSONB, nullable=False, server_default=text("'{}'")),
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
    instant("created_at"),
    Column("expires_at", DateTime(timezone=True), nullable=False),
    Column("last_used_at", DateTime(timezone=True)),
    Column("revoked_at", DateTime(timezone=True)),
    CheckConstraint("role IN ('reader', 'writer', 'admin')", name="role"),
    Index(None, "project_id", "id"),
)

shares = Table(
    "shares",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("project_id", Uuid, ForeignKey("projects.id"), nullable=False),
    Column("path", Text, nullable=False, comment="what may be read: this path, its forms and what is below"),
    instant("created_at"),
    Column("expires_at", DateTime(timezone=True), nullable=False),
    Index(None, "project_id", "id"),
)

suites = Table(
    "suites",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("project_id", Uuid, ForeignKey("projects.id"), nullable=False),
    Column("name", Text, nullable=False),
    Column("benchmarks", ARRAY(Text), nullable=False),
    instant("updated_at"),
    UniqueConstraint("project_id", "name"),
    comment="lists of benchmarks that are ranked together",
)

baselines = Table(
    "baselines",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("project_id", Uuid, ForeignKey("projects.id"), nullable=False),
    Column("name", Text, nullable=False),
    Column("version", Integer, nullable=False, comment="the current one of baseline_versions"),
    UniqueConstraint("project_id", "name"),
    comment="what contenders are judged against",
)

baseline_versions = Table(
    "baseline_versions",
    metadata,
    Column("baseline_id", Uuid, ForeignKey("baselines.id"), primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("definition", JSONB, nullable=False),
    instant("created_at"),
    comment="definitions of baselines with their policies; none is ever changed",
)

signing_keys = Table(
    "signing_keys",
    metadata,
    Column("name", Text, primary_key=True),
    Column("secret", LargeBinary, nullable=False),
    instant("created_at"),
)

audit_log = Table(
    "audit_log",
    metadata,
    Column("id", Uuid, primary_key=True),
    instant("at"),
    Column("project_id", Uuid, comment="NULL: it concerns every project"),
    Column("action", Text, nullable=False),
    Column("subject", Text, nullable=False, comment="the id of what it was done to"),
    Column("detail", JSONB, nullable=False, server_default=text("'{}'")),
    Column("token_id", Uuid, comment="who did it; NULL: a command with access to the database"),
    Column("request_id", Uuid),
    Column("user_id", Uuid, comment="the user who did it, without a token"),
    Index(None, "project_id", "id"),
    Index(
        "ix_audit_log_deletions",
        "project_id",
        "subject",
        postgresql_where=text("action IN ('grid.deleted', 'grid.restored')"),
    ),
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
    instant("created_at"),
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
