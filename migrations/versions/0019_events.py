"""Events of projects in one order without gaps, and webhooks with their deliveries."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0019"
down_revision = "0018"

_NOW = sa.text("now()")


def upgrade() -> None:
    _events()
    _webhooks()
    _deliveries()
    _grant()


def _events() -> None:
    op.create_table(
        "arrivals",
        sa.Column("number", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("id", sa.Uuid(), server_default=sa.text("gen_random_uuid()"), nullable=False, comment="of the event"),
        sa.Column(
            "project_id",
            sa.Uuid(),
            nullable=False,
            comment="no foreign key: each act would lock the row of its project",
        ),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("data", postgresql.JSONB(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), server_default=_NOW, nullable=False),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_arrivals")),
        comment="events of committed acts that have no position yet",
    )
    op.create_table(
        "event_heads",
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.BigInteger(), server_default="0", nullable=False, comment="of the latest event"),
        sa.Column(
            "first", sa.BigInteger(), server_default="1", nullable=False, comment="position of the oldest event kept"
        ),
        sa.PrimaryKeyConstraint("project_id", name=op.f("pk_event_heads")),
        comment="one row a project; who holds it gives positions",
    )
    op.create_table(
        "events",
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False, comment="1, 2, 3, … of each project, without gaps"),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("data", postgresql.JSONB(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False, comment="when the act was done"),
        sa.Column("recorded_at", sa.DateTime(timezone=True), nullable=False, comment="when it got its position"),
        sa.PrimaryKeyConstraint("project_id", "position", name=op.f("pk_events")),
        comment="what was done in each project, in one order; kept for a time",
    )


def _webhooks() -> None:
    op.create_table(
        "webhooks",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("types", postgresql.ARRAY(sa.Text()), nullable=False, comment="such as claim.flipped or alert.*"),
        sa.Column(
            "filter",
            postgresql.JSONB(),
            server_default=sa.text("'{}'"),
            nullable=False,
            comment="names that an event must have",
        ),
        sa.Column("format", sa.Text(), server_default="standard", nullable=False),
        sa.Column("description", sa.Text(), server_default="", nullable=False),
        sa.Column("secret", sa.Text(), nullable=False),
        sa.Column("former_secret", sa.Text(), nullable=True, comment="signs too, until it ends"),
        sa.Column("former_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("state", sa.Text(), server_default="enabled", nullable=False),
        sa.Column("reason", sa.Text(), nullable=True, comment="why it is disabled"),
        sa.Column(
            "failing_since",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="first failure after the last success",
        ),
        sa.Column(
            "failures", sa.Integer(), server_default="0", nullable=False, comment="attempts since then, all in vain"
        ),
        sa.Column(
            "position", sa.BigInteger(), server_default="0", nullable=False, comment="events up to it have deliveries"
        ),
        sa.Column(
            "due_at",
            sa.DateTime(timezone=True),
            nullable=True,
            comment="when there is something to send; NULL: not before an event",
        ),
        sa.Column("paused_until", sa.DateTime(timezone=True), nullable=True, comment="it is sent nothing before"),
        sa.Column(
            "lease", sa.Uuid(), nullable=True, comment="of the thread that sends to it, one delivery after another"
        ),
        sa.Column("leased_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("version", sa.Integer(), server_default="1", nullable=False, comment="grows with each change"),
        sa.Column("token_id", sa.Uuid(), nullable=True, comment="who made it"),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=_NOW, nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=_NOW, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhooks")),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_webhooks_project_id")),
        sa.ForeignKeyConstraint(["token_id"], ["tokens.id"], name=op.f("fk_webhooks_token_id")),
        sa.CheckConstraint("state IN ('enabled', 'disabled')", name=op.f("ck_webhooks_state")),
        sa.CheckConstraint(
            "format IN ('standard', 'cloudevents', 'slack', 'discord')", name=op.f("ck_webhooks_format")
        ),
        comment="addresses to which events are sent",
    )
    op.create_index(op.f("ix_webhooks_project_id"), "webhooks", ["project_id"])
    op.create_index("ix_webhooks_due", "webhooks", ["due_at"], postgresql_where=sa.text("state = 'enabled'"))


def _deliveries() -> None:
    op.create_table(
        "deliveries",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("webhook_id", sa.Uuid(), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column(
            "position",
            sa.BigInteger(),
            nullable=True,
            comment="of the event; NULL: a test's own, which `event` holds",
        ),
        sa.Column("event_id", sa.Uuid(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("event", postgresql.JSONB(none_as_null=True), nullable=True),
        sa.Column("state", sa.Text(), server_default="pending", nullable=False),
        sa.Column("attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), server_default=_NOW, nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=_NOW, nullable=False),
        sa.Column("settled_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_deliveries")),
        sa.ForeignKeyConstraint(
            ["webhook_id"], ["webhooks.id"], name=op.f("fk_deliveries_webhook_id"), ondelete="CASCADE"
        ),
        sa.CheckConstraint("state IN ('pending', 'delivered', 'failed')", name=op.f("ck_deliveries_state")),
        sa.UniqueConstraint("webhook_id", "event_id", name=op.f("uq_deliveries_webhook_id_event_id")),
        comment="one event for one webhook, until it was taken or given up",
    )
    op.create_index(
        "ix_deliveries_pending",
        "deliveries",
        ["webhook_id", "position"],
        postgresql_where=sa.text("state = 'pending'"),
    )
    op.create_index(op.f("ix_deliveries_webhook_id_id"), "deliveries", ["webhook_id", "id"])
    op.create_table(
        "delivery_attempts",
        sa.Column("delivery_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=True, comment="of the answer; NULL: there was none"),
        sa.Column("milliseconds", sa.Integer(), nullable=True, comment="until the answer"),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("response", sa.Text(), nullable=True, comment="the first 1,000 bytes"),
        sa.Column("at", sa.DateTime(timezone=True), server_default=_NOW, nullable=False),
        sa.PrimaryKeyConstraint("delivery_id", "number", name=op.f("pk_delivery_attempts")),
        sa.ForeignKeyConstraint(
            ["delivery_id"], ["deliveries.id"], name=op.f("fk_delivery_attempts_delivery_id"), ondelete="CASCADE"
        ),
        comment="what came of each attempt",
    )


def _grant() -> None:
    """Grant what a web process with a role of its own needs, like which tables it has those rights: it goes on."""
    for table, like in (
        ("arrivals", "stored_revisions"),
        ("events", "gate_verdicts"),
        ("event_heads", "gate_verdicts"),
        ("delivery_attempts", "gate_verdicts"),
        ("webhooks", "baselines"),
        ("deliveries", "baselines"),
    ):
        grants = sa.text(
            f"""SELECT format('GRANT %s ON {table} TO %s', privilege_type,
                    CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END)
            FROM pg_class, aclexplode(relacl) WHERE oid = '{like}'::regclass AND grantee <> relowner"""
        )
        for statement in op.get_bind().scalars(grants).all():
            op.execute(statement)
