"""Events reach webhooks: each, at least once, in order until one fails, and as often as it takes."""

import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import event, func, select, update

from registry.operations.webhooks import webhook_lag
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


def test_many_events_go_over_one_connection_and_each_costs_one_commit(hooks: Hooks) -> None:
    commits: list[Any] = []

    def count(connection: Any) -> None:
        commits.append(connection)

    with receiving(keeps=True) as found:
        hooks.add(found.url)
        hooks.tell(*range(40))
        event.listen(hooks.database._engine, "commit", count)
        try:
            assert hooks.send() == 40
        finally:
            event.remove(hooks.database._engine, "commit", count)
        assert (found.connections, found.numbers) == (1, list(range(40)))
    # Besides them the lease is taken, the first attempt begun, and nothing more found.
    assert len(commits) == 43


def test_how_far_webhooks_are_behind_is_told_of_those_whose_receivers_answer(hooks: Hooks, receiver: Receiver) -> None:
    webhook = hooks.add(receiver.url, "grid.published")

    def lag() -> float:
        with hooks.database.reading() as connection:
            return webhook_lag(connection)

    hooks.tell(1, 2)
    with hooks.database.transaction() as connection:
        mine = events.c.project_id == hooks.project.id
        connection.execute(update(events).where(mine).values(at=func.now() - timedelta(hours=2)))
    assert 7200 <= lag() < 7300
    hooks.change(webhook["id"], failures=1)
    assert lag() < 7000
    hooks.change(webhook["id"], failures=0)
    hooks.send()
    assert lag() < 7000


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


def test_a_redirect_is_a_failure_and_followed_nowhere(hooks: Hooks, receiver: Receiver) -> None:
    receiver.answer = lambda one: (one.document["data"]["number"], {"Location": receiver.url})
    for count, status in enumerate((301, 302, 307, 308), start=1):
        webhook = hooks.add(receiver.url)
        hooks.tell(status)
        assert hooks.send() == 1
        assert len(receiver.received) == count
        assert hooks.deliveries(webhook)[0]["attempts"][0]["error"] == "redirects are not followed"
        hooks.change(webhook["id"], state="disabled")


def test_a_webhook_without_success_for_five_days_or_whose_receiver_is_gone_is_disabled(
    hooks: Hooks, receiver: Receiver
) -> None:
    webhook = hooks.add(receiver.url)
    receiver.answer = lambda _one: 500
    hooks.tell(1)
    hooks.send()
    assert hooks.read(webhook)["state"] == "enabled"
    hooks.change(webhook["id"], failing_since=datetime.now(UTC) - timedelta(days=5, seconds=1))
    hooks.hurry()
    hooks.send()
    assert hooks.read(webhook)["reason"] == "No delivery has succeeded for 5 days."
    assert hooks.call("PATCH", f"/{webhook['id']}", json={"state": "enabled"}).get_json()["failing_since"] is None
    receiver.answer = lambda _one: 410
    hooks.tell(2)
    hooks.hurry()
    assert hooks.send() == 1
    told = hooks.read(webhook)
    assert (told["state"], told["reason"]) == ("disabled", "The receiver answered 410: it is gone.")
    assert len(receiver.received) == 3
    hooks.tell(3)
    with hooks.database.reading() as connection:
        kinds = connection.scalars(select(events.c.type).where(events.c.project_id == hooks.project.id)).all()
        logged = connection.scalars(select(audit_log.c.action).where(audit_log.c.subject == webhook["id"])).all()
    assert kinds.count("webhook.disabled") == 2
    assert sorted(logged) == ["webhook.created", "webhook.disabled", "webhook.disabled", "webhook.updated"]
    assert hooks.send() == 0


def test_a_receiver_that_asks_for_time_gets_it_and_one_that_fails_again_and_again_is_left_alone(
    hooks: Hooks, receiver: Receiver
) -> None:
    for status in (429, 503):
        webhook = hooks.add(receiver.url)
        receiver.answer = lambda _one, status=status: (status, {"Retry-After": "900"})
        hooks.tell(1, 2)
        assert hooks.send() == 1
        hooks.tell(3)
        assert hooks.send() == 0
        due = datetime.fromisoformat(hooks.deliveries(webhook)[-1]["next_at"])
        assert timedelta(seconds=800) < due - datetime.now(UTC) <= timedelta(seconds=900)
    hooks.add(receiver.url)
    receiver.answer = lambda _one: 500
    hooks.tell(*range(20))
    assert hooks.send() == 3
    hooks.tell(21)
    assert hooks.send() == 0


def test_how_long_to_wait_is_read_as_seconds_or_a_date_and_at_most_an_hour() -> None:
    assert attempts.seconds_of("7") == 7
    assert attempts.seconds_of("86400") == attempts.seconds_of("9" * 400) == 3600
    assert attempts.seconds_of("Fri, 31 Dec 2999 23:59:59 GMT") == 3600
    assert [attempts.seconds_of(one) for one in ("", "soon", "-5", "1e9", "Wed, 21 Oct 2015 07:28:00 GMT")] == [0] * 5


def test_two_dispatchers_send_each_event_once_and_one_at_a_time(hooks: Hooks, receiver: Receiver) -> None:
    hooks.add(receiver.url)
    alone, overlaps, done = threading.Lock(), list[Received](), threading.Event()

    def answer(one: Received) -> int:
        if alone.acquire(blocking=False):
            alone.release()
        else:
            overlaps.append(one)
        if len(receiver.received) >= 12:
            done.set()
        return 200

    receiver.answer = answer
    couriers = [Courier(hooks.settings, hooks.database) for _ in range(2)]
    for one in couriers:
        one.start()
    for number in range(12):
        hooks.tell(number)
        for one in couriers:
            one.wake()
    assert done.wait(60)
    for one in couriers:
        one.stop()
    assert receiver.numbers == list(range(12))
    assert overlaps == []


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


def test_events_that_are_kept_no_longer_are_given_up_and_hold_up_nothing(hooks: Hooks, receiver: Receiver) -> None:
    webhook = hooks.add(receiver.url)
    receiver.answer = lambda _one: 500
    hooks.tell(1)
    hooks.send()
    hooks.tell(2, 3)
    with hooks.database.transaction() as connection:
        connection.execute(events.delete().where(events.c.project_id == hooks.project.id))
    hooks.hurry()
    assert hooks.send() == 0
    assert hooks.states() == [(1, "failed", 1)]
    assert hooks.read(webhook)["waiting"] == 0
    assert claim_line(hooks.database, (), only_healthy=False) is None


def test_a_deleted_project_is_sent_nothing(hooks: Hooks, receiver: Receiver) -> None:
    hooks.add(receiver.url)
    hooks.tell(1)
    assert hooks.project.call("DELETE", f"projects/{hooks.project.slug}?cascade=true", "admin").status_code == 204
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


def test_of_a_receiver_only_the_reason_is_told_or_what_it_said_without_what_would_move_a_cursor(
    hooks: Hooks, receiver: Receiver
) -> None:
    with receiving() as closed:
        unreached = hooks.add(closed.url)
    said = b"HTTP/1.1 500 No\r\n\r\n\x1b[2J\x00\xff" + b"a" * 5000
    receiver.write = lambda out: out.write(said) and None
    webhook = hooks.add(receiver.url)
    hooks.tell(1)
    hooks.send()
    assert hooks.deliveries(webhook)[0]["attempts"][0]["response"] == "�[2J��" + "a" * 994
    [attempt] = hooks.deliveries(unreached)[0]["attempts"]
    known = [attempt[name] for name in ("status", "milliseconds", "error", "response")]
    assert known == [None, None, "unreachable: the connection was refused", None]
