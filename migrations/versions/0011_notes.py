"""Where a revision came from, and what people wrote about projects, experiments and grids.

Release 0.1.0 goes on while an upgrade is under way: what it inserts has no source and no description.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0011"
down_revision = "0010"

_VIEW = """
CREATE OR REPLACE VIEW revisions AS SELECT
    stored.grid_id, stored.number, stored.digest, COALESCE(stored.metric, shapes.metric) AS metric,
    COALESCE(stored.axes, shapes.axes) AS axes, stored.cell_count,
    COALESCE(stored.values, ARRAY(SELECT one / stored.scale::float8 FROM unnest(stored.numbers) AS one)) AS values,
    stored.trials, stored.cell_trials, stored.stderr, stored.repeats, stored.sd, stored.reasons, stored.labels,
    stored.warnings, stored.created_at, stored.token_id, stored.questions, stored.design_effect, stored.derived,
    stored.source
FROM stored_revisions AS stored LEFT JOIN shapes ON shapes.id = stored.shape_id"""
_SOURCE = "format, name and SHA-256 of the file that it was read from; NULL: not said"
_DESCRIPTION = "Markdown; empty: none"


def _description() -> sa.Column[str]:
    return sa.Column("description", sa.Text(), server_default="", nullable=False, comment=_DESCRIPTION)


def _labels() -> sa.Column[dict[str, str]]:
    return sa.Column("labels", postgresql.JSONB(), server_default=sa.text("'{}'"), nullable=False)


def upgrade() -> None:
    op.add_column("stored_revisions", sa.Column("source", postgresql.JSONB(), nullable=True, comment=_SOURCE))
    op.execute(_VIEW)
    op.add_column("grids", _description())
    op.add_column("projects", _description())
    op.add_column("projects", _labels())
    op.create_table(
        "experiments",
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        _description(),
        _labels(),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("project_id", "name", name=op.f("pk_experiments")),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_experiments_project_id")),
        comment="what people wrote about experiments; one without a row has grids only",
    )
