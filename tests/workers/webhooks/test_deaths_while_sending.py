"""Whatever ends a dispatcher while it sends, each event reaches its webhook, and is settled once."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from sqlalchemy import event
from sqlalchemy.engine import Engine

from registry.storage.database import Database
from tests.workers.webhooks.conftest import Hooks
from tests.workers.webhooks.receiver import Receiver
from workers.jobs.sequencing import sequence_arrivals
from workers.webhooks import courier
from workers.webhooks.courier import send_line
from workers.webhooks.lines import claim_line

_DEAD = 9
STATEMENTS = 60
"""More than it takes to claim a webhook, to send to it and to give it back."""


def _dies(hooks: Hooks, prepare: Callable[[], Any]) -> bool:
    """A dispatcher in a process of its own, which may end without a word: whether it did."""
    child = os.fork()
    if child == 0:
        try:
            database = Database(hooks.settings, name="killed")
            prepare()
            sequence_arrivals(database)
            while line := claim_line(database, (), only_healthy=False):
                send_line(hooks.settings, database, line)
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == _DEAD


def _die_before(number: int) -> None:
    """End this process before the statement of this number, commits included."""
    left = [number]

    def count(*_more: Any) -> None:
        left[0] -= 1
        if left[0] < 0:
            os._exit(_DEAD)

    event.listen(Engine, "before_cursor_execute", count)
    event.listen(Engine, "commit", count)


def _die_behind_the_answer() -> None:
    send = courier.send

    def sent(*given: Any) -> Any:
        send(*given)
        os._exit(_DEAD)

    courier.send = sent


def _finish(hooks: Hooks) -> None:
    hooks.let_leases_run_out()
    sequence_arrivals(hooks.database)
    hooks.hurry()
    hooks.send()


def _announce(hooks: Hooks, *numbers: int) -> None:
    from registry.storage.arrivals import Arrival, announce

    with hooks.database.transaction() as connection:
        announce(connection, hooks.project.id, [Arrival("grid.published", "x", {"number": one}) for one in numbers])


def test_a_dispatcher_that_dies_between_any_two_statements_loses_no_event(hooks: Hooks, receiver: Receiver) -> None:
    hooks.add(receiver.url)
    deaths = 0
    for number in range(STATEMENTS):
        told = number + 1
        _announce(hooks, number)
        died = _dies(hooks, lambda number=number: _die_before(number))
        deaths += died
        _finish(hooks)
        assert sorted(set(receiver.numbers)) == list(range(told))
        assert [state for _, state, _ in hooks.states()] == ["delivered"] * told
        assert hooks.attempts() == told
        # Sent twice at most: by the one that died before it wrote down the answer, and again.
        assert len(receiver.received) <= told + deaths
        if not died:
            break
    assert not died
    assert deaths > 25


def test_a_dispatcher_that_dies_behind_the_answer_has_it_sent_again(hooks: Hooks, receiver: Receiver) -> None:
    hooks.add(receiver.url)
    _announce(hooks, 1)
    assert _dies(hooks, _die_behind_the_answer)
    assert hooks.send() == 0
    _finish(hooks)
    assert receiver.numbers == [1, 1]
    assert len(set(receiver.ids)) == 1
    assert hooks.states() == [(1, "delivered", 2)]


def test_an_event_that_ends_each_dispatcher_is_given_up(hooks: Hooks, receiver: Receiver) -> None:
    hooks.add(receiver.url)
    _announce(hooks, 1)
    for _ in range(8):
        assert _dies(hooks, _die_behind_the_answer)
        hooks.let_leases_run_out()
    _announce(hooks, 2)
    _finish(hooks)
    assert receiver.numbers == [1] * 8 + [2]
    assert hooks.states() == [(1, "failed", 8), (2, "delivered", 1)]
