"""Write a response to a file, as a whole or not at all, or to standard output."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

import click

from registry.commands.session import Session
from registry.commands.writing import writable

_EVERY = 1 << 20


def save(session: Session, path: str, query: dict[str, Any], target: str, *, binary: bool) -> int:
    """Write the response at a path to the file `target`, or to standard output if that is `-`; return its size in
    bytes."""
    if target == "-":
        if binary and sys.stdout.isatty():
            raise click.UsageError("This is no text for a terminal; name a file with -o.")
        with session.transport.stream(path, query=query) as (_, chunks):
            return _to_stdout(chunks)
    whole = Path(target)
    fresh = whole.with_name(f".{whole.name}.{os.getpid()}")
    try:
        with writable(target), fresh.open("wb") as file:
            with session.transport.stream(path, query=query) as (_, chunks):
                size = _copied(chunks, file, session, target)
            fresh.replace(whole)
    finally:
        with suppress(OSError):
            fresh.unlink()
    return size


def _to_stdout(chunks: Iterable[bytes]) -> int:
    size = 0
    for chunk in chunks:
        try:
            sys.stdout.buffer.write(chunk)
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains at its end
            raise click.exceptions.Exit(1) from None
        size += len(chunk)
    return size


def _copied(chunks: Iterable[bytes], file: BinaryIO, session: Session, target: str) -> int:
    """Copy, showing the amount on a terminal's standard error once it exceeds a megabyte."""
    size, next_report = 0, _EVERY
    shown = session.screen.notes_are_seen and not session.screen.quiet
    for chunk in chunks:
        with writable(target):
            file.write(chunk)
        size += len(chunk)
        if shown and size >= next_report:
            click.echo(f"\r\x1b[K{size / _EVERY:.0f} MiB … ", err=True, nl=False)
            next_report = size + _EVERY
    if next_report > _EVERY:
        click.echo("\r\x1b[K", err=True, nl=False)
    with writable(target):
        file.flush()
    return size
