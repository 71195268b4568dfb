"""People: users, what they may do, their sessions, and who of them did what."""

import os

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"

_NOW = sa.text("now()")


def upgrade() -> None:
    _users()
    _members()
    _sessions()
    op.create_table(
        "submitted_forms",
        sa.Column("id", sa.Uuid(), nullable=False, comment="the number that the form was shown with"),
        sa.Column("location", sa.Text(), nullable=False, comment="where its sender was led"),
        sa.Column("at", sa.DateTime(timezone=True), server_default=_NOW, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_submitted_forms")),
        comment="forms that were carried out: sent twice, they are carried out once",
    )
    op.create_index(op.f("ix_submitted_forms_at"), "submitted_forms", ["at"])
    op.add_column(
        "audit_log", sa.Column("user_id", sa.Uuid(), nullable=True, comment="the user who did it, without a token")
    )
    keys = sa.table("signing_keys", sa.column("name", sa.Text()), sa.column("secret", sa.LargeBinary()))
    op.bulk_insert(keys, [{"name": "forms", "secret": os.urandom(32)}])


def _users() -> None:
    op.create_table(
        "users",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column(
            "issuer", sa.Text(), nullable=False, comment="who vouches for them: an OpenID provider's address, or proxy"
        ),
        sa.Column("subject", sa.Text(), nullable=False, comment="the issuer's own, lasting name of them"),
        sa.Column("name", sa.Text(), nullable=False, comment="what they were called at their last visit"),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=_NOW, nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), server_default=_NOW, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_users")),
        sa.UniqueConstraint("issuer", "subject", name=op.f("uq_users_issuer_subject")),
        comment="people who signed in without a token",
    )


def _members() -> None:
    op.create_table(
        "members",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=True, comment="NULL: every project"),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False, comment="as the issuer names the user or the group"),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=_NOW, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_members")),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_members_project_id")),
        sa.CheckConstraint("kind IN ('user', 'group')", name=op.f("ck_members_kind")),
        sa.CheckConstraint("role IN ('reader', 'writer', 'admin')", name=op.f("ck_members_role")),
        sa.UniqueConstraint(
            "project_id",
            "kind",
            "name",
            name=op.f("uq_members_project_id_kind_name"),
            postgresql_nulls_not_distinct=True,
        ),
        comment="what users and groups may do",
    )
    op.create_index(op.f("ix_members_kind_name"), "members", ["kind", "name"])


def _sessions() -> None:
    op.create_table(
        "sessions",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("secret_hash", sa.LargeBinary(), nullable=False),
        sa.Column("token_id", sa.Uuid(), nullable=True, comment="what was signed in with"),
        sa.Column("user_id", sa.Uuid(), nullable=True, comment="who signed in, without a token"),
        sa.Column(
            "groups",
            sa.ARRAY(sa.Text()),
            server_default=sa.text("'{}'"),
            nullable=False,
            comment="as they were at signing in",
        ),
        sa.Column("began_at", sa.DateTime(timezone=True), server_default=_NOW, nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sessions")),
        sa.ForeignKeyConstraint(["token_id"], ["tokens.id"], name=op.f("fk_sessions_token_id"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=op.f("fk_sessions_user_id"), ondelete="CASCADE"),
        sa.CheckConstraint("num_nonnulls(token_id, user_id) = 1", name=op.f("ck_sessions_who")),
        sa.UniqueConstraint("secret_hash", name=op.f("uq_sessions_secret_hash")),
    )
    op.create_index(op.f("ix_sessions_expires_at"), "sessions", ["expires_at"])
