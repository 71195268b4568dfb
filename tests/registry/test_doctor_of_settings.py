"""`registry doctor` finds settings that contradict each other, the address that users type, or the machine."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from registry.operations.doctor_of_settings import check_exports, check_settings
from registry.settings import Settings
from tests.ports import free_port


def states(**changes: Any) -> dict[str, str]:
    """The state of each subject with these settings; nothing listens at the public addresses."""
    return {one.name: one.state for one in check_settings(replace(Settings(), **changes))}


def test_the_defaults_are_good(tmp_path: Path) -> None:
    assert set(states(home=tmp_path, exports=str(tmp_path)).values()) == {"good"}


NOBODY = f"http://127.0.0.1:{free_port()}"


@pytest.mark.parametrize(
    ("changes", "subject", "state"),
    [
        ({"public_url": "results.example"}, "public url", "bad"),
        ({"public_url": "https://results.example/registry"}, "public url", "bad"),
        ({"host": "0.0.0.0"}, "public url", "doubtful"),  # noqa: S104
        ({"public_url": "http://results.example"}, "public url", "doubtful"),
        ({"public_url": NOBODY, "proxies": 1}, "public url", "doubtful"),
        ({"public_url": NOBODY}, "proxies", "bad"),
        ({"proxies": 1}, "proxies", "doubtful"),
        ({"public_url": NOBODY, "proxies": 1}, "proxies", "good"),
        ({"hosts": "https://results.example"}, "names", "bad"),
        ({"hosts": "a.example, *"}, "names", "doubtful"),
        ({"cors_origins": "*"}, "names", "bad"),
        ({"cors_origins": "https://wiki.example/"}, "names", "bad"),
        ({"hosts": "a.example", "cors_origins": "https://wiki.example"}, "names", "good"),
        ({"statement_timeout": 20.0}, "times", "doubtful"),
        ({"max_wait": 60, "proxies": 1}, "times", "doubtful"),
        ({"max_wait": 60}, "times", "good"),
        ({"home": Path("/proc/home")}, "home", "doubtful"),
    ],
)
def test_a_contradiction_is_named(changes: dict[str, Any], subject: str, state: str) -> None:
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
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize(("status", "state"), [(200, "good"), (421, "bad"), (401, "doubtful")])
def test_the_public_address_is_asked_as_users_ask_it(status: int, state: str) -> None:
    with answering(status) as address:
        assert states(public_url=address, proxies=1)["public url"] == state


def test_exports_need_room_and_a_directory_that_can_be_written(tmp_path: Path) -> None:
    assert check_exports(tmp_path / "later", 1024).state == "good"
    assert check_exports(tmp_path, 1 << 60).state == "doubtful"
    assert check_exports(Path("/proc/exports"), 1024).state == "bad"
