"""A correction is published, and whoever listens hears what it means: a claim flips and an alert opens, at a hook with
a signature and in a stream, whatever is killed on the way."""

import json
import time
from dataclasses import replace
from typing import Any

import pytest
from standardwebhooks.webhooks import Webhook

from tests.live.processes.system import PROJECT, Client, System, awaited
from tests.live.processes.test_event_streams import lines, stream
from tests.workers.webhooks.receiver import Receiver, receiving

TYPES = ["alert.opened", "claim.flipped"]
ABOUT = {"experiment": "corrections", "metric": "accuracy"}
NAMES: dict[str, Any] = {"experiment": "corrections", "benchmark": "X", "variant": "", "axes": [], "trials": 1_000}
CLAIM = {"kind": "value", "about": {**ABOUT, "model": "B"}, "is": {"number": 75.0, "op": ">="}}
POLICY = {"kind": "non_inferior", "margin": 2.0, "margin_unit": "points"}


@pytest.fixture
def telling(fragile: System) -> System:
    """A system to break whose webhooks may send to this machine."""
    for name in list(fragile.running):
        fragile.kill(name)
    fragile.settings = replace(fragile.settings, webhook_allow="127.0.0.0/8", webhook_schemes="https,http")
    fragile.start("worker", "dispatcher", "web")
    return fragile


def done(client: Client, method: str, path: str, sent: Any) -> Any:
    answer = client.call(method, f"projects/{PROJECT}/{path}", sent)
    assert answer.status in (200, 201), answer.body
    return answer.json


def prepared(client: Client, receiver: Receiver) -> str:
    """A true claim about B, a gate that B passes, and a webhook for what would end that; the webhook's secret."""
    for model in ("A", "B"):
        client.publish(**NAMES, model=model, values=80.0)
    claim = done(client, "POST", "claims", CLAIM)["id"]
    awaited(lambda: client.call("GET", f"claims/{claim}").json["verdict"] == "supported")
    done(client, "PUT", "baselines/main", {**ABOUT, "subject": {"model": "A"}, "policy": POLICY})
    # B stood there before the baseline, so only another revision of it is judged as a contender that alerts.
    client.publish(**NAMES, model="B", values=80.5)
    awaited(lambda: client.call("GET", f"projects/{PROJECT}/baselines/main/verdicts").json["items"])
    return str(done(client, "POST", "webhooks", {"url": receiver.url, "types": TYPES})["secret"])


def arrived(receiver: Receiver) -> bool:
    return {one.document["type"] for one in receiver.received} == set(TYPES)


def verified(receiver: Receiver, secret: str) -> dict[str, set[str]]:
    """The ids under which each type came, all with signatures that the specification's library accepts."""
    found: dict[str, set[str]] = {}
    for one in receiver.received:
        headers = {name.lower(): text for name, text in one.headers.items()}
        said = Webhook(secret).verify(one.body, headers)
        found.setdefault(said["type"], set()).add(headers["webhook-id"])
    return found


def test_a_correction_that_flips_a_claim_and_fails_a_gate_is_told_by_hook_and_stream(telling: System) -> None:
    client = telling.client()
    with receiving() as receiver, stream(telling.settings.port, telling.token) as told:
        secret = prepared(client, receiver)
        begun = time.monotonic()
        client.publish(**NAMES, model="B", values=60.0)
        awaited(lambda: arrived(receiver))
        print(f"told after {time.monotonic() - begun:.2f} s")
        events = (json.loads(line[6:]) for line in lines(told, b"data: "))
        in_stream: dict[str, set[str]] = {}
        while set(in_stream) != set(TYPES):
            event = next(events)
            if event["type"] in TYPES:
                in_stream.setdefault(event["type"], set()).add(event["id"])
                assert event["type"] != "claim.flipped" or event["data"]["verdict"] == "contradicted"
    assert verified(receiver, secret) == in_stream
