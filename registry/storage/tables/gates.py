"""Tables of what is judged: claims with their judgements; baselines, verdicts on contenders and alerts."""

from sqlalchemy import (
    Boolean,
    CheckConstraint,
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
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from registry.storage.tables.columns import instant, metadata

_OF_BASELINE = "of a baseline, which may be deleted since"

baselines = Table(
    "baselines",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("project_id", Uuid, ForeignKey("projects.id"), nullable=False),
    Column("name", Text, nullable=False),
    Column("version", Integer, nullable=False, comment="the current one of baseline_versions"),
    UniqueConstraint("project_id", "name"),
    comment="what contenders are judged against",
)

baseline_versions = Table(
    "baseline_versions",
    metadata,
    Column("baseline_id", Uuid, ForeignKey("baselines.id"), primary_key=True),
    Column("version", Integer, primary_key=True),
    Column("definition", JSONB, nullable=False),
    instant("created_at"),
    comment="definitions of baselines with their policies; none is ever changed",
)

gate_verdicts = Table(
    "gate_verdicts",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("project_id", Uuid, ForeignKey("projects.id"), nullable=False),
    Column("baseline_id", Uuid, nullable=False, comment=_OF_BASELINE),
    Column("number", Integer, nullable=False, comment="from 1, of each baseline"),
    Column("policy_version", Integer, nullable=False),
    Column("contender", Text, nullable=False),
    Column("inputs_key", Uuid, nullable=False, comment="hash of what was judged, with its revisions"),
    Column("look", Integer, comment="tests of this version up to here; NULL: none was made"),
    Column("passes", Boolean),
    Column("document", JSONB, nullable=False),
    Column("grid_ids", ARRAY(Uuid), nullable=False, comment="the grids that were judged"),
    instant("created_at"),
    UniqueConstraint("baseline_id", "number"),
    Index("ix_gate_verdicts_baseline_id_contender_number", "baseline_id", "contender", "number"),
    Index(None, "project_id"),
    comment="verdicts on contenders of baselines; none is ever changed",
)

alerts = Table(
    "alerts",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("project_id", Uuid, ForeignKey("projects.id"), nullable=False),
    Column("baseline_id", Uuid, nullable=False, comment=_OF_BASELINE),
    Column("baseline", Text, nullable=False, comment="its name"),
    Column("policy_version", Integer, nullable=False, comment="of the verdict that failed last"),
    Column("model", Text, nullable=False),
    Column("benchmark", Text, comment="NULL: over all benchmarks"),
    Column("at", JSONB(none_as_null=True), comment="the cell; NULL: all of them"),
    Column("key", Uuid, nullable=False, comment="hash of model, benchmark and cell"),
    Column("state", Text, nullable=False, server_default="open"),
    Column("resolution", Text, comment="why it is resolved"),
    Column("reason", Text, comment="why it was dismissed"),
    Column("note", Text, nullable=False, server_default=""),
    Column("is_right", Boolean, comment="what people said of it last; NULL: nothing yet"),
    Column("group_id", Uuid, nullable=False, comment="shared by what one judging of the scope opened"),
    Column("verdict_id", Uuid, ForeignKey("gate_verdicts.id"), nullable=False, comment="that failed last"),
    Column("seen", Integer, nullable=False, server_default="1", comment="verdicts that failed"),
    Column("reopened", Integer, nullable=False, server_default="0"),
    Column("version", Integer, nullable=False, server_default="1", comment="grows with each change"),
    instant("opened_at"),
    instant("updated_at"),
    UniqueConstraint("baseline_id", "key"),
    CheckConstraint("state IN ('open', 'acknowledged', 'resolved', 'dismissed')", name="state"),
    CheckConstraint("(state = 'resolved') = (resolution IS NOT NULL)", name="resolution"),
    Index("ix_alerts_project_id_opened_at_id", "project_id", "opened_at", "id"),
    Index(None, "verdict_id"),
    comment="contenders that failed the policy of a baseline, and what people said of that",
)


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
