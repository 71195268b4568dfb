"""Judged claims and those that cannot be read, as text, JSON, annotations of GitHub and JUnit: pure functions."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from registry.commands.claim_files import Unread


@dataclass(frozen=True, slots=True)
class Judged:
    """A claim in a file with its judgement."""

    file: str
    line: int
    text: str
    judgement: Mapping[str, Any]

    @property
    def verdict(self) -> str:
        return str(self.judgement["verdict"])

    @property
    def sentence(self) -> str:
        """The sentence of the judgement with its warnings."""
        warnings = [str(one["detail"]) for one in self.judgement.get("warnings", [])]
        return " ".join([str(self.judgement["sentence"]), *warnings])


def written(form: str, judged: Sequence[Judged], unread: Sequence[Unread]) -> str:
    """The judgements in one of `FORMATS`, with the claims that cannot be read; text leaves these to standard error."""
    return _WRITERS[form](judged, unread)


def _text(judged: Sequence[Judged], _unread: Sequence[Unread]) -> str:
    return "".join(f"{one.file}:{one.line}: {one.verdict}: {one.sentence}\n" for one in judged)


def _json(judged: Sequence[Judged], unread: Sequence[Unread]) -> str:
    found = [
        *({"file": one.file, "line": one.line, "text": one.text, "judgement": one.judgement} for one in judged),
        *({"file": one.file, "line": one.line, "judgement": None, "error": one.detail} for one in unread),
    ]
    return json.dumps(found, ensure_ascii=False, allow_nan=False) + "\n"


def _github(judged: Sequence[Judged], unread: Sequence[Unread]) -> str:
    levels = {"contradicted": "error", "supported": "notice"}
    return "".join(
        [
            *(
                _note(levels.get(one.verdict, "warning"), one.file, one.line, one.verdict, one.sentence)
                for one in judged
            ),
            *(_note("error", one.file, one.line, "not read", one.detail) for one in unread),
        ]
    )


def _note(level: str, file: str, line: int | None, title: str, text: str) -> str:
    at = "" if line is None else f",line={line}"
    return f"::{level} file={_property(file)}{at},title={title}::{_data(text)}\n"


def _data(text: str) -> str:
    """Text as a workflow command takes it."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _junit(judged: Sequence[Judged], unread: Sequence[Unread]) -> str:
    failed = sum(1 for one in judged if one.verdict == "contradicted")
    skipped = sum(1 for one in judged if one.verdict not in ("contradicted", "supported"))
    cases = [_judged_case(one) for one in judged]
    cases += [_case(one.place, one.file, one.line, f"<error message={quoteattr(one.detail)}/>") for one in unread]
    counts = f'failures="{failed}" errors="{len(unread)}" skipped="{skipped}"'
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<testsuite name="claims" tests="{len(cases)}" {counts}>\n{"".join(cases)}</testsuite>\n'
    )


def _judged_case(one: Judged) -> str:
    inner = {
        "contradicted": f"<failure message={quoteattr(one.sentence)}/>",
        "supported": f"<system-out>{escape(one.sentence)}</system-out>",
    }.get(one.verdict, f"<skipped message={quoteattr(one.sentence)}/>")
    return _case(one.text or f"{one.file}:{one.line}", one.file, one.line, inner)


def _case(name: str, file: str, line: int | None, inner: str) -> str:
    at = "" if line is None else f' line="{line}"'
    named = f"name={quoteattr(name)} classname={quoteattr(file)} file={quoteattr(file)}"
    return f"  <testcase {named}{at}>{inner}</testcase>\n"


_WRITERS: dict[str, Callable[[Sequence[Judged], Sequence[Unread]], str]] = {
    "text": _text,
    "json": _json,
    "github": _github,
    "junit": _junit,
}
FORMATS = tuple(_WRITERS)
