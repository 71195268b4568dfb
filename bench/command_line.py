"""How soon the command line answers.

Each figure is the median of fresh processes, beside a Python that only imports click; the runs of all take turns. The
processor's time is what the command costs; the time that passes is that where nothing else runs.
"""

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from bench.figures import Figure, show

MOST = 150.0
COMMAND = str(Path(sys.executable).with_name("registry"))
TASKS = {
    "python -c 'import click'": [sys.executable, "-c", "import click"],
    "registry --help": [COMMAND, "--help"],
    "registry --version": [COMMAND, "--version"],
    "registry rank --help": [COMMAND, "rank", "--help"],
}


def milliseconds(command: list[str]) -> tuple[float, float]:
    """The processor's time of a process, and the time from its start to its end."""
    begun = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    passed = time.perf_counter() - begun
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, command
    return 1000 * (used.ru_utime + used.ru_stime), 1000 * passed


def measure(runs: int = 20) -> Iterator[Figure]:
    """Milliseconds of processor and of the clock for each command."""
    took: dict[str, list[tuple[float, float]]] = {name: [] for name in TASKS}
    for turn in range(runs + 1):
        for name, command in TASKS.items():
            found = milliseconds(command)
            if turn:  # the first one reads the files from the disk
                took[name].append(found)
    for name, found in took.items():
        processor, passed = (statistics.median(column) for column in zip(*found, strict=True))
        most = MOST if name == "registry --help" else None
        yield Figure(name, passed, "ms", at_most=most, beside=f"{processor:.0f} ms of processor")


if __name__ == "__main__":
    show(measure())
