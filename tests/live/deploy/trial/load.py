"""Clients that publish and read while something happens, and remember what they were told."""

import http.client
import itertools
import json
import socket
import threading
import time
import uuid
from collections import Counter
from typing import Any

PORT = 8080
AXES = [
    {"name": "Type", "kind": "nominal", "levels": ["1", "2", "3"]},
    {"name": "Length", "kind": "numeric", "levels": [0, 1, 2, 3]},
]
VALUES = [[99.3, 96.7, 98.3, 95.0], [None, 100.0, 99.7, 71.0], [88.0, 81.5, 79.0, 60.0]]
PAUSE = 0.1


def ask(
    method: str, path: str, sent: object = None, token: str | None = None, **headers: str
) -> tuple[int, dict[str, Any]]:
    """One request through nginx on a connection of its own: status and document; 0 where there was no answer."""
    body = None if sent is None else json.dumps(sent)
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    if body:
        headers["Content-Type"] = "application/json"
    if token:
        headers["Authorization"] = f"Bearer {token}"
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=45)
    try:
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        return response.status, json.loads(response.read() or b"{}")
    except (OSError, http.client.HTTPException, ValueError) as error:
        return 0, {"detail": f"{type(error).__name__}: {error}"}
    finally:
        connection.close()


def grid(model: str, experiment: str = "load") -> dict[str, Any]:
    return {
        "experiment": experiment,
        "benchmark": "Core Generalization",
        "model": model,
        "metric": {"name": "accuracy", "unit": "%", "direction": "higher", "lower": 0, "upper": 100},
        "axes": AXES,
        "values": VALUES,
    }


class Load:
    """Two writers and two readers, from entering to leaving the block."""

    def __init__(self, token: str, project: str) -> None:
        self.token, self.project = token, project
        self.acknowledged: dict[str, str] = {}
        """Grids that were answered 201, and their models."""
        self.statuses: Counter[str] = Counter()
        self.slowest = 0.0
        self.refused: list[tuple[float, str]] = []
        """When, in seconds since the start, and what else than a 2xx there was."""
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._began = time.monotonic()
        self._number = itertools.count()
        self._name = f"{socket.gethostname()}-{uuid.uuid4().hex[:8]}"
        self._threads = [threading.Thread(target=self._turn, args=(step,)) for step in [self._write, self._read] * 2]

    def __enter__(self) -> "Load":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_raised: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    @property
    def requests(self) -> int:
        return sum(self.statuses.values())

    def said(self) -> str:
        failed = f"{len(self.refused)} not 2xx of {self.requests}"
        kinds = Counter(what for _when, what in self.refused)
        return f"{failed}, slowest {self.slowest:.1f} s" + (f" ({dict(kinds)})" if kinds else "")

    def _turn(self, step: Any) -> None:
        while not self._stop.is_set():
            began = time.monotonic()
            status, document = step()
            with self._lock:
                self.slowest = max(self.slowest, time.monotonic() - began)
                self.statuses[str(status)] += 1
                if not 200 <= status < 300:
                    self.refused.append((began - self._began, f"{status} {document.get('detail', '')}"[:90]))
            self._stop.wait(PAUSE)

    def _write(self) -> tuple[int, dict[str, Any]]:
        model = f"{self._name}-{next(self._number)}"
        path = f"/api/v1/projects/{self.project}/grids"
        status, document = ask("POST", path, grid(model), self.token, Idempotency_Key=model)
        if status in (200, 201):
            with self._lock:
                self.acknowledged[document["id"]] = model
        return status, document

    def _read(self) -> tuple[int, dict[str, Any]]:
        return ask("GET", f"/api/v1/projects/{self.project}/grids?experiment=load&limit=5", token=self.token)
