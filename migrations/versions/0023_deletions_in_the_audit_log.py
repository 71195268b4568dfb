"""Deletions and restorations of grids are found in the audit log by an index, for answers as of an instant."""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"


def upgrade() -> None:
    op.create_index(
        "ix_audit_log_deletions",
        "audit_log",
        ["project_id", "subject"],
        postgresql_where=sa.text("action IN ('grid.deleted', 'grid.restored')"),
    )
