"""Requests go only where they may, and nothing that a receiver does holds a thread or memory."""

from __future__ import annotations

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
from workers.webhooks.transport import KEPT, MOST_READ, Answer, Unreachable, post

INNER = read_allowed("127.0.0.0/8", "https,http")
NOTHING = Allowed()


def sent(url: str, allowed: Allowed = INNER) -> Answer:
    return post(url, b"{}", {"Content-Type": "application/json"}, allowed)


def why(act: Callable[[], Answer]) -> str:
    """The reason that users are told why there was no answer."""
    with pytest.raises(Unreachable) as told:
        act()
    return told.value.reason


@pytest.mark.parametrize(
    "address",
    [
        *(
            "0.0.0.0",  # noqa: S104
            "10.1.2.3",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.0.1",
            "169.254.169.254",
        ),
        *("172.16.0.1", "172.31.255.255", "192.0.0.8", "192.0.2.1", "192.88.99.1", "192.168.0.1", "198.18.0.1"),
        *("198.51.100.7", "203.0.113.7", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255"),
        *("::", "::1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "64:ff9b::7f00:1", "64:ff9b:1::1"),
        *("100::1", "2001::1", "2001:db8::1", "2002:7f00:1::", "3fff::1", "5f00::1", "fc00::1", "fd12::1"),
        *("fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1"),
    ],
)
def test_an_address_that_is_no_host_on_the_internet_is_not_sent_to(address: str) -> None:
    assert not is_public(ip_address(address))


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "1.1.1.1", "172.15.0.1", "172.32.0.1", "100.128.0.1", "192.167.0.1", "2606:4700::1111"]
)
def test_a_host_on_the_internet_is_sent_to(address: str) -> None:
    assert is_public(ip_address(address))


@pytest.mark.parametrize(
    "url, fault",
    [
        ("http://example.org/", "must begin with https://"),
        ("ftp://example.org/", "must begin with https://"),
        ("https://user@example.org/", "must not hold a user"),
        ("https://user:secret@example.org/", "must not hold a user"),
        ("https://example.org:22/", "has the port 22"),
        ("https://example.org:80/", "has the port 80"),
        ("https://example.org:99999/", "is no URL"),
        ("https://example.org/#there", "must not have a fragment"),
        ("https:///hook", "has no host"),
        ("https://bücher.example/", "is no URL of"),
        ("https://example.org/a b", "is no URL of"),
        ("https://example.org\\@127.0.0.1/", "is no URL of"),
        ("https://exa_mple.org/", "has no host"),
        ("https://-a.org/", "has no host"),
        ("https://[::1/", "is no URL"),
        ("https://[::1]/", "is an address of an inner network"),
        ("https://[::ffff:10.0.0.1]/", "is an address of an inner network"),
        ("https://169.254.169.254/latest/meta-data", "is an address of an inner network"),
        ("https://2852039166/latest/meta-data", "is an address of an inner network"),
        ("https://0xa9fea9fe/", "is an address of an inner network"),
        ("https://169.254.43518/", "is an address of an inner network"),
        ("https://127.1/", "is an address of an inner network"),
        ("https://0177.0.0.1/", "is an address of an inner network"),
        ("https://0x7f.0.0.1:8443/", "is an address of an inner network"),
        ("https://localhost/", "is this machine"),
        ("https://a.localhost./", "is this machine"),
        (f"https://example.org/{'a' * 2000}", "is no URL of"),
    ],
)
def test_a_url_that_leads_where_nothing_is_sent_is_refused(url: str, fault: str) -> None:
    with pytest.raises(ValueError, match=f"^{fault}"):
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


@pytest.mark.parametrize("addresses", [["127.0.0.1"], ["8.8.8.8", "10.0.0.1"], ["1.1.1.1", "::1"], ["169.254.169.254"]])
def test_a_name_with_any_inner_address_is_sent_nothing(addresses: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_sent: Any, **_named: Any) -> None:
        raise AssertionError("connected")

    monkeypatch.setattr(socket, "create_connection", never)
    resolver(monkeypatch, addresses)
    with pytest.raises(Unreachable, match="may not be sent to") as told:
        sent("https://hook.example/", NOTHING)
    assert told.value.reason == "the address is not allowed"


def test_a_url_that_is_not_allowed_any_more_is_only_that() -> None:
    assert why(lambda: sent("http://10.0.0.1:8080/", NOTHING)) == "the address is not allowed"


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
    assert told.value.reason == "the name does not resolve"


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (socket.gaierror(socket.EAI_NONAME, "Name or service not known"), "the name does not resolve"),
        (UnicodeError("label too long"), "the name does not resolve"),
        (OSError(errno.EMFILE, "Too many open files"), "no connection"),
    ],
)
def test_a_name_that_cannot_be_looked_up_is_said(
    monkeypatch: pytest.MonkeyPatch, error: Exception, reason: str
) -> None:
    def look(*_sent: Any, **_named: Any) -> None:
        raise error

    monkeypatch.setattr(transport, "_getaddrinfo", look)
    assert why(lambda: sent("https://hook.example/")) == reason


def test_a_name_without_addresses_does_not_resolve(monkeypatch: pytest.MonkeyPatch) -> None:
    resolver(monkeypatch, [])
    assert why(lambda: sent("https://hook.example/", NOTHING)) == "the name does not resolve"


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused"), "the connection was refused"),
        (TimeoutError("timed out"), "timed out"),
        (OSError(errno.EHOSTUNREACH, "No route to host"), "there is no way to the host"),
        (OSError(errno.ENETUNREACH, "Network is unreachable"), "there is no way to the host"),
        (PermissionError(errno.EPERM, "Operation not permitted"), "no connection"),
    ],
)
def test_why_there_is_no_connection_is_said(monkeypatch: pytest.MonkeyPatch, error: OSError, reason: str) -> None:
    def connect(*_sent: Any, **_named: Any) -> None:
        raise error

    monkeypatch.setattr(socket, "create_connection", connect)
    assert why(lambda: sent("https://127.0.0.1:9999/")) == reason


Write = Callable[[Any], None]


def drip(out: Any) -> None:
    """A head that never ends, a byte at a time."""
    with contextlib.suppress(OSError):
        out.write(b"HTTP/1.1 200 OK\r\n")
        while True:
            out.write(b"a")
            out.flush()


def many_headers(out: Any) -> None:
    with contextlib.suppress(OSError):
        out.write(b"HTTP/1.1 200 OK\r\n")
        while True:
            out.write(b"a: " + b"b" * 60_000 + b"\r\n")


def continues(out: Any) -> None:
    with contextlib.suppress(OSError):
        while True:
            out.write(b"HTTP/1.1 100 Continue\r\n\r\n")


@pytest.mark.parametrize("write", [drip, many_headers, continues])
def test_a_head_without_an_end_is_no_answer(receiver: Receiver, write: Write) -> None:
    receiver.write = write
    with pytest.raises(Unreachable):
        sent(receiver.url)


def test_a_receiver_that_says_nothing_is_left_when_the_time_is_over(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "SECONDS", 0.1)
    done = threading.Event()
    receiver.write = lambda _out: done.wait() and None
    assert why(lambda: sent(receiver.url)) == "timed out"
    done.set()


def test_a_slow_drip_of_a_head_ends_with_the_time(receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "SECONDS", 0.2)
    done = threading.Event()

    def write(out: Any) -> None:
        with contextlib.suppress(OSError):
            out.write(b"HTTP/1.1 200 OK\r\nx: ")
            while not done.wait(0.01):
                out.write(b"a")
                out.flush()

    receiver.write = write
    with pytest.raises(Unreachable, match="Timeout"):
        sent(receiver.url)
    done.set()


def test_a_body_of_ten_gigabytes_is_read_to_its_first_bytes(receiver: Receiver) -> None:
    written: list[int] = []

    def write(out: Any) -> None:
        out.write(b"HTTP/1.1 200 OK\r\nContent-Length: 10000000000\r\n\r\n")
        with contextlib.suppress(OSError):
            while True:
                written.append(out.write(b"a" * 65_536))

    receiver.write = write
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


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (b"", "the connection was closed without an answer"),
        (b"HTTP/1.1 ok\r\n\r\n", "the answer is not HTTP"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "the answer is not HTTP"),
        (b"HTTP/1.1 200 OK\r\n" * 300, "the answer is not HTTP"),
    ],
)
def test_what_is_no_http_is_no_answer(receiver: Receiver, said: bytes, reason: str) -> None:
    receiver.write = lambda out: out.write(said) and None
    assert why(lambda: sent(receiver.url)) == reason


def test_a_receiver_without_encryption_has_no_encrypted_connection(receiver: Receiver) -> None:
    assert why(lambda: sent(receiver.url.replace("http://", "https://"))) == "no encrypted connection"


def _usage(*names: str) -> x509.KeyUsage:
    every = (
        "digital_signature", "content_commitment", "key_encipherment", "data_encipherment", "key_agreement",
        "key_cert_sign", "crl_sign", "encipher_only", "decipher_only",
    )  # fmt: skip
    return x509.KeyUsage(**{name: name in names for name in every})


_SIGNS, _SPEAKS = _usage("key_cert_sign"), _usage("digital_signature")


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An authority, and files `good`, `expired` and `other` with a certificate and its key each."""
    home = tmp_path_factory.mktemp("certificates")
    now, authority_key = datetime.now(UTC), ec.generate_private_key(ec.SECP256R1())
    authority = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "tests")])

    def certificate(name: str, key: Any, days: int, *, is_authority: bool = False) -> bytes:
        made = (
            x509.CertificateBuilder()
            .subject_name(authority if is_authority else x509.Name([]))
            .issuer_name(authority)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=30))
            .not_valid_after(now + timedelta(days=days))
            .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=True)
            # Python 3.13 verifies nothing without these.
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(authority_key.public_key()), critical=False
            )
            .add_extension(_SIGNS if is_authority else _SPEAKS, critical=True)
        )
        return made.sign(authority_key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)

    (home / "authority.pem").write_bytes(certificate("tests", authority_key, 30, is_authority=True))
    for name, host, days in (("good", "hook.example", 30), ("expired", "hook.example", -1), ("other", "a.example", 30)):
        key = ec.generate_private_key(ec.SECP256R1())
        secret = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        (home / f"{name}.pem").write_bytes(certificate(host, key, days) + secret)
    return home


@pytest.mark.parametrize("name, fault", [("good", ""), ("expired", "expired"), ("other", "Hostname mismatch")])
def test_a_certificate_is_verified_for_the_name(
    certificates: Path, monkeypatch: pytest.MonkeyPatch, name: str, fault: str
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates / f"{name}.pem")
    trusting = ssl.create_default_context(cafile=str(certificates / "authority.pem"))
    monkeypatch.setattr(transport, "context", lambda: trusting)
    resolver(monkeypatch, ["127.0.0.1"])
    with receiving(context) as found:
        url = f"https://hook.example:{found.port}/hook?key=1"
        if fault:
            with pytest.raises(Unreachable, match=fault) as told:
                sent(url)
            assert told.value.reason == "the certificate is not valid for this host, or not trusted"
            assert found.received == []
        else:
            assert sent(url).status == 204
            assert found.received[0].path == "/hook?key=1"
            assert found.received[0].headers["Host"] == f"hook.example:{found.port}"


def test_a_certificate_of_nobody_is_refused(certificates: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates / "good.pem")
    resolver(monkeypatch, ["127.0.0.1"])
    with receiving(context) as found, pytest.raises(Unreachable, match="CERTIFICATE_VERIFY_FAILED"):
        sent(f"https://hook.example:{found.port}/")
