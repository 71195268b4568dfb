"""What the client costs a job: its import, and a call of `log_grid` while the server is away.

    python -m bench.client

Imports are timed in processes of their own, taking turns, by the processor time that they use (the least of many): a
busy machine makes the clock on the wall say nothing.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

IMPORTS = ("import urllib.request", "import results_registry", "from results_registry import log_grid")
TURNS = 21
CALLS = """
import sys, time
from results_registry import log_grid
names = {"experiment": "e", "benchmark": "b", "metric": "accuracy", "project": "p", "axes": ["Type", "Length"]}
values = [[float(row * 20 + column) for column in range(20)] for row in range(7)]
took = []
for number in range(500):
    begun = time.perf_counter()
    log_grid(values, model=f"m{number}", trials=300, **names)
    took.append(time.perf_counter() - begun)
    time.sleep(float(sys.argv[1]))
print(*took)
"""


def processor_seconds(statement: str) -> float:
    """Of a Python that runs a statement and ends."""
    process = subprocess.Popen([sys.executable, "-c", statement])
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return used.ru_utime + used.ru_stime


def imports() -> dict[str, float]:
    """The least processor seconds of a Python that imports and ends."""
    took: dict[str, list[float]] = {statement: [] for statement in IMPORTS}
    for _ in range(TURNS):
        for statement, found in took.items():
            found.append(processor_seconds(statement))
    return {statement: min(found) for statement, found in took.items()}


def calls(url: str, pause: float) -> list[float]:
    """Seconds of each of 500 calls of `log_grid` with 7 × 20 numbers, the first one first."""
    with tempfile.TemporaryDirectory(prefix="registry-bench-") as spool:
        surroundings = {"REGISTRY_URL": url, "REGISTRY_SPOOL": spool, "REGISTRY_EXIT_SECONDS": "0"}
        command = [sys.executable, "-c", CALLS, str(pause)]
        ran = subprocess.run(command, env=os.environ | surroundings, capture_output=True, text=True, check=True)
        return [float(one) for one in ran.stdout.split()]


def main() -> None:
    took = imports()
    for statement, seconds in took.items():
        print(f"{statement}: {1000 * seconds:.1f} ms, {seconds / took[IMPORTS[0]]:.2f} x")
    for name, url in (("nobody listens", "http://127.0.0.1:9"), ("packets vanish", "http://192.0.2.1:8080")):
        for pause in (0.0, 0.01):
            found = calls(url, pause)
            first, rest = found[0], sorted(found[1:])
            print(
                f"log_grid of 7 x 20, {name}, {pause:.2f} s apart: first {1000 * first:.2f} ms, "
                f"p50 {1000 * rest[len(rest) // 2]:.2f} ms, p99 {1000 * rest[int(len(rest) * 0.99)]:.2f} ms, "
                f"most {1000 * rest[-1]:.2f} ms"
            )


if __name__ == "__main__":
    main()
