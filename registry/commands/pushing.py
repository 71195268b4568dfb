"""One push: grids into batches, batches to the registry, what was acknowledged into a journal.

The journal makes the next run of a push that was cut off send only what is missing: it names every grid that the
registry acknowledged by the digest of its JSON. A push that ends well removes it, for a day later the registry may hold
something else, and pushing a file again must make its content the current one.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import orjson

from registry.client.config import Config
from registry.client.errors import NotNow, Unreachable
from registry.client.http import segment
from registry.client.item import GRID, make_item
from registry.client.spool import Spool
from registry.importers.reading import Item, Skipped, missing_names, problem_text

TOGETHER = 500
_BYTES = 8 * 1024 * 1024
_FRESH = 24 * 3600.0
_POLL = 30


@dataclass
class Report:
    """What a push did."""

    new: int = 0
    same: int = 0
    resumed: int = 0
    spooled: int = 0
    files: set[str] = field(default_factory=set)
    grids: list[dict[str, Any]] = field(default_factory=list)
    warnings: dict[str, int] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    unreachable: str = ""

    def warn(self, line: str) -> None:
        self.warnings[line] = self.warnings.get(line, 0) + 1

    def sentence(self) -> str:
        parts = [f"{self.new} new", f"{self.same} unchanged"]
        parts += [f"{self.resumed} sent before"] if self.resumed else []
        parts += [f"{len(self.faults)} at fault"] if self.faults else []
        total = self.new + self.same + self.resumed
        return f"{total} grids from {len(self.files)} files: {', '.join(parts)}."

    def document(self) -> dict[str, Any]:
        return {
            "new": self.new, "same": self.same, "resumed": self.resumed, "spooled": self.spooled,
            "files": len(self.files), "grids": self.grids, "faults": self.faults, "failed": self.failed,
            "warnings": [{"detail": line, "times": times} for line, times in self.warnings.items()],
        }  # fmt: skip


class Journal:
    """The digests of what the registry acknowledged in a push that did not end."""

    def __init__(self, path: Path) -> None:
        self.path = path
        fresh = path.is_file() and time.time() - path.stat().st_mtime < _FRESH
        self.known = frozenset(path.read_text().split()) if fresh else frozenset[str]()
        if path.is_file() and not fresh:
            path.unlink()

    def note(self, digests: list[str]) -> None:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with self.path.open("a") as file:
            file.write("".join(f"{digest}\n" for digest in digests))

    def remove(self) -> None:
        self.path.unlink(missing_ok=True)


class Push:
    """Grids on their way to one project."""

    def __init__(self, config: Config, spool: Path) -> None:
        assert config.project is not None  # noqa: S101 (the command asked)
        self.config, self.project = config, config.project
        self.transport = config.transport()
        self.report = Report()
        self.spool = spool
        where = hashlib.sha256(f"{self.transport.url}\n{self.project}".encode()).hexdigest()[:16]
        self.journal = Journal(spool.with_name("push") / where)
        self._waiting: list[tuple[Item, str, bytes]] = []
        self._size = 0
        self._identities: dict[bytes, str] = {}
        self._unreachable = False
        self._run = secrets.token_bytes(16)

    def __enter__(self) -> Push:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        self.transport.close()
        if kind is None and not self._unreachable and not self.report.faults:
            self.journal.remove()

    def skip(self, one: Skipped) -> None:
        """A file that holds nothing to send; its own fault, or just a stranger in a folder."""
        for line in one.lines():
            if one.is_fault:
                self.report.faults.append(line)
            else:
                self.report.warn(line)

    def add(self, one: Item) -> None:
        self.report.files.add(one.source)
        for line in one.warnings():
            self.report.warn(line)
        if missing := missing_names(one.found.submission):
            self.report.faults.append(f"{one.source}: {missing}")
            return
        self._look_for_twins(one)
        body = orjson.dumps(one.found.submission)
        digest = hashlib.sha256(body).hexdigest()
        if digest in self.journal.known:
            self.report.resumed += 1
            return
        self._waiting.append((one, digest, body))
        self._size += len(body)
        if len(self._waiting) >= TOGETHER or self._size >= _BYTES:
            self.flush()

    def _look_for_twins(self, one: Item) -> None:
        sent = one.found.submission
        names = [sent.get(name, "") for name in ("experiment", "benchmark", "model", "variant")]
        key = hashlib.sha256(orjson.dumps([*names, sent["metric"].get("name")])).digest()[:16]
        before = self._identities.setdefault(key, one.source)
        if before != one.source:
            self.report.warn(f"{one.source}: the same grid came from {before}; this one becomes the later revision")

    def flush(self) -> None:
        """Send what waits as one batch."""
        batch, self._waiting, self._size = self._waiting, [], 0
        if not batch:
            return
        if self._unreachable:
            self._keep(batch)
            return
        body = b"[" + b",".join(one[2] for one in batch) + b"]"
        # Of this push alone: a later one must publish again, not get the stored answer of this one.
        key = hashlib.sha256(self._run + body).hexdigest()
        headers = {"Idempotency-Key": key, "Content-Type": "application/json"}
        try:
            answer = self.transport.call("POST", f"projects/{segment(self.project)}/grids/batch", body, headers=headers)
        except (Unreachable, NotNow) as error:
            self._unreachable, self.report.unreachable = True, error.detail
            self._keep(batch)
            return
        self._take(batch, answer.json()["items"])

    def _take(self, batch: list[tuple[Item, str, bytes]], items: list[dict[str, Any]]) -> None:
        report, done = self.report, []
        for (one, digest, _), item in zip(batch, items, strict=True):
            if "problem" in item:
                report.faults += problem_text(one, item["problem"])
                continue
            grid = item["grid"]
            done.append(digest)
            report.new += item["status"] == 201
            report.same += item["status"] == 200
            names = ("id", "revision", "experiment", "benchmark", "model", "variant")
            report.grids.append({name: grid[name] for name in names} | {"metric": grid["metric"]["name"]})
            for doubt in grid.get("warnings", ()):
                report.warn(f"{one.source}{one.at(doubt.get('pointer'))}: {doubt['detail']}")
        self.journal.note(done)

    def _keep(self, batch: list[tuple[Item, str, bytes]]) -> None:
        """Into the spool, from where `registry sync` sends."""
        lane = Spool(self.spool, 0).lane()
        try:
            for number, (one, _, _) in enumerate(batch):
                order = self.report.spooled + number
                lane.put(make_item(GRID, one.found.submission, self.config.url, self.project, order))
            lane.secure()
        finally:
            lane.close()
        self.report.spooled += len(batch)

    def wait(self) -> None:
        """Wait for the statistics of every grid that was sent."""
        for grid in self.report.grids:
            while True:
                headers = {"Prefer": f"wait={_POLL}"}
                answer = self.transport.call("GET", f"grids/{grid['id']}/statistics", headers=headers)
                if answer.status != 202:
                    break
            state = answer.json()
            if state.get("state") == "failed":
                self.report.failed.append(f"The statistics of {grid['benchmark']} · {grid['model']} failed.")
