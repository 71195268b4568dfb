"""What is sent, in each format: thin, bounded, and without anything that a chat would act on."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from registry.results.events import TYPES
from registry.results.webhooks import TEST
from workers.webhooks.bodies import DISCORD_LONGEST, MOST_BYTES, SLACK_LONGEST, body_of
from workers.webhooks.lines import Sending
from workers.webhooks.sentences import _SENTENCES, sentence_of

FLIP = {"text": "B is <better> than A & C", "verdict": "contradicted", "before": "supported", "claim": "c"}
ID = "0193b0a0-0000-7000-8000-000000000001"


def message(format_: str, data: dict[str, Any], type_: str = "claim.flipped") -> Any:
    at = datetime(2026, 11, 21, 8, 0, 0, 5000, tzinfo=UTC)
    webhook = SimpleNamespace(format=format_)
    sending = Sending(UUID(int=7), UUID(ID), type_, at, "claims/c", 12, data, 1, webhook, "demo")
    found = body_of(sending, "https://results.example")
    assert len(found.content) <= MOST_BYTES
    return json.loads(found.content), found.media


def test_the_standard_body_has_type_timestamp_and_data() -> None:
    found, media = message("standard", FLIP)
    where = {"project": "demo", "subject": "claims/c", "url": "https://results.example/api/v1/claims/c", "position": 12}
    assert found == {"type": "claim.flipped", "timestamp": "2026-11-21T08:00:00.005000Z", "data": FLIP | where}
    assert media == "application/json"


def test_a_cloud_event_is_a_structured_one() -> None:
    found, media = message("cloudevents", FLIP)
    assert media == "application/cloudevents+json; charset=utf-8"
    assert found == {
        "specversion": "1.0",
        "id": ID,
        "source": "https://results.example/api/v1/projects/demo",
        "type": "org.results-registry.claim.flipped",
        "subject": "claims/c",
        "time": "2026-11-21T08:00:00.005000Z",
        "datacontenttype": "application/json",
        "sequence": "0000000000000000012",
        "data": FLIP,
    }


def test_slack_is_sent_a_sentence_that_it_does_not_act_on() -> None:
    found, _ = message("slack", FLIP)
    sentence = "demo: Claim flipped: “B is &lt;better&gt; than A &amp; C” is now contradicted; it was supported."
    assert found == {"text": f"{sentence}\n<https://results.example/api/v1/claims/c>"}


def test_discord_is_sent_a_sentence_that_mentions_nobody() -> None:
    found, _ = message("discord", FLIP | {"text": "@everyone **B** <@1> [x](y)"})
    assert found["allowed_mentions"] == {"parse": []}
    assert r"“\@everyone \*\*B\*\* \<\@1\> \[x\]\(y\)”" in found["content"]


@pytest.mark.parametrize("text", ["&" * 50_000, "@" * 50_000, "a" * 50_000, "é“" * 20_000, "\\" * 9_000])
@pytest.mark.parametrize(
    "format_, field, longest", [("slack", "text", SLACK_LONGEST), ("discord", "content", DISCORD_LONGEST)]
)
def test_a_chat_is_sent_no_more_than_it_takes(format_: str, field: str, longest: int, text: str) -> None:
    found, _ = message(format_, FLIP | {"text": text, "verdict": text, "before": text})
    assert len(found[field]) <= longest
    head, _, address = found[field].partition("\n")
    assert address == "<https://results.example/api/v1/claims/c>"
    assert re.fullmatch({"slack": "([^&]|&amp;)*", "discord": r"([^\\]|\\[^a-z…])*"}[format_], head)


@pytest.mark.parametrize("format_", ["standard", "cloudevents"])
def test_data_that_is_too_long_is_left_out(format_: str) -> None:
    found, _ = message(format_, {"text": "é" * 20_000})
    assert "text" not in found["data"]


def test_each_type_has_a_sentence() -> None:
    assert {*TYPES, TEST} <= set(_SENTENCES)


def test_an_event_that_says_less_than_its_sentence_is_told_by_its_type() -> None:
    assert sentence_of("grid.published", {}) == "Grid: published."
    assert sentence_of("new.kind_of", {"a": 1}) == "New: kind of."
    assert sentence_of("ranking.changed", {"leaders": ["a", "b"], "models": 3, "metric": "m", "experiment": "e"}) == (
        "Ranking changed: a, b of 3 models now leads m of e."
    )
