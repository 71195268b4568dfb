"""The unsent items of one process, for `logging.py`: a queue directory, a sender a project, and what happens at
exit."""

import atexit
import contextlib
import os
import sys
import threading
import time

from results_registry.config import ClientEnvironment, Config, read_environment
from results_registry.errors import ClientError, log, log_once
from results_registry.sender import Entry, Receipt, Sender
from results_registry.spool import Item, QueueDir, Spool
from results_registry.upload import Uploader

_MEMORY_BYTES = 64 << 20
"""Bytes that may wait in memory when the disk cannot be written."""
_TRY_DISK_AGAIN_SECONDS = 10.0
_MEASURE_AGAIN_SECONDS = 5.0
_TIMEOUT = 30.0
_ADOPTED = 10_000
_FORK_SECONDS = 10.0


class Outbox:
    """The items of this process. Another process, and a forked child, has another outbox."""

    def __init__(self, around: ClientEnvironment) -> None:
        self.around = around
        self.process = os.getpid()
        self.spool = Spool(around.spool, around.spool_bytes)
        self._directory: QueueDir | None = None
        self._adopted: list[QueueDir] = []
        self._no_disk_until = 0.0
        self._written = 0
        self._others = 0
        self._measure_from = 0.0
        self._number = 0
        self._senders: dict[tuple[str, str, str | None], Sender] = {}
        self._unaddressed: list[Entry] = []
        self._lock = threading.Lock()

    def next_number(self) -> int:
        with self._lock:
            self._number += 1
            return self._number

    def put(self, item: Item, config: Config) -> Receipt:
        """Keep an item on disk, or in memory where there is no disk, and have it sent. Raises `ClientError`."""
        receipt = Receipt()
        with self._lock:
            sender = None if config.project is None else self._sender(config, config.project)
            directory = self._kept(item)
            entry = Entry(item, directory, receipt)
            if directory is None and self._in_memory() + entry.size > _MEMORY_BYTES:
                raise ClientError("The spool takes nothing and memory holds all that it may: this grid is lost.")
            if sender is None:
                self._unaddressed.append(entry)
                receipt.resolve("held")
                log_once(
                    "no project",
                    "No project is named (REGISTRY_PROJECT): grids wait for `python -m results_registry sync`.",
                )
            else:
                sender.put(entry)
        return receipt

    def _kept(self, item: Item) -> QueueDir | None:
        """The directory that has the item now; None when the disk does not take it."""
        if time.monotonic() < self._no_disk_until:
            return None
        if not self._has_room(len(item.data)):
            log_once("spool full", f"The spool {self.spool.root} is full (REGISTRY_SPOOL_BYTES); memory has to do.")
            return None
        try:
            if self._directory is None:
                self._directory = self.spool.new_directory()
            self._directory.put(item)
        except OSError as error:
            self._no_disk_until = time.monotonic() + _TRY_DISK_AGAIN_SECONDS
            log_once("no disk", f"The spool {self.spool.root} cannot be written ({error.strerror}); memory has to do.")
            return None
        self._written += len(item.data)
        return self._directory

    def _has_room(self, size: int) -> bool:
        """Tell whether the spool may grow by so many bytes; it is measured anew when it seems full, now and then."""
        if self._others + self._written + size > self.spool.most and time.monotonic() > self._measure_from:
            self._measure()
            self._measure_from = time.monotonic() + _MEASURE_AGAIN_SECONDS
        return self._others + self._written + size <= self.spool.most

    def _measure(self) -> None:
        """Find what is in the spool beside all that this process wrote; below 0 when much of that is sent.

        The sender's thread measures too, as the job goes on: what the job writes meanwhile may count twice, never not.
        """
        written = self._written
        self._others = self.spool.size() - written

    def _in_memory(self) -> int:
        return sum(sender.held_in_memory() for sender in self._senders.values())

    def _sender(self, config: Config, project: str) -> Sender:
        key = (config.url, project, config.token)
        if key not in self._senders:
            config.check()
            self._senders[key] = Sender(
                (config.url, project),
                lambda: _uploader(config, project),
                lambda: self._adoptable(config, project),
                self.around.coalesce_seconds,
            )
        return self._senders[key]

    def _adoptable(self, config: Config, project: str) -> list[Entry]:
        """The items that dead processes left for this project. Also measures the spool."""
        found: list[Entry] = []
        for directory in self.spool.orphans(lambda item: is_meant_for(item, config, project)):
            self._adopted.append(directory)
            mine = [item for item in directory.items() if is_meant_for(item, config, project)]
            found += [Entry(item, directory, Receipt()) for item in mine]
            if len(found) >= _ADOPTED:
                break
        self._measure()
        return found

    def flush(self, until: float) -> bool:
        """Tell whether everything was sent, or refused, before this monotonic instant."""
        senders = list(self._senders.values())
        for sender in senders:
            sender.hurry(until)
        empty = [sender.await_empty(until) for sender in senders]
        return all(empty) and not self._unaddressed

    def end(self) -> None:
        """The end of the process: send for a bounded time, say what is left, release the directory."""
        if not self.flush(time.monotonic() + self.around.exit_seconds):
            self._say_what_is_left()
        for sender in self._senders.values():
            sender.stop()
        for directory in [*self._adopted, *([self._directory] if self._directory else [])]:
            directory.close()

    def _say_what_is_left(self) -> None:
        left = [entry for sender in self._senders.values() for entry in sender.pending()] + self._unaddressed
        lost = [entry for entry in left if entry.item is not None and not self._saved(entry.item)]
        kept = len(left) - len(lost)
        with contextlib.suppress(Exception):
            if kept:
                what = "grid waits" if kept == 1 else "grids wait"
                advice = "`python -m results_registry sync` sends what is left"
                sys.stderr.write(f"registry: {kept} {what} in {self.spool.root}; {advice}.\n")
            if lost:
                sys.stderr.write(f"registry: {len(lost)} unsent grids are lost: no disk would take them.\n")

    def _saved(self, item: Item) -> bool:
        try:
            self._directory = self._directory or self.spool.new_directory()
            self._directory.put(item)
        except OSError:
            return False
        return True

    def abandon(self) -> None:
        """In a forked child: everything here is the parent's."""
        for directory in [*self._adopted, *([self._directory] if self._directory else [])]:
            directory.abandon()


def is_meant_for(item: Item, config: Config, project: str) -> bool:
    """Tell whether an item goes to this project of this registry; one without a URL goes to the default only."""
    here = item.url == config.url if item.url is not None else not config.named
    return here and item.project == project


_outbox: Outbox | None = None
_making = threading.Lock()
_importing = threading.Lock()
"""Held while a sender's thread imports what it needs. A fork waits for it: the child would inherit half a module."""


def _uploader(config: Config, project: str) -> Uploader:
    with _importing:
        return Uploader(config.transport(timeout=_TIMEOUT), project)


def outbox() -> Outbox:
    """This process's outbox, made at the first call."""
    global _outbox  # noqa: PLW0603 (one a process, like the process's log)
    with _making:
        if _outbox is None:
            _outbox = Outbox(read_environment())
            atexit.unregister(end)
            atexit.register(end)
            # A child of multiprocessing leaves without atexit; it runs these instead.
            util = sys.modules.get("multiprocessing.util")
            if util is not None:
                util.Finalize(None, end, exitpriority=100)
        return _outbox


def existing_outbox() -> Outbox | None:
    return _outbox


def end() -> None:
    """End the outbox, if there is one; a later call of `outbox` makes a new one."""
    global _outbox
    with _making:
        ending, _outbox = _outbox, None
    if ending is not None and ending.process == os.getpid():
        try:
            ending.end()
        except Exception:
            log.debug("the end", exc_info=True)


def _before_fork() -> None:
    _importing.acquire(timeout=_FORK_SECONDS)


def _after_fork_in_parent() -> None:
    with contextlib.suppress(RuntimeError):  # it took too long
        _importing.release()


def _after_fork_in_child() -> None:
    global _outbox, _making, _importing  # noqa: PLW0603
    _making = threading.Lock()
    _importing = threading.Lock()
    if _outbox is not None:
        _outbox.abandon()
        _outbox = None


os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork_in_child)
