"""A tiny HTTP server whose answers a test scripts: what real servers do only when they are ill."""

import contextlib
import gzip
import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Seen:
    """A request as it arrived; the body inflated, the connection by its port."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    connection: int

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Reply:
    """An answer; `None` for the status cuts the connection instead."""

    status: int | None = 200
    body: Any = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)


Script = Callable[[Seen], Reply]


@dataclass
class Tiny:
    url: str
    seen: list[Seen] = field(default_factory=list)
    script: Script = lambda _seen: Reply()

    def answer(self, *replies: Reply) -> None:
        """Answer with these one after the other, the last again and again."""
        left = list(replies)
        self.script = lambda _seen: left.pop(0) if len(left) > 1 else left[0]

    def await_request(self, seconds: float = 10.0) -> None:
        """Return once a request has arrived."""
        until = time.monotonic() + seconds
        while not self.seen:
            assert time.monotonic() < until, "no request came"
            time.sleep(0.01)


@contextlib.contextmanager
def tiny_server() -> Iterator[Tiny]:
    tiny = Tiny("")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def handle_one_request(self) -> None:
            with contextlib.suppress(ConnectionError):
                super().handle_one_request()

        def respond(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            headers = {name.lower(): text for name, text in self.headers.items()}
            seen = Seen(self.command, self.path, headers, body, self.client_address[1])
            tiny.seen.append(seen)
            reply = tiny.script(seen)
            if reply.status is None:
                self.close_connection = True
                return
            sent = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
            self.send_response(reply.status)
            given = {"Content-Type": "application/json", "Content-Length": str(len(sent))} | reply.headers
            for name, text in given.items():
                self.send_header(name, text)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(sent)

        do_GET = do_POST = do_PATCH = do_DELETE = do_HEAD = respond

        def log_message(self, *_args: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_args: Any) -> None:
            pass

    with Server(("127.0.0.1", 0), Handler) as server:
        tiny.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield tiny
        finally:
            server.shutdown()
            thread.join()
