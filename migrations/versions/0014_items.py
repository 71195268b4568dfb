"""Item outcomes: one bit or one score for each question behind a cell."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"

_REFUSE = """
CREATE FUNCTION registry_refuse_change_of_items() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- Only `registry purge` sets this, for its own transaction; who may not DELETE gains nothing by it.
    IF TG_OP = 'DELETE' AND coalesce(current_setting('registry.purging', true), '') = 'on' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'rows of % are never changed (%)', TG_TABLE_NAME, TG_OP USING ERRCODE = 'restrict_violation';
END
$$"""
_TABLES = ("item_ids", "item_outcomes", "item_continuations")


def upgrade() -> None:
    op.create_table(
        "item_ids",
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False, comment="SHA-256 of the ids in their order"),
        sa.Column("ids", sa.LargeBinary(), nullable=False, comment="JSON array of texts, gzip"),
        sa.PrimaryKeyConstraint("project_id", "digest", name=op.f("pk_item_ids")),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_item_ids_project_id")),
        comment="ids of the items of sets, where they were given",
    )
    _outcomes()
    op.create_table(
        "item_continuations",
        sa.Column("grid_id", sa.Uuid(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column(
            "since",
            sa.Integer(),
            nullable=False,
            comment="outcomes posted for this revision or later ones hold here too",
        ),
        sa.PrimaryKeyConstraint("grid_id", "revision", name=op.f("pk_item_continuations")),
        sa.ForeignKeyConstraint(
            ["grid_id", "revision"],
            ["stored_revisions.grid_id", "stored_revisions.number"],
            name=op.f("fk_item_continuations_grid_id_revision"),
        ),
        comment="revisions that were made by an amendment: cells that it left as they were keep their outcomes",
    )
    op.execute(_REFUSE)
    for table in _TABLES:
        op.execute(
            f"CREATE TRIGGER {table}_are_never_changed BEFORE UPDATE OR DELETE ON {table}"
            " FOR EACH ROW EXECUTE FUNCTION registry_refuse_change_of_items()"
        )
        op.execute(
            f"CREATE TRIGGER {table}_are_never_emptied BEFORE TRUNCATE ON {table}"
            " FOR EACH STATEMENT EXECUTE FUNCTION registry_refuse_change_of_items()"
        )
    _grant_as_revisions()


def _outcomes() -> None:
    cells = "JSON of the coordinates and what was posted there, gzip"
    outcomes = "bits or doubles of the cells, one after another, gzip"
    op.create_table(
        "item_outcomes",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("grid_id", sa.Uuid(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("set_name", sa.Text(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False, comment="of the item set"),
        sa.Column("count", sa.Integer(), nullable=False, comment="items of the set"),
        sa.Column("cells", sa.LargeBinary(), nullable=False, comment=cells),
        sa.Column("outcomes", sa.LargeBinary(), nullable=False, comment=outcomes),
        sa.Column("token_id", sa.Uuid(), nullable=True, comment="who posted them"),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_item_outcomes")),
        sa.ForeignKeyConstraint(
            ["grid_id", "revision"],
            ["stored_revisions.grid_id", "stored_revisions.number"],
            name=op.f("fk_item_outcomes_grid_id_revision"),
        ),
        sa.ForeignKeyConstraint(["token_id"], ["tokens.id"], name=op.f("fk_item_outcomes_token_id")),
        comment="outcomes of items of one set in cells of a revision; several rows may be about one revision",
    )
    op.create_index(op.f("ix_item_outcomes_grid_id_revision"), "item_outcomes", ["grid_id", "revision"])


def _grant_as_revisions() -> None:
    """Grant on the tables what is granted on the stored revisions: a web process with a role of its own goes on."""
    grants = sa.text(
        """SELECT format('GRANT %s ON item_ids, item_outcomes, item_continuations TO %s', privilege_type,
                CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END)
        FROM pg_class, aclexplode(relacl) WHERE oid = 'stored_revisions'::regclass AND grantee <> relowner"""
    )
    for statement in op.get_bind().scalars(grants).all():
        op.execute(statement)
