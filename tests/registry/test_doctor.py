"""`registry doctor` finds missing processes, settings that contradict each other, and ways in for everybody."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from redis import ResponseError
from sqlalchemy import delete, insert, update

from registry.methods_version import METHODS_VERSION
from registry.operations import doctor_checks
from registry.operations.doctor import check_sign_in
from registry.operations.doctor_checks import check_exports, check_processes, check_settings
from registry.settings import Settings
from registry.storage.tables import new_id, processes, webhooks
from results_registry import __version__
from tests.house import House
from tests.ports import free_port

HEADER = "X-Auth-Request-Email"


def found(house: House, *rows: dict[str, object]) -> dict[str, tuple[str, str, str]]:
    """State, finding and advice by the name of each check, when these processes and no others report, and no webhook
    waits."""
    usual = {"host": "h1", "pid": 7, "version": __version__, "methods_version": METHODS_VERSION, "broker_up": None}
    with house.database.transaction() as connection:
        connection.execute(delete(processes))
        connection.execute(update(webhooks).values(state="disabled"))
        for row in rows:
            connection.execute(insert(processes).values(usual | {"id": new_id()} | row))
        told = {one.name: (one.state, one.found, one.advice) for one in check_processes(connection, 1)}
        connection.execute(delete(processes))
    return told


def test_each_process_that_is_missing_or_of_another_release_is_named(house: House) -> None:
    whole = [{"role": "dispatcher", "broker_up": True}, {"role": "worker"}, {"role": "worker", "host": "h2"}]
    told = found(house, *whole)
    assert {state for state, _, _ in told.values()} == {"good"}
    assert (told["workers"][1], told["versions"][1]) == ("2 on h1, h2", __version__)
    state, said, advice = found(house)["dispatcher"]
    assert (state, said) == ("bad", "none ever reported")
    assert "registry dispatch" in advice
    told = found(house, {"role": "dispatcher", "broker_up": False}, {"role": "inline-worker"})
    assert told["workers"][:2] == ("doubtful", "only the inline worker")
    assert told["broker of dispatcher"][0] == "doubtful"
    for column, state in (("version", "doubtful"), ("methods_version", "bad")):
        told = found(house, {"role": "dispatcher"}, {"role": "worker", "host": "old", "pid": 42, column: "0.0.1"})
        assert told["versions"][0] == state
        assert "on old (worker 42)" in told["versions"][1]
    assert found(house, {"role": "worker", "methods_version": "0.0.1"})["versions"][0] == "doubtful"


@pytest.mark.parametrize(
    ("said", "advice"),
    [
        ("MISCONF Errors writing to the AOF file: No space left on device", "make room"),
        ("command not allowed when used memory > 'maxmemory'.", "raise its maxmemory"),
        ("WRONGPASS invalid username-password pair or user is disabled.", "password in REGISTRY_REDIS_URL is wrong"),
        ("HELLO must be called with the client already authenticated", "password in REGISTRY_REDIS_URL is wrong"),
    ],
)
def test_a_broker_that_refuses_has_its_advice(said: str, advice: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        def ping(self) -> None:
            raise ResponseError(said)

    monkeypatch.setattr(doctor_checks, "redis_client", lambda _settings: Full())
    [told] = doctor_checks.check_broker(Settings())
    assert (told.name, told.state, advice in told.advice, "ACL" in told.advice) == ("redis", "bad", True, False)


def states(**changes: Any) -> dict[str, str]:
    """The state of each subject with these settings; nothing listens at the public addresses."""
    return {one.name: one.state for one in check_settings(replace(Settings(), **changes))}


def test_the_defaults_are_good(tmp_path: Path) -> None:
    assert set(states(home=tmp_path, exports=str(tmp_path)).values()) == {"good"}


NOBODY = f"http://127.0.0.1:{free_port()}"
CONTRADICTIONS: list[tuple[dict[str, Any], str, str]] = [
    ({"public_url": "https://results.example/registry"}, "public url", "bad"),
    ({"host": "0.0.0.0"}, "public url", "doubtful"),  # noqa: S104
    ({"public_url": "http://results.example"}, "public url", "doubtful"),
    ({"public_url": NOBODY, "proxies": 1}, "public url", "doubtful"),
    ({"public_url": NOBODY}, "proxies", "bad"),
    ({"proxies": 1}, "proxies", "doubtful"),
    ({"public_url": NOBODY, "proxies": 1}, "proxies", "good"),
]


def test_a_contradiction_is_named(subtests: pytest.Subtests) -> None:
    for changes, subject, state in CONTRADICTIONS:
        with subtests.test(**changes):
            assert states(**changes)[subject] == state


@contextmanager
def answering(status: int) -> Iterator[str]:
    """A service that answers everything with this status."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status)
            self.end_headers()

        def log_message(self, *_words: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_the_public_address_is_asked_as_users_ask_it() -> None:
    for status, state in ((200, "good"), (421, "bad"), (401, "doubtful")):
        with answering(status) as address:
            assert states(public_url=address, proxies=1)["public url"] == state, status


def test_exports_need_room_and_a_directory_that_can_be_written(tmp_path: Path) -> None:
    assert check_exports(tmp_path / "later", 1024).state == "good"
    assert check_exports(tmp_path, 1 << 60).state == "doubtful"
    assert check_exports(Path("/proc/exports"), 1024).state == "bad"


SIGN_IN: list[tuple[dict[str, str], str, str]] = [
    ({"proxy_user_header": HEADER}, "bad", "believed from nobody"),
    ({"proxy_addresses": "10.0.0.1"}, "bad", "without a header"),
    ({"proxy_user_header": HEADER, "proxy_addresses": "10.0.0.1, 0.0.0.0/0"}, "bad", "0.0.0.0/0"),
    ({"proxy_user_header": HEADER, "proxy_addresses": "0.0.0.0/0", "proxy_secret": "s"}, "good", HEADER),
    ({"proxy_user_header": HEADER, "proxy_addresses": "10.0.0.1"}, "good", "10.0.0.1"),
    ({"oidc_issuer": "https://id.example.org"}, "bad", "half configured"),
]


def test_a_way_to_sign_in_that_lets_nobody_in_or_everybody_is_named(subtests: pytest.Subtests) -> None:
    assert list(check_sign_in(Settings())) == [], "where only tokens sign in there is nothing to check"
    for given, state, word in SIGN_IN:
        with subtests.test(word, **given):
            [found] = check_sign_in(Settings(**given))
            assert (found.state, bool(found.advice)) == (state, state != "good")
            assert word in found.found
    with socket.socket() as bound:  # bound and not listening: refused at once
        bound.bind(("127.0.0.1", 0))
        issuer = f"http://127.0.0.1:{bound.getsockname()[1]}"
        [found] = check_sign_in(Settings(oidc_issuer=issuer, oidc_client_id="registry"))
    assert found.state == "bad"
    assert issuer in found.found
