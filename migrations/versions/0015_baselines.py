"""Baselines: what contenders are judged against, with every version of their policies."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    op.create_table(
        "baselines",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False, comment="the current one of baseline_versions"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_baselines")),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_baselines_project_id")),
        sa.UniqueConstraint("project_id", "name", name=op.f("uq_baselines_project_id_name")),
        comment="what contenders are judged against",
    )
    op.create_table(
        "baseline_versions",
        sa.Column("baseline_id", sa.Uuid(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("definition", postgresql.JSONB(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("baseline_id", "version", name=op.f("pk_baseline_versions")),
        sa.ForeignKeyConstraint(["baseline_id"], ["baselines.id"], name=op.f("fk_baseline_versions_baseline_id")),
        comment="definitions of baselines with their policies; none is ever changed",
    )
