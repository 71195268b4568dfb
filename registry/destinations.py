"""Where the registry may send what users name an address for: the rules against requests to inner networks (SSRF).

An address is judged after its name was resolved, whatever spelling the name has (`127.1`, `0x7f000001`). The networks
are those of the IANA special-purpose registries (RFC 6890) as of 2026, and ways in which IPv6 carries an IPv4 address:
what Python calls global depends on its version.
"""

import re
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import NamedTuple
from urllib.parse import urlsplit

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

LONGEST_URL = 2_000
_HOST = re.compile(
    r"(?=.{1,253}\.?$)[A-Za-z0-9]([A-Za-z0-9-]{0,62})(\.[A-Za-z0-9]([A-Za-z0-9-]{0,62}))*\.?|[0-9a-fA-F:.]+"
)
_ORDINARY_PORTS = {"https": (443, 8443), "http": (80,)}
_FIRST_FREE_PORT = 1024
_INNER = tuple(
    ip_network(one)
    for one in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12"),
        *("192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16"),
        *("192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4"),
        # Inside 2000::/3; what is outside of it (::1, ::ffff:0:0/96, 64:ff9b::/96, fc00::/7, fe80::/10, ff00::/8) is
        # never sent to.
        *("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20"),
    )
)
_GLOBAL_IPV6 = IPv6Network("2000::/3")


class Destination(NamedTuple):
    """What a URL says of where it leads: the host in small letters without a dot at its end."""

    scheme: str
    host: str
    port: int
    target: str
    """Path and query."""

    @property
    def authority(self) -> str:
        """Host and port as the header Host has them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == {"https": 443, "http": 80}[self.scheme] else f"{host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Allowed:
    """What the operator allows besides the public internet: networks, host names with whatever they resolve to, and
    schemes."""

    schemes: Sequence[str] = ("https",)
    networks: Sequence[Network] = ()
    hosts: frozenset[str] = frozenset()

    def permits(self, host: str, address: Address) -> bool:
        """Return whether a host may be reached at this address."""
        return is_public(address) or host in self.hosts or any(address in one for one in self.networks)


def read_allowed(allow: str, schemes: str) -> Allowed:
    """What two settings allow, each separated by commas; `ValueError` naming what is neither."""
    networks, hosts = [], set()
    for one in filter(None, map(str.strip, allow.split(","))):
        try:
            networks.append(ip_network(one))
        except ValueError:
            if "/" in one or not _HOST.fullmatch(one):
                raise ValueError(f"{one!r} is no network and no host name") from None
            hosts.add(one.lower().rstrip("."))
    words = tuple(filter(None, map(str.strip, schemes.split(","))))
    if not words or not set(words) <= {"https", "http"}:
        raise ValueError(f"{schemes!r} must be https, or https,http")
    return Allowed(words, tuple(networks), frozenset(hosts))


def is_public(address: Address) -> bool:
    """Return whether an address is a host's on the public internet; those that carry another one inside are not."""
    if isinstance(address, IPv6Address) and (address.scope_id or address not in _GLOBAL_IPV6):
        return False
    return not any(address in one for one in _INNER)


def read_destination(url: str, allowed: Allowed) -> Destination:
    """Where a URL leads, as far as can be known without resolving its host; `ValueError` says what is wrong."""
    if len(url) > LONGEST_URL or not re.fullmatch("[!-~]+", url) or "\\" in url:
        raise ValueError(f"is no URL of at most {LONGEST_URL:,} visible ASCII characters")
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise ValueError("is no URL") from None
    if parts.scheme not in allowed.schemes:
        raise ValueError(f"must begin with {' or '.join(f'{one}://' for one in allowed.schemes)}")
    if "@" in parts.netloc:
        raise ValueError("must not hold a user or a password")
    if "#" in url:
        raise ValueError("must not have a fragment")
    host = (parts.hostname or "").rstrip(".")
    if not _HOST.fullmatch(host):
        raise ValueError("has no host; write one of other letters as xn--…")
    port = {"https": 443, "http": 80}[parts.scheme] if port is None else port
    if port not in _ORDINARY_PORTS[parts.scheme] and port < _FIRST_FREE_PORT:
        ordinary = ", ".join(map(str, _ORDINARY_PORTS[parts.scheme]))
        raise ValueError(f"has the port {port}; it may be {ordinary} or one from {_FIRST_FREE_PORT} on")
    _refuse_inner(host, allowed)
    path = parts.path or "/"
    return Destination(parts.scheme, host, port, f"{path}?{parts.query}" if parts.query else path)


def _address_in(host: str) -> Address:
    """The address that a host is in any spelling that systems understand, such as `127.1`; `ValueError` for a name."""
    try:
        return ip_address(host)
    except ValueError:
        if not re.fullmatch(r"(0[xX][0-9a-fA-F]*|[0-9]+)(\.(0[xX][0-9a-fA-F]*|[0-9]+)){0,3}", host):
            raise
    try:
        return IPv4Address(socket.inet_aton(host))
    except OSError:
        raise ValueError(f"{host!r} is no address") from None


def _refuse_inner(host: str, allowed: Allowed) -> None:
    try:
        address = _address_in(host)
    except ValueError:
        inner = host == "localhost" or host.endswith(".localhost")
        if inner and host not in allowed.hosts and not allowed.networks:
            raise ValueError("is this machine, not a host on the internet") from None
        return
    if not allowed.permits(host, address):
        raise ValueError("is an address of an inner network, not of a host on the internet")
