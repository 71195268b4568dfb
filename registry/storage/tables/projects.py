"""Tables of projects and people: who may do what in which project, what was done, and responses that are kept."""

from sqlalchemy import (
    ARRAY,
    CheckConstraint,
    Column,
    DateTime,
    ForeignKey,
    Index,
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
users = Table(
    "users",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("issuer", Text, nullable=False, comment="who vouches for them: an OpenID provider's address, or proxy"),
    Column("subject", Text, nullable=False, comment="the issuer's own, lasting name of them"),
    Column("name", Text, nullable=False, comment="what they were called at their last visit"),
    instant("created_at"),
    instant("seen_at"),
    UniqueConstraint("issuer", "subject"),
    comment="people who signed in without a token",
)

members = Table(
    "members",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("project_id", Uuid, ForeignKey("projects.id"), comment="NULL: every project"),
    Column("kind", Text, nullable=False),
    Column("name", Text, nullable=False, comment="as the issuer names the user or the group"),
    Column("role", Text, nullable=False),
    instant("created_at"),
    CheckConstraint("kind IN ('user', 'group')", name="kind"),
    CheckConstraint("role IN ('reader', 'writer', 'admin')", name="role"),
    UniqueConstraint("project_id", "kind", "name", postgresql_nulls_not_distinct=True),
    Index(None, "kind", "name"),
    comment="what users and groups may do",
)

sessions = Table(
    "sessions",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("secret_hash", LargeBinary, nullable=False, unique=True),
    Column("token_id", Uuid, ForeignKey("tokens.id", ondelete="CASCADE"), comment="what was signed in with"),
    Column("user_id", Uuid, ForeignKey("users.id", ondelete="CASCADE"), comment="who signed in, without a token"),
    Column("groups", ARRAY(Text), nullable=False, server_default=text("'{}'"), comment="as they were at signing in"),
    instant("began_at"),
    Column("expires_at", DateTime(timezone=True), nullable=False),
    CheckConstraint("num_nonnulls(token_id, user_id) = 1", name="who"),
    Index(None, "expires_at"),
)

submitted_forms = Table(
    "submitted_forms",
    metadata,
    Column("id", Uuid, primary_key=True, comment="the number that the form was shown with"),
    Column("location", Text, nullable=False, comment="where its sender was led"),
    instant("at"),
    Index(None, "at"),
    comment="forms that were carried out: sent twice, they are carried out once",
)
