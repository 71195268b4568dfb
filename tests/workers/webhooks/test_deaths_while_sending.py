"""Whatever ends a dispatcher while it sends, each event reaches its webhook, and is settled once."""

from __future__ import annotations

import pytest

from registry.storage.arrivals import Arrival, announce
from registry.storage.database import Database
from tests.workers.deaths import Died, dies_at, then_die
from tests.workers.webhooks.conftest import Hooks
from tests.workers.webhooks.receiver import Receiver
from workers.jobs.upkeep import sequence_arrivals
from workers.webhooks import courier
from workers.webhooks.courier import send_line
from workers.webhooks.lines import claim_line

STATEMENTS = 60
"""More than it takes to claim a webhook, to send to it and to give it back."""


def _announce(hooks: Hooks, *numbers: int) -> None:
    with hooks.database.transaction() as connection:
        announce(connection, hooks.project.id, [Arrival("grid.published", "x", {"number": one}) for one in numbers])


def _finish(hooks: Hooks) -> None:
    hooks.let_leases_run_out()
    sequence_arrivals(hooks.database)
    hooks.hurry()
    hooks.send()


def _dies_behind_the_answer(hooks: Hooks) -> None:
    sequence_arrivals(hooks.database)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(courier, "send", then_die(courier.send))
        with pytest.raises(Died):
            hooks.send()


def test_a_dispatcher_that_dies_between_any_two_statements_loses_no_event(hooks: Hooks, receiver: Receiver) -> None:
    hooks.add(receiver.url)
    deaths = 0

    def work(database: Database) -> None:
        sequence_arrivals(database)
        while line := claim_line(database, (), only_healthy=False):
            send_line(hooks.settings, database, line)

    for step in range(1, STATEMENTS + 1):
        told = 3 * step
        _announce(hooks, told - 2, told - 1, told)
        died = dies_at(hooks.database, step, work)
        deaths += died
        _finish(hooks)
        assert sorted(set(receiver.numbers)) == list(range(1, told + 1))
        assert [state for _, state, _ in hooks.states()] == ["delivered"] * told
        assert hooks.attempts() == told
        # Sent twice at most: by the one that died before it wrote down the answer, and again.
        assert len(receiver.received) <= told + deaths
        firsts = list(dict.fromkeys(receiver.numbers))
        assert firsts == list(range(1, told + 1))
        if not died:
            break
    assert not died
    assert deaths > 20


def test_an_event_that_ends_each_dispatcher_is_sent_again_and_then_given_up(hooks: Hooks, receiver: Receiver) -> None:
    hooks.add(receiver.url)
    _announce(hooks, 1)
    _dies_behind_the_answer(hooks)
    assert hooks.send() == 0
    for _ in range(7):
        hooks.let_leases_run_out()
        _dies_behind_the_answer(hooks)
    hooks.let_leases_run_out()
    _announce(hooks, 2)
    _finish(hooks)
    assert receiver.numbers == [1] * 8 + [2]
    assert len(set(receiver.ids)) == 2
    assert hooks.states() == [(1, "failed", 8), (2, "delivered", 1)]
