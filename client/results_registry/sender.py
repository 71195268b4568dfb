"""The thread that sends what a job logged, in order, until it is taken or refused, never in the job's way."""

import contextlib
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from results_registry.errors import ClientError, NotNow, Refused, Unreachable, log, log_once
from results_registry.origin import backoff
from results_registry.spool import CELLS, Item, QueueDir
from results_registry.upload import Uploader

_HELD_SECONDS = 60.0
_HURRIED_SECONDS = 1.0
_SECURE_SECONDS = 0.1
FINAL = (400, 409, 412, 413, 415, 422)
"""The registry's word on what was sent. Any other refusal is about the token, the project or the address."""
TOGETHER = 500
"""The most calls of `log_cells` that go in one request."""


class Receipt:
    """The outcome of one call.

    `state` is `waiting`, `sent`, `refused`, `held` (the token, the project or the address will not do) or `skipped`.
    """

    def __init__(self, state: str = "waiting", error: Exception | None = None) -> None:
        self.state, self.error = state, error
        self.grid: dict[str, Any] | None = None
        """The published grid as the registry answered it, without values."""
        self._resolved = threading.Event()
        if state != "waiting":
            self._resolved.set()

    def __repr__(self) -> str:
        return f"Receipt({self.state!r})"

    def wait(self, timeout: float | None = None) -> dict[str, Any] | None:
        """The published grid, once the registry has it; None when that takes longer than `timeout` seconds.

        Never raises: `state` and `error` say what happened.
        """
        self._resolved.wait(timeout)
        return self.grid

    def resolve(self, state: str, grid: dict[str, Any] | None = None, error: Exception | None = None) -> None:
        """Say what became of the call, and wake those who wait for it."""
        self.state, self.grid, self.error = state, grid, error
        self._resolved.set()


class Entry:
    """One item in the queue. Its bytes are in the directory, or here when the disk would not take them."""

    __slots__ = ("at", "cells_of", "directory", "item", "key", "receipt", "size")

    def __init__(self, item: Item, directory: QueueDir | None, receipt: Receipt) -> None:
        self.key, self.directory, self.receipt, self.size = item.key, directory, receipt, len(item.data)
        self.item = item if directory is None else None
        self.cells_of = item.identity if item.kind == CELLS else None
        self.at = time.monotonic()

    def read(self) -> Item | None:
        return self.item if self.item is not None or self.directory is None else self.directory.read(self.key)


class Sender:
    """One queue and one thread for one project of one registry."""

    def __init__(
        self,
        where: tuple[str, str],
        uploader: Callable[[], Uploader],
        adopt: Callable[[], list[Entry]],
        coalesce: float,
    ) -> None:
        """`where` is the registry's URL and the project; `uploader` is called in the thread: it imports HTTP."""
        self._url, self._project = where
        self._make_uploader, self._adopt, self._coalesce = uploader, adopt, coalesce
        self._queue: deque[Entry] = deque()
        self._changed = threading.Condition()
        self._hurry_until = 0.0
        self._failures = 0
        self._singly = 0
        self._stopped = False
        self._unsecured: list[Entry] = []
        self._secured_at = 0.0
        self._thread = threading.Thread(target=self._run, name="registry-sender", daemon=True)
        self._adopting = True

    def put(self, entry: Entry) -> None:
        with self._changed:
            self._queue.append(entry)
            self._unsecured.append(entry)
            self._changed.notify_all()
            if self._adopting and not self._thread.is_alive():
                with contextlib.suppress(RuntimeError):  # the interpreter ends; the item is in the spool
                    self._thread.start()

    def pending(self) -> list[Entry]:
        with self._changed:
            return list(self._queue)

    def held_in_memory(self) -> int:
        """Bytes of the items that only this process's memory holds."""
        return sum(entry.size for entry in self.pending() if entry.item is not None)

    def hurry(self, until: float) -> None:
        """Wait for nothing that can be left out, until this monotonic instant."""
        with self._changed:
            self._hurry_until = max(self._hurry_until, until)
            self._changed.notify_all()

    def await_empty(self, until: float) -> bool:
        """Tell whether everything was sent or refused before this monotonic instant."""
        with self._changed:
            empty = self._changed.wait_for(lambda: not self._queue, max(0.0, until - time.monotonic()))
            if empty:
                self._hurry_until = 0.0
            return empty

    def stop(self) -> None:
        """Send no more; what waits stays in the spool."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def _run(self) -> None:
        self._uploader = self._make_uploader()
        try:
            adopted = self._adopt()
        except Exception:
            log.debug("older items could not be taken over", exc_info=True)
            adopted = []
        with self._changed:
            self._adopting = False
            self._queue.extendleft(reversed(adopted))
        while True:
            with self._changed:
                self._changed.wait_for(lambda: bool(self._queue) or self._stopped)
                if self._stopped:
                    return
            try:
                self._step(self._together())
            except Exception as error:
                self._set_aside(error)

    def _together(self) -> list[Entry]:
        """The next item; or, after a moment, the cells of one grid that came in a row."""
        with self._changed:
            first = self._queue[0]
            if first.cells_of is None:
                return [first]
            wait = first.at + self._coalesce - time.monotonic()
            self._changed.wait_for(lambda: self._hurried() or self._stopped, max(0.0, wait))
            if self._singly:
                return [first]
            group: list[Entry] = []
            for entry in self._queue:
                if entry.cells_of == first.cells_of and len(group) < TOGETHER:
                    group.append(entry)
                elif entry.cells_of is None:
                    break
            return group

    def _hurried(self) -> bool:
        return time.monotonic() < self._hurry_until

    def _step(self, entries: list[Entry]) -> None:
        items = {entry: item for entry in entries if (item := entry.read()) is not None}
        if missing := [entry for entry in entries if entry not in items]:
            self._settle(missing, "held", error=ClientError("Its file is not in the spool any more."))
        if not items:
            return
        self._secure()
        if self._stopped:
            return
        try:
            grid = self._uploader.deliver(list(items.values()))
        except (Unreachable, NotNow) as error:
            self._failed(error)
        except ClientError as error:
            if isinstance(error, Refused) and error.status in FINAL:
                self._refused(items, error)
            else:
                self._hold(entries, error)
        else:
            self._failures = 0
            self._settle(list(items), "sent", grid)

    def _failed(self, error: Unreachable | NotNow) -> None:
        self._failures += 1
        log_once(
            f"unreachable {self._url}",
            f"{error.detail} What is logged waits in the spool and is sent as soon as it can be.",
        )
        asked = float(error.after) if isinstance(error, NotNow) else 0.0
        self._pause(backoff(self._failures, asked), least=max(asked, _HURRIED_SECONDS))

    def _hold(self, entries: list[Entry], error: ClientError) -> None:
        log_once(
            f"held {self._url} {self._project}",
            f"{self._url} does not let this job write to the project "
            f'"{self._project}" ({error}). What is logged waits in the spool for `python -m results_registry sync`.',
        )
        for entry in entries:
            entry.receipt.resolve("held", error=error)
        self._pause(_HELD_SECONDS, least=_HURRIED_SECONDS)

    def _refused(self, items: dict[Entry, Item], error: Refused) -> None:
        if len(items) > 1:
            self._singly = len(items)  # find the one that is at fault
            return
        [(entry, item)] = items.items()
        if entry.directory is not None:
            entry.directory.refuse(item, {"status": error.status, "detail": error.detail} | error.problem)
        log.warning("The registry refused %s: %s", item.said, error)
        self._settle([entry], "refused", error=error)

    def _settle(
        self, entries: list[Entry], state: str, grid: dict[str, Any] | None = None, error: Exception | None = None
    ) -> None:
        for entry in entries:
            if entry.directory is not None and state == "sent":
                entry.directory.remove(entry.key)
            entry.receipt.resolve(state, grid, error)
        gone = set(entries)
        with self._changed:
            self._singly = max(0, self._singly - len(entries))
            while self._queue and self._queue[0] in gone:
                gone.remove(self._queue.popleft())
            if gone:
                self._queue = deque(entry for entry in self._queue if entry not in gone)
            self._changed.notify_all()

    def _set_aside(self, error: Exception) -> None:
        """After a defect of the client: the first item stays in the spool, the others go on."""
        log_once("defect", f"The results client cannot send something ({type(error).__name__}: {error}); it is kept.")
        log.debug("defect", exc_info=error)
        first = self.pending()[:1]
        self._settle(first, "held", error=error)

    def _pause(self, seconds: float, least: float) -> None:
        """Wait before the next attempt; when somebody hurries, only as long as it takes at `least`."""
        begun = time.monotonic()
        while True:
            self._secure()
            with self._changed:
                wanted = min(seconds, least) if self._hurried() else seconds
                left = begun + wanted - time.monotonic()
                if left <= 0 or self._stopped:
                    return
                self._changed.wait(min(left, _SECURE_SECONDS) if self._unsecured else left)

    def _secure(self) -> None:
        """See to it that what was logged outlives the machine too: all of it together, and not too often.

        The disk is slow at this, and while it is busy the job's next call would wait for it.
        """
        if time.monotonic() < self._secured_at + _SECURE_SECONDS:
            return
        with self._changed:
            entries, self._unsecured = self._unsecured, []
        by_directory: dict[QueueDir, list[str]] = {}
        for entry in entries:
            if entry.directory is not None:
                by_directory.setdefault(entry.directory, []).append(entry.key)
        for directory, keys in by_directory.items():
            directory.secure(*keys)
        if by_directory:
            self._secured_at = time.monotonic()
