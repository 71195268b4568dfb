"""Revisions share their metric and axes, and store values with few decimals as whole numbers.

The table becomes `stored_revisions`; what was written before stays as it is. `revisions` is now a view that shows each
revision whole. Processes of release 0.1.0 go on through it while an upgrade is under way: they read it, insert into it
(the row is stored in the old form) and, in a purge, delete from it.
"""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0009"
down_revision = "0008"

_VIEW = """
CREATE VIEW revisions AS SELECT
    stored.grid_id, stored.number, stored.digest, COALESCE(stored.metric, shapes.metric) AS metric,
    COALESCE(stored.axes, shapes.axes) AS axes, stored.cell_count,
    COALESCE(stored.values, ARRAY(SELECT one / stored.scale::float8 FROM unnest(stored.numbers) AS one)) AS values,
    stored.trials, stored.cell_trials, stored.stderr, stored.repeats, stored.sd, stored.reasons, stored.labels,
    stored.warnings, stored.created_at, stored.token_id, stored.questions, stored.design_effect, stored.derived
FROM stored_revisions AS stored LEFT JOIN shapes ON shapes.id = stored.shape_id"""
_FORMER = (
    *("grid_id", "number", "digest", "metric", "axes", "cell_count", "values", "trials", "cell_trials", "stderr"),
    *("repeats", "sd", "reasons", "labels", "warnings", "created_at", "token_id", "questions", "design_effect"),
    "derived",
)
_WRITE = f"""
CREATE FUNCTION registry_write_revision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        DELETE FROM stored_revisions WHERE grid_id = OLD.grid_id AND number = OLD.number;
        RETURN OLD;
    END IF;
    INSERT INTO stored_revisions ({", ".join(f'"{name}"' for name in _FORMER)})
        VALUES ({", ".join(f'NEW."{name}"' for name in _FORMER)});
    RETURN NEW;
END
$$"""
_REFUSE = """
CREATE OR REPLACE FUNCTION registry_refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- Only `registry purge` sets this, for its own transaction; who may not DELETE gains nothing by it.
    IF TG_OP = 'DELETE' AND TG_TABLE_NAME IN ('stored_revisions', 'shapes')
       AND coalesce(current_setting('registry.purging', true), '') = 'on' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'rows of % are never changed (%)', TG_TABLE_NAME, TG_OP USING ERRCODE = 'restrict_violation';
END
$$"""
_DEFAULTS = {"labels": "'{}'", "warnings": "'[]'", "created_at": "now()"}


def upgrade() -> None:
    shown = _definitions_of_views()
    op.create_table(
        "shapes",
        sa.Column("id", sa.Uuid(), nullable=False, comment="hash of the metric and the axes"),
        sa.Column("metric", postgresql.JSONB(), nullable=False),
        sa.Column("axes", postgresql.JSONB(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_shapes")),
        comment="metrics and axes of revisions, each stored once",
    )
    _rename()
    _alter()
    for statement in (_VIEW, _WRITE, _REFUSE):
        op.execute(statement)
    for column, default in _DEFAULTS.items():
        op.execute(f"ALTER VIEW revisions ALTER COLUMN {column} SET DEFAULT {default}")
    op.execute("COMMENT ON VIEW revisions IS 'every revision of a grid, with its metric, axes and values'")
    op.execute(
        "CREATE TRIGGER revisions_are_written INSTEAD OF INSERT OR DELETE ON revisions"
        " FOR EACH ROW EXECUTE FUNCTION registry_write_revision()"
    )
    _refuse_changes_of("shapes")
    for name, definition in shown.items():
        op.execute(f"CREATE OR REPLACE VIEW bi.{name} WITH (security_barrier) AS {definition}")
    _grant_as_before()


def _definitions_of_views() -> dict[str, str]:
    """Views of the schema bi over the revisions: they follow the table by its new name, and are made again."""
    query = "SELECT viewname, definition FROM pg_views WHERE schemaname = 'bi' AND viewname IN ('grids', 'cells')"
    return {row.viewname: row.definition for row in op.get_bind().execute(sa.text(query))}


def _rename() -> None:
    op.execute("ALTER TABLE revisions RENAME TO stored_revisions")
    for constraint in ("pk_{}", "fk_{}_grid_id", "fk_{}_token_id", "ck_{}_number"):
        old, new = constraint.format("revisions"), constraint.format("stored_revisions")
        op.execute(f"ALTER TABLE stored_revisions RENAME CONSTRAINT {old} TO {new}")
    op.execute("ALTER INDEX ix_revisions_labels RENAME TO ix_stored_revisions_labels")
    for what in ("changed", "emptied"):
        old, new = f"revisions_are_never_{what}", f"stored_revisions_are_never_{what}"
        op.execute(f"ALTER TRIGGER {old} ON stored_revisions RENAME TO {new}")


def _alter() -> None:
    comments = {
        "metric": "NULL: that of the shape",
        "axes": "NULL: those of the shape",
        "values": "NULL: numbers / scale",
    }
    for column, comment in comments.items():
        op.execute(f'ALTER TABLE stored_revisions ALTER COLUMN "{column}" DROP NOT NULL')
        op.execute(f"""COMMENT ON COLUMN stored_revisions."{column}" IS '{comment}'""")
    op.add_column("stored_revisions", sa.Column("shape_id", sa.Uuid(), nullable=True))
    numbers = sa.Column(
        "numbers", sa.ARRAY(sa.Integer()), nullable=True, comment="row-major, NULL where nobody measured"
    )
    op.add_column("stored_revisions", numbers)
    op.add_column("stored_revisions", sa.Column("scale", sa.Integer(), nullable=True, comment="power of ten"))
    op.create_foreign_key(op.f("fk_stored_revisions_shape_id"), "stored_revisions", "shapes", ["shape_id"], ["id"])
    for name, condition in (
        ("shape", "num_nulls(shape_id, axes) = 1 AND num_nulls(shape_id, metric) = 1"),
        ("values", "num_nulls(values, numbers) = 1 AND num_nulls(values, scale) = 1"),
    ):
        op.create_check_constraint(op.f(f"ck_stored_revisions_{name}"), "stored_revisions", condition)
    op.create_index(op.f("ix_stored_revisions_shape_id"), "stored_revisions", ["shape_id"])
    op.execute(
        "COMMENT ON TABLE stored_revisions IS 'revisions as they are written; read them by the view `revisions`'"
    )


def _refuse_changes_of(table: str) -> None:
    op.execute(
        f"CREATE TRIGGER {table}_are_never_changed BEFORE UPDATE OR DELETE ON {table}"
        " FOR EACH ROW EXECUTE FUNCTION registry_refuse_change()"
    )
    op.execute(
        f"CREATE TRIGGER {table}_are_never_emptied BEFORE TRUNCATE ON {table}"
        " FOR EACH STATEMENT EXECUTE FUNCTION registry_refuse_change()"
    )


def _grant_as_before() -> None:
    """Grant on the view and the shapes what is granted on the stored revisions: a web process under way goes on."""
    grants = sa.text(
        """SELECT format('GRANT %s ON revisions, shapes TO %s', privilege_type,
                CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END)
        FROM pg_class, aclexplode(relacl) WHERE oid = 'stored_revisions'::regclass AND grantee <> relowner"""
    )
    for statement in op.get_bind().scalars(grants).all():
        op.execute(statement)
