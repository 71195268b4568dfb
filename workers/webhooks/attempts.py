"""Make one attempt of a delivery: sign, send, and write down what follows from it.

Signatures of what is sent, by Standard Webhooks 1.0 (https://www.standardwebhooks.com), symmetric (`v1`).

What is sent, by format: Standard Webhooks, CloudEvents 1.0 (structured), Slack and Discord.
"""

import hmac
import random
import re
import time
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple

import orjson
import structlog
from sqlalchemy import Connection, Uuid, bindparam, exists, func, insert, select, update

from registry.results.codec import to_document
from registry.results.event_documents import TYPE_PREFIX, CloudEvent, sequence_of
from registry.results.event_sentences import event_sentence
from registry.results.target_pages import page_of_event
from registry.results.webhooks import Format, WebhookData
from registry.settings import Settings
from registry.storage.database import Database
from registry.storage.tables import arrivals, audit_log, deliveries, delivery_attempts, new_id, webhooks
from workers.webhooks.lines import BEGIN, HOLD, MOST_ATTEMPTS, Line, Sending, begun, go_on, held_by, hold, is_sent
from workers.webhooks.transport import Answer, Sender, Unreachable

SECRET_PREFIX = "whsec_"  # noqa: S105 (the beginning of every secret)
MOST_BYTES = 20_000
"""Of a body, as Standard Webhooks asks for."""
SLACK_LONGEST, DISCORD_LONGEST = 3_000, 2_000
"""Characters of a message."""
_ADDRESS = 500
"""Characters that are left for the address behind the sentence."""
_DISCORD = {one: f"\\{one}" for one in "\\*_`~|<>[]()#@:-"}
_SLACK = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_LINKED = re.compile(r"@|:(?=//)|(?<=\w)\.(?=[^\W\d_]{2})")
"""Characters of which Slack, and what understands its messages, would make mentions and links by themselves."""
_BREAK = "\u200b"
"""An invisible space behind such a character: Slack knows no way to escape it."""
_UNTOUCHED = {"mrkdwn": False, "link_names": False, "unfurl_links": False, "unfurl_media": False}
log = structlog.get_logger()

PAUSES = (5.0, 300.0, 1_800.0, 7_200.0, 18_000.0, 36_000.0, 36_000.0)
"""Seconds after the first failed attempt, the second, …: about, so that what failed together is not sent together."""
LONGEST_RETRY_AFTER = 3_600.0
PATIENCE = timedelta(days=5)
"""Without one success, after which a webhook is disabled."""
_FREE_FAILURES = 2
"""In a row, before a webhook is sent nothing for a while: one event that is refused does not hold up the others."""
_LONGEST_REST = 300.0
_GONE = 410
_RETRY_STATUSES = (429, 503)
UNREACHABLE = "unreachable"
"""Beginning of the error of an attempt without an answer; behind it users see the reason, and nothing of addresses."""


def sign(secrets: Sequence[str], message_id: str, timestamp: int, body: bytes) -> str:
    """The header `webhook-signature`: a signature by each secret, of which a receiver accepts any."""
    signed = f"{message_id}.{timestamp}.".encode() + body
    keys = [b64decode(secret.removeprefix(SECRET_PREFIX)) for secret in secrets]
    return " ".join(f"v1,{b64encode(hmac.digest(key, signed, 'sha256')).decode()}" for key in keys)


class Body(NamedTuple):
    """The bytes of a message, and what they are."""

    content: bytes
    media: str


def body_of(sending: Sending, url: str) -> Body:
    """The message of a delivery; `url` is the address of the registry. Never longer than 20,000 bytes."""
    format_: Format = sending.webhook.format
    write = _WRITERS[format_]
    body = write(sending, url, sending.data)
    # Data is thin; names and texts may be long, and there may be many of them.
    return body if len(body.content) <= MOST_BYTES else write(sending, url, {})


def _standard(sending: Sending, url: str, data: Mapping[str, Any]) -> Body:
    # Of what was purged, the address of its project.
    address = f"{url}/api/v1/{sending.subject or f'projects/{sending.project}'}"
    where = WebhookData(sending.project, sending.subject, address, sending.position)
    document = {"type": sending.type, "timestamp": _time(sending), "data": {**data, **to_document(where)}}
    return Body(orjson.dumps(document), "application/json")


def _cloud(sending: Sending, url: str, data: Mapping[str, Any]) -> Body:
    sequence = None if sending.position is None else sequence_of(sending.position)
    source = f"{url}/api/v1/projects/{sending.project}"
    type_, id_ = TYPE_PREFIX + sending.type, str(sending.event_id)
    document = to_document(CloudEvent(id_, source, type_, sending.subject, _time(sending), data, sequence))
    return Body(orjson.dumps(document), "application/cloudevents+json; charset=utf-8")


def _slack(sending: Sending, url: str, _data: Mapping[str, Any]) -> Body:
    said, page = _said(sending, url)
    shown = escaped(_LINKED.sub(rf"\g<0>{_BREAK}", said), _SLACK, SLACK_LONGEST - _ADDRESS)
    return Body(orjson.dumps({"text": f"{shown}\n<{page}>", **_UNTOUCHED}), "application/json")


def _discord(sending: Sending, url: str, _data: Mapping[str, Any]) -> Body:
    said, page = _said(sending, url)
    shown = escaped(said, _DISCORD, DISCORD_LONGEST - _ADDRESS)
    return Body(orjson.dumps({"content": f"{shown}\n<{page}>", "allowed_mentions": {"parse": []}}), "application/json")


def escaped(text: str, replaced: Mapping[str, str], longest: int) -> str:
    """The text with these characters replaced; an ellipsis stands for what is too long, and never for a half of one."""
    found: list[str] = []
    length = 0
    for character in text:
        piece = replaced.get(character, character)
        length += len(piece)
        if length >= longest:
            return "".join([*found, "…"])
        found.append(piece)
    return "".join(found)


def _said(sending: Sending, url: str) -> tuple[str, str]:
    """The sentence of an event, and the address of the page of what it is about."""
    told = event_sentence(sending.type, sending.data)
    page = url + page_of_event(sending.project, sending.position, told)
    return f"{sending.project}: {told.text}", page if len(page) < _ADDRESS - 3 else url


def _time(sending: Sending) -> str:
    return sending.at.isoformat().replace("+00:00", "Z")


_WRITERS: Mapping[Format, Callable[[Sending, str, Mapping[str, Any]], Body]] = {
    "standard": _standard,
    "cloudevents": _cloud,
    "slack": _slack,
    "discord": _discord,
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """Outcome of an attempt; without a status there was no answer."""

    status: int | None
    milliseconds: int | None
    error: str | None
    response: str | None
    retry_after: float = 0.0


def send(settings: Settings, sending: Sending, sender: Sender) -> Outcome:
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
        answer = sender.post(sending.webhook.url, content, headers, settings.destinations)
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


def settle(
    database: Database, line: Line, sending: Sending, outcome: Outcome, *, leaving: bool = False
) -> Sending | None:
    """Write down what came of an attempt, and begin the next one with it, unless this thread is `leaving`. Nothing is
    written if the lease ran out: another thread sends it again."""
    with database.transaction() as connection:
        if outcome.error is None:
            return _delivered(connection, line, sending, outcome, leaving=leaving)
        webhook = hold(connection, line)
        if webhook is None:
            return None
        connection.execute(_NOTE, _noted(sending, outcome))
        if sending.attempts >= MOST_ATTEMPTS or outcome.status == _GONE:
            changed: dict[str, Any] = {"state": "failed", "settled_at": func.now()}
        else:
            pause = max(PAUSES[sending.attempts - 1] * _jitter(), outcome.retry_after)
            changed = {"due_at": func.now() + timedelta(seconds=pause)}
        connection.execute(update(deliveries).where(deliveries.c.id == sending.delivery_id).values(changed))
        _note_failure(connection, webhook, outcome)
        return go_on(connection, line, hold(connection, line), leaving=leaving)


_HELD = HOLD.cte("held")
_NUMBER = select(func.coalesce(func.max(delivery_attempts.c.number), 0) + 1).where(
    delivery_attempts.c.delivery_id == bindparam("of")
)
_TOLD = ("status", "milliseconds", "error", "response")
_ROW = (
    bindparam("of", type_=Uuid).label("delivery_id"),
    _NUMBER.scalar_subquery().label("number"),
    *(bindparam(f"its_{name}", type_=delivery_attempts.c[name].type).label(name) for name in _TOLD),
)
_NAMES = ("delivery_id", "number", *_TOLD)
_NOTE = insert(delivery_attempts).from_select(_NAMES, select(*_ROW))
_IS_SETTLED = (
    update(deliveries)
    .values(state="delivered", settled_at=func.now())
    .where(deliveries.c.id == bindparam("of"), deliveries.c.webhook_id == _HELD.c.id)
)
_IS_SENT_TO = (_HELD.c.state == "enabled", _HELD.c.failures == 0, ~_HELD.c.is_paused)
_BEGUN = BEGIN.where(deliveries.c.webhook_id == _HELD.c.id, *_IS_SENT_TO).returning(deliveries.c.id).cte("begun")
_DELIVERED = select(_HELD, exists(select(_BEGUN.c.id)).label("has_begun")).add_cte(
    insert(delivery_attempts).from_select(_NAMES, select(*_ROW).select_from(_HELD)).cte("noted"),
    _IS_SETTLED.cte("settled"),
)
"""Hold a webhook, write down that a delivery was taken, and begin the next: one statement, as each way to the database
takes long where other programs want the processor too."""


def _noted(sending: Sending, outcome: Outcome) -> dict[str, Any]:
    return {"of": sending.delivery_id} | {f"its_{name}": getattr(outcome, name) for name in _TOLD}


def _delivered(
    connection: Connection, line: Line, sending: Sending, outcome: Outcome, *, leaving: bool
) -> Sending | None:
    """Write down that a delivery was taken, and begin the next one."""
    found = None if leaving or line.next is None or not is_sent(line.next) else line.next
    beginning = {"begun": found and found.id, "begun_attempts": found and found.attempts}
    webhook = connection.execute(_DELIVERED, held_by(line) | _noted(sending, outcome) | beginning).one_or_none()
    if webhook is None:
        return None
    if webhook.has_begun:
        return begun(webhook, line.ahead.popleft())
    if webhook.failures:
        recovered = {"failures": 0, "failing_since": None, "paused_until": None}
        connection.execute(update(webhooks).where(webhooks.c.id == webhook.id).values(recovered))
        webhook = hold(connection, line)
    return go_on(connection, line, webhook, leaving=leaving)


def _jitter() -> float:
    """A factor whose mean is 1 and whose spread is as wide as the pause itself."""
    return random.uniform(0.5, 1.5)  # noqa: S311 (no secret)


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
