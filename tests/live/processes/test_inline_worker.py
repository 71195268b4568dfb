"""The worker that a dispatcher starts when nobody answers: one child process, which computes what is due."""

import os
from dataclasses import replace
from pathlib import Path

from sqlalchemy import func, select

from registry.storage.tables import derivations
from tests.house import House
from tests.live.processes.system import awaited
from workers.dispatcher import Dispatcher


def test_without_a_broker_one_child_computes_and_is_ended_with_its_dispatcher(own: House, tmp_path: Path) -> None:
    project = own.make_project()
    settings = replace(own.settings, redis_url=f"redis+socket://{tmp_path}/nobody.sock", log_level="ERROR")
    dispatcher = Dispatcher(settings, own.database)
    for number in range(10):
        project.published(model=f"model {number}", axes=[], values=50.0)

    def all_ready() -> bool:
        with own.database.reading() as connection:
            return connection.scalar(select(func.count()).where(derivations.c.state == "ready")) == 10

    try:
        dispatcher.run_cycle()
        assert awaited(all_ready)
        question = f"projects/{project.slug}/rankings?experiment=type-by-length&metric=accuracy"
        assert awaited(lambda: project.get(question).status_code == 200)
        child = dispatcher.inline_worker._child
        assert child is not None
        assert child.poll() is None
        assert os.getpriority(os.PRIO_PROCESS, child.pid) > 0, "the web processes come first"
        dispatcher.run_cycle()
        assert dispatcher.inline_worker._child is child, "one inline worker at a time"
    finally:
        dispatcher.inline_worker.stop()
        dispatcher.client.close()
        dispatcher.celery.close()
    assert child.returncode is not None
