"""What a webhook missed is sent when somebody asks for it, what it took is not; what is settled is kept for a time."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import func, select, update

from registry.operations.audit_log import COMMAND
from registry.operations.events import write_cursor
from registry.operations.purge import purge_projects
from registry.storage.arrivals import Arrival, announce
from registry.storage.database import Database
from registry.storage.tables import deliveries, delivery_attempts, event_heads, events, projects, webhooks
from tests.workers.deaths import Died, dies_at, then_die
from tests.workers.webhooks.conftest import Hooks
from tests.workers.webhooks.receiver import Receiver
from workers.jobs.upkeep import sequence_arrivals
from workers.webhooks import courier
from workers.webhooks.courier import delete_settled_deliveries, send_line, wake_those_behind
from workers.webhooks.lines import claim_line

LONG_AGO = "2020-01-01T00:00:00Z"


def recovered(hooks: Hooks, webhook: dict[str, Any], since: Any) -> Any:
    return hooks.call("POST", f"/{webhook['id']}/recover", json={"since": since})


def test_what_was_given_up_or_came_before_or_while_it_was_disabled_is_sent_once(
    hooks: Hooks, receiver: Receiver
) -> None:
    hooks.tell(1)
    webhook = hooks.add(receiver.url, "grid.*")
    hooks.tell(2)
    hooks.send()
    receiver.answer = lambda _one: 410
    hooks.tell(3)
    hooks.send()
    hooks.tell(4)
    receiver.answer = lambda _one: 200
    assert recovered(hooks, webhook, LONG_AGO).status_code == 409
    assert hooks.call("PATCH", f"/{webhook['id']}", json={"state": "enabled"}).status_code == 200
    hooks.tell(5)
    hooks.send()
    assert receiver.numbers == [2, 3, 5]
    answer = recovered(hooks, webhook, LONG_AGO)
    assert (answer.status_code, answer.get_json()) == (202, {"count": 3})
    hooks.send()
    assert receiver.numbers == [2, 3, 5, 1, 3, 4]
    assert receiver.ids[4] == receiver.ids[1]
    assert recovered(hooks, webhook, LONG_AGO).get_json() == {"count": 0}
    assert hooks.send() == 0


def test_since_is_an_instant(hooks: Hooks, receiver: Receiver) -> None:
    hooks.tell(1, 2)
    began = datetime.now(UTC)
    hooks.tell(3)
    webhook = hooks.add(receiver.url)
    assert recovered(hooks, webhook, began.isoformat()).get_json() == {"count": 1}
    assert recovered(hooks, webhook, (began + timedelta(days=1)).isoformat()).get_json() == {"count": 0}
    for wrong in ("gestern", 1):
        other = recovered(hooks, webhook, wrong)
        assert (other.status_code, other.get_json()["errors"][0]["pointer"]) == (422, "/since")


def test_what_the_feed_keeps_no_longer_cannot_be_recovered(hooks: Hooks, receiver: Receiver) -> None:
    hooks.tell(1, 2, 3)
    webhook = hooks.add(receiver.url)
    of_project = events.c.project_id == hooks.project.id
    with hooks.database.transaction() as connection:
        connection.execute(events.delete().where(of_project, events.c.position <= 2))
        heads = update(event_heads).where(event_heads.c.project_id == hooks.project.id)
        connection.execute(heads.values(first=3))
    answer = recovered(hooks, webhook, LONG_AGO)
    assert (answer.status_code, answer.get_json()["title"]) == (410, "Cursor expired")
    assert answer.get_json()["first"] == write_cursor(hooks.project.id, 2)


def test_a_delivery_is_sent_again_with_the_same_id(hooks: Hooks, receiver: Receiver) -> None:
    webhook = hooks.add(receiver.url)
    hooks.tell(1)
    hooks.send()
    [one] = hooks.deliveries(webhook)
    answer = hooks.project.call("POST", f"deliveries/{one['id']}/redeliver", "admin")
    assert (answer.status_code, answer.get_json()["state"]) == (202, "pending")
    hooks.send()
    assert (receiver.numbers, len(set(receiver.ids))) == ([1, 1], 1)
    assert len(hooks.deliveries(webhook)[0]["attempts"]) == 2


def test_a_test_is_sent_and_is_not_in_the_feed(hooks: Hooks, receiver: Receiver) -> None:
    webhook = hooks.add(receiver.url, "claim.flipped", description="Ours.")
    assert hooks.call("POST", f"/{webhook['id']}/test").status_code == 202
    hooks.send()
    sent = receiver.received[0].document
    assert (sent["type"], sent["data"]["description"]) == ("webhook.test", "Ours.")
    with hooks.database.reading() as connection:
        assert connection.scalar(select(func.count()).where(events.c.project_id == hooks.project.id)) == 0


def test_a_purged_project_leaves_no_webhook_and_no_delivery(hooks: Hooks, receiver: Receiver) -> None:
    hooks.add(receiver.url)
    hooks.tell(1)
    hooks.send()
    with hooks.database.transaction() as connection:
        mine = projects.c.id == hooks.project.id
        connection.execute(update(projects).where(mine).values(deleted_at=func.now() - timedelta(days=2)))
        purge_projects(connection, COMMAND, older_than_days=1)
    with hooks.database.reading() as connection:
        for table in (webhooks, deliveries):
            query = select(func.count()).where(table.c.project_id == hooks.project.id)
            assert connection.scalar(query) == 0
        left = select(func.count()).where(~delivery_attempts.c.delivery_id.in_(select(deliveries.c.id)))
        assert connection.scalar(left) == 0


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
    monkeypatch.setattr(courier, "MOST_SETTLED", 2)
    with hooks.database.transaction() as connection:
        delete_settled_deliveries(connection, 14)
    assert hooks.states() == [(1, "pending", 1), (4, "delivered", 1), (5, "delivered", 1)]


def test_a_webhook_that_nobody_woke_is_woken(hooks: Hooks, receiver: Receiver) -> None:
    webhook = hooks.add(receiver.url)
    hooks.send()
    hooks.tell(1)
    hooks.change(webhook["id"], due_at=None)
    assert hooks.send() == 0
    with hooks.database.transaction() as connection:
        wake_those_behind(connection)
    assert hooks.send() == 1


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
