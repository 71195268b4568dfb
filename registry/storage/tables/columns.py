"""Columns that several tables share, their types, and the metadata that joins all tables."""

import os
import time
import uuid
from typing import Any

import orjson
from sqlalchemy import (
    Column,
    DateTime,
    MetaData,
    SmallInteger,
    Text,
    Uuid,
    func,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.types import UserDefinedType

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def new_id() -> uuid.UUID:
    """UUIDv7 (RFC 9562, 5.7), which sorts by the millisecond in which it was made."""
    stamp = time.time_ns() // 1_000_000
    number = (stamp << 80) | int.from_bytes(os.urandom(10), "big")
    number = number & ~(0xF << 76) | (0x7 << 76)
    return uuid.UUID(int=number & ~(0x3 << 62) | (0x2 << 62))


class Numbers(UserDefinedType[tuple[float | None, ...]]):
    """PostgreSQL array of numbers, sent as one text literal: psycopg2 adapts a list three times slower."""

    cache_ok = True

    def __init__(self, element: str) -> None:
        self.element = element

    def get_col_spec(self, **_options: Any) -> str:
        return f"{self.element}[]"

    def bind_processor(self, dialect: Any) -> Any:
        def literal(numbers: Any) -> str | None:
            return None if numbers is None else "{" + orjson.dumps(numbers).decode()[1:-1] + "}"

        return literal


def instant(name: str, *, required: bool = True) -> Column:  # type: ignore[type-arg]
    return Column(name, DateTime(timezone=True), nullable=not required, server_default=func.now() if required else None)


def job() -> list[Column]:  # type: ignore[type-arg]
    """Columns of a job: its state, its lease, when it is due."""
    return [
        Column("state", Text, nullable=False, server_default="pending"),
        instant("due_at"),
        Column("attempts", SmallInteger, nullable=False, server_default="0"),
        Column("lease", Uuid),
        Column("leased_until", DateTime(timezone=True)),
        Column("reason", Text, comment="why the last attempt failed"),
    ]


def description() -> Column:  # type: ignore[type-arg]
    return Column("description", Text, nullable=False, server_default="", comment="Markdown; empty: none")


def of_project() -> Column:  # type: ignore[type-arg]
    return Column("project_id", Uuid, nullable=False, comment="that of the grid; says in which partition the row is")


STATES = "state IN ('pending', 'ready', 'failed')"


def facts() -> Column:  # type: ignore[type-arg]
    return Column("facts", JSONB(none_as_null=True), comment="what the views of the schema bi show of the document")
