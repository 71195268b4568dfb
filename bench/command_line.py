"""How soon the command line answers: `python -m bench.command_line [RUNS]`.

Each figure is the median of fresh processes, beside a Python that only imports click; the runs of all take turns. The
processor's time is what the command costs; the time that passes is that where nothing else runs.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

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


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    took: dict[str, list[tuple[float, float]]] = {name: [] for name in TASKS}
    for turn in range(runs + 1):
        for name, command in TASKS.items():
            found = milliseconds(command)
            if turn:  # the first one reads the files from the disk
                took[name].append(found)
    print(f"{'':28} processor   passed: p50     least   (load {os.getloadavg()[0]:.1f})")
    for name, found in took.items():
        processor, passed = zip(*found, strict=True)
        least, middle = min(passed), statistics.median(passed)
        print(f"{name:28} {statistics.median(processor):6.0f} ms     {middle:8.0f} ms {least:6.0f} ms")


if __name__ == "__main__":
    main()
