"""What is sent, by format: Standard Webhooks, CloudEvents 1.0 (structured), Slack and Discord."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import orjson

from registry.results.event_documents import TYPE_PREFIX
from registry.results.webhooks import Format
from workers.webhooks.lines import Sending
from workers.webhooks.sentences import sentence_of

MOST_BYTES = 20_000
"""Of a body, as Standard Webhooks asks for."""
SLACK_LONGEST, DISCORD_LONGEST = 3_000, 2_000
"""Characters of a message."""
_ADDRESS = 500
"""Characters that are left for the address behind the sentence."""
_DISCORD = {one: f"\\{one}" for one in "\\*_`~|<>[]()#@:-"}
_SLACK = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}


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
    where = {"project": sending.project, "subject": sending.subject, "url": _address(sending, url)}
    place = {} if sending.position is None else {"position": sending.position}
    document = {"type": sending.type, "timestamp": _time(sending), "data": {**data, **where, **place}}
    return Body(orjson.dumps(document), "application/json")


def _cloud(sending: Sending, url: str, data: Mapping[str, Any]) -> Body:
    document: dict[str, Any] = {
        "specversion": "1.0",
        "id": str(sending.event_id),
        "source": f"{url}/api/v1/projects/{sending.project}",
        "type": TYPE_PREFIX + sending.type,
        "subject": sending.subject,
        "time": _time(sending),
        "datacontenttype": "application/json",
        "data": dict(data),
    }
    if sending.position is not None:
        document["sequence"] = f"{sending.position:019d}"
    return Body(orjson.dumps(document), "application/cloudevents+json; charset=utf-8")


def _slack(sending: Sending, url: str, data: Mapping[str, Any]) -> Body:
    said = escaped(_said(sending, data), _SLACK, SLACK_LONGEST - _ADDRESS)
    return Body(orjson.dumps({"text": f"{said}\n<{_address(sending, url)}>"}), "application/json")


def _discord(sending: Sending, url: str, data: Mapping[str, Any]) -> Body:
    said = escaped(_said(sending, data), _DISCORD, DISCORD_LONGEST - _ADDRESS)
    content = f"{said}\n<{_address(sending, url)}>"
    return Body(orjson.dumps({"content": content, "allowed_mentions": {"parse": []}}), "application/json")


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


def _said(sending: Sending, data: Mapping[str, Any]) -> str:
    return f"{sending.project}: {sentence_of(sending.type, data)}"


def _address(sending: Sending, url: str) -> str:
    return f"{url}/api/v1/{sending.subject}"


def _time(sending: Sending) -> str:
    return sending.at.isoformat().replace("+00:00", "Z")


_WRITERS: Mapping[Format, Callable[[Sending, str, Mapping[str, Any]], Body]] = {
    "standard": _standard,
    "cloudevents": _cloud,
    "slack": _slack,
    "discord": _discord,
}
