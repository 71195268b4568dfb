"""In-process token-bucket rate limiter; it works without a broker."""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass

from registry.errors import TooManyRequests

MOST_KEYS = 20_000
"""The most keys that are kept; the one that was not used for longest is dropped, which fills its bucket again."""


@dataclass(frozen=True, slots=True)
class Rate:
    """Requests a second in the long run, and at once; 0 a second is no limit."""

    per_second: float
    burst: float

    def document(self) -> dict[str, float] | None:
        return {"per_second": self.per_second, "burst": self.burst} if self.per_second else None


class Buckets:
    """One bucket a key, all of one rate."""

    def __init__(self, rate: Rate, what: str, reason: str) -> None:
        self._rate = rate
        self._what = what
        self._reason = reason
        self._lock = threading.Lock()
        self._levels: OrderedDict[str, tuple[float, float]] = OrderedDict()
        """The tokens left in a bucket, and when they were counted; the last used stands last."""

    def __contains__(self, key: str) -> bool:
        return key in self._levels

    def take(self, key: str, *, need: float = 1.0) -> None:
        """Take one from the key's bucket; `TooManyRequests`, and when to come back, if less than `need` is left."""
        if not self._rate.per_second:
            return
        now = time.monotonic()
        with self._lock:
            level = self._level(key, now)
            if level < need:
                raise TooManyRequests(f"{self._what}; ask more slowly.", self._after(need - level), self._reason)
            self._levels[key] = level - 1.0, now
            self._levels.move_to_end(key)
            if len(self._levels) > MOST_KEYS:
                self._levels.popitem(last=False)

    def check(self, key: str) -> None:
        """`TooManyRequests` when the key's bucket is empty; nothing is taken."""
        if self._rate.per_second:
            with self._lock:
                level = self._level(key, time.monotonic())
            if level < 1.0:
                raise TooManyRequests(f"{self._what}; try again later.", self._after(1.0 - level), self._reason)

    def _level(self, key: str, now: float) -> float:
        level, since = self._levels.get(key, (self._rate.burst, now))
        return min(self._rate.burst, level + (now - since) * self._rate.per_second)

    def _after(self, missing: float) -> int:
        return max(1, math.ceil(missing / self._rate.per_second))
