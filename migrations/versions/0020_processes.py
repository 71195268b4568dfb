"""Dispatchers and workers report themselves, and what they computed."""

from alembic import op

revision = "0020"
down_revision = "0019"

_TABLES = """
CREATE TABLE processes (
    id uuid NOT NULL, role text NOT NULL, host text NOT NULL, pid integer NOT NULL, version text NOT NULL,
    methods_version text NOT NULL, broker_up boolean, started_at timestamptz NOT NULL DEFAULT now(),
    seen_at timestamptz NOT NULL DEFAULT now(), CONSTRAINT pk_processes PRIMARY KEY (id)
);
COMMENT ON TABLE processes IS 'processes that compute; each writes its own row every few seconds while it lives';
COMMENT ON COLUMN processes.role IS 'dispatcher, worker or inline-worker';
COMMENT ON COLUMN processes.broker_up IS 'whether the broker answered it last; NULL: it does not ask';
CREATE TABLE job_counts (
    kind text NOT NULL, computed bigint NOT NULL, failed bigint NOT NULL, seconds double precision NOT NULL,
    CONSTRAINT pk_job_counts PRIMARY KEY (kind)
);
COMMENT ON TABLE job_counts IS 'jobs since the registry was made; the numbers only grow';
COMMENT ON COLUMN job_counts.kind IS 'statistics, or the kind of a query';
COMMENT ON COLUMN job_counts.failed IS 'attempts that failed';
COMMENT ON COLUMN job_counts.seconds IS 'what all of them took';
"""


def upgrade() -> None:
    op.execute(_TABLES)
