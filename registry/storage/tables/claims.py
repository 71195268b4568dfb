"""Tables of claims that are kept, and of the judgements of them."""

from __future__ import annotations

from sqlalchemy import (
    Column,
    DateTime,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    Table,
    Text,
    UniqueConstraint,
    Uuid,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from registry.storage.tables.columns import instant, metadata

claims = Table(
    "claims",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("project_id", Uuid, ForeignKey("projects.id"), nullable=False),
    Column("digest", LargeBinary, nullable=False, comment="SHA-256 of the normal form"),
    Column("experiment", Text, nullable=False, comment="as the claim names it, or its grid does"),
    Column("metric", Text, nullable=False),
    Column("query_key", Uuid, nullable=False, comment="the cached result that judges it"),
    Column("normal", Text, nullable=False, comment="JSON; JSONB would write its numbers in another way"),
    Column("text", Text, nullable=False, server_default=""),
    Column("source", JSONB, nullable=False, server_default=text("'{}'")),
    Column("judgement", Integer, nullable=False, server_default="0", comment="number of the latest one"),
    Column("verdict", Text, comment="of the latest judgement"),
    Column("token_id", Uuid, ForeignKey("tokens.id"), comment="who posted it"),
    instant("created_at"),
    instant("updated_at"),
    Column("archived_at", DateTime(timezone=True)),
    UniqueConstraint("project_id", "digest"),
    Index(None, "project_id", "id"),
    Index(None, "project_id", "query_key"),
    comment="what somebody says of results, judged again whenever they change",
)

judgements = Table(
    "judgements",
    metadata,
    Column("claim_id", Uuid, ForeignKey("claims.id"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("generation", Integer, nullable=False, comment="of the cached result that it came with"),
    Column("verdict", Text, nullable=False),
    Column("as_posted", Text, nullable=False),
    Column("beyond_noise", Text, nullable=False),
    Column("reason", Text),
    Column("document", LargeBinary, nullable=False, comment="the finished JSON answer, gzip"),
    Column("inputs", JSONB, nullable=False, comment="grids with revision and digest"),
    Column(
        "fingerprint",
        LargeBinary,
        nullable=False,
        comment="SHA-256 of verdicts, reason and numbers: the next judgement has another",
    ),
    Column("methods_version", Text, nullable=False),
    instant("judged_at"),
    comment="judgements of claims that differ from the one before; none is ever changed",
)
