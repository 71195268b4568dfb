"""Requests go only where they may, and nothing that a receiver does holds a thread or memory."""

import contextlib
import errno
import socket
import ssl
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from registry.destinations import Allowed, is_public, read_allowed, read_destination
from tests.workers.webhooks.receiver import Receiver, receiving
from workers.webhooks import transport
from workers.webhooks.transport import KEPT, MOST_READ, Answer, Sender, Unreachable

INNER = read_allowed("127.0.0.0/8", "https,http")
NOTHING = Allowed()
CURVE, PEM = ec.SECP256R1(), serialization.Encoding.PEM


NOWHERE = "no address that may be sent to"
"""Told of a name that does not resolve and of one whose address is not allowed alike."""


def sent(url: str, allowed: Allowed = INNER) -> Answer:
    with Sender() as sender:
        return sender.post(url, b"{}", {"Content-Type": "application/json"}, allowed)


def why(act: Callable[[], Answer]) -> str:
    """The reason that users are told why there was no answer."""
    with pytest.raises(Unreachable) as told:
        act()
    return told.value.reason


INNER_ADDRESSES = """
0.0.0.0 10.1.2.3 100.64.0.1 100.127.255.255 127.0.0.1 127.255.0.1 169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.8
192.0.2.1 192.88.99.1 192.168.0.1 198.18.0.1 198.51.100.7 203.0.113.7 224.0.0.1 239.255.255.255 240.0.0.1
255.255.255.255 :: ::1 ::7f00:1 ::ffff:127.0.0.1 ::ffff:8.8.8.8 64:ff9b::7f00:1 64:ff9b:1::1 100::1 2001::1 2001:db8::1
2002:7f00:1:: 3fff::1 5f00::1 fc00::1 fd12::1 fe80::1 fe80::1%eth0 fec0::1 ff02::1
"""
HOSTS = "8.8.8.8 1.1.1.1 172.15.0.1 172.32.0.1 100.128.0.1 192.167.0.1 2606:4700::1111"


def test_only_what_is_a_host_on_the_internet_is_sent_to() -> None:
    assert [one for one in INNER_ADDRESSES.split() if is_public(ip_address(one))] == []
    assert [one for one in HOSTS.split() if not is_public(ip_address(one))] == []


REFUSED = {
    "must begin with https://": ["http://example.org/", "ftp://example.org/"],
    "must not hold a user": ["https://user@example.org/", "https://user:secret@example.org/"],
    "has the port 22": ["https://example.org:22/"],
    "has the port 80": ["https://example.org:80/"],
    "is no URL": ["https://example.org:99999/", "https://[::1/"],
    "must not have a fragment": ["https://example.org/#there"],
    "has no host": ["https:///hook", "https://exa_mple.org/", "https://-a.org/"],
    "is no URL of": [
        *("https://bücher.example/", "https://example.org/a b", "https://example.org\\@127.0.0.1/"),
        f"https://example.org/{'a' * 2000}",
    ],
    "is an address of an inner network": [
        *("https://[::1]/", "https://[::ffff:10.0.0.1]/", "https://169.254.169.254/latest/meta-data"),
        *("https://2852039166/latest/meta-data", "https://0xa9fea9fe/", "https://169.254.43518/", "https://127.1/"),
        *("https://0177.0.0.1/", "https://0x7f.0.0.1:8443/"),
    ],
    "is this machine": ["https://localhost/", "https://a.localhost./"],
}


def test_a_url_that_leads_where_nothing_is_sent_is_refused(subtests: pytest.Subtests) -> None:
    for fault, urls in REFUSED.items():
        for url in urls:
            with subtests.test(msg=url[:60]), pytest.raises(ValueError, match=f"^{fault}"):
                read_destination(url, NOTHING)


def test_what_the_operator_allows_is_sent_to() -> None:
    allowed = read_allowed("10.0.0.0/8, hooks.lab,fd00::/8", "https,http")
    assert allowed.permits("any", ip_address("10.9.9.9"))
    assert allowed.permits("any", ip_address("fd00::1"))
    assert allowed.permits("hooks.lab", ip_address("192.168.0.1"))
    assert not allowed.permits("other.lab", ip_address("192.168.0.1"))
    assert not allowed.permits("any", ip_address("127.0.0.1"))
    assert read_destination("http://HOOKS.lab.:8080/a?b=c", allowed) == ("http", "hooks.lab", 8080, "/a?b=c")
    for wrong in ("10.0.0.0/33", "10.0.0.1/8", "a b", "*"):
        with pytest.raises(ValueError, match="is no network and no host name"):
            read_allowed(wrong, "https")


def failing(error: Exception) -> Callable[..., Any]:
    def fail(*_sent: Any, **_named: Any) -> Any:
        raise error

    return fail


def resolver(monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> list[str]:
    """A name server that answers differently each time; the names that it was asked for."""
    asked: list[str] = []
    left = list(answers)

    def look(host: str, port: int, **_more: Any) -> list[Any]:
        asked.append(host)
        found = left.pop(0) if len(left) > 1 else left[0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, port)) for one in found]

    monkeypatch.setattr(transport, "_getaddrinfo", look)
    return asked


def test_a_name_is_resolved_once_and_connected_to_what_was_checked(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    connected: list[str] = []
    connect = socket.create_connection

    def note(address: tuple[str, int], timeout: float) -> socket.socket:
        connected.append(address[0])
        return connect(("127.0.0.1", receiver.port), timeout)

    monkeypatch.setattr(socket, "create_connection", note)
    asked = resolver(monkeypatch, ["8.8.8.8"], ["127.0.0.1"])
    with pytest.raises(Unreachable, match=r"connected to 127\.0\.0\.1 instead of 8\.8\.8\.8"):
        sent(f"http://rebound.example:{receiver.port}/", Allowed(("http",)))
    assert (asked, connected, receiver.received) == (["rebound.example"], ["8.8.8.8"], [])
    with pytest.raises(Unreachable, match="may not be sent to"):
        sent(f"http://rebound.example:{receiver.port}/", Allowed(("http",)))
    assert (connected, receiver.received) == (["8.8.8.8"], [])


def test_a_name_with_any_inner_address_or_a_url_that_is_not_allowed_any_more_is_sent_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(socket, "create_connection", failing(AssertionError("connected")))
    for addresses in (["127.0.0.1"], ["8.8.8.8", "10.0.0.1"], ["1.1.1.1", "::1"], ["169.254.169.254"]):
        resolver(monkeypatch, addresses)
        with pytest.raises(Unreachable, match="may not be sent to") as told:
            sent("https://hook.example/", NOTHING)
        assert told.value.reason == NOWHERE
    assert why(lambda: sent("http://10.0.0.1:8080/", NOTHING)) == NOWHERE


def test_an_environment_with_a_proxy_changes_nothing(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert sent(receiver.url).status == 204
    assert receiver.received[0].headers["Host"] == f"127.0.0.1:{receiver.port}"


def test_a_name_server_that_does_not_answer_holds_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    done = threading.Event()
    monkeypatch.setattr(transport, "SECONDS", 0.05)
    monkeypatch.setattr(transport, "_getaddrinfo", lambda *_sent, **_named: done.wait())
    with pytest.raises(Unreachable, match="not resolved in time") as told:
        sent("https://hook.example/")
    done.set()
    assert told.value.reason == NOWHERE


def test_a_name_that_cannot_be_looked_up_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for error, reason in (
        (socket.gaierror(socket.EAI_NONAME, "Name or service not known"), NOWHERE),
        (UnicodeError("label too long"), NOWHERE),
        (OSError(errno.EMFILE, "Too many open files"), "no connection"),
    ):
        monkeypatch.setattr(transport, "_getaddrinfo", failing(error))
        assert why(lambda: sent("https://hook.example/")) == reason
    resolver(monkeypatch, [])
    assert why(lambda: sent("https://hook.example/", NOTHING)) == NOWHERE


def test_why_there_is_no_connection_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for error, reason in (
        (ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused"), "the connection was refused"),
        (TimeoutError("timed out"), "timed out"),
        (OSError(errno.EHOSTUNREACH, "No route to host"), "there is no way to the host"),
        (OSError(errno.ENETUNREACH, "Network is unreachable"), "there is no way to the host"),
        (PermissionError(errno.EPERM, "Operation not permitted"), "no connection"),
    ):
        monkeypatch.setattr(socket, "create_connection", failing(error))
        assert why(lambda: sent("https://127.0.0.1:9999/")) == reason


def writes(first: bytes, again: bytes, done: threading.Event | None = None) -> Callable[[Any], None]:
    """An answer that begins so and has no end; slowly, where there is something to wait for."""

    def write(out: Any) -> None:
        with contextlib.suppress(OSError):
            out.write(first)
            while done is None or not done.wait(0.01):
                out.write(again)
                out.flush()

    return write


def test_a_head_without_an_end_is_no_answer(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = b"HTTP/1.1 200 OK\r\n"
    for first, again in (
        (begun, b"a" * 100),
        (begun, b"a: " + b"b" * 60_000 + b"\r\n"),
        (b"", b"HTTP/1.1 100 C\r\n\r\n"),
    ):
        receiver.write = writes(first, again)
        with pytest.raises(Unreachable):
            sent(receiver.url)
    monkeypatch.setattr(transport, "SECONDS", 0.2)
    done = threading.Event()
    receiver.write = writes(begun + b"x: ", b"a", done)
    with pytest.raises(Unreachable, match="Timeout"):
        sent(receiver.url)
    receiver.write = lambda _out: done.wait() and None
    assert why(lambda: sent(receiver.url)) == "timed out"
    done.set()


def test_a_body_of_ten_gigabytes_is_read_to_its_first_bytes(receiver: Receiver) -> None:
    receiver.write = writes(b"HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n", b"a" * 65_536)
    answer = sent(receiver.url)
    assert (answer.status, answer.body) == (200, b"a" * KEPT)
    assert KEPT < MOST_READ == 65_536


def test_a_body_that_drips_does_not_undo_its_status(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "_BODY_SECONDS", 0.05)
    done = threading.Event()

    def write(out: Any) -> None:
        out.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbegun")
        out.flush()
        done.wait()

    receiver.write = write
    assert sent(receiver.url) == Answer(200, {"content-length": "100"}, b"begun")
    done.set()


def test_what_is_no_http_is_no_answer(receiver: Receiver) -> None:
    for said, reason in (
        (b"", "the connection was closed without an answer"),
        (b"HTTP/1.1 ok\r\n\r\n", "the answer is not HTTP"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "the answer is not HTTP"),
        (b"HTTP/1.1 200 OK\r\n" * 300, "the answer is not HTTP"),
    ):
        receiver.write = lambda out, said=said: out.write(said) and None
        assert why(lambda: sent(receiver.url)) == reason
    assert why(lambda: sent(receiver.url.replace("http://", "https://"))) == "no encrypted connection"


def test_a_connection_is_kept_until_the_receiver_closes_it_or_says_more_than_is_read() -> None:
    with receiving(keeps=True) as found, Sender() as sender:

        def ask(answer: Any = 200) -> int:
            found.answer = lambda _one: answer
            return sender.post(found.url, b"{}", {}, INNER).status

        assert [ask(), ask(204), ask(500), found.connections] == [200, 204, 500, 1]
        assert [ask((204, {"Connection": "close"})), ask(), found.connections] == [204, 200, 2]
        found.write = lambda out: out.write(b"HTTP/1.1 200 OK\r\nContent-Length: 9000\r\n\r\n" + b"a" * 9000) and None
        assert [ask(), found.connections] == [200, 2]
        found.write = None
        assert [ask(), found.connections] == [200, 3]

        def hang_up(_out: Any) -> None:
            found.write = None

        # What was closed without an answer, on a connection that had given one, is asked once more on another.
        found.write = hang_up
        assert [ask(), found.connections, len(found.received)] == [200, 4, 9]


def usage(*names: str) -> x509.KeyUsage:
    every = (
        "digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement",
        "key_cert_sign", "crl_sign", "encipher_only", "decipher_only",
    )  # fmt: skip
    return x509.KeyUsage(**{name: name in names for name in every})


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An authority, and files `good`, `expired` and `other` with a certificate and its key each."""
    home, now = tmp_path_factory.mktemp("certificates"), datetime.now(UTC)
    authority, signer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "tests")]), ec.generate_private_key(CURVE)

    def certificate(name: str, key: Any, days: int, *, is_authority: bool = False) -> bytes:
        made = x509.CertificateBuilder(
            authority, authority if is_authority else x509.Name([]), key.public_key(), x509.random_serial_number(),
            now - timedelta(days=30), now + timedelta(days=days),
        )  # fmt: skip
        for extension, is_critical in (
            (x509.BasicConstraints(ca=is_authority, path_length=None), True),
            (x509.SubjectAlternativeName([x509.DNSName(name)]), True),
            # Python 3.13 verifies nothing without these.
            (x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False),
            (x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), False),
            (usage("key_cert_sign" if is_authority else "digital_signature"), True),
        ):
            made = made.add_extension(extension, critical=is_critical)
        return made.sign(signer, hashes.SHA256()).public_bytes(PEM)

    (home / "authority.pem").write_bytes(certificate("tests", signer, 30, is_authority=True))
    for name, host, days in (("good", "hook.example", 30), ("expired", "hook.example", -1), ("other", "a.example", 30)):
        key = ec.generate_private_key(CURVE)
        secret = key.private_bytes(PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        (home / f"{name}.pem").write_bytes(certificate(host, key, days) + secret)
    return home


def test_a_certificate_is_verified_for_the_name(certificates: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trusting = ssl.create_default_context(cafile=str(certificates / "authority.pem"))
    resolver(monkeypatch, ["127.0.0.1"])

    def served(name: str) -> contextlib.AbstractContextManager[Receiver]:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificates / f"{name}.pem")
        return receiving(context)

    with served("good") as found:  # by an authority that nobody trusts
        with pytest.raises(Unreachable, match="CERTIFICATE_VERIFY_FAILED"):
            sent(f"https://hook.example:{found.port}/")
        monkeypatch.setattr(transport, "context", lambda: trusting)
        assert sent(f"https://hook.example:{found.port}/hook?key=1").status == 204
        [one] = found.received
        assert (one.path, one.headers["Host"]) == ("/hook?key=1", f"hook.example:{found.port}")
    for name, fault in (("expired", "expired"), ("other", "Hostname mismatch")):
        with served(name) as found, pytest.raises(Unreachable, match=fault) as told:
            sent(f"https://hook.example:{found.port}/hook?key=1")
        assert told.value.reason == "the certificate is not valid for this host, or not trusted"
        assert found.received == []
