"""How a grid was measured, as the last column of the view `bi.grids`."""

from alembic import op

revision = "0018"
down_revision = "0017"

_VIEW = """
CREATE OR REPLACE VIEW bi.grids WITH (security_barrier) AS SELECT
    p.slug AS project, g.id AS grid, g.experiment, g.benchmark, g.model, g.variant, g.metric,
    r.metric ->> 'unit' AS unit, r.metric ->> 'direction' AS direction, (r.metric ->> 'lower')::float8 AS lower,
    (r.metric ->> 'upper')::float8 AS upper, r.number AS revision, encode(r.digest, 'hex') AS digest,
    ARRAY(SELECT jsonb_array_elements(r.axes) ->> 'name') AS axes, r.cell_count AS cells,
    cardinality(r.values) AS possible, r.labels, g.created_at, greatest(r.created_at, g.created_at) AS updated_at,
    r.protocol
FROM public.projects p
    JOIN public.grids g ON g.project_id = p.id AND g.deleted_at IS NULL
    JOIN public.revisions r ON r.grid_id = g.id AND r.number = g.revision
WHERE p.deleted_at IS NULL AND EXISTS (SELECT 1 FROM public.bi_readers b WHERE b.role_name = current_user
    AND (b.project_id IS NULL OR b.project_id = p.id))"""


def upgrade() -> None:
    op.execute(_VIEW)
