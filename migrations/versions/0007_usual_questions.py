"""Which answers are to the usual questions: they are computed first, and before anyone asks."""

import sqlalchemy as sa
from alembic import op

from registry.query import RankingQuestion

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    op.add_column(
        "answers",
        sa.Column(
            "usual",
            sa.Boolean(),
            nullable=False,
            server_default=sa.text("false"),
            comment="whether it is computed before anyone asks",
        ),
    )
    connection = op.get_bind()
    scopes = connection.execute(sa.text("SELECT DISTINCT experiment, metric FROM answers WHERE experiment <> ''")).all()
    for row in scopes:
        key = RankingQuestion(row.experiment, row.metric).key
        connection.execute(sa.text("UPDATE answers SET usual = true WHERE question_key = :key"), {"key": key})
