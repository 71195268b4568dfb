"""A receiver of webhooks on this machine, that answers what a test says."""

import json
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Received:
    """A request as it came."""

    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def document(self) -> Any:
        return json.loads(self.body)


@dataclass
class Receiver:
    """What came, in order, and what is answered: `answer` is given the request, and returns a status and headers."""

    port: int
    scheme: str = "http"
    received: list[Received] = field(default_factory=list)
    answer: Callable[[Received], Any] = lambda _one: 204
    write: Callable[[Any], None] | None = None
    """Writes the whole answer by itself; then the connection is closed."""
    connections: int = 0

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}/hook"

    @property
    def ids(self) -> list[str]:
        return [one.headers["webhook-id"] for one in self.received]

    @property
    def numbers(self) -> list[int]:
        """What the events of `happened` are about."""
        return [one.document["data"]["number"] for one in self.received]


@contextmanager
def receiving(context: ssl.SSLContext | None = None, *, keeps: bool = False) -> Iterator[Receiver]:
    """A receiver for as long as the block lasts; with a context one of https. It closes connections behind an answer
    or `keeps` them."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1" if keeps else "HTTP/1.0"

        def setup(self) -> None:
            found.connections += 1
            super().setup()

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            one = Received(self.path, dict(self.headers.items()), body)
            found.received.append(one)
            if found.write is not None:
                found.write(self.wfile)
                self.close_connection = True
                return
            answer = found.answer(one)
            status, headers = answer if isinstance(answer, tuple) else (answer, {})
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            if status not in (204, 304):
                self.send_header("Content-Length", "22")
            self.end_headers()
            if status not in (204, 304):
                self.wfile.write(b"what the receiver says")

        def log_message(self, *_more: Any) -> None:
            """Say nothing."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_more: Any) -> None:
            """A client that hung up is what some tests want."""

    server = Server(("127.0.0.1", 0), Handler)
    if context is not None:
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    found = Receiver(server.server_port, "https" if context else "http")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()
