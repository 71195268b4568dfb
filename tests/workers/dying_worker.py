"""A worker that is killed at every step of judging, each time in a process of its own.

    python -m tests.workers.dying_worker

after each death prints how many verdicts there are; the last worker dies after its commit.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

from sqlalchemy import func, select, text, update

from registry.settings import Settings
from registry.storage.database import Database
from registry.storage.tables import cached_results, gate_verdicts
from workers import contenders, queries, verdict_records


def die(*_given: Any, **_named: Any) -> Any:
    os.kill(os.getpid(), signal.SIGKILL)


def then_die(function: Callable[..., Any]) -> Callable[..., Any]:
    def both(*given: Any, **named: Any) -> None:
        function(*given, **named)
        die()

    return both


STEPS: dict[str, tuple[Any, str, Callable[..., Any]]] = {
    "before the grids are read": (queries, "judge_contenders", die),
    "before a contender is judged": (contenders, "gate_of", die),
    "when it is judged": (queries, "document_of", die),
    "when the question is settled": (queries, "_RECORDERS", {queries.BaselineQuery: die}),  # type: ignore[dict-item]
    "when verdicts are inserted": (verdict_records, "changes", die),
    "when an alert is inserted": (verdict_records, "_apply", then_die(verdict_records._apply)),
    "after the commit": (queries, "compute_due", then_die(queries.compute_due)),
}


def main() -> None:
    settings = Settings.from_environment()
    for step, (module, name, instead) in STEPS.items():
        worker = os.fork()
        if not worker:
            setattr(module, name, instead)
            queries.compute_due(Database(settings, name="worker"), settings)
            os._exit(0)
        _, status = os.waitpid(worker, 0)
        database = Database(settings, name="tests")
        with database.transaction() as connection:
            count = connection.scalar(select(func.count()).select_from(gate_verdicts))
            leased = cached_results.c.lease.is_not(None)
            over = {"leased_until": func.now() - text("interval '1 second'"), "attempts": 0}
            held = connection.execute(update(cached_results).where(leased).values(over)).rowcount
        database.close()
        print(step, os.WTERMSIG(status), count, held, sep="|")


if __name__ == "__main__":
    main()
