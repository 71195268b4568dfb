"""A verdict as text, as Markdown, and as annotations of a GitHub workflow."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from registry.renderings import sheet
from registry.renderings.numbers import UNDEFINED
from registry.renderings.sheet import Block, Heading, Lines
from registry.renderings.table import Column, Table, one_line
from registry.renderings.words import place, said
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


def case_of(gate: Gate) -> Case:
    """What is told of a verdict as it is answered."""
    return Case(gate.baseline, gate.contender, gate.verdict, gate.passes, gate.sentence, gate)


def text(case: Case) -> str:
    """The word, the sentence, what was judged one by one, and the warnings."""
    paired = ["  by the differences of the same items"] if case.gate is not None and case.gate.paired else []
    lines = [f"{case.verdict}: {case.sentence}", *paired, *(_line(unit, _level(case)) for unit in _units(case))]
    return "\n".join([*lines, *(f"  {note}" for note in _notes(case))]) + "\n"


def markdown(case: Case) -> str:
    """The same as a heading, the sentence, a table and a list: the comment on a pull request."""
    return sheet.markdown(_blocks(case))


def _blocks(case: Case) -> Iterator[Block]:
    yield Heading(f"{case.contender} against {case.baseline}: {said(case.verdict)}", 3)
    yield case.sentence
    if units := list(_units(case)):
        yield Table(
            [
                Column("judged", list(map(_name, units))),
                Column("verdict", [said(unit.verdict) for unit in units]),
                Column("gap", list(map(_gap, units)), True),
                Column(f"{_level(case)}interval", list(map(_within, units))),
            ]
        )
    yield Lines(tuple(_notes(case)))


def _notes(case: Case) -> Iterator[str]:
    """How many more there are, and the warnings that the sentence does not say itself."""
    if case.gate is not None:
        if (more := len(case.gate.per) - _MOST_SHOWN) > 0:
            yield f"and {more} more"
        told = one_line(case.sentence)
        yield from (f"warning: {doubt}" for one in case.gate.warnings if (doubt := one_line(one.detail)) not in told)


def _units(case: Case) -> Iterator[GateUnit]:
    yield from () if case.gate is None else case.gate.per[:_MOST_SHOWN]


def _line(unit: GateUnit, level: str) -> str:
    within = _within(unit)
    told = "" if within == UNDEFINED else f" ({level}interval {within})"
    return f"  {unit.verdict}: {_name(unit)} {_gap(unit)}{told}"


def _level(case: Case) -> str:
    return f"{100 * case.gate.level:.4g} % " if case.gate is not None else ""


def _gap(unit: GateUnit) -> str:
    return f"{unit.gap or 0.0:+.4g}"


def _within(unit: GateUnit) -> str:
    return UNDEFINED if unit.low is None or unit.high is None else f"[{unit.low:.4g}, {unit.high:.4g}]"


def _name(unit: GateUnit) -> str:
    return ", ".join(filter(None, (one_line(unit.benchmark or ""), place(unit.at) if unit.at else "")))


def github(case: Case) -> str:
    """A workflow command: a notice of a pass, else an error or a warning."""
    level = {True: "notice", False: "error", None: "warning"}[case.passes]
    return workflow_command(level, case.sentence, title=f"{case.baseline}: {case.verdict}")


def workflow_command(level: str, told: str, **about: object) -> str:
    """A line that GitHub shows beside the code, escaped as its toolkit does; what is None of `about` is left out."""
    given = (f"{name}={_property(str(value))}" for name, value in about.items() if value is not None)
    return f"::{level} {','.join(given)}::{_data(told)}\n"


def _data(told: str) -> str:
    return told.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(told: str) -> str:
    return _data(told).replace(":", "%3A").replace(",", "%2C")


FORMATS: Mapping[str, Callable[[Case], str]] = {"text": text, "markdown": markdown, "github": github}


def variables(cases: Sequence[Case]) -> str:
    """Lines `name=value` for the steps that follow: the verdict, the worst of several, and the trials of a cell that
    decide all that is open, or by how much they are multiplied (`26.4x`); empty where no case says."""
    worst = next((one for passes in (False, None) for one in cases if one.passes is passes), cases[0])
    needed = [one.gate.trials_needed for one in cases if one.gate is not None and one.gate.trials_needed is not None]
    trials = max((one.trials or 0 for one in needed), default=0)
    factor = max((one.factor or 0 for one in needed), default=0)
    said_needed = str(trials) if trials else f"{float(f'{factor:.3g}'):.10g}x" if factor else ""
    return f"verdict={worst.verdict}\nneeded={said_needed}\n"
