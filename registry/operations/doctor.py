"""Checks of a registry's health from the outside, one function each."""

from __future__ import annotations

import shutil
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import urlopen

import redis
from sqlalchemy import Connection, text

from registry.broker import redis_client
from registry.errors import RegistryError
from registry.operations.health import SCHEMA, Backlog, health_of
from registry.settings import MEBIBYTE, Settings
from registry.storage.database import Database

State = Literal["good", "doubtful", "bad"]
OLDEST_SERVER = 150000
MOST_SKEW = 5.0
"""Seconds between the clocks of this machine and of the database. Only the latter decides, but the logs have the
former."""
LONGEST_WAIT = 60.0
_METHODS = text("""
    SELECT d.methods_version, count(*) AS count
    FROM derivations d JOIN grids g ON g.id = d.grid_id AND g.revision = d.revision
    WHERE d.state = 'ready' GROUP BY 1 ORDER BY 2 DESC
""")
LEAST_SPACE, LITTLE_SPACE = 1024 * MEBIBYTE, 5 * 1024 * MEBIBYTE


@dataclass(frozen=True, slots=True)
class Check:
    """Result of a check, with advice unless it is good."""

    name: str
    state: State
    found: str
    advice: str = ""


def run_checks(settings: Settings, database: Database, address: str | None = None) -> Iterator[Check]:
    """Results of all checks, one by one; the service is looked for at `address`, or where the settings would serve
    it."""
    try:
        with database.reading() as connection:
            yield from check_server(connection)
            yield check_clock(connection)
            yield from check_jobs(connection)
    except RegistryError as error:
        advice = "Is PostgreSQL running? REGISTRY_DATABASE_URL says where it is looked for."
        yield Check("database", "bad", error.detail, advice)
    yield from check_broker(settings)
    yield check_disk(settings.home)
    yield check_port(*(served_address(settings) if address is None else address_of_url(address)))


def check_server(connection: Connection) -> Iterator[Check]:
    """Server version, and the settings on which the durability of a 201 rests."""
    number = int(connection.scalar(text("SHOW server_version_num")) or 0)
    version = str(connection.scalar(text("SHOW server_version")))
    new = number >= OLDEST_SERVER
    yield Check("database", "good" if new else "bad", f"PostgreSQL {version}", "" if new else "15 or later is needed.")
    for name in ("fsync", "full_page_writes", "synchronous_commit"):
        value = str(connection.scalar(text(f"SHOW {name}")))
        off = value in ("off", "local")
        advice = f"Set {name} = on in postgresql.conf: what was answered 201 may be lost in a crash of the server."
        yield Check(name, "bad" if off else "good", value, advice if off else "")


def check_clock(connection: Connection) -> Check:
    """Difference between the clocks of this machine and of the database."""
    before = time.time()
    theirs = float(connection.scalar(text("SELECT extract(epoch FROM clock_timestamp())")) or 0.0)
    skew = theirs - (before + time.time()) / 2
    bad = abs(skew) > MOST_SKEW
    return Check("clock", "doubtful" if bad else "good", f"{skew:+.1f} s", "Set this clock by NTP." if bad else "")


def check_jobs(connection: Connection) -> Iterator[Check]:
    """Schema, and the backlog of jobs."""
    there = connection.scalar(text("SELECT to_regclass('alembic_version') IS NOT NULL"))
    version = connection.scalar(text("SELECT max(version_num) FROM alembic_version")) if there else None
    health = health_of(connection)
    if not health.migrated:
        yield Check(
            "schema",
            "bad",
            str(version or "no tables"),
            f"Run `registry migrate`, or start `registry up` anew; this code needs {SCHEMA}.",
        )
        return
    newer = str(version) > SCHEMA
    advice = "This code is older than the schema: update it soon." if newer else ""
    yield Check("schema", "doubtful" if newer else "good", str(version), advice)
    yield from check_backlog("statistics", health.derivations)
    yield from check_backlog("rankings", health.cached_results)
    yield check_methods(connection)


def check_backlog(name: str, backlog: Backlog) -> Iterator[Check]:
    """Check that jobs are computed in time, and count those that failed."""
    late = backlog.pending > 0 and backlog.oldest_seconds > LONGEST_WAIT
    waiting = f"{backlog.pending} pending, the oldest for {backlog.oldest_seconds:.0f} s"
    advice = "Is the dispatcher running (`registry dispatch`)? Are there workers enough?" if late else ""
    yield Check(name, "bad" if late else "good", waiting if backlog.pending else "none pending", advice)
    advice = "The page /status says why; each is tried again when an input changes." if backlog.failed else ""
    state: State = "doubtful" if backlog.failed else "good"
    yield Check(f"failed {name}", state, f"{backlog.failed} failed", advice)


def check_methods(connection: Connection) -> Check:
    """Check that one version of the methods computed all current statistics."""
    found = connection.execute(_METHODS).all()
    summary = ", ".join(f"{row.count} by methods version {row.methods_version}" for row in found) or "none yet"
    mixed = len(found) > 1
    advice = "A dispatcher has old ones computed again within minutes; does a worker of an older release still run?"
    return Check("methods", "doubtful" if mixed else "good", summary, advice if mixed else "")


def check_broker(settings: Settings) -> Iterator[Check]:
    """Check that Redis answers and evicts nothing. Without it statistics are late, but complete."""
    try:
        memory = redis_client(settings).info("memory")
    except (redis.RedisError, OSError) as error:
        advice = "Statistics come seconds later without it. REGISTRY_REDIS_URL says where it is looked for."
        yield Check("redis", "doubtful", str(error) or type(error).__name__, advice)
        return
    yield Check("redis", "good", "answers")
    policy = str(dict(memory).get("maxmemory_policy", "unknown"))
    good = policy == "noeviction"
    advice = "" if good else "Set maxmemory-policy noeviction: wake-ups that are evicted cost time."
    yield Check("redis eviction", "good" if good else "doubtful", policy, advice)


def check_disk(path: Path) -> Check:
    """Free space where the home is, or would be."""
    there = next(one for one in (path.expanduser(), *path.expanduser().parents) if one.exists())
    free = shutil.disk_usage(there).free
    state: State = "bad" if free < LEAST_SPACE else "doubtful" if free < LITTLE_SPACE else "good"
    advice = "" if state == "good" else "A full disk stops PostgreSQL: make room."
    return Check("disk", state, f"{free / (1024 * MEBIBYTE):.1f} GiB free at {there}", advice)


def served_address(settings: Settings) -> tuple[str, int]:
    """Host and port where these settings serve, as seen from this machine."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(settings.host, settings.host), settings.port  # noqa: S104 (compared)


def address_of_url(address: str) -> tuple[str, int]:
    """Host and port of a URL."""
    parts = urlsplit(address)
    return parts.hostname or "127.0.0.1", parts.port or 80


def check_port(host: str, port: int) -> Check:
    """Check that the service listens on the port or that the port is free for it."""
    try:
        with socket.create_connection((host, port), timeout=2):
            pass
    except OSError:
        return Check("port", "good", f"{port} is free: nothing is served there")
    bracketed = f"[{host}]" if ":" in host else host
    try:
        with urlopen(f"http://{bracketed}:{port}/healthz", timeout=3) as answer:
            ours = answer.headers.get("X-Request-Id") is not None and answer.status == 200
    except (URLError, OSError, ValueError):
        ours = False
    if ours:
        return Check("port", "good", f"the registry answers on {port}")
    return Check("port", "bad", f"{port} is another program's", "Choose another with --port or REGISTRY_PORT.")
