"""Say how statistics are stored: in columns since 0.3.0, which 0.2.0 cannot read (docs/upgrading.md)."""

from alembic import op

revision = "0024"
down_revision = "0023"


def upgrade() -> None:
    op.execute(
        "COMMENT ON COLUMN statistics.document IS 'the finished answer in columns, deflated; JSON, gzip, before 0.3.0'"
    )
