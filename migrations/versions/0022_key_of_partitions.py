"""The project of a grid in every table that grows with the grids, so that these can be in partitions by project.

The release before goes on meanwhile: a trigger gives its rows their project. Rows that are there get theirs in batches,
each a transaction of its own, and the column is checked before it is made NOT NULL: no lock that others wait for lasts
longer than a batch. Broken off, the migration is run again and goes on.

Triggers of immutability are told the name of their table, as a partition has another one.
"""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"

_KEYS = {
    "stored_revisions": ("grid_id", "number"),
    "derivations": ("grid_id", "revision"),
    "statistics": ("grid_id", "revision"),
    "item_outcomes": ("id",),
    "item_continuations": ("grid_id", "revision"),
}
_BATCH = 2_000
_COMMENT = "that of the grid; says in which partition the row is"

_REFUSE = """
CREATE OR REPLACE FUNCTION registry_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    refused text := coalesce(TG_ARGV[0], TG_TABLE_NAME);
BEGIN
    {filling}-- Only `registry purge` sets this, for its own transaction; who may not DELETE gains nothing by it.
    IF TG_OP = 'DELETE' AND refused IN ('stored_revisions', 'shapes')
       AND coalesce(current_setting('registry.purging', true), '') = 'on' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'rows of % are never changed (%)', refused, TG_OP USING ERRCODE = 'restrict_violation';
END
$$"""
_REFUSE_OF_ITEMS = """
CREATE OR REPLACE FUNCTION registry_refuse_change_of_items() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    {filling}-- Only `registry purge` sets this, for its own transaction; who may not DELETE gains nothing by it.
    IF TG_OP = 'DELETE' AND coalesce(current_setting('registry.purging', true), '') = 'on' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'rows of % are never changed (%)', TG_TABLE_NAME, TG_OP USING ERRCODE = 'restrict_violation';
END
$$"""
_FILLING = """IF TG_OP = 'UPDATE' AND coalesce(current_setting('registry.filling', true), '') = 'on' THEN
        RETURN NEW;
    END IF;
    """
_PROJECT_OF_GRID = """
CREATE OR REPLACE FUNCTION registry_project_of_grid() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    SELECT project_id INTO NEW.project_id FROM public.grids WHERE id = NEW.grid_id;
    RETURN NEW;
END
$$"""
_VIEW = """
CREATE OR REPLACE VIEW revisions AS SELECT
    stored.grid_id, stored.number, stored.digest, COALESCE(stored.metric, shapes.metric) AS metric,
    COALESCE(stored.axes, shapes.axes) AS axes, stored.cell_count,
    COALESCE(stored.values, ARRAY(SELECT one / stored.scale::float8 FROM unnest(stored.numbers) AS one)) AS values,
    stored.trials, stored.cell_trials, stored.stderr, stored.repeats, stored.sd, stored.reasons, stored.labels,
    stored.warnings, stored.created_at, stored.token_id, stored.questions, stored.design_effect, stored.derived,
    stored.source, stored.protocol, stored.project_id
FROM stored_revisions AS stored LEFT JOIN shapes ON shapes.id = stored.shape_id"""
_JOINED = {"grids": "r", "cells": "r", "trends": "s", "peaks": "s", "coverage": "s"}
"""Views of the schema bi, and what they call the revisions or statistics that they join to grids."""


def upgrade() -> None:
    op.execute(_PROJECT_OF_GRID)
    for function in (_REFUSE, _REFUSE_OF_ITEMS):
        op.execute(function.format(filling=_FILLING))
    for name, events, each in (("changed", "UPDATE OR DELETE", "ROW"), ("emptied", "TRUNCATE", "STATEMENT")):
        op.execute(
            f"CREATE OR REPLACE TRIGGER stored_revisions_are_never_{name} BEFORE {events} ON stored_revisions"
            f" FOR EACH {each} EXECUTE FUNCTION registry_refuse_change('stored_revisions')"
        )
    for table in _KEYS:
        op.execute(f"ALTER TABLE {table} ADD COLUMN IF NOT EXISTS project_id uuid")
        op.execute(f"COMMENT ON COLUMN {table}.project_id IS '{_COMMENT}'")
        op.execute(
            f"CREATE OR REPLACE TRIGGER {table}_have_a_project BEFORE INSERT ON {table} FOR EACH ROW"
            " WHEN (new.project_id IS NULL) EXECUTE FUNCTION registry_project_of_grid()"
        )
    _commit()
    for table, key in _KEYS.items():
        _fill(table, key)
    for table in _KEYS:
        _require(table)
    for function in (_REFUSE, _REFUSE_OF_ITEMS):
        op.execute(function.format(filling=""))
    _join_by_project()


def _commit() -> None:
    """Let what was done be seen, and others go on."""
    op.get_context().config.attributes["commit"]()


def _fill(table: str, key: tuple[str, ...]) -> None:
    """The projects of the rows of a table, a batch at a time, each locked in the order of the key, as workers do."""
    names = ", ".join(key)
    same = " AND ".join(f"t.{name} = batch.{name}" for name in key)
    statement = f"""
        WITH batch AS MATERIALIZED (
            SELECT {names}, grid_id AS of_grid, project_id AS known FROM {table} {{beyond}}
            ORDER BY {names} LIMIT {_BATCH} FOR NO KEY UPDATE
        ), filled AS (
            UPDATE {table} t SET project_id = g.project_id FROM batch JOIN grids g ON g.id = batch.of_grid
            WHERE {same} AND batch.known IS NULL
        ) SELECT {names} FROM batch ORDER BY {", ".join(f"{name} DESC" for name in key)} LIMIT 1"""
    beyond = f"WHERE ({names}) > ({', '.join(f':{name}' for name in key)})"
    last = None
    while True:
        # Nobody waits for rows that a batch waits for: it may take the time that a worker needs.
        op.execute("SET LOCAL registry.filling = 'on'")
        op.execute("SET LOCAL lock_timeout = '30s'")
        found = sa.text(statement.format(beyond=beyond if last else ""))
        last = op.get_bind().execute(found, dict(last._mapping) if last else {}).one_or_none()
        _commit()
        if last is None:
            return


def _require(table: str) -> None:
    """Make the column NOT NULL; all rows are read for it under a lock that only other such changes wait for."""
    op.execute(f"ALTER TABLE {table} DROP CONSTRAINT IF EXISTS project")
    op.execute(f"ALTER TABLE {table} ADD CONSTRAINT project CHECK (project_id IS NOT NULL) NOT VALID")
    _commit()
    op.execute(f"ALTER TABLE {table} VALIDATE CONSTRAINT project")
    _commit()
    op.execute(f"ALTER TABLE {table} ALTER COLUMN project_id SET NOT NULL")
    op.execute(f"ALTER TABLE {table} DROP CONSTRAINT project")
    _commit()


def _join_by_project() -> None:
    op.execute(_VIEW)
    query = "SELECT viewname, definition FROM pg_views WHERE schemaname = 'bi'"
    for view, definition in op.get_bind().execute(sa.text(query)).all():
        if view in _JOINED:
            row = _JOINED[view]
            joined = f"({row}.grid_id = g.id)"
            if joined not in definition:
                raise RuntimeError(f"The view bi.{view} does not join by {joined}.")
            whole = definition.replace(joined, f"({row}.project_id = g.project_id) AND {joined}")
            op.execute(
                f"CREATE OR REPLACE VIEW bi.{view} WITH (security_barrier) AS {whole.replace(':', chr(92) + ':')}"
            )
