"""What is sent, in each format: signed, thin, bounded, and without anything that a chat would act on."""

import json
import re
from datetime import UTC, datetime
from itertools import product
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
from jsonschema import Draft202012Validator

from registry.results.webhooks import TEST
from tests.house import House
from tests.workers.webhooks.conftest import Hooks
from tests.workers.webhooks.receiver import Receiver
from workers.webhooks.attempts import DISCORD_LONGEST, MOST_BYTES, SLACK_LONGEST, body_of, sign
from workers.webhooks.lines import Sending

FLIP = {"text": "B is <better> than A & C", "verdict": "contradicted", "before": "supported", "claim": "c"}
ID = "0193b0a0-0000-7000-8000-000000000001"
PAGE = "https://results.example/claims/c"


def message(format_: str, data: dict[str, Any], type_: str = "claim.flipped", subject: str = "claims/c") -> Any:
    at = datetime(2026, 11, 21, 8, 0, 0, 5000, tzinfo=UTC)
    webhook = SimpleNamespace(format=format_)
    sending = Sending(UUID(int=7), UUID(ID), type_, at, subject, 12, data, 1, webhook, "demo")
    found = body_of(sending, "https://results.example")
    assert len(found.content) <= MOST_BYTES
    return json.loads(found.content), found.media


def test_programs_are_sent_a_standard_body_or_a_structured_cloud_event() -> None:
    where = {"project": "demo", "subject": "claims/c", "url": "https://results.example/api/v1/claims/c", "position": 12}
    body = {"type": "claim.flipped", "timestamp": "2026-11-21T08:00:00.005000Z", "data": FLIP | where}
    assert message("standard", FLIP) == (body, "application/json")
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
    sentence = "The claim “B is &lt;better&gt; than A &amp; C” is now contradicted (it was supported before)"
    assert found.pop("text") == f"demo: {sentence}\n<{PAGE}>"
    assert found == {"mrkdwn": False, "link_names": False, "unfurl_links": False, "unfurl_media": False}


IN_SLACK = {
    "<!channel> <@U1> <#C1> <!here|x>": "&lt;!channel&gt; &lt;@\u200bU1&gt; &lt;#C1&gt; &lt;!here|x&gt;",
    "@channel @here": "@\u200bchannel @\u200bhere",
    "http://a.example/x": "http:\u200b//a.\u200bexample/x",
    "www.example.org, README.md": "www.\u200bexample.\u200borg, README.\u200bmd",
    "Qwen-2.5 3B. It: // ends.": "Qwen-2.5 3B. It: // ends.",
    "<https://a.example|b>": "&lt;https:\u200b//a.\u200bexample|b&gt;",
    "a\n<!everyone>\x1b": "a &lt;!everyone&gt;\ufffd",
}
IN_DISCORD = {
    "@everyone @here <@1> <@&2> <#3>": r"\@everyone \@here \<\@1\> \<\@&2\> \<\#3\>",
    "**B** [x](y) ||z|| `c`": r"\*\*B\*\* \[x\]\(y\) \|\|z\|\| \`c\`",
    "https://a.example": r"https\://a.example",
    "\\<https://a.example>": r"\\\<https\://a.example\>",
}


def test_nothing_that_people_wrote_is_a_mention_or_a_link(subtests: pytest.Subtests) -> None:
    for written, sent in IN_SLACK.items():
        with subtests.test(msg=f"Slack: {written}"):
            found, _ = message("slack", FLIP | {"text": written})
            assert f"“{sent}”" in found["text"]
            assert found["text"].count("<") == 1
    for written, sent in IN_DISCORD.items():
        with subtests.test(msg=f"Discord: {written}"):
            found, _ = message("discord", FLIP | {"text": written})
            assert found["allowed_mentions"] == {"parse": []}
            assert f"“{sent}”" in found["content"]
            assert found["content"].endswith(f"\n<{PAGE}>")


CHATS = (
    ("slack", "text", SLACK_LONGEST, "([^&]|&amp;)*"),
    ("discord", "content", DISCORD_LONGEST, r"([^\\]|\\[^a-z…])*"),
)


def test_a_chat_is_sent_no_more_than_it_takes(subtests: pytest.Subtests) -> None:
    long = ("&" * 50_000, "@" * 50_000, "a" * 50_000, "é“" * 20_000, "\\" * 9_000)
    for (format_, field, longest, whole), text in product(CHATS, long):
        with subtests.test(msg=f"{format_}: {text[:2]}"):
            found, _ = message(format_, FLIP | {"text": text, "verdict": text, "before": text})
            assert len(found[field]) <= longest
            head, _, address = found[field].partition("\n")
            assert address == f"<{PAGE}>"
            assert re.fullmatch(whole, head)


def test_data_that_is_too_long_is_left_out() -> None:
    for format_ in ("standard", "cloudevents"):
        assert "text" not in message(format_, {"text": "é" * 20_000})[0]["data"]


def test_the_address_of_what_has_none_is_its_project_or_the_registry() -> None:
    found, _ = message("standard", {}, subject="")
    assert found["data"]["url"] == "https://results.example/api/v1/projects/demo"
    chat, _ = message("slack", {}, subject="")
    assert chat["text"].endswith("removed for good)\n<https://results.example/projects/demo/events?before=13>")
    ranked = {"experiment": "é" * 200, "metric": "m"}
    assert message("discord", ranked, "ranking.changed")[0]["content"].endswith("\n<https://results.example>")


def test_a_signature_is_that_of_the_specification_and_each_secret_signs() -> None:
    """The secret, message and signature that the specification's libraries test themselves with, and a vector that was
    made without our code (openssl dgst -sha256 -mac HMAC)."""
    first, second = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
    message = "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}'
    signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    assert sign([first], *message) == signature
    assert sign([second, first], *message) == f"v1,O4Gjv1HqPqsMrjmczoggs/sWA8gZD0VyHG+fLh4+ktI= {signature}"


@pytest.fixture(scope="module")
def document(house: House) -> Any:
    return house.call("GET", "/openapi.json").get_json()


def test_the_example_is_what_is_sent_and_the_answers_have_a_meaning(document: Any) -> None:
    described = document["webhooks"]["event"]["post"]
    data = {"baseline": "main", "version": 2}
    at = datetime(2026, 11, 21, 8, tzinfo=UTC)
    webhook, subject = SimpleNamespace(format="standard"), "projects/demo/baselines/main"
    sending = Sending(UUID(int=7), UUID(int=8), "baseline.set", at, subject, 17, data, 1, webhook, "demo")
    sent = body_of(sending, "https://results.example")
    assert json.loads(sent.content) == described["requestBody"]["content"][sent.media]["example"]
    assert {"2XX", "410", "429", "503", "default"} == set(described["responses"])


@pytest.mark.parametrize("format_", ["standard", "cloudevents"])
def test_a_receiver_gets_the_headers_and_the_body_that_are_described(
    document: Any, hooks: Hooks, receiver: Receiver, format_: str
) -> None:
    described = document["webhooks"]["event"]["post"]
    webhook = hooks.add(receiver.url, format=format_)
    hooks.call("POST", f"/{webhook['id']}/rotate")
    hooks.tell(1, benchmark="Q")
    hooks.call("POST", f"/{webhook['id']}/test")
    hooks.send()
    assert {one.document["type"].removeprefix("org.results-registry.") for one in receiver.received} == {
        TEST, "grid.published",
    }  # fmt: skip
    for one in receiver.received:
        schema = described["requestBody"]["content"][one.headers["Content-Type"].partition(";")[0]]["schema"]
        validator = Draft202012Validator({**schema, "components": document["components"]})
        assert [error.message for error in validator.iter_errors(one.document)] == []
        assert not validator.is_valid({**one.document, "data": 1})
        for header in described["parameters"]:
            assert re.fullmatch(header["schema"].get("pattern", ".+"), one.headers[header["name"]])


def test_generators_of_clients_are_told_nothing_of_it(house: House) -> None:
    view = house.call("GET", "/openapi.json?view=client").get_json()
    assert "webhooks" not in view
    assert "WebhookMessage" not in view["components"]["schemas"]
