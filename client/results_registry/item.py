"""One thing to send, as bytes that are the same in memory, in the spool and for its key.

The first line is a JSON header (what it is and where it goes, never a token), the rest the body as it is sent. The
key is the SHA-256 of all of it: the file's name, its checksum, and the `Idempotency-Key` of its request.
"""

from __future__ import annotations

import hashlib
import json
import time
import zlib
from functools import cached_property
from typing import Any

GRID, CELLS = "grid", "cells"
IDENTITY = ("experiment", "benchmark", "model", "variant", "metric")
_COMPRESSED_FROM = 32768


class Item:
    """A grid, or cells of one, on its way to a registry. Equal content made at another moment is another item."""

    def __init__(self, data: bytes) -> None:
        """Raises `ValueError` for bytes that are no item."""
        line, separator, body = data.partition(b"\n")
        header = json.loads(line)
        if not separator or not isinstance(header, dict) or header.get("kind") not in (GRID, CELLS):
            raise ValueError("this is no spooled grid")
        self.data, self.header, self.body = data, header, body

    @cached_property
    def key(self) -> str:
        return hashlib.sha256(self.data).hexdigest()

    @property
    def kind(self) -> str:
        return str(self.header["kind"])

    @property
    def url(self) -> str | None:
        """The registry that it was meant for; None when the job named none."""
        return self.header.get("url")

    @property
    def project(self) -> str | None:
        return self.header.get("project")

    @property
    def identity(self) -> tuple[str, ...]:
        """Experiment, benchmark, model, variant and metric."""
        return tuple(self.header["identity"])

    @property
    def order(self) -> tuple[int, int]:
        """When it was logged: instant in nanoseconds, number within the process."""
        return int(self.header["at"]), int(self.header["n"])

    @property
    def has_items(self) -> bool:
        """True if the body has outcomes of items beside the grid, which are sent after it."""
        return bool(self.header.get("items"))

    @property
    def headers(self) -> dict[str, str]:
        """The headers that tell a server how to read the body."""
        encoding = {"Content-Encoding": "gzip"} if self.header.get("gzip") else {}
        return {"Content-Type": "application/json"} | encoding

    def document(self) -> dict[str, Any]:
        """The body as it was logged."""
        body = zlib.decompress(self.body, wbits=31) if self.header.get("gzip") else self.body
        found: dict[str, Any] = json.loads(body)
        return found

    @property
    def said(self) -> str:
        """Its names, for messages."""
        return " · ".join(part for part in self.identity if part)


def make_item(kind: str, document: dict[str, Any], url: str | None, project: str | None, number: int) -> Item:
    """The item of a publication; raises `ValueError` where JSON cannot say it."""
    body = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    header: dict[str, Any] = {
        "kind": kind,
        "url": url,
        "project": project,
        "identity": identity_of(document),
        "at": time.time_ns(),
        "n": number,
        **({"items": True} if "items" in document else {}),
    }
    if len(body) >= _COMPRESSED_FROM:
        # Kept as it is sent: another zlib would make other bytes, and so another request under the same key.
        body, header["gzip"] = zlib.compress(body, 1, wbits=31), True
    return Item(json.dumps(header, ensure_ascii=False).encode() + b"\n" + body)


def identity_of(document: dict[str, Any]) -> list[str]:
    names = [str(document.get(name, "")) for name in IDENTITY[:4]]
    return [*names, str(document["metric"]["name"])]
