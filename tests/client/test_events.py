"""Following events with the client: every event once, in order, through whatever happens to the connection."""

from datetime import UTC, datetime
from itertools import islice
from typing import Any

import pytest

import results_registry
from registry.api import event_streams
from results_registry.errors import NotThere, Refused
from tests.client.conftest import Served
from tests.told import tell


def followed(served: Served, **asked: Any) -> Any:
    return results_registry.events(**(served.where | asked))


def numbers(found: Any) -> list[int]:
    return [event["data"]["number"] for event in found]


def test_events_are_read_page_after_page_and_from_a_cursor_on(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("results_registry.reading._EVENTS_AT_ONCE", 3)
    tell(served.project, *range(8))
    found = list(followed(served))
    assert numbers(found) == list(range(8))
    assert numbers(followed(served, after=found[4]["cursor"])) == [5, 6, 7]
    assert numbers(followed(served, after=datetime(2001, 1, 1, tzinfo=UTC), type="grid.*")) == list(range(8))
    assert numbers(followed(served, after="now")) == []


def test_events_are_followed_from_one_stream_to_the_next(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_streams, "LONGEST", 0.3)
    monkeypatch.setattr(event_streams, "JITTER", 0.0)
    tell(served.project, 0)
    told = followed(served, follow=True)
    assert numbers(islice(told, 1)) == [0]
    for number in range(1, 6):
        tell(served.project, number)
        assert numbers(islice(told, 1)) == [number]
    tell(served.project, *range(6, 30))
    assert numbers(islice(told, 24)) == list(range(6, 30))
    told.close()


def test_who_may_not_read_is_told_so_instead_of_waiting(served: Served) -> None:
    with pytest.raises(NotThere):
        next(followed(served, project="nobody", follow=True))
    with pytest.raises(Refused):
        next(followed(served, after="x" * 12, follow=True))
