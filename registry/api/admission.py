"""Admit requests to a server whose threads are also there for streams: so many at once, and the others wait.

A server with one pool of threads has one for each stream and one for each request that is served at once; without this,
requests would take them all and use the database more than it is set up for. Health checks and streams pass.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any

from werkzeug.wsgi import ClosingIterator

from registry.api.event_streams import is_stream
from registry.api.request_policy import UNCOUNTED

UNREAD_SECONDS = 10.0
"""Seconds after which a stream whose client reads nothing is cut."""
SPARE_THREADS = 4
"""Threads beyond those of streams, which refuse further ones."""

Application = Callable[[Any, Any], Iterable[bytes]]


class Admission:
    """An application that serves so many requests at once."""

    def __init__(self, app: Application, at_once: int) -> None:
        self._app = app
        self._places = threading.Semaphore(at_once)

    def __call__(self, environ: Any, start_response: Any) -> Iterable[bytes]:
        """Serve a request, until its response was sent."""
        if is_stream(environ):
            if (line := environ.get("gunicorn.socket")) is not None:
                line.settimeout(UNREAD_SECONDS)
            return self._app(environ, start_response)
        if environ.get("PATH_INFO") in UNCOUNTED:
            return self._app(environ, start_response)
        self._places.acquire()
        try:
            return ClosingIterator(self._app(environ, start_response), self._places.release)
        except BaseException:
            self._places.release()
            raise
