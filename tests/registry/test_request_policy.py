"""Who may come in at all: by a name of the service, not too often, and from no page of another origin."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask

from registry import create_app
from registry.errors import Misconfigured
from registry.local.processes import refuse_if_open
from registry.settings import Settings
from registry.storage.database import Database
from tests.house import Project

Made = Callable[..., Flask]
EVERYWHERE = "0.0.0.0"  # noqa: S104 (nothing is bound)
SLOWLY = {"token_rate": 0.001, "address_rate": 0.001, "failure_rate": 0.001}
"""Nothing comes back while a test runs."""


@pytest.fixture
def made(settings: Settings) -> Made:
    """An application with other settings."""
    return lambda **changes: create_app(replace(settings, **changes))


def get(app: Flask, path: str = "/api/v1/limits", **headers: str) -> Any:
    return app.test_client().get(path, headers={name.replace("_", "-"): text for name, text in headers.items()})


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8080", "127.0.0.1:1", "[::1]:8080", "results.example.org"])
def test_the_names_of_the_service_are_served(made: Made, host: str) -> None:
    assert get(made(public_url="https://results.example.org/"), Host=host).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "127.0.0.1.evil.example",
        "localhost.evil.example:80",
        "10.0.0.9",
        "[::2]",
        "127.0.0.1:x@evil.example",
        "127.0.0.1:80@evil.example",
        "[::1",
        "[::1]evil.example",
        "127.0.0.1/evil",
        "localhost:123456",
        "",
    ],
)
def test_another_name_is_misdirected(made: Made, host: str) -> None:
    answer = get(made(), Host=host)
    assert answer.status_code == 421
    assert answer.content_type == "application/problem+json"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize("path", ["/api/v1//limits?a=b", "//api/v1/limits", "///evil.example//limits"])
def test_a_redirection_stays_on_the_service_whatever_it_is_called(made: Made, path: str) -> None:
    moved = made(hosts="*").test_client().get(path, base_url="http://evil.example/")
    assert moved.status_code in (308, 404)
    if moved.status_code == 308:
        place = moved.headers["Location"]
        assert place.startswith("/")
        assert not place.startswith("//")


def test_names_can_be_listed_and_on_every_interface_addresses_are_names(made: Made) -> None:
    assert get(made(hosts="results, grids.local"), Host="grids.local:8080").status_code == 200
    everywhere = made(host=EVERYWHERE)
    assert get(everywhere, Host="10.0.0.9:8080").status_code == 200
    assert get(everywhere, Host="rebound.example").status_code == 421


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics"])
def test_what_watches_the_service_is_neither_counted_nor_asked_for_the_name(made: Made, path: str) -> None:
    app = made(address_burst=1, **SLOWLY)
    assert [get(app, path, Host="web").status_code for _ in range(5)] == [200] * 5


def test_an_address_that_asks_too_often_is_told_when_to_come_back(made: Made) -> None:
    app = made(address_burst=3, address_rate=0.5)
    assert [get(app).status_code for _ in range(3)] == [200] * 3
    refused = get(app)
    assert refused.status_code == 429
    assert refused.get_json()["type"] == "/docs#problem-too_many_requests"
    assert 1 <= int(refused.headers["Retry-After"]) <= 2


def test_a_good_token_has_a_limit_of_its_own(made: Made, project: Project) -> None:
    app = made(address_burst=2, token_burst=4, **SLOWLY)
    path, token = f"/api/v1/projects/{project.slug}", f"Bearer {project.tokens['reader']}"
    # The first request counts for the address: only then is the token known to be good.
    assert [get(app, path, Authorization=token).status_code for _ in range(4)] == [200] * 4
    assert get(app, path, Authorization=token).status_code == 429
    assert get(app, path, Authorization=f"Bearer {project.tokens['writer']}").status_code == 200


def test_a_token_has_one_limit_however_it_is_spelled(made: Made, project: Project) -> None:
    token = project.tokens["reader"]
    spellings = [f"Bearer {token}", f"bearer {token}", f"Bearer    {token}"]
    spellings += [f"Basic {base64.b64encode(f'{user}:{token}'.encode()).decode()}" for user in ("", "u1", "u2")]
    app = made(address_burst=100, token_burst=3, **SLOWLY)
    path = f"/api/v1/projects/{project.slug}"
    assert [get(app, path, Authorization=one).status_code for one in spellings] == [200, 200, 200, 429, 429, 429]


def test_many_bad_tokens_close_the_door_to_unknown_ones_only(made: Made, project: Project) -> None:
    app = made(failure_burst=3, **SLOWLY)
    path, good = f"/api/v1/projects/{project.slug}", f"Bearer {project.tokens['reader']}"
    assert get(app, path, Authorization=good).status_code == 200
    guesses = [
        get(app, path, Authorization=f"Bearer {project.tokens['writer'][:-1]}{end}").status_code for end in "+-*/"
    ]
    assert guesses == [401, 401, 401, 429]
    assert get(app, path, Authorization=good).status_code == 200
    assert get(app, path, Authorization=f"Bearer {project.tokens['writer']}").status_code == 429


def test_behind_a_proxy_the_address_is_what_the_proxy_saw(made: Made) -> None:
    app = made(proxies=1, address_burst=1, **SLOWLY)
    assert get(app, X_Forwarded_For="forged, 10.0.0.1").status_code == 200
    assert get(app, X_Forwarded_For="another, 10.0.0.1").status_code == 429
    assert get(app, X_Forwarded_For="10.0.0.2").status_code == 200
    direct = made(address_burst=1, **SLOWLY)
    assert get(direct, X_Forwarded_For="10.0.0.1").status_code == 200
    assert get(direct, X_Forwarded_For="10.0.0.2").status_code == 429, "a client chose its own address"


def test_a_rate_of_nothing_is_no_limit(made: Made) -> None:
    app = made(address_rate=0, address_burst=0)
    assert get(app).get_json()["rates"]["address"] is None
    assert {get(app).status_code for _ in range(20)} == {200}


def test_the_limits_are_those_of_the_settings(made: Made) -> None:
    limits = get(made(token_rate=7, token_burst=9, request_timeout=8.5)).get_json()
    assert limits["rates"]["token"] == {"per_second": 7, "burst": 9}
    assert limits["request_seconds"] == 8.5
    assert limits["max_cells"] == 1_000_000


def test_pages_of_other_origins_read_nothing_unless_they_are_listed(made: Made) -> None:
    stranger = get(made(), Origin="https://evil.example")
    assert not [name for name, _ in stranger.headers if name.startswith("Access-Control")]
    app = made(cors_origins="https://lab.example, https://wall.example")
    listed = get(app, Origin="https://wall.example")
    assert listed.headers["Access-Control-Allow-Origin"] == "https://wall.example"
    assert "Origin" in listed.headers["Vary"]
    assert "Access-Control-Allow-Origin" not in get(app, Origin="https://evil.example").headers
    asked = app.test_client().options(
        "/api/v1/limits", headers={"Origin": "https://lab.example", "Access-Control-Request-Method": "GET"}
    )
    assert asked.status_code == 204
    assert "Authorization" in asked.headers["Access-Control-Allow-Headers"]
    assert "Access-Control-Allow-Credentials" not in asked.headers


@pytest.mark.parametrize("path", ["/api/v1/limits", "/api/v1/nowhere", "/api/v1/projects", "/docs", "/healthz"])
def test_every_answer_has_safe_headers_and_no_cookie(made: Made, path: str) -> None:
    answer = get(made(), path)
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Referrer-Policy"] in ("no-referrer", "same-origin")
    assert "unsafe" not in answer.headers["Content-Security-Policy"]
    assert "Set-Cookie" not in answer.headers


def test_without_an_administrator_only_loopback_is_listened_on(settings: Settings, own_database_url: str) -> None:
    own = replace(settings, database_url=own_database_url)
    database = Database(own, name="tests")
    refuse_if_open(own, database)
    with pytest.raises(Misconfigured, match=r"0\.0\.0\.0"):
        refuse_if_open(replace(own, host=EVERYWHERE), database)
    database.close()
