"""Run the programs of this directory to their ends, and tell their figures in one table.

    python -m bench                      # all of them; `make bench` also writes the table into bench/README.md
    python -m bench --only describing    # one
    python -m bench --tiny               # sizes for seconds, to see that they run

Each program runs in a process of its own, within a limit of time, and tells its figures as lines of JSON. The exit
status is 1 where one did not end well; a target that is missed is no failure.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime

from bench import table
from bench.figures import Figure
from bench.programs import TINY, measure

LONGEST = 600.0
"""Seconds after which a program is said not to end."""


def ran(name: str, *, tiny: bool, longest: float = LONGEST) -> tuple[list[Figure], bool]:
    """The figures of a program that runs in a process of its own, and whether it ended well."""
    command = [sys.executable, "-m", "bench", "--figures", name, *(["--tiny"] if tiny else [])]
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}  # as worker processes have
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True, env=environment)
    assert child.stdout is not None
    late = threading.Event()

    def cut() -> None:
        late.set()
        os.killpg(child.pid, signal.SIGKILL)

    timer = threading.Timer(longest, cut)
    timer.start()
    with child.stdout as lines:
        figures = [Figure(**json.loads(line)) for line in lines]
    status = child.wait()
    timer.cancel()
    if status == 0:
        return figures, True
    why = f"did not end within {longest:.0f} s" if late.is_set() else f"ended with status {status}"
    return [*figures, Figure("the whole program", None, "", beside=why)], False


def tell(name: str, *, tiny: bool) -> None:
    """Print the figures of a program, each when it is there, as lines of JSON."""
    for figure in measure(name, tiny=tiny):
        print(json.dumps(asdict(figure)), flush=True)


def run(names: Sequence[str], *, tiny: bool, into_readme: bool) -> bool:
    """Run programs one after the other and print the table; return whether all of them ended well."""
    said, day = table.machine(), datetime.now(UTC).date()
    measured, all_well = {}, True
    for name in names:
        begun = time.monotonic()
        figures, well = ran(name, tiny=tiny)
        measured[name], all_well = table.rows(name, figures, day), all_well and well
        print(f"{name}: {time.monotonic() - begun:.0f} s", file=sys.stderr, flush=True)
    print(table.table(line for lines in measured.values() for line in lines))
    if into_readme:
        table.write(measured, said, tuple(TINY))
    return all_well


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="bench", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", choices=tuple(TINY), action="append", help="this program alone; repeats")
    parser.add_argument("--tiny", action="store_true", help="sizes for seconds, whose figures mean nothing")
    parser.add_argument("--write", action="store_true", help="write the table into bench/README.md")
    parser.add_argument("--figures", choices=tuple(TINY), help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.figures:
        tell(given.figures, tiny=given.tiny)
        return 0
    if given.write and given.tiny:
        parser.error("figures of tiny sizes mean nothing and are not written")
    return 0 if run(given.only or tuple(TINY), tiny=given.tiny, into_readme=given.write) else 1


if __name__ == "__main__":
    sys.exit(main())
