"""F6, overload: every connection to the database is held by somebody who waits.

Slow clients and a frozen database are tested in `tests/live/processes`.
"""

import random
import threading

from tests.live.faults.generator import grid
from tests.live.faults.history import History
from tests.live.faults.scenarios import Script
from tests.live.faults.stage import PROJECT, Stage
from tests.live.faults.wire import Answer

CLIENTS = 24
HELD_SECONDS = 6.0
CLEAN = {409, 429, 503}


def test_behind_a_locked_table_every_request_ends_with_a_time_to_come_back(stage: Stage) -> None:
    """More clients than connections, and each statement waits for a lock: answers within 10 s, health throughout."""
    history = History()
    script = Script(stage, history)
    known = script.publish("known", "overload")
    answers: list[Answer] = []
    alive: list[Answer] = []
    over = threading.Event()

    def ask(number: int) -> None:
        wire = stage.wire()
        while not over.is_set():
            if number % 2:
                sent = grid(random.Random(number), number, ("overload", "two", f"client {number}"))
                answers.append(wire.call("POST", f"projects/{PROJECT}/grids", sent))
            else:
                answers.append(wire.call("GET", f"grids/{known.grid}"))

    def ask_for_health() -> None:
        wire = stage.wire()
        while not over.wait(0.1):
            alive.append(wire.call("GET", "/healthz"))

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(CLIENTS)]
    threads.append(threading.Thread(target=ask_for_health))
    with stage.sql() as cursor:
        cursor.execute("BEGIN")
        cursor.execute("LOCK TABLE grids IN ACCESS EXCLUSIVE MODE")
        for thread in threads:
            thread.start()
        over.wait(HELD_SECONDS)
        over.set()
        for thread in threads:
            thread.join()
        cursor.execute("ROLLBACK")
    assert len(answers) >= CLIENTS
    assert {answer.status for answer in answers} <= CLEAN
    assert all(answer.retry_after >= 1 for answer in answers), [answer.headers for answer in answers][:3]
    assert max(answer.seconds for answer in answers) < 10
    assert {answer.status for answer in alive} == {200}
    assert max(answer.seconds for answer in alive) < 1, "it waited behind those who wait for the lock"
    script.await_statistics(known, script.publish("afterwards", "overload"))
