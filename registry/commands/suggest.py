"""Comments that would claim what the sentences of a text say, ready to be pasted behind them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import orjson

from registry.claims.unmarked import Passage, mostly_code, passages
from registry.commands.session import Session


def suggest(session: Session, file: Path) -> None:
    """Print the suggestions for a file; on standard error, how many of its sentences have none."""
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise click.UsageError(f"{file} is no UTF-8 text") from None
    left = 0
    for passage in passages(text):
        body = {"text": passage.text, **({"about": passage.about} if passage.about else {})}
        found = session.transport.call("POST", session.in_project("claims/parse"), body).json()
        left += len(found["unparsed"])
        for line in _lines(str(file), text, passage, found["candidates"]):
            click.echo(line)
    if left:
        click.echo(f"{file}: sentences without a suggestion: {left}", err=True)


def _lines(name: str, text: str, passage: Passage, candidates: Any) -> Iterator[str]:
    last: list[int] = []
    for one in candidates:
        start, end = (passage.start + place for place in one["span"])
        if one["claim"]["kind"] == "ill_posed" or mostly_code(text, start, end):
            continue
        if one["span"] != last:
            line = text.count("\n", 0, start) + 1
            yield f"{name}:{line}: {' '.join(one['text'].split())}"
        else:
            yield "or"
        last = one["span"]
        yield comment(one["claim"], passage.about)


def comment(claim: Mapping[str, Any], about: Mapping[str, Any]) -> str:
    """The comment with a claim as JSON, without its text, which stands before it, and without what the text is said to
    be about."""
    left_out = {"text", *(["about"] if about and claim.get("about") == about else [])}
    said = {name: value for name, value in claim.items() if name not in left_out}
    # Nothing in a comment of HTML may look like its end or like another one.
    written = orjson.dumps(said).decode().replace("<", "\\u003c").replace(">", "\\u003e").replace("--", "-\\u002d")
    return f"<!-- claim: {written} -->"
