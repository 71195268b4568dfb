"""The configuration of nginx. Where nginx is installed it runs, before web processes that are no more than sockets."""

import contextlib
import http.client
import json
import os
import re
import shutil
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from registry.settings import MEBIBYTE, Settings
from tests import ROOT
from tests.live.deploy.compose_file import services
from tests.live.processes.system import awaited
from tests.ports import free_port

CONFIGURATION = (ROOT / "deploy" / "nginx.conf").read_text()
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
with_nginx = pytest.mark.skipif(NGINX is None, reason="no nginx here")


def directive(name: str) -> str:
    (value,) = re.findall(rf"^\s*{name} (.*);", CONFIGURATION, re.MULTILINE)
    return value


def test_nginx_takes_the_largest_body_that_the_registry_takes() -> None:
    assert directive("client_max_body_size") == f"{Settings().max_body // MEBIBYTE}m"


def test_nginx_waits_longer_than_a_client_may() -> None:
    assert int(directive("proxy_read_timeout").rstrip("s")) > Settings().max_wait


def test_nginx_looks_where_the_web_process_listens() -> None:
    dockerfile = (ROOT / "Dockerfile").read_text()
    assert directive(r"set \$web") == "http://web:" + re.findall(r"REGISTRY_PORT=(\d+)", dockerfile)[0]


def test_slow_headers_and_bodies_have_five_seconds() -> None:
    assert (directive("client_header_timeout"), directive("client_body_timeout")) == ("5s", "5s")


class Web(BaseHTTPRequestHandler):
    """A web process that tells what reached it."""

    protocol_version = "HTTP/1.1"
    seen: list[str]

    def do_GET(self) -> None:
        self.seen.append(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        told = {"from": self.server.server_address[0], "headers": dict(self.headers), "size": len(body)}
        answer = json.dumps(told).encode()
        self.send_response(200)
        self.send_header("ETag", '"strong"')
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    do_POST = do_GET

    def log_message(self, *_anything: object) -> None:
        pass


class NameServer(threading.Thread):
    """Answers every question for an address with the addresses of the moment, as Docker's does."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.addresses: list[str] = []
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]

    def run(self) -> None:
        while True:
            try:
                question, client = self.socket.recvfrom(512)
            except OSError:
                return
            answers = b"".join(
                struct.pack(">HHHIH", 0xC00C, 1, 1, 600, 4) + socket.inet_aton(address) for address in self.addresses
            )
            state = 0x8180 if self.addresses else 0x8183
            header = question[:2] + struct.pack(">HHHHH", state, 1, len(self.addresses), 0, 0)
            self.socket.sendto(header + question[12:] + answers, client)


class Front:
    """A running nginx, its name server, and the web processes behind it."""

    def __init__(self, directory: Path) -> None:
        self.names = NameServer()
        self.names.start()
        self.port, self.web_port = free_port(), free_port()
        self.seen: list[str] = []
        self.webs: dict[str, ThreadingHTTPServer] = {}
        text = CONFIGURATION.replace("/tmp/", f"{directory}/")  # noqa: S108
        text = text.replace("listen 8080", f"listen 127.0.0.1:{self.port}")
        text = text.replace("127.0.0.11", f"127.0.0.1:{self.names.port}")
        text = text.replace("http://web:8000", f"http://web:{self.web_port}")
        self.configuration = directory / "nginx.conf"
        self.configuration.write_text(text)

    def start_web(self, address: str) -> None:
        handler = type("Web", (Web,), {"seen": self.seen})
        self.webs[address] = ThreadingHTTPServer((address, self.web_port), handler)
        self.webs[address].daemon_threads = True
        threading.Thread(target=self.webs[address].serve_forever, daemon=True).start()
        self.names.addresses = list(self.webs)

    def stop_web(self, address: str, *, forget: bool) -> None:
        server = self.webs.pop(address)
        server.shutdown()
        server.server_close()
        if forget:
            self.names.addresses = list(self.webs)

    def ask(
        self, method: str = "GET", path: str = "/", body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> tuple[http.client.HTTPResponse, dict[str, object]]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request(method, path, body, headers or {})
            response = connection.getresponse()
            return response, json.loads(response.read())
        finally:
            connection.close()


@pytest.fixture
def front(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Front]:
    """nginx as the compose file starts it; a parameter is its TRUSTED_PROXIES."""
    front = Front(tmp_path)
    front.start_web("127.0.0.2")
    # Started as root, nginx would become a user who may not enter the test's directory.
    switches = "daemon off; user root;" if os.geteuid() == 0 else "daemon off;"
    *shell, script = services()["nginx"]["command"]
    script = script.replace("$$", "$").replace("/tmp/", f"{tmp_path}/").replace("daemon off;", switches)  # noqa: S108
    script = script.replace("/etc/nginx/registry/nginx.conf", str(front.configuration))
    script = script.replace("exec nginx", f"exec {NGINX} -e stderr -p {tmp_path}")
    with (tmp_path / "log").open("wb") as log:
        environment = os.environ | {"TRUSTED_PROXIES": getattr(request, "param", "")}
        nginx = subprocess.Popen([*shell, script], stderr=log, env=environment)
    try:
        awaited(lambda: nginx.poll() is not None or listens(front.port), 60)
        assert nginx.poll() is None, (tmp_path / "log").read_text()
        yield front
    finally:
        nginx.terminate()
        nginx.wait(10)
        for address in list(front.webs):
            front.stop_web(address, forget=True)
        front.names.socket.close()


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@with_nginx
def test_a_client_cannot_say_where_it_comes_from(front: Front) -> None:
    claims = {"X-Forwarded-For": "10.9.8.7", "X-Forwarded-Proto": "https", "X-Forwarded-Ssl": "on"}
    response, told = front.ask(headers=claims | {"Host": "results.example.org", "Accept-Encoding": "gzip"})
    reached = {name.lower(): value for name, value in told["headers"].items()}
    assert reached["host"] == "results.example.org"
    assert reached["x-forwarded-for"] == "127.0.0.1"
    assert reached["x-forwarded-proto"] == "http"
    assert "x-forwarded-ssl" not in reached
    assert response.headers["ETag"] == '"strong"'


@with_nginx
@pytest.mark.parametrize("front", ["127.0.0.1 10.0.0.0/8"], indirect=True)
def test_behind_a_trusted_proxy_a_client_has_its_own_address(front: Front) -> None:
    """What the nearest stranger's proxy claims of others counts no more than a client's word."""
    for seen, address in (("203.0.113.7", "203.0.113.7"), ("192.0.2.1, 203.0.113.7, 10.1.2.3", "203.0.113.7")):
        _response, told = front.ask(headers={"X-Forwarded-For": seen})
        reached = {name.lower(): value for name, value in told["headers"].items()}
        assert reached["x-forwarded-for"] == address


@with_nginx
def test_a_body_reaches_the_web_process_whole_or_not_at_all(front: Front) -> None:
    _response, told = front.ask("POST", "/whole", b"x" * MEBIBYTE)
    assert told["size"] == MEBIBYTE
    with socket.create_connection(("127.0.0.1", front.port), timeout=15) as slow:
        began = time.monotonic()
        slow.sendall(b"POST /slow HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nonly this")
        with contextlib.suppress(ConnectionResetError):
            assert slow.recv(100) == b""
        assert time.monotonic() - began > 4
    assert front.seen == ["/whole"]


def hung_up(client: socket.socket) -> bool:
    client.setblocking(False)
    try:
        client.recv(1)
    except BlockingIOError:
        return False
    except ConnectionError:
        pass
    return True


@with_nginx
def test_slow_clients_do_not_keep_others_out(front: Front) -> None:
    slow = [socket.create_connection(("127.0.0.1", front.port), timeout=5) for _ in range(300)]
    try:
        for number, client in enumerate(slow):
            client.sendall(
                b"GET / HTTP/1.1\r\nHost" if number % 2 else b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n1"
            )
        response, _told = front.ask()
        assert response.status == 200
        assert [client for client in slow if hung_up(client)] == [], "the answer came when slow clients had gone"
    finally:
        for client in slow:
            client.close()


@with_nginx
@pytest.mark.parametrize(
    ("method", "path", "body", "headers", "status"),
    [
        ("POST", "/", b"x" * (16 * MEBIBYTE + 1), {}, 413),
        ("GET", "/" + "a" * 9_000, None, {}, 414),
        ("GET", "/", None, {"X-Long": "a" * 9_000}, 431),
        ("GET", "/", None, {"Host": "a b"}, 400),
    ],
)
def test_what_nginx_refuses_is_a_problem_too(
    front: Front, method: str, path: str, body: bytes | None, headers: dict[str, str], status: int
) -> None:
    response, problem = front.ask(method, path, body, headers)
    assert (response.status, problem["status"]) == (status, status)
    assert response.headers["Content-Type"] == "application/problem+json"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'"
    assert re.fullmatch(r"urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", str(problem["instance"]))


@with_nginx
def test_without_a_web_process_clients_are_told_to_repeat(front: Front) -> None:
    front.stop_web("127.0.0.2", forget=False)
    response, problem = front.ask("POST", "/", b"{}")
    assert (response.status, problem["status"]) == (503, 503)
    assert response.headers["Retry-After"] == "2"
    assert response.headers["Content-Type"] == "application/problem+json"


@with_nginx
def test_a_new_web_process_is_found_and_a_dead_one_passed_over(front: Front) -> None:
    def who() -> str:
        return str(front.ask()[1]["from"])

    front.start_web("127.0.0.3")
    awaited(lambda: who() == "127.0.0.3", 15)
    front.stop_web("127.0.0.2", forget=False)
    assert {who() for _ in range(20)} == {"127.0.0.3"}
