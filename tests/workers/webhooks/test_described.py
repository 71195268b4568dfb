"""What the OpenAPI document says that a receiver is sent is what it is sent."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
from openapi_schema_validator import OAS31Validator

from registry.results.webhooks import TEST
from tests.house import House
from tests.workers.webhooks.conftest import Hooks
from tests.workers.webhooks.receiver import Receiver
from workers.webhooks.bodies import body_of
from workers.webhooks.lines import Sending


@pytest.fixture(scope="module")
def document(house: House) -> dict[str, Any]:
    found: dict[str, Any] = house.call("GET", "/openapi.json").get_json()
    return found


@pytest.fixture(scope="module")
def described(document: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = document["webhooks"]["event"]["post"]
    return found


def faults(document: dict[str, Any], media: str, body: Any) -> list[str]:
    content = document["webhooks"]["event"]["post"]["requestBody"]["content"]
    schema = {**content[media]["schema"], "components": document["components"]}
    return [error.message for error in OAS31Validator(schema).iter_errors(body)]


def test_the_example_is_what_is_sent(described: dict[str, Any]) -> None:
    data = {"baseline": "main", "version": 2}
    at = datetime(2026, 11, 21, 8, tzinfo=UTC)
    webhook = SimpleNamespace(format="standard")
    sending = Sending(
        UUID(int=7), UUID(int=8), "baseline.set", at, "projects/demo/baselines/main", 17, data, 1, webhook, "demo"
    )
    sent = body_of(sending, "https://results.example")
    content = described["requestBody"]["content"]
    assert json.loads(sent.content) == content[sent.media]["example"]


@pytest.mark.parametrize("format_", ["standard", "cloudevents"])
def test_a_receiver_gets_the_headers_and_the_body_that_are_described(
    document: dict[str, Any], described: dict[str, Any], hooks: Hooks, receiver: Receiver, format_: str
) -> None:
    webhook = hooks.add(receiver.url, format=format_)
    hooks.call("POST", f"/{webhook['id']}/rotate")
    hooks.tell(1, benchmark="Q")
    hooks.call("POST", f"/{webhook['id']}/test")
    hooks.send()
    assert len(receiver.received) == 2
    for one in receiver.received:
        media = one.headers["Content-Type"].partition(";")[0]
        assert faults(document, media, one.document) == []
        assert faults(document, media, {**one.document, "data": 1}) != []
        for header in described["parameters"]:
            sent = one.headers[header["name"]]
            assert re.fullmatch(header["schema"].get("pattern", ".+"), sent)
    assert {one.document["type"].removeprefix("org.results-registry.") for one in receiver.received} == {
        TEST,
        "grid.published",
    }


def test_what_an_answer_means_is_described(described: dict[str, Any]) -> None:
    assert {"2XX", "410", "429", "503", "default"} == set(described["responses"])


def test_generators_of_clients_are_told_nothing_of_it(house: House) -> None:
    view = house.call("GET", "/openapi.json?view=client").get_json()
    assert "webhooks" not in view
    assert "WebhookMessage" not in view["components"]["schemas"]
