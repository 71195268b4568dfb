"""Results registry: stores grids of evaluation results and computes statistics with their uncertainty."""

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flask import Flask

    from registry.settings import Settings


LARGE_BODIES = 2
"""Requests with a body above a mebibyte that are served at once: memory is for so many."""


def create_app(settings: "Settings") -> "Flask":
    """Web application: one database, one notifier and every resource."""
    from flask import Flask

    from registry import api, pages
    from registry.api import replica
    from registry.api.access_log import watch
    from registry.api.context import Parts
    from registry.api.event_watch import EventWatch, StreamPlaces
    from registry.api.request_policy import RequestPolicy, enforce
    from registry.broker import Notifier
    from registry.storage.circuit_breaker import CircuitBreaker
    from registry.storage.database import Database
    from registry.storage.replica import ReplicatedDatabase

    app = Flask("registry", static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = settings.max_body
    app.url_map.strict_slashes = False
    waiters = threading.BoundedSemaphore(max(1, settings.web_threads // 2))
    threads = max(1, settings.web_threads - 1)
    database = (
        ReplicatedDatabase(settings, name="web", breaker=CircuitBreaker(threads), threads=threads)
        if settings.replica_url
        else Database(settings, name="web", breaker=CircuitBreaker(threads))
    )
    stopping = threading.Event()
    app.extensions["registry"] = Parts(
        settings,
        database,
        Notifier(settings),
        waiters,
        RequestPolicy(settings),
        stopping,
        EventWatch(database, stopping),
        StreamPlaces(settings.max_streams),
        threading.Semaphore(LARGE_BODIES),
    )
    api.register(app)
    pages.register(app)
    watch(app, settings.request_timeout)
    enforce(app, app.extensions["registry"].policy)
    replica.register(app)
    return app
