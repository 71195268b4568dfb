"""Run all checks of `registry doctor`: those here, of jobs, sign-in, disk and port, and those of `doctor_checks.py` and
`doctor_database.py`.
"""

import json
import shutil
import socket
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import urlopen

from sqlalchemy import Connection, text

from registry.errors import RegistryError
from registry.operations.doctor_checks import Check, State, check_broker, check_processes, check_settings
from registry.operations.doctor_database import (
    check_clock,
    check_connections,
    check_limits,
    check_partitions,
    check_replica,
    check_rights,
    check_server,
    check_unreachable,
)
from registry.operations.health import SCHEMA, Backlog, health_of
from registry.settings import MEBIBYTE, Settings, networks_of
from registry.storage.database import Database

LONGEST_WAIT = 60.0
_ARRIVALS = text("""
    SELECT count(*) AS waiting, greatest(0, coalesce(extract(epoch FROM now() - min(at)), 0))::float8 AS waited
    FROM arrivals
""")
LEAST_SPACE, LITTLE_SPACE = 1024 * MEBIBYTE, 5 * 1024 * MEBIBYTE


def run_checks(
    settings: Settings, database: Database, address: str | None = None, *, web: int = 1, workers: int = 1
) -> Iterator[Check]:
    """Results of all checks, one by one; the service is looked for at `address`, or where the settings would serve
    it. The database must have room for so many web processes and workers."""
    try:
        with database.reading() as connection:
            yield from check_server(connection)
            yield check_clock(connection)
            yield check_limits(connection, settings)
            yield check_connections(connection, settings, web, workers)
            yield from check_partitions(connection)
            yield check_rights(connection)
            yield from check_jobs(connection)
            if settings.replica_url:
                own = replace(settings, database_url=settings.replica_url)
                with closing(Database(own, name="doctor", service="replica")) as replica:
                    yield check_replica(connection, replica, settings.replica_lag)
    except RegistryError as error:
        yield check_unreachable(error)
    yield from check_broker(settings)
    yield from check_sign_in(settings)
    yield from check_settings(settings)
    yield check_disk(settings.home)
    yield check_port(*(served_address(settings) if address is None else address_of_url(address)))


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
    yield from check_processes(connection, health.pending)
    yield check_arrivals(connection)


def check_backlog(name: str, backlog: Backlog) -> Iterator[Check]:
    """Check that jobs are computed in time, and count those that failed."""
    late = backlog.pending > 0 and backlog.oldest_seconds > LONGEST_WAIT
    waiting = f"{backlog.pending} pending, the oldest for {backlog.oldest_seconds:.0f} s"
    advice = "Is the dispatcher running (`registry dispatch`)? Are there workers enough?" if late else ""
    yield Check(name, "bad" if late else "good", waiting if backlog.pending else "none pending", advice)
    advice = "The page /status says why; `registry retry` tries them again." if backlog.failed else ""
    state: State = "doubtful" if backlog.failed else "good"
    yield Check(f"failed {name}", state, f"{backlog.failed} failed", advice)


def check_arrivals(connection: Connection) -> Check:
    """Check that what is done gets its place in the feed of its project in time."""
    row = connection.execute(_ARRIVALS).one()
    late = row.waited > LONGEST_WAIT
    waiting = f"{row.waiting} without a position, the oldest for {row.waited:.0f} s"
    advice = "Is the dispatcher (`registry dispatch`) running, and of this release? It gives them." if late else ""
    return Check("events", "bad" if late else "good", waiting if row.waiting else "all have positions", advice)


def check_sign_in(settings: Settings) -> Iterator[Check]:
    """Check how people sign in without a token; nothing where they do not."""
    if settings.proxy_user_header or settings.proxy_addresses or settings.proxy_secret:
        yield _check_proxy(settings)
    if settings.oidc_issuer or settings.oidc_client_id:
        yield _check_provider(settings)


def _check_proxy(settings: Settings) -> Check:
    if not settings.proxy_user_header:
        advice = "Name the header in REGISTRY_PROXY_USER_HEADER: so far nobody signs in by a proxy."
        return Check("sign-in by proxy", "bad", "a proxy without a header", advice)
    if not settings.trusts_proxy:
        advice = "Set REGISTRY_PROXY_ADDRESSES or REGISTRY_PROXY_SECRET: until then the header means nothing."
        return Check("sign-in by proxy", "bad", f"{settings.proxy_user_header} is believed from nobody", advice)
    everybody = [str(one) for one in networks_of(settings.proxy_addresses) if one.prefixlen == 0]
    if everybody and not settings.proxy_secret:
        advice = "Name the proxy's own address: whoever reaches the web process is whom they say they are."
        return Check("sign-in by proxy", "bad", f"believed from {', '.join(everybody)}", advice)
    where = settings.proxy_addresses or "whoever knows the secret"
    return Check("sign-in by proxy", "good", f"{settings.proxy_user_header} from {where}")


def _check_provider(settings: Settings) -> Check:
    name = "sign-in by OpenID"
    if not settings.has_oidc:
        return Check(name, "bad", "half configured", "REGISTRY_OIDC_ISSUER and REGISTRY_OIDC_CLIENT_ID go together.")
    if find_spec("authlib") is None or find_spec("requests") is None:
        return Check(name, "bad", "authlib is not installed", "pip install authlib joserfc requests")
    issuer = settings.oidc_issuer.rstrip("/")
    try:
        with urlopen(f"{issuer}/.well-known/openid-configuration", timeout=5) as answer:  # noqa: S310 (https, checked)
            told = json.load(answer)
        named = str(told["issuer"]).rstrip("/")
    except (URLError, OSError, ValueError, KeyError, TypeError) as error:
        advice = "Is REGISTRY_OIDC_ISSUER right, and does this machine reach it? People sign in with tokens until then."
        return Check(name, "bad", f"{issuer} does not answer as a provider: {error}", advice)
    if named != issuer:
        return Check(name, "bad", f"{issuer} calls itself {named}", f"Set REGISTRY_OIDC_ISSUER={named}.")
    if not settings.public_url:
        advice = "Set REGISTRY_PUBLIC_URL: the provider sends people back to there."
        return Check(name, "doubtful", f"{issuer} answers; people come back to {settings.url}", advice)
    return Check(name, "good", f"{issuer} answers")


def free_space(home: Path) -> tuple[int, Path]:
    """Free bytes where the home is, or would be, and where that is."""
    there = next(one for one in (home.expanduser(), *home.expanduser().parents) if one.exists())
    return shutil.disk_usage(there).free, there


def check_disk(path: Path) -> Check:
    """Check that there is room where the home is, or would be."""
    free, there = free_space(path)
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
