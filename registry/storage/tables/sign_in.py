"""Tables of people: users, what they may do, their sessions, and the forms that they sent."""

from __future__ import annotations

from sqlalchemy import (
    ARRAY,
    CheckConstraint,
    Column,
    DateTime,
    ForeignKey,
    Index,
    LargeBinary,
    Table,
    Text,
    UniqueConstraint,
    Uuid,
    text,
)

from registry.storage.tables.columns import instant, metadata

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
