"""Tables of events: what was done, in the order in which a project tells it, and to whom it is delivered."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    DateTime,
    ForeignKey,
    Identity,
    Index,
    Integer,
    Table,
    Text,
    UniqueConstraint,
    Uuid,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from registry.storage.tables.columns import instant, metadata

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
