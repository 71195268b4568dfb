"""What is sent is accepted by the libraries of Standard Webhooks, for Python and for JavaScript."""

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

from tests.workers.webhooks.conftest import Hooks, hooks, inner_house, receiver
from tests.workers.webhooks.receiver import Received, Receiver

HERE = Path(__file__).parent
__all__ = ["hooks", "inner_house", "receiver"]


def in_python(secret: str, one: Received) -> Any:
    return Webhook(secret).verify(one.body, {name.lower(): value for name, value in one.headers.items()})


def in_javascript(secret: str, one: Received) -> Any:
    if not (HERE / "node_modules").is_dir():
        pytest.skip("needs node and the library: npm ci --prefix tests/live/clients/webhooks")
    headers = {name.lower(): value for name, value in one.headers.items()}
    sent = json.dumps({"secret": secret, "body": one.body.decode(), "headers": headers})
    ended = subprocess.run(
        ["node", str(HERE / "verify.mjs")], input=sent, capture_output=True, text=True, check=False, timeout=60
    )
    if ended.returncode:
        raise WebhookVerificationError(ended.stderr)
    return json.loads(ended.stdout)


LIBRARIES = {"python": in_python, "javascript": in_javascript}


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_library_of_the_specification_verifies_what_is_sent(hooks: Hooks, receiver: Receiver, library: str) -> None:
    verify = LIBRARIES[library]
    webhook = hooks.add(receiver.url)
    hooks.tell(1, model="Qwen–2.5 “3B”")
    hooks.send()
    [one] = receiver.received
    payload: Mapping[str, Any] = verify(webhook["secret"], one)
    assert (payload["type"], payload["data"]["number"]) == ("grid.published", 1)
    other = Received(one.path, one.headers, one.body.replace(b'"number":1', b'"number":2'))
    with pytest.raises(WebhookVerificationError):
        verify(webhook["secret"], other)


@pytest.mark.parametrize("library", LIBRARIES)
def test_both_secrets_verify_for_a_day_after_a_rotation(hooks: Hooks, receiver: Receiver, library: str) -> None:
    verify = LIBRARIES[library]
    webhook = hooks.add(receiver.url)
    rotated = hooks.call("POST", f"/{webhook['id']}/rotate").get_json()
    hooks.tell(1)
    hooks.send()
    for secret in (webhook["secret"], rotated["secret"]):
        assert verify(secret, receiver.received[0])["data"]["number"] == 1
    hooks.change(webhook["id"], former_until=func.now())
    hooks.tell(2)
    hooks.send()
    assert verify(rotated["secret"], receiver.received[1])["data"]["number"] == 2
    with pytest.raises(WebhookVerificationError):
        verify(webhook["secret"], receiver.received[1])
