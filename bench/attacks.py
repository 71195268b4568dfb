"""What hostile requests cost.

Each goes to a web process while another client asks for `/healthz`. Told are how long it took, the answer, the
longest that `/healthz` waited meanwhile, and by how much the process grew at its peak.
"""

import gzip
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from typing import Any

from bench.figures import Figure, show
from bench.system import System, system

MEBIBYTE = 1024 * 1024
IDENTITY = "experiment=e&benchmark=b&model=m&metric=x&columns=L"


def measure(questions: int = 2_000, side: int = 1_000, most: int = 100) -> Iterator[Figure]:
    """Seconds of so many of the requests, and of a ranking after so many questions; the large grid has `side` levels an
    axis."""
    with system("serve") as found:
        publish_large(found, side)
        for name, attack in list(ATTACKS.items())[-most:]:
            yield told(found, name, attack)
        yield from flood(found, questions)


def told(found: System, name: str, attack: Callable[[System], int]) -> Figure:
    """The figure of one request."""
    Path(f"/proc/{found.serving}/clear_refs").write_text("5")  # the peak counts from here
    before, began = resident(found, "VmRSS"), time.perf_counter()
    with watched(found) as waits:
        status = attack(found)
    took, peak = time.perf_counter() - began, resident(found, "VmHWM")
    beside = f"answered {status}; `/healthz` {1000 * max(waits, default=0.0):.0f} ms, {peak - before:.0f} MiB more"
    return Figure(name, took, "s", beside=beside)


def resident(found: System, which: str) -> float:
    """The resident memory of the web process now (VmRSS) or at its peak (VmHWM), in MiB."""
    lines = Path(f"/proc/{found.serving}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(which)) / 1024


@contextmanager
def watched(found: System) -> Iterator[list[float]]:
    """How long `/healthz` took, again and again while the block lasts."""
    over, waits = threading.Event(), list[float]()

    def look() -> None:
        while not over.wait(0.02):
            began = time.perf_counter()
            connection = found.connection()
            connection.request("GET", "/healthz")
            connection.getresponse().read()
            waits.append(time.perf_counter() - began)

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        yield waits
    finally:
        over.set()
        watcher.join()


def call(found: System, method: str, path: str, body: bytes | None = None, **headers: str) -> int:
    """The status of an answer that is read to its end; 0 where the connection was cut."""
    given = {"Authorization": f"Bearer {found.token}"} | {
        name.replace("_", "-"): text for name, text in headers.items()
    }
    connection = found.connection()
    try:
        connection.request(method, path, body, given)
        answer = connection.getresponse()
        while answer.read(MEBIBYTE):
            pass
        return answer.status
    except (OSError, HTTPException):
        return 0


def json_post(body: bytes, **headers: str) -> Callable[[System], int]:
    path = "/api/v1/projects/bench/grids"
    return lambda found: call(found, "POST", path, body, Content_Type="application/json", **headers)


def table_post(body: bytes, media: str) -> Callable[[System], int]:
    path = f"/api/v1/projects/bench/grids?{IDENTITY}"
    return lambda found: call(found, "POST", path, body, Content_Type=media)


def repeated_keys(count: int) -> bytes:
    keys = ",".join(f'"k{number}":1' for number in range(count))
    return f'{{{keys},"k{count - 1}":2}}'.encode()


def item_ids(found: System, count: int) -> int:
    ids = [f"item-{number}" for number in range(count)]
    body = json.dumps({"set": {"name": "x", "ids": ids}, "cells": [{"at": {}, "outcomes": "1"}]}).encode()
    listed = f"/api/v1/projects/{found.project}/grids?experiment=large"
    connection = found.connection()
    connection.request("GET", listed)
    [grid] = json.loads(connection.getresponse().read())["items"]
    return call(found, "POST", f"/api/v1/grids/{grid['id']}/items", body, Content_Type="application/json")


def publish_large(found: System, side: int) -> None:
    """A grid of so many cells squared."""
    levels = [list(range(side)), list(range(side))]
    axes = [{"name": name, "kind": "numeric", "levels": each} for name, each in zip("AB", levels, strict=True)]
    grid: dict[str, Any] = {
        "experiment": "large",
        "benchmark": "b",
        "model": "m",
        "metric": {"name": "x"},
        "axes": axes,
    }
    grid["values"] = [[a * side + b for b in range(side)] for a in range(side)]
    assert json_post(json.dumps(grid).encode())(found) == 201


def large_cells(form: str) -> Callable[[System], int]:
    return lambda found: call(found, "GET", f"/api/v1/projects/bench/cells.{form}?experiment=large")


def usual(found: System) -> float:
    """How long after a publication the usual ranking is there."""
    score = {"experiment": "board", "benchmark": "b", "model": f"m{time.time_ns()}", "axes": [], "values": 1.0}
    began = time.perf_counter()
    metric = {"name": "x", "direction": "higher"}
    assert json_post(json.dumps(score | {"metric": metric}).encode())(found) == 201
    question = "/api/v1/projects/bench/rankings?experiment=board&metric=x"
    while call(found, "GET", question, Prefer="wait=20") != 200:
        pass
    return time.perf_counter() - began


def flood(found: System, questions: int) -> Iterator[Figure]:
    """Questions without end, each another: what they are answered, and what the usual ranking is delayed by them."""
    before = sorted(usual(found) for _ in range(5))[2]
    question = "/api/v1/projects/bench/rankings?experiment=board&metric=x&alpha=0.0"
    given = Counter(call(found, "GET", f"{question}{number + 1_000}") for number in range(questions))
    after = sorted(usual(found) for _ in range(5))[2]
    answers = ", ".join(f"{count:,} × {status}" for status, count in sorted(given.items()))
    beside = f"{before:.2f} s before it; answered {answers}"
    yield Figure(f"the usual ranking after a flood of {questions:,} questions", after, "s", beside=beside)


# Numbered, so that it does not shrink so far that it is refused for that alone.
LONG = b'{"experiment":"' + b"".join(b"%08d" % n + b"x" * 1_016 for n in range(62 * 1_024)) + b'"}'
ATTACKS: dict[str, Callable[[System], int]] = {
    "a path of 64,000 digits": lambda found: call(found, "GET", "/" + "0" * 64_000),
    "`Prefer: wait=` 5,000 nines": lambda found: call(
        found, "GET", "/api/v1/projects/bench", Prefer=f"wait={'9' * 5_000}"
    ),
    "CSV: 32,000 spaces in a heading": table_post(b"a" + b" " * 32_000 + b"b,1,2\nx,1,2\n", "text/csv"),
    "JSON: 20,000 keys, one twice": json_post(repeated_keys(20_000)),
    "JSON: 1.2 million keys": json_post(repeated_keys(1_200_000)[:-1] + b"}"),
    "JSON: 1.2 million keys, one twice": json_post(repeated_keys(1_200_000)),
    "JSON: small objects, 60 MiB in gzip": json_post(
        gzip.compress(b'{"cells":[' + b'{"a":1},' * 7_800_000 + b"1]}", 1), Content_Encoding="gzip"
    ),
    "JSON: numbers, 60 MiB in gzip": json_post(
        gzip.compress(b'{"values":[' + b",".join(b"%d.5678901" % n for n in range(3_000_000)) + b"]}", 1),
        Content_Encoding="gzip",
    ),
    "JSON: a million ids of items without their number": lambda found: item_ids(found, 1_000_000),
    "JSON: one text of 15 MiB": json_post(b'{"experiment":"' + b"x" * (15 * MEBIBYTE) + b'"}'),
    "JSON: 62 MiB in gzip": json_post(gzip.compress(LONG, 1), Content_Encoding="gzip"),
    "Markdown: one cell of 15 MiB": table_post(b"a|b\n-|-\n" + b"x" * (15 * MEBIBYTE) + b"|1\n", "text/markdown"),
    "Markdown: 13 MiB of pipes": table_post(b"|" * (13 * MEBIBYTE) + b"\n|-|-|\n", "text/markdown"),
    "Markdown: bold and 9,900 spaces": table_post((b"**a**" + b" " * 9_900 + b"x\n") * 4, "text/markdown"),
    "the cells of the large grid as NDJSON": large_cells("ndjson"),
    "the cells of the large grid as JSON": large_cells("json"),
    "the cells of the large grid as Arrow": large_cells("arrow"),
}

if __name__ == "__main__":
    show(measure())
