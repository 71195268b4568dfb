"""Sums of pairs for experiments that are too large to be ranked from their cells each time."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    op.add_column(
        "marks",
        sa.Column(
            "grid_ids",
            sa.ARRAY(sa.Uuid()),
            nullable=True,
            comment="what changed; NULL: it may be any grid of the scope",
        ),
    )
    op.create_table(
        "scopes",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("project_id", sa.Uuid(), nullable=False),
        sa.Column("experiment", sa.Text(), nullable=False),
        sa.Column("metric", sa.Text(), nullable=False),
        sa.Column(
            "whole",
            sa.Boolean(),
            server_default=sa.text("false"),
            nullable=False,
            comment="false: to be counted from nothing",
        ),
        sa.Column("exponent", sa.SmallInteger(), nullable=True, comment="sums are in units of 10^-exponent"),
        sa.Column("grids", sa.Integer(), server_default="0", nullable=False),
        sa.Column("slots", sa.BigInteger(), server_default="0", nullable=False, comment="with a cell"),
        sa.Column(
            "compared", sa.BigInteger(), server_default="0", nullable=False, comment="slots with two names or more"
        ),
        sa.Column(
            "kinds",
            postgresql.JSONB(astext_type=sa.Text()),
            server_default=sa.text("'{}'"),
            nullable=False,
            comment="grids by unit and direction",
        ),
        sa.Column(
            "checksum",
            sa.Uuid(),
            server_default=sa.text("'00000000-0000-0000-0000-000000000000'"),
            nullable=False,
        ),
        sa.ForeignKeyConstraint(["project_id"], ["projects.id"], name=op.f("fk_scopes_project_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_scopes")),
        sa.UniqueConstraint("project_id", "experiment", "metric", name=op.f("uq_scopes_project_id_experiment_metric")),
        comment="experiments and metrics that are too large to be ranked from their cells each time",
    )
    op.create_table(
        "tallies",
        sa.Column("scope_id", sa.Uuid(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("cells", sa.BigInteger(), nullable=False),
        sa.Column(
            "sums",
            sa.LargeBinary(),
            nullable=False,
            comment="of the pairs with each place, as the grids of this name came",
        ),
        sa.ForeignKeyConstraint(["scope_id"], ["scopes.id"], name=op.f("fk_tallies_scope_id")),
        sa.PrimaryKeyConstraint("scope_id", "place", name=op.f("pk_tallies")),
        sa.UniqueConstraint("scope_id", "name", name=op.f("uq_tallies_scope_id_name")),
    )
    # They come deflated; the server's own attempt would take ten times as long as all the rest of a change.
    op.execute("ALTER TABLE tallies ALTER sums SET STORAGE EXTERNAL")
    op.create_table(
        "counted",
        sa.Column("scope_id", sa.Uuid(), nullable=False),
        sa.Column("grid_id", sa.Uuid(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False, comment="the one that is in the sums"),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False, comment="the grid's, when it was counted"),
        sa.ForeignKeyConstraint(["grid_id"], ["grids.id"], name=op.f("fk_counted_grid_id")),
        sa.ForeignKeyConstraint(["scope_id"], ["scopes.id"], name=op.f("fk_counted_scope_id")),
        sa.PrimaryKeyConstraint("scope_id", "grid_id", name=op.f("pk_counted")),
    )
    op.create_table(
        "uncounted",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("scope_id", sa.Uuid(), nullable=False),
        sa.Column(
            "benchmark", sa.Text(), nullable=False, comment="that of the grid: they are counted benchmark by benchmark"
        ),
        sa.Column("grid_id", sa.Uuid(), nullable=True, comment="NULL: every grid of the benchmark"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_uncounted")),
        comment="grids that changed since they were counted; the same one may stand here often",
    )
    op.create_index(op.f("ix_uncounted_scope_id_benchmark"), "uncounted", ["scope_id", "benchmark"], unique=False)
    # The longer index serves what the shorter one did. Not concurrently: a migration is one transaction here.
    op.create_index(
        op.f("ix_grids_project_id_experiment_metric_benchmark"),
        "grids",
        ["project_id", "experiment", "metric", "benchmark"],
        unique=False,
    )
    op.drop_index(op.f("ix_grids_project_id_experiment_metric"), table_name="grids")
