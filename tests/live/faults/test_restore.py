"""F8, `registry backup` under load: it holds what was acknowledged before; what was pending is computed there."""

import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

from tests.live.faults.chaos import stranger_of
from tests.live.faults.checker import check
from tests.live.faults.generator import EXPERIMENTS, Client, run_clients
from tests.live.faults.history import History, Write
from tests.live.faults.scenarios import ready
from tests.live.faults.stage import PROJECT, Stage, awaited, beside
from tests.ports import free_port

SECONDS = 5.0
ENOUGH = 40
"""So many writes are acknowledged before the dump begins."""


def test_a_restored_dump_has_every_acknowledged_grid_and_finishes_its_statistics(stage: Stage, tmp_path: Path) -> None:
    history, stranger, port = History(), stranger_of(stage), free_port()
    clients = [Client(number, stage.wire(), history, 8, 0.02, PROJECT, "restored-") for number in range(4)]
    stage.freeze("worker")
    stage.freeze("dispatcher")
    load = threading.Thread(target=run_clients, args=(clients, SECONDS, 30.0))
    load.start()
    awaited(lambda: history.summary()["acknowledged"] >= ENOUGH, 60, "load")
    began = history.now
    command(stage, "backup", "--home", str(stage.home), str(tmp_path / "dump"))
    ended = history.now
    load.join()
    assert any(began < write.began < ended for write in history.writes), "nobody wrote while the dump was made"
    history.writes[:] = [told_before(write, began) for write in history.writes]
    assert history.summary()["acknowledged"] >= ENOUGH
    restore(stage, tmp_path / "dump", "restored")
    with stage.sql(database="restored") as cursor:
        cursor.execute("SELECT count(*) FROM derivations WHERE state = 'pending'")
        assert cursor.fetchone()[0] > 0, "nothing was left to be computed"
    with beside(stage, tmp_path, port, database="restored"):
        wire, foreign = stage.wire(port=port), stage.wire(stranger.token, port=port)
        ready(stage, wire)
        verdict = check(history, wire, foreign, PROJECT, experiments=[f"restored-{name}" for name in EXPERIMENTS])
    assert verdict.good, f"\n{verdict}"


def told_before(write: Write, instant: float) -> Write:
    """What was not acknowledged before may be in the dump or not, like a write whose answer got lost."""
    if write.acknowledged and write.ended < instant:
        return write
    return replace(write, grid="", revision=0, digest="")


def command(stage: Stage, *argv: str, **environment: str) -> None:
    """Run `registry …` as an operator does."""
    done = subprocess.run(
        [sys.executable, "-m", "registry", *argv],
        env=stage.environment() | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def restore(stage: Stage, path: Path, database: str) -> None:
    with stage.sql() as cursor:
        cursor.execute(f"CREATE DATABASE {database}")
    command(stage, "restore", str(path), REGISTRY_DATABASE_URL=stage.database_url(database))
