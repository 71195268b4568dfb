"""What the OpenAPI document says that a receiver is sent is what it is sent."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
from jsonschema import Draft202012Validator

from registry.results.webhooks import TEST
from tests.house import House
from tests.workers.webhooks.conftest import Hooks
from tests.workers.webhooks.receiver import Receiver
from workers.webhooks.attempts import body_of
from workers.webhooks.lines import Sending


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
