"""Clients of the trial: publish as jobs do and read, through the balancer, and write down what happened, a line each.

    python -m deploy.hosts.load ADDRESS TOKEN FILE [PROJECT …]

until SIGTERM. What is acknowledged is repeated with its Idempotency-Key until it is.
"""

import http.client
import json
import random
import signal
import sys
import threading
import time
import uuid
from collections.abc import Sequence
from typing import Any, TextIO

PROJECT = "trial"
EXPERIMENTS = 40
RANKING = "projects/{}/rankings?experiment={}&metric=accuracy"
WRITERS, READERS = 3, 2
PAUSE = 0.05
AWAY = (502, 503, 504)
"""The balancer's own words for a web process that does not answer, and the registry's for the database."""


class Load:
    """Threads that share what was acknowledged."""

    def __init__(self, address: str, token: str, file: TextIO, projects: Sequence[str] = (PROJECT,)) -> None:
        self._address, self._token, self._file, self._projects = address, token, file, projects
        self._lock = threading.Lock()
        self.stopped = threading.Event()
        self._grids: list[tuple[str, str]] = []

    def note(self, **event: Any) -> None:
        with self._lock:
            self._file.write(json.dumps({"at": time.time(), **event}) + "\n")
            self._file.flush()

    def call(self, method: str, path: str, sent: Any = None, **headers: str) -> tuple[int, Any]:
        """Status and document of an answer; status 0 when there was none."""
        connection = http.client.HTTPConnection(self._address, 8080, timeout=20)
        headers |= {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        try:
            connection.request(method, f"/api/v1/{path}", None if sent is None else json.dumps(sent), headers)
            answer = connection.getresponse()
            body = answer.read()
            return answer.status, json.loads(body) if body[:1] == b"{" else None
        except (OSError, http.client.HTTPException, ValueError):
            return 0, None
        finally:
            connection.close()

    def write(self) -> None:
        while not self.stopped.is_set():
            model, key, begun, tries = f"m-{uuid.uuid4().hex[:12]}", uuid.uuid4().hex, time.time(), 0
            project = random.choice(self._projects)
            values = [[random.uniform(0, 100) for _ in range(3)] for _ in range(3)]
            grid = {
                "experiment": f"e{random.randrange(EXPERIMENTS // len(self._projects))}",
                **{"benchmark": "b", "model": model, "values": values},
                "metric": {"name": "accuracy", "unit": "percent", "direction": "higher"},
                "axes": [{"name": "a", "kind": "numeric", "levels": [1, 2, 3]},
                         {"name": "c", "kind": "nominal", "levels": ["x", "y", "z"]}],
            }  # fmt: skip
            while not self.stopped.is_set() or tries:
                asked = time.time()
                status, told = self.call("POST", f"projects/{project}/grids", grid, **{"Idempotency-Key": key})
                tries += 1
                self.note(act="write", status=status, project=project, took=time.time() - asked)
                if status in (200, 201):
                    self.note(act="acknowledged", id=told["id"], model=model, tries=tries, took=time.time() - begun)
                    self._grids.append((project, told["id"]))
                    break
                if status not in (0, 409, 429, *AWAY):
                    self.note(act="defect", status=status, told=told)
                    break
                time.sleep(0.3)
            time.sleep(PAUSE)

    def read(self) -> None:
        while not self.stopped.is_set():
            if self._grids:
                asked = time.time()
                project, grid = random.choice(self._grids)
                ranking = RANKING.format(project, f"e{random.randrange(EXPERIMENTS // len(self._projects))}")
                path = random.choice([f"grids/{grid}", ranking])
                status, told = self.call("GET", path)
                self.note(act="read", status=status, project=project, took=time.time() - asked)
                if status not in (0, 200, 202, 429, *AWAY) and (status, path) != (404, ranking):
                    self.note(act="defect", status=status, told=told)
            time.sleep(PAUSE)


def main(address: str, token: str, path: str, *projects: str) -> None:
    with open(path, "w", encoding="utf-8") as file:
        load = Load(address, token, file, projects or (PROJECT,))
        signal.signal(signal.SIGTERM, lambda *_: load.stopped.set())
        threads = [threading.Thread(target=work) for work in [load.write] * WRITERS + [load.read] * READERS]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


if __name__ == "__main__":
    main(*sys.argv[1:])
