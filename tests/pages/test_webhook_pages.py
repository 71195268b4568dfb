"""Webhooks in the settings of a project: made, tested, rotated, disabled, removed, and what they were sent."""

from __future__ import annotations

import re

from tests.pages.conftest import Administrator, browser
from tests.workers.webhooks.conftest import Hooks, hooks, inner_house, receiver
from tests.workers.webhooks.receiver import Receiver, receiving

__all__ = ["hooks", "inner_house", "receiver"]


def test_a_webhook_is_made_and_its_secret_shown_once(hooks: Hooks, receiver: Receiver) -> None:
    settings = f"/projects/{hooks.project.slug}/settings/webhooks"
    admin = Administrator(browser(hooks.project.house, hooks.project.tokens["admin"]))
    assert "There is no webhook yet." in admin.browser.get(settings).text
    only = "model=a\nexperiment = x\nmodel=b"
    made = admin.send(settings, url=receiver.url, types="claim.*\ngrid.published", only=only, description="Ours")
    assert made.status_code == 303
    shown = admin.browser.get(made.headers["Location"]).text
    [secret] = re.findall(r"whsec_[A-Za-z0-9+/]{43}=", shown)
    assert secret not in admin.browser.get(made.headers["Location"]).text
    [webhook] = hooks.call("GET").get_json()["items"]
    assert (webhook["types"], webhook["format"]) == (["claim.*", "grid.published"], "standard")
    assert webhook["filter"] == {"model": ["a", "b"], "experiment": ["x"]}
    assert receiver.url in admin.browser.get(settings).text
    page = f"{settings}/{webhook['id']}"
    assert admin.send(page, f"{page}/rotate").status_code == 303
    [other] = re.findall(r"whsec_[A-Za-z0-9+/]{43}=", admin.browser.get(page).text)
    assert other != secret
    assert admin.send(page, f"{page}/disable").status_code == 303
    assert "It is disabled, and sent nothing." in admin.browser.get(page).text
    assert admin.send(page, f"{page}/enable").status_code == 303
    assert admin.send(page, f"{page}/remove").headers["Location"] == settings
    assert hooks.call("GET").get_json()["items"] == []


def test_what_a_webhook_was_sent_is_shown_and_sent_again(hooks: Hooks, receiver: Receiver) -> None:
    webhook = hooks.add(receiver.url)
    receiver.write = lambda out: out.write(b"HTTP/1.1 500 No\r\n\r\n<script>alert(1)</script>") and None
    hooks.tell(1)
    hooks.send()
    page = f"/projects/{hooks.project.slug}/settings/webhooks/{webhook['id']}"
    admin = Administrator(browser(hooks.project.house, hooks.project.tokens["admin"]))
    shown = admin.browser.get(page).text
    assert "answered 500" in shown
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown
    [one] = hooks.deliveries(webhook)
    assert admin.send(page, f"{page}/deliveries/{one['id']}").status_code == 303
    receiver.write = None
    assert admin.send(page, f"{page}/test").status_code == 303
    assert hooks.send() == 2
    assert [one.document["type"] for one in receiver.received[1:]] == ["webhook.test", "grid.published"]


def test_why_a_webhook_could_not_be_reached_is_shown_and_what_none_may_be_is_said_at_its_field(hooks: Hooks) -> None:
    with receiving() as closed:
        webhook = hooks.add(closed.url)
    hooks.tell(1)
    hooks.send()
    settings = f"/projects/{hooks.project.slug}/settings/webhooks"
    admin = Administrator(browser(hooks.project.house, hooks.project.tokens["admin"]))
    assert "unreachable: the connection was refused" in admin.browser.get(f"{settings}/{webhook['id']}").text
    for field, text in (("url", "https://10.0.0.1/"), ("types", "claim.fliped"), ("only", "secret=x"), ("only", "x")):
        given = {"url": "https://hooks.example.org/", "types": "*", "only": ""} | {field: text}
        answer = admin.send(settings, **given)
        assert answer.status_code == 422
        assert f'id="{field}-fault"' in answer.text
