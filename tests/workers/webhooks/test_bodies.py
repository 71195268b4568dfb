"""What is sent, in each format: thin, bounded, and without anything that a chat would act on."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from workers.webhooks.bodies import DISCORD_LONGEST, MOST_BYTES, SLACK_LONGEST, body_of
from workers.webhooks.lines import Sending

FLIP = {"text": "B is <better> than A & C", "verdict": "contradicted", "before": "supported", "claim": "c"}
ID = "0193b0a0-0000-7000-8000-000000000001"


def message(format_: str, data: dict[str, Any], type_: str = "claim.flipped", subject: str = "claims/c") -> Any:
    at = datetime(2026, 11, 21, 8, 0, 0, 5000, tzinfo=UTC)
    webhook = SimpleNamespace(format=format_)
    sending = Sending(UUID(int=7), UUID(ID), type_, at, subject, 12, data, 1, webhook, "demo")
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


PAGE = "https://results.example/claims/c"


def test_slack_is_sent_a_sentence_that_it_does_not_act_on() -> None:
    found, _ = message("slack", FLIP)
    sentence = "The claim “B is &lt;better&gt; than A &amp; C” is now contradicted (it was supported before)"
    assert found.pop("text") == f"demo: {sentence}\n<{PAGE}>"
    assert found == {"mrkdwn": False, "link_names": False, "unfurl_links": False, "unfurl_media": False}


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ("<!channel> <@U1> <#C1> <!here|x>", "&lt;!channel&gt; &lt;@\u200bU1&gt; &lt;#C1&gt; &lt;!here|x&gt;"),
        ("@channel @here", "@\u200bchannel @\u200bhere"),
        ("http://a.example/x", "http:\u200b//a.\u200bexample/x"),
        ("www.example.org, README.md", "www.\u200bexample.\u200borg, README.\u200bmd"),
        ("Qwen-2.5 3B. It: // ends.", "Qwen-2.5 3B. It: // ends."),
        ("<https://a.example|b>", "&lt;https:\u200b//a.\u200bexample|b&gt;"),
        ("a\n<!everyone>\x1b", "a &lt;!everyone&gt;\ufffd"),
    ],
)
def test_nothing_that_people_wrote_is_a_mention_or_a_link_in_slack(written: str, sent: str) -> None:
    found, _ = message("slack", FLIP | {"text": written})
    assert f"“{sent}”" in found["text"]
    assert found["text"].count("<") == 1


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ("@everyone @here <@1> <@&2> <#3>", r"\@everyone \@here \<\@1\> \<\@&2\> \<\#3\>"),
        ("**B** [x](y) ||z|| `c`", r"\*\*B\*\* \[x\]\(y\) \|\|z\|\| \`c\`"),
        ("https://a.example", r"https\://a.example"),
        ("\\<https://a.example>", r"\\\<https\://a.example\>"),
    ],
)
def test_nothing_that_people_wrote_is_a_mention_or_a_link_in_discord(written: str, sent: str) -> None:
    found, _ = message("discord", FLIP | {"text": written})
    assert found["allowed_mentions"] == {"parse": []}
    assert f"“{sent}”" in found["content"]
    assert found["content"].endswith(f"\n<{PAGE}>")


@pytest.mark.parametrize("text", ["&" * 50_000, "@" * 50_000, "a" * 50_000, "é“" * 20_000, "\\" * 9_000])
@pytest.mark.parametrize(
    "format_, field, longest", [("slack", "text", SLACK_LONGEST), ("discord", "content", DISCORD_LONGEST)]
)
def test_a_chat_is_sent_no_more_than_it_takes(format_: str, field: str, longest: int, text: str) -> None:
    found, _ = message(format_, FLIP | {"text": text, "verdict": text, "before": text})
    assert len(found[field]) <= longest
    head, _, address = found[field].partition("\n")
    assert address == f"<{PAGE}>"
    assert re.fullmatch({"slack": "([^&]|&amp;)*", "discord": r"([^\\]|\\[^a-z…])*"}[format_], head)


@pytest.mark.parametrize("format_", ["standard", "cloudevents"])
def test_data_that_is_too_long_is_left_out(format_: str) -> None:
    found, _ = message(format_, {"text": "é" * 20_000})
    assert "text" not in found["data"]


def test_the_address_of_a_purged_event_is_its_project() -> None:
    found, _ = message("standard", {}, subject="")
    assert found["data"]["url"] == "https://results.example/api/v1/projects/demo"
    chat, _ = message("slack", {}, subject="")
    assert chat["text"].endswith("removed for good)\n<https://results.example/projects/demo/events?before=13>")


def test_a_page_with_a_very_long_address_is_the_registry() -> None:
    ranked = {"experiment": "é" * 200, "metric": "m"}
    assert message("discord", ranked, "ranking.changed")[0]["content"].endswith("\n<https://results.example>")
