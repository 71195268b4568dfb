"""Tables of what workers compute (statistics, cached results and pair sums, what makes them due, who computes), and of
events: what was done, in the order in which a project tells it, and to whom it is delivered."""

from sqlalchemy import (
    REAL,
    BigInteger,
    Boolean,
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
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    Uuid,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from registry.storage.tables.columns import STATES, facts, instant, job, metadata, of_project

derivations = Table(
    "derivations",
    metadata,
    Column("grid_id", Uuid, primary_key=True),
    Column("revision", Integer, primary_key=True),
    *job(),
    Column("methods_version", Text),
    Column("settled_at", DateTime(timezone=True)),
    of_project(),
    ForeignKeyConstraint(["grid_id", "revision"], ["stored_revisions.grid_id", "stored_revisions.number"]),
    CheckConstraint(STATES, name="state"),
    Index("ix_derivations_pending", "due_at", postgresql_where=text("state = 'pending'")),
    Index("ix_derivations_failed", "grid_id", postgresql_where=text("state = 'failed'")),
)

statistics = Table(
    "statistics",
    metadata,
    Column("grid_id", Uuid, primary_key=True),
    Column("revision", Integer, primary_key=True),
    Column("methods_version", Text, nullable=False),
    Column("etag", Text, nullable=False),
    Column(
        "document",
        LargeBinary,
        nullable=False,
        comment="the finished answer in columns, deflated; JSON, gzip, before 0.3.0",
    ),
    facts(),
    instant("computed_at"),
    of_project(),
    ForeignKeyConstraint(["grid_id", "revision"], ["stored_revisions.grid_id", "stored_revisions.number"]),
)

cached_results = Table(
    "cached_results",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("project_id", Uuid, ForeignKey("projects.id"), nullable=False),
    Column("experiment", Text, nullable=False),
    Column("metric", Text, nullable=False),
    Column("query", JSONB, nullable=False),
    Column("query_key", Uuid, nullable=False, comment="hash of the query"),
    *job(),
    Column("generation", Integer, nullable=False, server_default="1", comment="grows when an input changes"),
    Column(
        "document_generation",
        Integer,
        nullable=False,
        server_default="0",
        comment="the generation that the document was computed for",
    ),
    Column("document", LargeBinary, comment="the finished JSON answer, gzip"),
    facts(),
    Column("etag", Text),
    Column("methods_version", Text),
    Column("seconds", REAL, nullable=False, server_default="0", comment="what the last computation took"),
    Column("computed_at", DateTime(timezone=True)),
    instant("read_at"),
    Column(
        "is_default",
        Boolean,
        nullable=False,
        server_default=text("false"),
        comment="whether every parameter has its default; such a result is computed before it is read",
    ),
    CheckConstraint(STATES, name="state"),
    UniqueConstraint("project_id", "query_key"),
    Index(None, "project_id", "experiment", "metric"),
    Index("ix_cached_results_pending", "due_at", postgresql_where=text("state = 'pending'")),
)

invalidations = Table(
    "invalidations",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("project_id", Uuid, nullable=False),
    Column("experiment", Text, comment="NULL: every experiment of the project"),
    Column("metric", Text),
    Column("grid_ids", ARRAY(Uuid), comment="what changed; NULL: it may be any grid of the scope"),
    Index(None, "project_id"),
)
pair_sum_scopes = Table(
    "pair_sum_scopes",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("project_id", Uuid, ForeignKey("projects.id"), nullable=False),
    Column("experiment", Text, nullable=False),
    Column("metric", Text, nullable=False),
    Column(
        "is_complete",
        Boolean,
        nullable=False,
        server_default=text("false"),
        comment="false: the sums are to be computed from nothing",
    ),
    Column("exponent", SmallInteger, comment="sums are in units of 10^-exponent"),
    Column("grids", Integer, nullable=False, server_default="0"),
    Column("slots", BigInteger, nullable=False, server_default="0", comment="with a cell"),
    Column("compared", BigInteger, nullable=False, server_default="0", comment="slots with two names or more"),
    Column("kinds", JSONB, nullable=False, server_default=text("'{}'"), comment="grids by unit and direction"),
    Column("checksum", Uuid, nullable=False, server_default=text("'00000000-0000-0000-0000-000000000000'")),
    UniqueConstraint("project_id", "experiment", "metric"),
    comment="experiments and metrics that are too large to be ranked from their cells each time",
)

pair_sums = Table(
    "pair_sums",
    metadata,
    Column("scope_id", Uuid, ForeignKey("pair_sum_scopes.id"), primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("name", Text, nullable=False),
    Column("cells", BigInteger, nullable=False),
    Column(
        "sums", LargeBinary, nullable=False, comment="of the pairs with each position, as the grids of this name came"
    ),
    UniqueConstraint("scope_id", "name"),
)

pair_sum_inputs = Table(
    "pair_sum_inputs",
    metadata,
    Column("scope_id", Uuid, ForeignKey("pair_sum_scopes.id"), primary_key=True),
    Column("grid_id", Uuid, ForeignKey("grids.id"), primary_key=True),
    Column("revision", Integer, nullable=False, comment="the one that is in the sums"),
    Column("updated_at", DateTime(timezone=True), nullable=False, comment="the grid's, when it was added to the sums"),
)

pair_sum_queue = Table(
    "pair_sum_queue",
    metadata,
    Column("id", BigInteger, Identity(always=True), primary_key=True),
    Column("scope_id", Uuid, nullable=False),
    Column("benchmark", Text, nullable=False, comment="that of the grid: they are added benchmark by benchmark"),
    Column("grid_id", Uuid, comment="NULL: every grid of the benchmark"),
    Index(None, "scope_id", "benchmark"),
    comment="grids that changed since they were added to the sums; the same one may stand here often",
)
processes = Table(
    "processes",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("role", Text, nullable=False, comment="dispatcher, worker or inline-worker"),
    Column("host", Text, nullable=False),
    Column("pid", Integer, nullable=False),
    Column("version", Text, nullable=False),
    Column("methods_version", Text, nullable=False),
    Column("broker_up", Boolean, comment="whether the broker answered it last; NULL: it does not ask"),
    instant("started_at"),
    instant("seen_at"),
    comment="processes that compute; each writes its own row every few seconds while it lives",
)

job_counts = Table(
    "job_counts",
    metadata,
    Column("kind", Text, primary_key=True, comment="statistics, or the kind of a query"),
    Column("computed", BigInteger, nullable=False),
    Column("failed", BigInteger, nullable=False, comment="attempts that failed"),
    Column("seconds", Double, nullable=False, comment="what all of them took"),
    comment="jobs since the registry was made; the numbers only grow",
)


_OF_PROJECT = "no foreign key: each act would lock the row of its project"

arrivals = Table(
    "arrivals",
    metadata,
    Column("number", BigInteger, Identity(always=True), primary_key=True),
    Column("id", Uuid, nullable=False, server_default=text("gen_random_uuid()"), comment="of the event"),
    Column("project_id", Uuid, nullable=False, comment=_OF_PROJECT),
    Column("type", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("data", JSONB, nullable=False),
    instant("at"),
    comment="events of committed acts that have no position yet",
)

event_heads = Table(
    "event_heads",
    metadata,
    Column("project_id", Uuid, primary_key=True),
    Column("position", BigInteger, nullable=False, server_default="0", comment="of the latest event"),
    Column("first", BigInteger, nullable=False, server_default="1", comment="position of the oldest event kept"),
    comment="one row a project; who holds it gives positions",
)

events = Table(
    "events",
    metadata,
    Column("project_id", Uuid, primary_key=True),
    Column("position", BigInteger, primary_key=True, comment="1, 2, 3, … of each project, without gaps"),
    Column("id", Uuid, nullable=False),
    Column("type", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("data", JSONB, nullable=False),
    Column("at", DateTime(timezone=True), nullable=False, comment="when the act was done"),
    Column("recorded_at", DateTime(timezone=True), nullable=False, comment="when it got its position"),
    comment="what was done in each project, in one order; kept for a time",
)

webhooks = Table(
    "webhooks",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("project_id", Uuid, ForeignKey("projects.id"), nullable=False),
    Column("url", Text, nullable=False),
    Column("types", ARRAY(Text), nullable=False, comment="such as claim.flipped or alert.*"),
    Column("filter", JSONB, nullable=False, server_default=text("'{}'"), comment="names that an event must have"),
    Column("format", Text, nullable=False, server_default="standard"),
    Column("description", Text, nullable=False, server_default=""),
    Column("secret", Text, nullable=False),
    Column("former_secret", Text, comment="signs too, until it ends"),
    Column("former_until", DateTime(timezone=True)),
    Column("state", Text, nullable=False, server_default="enabled"),
    Column("reason", Text, comment="why it is disabled"),
    Column("failing_since", DateTime(timezone=True), comment="first failure after the last success"),
    Column("failures", Integer, nullable=False, server_default="0", comment="attempts since then, all in vain"),
    Column("position", BigInteger, nullable=False, server_default="0", comment="events up to it have deliveries"),
    Column("due_at", DateTime(timezone=True), comment="when there is something to send; NULL: not before an event"),
    Column("paused_until", DateTime(timezone=True), comment="it is sent nothing before"),
    Column("lease", Uuid, comment="of the thread that sends to it, one delivery after another"),
    Column("leased_until", DateTime(timezone=True)),
    Column("version", Integer, nullable=False, server_default="1", comment="grows with each change"),
    Column("token_id", Uuid, ForeignKey("tokens.id"), comment="who made it"),
    instant("created_at"),
    instant("updated_at"),
    CheckConstraint("state IN ('enabled', 'disabled')", name="state"),
    CheckConstraint("format IN ('standard', 'cloudevents', 'slack', 'discord')", name="format"),
    Index(None, "project_id"),
    Index("ix_webhooks_due", "due_at", postgresql_where=text("state = 'enabled'")),
    comment="addresses to which events are sent",
)

deliveries = Table(
    "deliveries",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("webhook_id", Uuid, ForeignKey("webhooks.id", ondelete="CASCADE"), nullable=False),
    Column("project_id", Uuid, nullable=False),
    Column("position", BigInteger, comment="of the event; NULL: a test's own, which `event` holds"),
    Column("event_id", Uuid, nullable=False),
    Column("type", Text, nullable=False),
    Column("event", JSONB(none_as_null=True)),
    Column("state", Text, nullable=False, server_default="pending"),
    Column("attempts", Integer, nullable=False, server_default="0"),
    Column("due_at", DateTime(timezone=True), nullable=False, server_default=text("now()")),
    instant("created_at"),
    Column("settled_at", DateTime(timezone=True)),
    CheckConstraint("state IN ('pending', 'delivered', 'failed')", name="state"),
    UniqueConstraint("webhook_id", "event_id"),
    Index("ix_deliveries_pending", "webhook_id", "position", postgresql_where=text("state = 'pending'")),
    Index(None, "webhook_id", "id"),
    comment="one event for one webhook, until it was taken or given up",
)

delivery_attempts = Table(
    "delivery_attempts",
    metadata,
    Column("delivery_id", Uuid, ForeignKey("deliveries.id", ondelete="CASCADE"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("status", Integer, comment="of the answer; NULL: there was none"),
    Column("milliseconds", Integer, comment="until the answer"),
    Column("error", Text),
    Column("response", Text, comment="the first 1,000 bytes"),
    instant("at"),
    comment="what came of each attempt",
)
