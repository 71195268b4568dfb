"""Tables of grids: names, aliases, grids, their revisions and the shapes that revisions share.

Tables of item outcomes: what came out of each question behind the cells of a revision.
"""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    DateTime,
    Double,
    ForeignKey,
    ForeignKeyConstraint,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    Uuid,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from registry.storage.tables.columns import Numbers, description, instant, metadata, of_project

names = Table(
    "names",
    metadata,
    Column("project_id", Uuid, ForeignKey("projects.id"), primary_key=True),
    Column("kind", Text, primary_key=True),
    Column("name", Text, primary_key=True),
)

aliases = Table(
    "aliases",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("project_id", Uuid, ForeignKey("projects.id"), nullable=False),
    Column("kind", Text, nullable=False),
    Column("alias", Text, nullable=False),
    Column("name", Text, nullable=False),
    instant("created_at"),
    CheckConstraint("kind IN ('model', 'benchmark', 'variant', 'experiment')", name="kind"),
    UniqueConstraint("project_id", "kind", "alias"),
)

grids = Table(
    "grids",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("project_id", Uuid, ForeignKey("projects.id"), nullable=False),
    Column("identity", Uuid, nullable=False, comment="hash of the names below; they may be too long for an index"),
    Column("experiment", Text, nullable=False),
    Column("benchmark", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("variant", Text, nullable=False),
    Column("metric", Text, nullable=False),
    Column("revision", Integer, nullable=False, comment="the current one"),
    instant("created_at"),
    instant("updated_at"),
    Column("deleted_at", DateTime(timezone=True)),
    description(),
    UniqueConstraint("project_id", "identity"),
    Index(None, "project_id", "updated_at", "id"),
    Index(None, "project_id", "experiment", "metric", "benchmark"),
    Index(None, "project_id", "model"),
)
experiments = Table(
    "experiments",
    metadata,
    Column("project_id", Uuid, ForeignKey("projects.id"), primary_key=True),
    Column("name", Text, primary_key=True),
    description(),
    Column("labels", JSONB, nullable=False, server_default=text("'{}'")),
    instant("updated_at"),
    Column(
        "protocol_rules",
        JSONB(none_as_null=True),
        comment="keys of protocols that bind, keys that are free, and whether they are required; NULL: not declared",
    ),
    comment="what people wrote about experiments; one without a row has grids only",
)
item_ids = Table(
    "item_ids",
    metadata,
    Column("project_id", Uuid, ForeignKey("projects.id"), primary_key=True),
    Column("digest", LargeBinary, primary_key=True, comment="SHA-256 of the ids in their order"),
    Column("ids", LargeBinary, nullable=False, comment="JSON array of texts, gzip"),
    comment="ids of the items of sets, where they were given",
)

item_outcomes = Table(
    "item_outcomes",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("grid_id", Uuid, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("set_name", Text, nullable=False),
    Column("digest", LargeBinary, nullable=False, comment="of the item set"),
    Column("count", Integer, nullable=False, comment="items of the set"),
    Column("cells", LargeBinary, nullable=False, comment="JSON of the coordinates and what was posted there, gzip"),
    Column("outcomes", LargeBinary, nullable=False, comment="bits or doubles of the cells, one after another, gzip"),
    Column("token_id", Uuid, ForeignKey("tokens.id"), comment="who posted them"),
    instant("created_at"),
    of_project(),
    ForeignKeyConstraint(["grid_id", "revision"], ["stored_revisions.grid_id", "stored_revisions.number"]),
    Index(None, "grid_id", "revision"),
    comment="outcomes of items of one set in cells of a revision; several rows may be about one revision",
)

item_continuations = Table(
    "item_continuations",
    metadata,
    Column("grid_id", Uuid, primary_key=True),
    Column("revision", Integer, primary_key=True),
    Column("since", Integer, nullable=False, comment="outcomes posted for this revision or later ones hold here too"),
    of_project(),
    ForeignKeyConstraint(["grid_id", "revision"], ["stored_revisions.grid_id", "stored_revisions.number"]),
    comment="revisions that were made by an amendment: cells that it left as they were keep their outcomes",
)


def _content() -> list[Column]:  # type: ignore[type-arg]
    return [
        Column("trials", BigInteger, comment="one number for every cell"),
        Column("cell_trials", Numbers("bigint")),
        Column("stderr", Numbers("double precision")),
        Column("repeats", Numbers("integer")),
        Column("sd", Numbers("double precision")),
        Column("reasons", JSONB),
        Column("questions", Integer, comment="that the trials of each cell are about"),
        Column("design_effect", Double, comment="the variance of a cell, over that of independent trials"),
        Column("derived", JSONB(none_as_null=True), comment="true, or the names of what it is made of; NULL: measured"),
        Column("labels", JSONB, nullable=False, server_default=text("'{}'")),
        Column("warnings", JSONB, nullable=False, server_default=text("'[]'")),
        instant("created_at"),
        Column(
            "source",
            JSONB(none_as_null=True),
            comment="format, name and SHA-256 of the file that it was read from; NULL: not said",
        ),
        Column("protocol", JSONB(none_as_null=True), comment="how it was measured, by key; NULL: not said"),
    ]


shapes = Table(
    "shapes",
    metadata,
    Column("project_id", Uuid, primary_key=True),
    Column("id", Uuid, primary_key=True, comment="hash of the metric and the axes"),
    Column("metric", JSONB, nullable=False),
    Column("axes", JSONB, nullable=False),
    comment="metrics and axes of revisions, each stored once a project",
)

stored_revisions = Table(
    "stored_revisions",
    metadata,
    Column("grid_id", Uuid, ForeignKey("grids.id"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("digest", LargeBinary, nullable=False),
    Column("metric", JSONB(none_as_null=True), comment="NULL: that of the shape"),
    Column("axes", JSONB(none_as_null=True), comment="NULL: those of the shape"),
    Column("cell_count", Integer, nullable=False),
    Column("values", Numbers("double precision"), comment="NULL: numbers / scale"),
    *_content(),
    Column("token_id", Uuid, ForeignKey("tokens.id"), comment="who posted it; NULL: the server itself"),
    Column("shape_id", Uuid),
    Column("numbers", Numbers("integer"), comment="row-major, NULL where nobody measured"),
    Column("scale", Integer, comment="power of ten"),
    of_project(),
    ForeignKeyConstraint(["project_id", "shape_id"], ["shapes.project_id", "shapes.id"]),
    CheckConstraint("number > 0", name="number"),
    CheckConstraint("num_nulls(shape_id, axes) = 1 AND num_nulls(shape_id, metric) = 1", name="shape"),
    CheckConstraint("num_nulls(values, numbers) = 1 AND num_nulls(values, scale) = 1", name="values"),
    Index(
        None,
        "labels",
        postgresql_using="gin",
        postgresql_ops={"labels": "jsonb_path_ops"},
        postgresql_where=text("labels <> '{}'"),
    ),
    Index("ix_stored_revisions_shape_id", "project_id", "shape_id"),
    comment="revisions as they are written; read them by the view `revisions`",
)

revisions = Table(
    "revisions",
    MetaData(),
    Column("grid_id", Uuid, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("digest", LargeBinary, nullable=False),
    Column("metric", JSONB, nullable=False),
    Column("axes", JSONB, nullable=False),
    Column("cell_count", Integer, nullable=False),
    Column("values", Numbers("double precision"), nullable=False, comment="row-major, NULL where nobody measured"),
    *_content(),
    Column("token_id", Uuid),
    of_project(),
)
"""View of the stored revisions with their shapes and values, for reading."""
