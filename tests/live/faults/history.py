"""The history of a run: every write with its attempts and answers, every read with what it had to contain."""

import json
import threading
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import Any

from tests.live.faults.wire import Answer

Identity = tuple[str, str, str]
"""Experiment, benchmark and model."""


@dataclass
class Attempt:
    """One request of a write: when it was sent and answered, and how."""

    began: float
    ended: float
    status: int


@dataclass
class Write:
    """One thing that a job wanted, sent as often as it took."""

    number: int
    client: int
    method: str
    identity: Identity
    path: str
    sent: dict[str, Any]
    key: str | None = None
    attempts: list[Attempt] = field(default_factory=list)
    grid: str = ""
    revision: int = 0
    digest: str = ""
    refused: str = ""

    @property
    def acknowledged(self) -> bool:
        return self.revision > 0

    @property
    def began(self) -> float:
        return self.attempts[0].began

    @property
    def ended(self) -> float:
        """When the answer came; only of an acknowledged write."""
        return self.attempts[-1].ended

    def line(self) -> str:
        """The write as one line for a person."""
        tries = ", ".join(f"{one.began:.2f}–{one.ended:.2f} {one.status or 'no answer'}" for one in self.attempts)
        outcome = f"revision {self.revision} of {self.grid}" if self.acknowledged else self.refused or "unknown"
        return (
            f"write {self.number} by client {self.client}: {self.method} {'/'.join(self.identity)}"
            f" key {self.key} → {outcome} [{tries}]"
        )


@dataclass(frozen=True)
class Finding:
    """A broken promise: which check found it, what is wrong, the lines of the history that show it."""

    check: str
    what: str
    lines: tuple[str, ...] = ()


class History:
    """What happened, by all clients. Times are seconds since the beginning."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.writes: list[Write] = []
        self.faults: list[tuple[float, str]] = []
        self.findings: list[Finding] = []
        self.requests: Counter[int] = Counter()
        self.counts: Counter[str] = Counter()
        self.slowest = 0.0
        self._floors: dict[str, dict[str, int]] = defaultdict(dict)
        self._bytes: dict[tuple[str, str], bytes] = {}
        self._lock = threading.Lock()

    @property
    def now(self) -> float:
        return time.monotonic() - self.began

    def number(self) -> int:
        """A number for the next write: it stands in what the write sends, so that no two are alike."""
        with self._lock:
            self.counts["numbers"] += 1
            return self.counts["numbers"]

    def add(self, write: Write) -> Write:
        with self._lock:
            self.writes.append(write)
        return write

    def answered(self, write: Write, began: float, answer: Answer) -> None:
        """Note an attempt of a write."""
        write.attempts.append(Attempt(round(began, 4), round(self.now, 4), answer.status))
        self.saw(f"{write.method} {write.path}", answer)
        if answer.status in (200, 201):
            document = answer.json
            write.grid, write.revision, write.digest = document["id"], document["revision"], document["digest"]
            with self._lock:
                floors = self._floors[write.identity[0]]
                floors[write.grid] = max(floors.get(write.grid, 0), write.revision)
        elif 400 <= answer.status < 500 and answer.status not in (409, 429):
            write.refused = f"{answer.status}: {answer.body[:300]!r}"
            self.find("refused", f"a good request was refused with {answer.status}", write.line())

    def saw(self, what: str, answer: Answer) -> None:
        """Note any answer: its status, how long it took."""
        with self._lock:
            self.requests[answer.status] += 1
            self.slowest = max(self.slowest, answer.seconds)
        if answer.status >= 500 and answer.status != 503:
            self.find("server errors", f"{what}: {answer.status}", answer.body[:2000].decode(errors="replace"))
        if answer.status in (202, 409, 429, 503) and "retry-after" not in answer.headers:
            self.find("no Retry-After", f"{what}: {answer.status} without Retry-After")
        if answer.seconds > 10.5:
            self.find("slow", f"{what}: {answer.seconds:.1f} s until {answer.status or 'no answer'} at {self.now:.2f}")

    def floors(self, experiment: str) -> dict[str, int]:
        """The newest revision of each grid of an experiment that somebody has been told of."""
        with self._lock:
            return dict(self._floors[experiment])

    def known(self, experiment: str) -> list[str]:
        return list(self.floors(experiment))

    def same_bytes(self, what: str, version: str, body: bytes) -> None:
        """A settled answer of one version is one answer, whoever computes it again."""
        with self._lock:
            before = self._bytes.setdefault((what, version), body)
        if before != body:
            self.find(
                "duplicate effects", f"{what} was settled twice: version {version} has changed", _both(before, body)
            )

    def find(self, check: str, what: str, *lines: str) -> None:
        with self._lock:
            self.findings.append(Finding(check, what, lines))

    def broke(self, fault: str) -> None:
        with self._lock:
            self.faults.append((self.now, fault))

    def summary(self) -> dict[str, int]:
        """How many writes were acknowledged, refused, unknown to the end."""
        return {
            "acknowledged": sum(write.acknowledged for write in self.writes),
            "refused": sum(bool(write.refused) for write in self.writes),
            "unknown": sum(not write.acknowledged and not write.refused for write in self.writes),
        }


def _both(before: bytes, after: bytes) -> str:
    """The fields in which two JSON objects differ."""
    one, other = json.loads(before), json.loads(after)
    differing = [name for name in {*one, *other} if one.get(name) != other.get(name)]
    return "; ".join(f"{name}: {str(one.get(name))[:80]} → {str(other.get(name))[:80]}" for name in sorted(differing))
