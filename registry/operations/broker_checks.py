"""Checks of the broker: that Redis lets the processes do what they do with it, evicts nothing, and has workers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import redis

from registry.broker import QUEUE, WAKE_LIST, answering_workers, redis_client
from registry.operations.check import Check
from registry.outages import OutageLog
from registry.settings import Settings

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
