"""Message broker: Celery on Redis, and the wake-ups that go through it.

A job is a row in PostgreSQL; a wake-up only says that there is one. A web process wakes the dispatcher
(`Notifier.notify`), and the dispatcher alone sends Celery messages. A lost wake-up costs time, never numbers: the
dispatcher also polls.
"""

import threading
import time
from collections import deque
from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import orjson
import redis
import structlog
from redis.backoff import NoBackoff
from redis.retry import Retry

from registry.outages import OutageLog
from registry.settings import Settings

if TYPE_CHECKING:
    from celery import Celery

WAKE_LIST = "registry:wake"
QUEUE = "registry"
DERIVE_TASK = "workers.derive"
ANSWER_TASK = "workers.answer"
_SOCKET_SECONDS = 3.0
_BREAK_SECONDS = 1.0
MOST_ORIGINS = 16
"""Requests that a wake-up names: those that came last."""


def broker_url(settings: Settings) -> str:
    """Broker URL in Celery's spelling: a Unix socket is `redis+socket://`."""
    return settings.redis_url.replace("unix://", "redis+socket://", 1)


def redis_client(settings: Settings) -> redis.Redis:
    """Redis client with timeouts and two attempts to connect; the library's defaults wait for ever and retry for
    seconds."""
    url = settings.redis_url.replace("redis+socket://", "unix://", 1)
    options: dict[str, Any] = {
        "socket_timeout": _SOCKET_SECONDS,
        "socket_connect_timeout": _SOCKET_SECONDS,
        "retry": Retry(NoBackoff(), 1, (redis.ConnectionError,)),
    }
    if url.startswith("unix://"):
        del options["socket_connect_timeout"]
    return redis.Redis.from_url(url, **options)


def celery_app(settings: Settings) -> "Celery":
    """Celery application without result backend or countdowns, with JSON only and one prefetched message."""
    from celery import Celery  # a web process only notifies, and does without it

    app = Celery("registry", broker=broker_url(settings))
    app.conf.update(
        task_default_queue=QUEUE,
        task_ignore_result=True,
        task_serializer="json",
        accept_content=["json"],
        task_acks_late=True,
        task_reject_on_worker_lost=True,
        worker_prefetch_multiplier=1,
        worker_max_tasks_per_child=500,
        worker_hijack_root_logger=False,
        # Far beyond one shift and one query on a busy machine; each has its own limit of processor time.
        task_time_limit=300,
        broker_connection_retry_on_startup=True,
        broker_connection_max_retries=None,
        broker_transport_options={
            "max_retries": 0,
            "socket_timeout": _SOCKET_SECONDS,
            "socket_connect_timeout": _SOCKET_SECONDS,
            "visibility_timeout": 60,
        },
    )
    return app


def answering_workers(settings: Settings) -> list[str]:
    """Names of the workers that answer a ping through the broker within a second."""
    replies = celery_app(settings).control.ping(timeout=1.0)
    return sorted(name for reply in replies or () for name in reply)


def origins_of(wakeups: Iterable[bytes]) -> list[str]:
    """Ids of the requests that wake-ups name, the last ones; what is no list names none."""
    found: list[str] = []
    for wakeup in wakeups:
        with suppress(ValueError):
            told = orjson.loads(wakeup)
            found += told if isinstance(told, list) else []
    return found[-MOST_ORIGINS:]


class Notifier:
    """Wakes the dispatcher from a thread of its own, so that `notify` never waits and never raises."""

    def __init__(self, settings: Settings) -> None:
        self._client = redis_client(settings)
        self._outages = OutageLog("broker", settings.redis_url)
        self._asked = threading.Event()
        self._origins: deque[str] = deque(maxlen=MOST_ORIGINS)
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def notify(self) -> None:
        """Wake the dispatcher, because there is something to compute. Calls in quick succession become one."""
        if self._thread is None:
            with self._lock:
                if self._thread is None:
                    self._thread = threading.Thread(target=self._send, name="notifier", daemon=True)
                    self._thread.start()
        if (request := structlog.contextvars.get_contextvars().get("request_id")) is not None:
            self._origins.append(request)
        self._asked.set()

    def _send(self) -> None:
        while True:
            self._asked.wait()
            self._asked.clear()
            origins = [self._origins.popleft() for _ in range(len(self._origins))]
            try:
                with self._client.pipeline(transaction=False) as pipe:
                    pipe.rpush(WAKE_LIST, orjson.dumps(origins))
                    pipe.ltrim(WAKE_LIST, -16, -1)
                    pipe.execute()
                self._outages.answered()
            except (redis.RedisError, OSError) as error:
                self._outages.failed(error)
                time.sleep(_BREAK_SECONDS)
