"""Writers, sequencers and readers of a feed that are killed all the time, and what the feed says afterwards.

    python -m tests.live.faults.events_under_kills --seconds 600 postgresql://…/a-migrated-database

Each writer announces acts, one or several in a transaction, of which some are rolled back and some hold on for a while
before they are committed; a witness of the act is written in the same transaction. Each reader follows the feed of one
project behind its cursor, which is the last line of its log. Afterwards positions are dense, each witnessed act is told
exactly once, nothing else is, and all readers of a project have the same log.
"""

import argparse
import contextlib
import itertools
import os
import random
import signal
import sys
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from sqlalchemy import text

from registry.errors import RegistryError
from registry.operations.events import read_events
from registry.settings import Settings
from registry.storage.arrivals import Arrival, announce
from registry.storage.database import Database
from workers.jobs import upkeep
from workers.jobs.upkeep import sequence_arrivals

_WITNESSES = "CREATE TABLE IF NOT EXISTS witnesses (project_id uuid, act text)"


@dataclass(frozen=True)
class Run:
    """How many of whom, in how many projects, for how long."""

    seconds: float
    writers: int = 16
    readers: int = 3
    sequencers: int = 2
    projects: int = 2
    seed: int = 0


@dataclass(frozen=True)
class Found:
    """What was seen: counts, and every breach in words."""

    acts: int
    events: int
    kills: int
    breaches: tuple[str, ...]


def run(settings: Settings, wanted: Run) -> Found:
    """Let it run, end it, and look."""
    settings = replace(settings, pool_size=2)
    database, chance = Database(settings, name="judge"), random.Random(wanted.seed)
    homes = [uuid.uuid4() for _ in range(wanted.projects)]
    with database.transaction() as connection:
        connection.execute(text(_WITNESSES))
    with tempfile.TemporaryDirectory() as folder:
        logs = {home: [Path(folder, f"{home}-{n}") for n in range(wanted.readers)] for home in homes}
        crowd = [
            *(partial(_write, settings, homes, n) for n in range(wanted.writers)),
            *(partial(_sequence, settings) for _ in range(wanted.sequencers)),
            *(partial(_read, settings, home, log) for home in homes for log in logs[home]),
        ]
        kills = _kill_for(wanted.seconds, crowd, chance)
        while sequence_arrivals(database):
            pass
        for home in homes:
            for log in logs[home]:
                _follow(database, home, log, chance)
        breaches = [breach for home in homes for breach in _breaches(database, home, logs[home])]
    counted = "SELECT count(*) FROM {} WHERE project_id = ANY(:homes)"
    with database.reading() as connection:
        acts, events = (
            connection.scalar(text(counted.format(table)), {"homes": homes}) or 0 for table in ("witnesses", "events")
        )
    database.close()
    return Found(acts, events, kills, tuple(breaches))


def _kill_for(seconds: float, crowd: list[Callable[[int], None]], chance: random.Random) -> int:
    """Start every one of them, kill one after another and start it anew; in the end kill all. The number of kills."""
    born = itertools.count()
    living = {_forked(one, next(born)): one for one in crowd}
    until, kills = time.monotonic() + seconds, 0
    while time.monotonic() < until:
        time.sleep(chance.expovariate(1 / 0.1))
        pid = chance.choice(list(living))
        one = living.pop(pid)
        _end(pid)
        living[_forked(one, next(born))] = one
        kills += 1
    for pid in living:
        _end(pid)
    return kills + len(living)


def _forked(work: Callable[[int], None], number: int) -> int:
    child = os.fork()
    if child == 0:
        try:
            work(number)
        finally:
            os._exit(1)
    return child


def _end(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def _write(settings: Settings, homes: list[uuid.UUID], number: int, born: int) -> None:
    database, chance, act = Database(settings, name="writer"), random.Random(born), itertools.count()
    while True:
        home, count = chance.choice(homes), chance.choice((1, 1, 1, 7))
        acts = [f"{number}/{born}/{next(act)}" for _ in range(count)]
        with database.transaction(rehearse=chance.random() < 0.2) as connection:
            connection.execute(
                text("INSERT INTO witnesses VALUES (:home, :act)"), [{"home": home, "act": one} for one in acts]
            )
            announce(connection, home, [Arrival("grid.published", one, {"act": one}) for one in acts])
            if chance.random() < 0.1:
                time.sleep(chance.random() * 0.5)
        time.sleep(chance.expovariate(1 / 0.02))


def _sequence(settings: Settings, born: int) -> None:
    database, chance = Database(settings, name="sequencer"), random.Random(born)
    while True:
        upkeep.SEQUENCED_AT_ONCE = chance.choice((1, 3, 50, 1_000))
        with contextlib.suppress(RegistryError):  # the dispatcher goes on, too: another one held what this one wanted
            sequence_arrivals(database)
            time.sleep(0.01)


def _read(settings: Settings, home: uuid.UUID, log: Path, born: int) -> None:
    database, chance = Database(settings, name="reader"), random.Random(born)
    while True:
        _follow(database, home, log, chance)
        time.sleep(0.02)


def _follow(database: Database, home: uuid.UUID, log: Path, chance: random.Random) -> None:
    """Append what is behind the last whole line of the log, until nothing is."""
    held = log.read_bytes() if log.exists() else b""
    whole = held[: held.rfind(b"\n") + 1]
    with log.open("r+b" if log.exists() else "w+b") as file:
        file.truncate(len(whole))
        file.seek(len(whole))
        after = int(whole.splitlines()[-1].split()[0]) if whole else 0
        while True:
            with database.reading() as connection:
                found = read_events(connection, home, after, chance.choice((1, 2, 100, 1_000)))
            if found.next == after:
                return
            file.write(b"".join(f"{one.position} {one.id} {one.subject}\n".encode() for one in found.events))
            file.flush()
            after = found.next


def _breaches(database: Database, home: uuid.UUID, logs: list[Path]) -> Iterator[str]:
    with database.reading() as connection:
        mine = {"home": home}
        rows = connection.execute(
            text("SELECT position, id, subject FROM events WHERE project_id = :home ORDER BY position"), mine
        ).all()
        acts = connection.scalars(text("SELECT act FROM witnesses WHERE project_id = :home"), mine).all()
        left = connection.scalar(text("SELECT count(*) FROM arrivals WHERE project_id = :home"), mine)
        head = connection.scalar(text("SELECT position FROM event_heads WHERE project_id = :home"), mine)
    if [row.position for row in rows] != list(range(1, len(rows) + 1)) or head != len(rows):
        yield f"{home}: positions are not 1 to {head}, but {len(rows)} others"
    if Counter(row.subject for row in rows) != Counter(acts):
        yield f"{home}: {len(rows)} events for {len(acts)} acts"
    if left:
        yield f"{home}: {left} arrivals are left"
    expected = "".join(f"{row.position} {row.id} {row.subject}\n" for row in rows)
    for log in logs:
        if log.read_text() != expected:
            yield f"{home}: {log.name} is another log"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("database_url")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    found = run(Settings(database_url=given.database_url), Run(given.seconds, seed=given.seed))
    print(f"{found.acts} acts, {found.events} events, {found.kills} kills, {len(found.breaches)} breaches")
    for breach in found.breaches:
        print(breach)
    return 1 if found.breaches else 0


if __name__ == "__main__":
    sys.exit(main())
