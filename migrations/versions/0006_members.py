"""What a grid may say of itself: questions, design effect, and that it is derived from others."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    for column in (
        sa.Column("questions", sa.Integer(), comment="that the trials of each cell are about"),
        sa.Column("design_effect", sa.Double(), comment="the variance of a cell, over that of independent trials"),
        sa.Column(
            "derived",
            postgresql.JSONB(none_as_null=True),
            comment="true, or the names of what it is made of; NULL: measured",
        ),
    ):
        op.add_column("revisions", column)
