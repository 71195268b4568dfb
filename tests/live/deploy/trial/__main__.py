"""Run the trial in the checkout that is the current directory, and print a table.

    python3 -m tests.live.deploy.trial [STEP …]

runs the steps that are named, with those that they need before them, or all; ends with 1 when something is not as it
should be. Prior containers of the composition are not expected.
"""

import sys
import time

from tests.live.deploy.trial import steps
from tests.live.deploy.trial.engine import compose


def main(names: list[str]) -> int:
    trial, rows = steps.Trial(), []
    began = time.monotonic()
    wanted = {needed for name in names for needed in (name, "first_start", *steps.NEEDS.get(name, ()))}
    for step in (one for one in steps.ALL if not names or one.__name__ in wanted):
        try:
            for row in step(trial):
                rows.append(row)
                print(line(row), flush=True)
        except (RuntimeError, OSError, LookupError, ValueError) as error:
            rows.append((step.__name__, f"{type(error).__name__}: {error}"[-2000:], False))
            print(line(rows[-1]), flush=True)
            print(compose("logs", "--no-color", "--tail", "30", check=False), flush=True)
            if step is steps.first_start:
                break
    bad = [what for what, _seen, good in rows if not good]
    print(f"\n{len(rows)} rows in {time.monotonic() - began:.0f} s; {f'not good: {bad}' if bad else 'all good'}")
    return 1 if bad else 0


def line(row: steps.Row) -> str:
    what, seen, good = row
    return f"| {what} | {seen} | {'yes' if good else 'NO'} |"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
