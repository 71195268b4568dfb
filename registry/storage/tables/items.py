"""Tables of item outcomes: what came out of each question behind the cells of a revision."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Identity,
    Index,
    Integer,
    LargeBinary,
    Table,
    Text,
    Uuid,
)

from registry.storage.tables.columns import instant, metadata, of_project

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
