"""`registry doctor` finds a way to sign in that lets nobody in, or everybody."""

from __future__ import annotations

import socket

import pytest

from registry.operations.doctor import check_sign_in
from registry.settings import Settings

HEADER = "X-Auth-Request-Email"


@pytest.mark.parametrize(
    ("given", "state", "word"),
    [
        ({"proxy_user_header": HEADER}, "bad", "believed from nobody"),
        ({"proxy_addresses": "10.0.0.1"}, "bad", "without a header"),
        ({"proxy_user_header": HEADER, "proxy_addresses": "10.0.0.1, 0.0.0.0/0"}, "bad", "0.0.0.0/0"),
        ({"proxy_user_header": HEADER, "proxy_addresses": "0.0.0.0/0", "proxy_secret": "s"}, "good", HEADER),
        ({"proxy_user_header": HEADER, "proxy_addresses": "10.0.0.1"}, "good", "10.0.0.1"),
        ({"oidc_issuer": "https://id.example.org"}, "bad", "half configured"),
    ],
)
def test_each_misconfiguration_is_named(given: dict[str, str], state: str, word: str) -> None:
    [found] = check_sign_in(Settings(**given))
    assert (found.state, bool(found.advice)) == (state, state != "good")
    assert word in found.found


def test_where_only_tokens_sign_in_there_is_nothing_to_check() -> None:
    assert list(check_sign_in(Settings())) == []


def test_a_provider_that_does_not_answer_is_bad() -> None:
    with socket.socket() as bound:  # bound and not listening: refused at once
        bound.bind(("127.0.0.1", 0))
        issuer = f"http://127.0.0.1:{bound.getsockname()[1]}"
        [found] = check_sign_in(Settings(oidc_issuer=issuer, oidc_client_id="registry"))
    assert found.state == "bad"
    assert issuer in found.found
