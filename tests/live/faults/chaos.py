"""One run of chaos: `python -m tests.live.faults.chaos --seed 7 --seconds 60` prints its verdict; status 1 if bad.

`make chaos SEED=7 SECONDS=60` is the same.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.live.faults.checker import Verdict, check
from tests.live.faults.generator import Client, run_clients
from tests.live.faults.history import History
from tests.live.faults.nemesis import Nemesis
from tests.live.faults.stage import PROJECT, Stage, awaited
from tests.ports import free_port

CLIENTS = 8
THINK = 0.1
"""Mean seconds between two requests of a client: the machine shall be busy with faults, not with its backlog."""
LAST_WORDS = 30.0
"""How long after the last fault a client insists on what it had begun."""


def stranger_of(stage: Stage) -> Any:
    """A connection with the token of another project's administrator."""
    wire = stage.wire()
    assert wire.insist("POST", "projects", {"slug": "elsewhere"}).status in (201, 409)
    made = wire.insist("POST", "projects/elsewhere/tokens", {"name": "stranger", "role": "admin"})
    assert made.status == 201, made.body
    return stage.wire(made.json["token"])


def chaos(directory: Path, seed: int, seconds: float, *, clients: int = CLIENTS, think: float = THINK) -> Verdict:
    """Break a registry for some seconds while clients use it, then say what it is worth."""
    with Stage(directory, free_port(), log_level="WARNING") as stage:
        stranger, wire = stranger_of(stage), stage.wire()
        history = History()
        writers = [Client(number, stage.wire(), history, seed, think, PROJECT) for number in range(clients)]
        begun = time.monotonic()
        with Nemesis(stage, history, seed):
            run_clients(writers, seconds, LAST_WORDS)
        awaited(lambda: wire.call("GET", "/readyz").status == 200, 60, "readiness")
        verdict = check(history, wire, stranger, PROJECT)
        verdict.facts = {"seed": seed, "seconds": round(time.monotonic() - begun)} | verdict.facts
        verdict.facts["kinds of faults"] = len({kind for _, kind in history.faults})
        if not verdict.good:
            verdict.facts["again"] = f"make chaos SEED={seed} SECONDS={seconds:.0f}"
            verdict.facts["order of faults"] = ", ".join(f"{at:.0f} {kind}" for at, kind in history.faults)
        return verdict


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.live.faults.chaos", description=__doc__)
    parser.add_argument(
        "--seed", type=int, default=time.time_ns() % 1_000_000, help="what happens when; else a fresh one"
    )
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--clients", type=int, default=CLIENTS)
    parser.add_argument("--think", type=float, default=THINK, help="mean seconds between two requests of a client")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="registry-chaos-") as directory:
        verdict = chaos(Path(directory), given.seed, given.seconds, clients=given.clients, think=given.think)
    print(verdict)
    print("PASS" if verdict.good else "FAIL")
    return 0 if verdict.good else 1


if __name__ == "__main__":
    sys.exit(main())
