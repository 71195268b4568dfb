"""The client's HTTP: against a server that is ill on purpose, and against the registry itself."""

import copy
import gzip
import json
import logging
import os
import socket
import threading
import time
from collections.abc import Iterator
from email.utils import formatdate

import pytest

from results_registry import BadAddress, ClientError, NotAllowed, NotNow, NotThere, Refused, Transport, Unreachable
from tests.client.tiny import Reply, Tiny, tiny_server

SECRET = "rgs_0a1b2c3d_ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
KEY = {"Idempotency-Key": "k1"}


@pytest.fixture
def paused() -> list[float]:
    return []


@pytest.fixture
def transport(tiny: Tiny, paused: list[float]) -> Iterator[Transport]:
    made = Transport(tiny.url, SECRET, timeout=5)
    made._sleep = paused.append
    yield made
    made.close()


def test_requests_of_a_thread_share_one_connection(tiny: Tiny, transport: Transport) -> None:
    for _ in range(3):
        assert transport.get("projects") == {}
    assert len({seen.connection for seen in tiny.seen}) == 1
    assert tiny.seen[0].path == "/api/v1/projects"
    assert tiny.seen[0].headers["authorization"] == f"Bearer {SECRET}"


def test_a_connection_that_the_server_closed_meanwhile_is_made_anew(tiny: Tiny, transport: Transport) -> None:
    tiny.answer(Reply(headers={"Connection": "keep-alive"}))
    transport.get("projects")
    tiny.answer(Reply(None), Reply(body={"again": True}))
    assert transport.get("projects") == {"again": True}


def test_a_query_repeats_lists_and_leaves_out_none(tiny: Tiny, transport: Transport) -> None:
    transport.get("projects/demo/grids", model=["a b", "ü&"], limit=5, cursor=None, dry_run=True)
    assert tiny.seen[0].path == "/api/v1/projects/demo/grids?model=a+b&model=%C3%BC%26&limit=5&dry_run=true"


def test_pages_are_read_to_the_end(tiny: Tiny, transport: Transport) -> None:
    tiny.answer(Reply(body={"items": [1, 2], "next": "c"}), Reply(body={"items": [3], "next": None}))
    assert list(transport.pages("projects", sort="slug")) == [1, 2, 3]
    assert tiny.seen[1].path == "/api/v1/projects?sort=slug&limit=1000&cursor=c"


def test_large_bodies_travel_as_gzip_and_answers_are_inflated(tiny: Tiny, transport: Transport) -> None:
    tiny.answer(Reply(body=gzip.compress(b'{"n": 1}'), headers={"Content-Encoding": "gzip"}))
    answer = transport.call("POST", "projects/demo/grids", {"values": [1.5] * 5000}, headers=KEY)
    assert answer.json() == {"n": 1}
    assert tiny.seen[0].headers["content-encoding"] == "gzip"
    assert int(tiny.seen[0].headers["content-length"]) < 1000
    assert tiny.seen[0].json == {"values": [1.5] * 5000}


def test_a_body_cannot_hold_nan(transport: Transport) -> None:
    with pytest.raises(ValueError, match="Out of range float"):
        transport.call("POST", "projects/demo/grids", {"values": float("nan")})


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_an_answer_that_says_not_now_is_repeated(
    tiny: Tiny, transport: Transport, paused: list[float], status: int
) -> None:
    tiny.answer(Reply(status, headers={"Retry-After": "3"}), Reply(status), Reply(body={"done": True}))
    assert transport.call("POST", "x", {}, headers=KEY).json() == {"done": True}
    assert len(tiny.seen) == 3
    assert 3.0 <= paused[0] < 3.5
    assert 0 < paused[1] < 1.5
    assert [seen.headers["idempotency-key"] for seen in tiny.seen] == ["k1"] * 3


def test_a_date_in_retry_after_is_honoured(tiny: Tiny, transport: Transport, paused: list[float]) -> None:
    tiny.answer(Reply(503, headers={"Retry-After": formatdate(time.time() + 20, usegmt=True)}), Reply())
    transport.get("x")
    assert 18 <= paused[0] <= 23


def test_a_409_with_retry_after_is_repeated_and_one_without_is_not(tiny: Tiny, transport: Transport) -> None:
    tiny.answer(Reply(409, headers={"Retry-After": "1"}), Reply(409))
    with pytest.raises(Refused) as caught:
        transport.call("POST", "x", {}, headers=KEY)
    assert (caught.value.status, type(caught.value), len(tiny.seen)) == (409, Refused, 2)


def test_no_answer_is_awaited_longer_than_patience(tiny: Tiny, transport: Transport, paused: list[float]) -> None:
    tiny.answer(Reply(429, headers={"Retry-After": "3600"}))
    with pytest.raises(NotNow) as caught:
        transport.call("GET", "x", patience=2)
    assert (caught.value.status, caught.value.after, paused) == (429, 3600, [])


def test_a_write_without_a_key_is_not_repeated_unless_it_was_turned_away(tiny: Tiny, transport: Transport) -> None:
    tiny.answer(Reply(503), Reply())
    with pytest.raises(NotNow):
        transport.call("POST", "projects", {"slug": "a"})
    tiny.answer(Reply(None), Reply())
    with pytest.raises(Unreachable):
        transport.call("POST", "projects", {"slug": "a"})
    tiny.answer(Reply(429), Reply())
    transport.call("POST", "projects", {"slug": "a"})
    assert len(tiny.seen) == 4


def test_a_problem_becomes_an_exception_with_its_pointers(tiny: Tiny, transport: Transport) -> None:
    problem = {
        "title": "Not valid",
        "status": 422,
        "detail": "/values/0: has 2 entries",
        "instance": "urn:uuid:7",
        "errors": [{"pointer": "/values/0", "detail": "has 2 entries"}],
    }
    tiny.answer(Reply(422, problem, {"Content-Type": "application/problem+json"}))
    with pytest.raises(Refused) as caught:
        transport.call("POST", "x", {}, headers=KEY)
    error = caught.value
    assert (error.status, error.title, error.detail) == (422, "Not valid", "/values/0: has 2 entries")
    assert (error.errors, error.request_id) == ([("/values/0", "has 2 entries")], "urn:uuid:7")
    assert str(error) == "422: /values/0: has 2 entries"


def test_what_is_no_problem_document_is_still_an_exception(tiny: Tiny, transport: Transport) -> None:
    for body, kind in ((b"<html>", "text/html"), (b"{", "application/json"), (b"[]", "application/json")):
        tiny.answer(Reply(404, body, {"Content-Type": kind}))
        with pytest.raises(NotThere, match="404"):
            transport.get("x")


def test_a_status_has_its_kind_of_error(tiny: Tiny, transport: Transport) -> None:
    for status, kind in ((401, NotAllowed), (403, NotAllowed), (404, NotThere), (413, Refused)):
        tiny.answer(Reply(status))
        with pytest.raises(kind) as caught:
            transport.get("x")
        assert isinstance(caught.value, ClientError)


def test_an_error_can_be_copied_as_it_is_between_processes() -> None:
    error = copy.deepcopy(Refused(422, {"detail": "no", "errors": [{"pointer": "/a", "detail": "b"}]}))
    assert (error.status, error.detail, error.errors) == (422, "no", [("/a", "b")])
    later = copy.deepcopy(NotNow(429, {"detail": "later"}, 7))
    assert (later.status, later.after) == (429, 7)
    assert copy.deepcopy(Unreachable("gone")).detail == "gone"


def test_the_token_never_goes_to_another_origin(tiny: Tiny, transport: Transport) -> None:
    with tiny_server() as other:
        tiny.answer(Reply(307, headers={"Location": f"{other.url}/api/v1/x"}))
        with pytest.raises(BadAddress, match="redirects to another place"):
            transport.get("x")
        assert other.seen == []


def test_redirects_within_the_origin_are_followed_but_not_for_ever(tiny: Tiny, transport: Transport) -> None:
    tiny.answer(Reply(308, headers={"Location": "/api/v1/there?a=1"}), Reply(body={"method": "kept"}))
    assert transport.call("POST", "x", {"b": 1}, headers=KEY).json() == {"method": "kept"}
    assert (tiny.seen[1].method, tiny.seen[1].path, tiny.seen[1].json) == ("POST", "/api/v1/there?a=1", {"b": 1})
    tiny.answer(Reply(302, headers={"Location": "/api/v1/x"}))
    with pytest.raises(BadAddress, match="in a circle"):
        transport.get("x")
    with pytest.raises(BadAddress, match="redirects writes"):
        transport.call("POST", "x", {}, headers=KEY)


def test_the_token_stands_in_no_message_and_no_log(
    tiny: Tiny, transport: Transport, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    said = [repr(transport), str(vars(transport)["origin"])]
    tiny.answer(Reply(401, {"detail": "Who are you?"}))
    for answer in (Reply(401), Reply(None)):
        tiny.answer(answer)
        with pytest.raises(ClientError) as caught:
            transport.call("POST", "x", {}, headers={})
        said.append(str(caught.value) + repr(caught.value))
    with pytest.raises(BadAddress) as caught:
        Transport(tiny.url, SECRET + "\nX-Evil: 1")
    assert SECRET not in " ".join([*said, str(caught.value), caplog.text])


@pytest.mark.parametrize(
    "url", ["", "registry.example.org", "ftp://a", "http://", "http://u:p@host", "http://host:99999", "file:///etc"]
)
def test_what_is_no_address_is_said_at_once(url: str) -> None:
    with pytest.raises(BadAddress):
        Transport(url)


def test_a_registry_may_live_below_a_path(tiny: Tiny) -> None:
    transport = Transport(f"{tiny.url}/lab/registry/")
    transport.get("projects")
    transport.get("/healthz")
    assert [seen.path for seen in tiny.seen] == ["/lab/registry/api/v1/projects", "/lab/registry/healthz"]
    assert "authorization" not in tiny.seen[0].headers


def test_nobody_listening_is_an_error_after_four_attempts(paused: list[float]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        transport = Transport(f"http://127.0.0.1:{taken.getsockname()[1]}")
        transport._sleep = paused.append
        with pytest.raises(Unreachable, match="No answer from http://127"):
            transport.get("x")
    assert len(paused) == 3


def test_a_server_that_accepts_and_says_nothing_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:
        transport = Transport(f"http://127.0.0.1:{mute.getsockname()[1]}", timeout=0.2)
        begun = time.monotonic()
        with pytest.raises(Unreachable, match="took too long"):
            transport.call("GET", "x", patience=0.3)
        assert time.monotonic() - begun < 10


def test_an_answer_that_is_cut_off_is_no_answer(tiny: Tiny, transport: Transport) -> None:
    tiny.answer(Reply(body=b"{}", headers={"Content-Length": "20", "Connection": "close"}), Reply(body={"whole": 1}))
    assert transport.get("x") == {"whole": 1}


def test_large_answers_come_in_chunks(tiny: Tiny, transport: Transport) -> None:
    text = "".join(f"{number}\n" for number in range(100_000)).encode()
    tiny.answer(Reply(body=gzip.compress(text), headers={"Content-Encoding": "gzip", "Content-Type": "text/csv"}))
    with transport.stream("projects/demo/cells.csv") as (headers, chunks):
        assert headers["content-type"] == "text/csv"
        assert b"".join(chunks) == text
    tiny.answer(Reply(404))
    with pytest.raises(NotThere), transport.stream("nothing"):
        pass


def test_a_proxy_of_the_environment_is_used_and_loopback_never_proxied(
    tiny: Tiny, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", tiny.url.replace("//", "//me:secret@"))
    monkeypatch.delenv("no_proxy", raising=False)
    Transport("http://registry.example.org", SECRET).get("projects")
    assert tiny.seen[0].path == "http://registry.example.org/api/v1/projects"
    assert tiny.seen[0].headers["host"] == "registry.example.org"
    assert tiny.seen[0].headers["proxy-authorization"] == "Basic bWU6c2VjcmV0"
    Transport(tiny.url).get("projects")
    assert tiny.seen[1].path == "/api/v1/projects"


def test_threads_and_forked_children_use_connections_of_their_own(tiny: Tiny, transport: Transport) -> None:
    transport.get("x")
    thread = threading.Thread(target=lambda: (transport.get("x"), transport.close()))
    thread.start()
    thread.join()
    child = os.fork()
    if child == 0:
        try:
            transport.get("x")
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    transport.get("x")
    first, second, third, fourth = (seen.connection for seen in tiny.seen)
    assert first == fourth
    assert len({first, second, third}) == 3


def test_json_is_compact_and_keeps_every_character(tiny: Tiny, transport: Transport) -> None:
    transport.call("POST", "x", {"model": "Größe·模型"}, headers=KEY)
    assert tiny.seen[0].body == '{"model":"Größe·模型"}'.encode()
    assert json.loads(tiny.seen[0].body)["model"] == "Größe·模型"
