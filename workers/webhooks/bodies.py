"""What is sent, by format: Standard Webhooks, CloudEvents 1.0 (structured), Slack and Discord."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import orjson

from registry.results.codec import to_document
from registry.results.event_documents import TYPE_PREFIX, CloudEvent, sequence_of
from registry.results.event_sentences import event_sentence
from registry.results.target_pages import page_of_event
from registry.results.webhooks import Format, WebhookData
from workers.webhooks.lines import Sending

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
    where = WebhookData(sending.project, sending.subject, _address(sending, url), sending.position)
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


def _address(sending: Sending, url: str) -> str:
    """Where the API has what an event is about; of a purged one, its project."""
    return f"{url}/api/v1/{sending.subject or f'projects/{sending.project}'}"


def _time(sending: Sending) -> str:
    return sending.at.isoformat().replace("+00:00", "Z")


_WRITERS: Mapping[Format, Callable[[Sending, str, Mapping[str, Any]], Body]] = {
    "standard": _standard,
    "cloudevents": _cloud,
    "slack": _slack,
    "discord": _discord,
}
