"""What the client costs a job: its import, and a call of `log_grid` while the server is away.

Imports are timed in processes of their own, taking turns, by the processor time that they use (the least of many): a
busy machine makes the clock on the wall say nothing.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator

from bench.figures import Figure, show
from bench.load import ms

IMPORTS = ("import urllib.request", "import results_registry", "from results_registry import log_grid")
CALLS = """
import sys, time
from results_registry import log_grid
names = {"experiment": "e", "benchmark": "b", "metric": "accuracy", "project": "p", "axes": ["Type", "Length"]}
values = [[float(row * 20 + column) for column in range(20)] for row in range(7)]
took = []
for number in range(int(sys.argv[2])):
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


def imports(turns: int) -> dict[str, float]:
    """The least processor seconds of a Python that imports and ends."""
    took: dict[str, list[float]] = {statement: [] for statement in IMPORTS}
    for _ in range(turns):
        for statement, found in took.items():
            found.append(processor_seconds(statement))
    return {statement: min(found) for statement, found in took.items()}


def spent(url: str, pause: float, count: int) -> list[float]:
    """Seconds of each of so many calls of `log_grid` with 7 × 20 numbers, the first one first."""
    with tempfile.TemporaryDirectory(prefix="registry-bench-") as spool:
        surroundings = {"REGISTRY_URL": url, "REGISTRY_SPOOL": spool, "REGISTRY_EXIT_SECONDS": "0"}
        command = [sys.executable, "-c", CALLS, str(pause), str(count)]
        ran = subprocess.run(command, env=os.environ | surroundings, capture_output=True, text=True, check=True)
        return [float(one) for one in ran.stdout.split()]


def measure(turns: int = 21, calls: int = 500) -> Iterator[Figure]:
    """Imports beside that of `urllib.request`, and milliseconds of a call that nobody answers."""
    took = imports(turns)
    base = took.pop(IMPORTS[0])
    for statement, seconds in took.items():
        most = 1.3 if statement == "import results_registry" else None
        beside = f"{1000 * seconds:.0f} ms of processor; `{IMPORTS[0]}` {1000 * base:.0f} ms"
        yield Figure(f"`{statement}`", seconds / base, "×", at_most=most, beside=beside)
    for name, url in (("nobody listens", "http://127.0.0.1:9"), ("packets vanish", "http://192.0.2.1:8080")):
        for pause in (0.0, 0.01):
            times = spent(url, pause, calls)[1:]
            beside = f"p99 {ms(times, 0.99):.1f} ms, most {1000 * max(times):.1f} ms"
            yield Figure(
                f"`log_grid` of 7 × 20, {name}, {pause:.2f} s apart, p50", ms(times), "ms", at_most=5.0, beside=beside
            )


if __name__ == "__main__":
    show(measure())
