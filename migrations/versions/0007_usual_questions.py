"""Which answers are to the usual questions: they are computed first, and before anyone asks."""

import uuid
from hashlib import sha256

import orjson
import sqlalchemy as sa
from alembic import op

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
        key = _usual_key(row.experiment, row.metric)
        connection.execute(sa.text("UPDATE answers SET usual = true WHERE question_key = :key"), {"key": key})


def _usual_key(experiment: str, metric: str) -> uuid.UUID:
    """The key of the ranking by model, with every parameter as it is when nobody says otherwise."""
    everything = {name: [] for name in ("benchmark", "model", "variant")}
    usual = {"by": "model", "method": "mean_difference", "missing": "matched", "alpha": 0.05, "target": "fixed_cells"}
    identity = {"kind": "ranking", "experiment": experiment, "metric": metric} | everything | usual
    return uuid.UUID(bytes=sha256(orjson.dumps(identity, option=orjson.OPT_SORT_KEYS)).digest()[:16])
