"""Writing the user's own file: whole or not at all, and closed to others from its first byte."""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from registry.errors import Misconfigured


def keep(path: Path, content: Mapping[str, Any]) -> None:
    """Write tables of texts, numbers and lists as TOML with mode 0600, in place of what was there."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write("".join(f"{line}\n" for line in toml(content)))
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            fresh.unlink()
        raise Misconfigured(f"{path} cannot be written: {error.strerror}.") from None


def toml(content: Mapping[str, Any], under: str = "") -> Iterator[str]:
    """The lines of a TOML document; a text of JSON is one of TOML too (TOML 1.0, "String")."""
    tables = {name: given for name, given in content.items() if isinstance(given, Mapping)}
    for name, given in content.items():
        if name not in tables:
            yield f"{_key(name)} = {_quoted(given)}"
    for name, given in tables.items():
        if given:
            path = f"{under}{_key(name)}"
            yield ""
            yield f"[{path}]"
            yield from toml(given, f"{path}.")


def _key(name: str) -> str:
    return name if re.fullmatch("[A-Za-z0-9_-]+", name) else _quoted(name)


def _quoted(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
