"""The web server, the same on a laptop and in production: gunicorn with one worker process of many threads.

One process, so that its /metrics are one scrape target; more capacity is more containers. Of the threads
`REGISTRY_WEB_THREADS` serve requests at once; the others hold streams of events, wait for a place, or wait for bytes of
slow clients. A connection that is slower than `ARRIVAL_SECONDS` and `SLOWEST_PACE` allow is cut.
"""

import ctypes
import signal
import socket
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import orjson
from gunicorn.app.base import BaseApplication
from gunicorn.arbiter import Arbiter
from gunicorn.http.errors import LimitRequestHeaders, LimitRequestLine, ParseException, UnsupportedTransferCoding
from gunicorn.util import close_graceful
from gunicorn.workers.gthread import TConn, ThreadWorker
from werkzeug.wsgi import ClosingIterator

from registry import create_app
from registry.api.event_streams import is_stream
from registry.api.problems import plain_problem
from registry.api.request_policy import UNCOUNTED
from registry.api.responses import HELD
from registry.errors import Malformed
from registry.garbage import collect_rarely
from registry.settings import Settings, inherited_environment

ARRIVAL_SECONDS = 10.0
"""Within this a request's header arrives, and its body too unless that keeps up `SLOWEST_PACE`."""
SLOWEST_PACE = 4096
"""Bytes per second, averaged since the reading of the body began."""
UNREAD_SECONDS = 10.0
"""Seconds after which a client is cut that takes no byte of its response."""
PIECE = 256 * 1024
"""Bytes of a response that are sent at once, each within `UNREAD_SECONDS`."""
SPARE_THREADS = 4
"""Threads beyond those of requests and streams, which refuse further streams."""
LONGEST_LINE = 8190
"""Bytes of the request line, and of a header, that nginx lets through too."""
_STATUS = {LimitRequestLine: 414, LimitRequestHeaders: 431, UnsupportedTransferCoding: 501}
_END_WITH_PARENT = 1  # PR_SET_PDEATHSIG of Linux
Application = Callable[[Any, Any], Iterable[bytes]]


class Server(BaseApplication):  # type: ignore[misc]
    """The application of these settings, for `run()`: until SIGTERM or SIGINT, then to the end of what has begun."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.port_is_systemds = "LISTEN_FDS" in inherited_environment()
        super().__init__()

    def load_config(self) -> None:
        """Set up gunicorn; files and variables of its own are not read."""
        settings = self.settings
        host = f"[{settings.host}]" if ":" in settings.host else settings.host
        threads = settings.web_threads + settings.max_streams + SPARE_THREADS  # each is made when none is idle
        configuration = {
            "bind": f"{host}:{settings.port}",
            "worker_class": Worker,
            "workers": 1,
            "threads": threads,
            "worker_connections": 1000 + threads,
            # Longer than Node (4 s) and aiohttp (15 s) keep an idle connection: who closes first has no request cut.
            "keepalive": 20,
            # The port opens when requests can be answered. The fork is safe: an import starts no thread and opens no
            # connection. On macOS system libraries may not be used on both sides of a fork.
            "preload_app": sys.platform != "darwin",
            # No max_requests: the one worker would stop, for as long as its slowest request takes, behind an open port.
            "graceful_timeout": 10,
            "limit_request_line": LONGEST_LINE,
            "limit_request_field_size": LONGEST_LINE,
            "control_socket_disable": True,
            # With a proxy of ours, only that reaches this port, and it overwrites what clients say about themselves.
            "forwarded_allow_ips": "*" if settings.proxies else "",
            "accesslog": None,  # the application writes a line for each request itself
            "logconfig_dict": {
                "version": 1,
                "disable_existing_loggers": False,
                "handlers": {"lines": {"()": "registry.logs.library_handler"}},
                "root": {"level": "WARNING", "handlers": ["lines"]},
                "loggers": {"gunicorn.error": {"level": "INFO", "handlers": ["lines"], "propagate": False}},
                "formatters": {},
            },
        }
        for name, value in configuration.items():
            self.cfg.set(name, value)

    def load(self) -> Application:
        """Make the application; once."""
        app = create_app(self.settings)
        collect_rarely()
        return app

    def run(self) -> None:
        """Serve until the process is told to end."""
        Patient(self).run()


class Patient(Arbiter):  # type: ignore[misc]
    """gunicorn's first process; at SIGINT it lets requests end, as at SIGTERM, where gunicorn would cut them."""

    def handle_int(self) -> None:
        """Stop as at SIGTERM."""
        self.handle_term()


class Worker(ThreadWorker):  # type: ignore[misc]
    """gunicorn's threads, with deadlines for slow clients, refusals as problems, and a port that closes at once."""

    def init_process(self) -> None:
        """Begin; `self.wsgi` is the application from then on."""
        self._deadlines: dict[socket.socket, float] = {}
        self._stopping = threading.Event()
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(_END_WITH_PARENT, signal.SIGTERM)
        super().init_process()

    def init_signals(self) -> None:
        """Leave Ctrl-C, which a terminal sends to all processes, to the first one."""
        super().init_signals()
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    def run(self) -> None:
        """Serve until the process is told to end."""
        app = self.app.wsgi()
        self._stopping = app.extensions["registry"].stopping
        self.wsgi = Admission(app, self.app.settings.web_threads, self._deadlines)
        super().run()

    def handle_exit(self, sig: int, frame: Any) -> None:
        """At SIGTERM whoever waits for statistics is answered at once, so that the graceful timeout is enough."""
        self._stopping.set()
        super().handle_exit(sig, frame)

    def set_accept_enabled(self, enabled: bool) -> None:
        """At the end the port closes at once: later connections are refused while a proxy may still try another
        process. Those that are in its queue already would be reset, and are taken; but where systemd listens, the
        queue waits for the next process."""
        # In the loop and not in the signal's handler, which may have interrupted a submission to the pool of threads,
        # whose lock it would wait for without end.
        super().set_accept_enabled(enabled)
        if self.alive or self.app.port_is_systemds:
            return
        for listener in self.sockets:
            taken = -1
            while taken < self.nr_conns:
                taken = self.nr_conns
                self.accept(listener)
            listener.sock.shutdown(socket.SHUT_RD)

    def handle(self, conn: TConn) -> Any:
        """Serve the next request of a connection, whose header has begun to arrive; close it if it was the last."""
        self._deadlines[conn.sock] = time.monotonic() + ARRIVAL_SECONDS
        try:
            goes_on = super().handle(conn)
        finally:
            self._deadlines.pop(conn.sock, None)
        if not goes_on:
            close_graceful(conn.sock)
        return goes_on

    def finish_request(self, conn: TConn, fs: Any) -> None:
        """Keep or forget a connection. gunicorn would wait here, in the loop, up to two seconds for each client that
        leaves its side open, and serve nobody meanwhile; its thread did that."""
        if fs.cancelled() or fs.exception() is not None or not fs.result():
            self.nr_conns -= 1
            conn.close()
            return
        super().finish_request(conn, fs)

    def handle_request(self, req: Any, conn: TConn) -> Any:
        """Serve a request whose header has arrived."""
        self._deadlines.pop(conn.sock, None)
        return super().handle_request(req, conn)

    def murder_pending(self) -> None:
        """Cut those that are too slow, besides those that gunicorn cuts; the loop calls this every second."""
        super().murder_pending()
        now = time.monotonic()
        for line, deadline in list(self._deadlines.items()):
            if now > deadline:
                self._deadlines.pop(line, None)
                try:
                    line.shutdown(socket.SHUT_RD)  # whoever reads is told that nothing more comes
                except OSError:
                    continue

    def handle_error(self, req: Any, client: socket.socket, addr: Any, exc: Exception) -> None:
        """Refuse with a problem what is not HTTP as we take it."""
        if not isinstance(exc, ParseException):
            super().handle_error(req, client, addr, exc)
            return
        status = _STATUS.get(type(exc), 400)
        name = str(uuid.uuid4())
        body = orjson.dumps(plain_problem(status, f"The request cannot be read: {exc}.", request=name))
        head = (
            f"HTTP/1.1 {status} Refused\r\nConnection: close\r\nContent-Type: application/problem+json\r\n"
            f"Content-Length: {len(body)}\r\nCache-Control: no-store\r\nX-Request-Id: {name}\r\n\r\n"
        )
        client.settimeout(UNREAD_SECONDS)
        client.sendall(head.encode() + body)


class Admission:
    """An application that serves so many requests at once, while the others wait; streams and health checks pass.

    A request whose body or response is on its way to or from a slow client keeps a thread, but while it is read no
    place.
    """

    def __init__(self, app: Application, at_once: int, deadlines: dict[socket.socket, float]) -> None:
        self._app = app
        self._places = threading.Semaphore(at_once)
        self._deadlines = deadlines

    def __call__(self, environ: Any, start_response: Any) -> Iterable[bytes]:
        """Serve a request, until its response was sent."""
        line = environ["gunicorn.socket"]
        line.settimeout(UNREAD_SECONDS)
        if is_stream(environ) or environ["PATH_INFO"] in UNCOUNTED:
            return self._app(environ, start_response)
        environ["wsgi.input"] = Body(environ, self._places, self._deadlines)
        self._places.acquire()
        try:
            response = self._app(environ, start_response)
            close = getattr(response, "close", lambda: None)
            return ClosingIterator(pieces(response, self._places), [close, self._places.release])
        except BaseException:
            self._places.release()
            raise


class Body:
    """The body of a request as it arrives: its reader holds no place meanwhile, and a slow client is cut."""

    def __init__(self, environ: Any, places: threading.Semaphore, deadlines: dict[socket.socket, float]) -> None:
        self._read = environ["wsgi.input"].read
        self._line, self._places, self._deadlines = environ["gunicorn.socket"], places, deadlines
        self._whole = int(environ.get("CONTENT_LENGTH") or sys.maxsize)
        self._began, self._taken = 0.0, 0

    def read(self, size: int = -1) -> bytes:
        """So many bytes, or fewer at the end; `Malformed` where chunks are not as HTTP has them."""
        self._began = self._began or time.monotonic()
        ahead = min(self._taken + size, self._whole) if size >= 0 else self._whole
        self._deadlines[self._line] = self._began + ARRIVAL_SECONDS + ahead / SLOWEST_PACE
        self._places.release()
        try:
            read: bytes = self._read(size)
        except ParseException as error:
            raise Malformed(f"The body cannot be read: {error}.") from None
        finally:
            self._places.acquire()
            self._deadlines.pop(self._line, None)
        self._taken += len(read)
        return read


def pieces(response: Iterable[bytes], places: threading.Semaphore) -> Iterator[bytes]:
    """The response in pieces that are sent one by one, so that each has the time of one.

    While one is sent no place is held, so that slow readers of long answers keep nobody waiting; what was made whole
    and is larger than `HELD` keeps its place as it keeps its memory.
    """
    for chunk in response:
        lends = len(chunk) <= HELD
        for at in range(0, len(chunk), PIECE):
            if lends:
                places.release()
            try:
                yield chunk[at : at + PIECE]
            finally:
                if lends:
                    places.acquire()
