"""Suites: lists of benchmarks that are ranked together, by name."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.create_table(
        "suites",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("benchmarks", sa.ARRAY(sa.Text()), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_suites")),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_suites_project_id")),
        sa.UniqueConstraint("project_id", "name", name=op.f("uq_suites_project_id_name")),
        comment="lists of benchmarks that are ranked together",
    )
