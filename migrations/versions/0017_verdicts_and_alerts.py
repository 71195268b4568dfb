"""Verdicts of baselines, which are never changed, and the alerts that follow from them."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0017"
down_revision = "0016"

_OF_BASELINE = "of a baseline, which may be deleted since"


def upgrade() -> None:
    _verdicts()
    _alerts()
    op.execute(
        "CREATE TRIGGER gate_verdicts_are_never_changed BEFORE UPDATE OR DELETE ON gate_verdicts"
        " FOR EACH ROW EXECUTE FUNCTION registry_refuse_change_of_items()"
    )
    op.execute(
        "CREATE TRIGGER gate_verdicts_are_never_emptied BEFORE TRUNCATE ON gate_verdicts"
        " FOR EACH STATEMENT EXECUTE FUNCTION registry_refuse_change_of_items()"
    )
    _grant_as_baselines()


def _verdicts() -> None:
    op.create_table(
        "gate_verdicts",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("baseline_id", sa.Uuid(), nullable=False, comment=_OF_BASELINE),
        sa.Column("number", sa.Integer(), nullable=False, comment="from 1, of each baseline"),
        sa.Column("policy_version", sa.Integer(), nullable=False),
        sa.Column("contender", sa.Text(), nullable=False),
        sa.Column("inputs_key", sa.Uuid(), nullable=False, comment="hash of what was judged, with its revisions"),
        sa.Column("look", sa.Integer(), nullable=True, comment="tests of this version up to here; NULL: none was made"),
        sa.Column("passes", sa.Boolean(), nullable=True),
        sa.Column("document", postgresql.JSONB(), nullable=False),
        sa.Column("grid_ids", postgresql.ARRAY(sa.Uuid()), nullable=False, comment="the grids that were judged"),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_gate_verdicts")),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_gate_verdicts_project_id")),
        sa.UniqueConstraint("baseline_id", "number", name=op.f("uq_gate_verdicts_baseline_id_number")),
        comment="verdicts on contenders of baselines; none is ever changed",
    )
    op.create_index(
        op.f("ix_gate_verdicts_baseline_id_contender_number"), "gate_verdicts", ["baseline_id", "contender", "number"]
    )
    op.create_index(op.f("ix_gate_verdicts_project_id"), "gate_verdicts", ["project_id"])


def _alerts() -> None:
    op.create_table(
        "alerts",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("baseline_id", sa.Uuid(), nullable=False, comment=_OF_BASELINE),
        sa.Column("baseline", sa.Text(), nullable=False, comment="its name"),
        sa.Column("policy_version", sa.Integer(), nullable=False, comment="of the verdict that failed last"),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("benchmark", sa.Text(), nullable=True, comment="NULL: over all benchmarks"),
        sa.Column("at", postgresql.JSONB(none_as_null=True), nullable=True, comment="the cell; NULL: all of them"),
        sa.Column("key", sa.Uuid(), nullable=False, comment="hash of model, benchmark and cell"),
        sa.Column("state", sa.Text(), server_default="open", nullable=False),
        sa.Column("resolution", sa.Text(), nullable=True, comment="why it is resolved"),
        sa.Column("reason", sa.Text(), nullable=True, comment="why it was dismissed"),
        sa.Column("note", sa.Text(), server_default="", nullable=False),
        sa.Column("is_right", sa.Boolean(), nullable=True, comment="what people said of it last; NULL: nothing yet"),
        sa.Column("group_id", sa.Uuid(), nullable=False, comment="shared by what one judging of the scope opened"),
        sa.Column("verdict_id", sa.Uuid(), nullable=False, comment="that failed last"),
        sa.Column("seen", sa.Integer(), server_default="1", nullable=False, comment="verdicts that failed"),
        sa.Column("reopened", sa.Integer(), server_default="0", nullable=False),
        sa.Column("version", sa.Integer(), server_default="1", nullable=False, comment="grows with each change"),
        sa.Column("opened_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_alerts")),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_alerts_project_id")),
        sa.ForeignKeyConstraint(["verdict_id"], ["gate_verdicts.id"], name=op.f("fk_alerts_verdict_id")),
        sa.UniqueConstraint("baseline_id", "key", name=op.f("uq_alerts_baseline_id_key")),
        sa.CheckConstraint("state IN ('open', 'acknowledged', 'resolved', 'dismissed')", name=op.f("ck_alerts_state")),
        sa.CheckConstraint("(state = 'resolved') = (resolution IS NOT NULL)", name=op.f("ck_alerts_resolution")),
        comment="contenders that failed the policy of a baseline, and what people said of that",
    )
    op.create_index(op.f("ix_alerts_project_id_opened_at_id"), "alerts", ["project_id", "opened_at", "id"])
    op.create_index(op.f("ix_alerts_verdict_id"), "alerts", ["verdict_id"])


def _grant_as_baselines() -> None:
    """Grant on the tables what is granted on the baselines: a web process with a role of its own goes on."""
    grants = sa.text(
        """SELECT format('GRANT %s ON %s TO %s', privilege_type, target,
                CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END)
        FROM pg_class, aclexplode(relacl), unnest(ARRAY['gate_verdicts', 'alerts']) AS target
        WHERE oid = 'baselines'::regclass AND grantee <> relowner
            AND (target = 'alerts' OR privilege_type IN ('SELECT'))"""
    )
    for statement in op.get_bind().scalars(grants).all():
        op.execute(statement)
