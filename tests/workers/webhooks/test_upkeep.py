"""Deliveries are kept for a time and up to a number, and a webhook that nobody woke is."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import func, update

from registry.storage.tables import deliveries
from tests.workers.webhooks.conftest import Hooks
from tests.workers.webhooks.receiver import Receiver
from workers.webhooks import upkeep
from workers.webhooks.upkeep import delete_settled_deliveries, wake_those_behind


def test_settled_deliveries_are_kept_for_a_time_and_up_to_a_number(
    hooks: Hooks, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    hooks.add(receiver.url)
    receiver.answer = lambda one: 500 if one.document["data"]["number"] == 1 else 200
    hooks.tell(*range(1, 7))
    hooks.send()
    with hooks.database.transaction() as connection:
        second = (deliveries.c.project_id == hooks.project.id, deliveries.c.position == 6)
        aged = {"settled_at": func.now() - timedelta(days=15)}
        connection.execute(update(deliveries).where(*second).values(aged))
        delete_settled_deliveries(connection, 14)
    assert [position for position, *_ in hooks.states()] == [1, 2, 3, 4, 5]
    monkeypatch.setattr(upkeep, "MOST_SETTLED", 2)
    with hooks.database.transaction() as connection:
        delete_settled_deliveries(connection, 14)
    assert [(position, state) for position, state, _ in hooks.states()] == [
        (1, "pending"),
        (4, "delivered"),
        (5, "delivered"),
    ]


def test_a_webhook_that_nobody_woke_is_woken(hooks: Hooks, receiver: Receiver) -> None:
    webhook = hooks.add(receiver.url)
    hooks.send()
    hooks.tell(1)
    hooks.change(webhook["id"], due_at=None)
    assert hooks.send() == 0
    with hooks.database.transaction() as connection:
        wake_those_behind(connection)
    assert hooks.send() == 1
