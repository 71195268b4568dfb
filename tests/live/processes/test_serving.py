"""The web server as it is run: what it lets through to the application, what it refuses, and what a body costs."""

import gzip
import json
import os
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http.client import HTTPException
from pathlib import Path
from typing import Any

import pytest

from registry.api.request_body import ANONYMOUS_BODY
from registry.settings import MEBIBYTE, Settings
from registry.web_server import LONGEST_LINE, Server
from tests.house import publication
from tests.live.processes.system import PROJECT, Client, System, children
from tests.live.processes.test_stopping import SERVE, another_web

POST = f"POST /api/v1/projects/{PROJECT}/grids HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n".encode()
TYPED = b"Content-Type: application/json\r\n"
REFUSED = [
    (b"GET / HTTP/1.1\r\nbad header\r\n\r\n", 400, "malformed"),
    (b"GET / HTTP/1.1\r\nX: ".ljust(LONGEST_LINE + 200, b"x") + b"\r\n\r\n", 431, "header_too_large"),
    (b"GET /".ljust(LONGEST_LINE + 200, b"x") + b" HTTP/1.1\r\n\r\n", 414, "error"),
    (b"POST / HTTP/1.1\r\nTransfer-Encoding: rot13\r\n\r\n", 501, "error"),
    (POST + TYPED + b"Authorization: Bearer %s\r\nContent-Length: 99999999999\r\n\r\n", 413, "too_large"),
    (POST + TYPED + b"Authorization: Bearer %s\r\nTransfer-Encoding: chunked\r\n\r\n-2\r\n", 400, "malformed"),
    (POST + b"Authorization: Bearer %s\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n", 400, "malformed"),
]


def say(port: int, sent: bytes) -> bytes:
    """What comes back on a connection of its own until the server closes it."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as line:
        line.sendall(sent)
        heard = b""
        while more := line.recv(65536):
            heard += more
        return heard


def problem(heard: bytes) -> tuple[dict[str, str], dict[str, Any]]:
    """The headers and the body of an answer that is a problem."""
    head, _, body = heard.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    headers = {name.lower(): text for name, text in (line.split(": ", 1) for line in lines[1:])}
    assert headers["content-type"] == "application/problem+json", heard
    found = json.loads(body)
    assert lines[0].split()[1] == str(found["status"])
    assert found["instance"] == f"urn:uuid:{headers['x-request-id']}"
    return headers, found


def test_what_is_no_request_of_ours_is_refused_with_a_problem(system: System, subtests: pytest.Subtests) -> None:
    for sent, status, code in REFUSED:
        with subtests.test(sent[:60]):
            asked = sent.replace(b"Bearer %s", b"Bearer " + system.token.encode())
            _, found = problem(say(system.settings.port, asked))
            assert (found["status"], found["type"]) == (status, f"/docs#problem-{code}")


def test_a_large_body_with_a_token_is_read(system: System) -> None:
    body = json.dumps(publication(labels={"padding": "x"})) + " " * 2 * ANONYMOUS_BODY
    head = f"Authorization: Bearer {system.token}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    heard = say(system.settings.port, POST + head.encode() + b"\r\n\r\n" + body.encode())
    assert heard.startswith((b"HTTP/1.1 201", b"HTTP/1.1 200")), heard


@pytest.fixture(scope="module")
def web(system: System, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[subprocess.Popen[bytes], Client]]:
    """A web process that has answered what it answers most."""
    with another_web(system, SERVE, tmp_path_factory.mktemp("web") / "log") as (process, client):
        client.publish()
        assert client.call("POST", "projects", {"slug": "open", "visibility": "public"}).status == 201
        yield process, client


Sent = tuple[bytes, dict[str, str]]
IDENTITY = "experiment=e&benchmark=b&model=m&metric=x&columns=L"
JSON, GZIP = {"Content-Type": "application/json"}, {"Content-Encoding": "gzip"}
UNIT = {"name": "share", "lower": 0, "upper": 1}
MARKDOWN = {"Content-Type": "text/markdown"}


def filled(begin: bytes, item: Callable[[int], bytes], end: bytes, size: int) -> bytes:
    """A body of so many bytes, of different items that do not shrink as if they were one."""
    count = (size - len(begin) - len(end)) // (len(item(10**7)) + 1)
    return begin + b",".join(map(item, range(10**7, 10**7 + count))) + end


SHAPES: dict[str, tuple[bytes, Callable[[int], bytes], bytes]] = {
    "small objects": (b'{"cells":[', lambda n: b'{"a":%d}' % n, b"]}"),
    "empty lists": (b'{"values":[', lambda _: b"[]", b"]}"),
    "lists of one": (b'{"values":[', lambda n: b"[%d]" % n, b"]}"),
    "numbers": (b'{"values":[', lambda n: b"%d.5" % n, b"]}"),
    "texts": (b'{"values":[', lambda n: b'"%d"' % n, b"]}"),
    "keys": (b"{", lambda n: b'"%d":1' % n, b"}"),
    "one key": (b"{", lambda _: b'"a":1', b"}"),
    "cells": (b'{"cells":[', lambda n: b'{"at":{"A":%d},"value":1}' % n, b"]}"),
    "grids": (b"[", lambda n: b'{"experiment":"%d"}' % n, b"]"),
    "a text": (b'{"experiment":"', lambda n: b"x" * 40 + b"%d" % n, b'"}'),
    "a text of escapes": (b'{"experiment":"', lambda n: b"\\\\\\u00e9" * 5 + b"%d" % n, b'"}'),
    "whole numbers": (b'{"values":[', lambda n: b"9" * 30 + b"%d" % n, b"]}"),
    "pipes": (b"|", lambda _: b"|", b"\n|-|-|\n"),
}


peaks = pytest.mark.skipif(not os.path.exists("/proc/self/clear_refs"), reason="the peak of memory is Linux' to tell")


def more_at_most(process: subprocess.Popen[bytes], act: Callable[[], None]) -> float:
    """By how many MiB the process that answers grew at its peak."""
    [serving] = children(process.pid)

    def resident(which: str) -> float:
        lines = Path(f"/proc/{serving}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith(which)) / 1024

    Path(f"/proc/{serving}/clear_refs").write_text("5")  # the peak counts from here
    before = resident("VmRSS")
    act()
    return resident("VmHWM") - before


def post(port: int, path: str, body: bytes, headers: dict[str, str]) -> int:
    """The status of an answer; 0 where the connection was cut."""
    client = Client(port, "")
    client._connection.timeout = 120  # so long a table of a million rows may take
    try:
        client._connection.request("POST", f"/api/v1/projects/{path}", body, headers)
        answer = client._connection.getresponse()
        answer.read()
        return answer.status
    except (OSError, HTTPException):
        return 0
    finally:
        client.close()


@peaks
def test_what_a_stranger_sends_takes_little(
    web: tuple[subprocess.Popen[bytes], Client], subtests: pytest.Subtests
) -> None:
    process, client = web
    port = client._connection.port
    for name, shape in SHAPES.items():
        small = filled(*shape, ANONYMOUS_BODY - 1)
        large = filled(*shape, 16 * MEBIBYTE)
        for sent, headers in ((small, JSON), (large, JSON), (gzip.compress(large, 1), JSON | GZIP)):
            with subtests.test(name, size=len(sent)):
                answered: list[int] = []
                ask = partial(post, port, "open/claims?dry_run=true", sent, headers)
                grown = more_at_most(process, lambda: answered.append(ask()))  # noqa: B023
                assert (grown <= 64, answered[0] in (0, 400, 401, 422)) == (True, True)

    def ten() -> None:
        body = filled(*SHAPES["small objects"], 16 * MEBIBYTE)
        clients = [
            threading.Thread(target=post, args=(port, "open/claims?dry_run=true", body, JSON)) for _ in range(10)
        ]
        for one in clients:
            one.start()
        for one in clients:
            one.join()

    assert more_at_most(process, ten) <= 128


@peaks
def test_what_a_writer_sends_takes_memory_in_proportion_to_what_it_may_say(
    web: tuple[subprocess.Popen[bytes], Client], subtests: pytest.Subtests
) -> None:
    process, client = web
    port = client._connection.port
    token = {"Authorization": f"Bearer {client._token}"}
    for name, shape in SHAPES.items():
        body = gzip.compress(filled(*shape, 64 * MEBIBYTE - 1), 1)
        path, kind = (f"open/grids?{IDENTITY}", MARKDOWN) if name == "pipes" else ("open/grids", JSON)
        with subtests.test(name):
            answered: list[int] = []
            grown = more_at_most(process, lambda: answered.append(post(port, path, body, kind | GZIP | token)))  # noqa: B023
            print(f"{name}: {grown:.0f} MiB, {answered}")
            assert grown <= 512
            assert answered[0] in (400, 413, 422)


def taken(web: tuple[subprocess.Popen[bytes], Client], path: str, body: str, kind: dict[str, str]) -> float:
    """By how many MiB the process grew while it took a grid."""
    process, client = web
    answered: list[int] = []
    headers = kind | GZIP | {"Authorization": f"Bearer {client._token}"}
    sent = gzip.compress(body.encode(), 1)
    grown = more_at_most(process, lambda: answered.append(post(client._connection.port, path, sent, headers)))
    assert answered == [201]
    return grown


@peaks
def test_the_largest_grid_is_taken_in_the_memory_of_one_request(web: tuple[subprocess.Popen[bytes], Client]) -> None:
    side = range(1000)
    axes = [{"name": name, "kind": "numeric", "levels": list(side)} for name in ("A", "B")]
    values = [[(a * 1000 + b) / 1e6 for b in side] for a in side]
    grid = publication(axes=axes, values=values, trials=[[1000] * 1000] * 1000, metric=UNIT, stderr=values)
    assert taken(web, "open/grids", json.dumps(grid), JSON) <= 512


@peaks
def test_a_long_table_takes_as_much_memory_as_its_share_of_the_longest(
    web: tuple[subprocess.Popen[bytes], Client],
) -> None:
    rows = (f"task{a},depth{b},{(a * 1000 + b) / 1e6},1000,{(a + b) / 1e4}\n" for a in range(250) for b in range(1000))
    body = "Task,Depth,value,trials,stderr\n" + "".join(rows)
    path = "open/grids?experiment=e&benchmark=b&model=table&metric=share&lower=0&upper=1"
    # Of 250,000 rows; 999,000 take 504, and one request may take 512.
    assert taken(web, path, body, {"Content-Type": "text/csv"}) <= 150


def test_a_client_closes_an_idle_connection_before_the_server_does() -> None:
    """Else a request that is on its way is cut: undici of Node keeps it for 4 s, aiohttp for 15 s."""
    assert Server(Settings()).cfg.keepalive > 15


@peaks
def test_text_of_a_large_grid_is_refused_before_it_takes_memory(web: tuple[subprocess.Popen[bytes], Client]) -> None:
    process, client = web
    axes = [{"name": name, "kind": "numeric", "levels": list(range(400))} for name in ("A", "B")]
    grid = publication(experiment="large", axes=axes, values=[[b / 4 for b in range(400)]] * 400)
    client._connection.close()  # the server does not keep it for as long as the test before takes
    made = client.call("POST", "projects/open/grids", grid).json["id"]
    ask = f"GET /api/v1/grids/{made}.txt HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode()

    def eight() -> None:
        with ThreadPoolExecutor() as strangers:
            heard = list(strangers.map(say, [client._connection.port] * 8, [ask] * 8))
        assert {one[:12] for one in heard} == {b"HTTP/1.1 413"}

    assert more_at_most(process, eight) <= 128


@peaks
def test_tidy_csv_of_a_large_grid_with_long_names_takes_little(web: tuple[subprocess.Popen[bytes], Client]) -> None:
    process, client = web
    axes = [
        {"name": name, "kind": "nominal", "levels": [f"{name * 190}{place}" for place in range(150)]} for name in "AB"
    ]
    grid = publication(experiment="long names", axes=axes, values=[[b / 4 for b in range(150)]] * 150)
    client._connection.close()
    made = client.call("POST", "projects/open/grids", grid).json["id"]
    ask = f"GET /api/v1/grids/{made}/cells.csv HTTP/1.0\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode()

    def eight() -> None:
        with ThreadPoolExecutor() as strangers:
            heard = list(strangers.map(say, [client._connection.port] * 8, [ask] * 8))
        whole = [one for one in heard if one[8:12] == b" 200"]
        assert whole
        assert all(one.count(b"\n" + made.encode()) == 150 * 150 for one in whole)

    assert more_at_most(process, eight) <= 64
