"""Processes of a running system, as Linux counts them: who descends from whom, processor time, memory."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

TICK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Process:
    """A process of the moment: its command with the arguments, and its own and its ended children's seconds."""

    pid: int
    parent: int
    command: str
    seconds: float

    @property
    def shared_fairly(self) -> float:
        """Memory in MiB; pages that n processes share count an nth in each (PSS). 0 once it has ended."""
        try:
            lines = Path(f"/proc/{self.pid}/smaps_rollup").read_text().splitlines()
        except (OSError, ProcessLookupError):
            return 0.0
        return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def processes() -> dict[int, Process]:
    """All processes that can be seen, by their numbers."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
            except (OSError, ProcessLookupError):
                continue
            ticks = sum(int(one) for one in fields[11:15])
            found[int(entry.name)] = Process(int(entry.name), int(fields[1]), command, ticks / TICK)
    return found


def descendants(pid: int) -> list[Process]:
    """A process, first, and all that descend from it."""
    every = processes()
    family = [pid]
    for parent in family:  # it grows meanwhile
        family += [one.pid for one in every.values() if one.parent == parent]
    return [every[one] for one in family if one in every]


def processor_seconds(family: Iterable[Process]) -> float:
    """What these processes and their ended children have used."""
    return sum(one.seconds for one in family)
