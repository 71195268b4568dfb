"""A plugin of pytest that tries each mutant of MUTANTS instead of running the tests once, and writes VERDICTS.

A verdict is `killed` with the test that failed, `survived`, or `not entered` by any test. A mutant runs at most
`LONGEST` seconds of tests; one whose tests do not end by `HANGS` seconds is killed.
"""

import contextlib
import gc
import importlib
import json
import os
import pkgutil
import signal
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

from bench.mutants import PACKAGES, Mutant, codes, mutants

BESIDE, LONGEST, HANGS = 2, float(os.environ.get("LONGEST", "90")), 300.0
_SURVIVED, _KILLED, _LOST = 0, 1, 2


def pytest_runtestloop(session: pytest.Session) -> bool:
    """Try every mutant, some beside each other, each in a process of its own."""
    # In a process with threads or connections a fork would share them: nothing has run yet.
    for package in PACKAGES:
        found = importlib.import_module(package).__path__
        for module in pkgutil.walk_packages(found, f"{package}.", lambda _name: None):
            with contextlib.suppress(ImportError, Warning, SystemExit):  # an extra, an old name, or a program
                importlib.import_module(module.name)
    entered, seconds = _recorded()
    specific = Counter(test for tests in entered.values() for test in tests)
    items: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in session.items:
        items[item.nodeid.split("[")[0]].append(item)
    verdicts: dict[int, str] = {}
    waiting, running = mutants(), {}
    while waiting or running:
        while waiting and len(running) < BESIDE:
            mutant = waiting.pop(0)
            tests = [test for test in entered.get(str(mutant.number), ()) if test in items]
            tests.sort(key=lambda test: (specific[test], seconds.get(test, 0)))
            if not tests:
                verdicts[mutant.number] = "not entered"
                continue
            ordered = [item for test in tests for item in items[test]]
            files = {item.path: place for place, item in reversed(list(enumerate(ordered)))}
            ordered.sort(key=lambda item: files[item.path])  # what a file's tests share is made once
            running[_forked(mutant, ordered)] = mutant, time.monotonic()
        _collect(running, verdicts)
    Path(os.environ["VERDICTS"]).write_text(json.dumps(verdicts, indent=1))
    print("\n", Counter(verdict.split(":")[0] for verdict in verdicts.values()))
    return True


def _recorded() -> tuple[dict[str, set[str]], dict[str, float]]:
    entered: dict[str, set[str]] = defaultdict(set)
    seconds: dict[str, float] = {}
    for path in Path(os.environ["ENTERED"]).glob("*.json"):
        record = json.loads(path.read_text())
        for number, tests in record["entered"].items():
            entered[number] |= set(tests)
        seconds |= record["seconds"]
    return entered, seconds


def _told(number: int) -> Path:
    return Path(f"{os.environ['VERDICTS']}.{number}")


def _collect(running: dict[int, tuple[Mutant, float]], verdicts: dict[int, str]) -> None:
    time.sleep(0.05)
    for process, (mutant, begun) in list(running.items()):
        ended, status = os.waitpid(process, os.WNOHANG)
        hangs = not ended and time.monotonic() - begun > HANGS
        if hangs:
            os.killpg(process, signal.SIGKILL)
            os.waitpid(process, 0)
        elif not ended:
            continue
        del running[process]
        code = os.waitstatus_to_exitcode(status)
        by = _told(mutant.number).read_text() if _told(mutant.number).exists() else ""
        _told(mutant.number).unlink(missing_ok=True)
        verdict = {_SURVIVED: "survived", _LOST: "lost"}.get(code, f"killed: {by}")
        verdicts[mutant.number] = f"killed: {by} hangs" if hangs else verdict
        print(f"{mutant.number} {time.monotonic() - begun:.0f} s {verdicts[mutant.number]}", flush=True)


def _forked(mutant: Mutant, items: list[pytest.Item]) -> int:
    process = os.fork()
    if process:
        return process
    os.setpgid(0, 0)
    quiet = os.open(f"{os.environ['VERDICTS']}.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    try:
        status = _tried(mutant, items)
    except BaseException:
        status = _KILLED
    os._exit(status)


def _tried(mutant: Mutant, items: list[pytest.Item]) -> int:
    if not _exchanged(mutant):
        return _LOST
    session: Any = items[0].session
    begun = time.monotonic()
    for item, following in zip(items, [*items[1:], None], strict=True):
        _told(mutant.number).write_text(item.nodeid)
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.testsfailed:
            return _KILLED
        if time.monotonic() - begun > LONGEST:
            return _SURVIVED
    return _SURVIVED


def _exchanged(mutant: Mutant) -> bool:
    """Give the changed code to every function of the file that has it; whether there was one."""
    changed, path = codes(mutant)
    gc.unfreeze()
    alike = [
        (one, code)
        for one in gc.get_objects()
        if isinstance(one, FunctionType)
        and one.__code__.co_filename == path
        and (code := changed.get((one.__code__.co_name, one.__code__.co_firstlineno))) is not None
        and code.co_freevars == one.__code__.co_freevars
    ]
    for function, code in alike:
        function.__code__ = code
    return bool(alike)


if __name__ == "__main__":
    sys.exit("a plugin: pytest -p bench.mutants.trying")
