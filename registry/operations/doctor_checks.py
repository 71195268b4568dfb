"""Checks of `registry doctor`: of settings and this machine, of the processes that compute, and of the broker."""

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import urlopen

import redis
from sqlalchemy import Connection

from registry.broker import QUEUE, WAKE_LIST, answering_workers, redis_client
from registry.methods_version import METHODS_VERSION
from registry.operations.health import Process, activity_of
from registry.outages import OutageLog
from registry.settings import LOOPBACK, MEBIBYTE, Settings
from results_registry import __version__

_ANYWHERE = ("0.0.0.0", "::")  # noqa: S104 (compared, not bound)


State = Literal["good", "doubtful", "bad"]


@dataclass(frozen=True, slots=True)
class Check:
    """Result of a check, with advice unless it is good."""

    name: str
    state: State
    found: str
    advice: str = ""


def check_settings(settings: Settings) -> Iterator[Check]:
    """Settings that contradict each other or this machine; a line of its own for each subject."""
    yield _check_public_url(settings)
    yield _check_proxies(settings)
    yield check_exports(exports_directory(settings), settings.exports_size)


def exports_directory(settings: Settings) -> Path:
    """Where exports that clients read in ranges are kept."""
    own = f"results-registry-exports-{os.getuid()}"
    return Path(settings.exports) if settings.exports else Path(tempfile.gettempdir()) / own


def _check_public_url(settings: Settings) -> Check:
    name, parts = "public url", urlsplit(settings.url)
    if parts.path.strip("/"):
        advice = "REGISTRY_PUBLIC_URL is http:// or https://, a name, and a port if need be."
        return Check(name, "bad", settings.url, advice)
    if parts.hostname in _ANYWHERE:
        advice = "Set REGISTRY_PUBLIC_URL to what users type: links and commands lead to this address."
        return Check(name, "doubtful", settings.url, advice)
    if parts.scheme == "http" and parts.hostname not in LOOPBACK:
        advice = "Tokens travel in the open: put TLS in front, and say https:// in REGISTRY_PUBLIC_URL."
        return Check(name, "doubtful", settings.url, advice)
    return _ask_public_url(settings) if settings.public_url else Check(name, "good", settings.url)


def _ask_public_url(settings: Settings) -> Check:
    """Ask the service by the name that users type."""
    name = "public url"
    try:
        with urlopen(f"{settings.url}/api/v1", timeout=3) as answer:  # noqa: S310 (http or https, checked)
            return Check(name, "good", f"{settings.url} answers with {answer.status}")
    except HTTPError as error:
        if error.code == 421:
            advice = "A proxy sends another Host header than users type: add that name to REGISTRY_HOSTS."
            return Check(name, "bad", f"{settings.url} answers 421", advice)
        advice = "Something in front of the registry refuses GET /api/v1, which is public."
        return Check(name, "doubtful", f"{settings.url} answers {error.code}", advice)
    except (URLError, OSError, ValueError) as error:
        advice = "It does not answer from this machine: is it running, and does its name lead here?"
        return Check(name, "doubtful", f"{settings.url}: {error}", advice)


def _check_proxies(settings: Settings) -> Check:
    """A name or port of its own, or https, means a proxy in front, for the web process speaks plain HTTP."""
    parts, name = urlsplit(settings.public_url), "proxies"
    port = parts.port or (443 if parts.scheme == "https" else 80)
    in_front = bool(settings.public_url) and (parts.scheme == "https" or port != settings.port)
    if in_front and not settings.proxies:
        advice = "Set REGISTRY_PROXIES to the number of own proxies: all users have one address, and share its limits."
        return Check(name, "bad", f"{settings.url} is a proxy's, and none is believed", advice)
    if settings.proxies and not settings.public_url:
        advice = "Whoever reaches the web process past the proxy chooses the address that limits count."
        return Check(name, "doubtful", f"{settings.proxies}, without REGISTRY_PUBLIC_URL", advice)
    return Check(name, "good", str(settings.proxies))


def check_exports(directory: Path, size: int) -> Check:
    """Whether exports can be written, and fit beside what is there."""
    there = _existing(directory)
    if not _can_write(there):
        advice = "Exports in ranges fail: make it writable, or set REGISTRY_EXPORTS."
        return Check("exports", "bad", f"{there} is not writable", advice)
    held = sum(one.stat().st_size for one in directory.glob("*") if one.is_file()) if directory.is_dir() else 0
    free = shutil.disk_usage(there).free
    state: State = "doubtful" if free + held < size else "good"
    advice = "Make room, or lower REGISTRY_EXPORTS_SIZE." if state == "doubtful" else ""
    return Check("exports", state, f"{free // MEBIBYTE} MiB free at {there} for {size // MEBIBYTE}", advice)


def _can_write(directory: Path) -> bool:
    """Try it: rights say nothing of file systems that are read-only."""
    try:
        with tempfile.TemporaryFile(dir=directory):
            return True
    except OSError:
        return False


def _existing(path: Path) -> Path:
    return next(one for one in (path.absolute(), *path.absolute().parents) if one.exists())


MOST_LAG = 60.0
"""Seconds that webhooks may be behind."""


def check_processes(connection: Connection, pending: int) -> Iterator[Check]:
    """Check that a dispatcher and a worker run, that the broker answers them, and that all are of one release.

    That there is no dispatcher is bad as soon as jobs are pending.
    """
    activity = activity_of(connection)
    dispatchers, workers, inline = (activity.alive(role) for role in ("dispatcher", "worker", "inline-worker"))
    waits = pending + activity.invalidations > 0
    yield _check_dispatchers(dispatchers, activity.dispatcher_silent_seconds, waits=waits)
    yield _check_workers(workers, inline)
    if activity.broker_up is False:
        advice = "The dispatcher does not reach Redis: compare its REGISTRY_REDIS_URL and its log."
        yield Check("broker of dispatcher", "doubtful", "does not answer", advice)
    yield _check_webhooks(activity.webhook_lag)
    everyone = [*dispatchers, *workers, *inline]
    if everyone:
        yield _check_versions(everyone)


def _check_dispatchers(dispatchers: list[Process], silent: float, *, waits: bool) -> Check:
    if dispatchers:
        return Check("dispatcher", "good", f"{_places(dispatchers)}, last heard of {silent:.0f} s ago")
    found = "none ever reported" if silent == float("inf") else f"last heard of {silent:.0f} s ago"
    advice = "Start `registry dispatch`: nothing is computed without one."
    return Check("dispatcher", "bad" if waits else "doubtful", found, advice)


def _check_workers(workers: list[Process], inline: list[Process]) -> Check:
    if workers:
        return Check("workers", "good", _places(workers))
    advice = "Start `registry worker`: the dispatcher computes by itself meanwhile, with one process."
    return Check("workers", "doubtful", "only the inline worker" if inline else "none", advice)


def _check_webhooks(lag: float) -> Check:
    if lag <= MOST_LAG:
        return Check("webhooks", "good", f"at most {lag:.0f} s behind")
    advice = "More happens than a receiver takes: fewer types, or one that answers at once (docs/events.md)."
    return Check("webhooks", "doubtful", f"the oldest event has waited for {lag:.0f} s", advice)


def _check_versions(everyone: list[Process]) -> Check:
    """Workers of two versions of the methods compute the same results by turns, which is bad."""
    own, methods = (__version__, METHODS_VERSION), {one.methods_version for one in everyone}
    others = [one for one in everyone if (one.version, one.methods_version) != own]
    if not others:
        return Check("versions", "good", __version__)
    told = "; ".join(f"{one.version} on {one.host} ({one.role} {one.pid})" for one in others)
    state: State = "bad" if len(methods) > 1 else "doubtful"
    return Check("versions", state, told, f"This is {__version__}. Stop or restart what is of another release.")


def _places(found: list[Process]) -> str:
    hosts = sorted({one.host for one in found})
    return f"{len(found)} on {', '.join(hosts)}"


_LATE = "Statistics come seconds later without it. REGISTRY_REDIS_URL says where it is looked for."
_RIGHTS = (
    'The user in REGISTRY_REDIS_URL may not do what the processes do; workers end over it. "TLS to Redis" in'
    " docs/operating.md has the line of the ACL."
)
_NO_FILE = (
    "Redis refuses writes as it cannot write its file: make room on its disk, or have it keep none (appendonly no,"
    " save ''). Nothing is lost."
)
_NO_MEMORY = (
    "Redis is full: raise its maxmemory, or empty it (FLUSHDB). Nothing is lost; statistics come seconds later."
)
_ADVICE = (
    (r"MISCONF", _NO_FILE),
    (r"maxmemory", _NO_MEMORY),
    (r"username-password|uthenticat", "The user or the password in REGISTRY_REDIS_URL is wrong."),
)
_NOBODY = "\x00doctor"
"""A member that no list or set of the broker has."""
_HARMLESS: tuple[Callable[[redis.Redis], object], ...] = (
    lambda client: client.lrem(WAKE_LIST, 0, _NOBODY),
    lambda client: client.lrem(QUEUE, 0, _NOBODY),
    lambda client: client.srem(f"_kombu.binding.{QUEUE}", _NOBODY),
    lambda client: client.hdel("unacked", _NOBODY),
    lambda client: client.zrem("unacked_index", _NOBODY),
    lambda client: client.exists("unacked_mutex"),
)
"""Commands on every key of the processes and of Celery that change nothing."""


def check_broker(settings: Settings) -> Iterator[Check]:
    """Check that Redis can be used, evicts nothing and has workers. Without it statistics are late, but complete."""
    client = redis_client(settings)
    try:
        client.ping()
    except (redis.RedisError, OSError) as error:
        refused = isinstance(error, (redis.AuthenticationError, redis.ResponseError))
        yield Check(
            "redis", "bad" if refused else "doubtful", _reason(settings, error), _advice(error, refused=refused)
        )
        return
    try:
        for command in _HARMLESS:
            command(client)
        workers = answering_workers(settings)
    except Exception as error:  # the driver's, kombu's, Celery's
        yield Check("redis", "bad", _reason(settings, error), _advice(error, refused=True))
        return
    yield Check("redis", "good", "answers")
    yield _check_eviction(client)
    advice = "" if workers else "Start one (`registry worker`): until then the dispatcher computes alone."
    yield Check("workers", "good" if workers else "doubtful", f"{len(workers)} answer", advice)


def _advice(error: Exception, *, refused: bool) -> str:
    found = (advice for pattern, advice in _ADVICE if re.search(pattern, str(error)))
    return next(found, _RIGHTS if refused else _LATE)


def _check_eviction(client: redis.Redis) -> Check:
    try:
        policy = str(dict(client.info("memory")).get("maxmemory_policy", "unknown"))
    except redis.ResponseError:
        return Check("redis eviction", "doubtful", "unknown", "Allow this user +info, and look at maxmemory-policy.")
    good = policy == "noeviction"
    advice = "" if good else "Set maxmemory-policy noeviction: wake-ups that are evicted cost time."
    return Check("redis eviction", "good" if good else "doubtful", policy, advice)


def _reason(settings: Settings, error: Exception) -> str:
    return OutageLog("broker", settings.redis_url).reason_of(error)
