"""Events as an Atom feed (RFC 4287), for feed readers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from registry.results.event_documents import Event
from registry.results.event_sentences import event_sentence
from registry.results.target_pages import page_of_event

_UNPRINTABLE = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What XML 1.0 has no way to write."""


@dataclass(frozen=True, slots=True)
class FeedHead:
    """What a feed says of itself: its project, addresses without and with the query, and when it last changed."""

    title: str
    address: str
    asked: str
    following: str
    """Address of what comes behind these entries."""
    updated: str
    site: str
    """Address of the service, below which the pages are."""
    project: str
    """The slug of the project."""


def atom_feed(head: FeedHead, events: Sequence[Event]) -> str:
    """The feed as XML."""
    links = [("self", head.asked), ("next", head.following), ("alternate", head.address.replace("/api/v1/", "/"))]
    return "\n".join(
        [
            '<?xml version="1.0" encoding="utf-8"?>',
            '<feed xmlns="http://www.w3.org/2005/Atom">',
            f"<id>{_text(head.address)}</id>",
            f"<title>{_text(head.title)}</title>",
            f"<updated>{head.updated}</updated>",
            "<author><name>Results registry</name></author>",
            *(f"<link rel={quoteattr(rel)} href={quoteattr(_plain(href))}/>" for rel, href in links),
            *(_entry(one, head) for one in events),
            "</feed>\n",
        ]
    )


def _entry(event: Event, head: FeedHead) -> str:
    told = event_sentence(event.type, event.data)
    page = head.site + page_of_event(head.project, event.position, told)
    return "\n".join(
        [
            "<entry>",
            f"<id>urn:uuid:{event.id}</id>",
            f"<title>{_text(told.head)}</title>",
            f"<updated>{event.time}</updated>",
            f"<category term={quoteattr(event.type)}/>",
            f'<link rel="alternate" href={quoteattr(_plain(page))}/>',
            f"<summary>{_text(told.text)}</summary>",
            "</entry>",
        ]
    )


def _text(text: str) -> str:
    return escape(_plain(text))


def _plain(text: str) -> str:
    return _UNPRINTABLE.sub("\ufffd", text)
