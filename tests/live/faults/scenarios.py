"""Short stories, each the one in which a certain broken promise shows; the product comes through all of them."""

import contextlib
import functools
import random
import signal
import time

import redis

from registry.broker import DERIVE_TASK, QUEUE
from tests.live.faults.generator import Client, cells, grid
from tests.live.faults.history import History, Write
from tests.live.faults.stage import PROJECT, Stage, awaited
from tests.live.faults.wire import Wire

SETTLED = 60.0
_WORKERS = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'registry-worker'"
BUSY_WORKERS = f"{_WORKERS} AND state <> 'idle'"
WAITING_WORKERS = f"{_WORKERS} AND wait_event_type = 'Lock'"


class Script(Client):
    """A client that does what a story says instead of what chance says."""

    def __init__(self, stage: Stage, history: History, wire: Wire | None = None) -> None:
        super().__init__(0, wire or stage.wire(), history, 0, 0.0, PROJECT)

    def publish(self, model: str, experiment: str = "alpha") -> Write:
        identity = (experiment, "one", model)
        number = self.history.number()
        sent = grid(random.Random(number), number, identity)
        if model in ("raises", "dies"):
            sent["labels"]["poison"] = model
        return self._acknowledged(Write(number, 0, "POST", identity, self._grids, sent, f"{experiment}-{number}"))

    def amend(self, write: Write) -> Write:
        number = self.history.number()
        sent, path = cells(random.Random(number), number), f"grids/{write.grid}/cells"
        return self._acknowledged(
            Write(number, 0, "PATCH", write.identity, path, sent, f"{write.identity[0]}-{number}")
        )

    @property
    def _grids(self) -> str:
        return f"projects/{PROJECT}/grids"

    def _acknowledged(self, write: Write) -> Write:
        self.settle(self.history.add(write), self.history.now + SETTLED)
        assert write.acknowledged, write.line()
        return write

    def publish_large(self) -> Write:
        """A grid that keeps a worker busy for a while."""
        number, chance = self.history.number(), random.Random(1)
        identity = ("large", "one", f"large {number}")
        steps = list(range(1_500))
        sent = grid(chance, number, identity) | {
            "axes": [
                {"name": "Task", "kind": "nominal", "levels": ["a", "b", "c"]},
                {"name": "Step", "kind": "numeric", "levels": steps},
            ],
            "values": [[round(chance.uniform(40, 60), 1) for _ in steps] for _ in range(3)],
            "metric": {"name": "loss"},  # without a better end, so nobody ranks it
        }
        return self._acknowledged(Write(number, 0, "POST", identity, self._grids, sent))

    def read_all(self, write: Write) -> None:
        """The ranking and the statistics that this write changes, as they are now."""
        experiment = write.identity[0]
        self.read_statistics(write.grid, self.history.floors(experiment)[write.grid])
        self.read_ranking(experiment)

    def await_statistics(self, *writes: Write) -> None:
        for write in writes:
            answer = self.wire.insist("GET", f"grids/{write.grid}/statistics", within=SETTLED)
            assert answer.status == 200, (write.line(), answer.status)

    def await_ranking(self, experiment: str) -> None:
        path = f"projects/{PROJECT}/rankings?experiment={experiment}&metric=accuracy"
        assert self.wire.insist("GET", path, within=SETTLED).status == 200


def power_cut(stage: Stage, script: Script) -> None:
    """Twenty acknowledgements, and the database's server falls at once; its log is written late if it may be."""
    with stage.sql() as cursor:
        cursor.execute("ALTER SYSTEM SET wal_writer_delay = '10s'")
        cursor.execute("SELECT pg_reload_conf()")
    for name in ("dispatcher", "worker"):
        stage.freeze(name)  # their commits would carry the log of the others to the disk
    for number in range(20):
        script.publish(f"power {number}")
    stage.signal("postgres", signal.SIGQUIT)
    stage.thaw("dispatcher", "worker")
    ready(stage, script.wire)


def forgetful_broker(stage: Stage, script: Script) -> None:
    """Wake-ups wait in the broker, which forgets them; the worker that should have heard them starts afterwards."""
    script.await_statistics(script.publish("forgotten"))
    with contextlib.closing(stage.broker()) as broker:
        for attempt in range(5):
            stage.kill_tree("worker")
            broker.flushall()  # what the killed worker gave back may be about grids that are done
            for number in range(6):
                script.publish(f"forgotten {attempt} {number}")
            with contextlib.suppress(TimeoutError):  # the next worker started soon enough to hear them
                awaited(functools.partial(forgets_a_wake_up, broker), 5, "a wake-up")
                return
    raise TimeoutError("the broker never forgot a wake-up")


def forgets_a_wake_up(broker: redis.Redis) -> bool:
    """Empty the broker; whether it held a wake-up about grids, which therefore nobody will hear."""
    with broker.pipeline() as pipe:
        pipe.lrange(QUEUE, 0, -1)
        pipe.flushall()
        messages: list[bytes] = pipe.execute()[0]
    return any(DERIVE_TASK.encode() in message for message in messages)


def frozen_worker(stage: Stage, script: Script) -> None:
    """A worker is frozen in the middle of a grid; its lease runs out, another computes, it thaws and comes late."""
    script.await_statistics(script.publish("before"))
    write = freeze_in_the_middle(stage, script)
    script.await_statistics(write)
    script.read_statistics(write.grid, write.revision)
    with stage.row_lock("derivations", "grid_id", write.grid):
        stage.thaw("worker")
        with contextlib.suppress(TimeoutError):  # who checks the lease has nothing to wait for
            awaited(lambda: stage.ask(WAITING_WORKERS), 15, "a late settlement")
    awaited(lambda: not stage.ask(WAITING_WORKERS), 15, "the end of the late settlement")
    script.read_statistics(write.grid, write.revision)


def freeze_in_the_middle(stage: Stage, script: Script) -> Write:
    """A large grid whose worker is frozen while it holds the lease, in no transaction."""
    leased = "SELECT count(*) FROM derivations WHERE grid_id = %s AND state = 'pending' AND leased_until IS NOT NULL"
    for _ in range(100):
        write = script.publish_large()
        with contextlib.suppress(TimeoutError):  # it was settled between two looks
            awaited(functools.partial(stage.ask, leased, write.grid), 5, "a lease")
        stage.freeze("worker")
        if stage.ask(leased, write.grid) and not stage.ask(BUSY_WORKERS):
            return write
        stage.thaw("worker")
        script.await_statistics(write)
    raise TimeoutError("a worker was never frozen in the middle of a grid")


def asleep(stage: Stage, script: Script) -> None:
    """Nobody computes for a while: what was true before a publication is not an answer after it."""
    for model in ("one", "other"):
        script.await_statistics(script.publish(model, "gamma"))
    script.await_ranking("gamma")
    stage.freeze("dispatcher")
    stage.freeze("worker")
    write = script.publish("one", "gamma")
    for _ in range(3):
        script.read_all(write)
        time.sleep(0.1)
    stage.thaw("dispatcher", "worker")
    script.await_statistics(write)


def calm(stage: Stage, script: Script) -> None:
    """Nothing happens; strangers come and numbers that are none are sent at the end of every story."""
    script.await_statistics(script.publish("calm"))


def ready(stage: Stage, wire: Wire) -> None:
    awaited(lambda: wire.call("GET", "/readyz").status == 200, 60, "readiness")
