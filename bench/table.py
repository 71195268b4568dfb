"""The one table of all programs, and its place in the README."""

import os
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path

from bench.figures import Figure

README = Path(__file__).with_name("README.md")
BEGIN, END = "<!-- measured by make bench -->", "<!-- end -->"
HEAD = ("| program | figure | measured | target | | on |", "|---|---|---|---|---|---|")


def rows(program: str, figures: Iterable[Figure], day: date) -> list[str]:
    """The lines of the table for one program."""
    return [_row(program, one.name, one.measured, one.target, one.verdict, day.isoformat()) for one in figures]


def _row(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def table(lines: Iterable[str]) -> str:
    return "\n".join([*HEAD, *lines])


def machine() -> str:
    """What these figures were measured on, and what ran beside them."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    load = os.getloadavg()[0]
    return f"{os.cpu_count()} cores, {memory:.0f} GiB, load {load:.1f} before the first of the programs measured last."


def replaced(text: str, measured: Mapping[str, Sequence[str]], said: str, order: Sequence[str]) -> str:
    """The README's text with the rows of the programs that were measured replaced, in this order of programs.

    The rows of programs that were not measured stay; those of programs that are gone go.
    """
    before, _, rest = text.partition(BEGIN)
    old, found, after = rest.partition(END)
    if not found:
        raise ValueError(f"the text has no part between {BEGIN} and {END}")
    kept: dict[str, Sequence[str]] = {}
    for line in old.splitlines():
        program = line.split("|")[1].strip() if line.startswith("| ") else ""
        if program in order:
            kept[program] = [*kept.get(program, ()), line]
    kept |= measured
    lines = [line for program in order for line in kept.get(program, ())]
    return f"{before}{BEGIN}\n{said}\n\n{table(lines)}\n{END}{after}"


def write(measured: Mapping[str, Sequence[str]], said: str, order: Sequence[str], file: Path = README) -> None:
    """Replace the measured part of the file."""
    file.write_text(replaced(file.read_text(), measured, said, order))
