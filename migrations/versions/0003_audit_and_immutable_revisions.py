"""The audit log, and triggers that keep it and the revisions as they are."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0003"
down_revision = "0002"

_REFUSE = """
CREATE FUNCTION registry_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- Only `registry purge` sets this, for its own transaction; who may not DELETE gains nothing by it.
    IF TG_OP = 'DELETE' AND TG_TABLE_NAME = 'revisions'
       AND coalesce(current_setting('registry.purging', true), '') = 'on' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'rows of % are never changed (%)', TG_TABLE_NAME, TG_OP USING ERRCODE = 'restrict_violation';
END
$$
"""


def upgrade() -> None:
    op.create_table(
        "audit",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=True, comment="NULL: it concerns every project"),
        sa.Column("act", sa.Text(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False, comment="the id of what it was done to"),
        sa.Column("detail", postgresql.JSONB(astext_type=sa.Text()), server_default=sa.text("'{}'"), nullable=False),
        sa.Column(
            "token_id", sa.Uuid(), nullable=True, comment="who did it; NULL: a command with access to the database"
        ),
        sa.Column("request_id", sa.Uuid(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_audit")),
        comment="who did what and when; nothing is changed or removed here",
    )
    op.create_index(op.f("ix_audit_project_id_id"), "audit", ["project_id", "id"], unique=False)
    op.execute(_REFUSE)
    for table in ("revisions", "audit"):
        op.execute(
            f"CREATE TRIGGER {table}_are_never_changed BEFORE UPDATE OR DELETE ON {table}"
            " FOR EACH ROW EXECUTE FUNCTION registry_refuse_change()"
        )
        op.execute(
            f"CREATE TRIGGER {table}_are_never_emptied BEFORE TRUNCATE ON {table}"
            " FOR EACH STATEMENT EXECUTE FUNCTION registry_refuse_change()"
        )
