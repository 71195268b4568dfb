"""How long until a correction is told: a cell of the demonstration is corrected to and fro, and with it one of the 139
sentences that are kept of its documents flips; the feed is read by long polls."""

import json
import statistics
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from typing import Any

from bench.figures import Figure, show
from bench.system import System, system
from registry.demo import PROJECT, publish_demo

SENTENCE = "Type 1: … declines to the low 80s by Length 9"
CORRECTED, PUBLISHED = 80.3, 83.7


def call(found: System, path: str, sent: Any = None, wait: int = 0) -> Any:
    """The answer of the API to a GET, or to a PATCH with what is sent."""
    request = urllib.request.Request(f"http://127.0.0.1:{found.port}/api/v1/{path}")
    request.add_header("Authorization", f"Bearer {found.token}")
    if wait:
        request.add_header("Prefer", f"wait={wait}")
    if sent is not None:
        request.method, request.data = "PATCH", json.dumps(sent).encode()
        request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def flip(found: System, grid: str, value: float, after: str) -> tuple[float, str]:
    """Seconds from a correction to its flip in the feed, and the cursor behind that."""
    begun = time.perf_counter()
    call(found, f"grids/{grid}/cells", {"cells": [{"at": {"Type": "1", "Length": 9}, "value": value}]})
    while True:
        asked = f"type=claim.flipped&after={urllib.parse.quote(after)}"
        page = call(found, f"projects/{PROJECT}/events?{asked}", wait=20)
        after = page["next"]
        if any(one["data"]["text"] == SENTENCE for one in page["items"]):
            return time.perf_counter() - begun, after


def _settled(found: System) -> None:
    while call(found, f"projects/{PROJECT}/claims?state=pending&limit=1")["items"]:
        time.sleep(0.2)


def measure(rounds: int = 8) -> Iterator[Figure]:
    """Seconds from the correction to the flip, where all was computed before and where the one before was just told."""
    with system("serve") as found:
        grid = str(publish_demo(found.database)[0])
        after = call(found, f"projects/{PROJECT}/events?limit=1")["head"]
        for name in ("when all is computed", "right after the one before"):
            took = []
            for number in range(rounds):
                if name == "when all is computed" or not number:
                    _settled(found)
                seconds, after = flip(found, grid, PUBLISHED if number % 2 else CORRECTED, after)
                took.append(seconds)
            told = f"{max(took):.2f} s at most, of {rounds}"
            yield Figure(f"a correction flips a sentence, {name}", statistics.median(took), "s", beside=told)


if __name__ == "__main__":
    show(measure())
