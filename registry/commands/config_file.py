"""Write the user's configuration file, as a whole or not at all, and private from its first byte."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tomli_w

from registry.errors import Misconfigured


def write_config(path: Path, content: Mapping[str, Any]) -> None:
    """Write a document as TOML with mode 0600, replacing the file."""
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            tomli_w.dump(content, file)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            fresh.unlink()
        raise Misconfigured(f"{path} cannot be written: {error.strerror}.") from None
