"""Events reach webhooks: each, at least once, in order until one fails, and as often as it takes."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import func, select, update

from registry.storage.tables import audit_log, deliveries, events
from tests.workers.webhooks.conftest import Hooks
from tests.workers.webhooks.receiver import Received, Receiver, receiving
from workers.webhooks import attempts, lines
from workers.webhooks.attempts import MOST_ATTEMPTS, PAUSES
from workers.webhooks.courier import Courier, send_line
from workers.webhooks.lines import claim_line


def test_events_are_sent_in_their_order_and_once(hooks: Hooks, receiver: Receiver) -> None:
    hooks.tell(1)
    hooks.add(receiver.url)
    hooks.tell(2, 3)
    hooks.tell(4)
    assert hooks.send() == 3
    assert hooks.send() == 0
    assert receiver.numbers == [2, 3, 4]
    assert hooks.states() == [(2, "delivered", 1), (3, "delivered", 1), (4, "delivered", 1)]
    assert len(set(receiver.ids)) == 3


def test_types_and_filters_choose(hooks: Hooks, receiver: Receiver) -> None:
    hooks.add(receiver.url, "claim.*", "grid.deleted", filter={"model": ["a", "b"], "experiment": "x"})
    hooks.tell(1, type_="claim.flipped", model="a", experiment="x")
    hooks.tell(2, type_="claim.flipped", model="c", experiment="x")
    hooks.tell(3, type_="claim.flipped", model="a")
    hooks.tell(4, type_="grid.published", model="a", experiment="x")
    hooks.tell(5, type_="grid.deleted", model="b", experiment="x")
    hooks.send()
    assert receiver.numbers == [1, 5]
    assert [position for position, *_ in hooks.states()] == [1, 5]


def test_a_webhook_far_behind_makes_its_deliveries_little_by_little(
    hooks: Hooks, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "_WINDOW", 3)
    webhook = hooks.add(receiver.url)
    hooks.tell(*range(10))
    assert hooks.read(webhook)["waiting"] == 10
    seen: list[int] = []
    receiver.answer = lambda _one: seen.append(len(hooks.states())) or 204
    hooks.send()
    assert receiver.numbers == list(range(10))
    assert seen == [3, 3, 3, 6, 6, 6, 9, 9, 9, 10]
    assert hooks.read(webhook)["waiting"] == 0


def test_an_event_that_is_refused_is_sent_again_and_the_others_go_before_it(hooks: Hooks, receiver: Receiver) -> None:
    webhook = hooks.add(receiver.url)
    receiver.answer = lambda one: 500 if one.document["data"]["number"] == 1 else 200
    hooks.tell(1, 2, 3)
    hooks.send()
    assert receiver.numbers == [1, 2, 3]
    receiver.answer = lambda _one: 200
    hooks.hurry()
    hooks.send()
    assert receiver.numbers == [1, 2, 3, 1]
    assert receiver.ids[3] == receiver.ids[0]
    assert hooks.read(webhook)["failing_since"] is None
    [third, second, first] = hooks.deliveries(webhook)
    assert [one["status"] for one in first["attempts"]] == [500, 200]
    assert first["attempts"][0]["error"] == "answered 500"
    assert first["attempts"][0]["response"] == "what the receiver says"
    assert (third["state"], second["state"], first["next_at"]) == ("delivered", "delivered", None)


def test_attempts_grow_apart_and_end(hooks: Hooks, receiver: Receiver) -> None:
    webhook = hooks.add(receiver.url)
    receiver.answer = lambda _one: 500
    hooks.tell(1)
    for seconds in PAUSES:
        assert hooks.send() == 1
        [one] = hooks.deliveries(webhook, state="pending")
        with hooks.database.reading() as connection:
            due, now = connection.execute(
                select(deliveries.c.due_at, func.now()).where(deliveries.c.id == one["id"])
            ).one()
        assert 0.5 * seconds - 5 < (due - now).total_seconds() <= 1.5 * seconds
        hooks.hurry()
    assert hooks.send() == 1
    assert hooks.states() == [(1, "failed", MOST_ATTEMPTS)]
    assert [len(one["attempts"]) for one in hooks.deliveries(webhook, state="failed")] == [8]
    assert PAUSES == (5, 300, 1800, 7200, 18000, 36000, 36000)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_a_failure_and_followed_nowhere(hooks: Hooks, receiver: Receiver, status: int) -> None:
    webhook = hooks.add(receiver.url)
    receiver.answer = lambda _one: (status, {"Location": receiver.url})
    hooks.tell(1)
    assert hooks.send() == 1
    assert len(receiver.received) == 1
    assert hooks.deliveries(webhook)[0]["attempts"][0]["error"] == "redirects are not followed"


def test_a_receiver_that_is_gone_disables_its_webhook(hooks: Hooks, receiver: Receiver) -> None:
    webhook = hooks.add(receiver.url)
    receiver.answer = lambda _one: 410
    hooks.tell(1, 2)
    hooks.send()
    told = hooks.read(webhook)
    assert (told["state"], told["reason"]) == ("disabled", "The receiver answered 410: it is gone.")
    assert len(receiver.received) == 1
    hooks.tell(3)
    with hooks.database.reading() as connection:
        kinds = connection.scalars(select(events.c.type).where(events.c.project_id == hooks.project.id)).all()
        logged = connection.scalars(select(audit_log.c.action).where(audit_log.c.subject == webhook["id"])).all()
    assert "webhook.disabled" in kinds
    assert logged == ["webhook.created", "webhook.disabled"]
    assert hooks.send() == 0


def test_a_webhook_without_success_for_five_days_is_disabled(hooks: Hooks, receiver: Receiver) -> None:
    webhook = hooks.add(receiver.url)
    receiver.answer = lambda _one: 500
    hooks.tell(1)
    hooks.send()
    assert hooks.read(webhook)["state"] == "enabled"
    hooks.change(webhook["id"], failing_since=datetime.now(UTC) - timedelta(days=5, seconds=1))
    hooks.hurry()
    hooks.send()
    assert hooks.read(webhook)["reason"] == "No delivery has succeeded for 5 days."
    receiver.answer = lambda _one: 200
    assert hooks.call("PATCH", f"/{webhook['id']}", json={"state": "enabled"}).get_json()["failing_since"] is None
    hooks.hurry()
    assert hooks.send() == 1


@pytest.mark.parametrize("status", [429, 503])
def test_a_receiver_that_asks_for_time_gets_it(hooks: Hooks, receiver: Receiver, status: int) -> None:
    webhook = hooks.add(receiver.url)
    receiver.answer = lambda _one: (status, {"Retry-After": "900"})
    hooks.tell(1, 2)
    assert hooks.send() == 1
    hooks.tell(3)
    assert hooks.send() == 0
    due = datetime.fromisoformat(hooks.deliveries(webhook)[-1]["next_at"])
    assert timedelta(seconds=800) < due - datetime.now(UTC) <= timedelta(seconds=900)


def test_how_long_to_wait_is_read_as_seconds_or_a_date_and_at_most_an_hour() -> None:
    assert attempts.seconds_of("7") == 7
    assert attempts.seconds_of("86400") == attempts.seconds_of("9" * 400) == 3600
    assert attempts.seconds_of("Fri, 31 Dec 2999 23:59:59 GMT") == 3600
    assert [attempts.seconds_of(one) for one in ("", "soon", "-5", "1e9", "Wed, 21 Oct 2015 07:28:00 GMT")] == [0] * 5


def test_a_webhook_that_fails_again_and_again_rests(hooks: Hooks, receiver: Receiver) -> None:
    hooks.add(receiver.url)
    receiver.answer = lambda _one: 500
    hooks.tell(*range(20))
    assert hooks.send() == 3
    hooks.tell(21)
    assert hooks.send() == 0


def test_two_dispatchers_send_each_event_once_and_one_at_a_time(hooks: Hooks, receiver: Receiver) -> None:
    hooks.add(receiver.url)
    together, under_way = threading.Lock(), list[int]()

    def answer(_one: Received) -> int:
        free = together.acquire(blocking=False)
        under_way.append(0 if free else 1)
        if free:
            together.release()
        return 200

    receiver.answer = answer
    couriers = [Courier(hooks.settings, hooks.database) for _ in range(2)]
    for one in couriers:
        one.start()
    for number in range(30):
        hooks.tell(number)
        for one in couriers:
            one.wake()
    until = threading.Event()
    for _ in range(1000):
        if len(receiver.received) >= 30 or until.wait(0.01):
            break
    for one in couriers:
        one.stop()
    assert receiver.numbers == list(range(30))
    assert sum(under_way) == 0


def test_a_lease_that_ran_out_settles_nothing(hooks: Hooks, receiver: Receiver) -> None:
    hooks.add(receiver.url)
    hooks.tell(1)
    slow = claim_line(hooks.database, (), only_healthy=False)
    assert slow is not None

    def answer(_one: Received) -> int:
        receiver.answer = lambda _one: 200
        hooks.let_leases_run_out()
        assert hooks.send() == 1
        return 500

    receiver.answer = answer
    send_line(hooks.settings, hooks.database, slow)
    assert (hooks.states(), hooks.attempts()) == ([(1, "delivered", 2)], 1)
    assert receiver.numbers == [1, 1]


def test_an_event_that_is_kept_no_longer_is_given_up(hooks: Hooks, receiver: Receiver) -> None:
    hooks.add(receiver.url)
    receiver.answer = lambda _one: 500
    hooks.tell(1)
    hooks.send()
    with hooks.database.transaction() as connection:
        connection.execute(events.delete().where(events.c.project_id == hooks.project.id))
    hooks.hurry()
    assert hooks.send() == 0
    assert hooks.states() == [(1, "failed", 1)]


def test_events_that_were_deleted_before_they_were_passed_hold_up_nothing(hooks: Hooks, receiver: Receiver) -> None:
    webhook = hooks.add(receiver.url)
    hooks.tell(1, 2)
    with hooks.database.transaction() as connection:
        connection.execute(events.delete().where(events.c.project_id == hooks.project.id))
    assert hooks.send() == 0
    assert hooks.read(webhook)["waiting"] == 0
    assert claim_line(hooks.database, (), only_healthy=False) is None


def test_a_deleted_project_is_sent_nothing(hooks: Hooks, receiver: Receiver) -> None:
    hooks.add(receiver.url)
    hooks.tell(1)
    assert hooks.project.call("DELETE", f"projects/{hooks.project.slug}", "admin").status_code == 204
    assert hooks.send() == 0
    assert receiver.received == []


def test_many_dead_webhooks_leave_threads_for_the_others(hooks: Hooks, receiver: Receiver) -> None:
    assert claim_line(hooks.database, (), only_healthy=True) is None
    failing, healthy = hooks.add(receiver.url), hooks.add(receiver.url)
    hooks.change(failing["id"], failures=1)
    hooks.tell(1)
    assert claim_line(hooks.database, [hooks.project.id], only_healthy=False) is None
    line = claim_line(hooks.database, (), only_healthy=True)
    assert line is not None
    assert (str(line.webhook_id), line.is_failing) == (healthy["id"], False)
    assert claim_line(hooks.database, (), only_healthy=True) is None
    other = claim_line(hooks.database, (), only_healthy=False)
    assert other is not None
    assert other.is_failing


def test_of_a_receiver_that_cannot_be_reached_only_the_reason_is_told(hooks: Hooks) -> None:
    with receiving() as closed:
        webhook = hooks.add(closed.url)
    hooks.tell(1)
    hooks.send()
    [attempt] = hooks.deliveries(webhook)[0]["attempts"]
    known = {name: attempt[name] for name in ("status", "milliseconds", "error", "response")}
    assert known == {
        "status": None,
        "milliseconds": None,
        "error": "unreachable: the connection was refused",
        "response": None,
    }


def test_a_response_that_would_move_a_cursor_is_kept_without(hooks: Hooks, receiver: Receiver) -> None:
    def write(out: Any) -> None:
        out.write(b"HTTP/1.1 500 No\r\n\r\n\x1b[2J\x00\xff" + b"a" * 5000)

    receiver.write = write
    webhook = hooks.add(receiver.url)
    hooks.tell(1)
    hooks.send()
    response = hooks.deliveries(webhook)[0]["attempts"][0]["response"]
    assert response == "�[2J��" + "a" * 994


def test_a_failing_delivery_keeps_its_last_twenty_attempts(hooks: Hooks, receiver: Receiver) -> None:
    webhook = hooks.add(receiver.url)
    receiver.answer = lambda _one: 500
    hooks.tell(1)
    for _ in range(22):
        with hooks.database.transaction() as connection:
            connection.execute(update(deliveries).values(attempts=0).where(deliveries.c.webhook_id == webhook["id"]))
        hooks.hurry()
        hooks.send()
    assert hooks.attempts() == 20
