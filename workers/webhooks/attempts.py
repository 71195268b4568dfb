"""One attempt of a delivery: signed and sent, then written down with what follows from it."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

import structlog
from sqlalchemy import Connection, delete, func, insert, select, update

from registry.settings import Settings
from registry.storage.database import Database
from registry.storage.tables import arrivals, audit_log, deliveries, delivery_attempts, new_id, webhooks
from workers.webhooks.bodies import body_of
from workers.webhooks.lines import MOST_ATTEMPTS, Line, Sending, hold
from workers.webhooks.signing import sign
from workers.webhooks.transport import Answer, Unreachable, post

log = structlog.get_logger()

PAUSES = (5.0, 300.0, 1_800.0, 7_200.0, 18_000.0, 36_000.0, 36_000.0)
"""Seconds after the first failed attempt, the second, …: about, so that what failed together is not sent together."""
LONGEST_RETRY_AFTER = 3_600.0
PATIENCE = timedelta(days=5)
"""Without one success, after which a webhook is disabled."""
_FREE_FAILURES = 2
"""In a row, before a webhook is sent nothing for a while: one event that is refused does not hold up the others."""
_LONGEST_REST = 300.0
_KEPT_ATTEMPTS = 20
"""Of a delivery that is sent again and again."""
_GONE = 410
_RETRY_STATUSES = (429, 503)
UNREACHABLE = "unreachable"
"""How the error of an attempt without an answer begins; behind it users see the reason, and nothing of addresses."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of an attempt; without a status there was no answer."""

    status: int | None
    milliseconds: int | None
    error: str | None
    response: str | None
    retry_after: float = 0.0


def send(settings: Settings, sending: Sending) -> Outcome:
    """Sign and send a delivery; whatever comes of it is an outcome."""
    message_id, timestamp = str(sending.event_id), int(time.time())
    content, media = body_of(sending, settings.url)
    headers = {
        "Content-Type": media,
        "User-Agent": "results-registry-webhooks",
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": sign(_secrets(sending.webhook), message_id, timestamp, content),
    }
    began = time.monotonic()
    try:
        answer = post(sending.webhook.url, content, headers, settings.destinations)
    except Unreachable as error:
        told = {"webhook": str(sending.webhook.id), "delivery": str(sending.delivery_id)}
        log.info("webhook not reached", reason=error.reason, error=str(error), **told)
        return Outcome(None, None, f"{UNREACHABLE}: {error.reason}", None)
    return _outcome(answer, round(1000 * (time.monotonic() - began)))


def _secrets(webhook: Any) -> list[str]:
    """The secrets that sign: for a day after a rotation the former one too."""
    former = webhook.former_until is not None and webhook.former_until > datetime.now(UTC)
    return [webhook.secret, webhook.former_secret] if former else [webhook.secret]


def _outcome(answer: Answer, milliseconds: int) -> Outcome:
    error, status = None, answer.status
    if 300 <= status < 400:
        error = "redirects are not followed"
    elif not 200 <= status < 300:
        error = f"answered {status}"
    retry_after = seconds_of(answer.headers.get("retry-after", "")) if status in _RETRY_STATUSES else 0.0
    text = answer.body.decode(errors="replace")
    shown = "".join(one if one.isprintable() or one in "\n\t" else "�" for one in text)
    return Outcome(status, milliseconds, error, shown, retry_after)


def seconds_of(retry_after: str) -> float:
    """Seconds that a header Retry-After asks for, an hour at most; 0 where it cannot be read."""
    text = retry_after.strip()
    if text.isascii() and text.isdigit():
        return min(float(text[:9]), LONGEST_RETRY_AFTER)
    try:
        until = parsedate_to_datetime(text)
        seconds = until.timestamp() - time.time()
    except (ValueError, OverflowError):
        return 0.0
    return min(max(seconds, 0.0), LONGEST_RETRY_AFTER)


def settle(database: Database, line: Line, sending: Sending, outcome: Outcome) -> bool:
    """Write down what came of an attempt; False, and nothing, if the lease ran out: another thread sends it again."""
    with database.transaction() as connection:
        webhook = hold(connection, line)
        if webhook is None:
            return False
        _note(connection, sending, outcome)
        if outcome.error is None:
            _settle(connection, sending, "delivered")
            if webhook.failures:
                recovered = {"failures": 0, "failing_since": None, "paused_until": None}
                connection.execute(update(webhooks).where(webhooks.c.id == webhook.id).values(recovered))
            return True
        if sending.attempts >= MOST_ATTEMPTS or outcome.status == _GONE:
            _settle(connection, sending, "failed")
        else:
            pause = max(PAUSES[sending.attempts - 1] * _jitter(), outcome.retry_after)
            due = {"due_at": func.now() + timedelta(seconds=pause)}
            connection.execute(update(deliveries).where(deliveries.c.id == sending.delivery_id).values(due))
        _note_failure(connection, webhook, outcome)
    return True


def _jitter() -> float:
    """A factor whose mean is 1 and whose spread is as wide as the pause itself."""
    return random.uniform(0.5, 1.5)  # noqa: S311 (no secret)


def _note(connection: Connection, sending: Sending, outcome: Outcome) -> None:
    mine = delivery_attempts.c.delivery_id == sending.delivery_id
    number = int(connection.scalar(select(func.max(delivery_attempts.c.number)).where(mine)) or 0) + 1
    told = {"status": outcome.status, "milliseconds": outcome.milliseconds, "error": outcome.error}
    row = {"delivery_id": sending.delivery_id, "number": number, "response": outcome.response, **told}
    connection.execute(insert(delivery_attempts).values(row))
    if number > _KEPT_ATTEMPTS:
        connection.execute(delete(delivery_attempts).where(mine, delivery_attempts.c.number <= number - _KEPT_ATTEMPTS))


def _settle(connection: Connection, sending: Sending, state: str) -> None:
    settled = {"state": state, "settled_at": func.now()}
    connection.execute(update(deliveries).where(deliveries.c.id == sending.delivery_id).values(settled))


def _note_failure(connection: Connection, webhook: Any, outcome: Outcome) -> None:
    """Count a failure: the webhook rests as it fails again and again, and is disabled where it is gone or too long
    without a success."""
    failures = webhook.failures + 1
    rest = outcome.retry_after
    if failures > _FREE_FAILURES:
        rest = max(rest, min(2.0 ** min(failures - _FREE_FAILURES, 10), _LONGEST_REST) * _jitter())
    since = func.coalesce(webhooks.c.failing_since, func.now())
    counted = {
        "failures": failures,
        "failing_since": since,
        "paused_until": func.now() + timedelta(seconds=rest),
    }
    one = webhooks.c.id == webhook.id
    too_long = (since < func.now() - PATIENCE).label("too_long")
    is_too_long = connection.scalar(update(webhooks).where(one).values(counted).returning(too_long))
    if outcome.status == _GONE:
        _disable(connection, webhook, "The receiver answered 410: it is gone.")
    elif is_too_long:
        _disable(connection, webhook, f"No delivery has succeeded for {PATIENCE.days} days.")


def _disable(connection: Connection, webhook: Any, reason: str) -> None:
    """Disable a webhook, with its line in the audit log and its event."""
    disabled = {"state": "disabled", "reason": reason, "version": webhook.version + 1, "updated_at": func.now()}
    connection.execute(update(webhooks).where(webhooks.c.id == webhook.id).values(disabled))
    subject = f"projects/{webhook.project}/webhooks/{webhook.id}"
    told = {"webhook": str(webhook.id), "reason": reason}
    happened = {"project_id": webhook.project_id, "type": "webhook.disabled", "subject": subject, "data": told}
    connection.execute(insert(arrivals).values(happened))
    line = {"id": new_id(), "project_id": webhook.project_id, "action": "webhook.disabled", "subject": str(webhook.id)}
    connection.execute(insert(audit_log).values(line | {"detail": {"reason": reason}}))
