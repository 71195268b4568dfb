"""How revisions were measured, and what experiments declare of that.

Release 0.1.0 goes on while an upgrade is under way: what it inserts has no protocol.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0013"
down_revision = "0012"

_VIEW = """
CREATE OR REPLACE VIEW revisions AS SELECT
    stored.grid_id, stored.number, stored.digest, COALESCE(stored.metric, shapes.metric) AS metric,
    COALESCE(stored.axes, shapes.axes) AS axes, stored.cell_count,
    COALESCE(stored.values, ARRAY(SELECT one / stored.scale::float8 FROM unnest(stored.numbers) AS one)) AS values,
    stored.trials, stored.cell_trials, stored.stderr, stored.repeats, stored.sd, stored.reasons, stored.labels,
    stored.warnings, stored.created_at, stored.token_id, stored.questions, stored.design_effect, stored.derived,
    stored.source, stored.protocol
FROM stored_revisions AS stored LEFT JOIN shapes ON shapes.id = stored.shape_id"""
_PROTOCOL = "how it was measured, by key; NULL: not said"
_RULES = "keys of protocols that bind, keys that are free, and whether they are required; NULL: not declared"


def upgrade() -> None:
    op.add_column("stored_revisions", sa.Column("protocol", postgresql.JSONB(), nullable=True, comment=_PROTOCOL))
    op.execute(_VIEW)
    op.add_column("experiments", sa.Column("protocol_rules", postgresql.JSONB(), nullable=True, comment=_RULES))
