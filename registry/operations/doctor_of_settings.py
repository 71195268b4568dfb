"""Checks of settings against each other, the address that users type, and this machine's directories."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import urlopen

from registry.operations.check import Check, State
from registry.settings import LOOPBACK, MEBIBYTE, Settings

_ANYWHERE = ("0.0.0.0", "::")  # noqa: S104 (compared, not bound)
_LONGEST_BEHIND_NGINX = 35
"""Seconds of waiting that `deploy/nginx.conf`, which gives an answer 40 s, leaves room for."""


def check_settings(settings: Settings) -> Iterator[Check]:
    """Settings that contradict each other or this machine; a line of its own for each subject."""
    yield _check_public_url(settings)
    yield _check_proxies(settings)
    yield _check_names(settings)
    yield _check_times(settings)
    yield check_exports(exports_directory(settings), settings.exports_size)
    yield _check_home(settings.home)
    if settings.traces and find_spec("opentelemetry") is None:
        yield Check(
            "traces",
            "bad",
            "no OpenTelemetry here",
            "pip install opentelemetry-sdk opentelemetry-exporter-otlp-proto-http",
        )


def exports_directory(settings: Settings) -> Path:
    """Where exports that clients read in ranges are kept."""
    own = f"results-registry-exports-{os.getuid()}"
    return Path(settings.exports) if settings.exports else Path(tempfile.gettempdir()) / own


def _check_public_url(settings: Settings) -> Check:
    name, parts = "public url", urlsplit(settings.url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path.strip("/"):
        advice = "REGISTRY_PUBLIC_URL is http:// or https://, a name, and a port if need be."
        return Check(name, "bad", settings.url, advice)
    if parts.hostname in _ANYWHERE:
        advice = "Set REGISTRY_PUBLIC_URL to what users type: links and commands lead to this address."
        return Check(name, "doubtful", settings.url, advice)
    if parts.scheme == "http" and parts.hostname not in LOOPBACK:
        advice = "Tokens travel in the open: put TLS in front, and say https:// in REGISTRY_PUBLIC_URL."
        return Check(name, "doubtful", settings.url, advice)
    return _ask_public_url(settings) if settings.public_url else Check(name, "good", settings.url)


def _ask_public_url(settings: Settings) -> Check:
    """Ask the service by the name that users type."""
    name = "public url"
    try:
        with urlopen(f"{settings.url}/api/v1", timeout=3) as answer:  # noqa: S310 (http or https, checked)
            return Check(name, "good", f"{settings.url} answers with {answer.status}")
    except HTTPError as error:
        if error.code == 421:
            advice = "A proxy sends another Host header than users type: add that name to REGISTRY_HOSTS."
            return Check(name, "bad", f"{settings.url} answers 421", advice)
        advice = "Something in front of the registry refuses GET /api/v1, which is public."
        return Check(name, "doubtful", f"{settings.url} answers {error.code}", advice)
    except (URLError, OSError, ValueError) as error:
        advice = "It does not answer from this machine: is it running, and does its name lead here?"
        return Check(name, "doubtful", f"{settings.url}: {error}", advice)


def _check_proxies(settings: Settings) -> Check:
    """A name or port of its own, or https, means a proxy in front, for the web process speaks plain HTTP."""
    parts, name = urlsplit(settings.public_url), "proxies"
    port = parts.port or (443 if parts.scheme == "https" else 80)
    in_front = bool(settings.public_url) and (parts.scheme == "https" or port != settings.port)
    if in_front and not settings.proxies:
        advice = "Set REGISTRY_PROXIES to the number of own proxies: all users have one address, and share its limits."
        return Check(name, "bad", f"{settings.url} is a proxy's, and none is believed", advice)
    if settings.proxies and not settings.public_url:
        advice = "Whoever reaches the web process past the proxy chooses the address that limits count."
        return Check(name, "doubtful", f"{settings.proxies}, without REGISTRY_PUBLIC_URL", advice)
    return Check(name, "good", str(settings.proxies))


def _check_names(settings: Settings) -> Check:
    """Names and origins that no request can ever match."""
    hosts = [one.strip() for one in settings.hosts.split(",") if one.strip()]
    origins = [one.strip() for one in settings.cors_origins.split(",") if one.strip()]
    wrong = [one for one in hosts if "/" in one]
    if wrong:
        return Check("names", "bad", ", ".join(wrong), "REGISTRY_HOSTS has names, without https:// and without a path.")
    wrong = [one for one in origins if urlsplit(one).scheme not in ("http", "https") or urlsplit(one).path]
    if wrong:
        advice = "REGISTRY_CORS_ORIGINS has origins such as https://wiki.example.org, without a slash at the end."
        return Check("names", "bad", ", ".join(wrong), advice)
    if "*" in hosts:
        advice = "Any page may reach this service under a name of its own (DNS rebinding): list the names."
        return Check("names", "doubtful", "every Host is answered", advice)
    return Check("names", "good", ", ".join(hosts) or "those of the addresses")


def _check_times(settings: Settings) -> Check:
    if settings.statement_timeout == 0 or settings.statement_timeout > settings.request_timeout:
        advice = "Let REGISTRY_STATEMENT_TIMEOUT be shorter: a request is given up before its statement is."
        found = f"statements {settings.statement_timeout:g} s, requests {settings.request_timeout:g} s"
        return Check("times", "doubtful", found, advice)
    if settings.max_wait > _LONGEST_BEHIND_NGINX and settings.proxies:
        advice = "deploy/nginx.conf waits 40 s for an answer: raise proxy_read_timeout with REGISTRY_MAX_WAIT."
        return Check("times", "doubtful", f"a client may wait {settings.max_wait} s", advice)
    return Check("times", "good", f"requests {settings.request_timeout:g} s, waiting {settings.max_wait} s")


def check_exports(directory: Path, size: int) -> Check:
    """Whether exports can be written, and fit beside what is there."""
    there = _existing(directory)
    if not _can_write(there):
        advice = "Exports in ranges fail: make it writable, or set REGISTRY_EXPORTS."
        return Check("exports", "bad", f"{there} is not writable", advice)
    held = sum(one.stat().st_size for one in directory.glob("*") if one.is_file()) if directory.is_dir() else 0
    free = shutil.disk_usage(there).free
    state: State = "doubtful" if free + held < size else "good"
    advice = "Make room, or lower REGISTRY_EXPORTS_SIZE." if state == "doubtful" else ""
    return Check("exports", state, f"{free // MEBIBYTE} MiB free at {there} for {size // MEBIBYTE}", advice)


def _check_home(home: Path) -> Check:
    """Whether `registry up`, and tokens of the command line, have a home; other processes want none."""
    there = _existing(home.expanduser())
    if _can_write(there):
        return Check("home", "good", f"{home} can be written")
    return Check("home", "doubtful", f"{there} is not writable", "`registry up` needs it; REGISTRY_HOME names another.")


def _can_write(directory: Path) -> bool:
    """Try it: rights say nothing of file systems that are read-only."""
    try:
        with tempfile.TemporaryFile(dir=directory):
            return True
    except OSError:
        return False


def _existing(path: Path) -> Path:
    return next(one for one in (path.absolute(), *path.absolute().parents) if one.exists())
