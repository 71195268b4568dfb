"""Who may come in at all: by a name of the service, not too often, and from no page of another origin."""

import base64
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask

from registry.api.request_policy import RequestPolicy
from registry.api.shapes.headers import HEADERS
from registry.errors import Misconfigured
from registry.local.processes import refuse_if_open
from registry.settings import Settings
from tests.house import House, Project

Ruled = Callable[..., Flask]
EVERYWHERE = "0.0.0.0"  # noqa: S104 (nothing is bound)
SLOWLY = {"token_rate": 0.001, "address_rate": 0.001, "failure_rate": 0.001}
"""Nothing comes back while a test runs."""


@pytest.fixture
def ruled(house: House) -> Iterator[Ruled]:
    """The application under the policy of other settings: another application would take longer."""
    usual = house.app.extensions["registry"]
    policy = dict(vars(usual.policy))

    def ruled(**changes: Any) -> Flask:
        settings = replace(house.settings, **changes)
        vars(usual.policy).update(vars(RequestPolicy(settings)))
        house.app.extensions["registry"] = replace(usual, settings=settings)
        return house.app

    yield ruled
    vars(usual.policy).update(policy)
    house.app.extensions["registry"] = usual


def get(app: Flask, path: str = "/api/v1/limits", **headers: str) -> Any:
    return app.test_client().get(path, headers={name.replace("_", "-"): text for name, text in headers.items()})


OTHERS = [
    "evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "10.0.0.9", "[::2]",
    "127.0.0.1:x@evil.example", "127.0.0.1:80@evil.example", "[::1", "[::1]evil.example", "127.0.0.1/evil",
    "localhost:123456", "",
]  # fmt: skip


def test_the_names_of_the_service_are_served_and_others_misdirected(ruled: Ruled, subtests: pytest.Subtests) -> None:
    app = ruled(public_url="https://results.example.org/", hosts="results, grids.local")
    named = ["localhost", "LOCALHOST:8080", "127.0.0.1:1", "[::1]:8080", "results.example.org", "grids.local:8080"]
    for host in named:
        with subtests.test(host):
            assert get(app, Host=host).status_code == 200
    for host in OTHERS:
        with subtests.test(host):
            answer = get(app, Host=host)
            assert (answer.status_code, answer.content_type) == (421, "application/problem+json")
            assert answer.headers["X-Content-Type-Options"] == "nosniff"
    everywhere = ruled(host=EVERYWHERE)
    assert get(everywhere, Host="10.0.0.9:8080").status_code == 200, "on every interface addresses are names"
    assert get(everywhere, Host="rebound.example").status_code == 421


def test_a_redirection_stays_on_the_service_whatever_it_is_called(ruled: Ruled) -> None:
    client = ruled(hosts="*").test_client()
    for path in ("/api/v1//limits?a=b", "//api/v1/limits", "///evil.example//limits"):
        moved = client.get(path, base_url="http://evil.example/")
        assert moved.status_code in (308, 404)
        if moved.status_code == 308:
            place = moved.headers["Location"]
            assert (place.startswith("/"), place.startswith("//")) == (True, False), place


def test_what_watches_the_service_is_neither_counted_nor_asked_for_the_name(ruled: Ruled) -> None:
    app = ruled(address_burst=1, **SLOWLY)
    for path in ("/healthz", "/readyz", "/metrics"):
        assert [get(app, path, Host="web").status_code for _ in range(3)] == [200] * 3


def test_an_address_that_asks_too_often_is_told_when_to_come_back(ruled: Ruled) -> None:
    app = ruled(address_burst=3, address_rate=0.01)
    assert [get(app).status_code for _ in range(3)] == [200] * 3
    refused = get(app)
    assert (refused.status_code, refused.get_json()["type"]) == (429, "/docs#problem-too_many_requests")
    assert 80 <= int(refused.headers["Retry-After"]) <= 100


def test_a_good_token_has_a_limit_of_its_own_however_it_is_spelled(ruled: Ruled, project: Project) -> None:
    app, path = ruled(address_burst=2, token_burst=4, **SLOWLY), f"/api/v1/projects/{project.slug}"
    token = f"Bearer {project.tokens['reader']}"
    # The first request counts for the address: only then is the token known to be good.
    assert [get(app, path, Authorization=token).status_code for _ in range(4)] == [200] * 4
    assert get(app, path, Authorization=token).status_code == 429
    assert get(app, path, Authorization=f"Bearer {project.tokens['writer']}").status_code == 200
    token = project.tokens["reader"]
    spellings = [f"Bearer {token}", f"bearer {token}", f"Bearer    {token}"]
    spellings += [f"Basic {base64.b64encode(f'{user}:{token}'.encode()).decode()}" for user in ("", "u1", "u2")]
    app = ruled(address_burst=100, token_burst=3, **SLOWLY)
    assert [get(app, path, Authorization=one).status_code for one in spellings] == [200, 200, 200, 429, 429, 429]


def test_many_bad_tokens_close_the_door_to_unknown_ones_only(ruled: Ruled, project: Project) -> None:
    app = ruled(failure_burst=3, **SLOWLY)
    path, good = f"/api/v1/projects/{project.slug}", f"Bearer {project.tokens['reader']}"
    assert get(app, path, Authorization=good).status_code == 200
    guesses = [
        get(app, path, Authorization=f"Bearer {project.tokens['writer'][:-1]}{end}").status_code for end in "+-*/"
    ]
    assert guesses == [401, 401, 401, 429]
    assert get(app, path, Authorization=good).status_code == 200
    assert get(app, path, Authorization=f"Bearer {project.tokens['writer']}").status_code == 429


def test_behind_a_proxy_the_address_is_what_the_proxy_saw(ruled: Ruled) -> None:
    app = ruled(proxies=1, address_burst=1, **SLOWLY)
    assert get(app, X_Forwarded_For="forged, 10.0.0.1").status_code == 200
    assert get(app, X_Forwarded_For="another, 10.0.0.1").status_code == 429
    assert get(app, X_Forwarded_For="10.0.0.2").status_code == 200
    direct = ruled(address_burst=1, **SLOWLY)
    assert get(direct, X_Forwarded_For="10.0.0.1").status_code == 200
    assert get(direct, X_Forwarded_For="10.0.0.2").status_code == 429, "a client chose its own address"


def test_the_limits_are_those_of_the_settings_and_a_rate_of_nothing_is_none(ruled: Ruled) -> None:
    app = ruled(token_rate=7, token_burst=9, request_timeout=8.5, address_rate=0, address_burst=0)
    limits = get(app).get_json()
    assert limits["rates"]["token"] == {"per_second": 7, "burst": 9}
    assert (limits["rates"]["address"], limits["request_seconds"], limits["max_cells"]) == (None, 8.5, 1_000_000)
    assert {get(app).status_code for _ in range(20)} == {200}


def test_pages_of_other_origins_read_nothing_unless_they_are_listed(ruled: Ruled) -> None:
    stranger = get(ruled(), Origin="https://evil.example")
    assert not [name for name, _ in stranger.headers if name.startswith("Access-Control")]
    app = ruled(cors_origins="https://lab.example, https://wall.example")
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


def test_pages_of_listed_origins_read_every_header_that_is_described(ruled: Ruled) -> None:
    app = ruled(cors_origins="https://wall.example")
    told = get(app, Origin="https://wall.example").headers["Access-Control-Expose-Headers"].split(", ")
    assert not HEADERS.keys() - set(told)


def test_every_answer_has_safe_headers_and_no_cookie(house: House) -> None:
    for path in ("/api/v1/limits", "/api/v1/nowhere", "/api/v1/projects", "/docs", "/healthz"):
        headers = get(house.app, path).headers
        assert headers["X-Content-Type-Options"] == "nosniff", path
        assert headers["Referrer-Policy"] in ("no-referrer", "same-origin"), path
        assert "unsafe" not in headers["Content-Security-Policy"], path
        assert "Set-Cookie" not in headers, path


def test_without_an_administrator_only_loopback_is_listened_on(settings: Settings, own_database_url: str) -> None:
    own = replace(settings, database_url=own_database_url)
    refuse_if_open(own)
    refuse_if_open(replace(own, host=EVERYWHERE, proxies=1))
    with pytest.raises(Misconfigured, match=r"0\.0\.0\.0"):
        refuse_if_open(replace(own, host=EVERYWHERE))
