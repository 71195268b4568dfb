"""A verdict as text, as JUnit XML, and as annotations of a GitHub workflow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from registry.renderings.width import one_line
from registry.renderings.words import place
from registry.results.gates import Gate, GateUnit

_MOST_SHOWN = 20
"""Benchmarks or cells that a text names, those that failed first."""


@dataclass(frozen=True, slots=True)
class Case:
    """What is told of a gate: its verdict and a sentence, and what was answered where there is an answer."""

    baseline: str
    contender: str
    verdict: str
    passes: bool | None
    sentence: str
    gate: Gate | None = None
    document: Mapping[str, Any] | None = None

    @property
    def is_undecided(self) -> bool:
        """Whether there is a verdict, and it shows neither; not where nothing can be compared or is there yet."""
        return self.passes is None and self.verdict not in ("not_comparable", "pending", "failed")


def page(case: Case, form: str) -> str:
    """The verdict in one of `FORMATS`."""
    return FORMATS[form](case)


def text(case: Case) -> str:
    """The word, the sentence, what was judged one by one, and the warnings."""
    paired = ["  by the differences of the same items"] if case.gate is not None and case.gate.paired else []
    lines = [f"{case.verdict}: {case.sentence}", *paired, *map(_line, _units(case))]
    more = 0 if case.gate is None else len(case.gate.per) - _MOST_SHOWN
    doubts = [f"  warning: {told}" for told in _doubts(case)]
    return "\n".join([*lines, *([f"  and {more} more"] if more > 0 else []), *doubts]) + "\n"


def _doubts(case: Case) -> Iterator[str]:
    """The warnings that the sentence does not say itself."""
    known = () if case.gate is None else (one_line(one.detail) for one in case.gate.warnings)
    yield from (told for told in known if told not in one_line(case.sentence))


def _units(case: Case) -> Iterator[GateUnit]:
    yield from () if case.gate is None else case.gate.per[:_MOST_SHOWN]


def _line(unit: GateUnit) -> str:
    within = "" if unit.low is None or unit.high is None else f" [{unit.low:.4g}, {unit.high:.4g}]"
    return f"  {unit.verdict}: {_name(unit)} {unit.gap or 0.0:+.4g}{within}"


def _name(unit: GateUnit) -> str:
    return ", ".join(filter(None, (one_line(unit.benchmark or ""), place(unit.at) if unit.at else "")))


def junit(case: Case) -> str:
    """One test case for the whole and one for each benchmark or cell that is listed; undecided ones are errors."""
    cases = [("gate", case.passes, case.verdict, case.sentence)]
    for unit in () if case.gate is None else case.gate.per:
        passes = {"regressed": False, "inconclusive": None}.get(unit.verdict, True)
        cases.append((_name(unit), passes, unit.verdict, _line(unit).strip()))
    failures, errors = (sum(one[1] is wanted for one in cases) for wanted in (False, None))
    name = quoteattr(f"{case.contender} against {case.baseline}")
    head = f'<testsuite name={name} tests="{len(cases)}" failures="{failures}" errors="{errors}">'
    body = "".join(_test_case(case.baseline, *one) for one in cases)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{head}\n{body}</testsuite>\n'


def _test_case(suite: str, name: str, passes: bool | None, verdict: str, told: str) -> str:
    opened = f"<testcase classname={quoteattr(suite)} name={quoteattr(name)}"
    if passes:
        return f"{opened}/>\n"
    kind = "failure" if passes is False else "error"
    return f"{opened}><{kind} type={quoteattr(verdict)} message={quoteattr(told)}>{escape(told)}</{kind}></testcase>\n"


def github(case: Case) -> str:
    """A workflow command: a notice of a pass, else an error or a warning."""
    level = {True: "notice", False: "error", None: "warning"}[case.passes]
    title = _property(f"{case.baseline}: {case.verdict}")
    return f"::{level} title={title}::{_data(case.sentence)}\n"


def _data(told: str) -> str:
    """The text of a workflow command, as GitHub's toolkit escapes it."""
    return told.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(told: str) -> str:
    return _data(told).replace(":", "%3A").replace(",", "%2C")


FORMATS: Mapping[str, Callable[[Case], str]] = {"text": text, "junit": junit, "github": github}
