"""How often every word, interval and set of the service is wrong: `python -m bench.calibration` writes the page.

Counts are kept in `calibration.csv` after every block of worlds, so a run that was cut off goes on where it ended;
to count a scenario anew, remove its lines. Seeded: the same worlds on every machine. `--only TEXT` counts the scenarios
whose names hold it; `--share 0.1` a tenth of the worlds of each.
"""

import csv
import math
import sys
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import click
import numpy as np

from bench.calibration_page import written
from bench.scenarios import Scenario, all_scenarios, scenarios_by_part

SEED, BLOCK = 20_261_122, 50
ROOT = Path(__file__).parent.parent
KEPT, PAGE = ROOT / "bench" / "calibration.csv", ROOT / "docs" / "calibration.md"


@dataclass
class Count:
    """Sums over worlds: their number, events, squared events, and how many events there could have been."""

    worlds: int = 0
    events: int = 0
    squares: int = 0
    possible: int = 0

    @property
    def rate(self) -> float:
        """The share of events."""
        return self.events / self.possible if self.possible else math.nan

    @property
    def error(self) -> float:
        """The Monte Carlo standard error of the rate; where nothing or everything happened that of half an event."""
        if not self.possible:
            return math.nan
        spread = self.squares - self.events**2 / self.worlds
        least = 0.5 * self.possible / self.worlds
        return (
            math.sqrt(max(spread, least if 0 in (self.events, self.possible - self.events) else spread)) / self.possible
        )


def block(scenario: Scenario, number: int, worlds: int = BLOCK) -> Count:
    """One block of worlds of a scenario."""
    chance = np.random.default_rng([SEED, zlib.crc32(scenario.name.encode()), number])
    found = Count()
    for _ in range(worlds):
        events, possible = scenario.run(chance)
        found.worlds += 1
        found.events += events
        found.squares += events**2
        found.possible += possible
    return found


def counted(scenario: Scenario, worlds: int) -> Count:
    """So many worlds of a scenario, rounded up to whole blocks."""
    total = Count()
    for number in range(math.ceil(worlds / BLOCK)):
        total = added(total, block(scenario, number))
    return total


def added(first: Count, second: Count) -> Count:
    return Count(*(one + other for one, other in zip(asdict(first).values(), asdict(second).values(), strict=True)))


def broken(scenario: Scenario, found: Count, errors: float = 0.0) -> bool:
    """Whether a rate lies beyond its limit by more than so many Monte Carlo errors."""
    if scenario.limit is None or not found.possible:
        return False
    beyond = found.rate - scenario.limit if scenario.sense == "at_most" else scenario.limit - found.rate
    return beyond > errors * found.error + 1e-12


def _one(task: tuple[int, int]) -> tuple[int, Count]:
    index, number = task
    return index, block(SCENARIOS[index], number)


SCENARIOS: list[Scenario] = all_scenarios()


def _tasks(chosen: Sequence[int], counts: dict[str, Count], share: float) -> list[tuple[int, int]]:
    found = []
    for index in chosen:
        scenario = SCENARIOS[index]
        done = counts.get(scenario.name, Count()).worlds // BLOCK
        found += [(index, number) for number in range(done, math.ceil(scenario.runs * share / BLOCK))]
    return found


def read(kept: Path) -> dict[str, Count]:
    """The counts of a file by the names of their scenarios; none if there is no file."""
    if not kept.exists():
        return {}
    with kept.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    sums = [one.name for one in fields(Count)]
    return {f"{row['statement']} | {row['setting']}": Count(*(int(row[name]) for name in sums)) for row in rows}


def keep(counts: Mapping[str, Count], kept: Path) -> None:
    """Write the counts of the scenarios that there are, in the order of the page."""
    with kept.open("w", encoding="utf-8", newline="") as lines:
        file = csv.writer(lines, lineterminator="\n")
        file.writerow(["statement", "setting", *(one.name for one in fields(Count))])
        for one in SCENARIOS:
            if one.name in counts:
                file.writerow([one.statement, one.setting, *asdict(counts[one.name]).values()])


def page_of(counts: Mapping[str, Count]) -> str:
    """The published page."""
    known = {
        heading: [(one, counts[one.name]) for one in part if one.name in counts]
        for heading, part in scenarios_by_part().items()
    }
    return written({heading: rows for heading, rows in known.items() if rows}, partial(broken, errors=2))


@click.command()
@click.option("--only", default="", help="Count the scenarios whose names hold this.")
@click.option("--share", default=1.0, help="This part of the worlds of each scenario.")
@click.option("--kept", type=click.Path(path_type=Path), default=KEPT)
@click.option("--page", type=click.Path(path_type=Path), default=PAGE)
@click.option("--processes", default=2)
def main(only: str, share: float, kept: Path, page: Path, processes: int) -> None:
    """Count, and write the page."""
    counts = read(kept)
    chosen = [index for index, scenario in enumerate(SCENARIOS) if only in scenario.name]
    tasks = _tasks(chosen, counts, share)
    with (
        get_context("fork").Pool(processes) as pool,
        click.progressbar(pool.imap(_one, tasks), length=len(tasks), file=sys.stderr, label="worlds") as progress,
    ):
        for index, found in progress:
            name = SCENARIOS[index].name
            counts[name] = added(counts.get(name, Count()), found)
            keep(counts, kept)
    page.write_text(page_of(counts), encoding="utf-8")
    for scenario in (SCENARIOS[index] for index in chosen):
        if found := counts.get(scenario.name):
            mark = "!" if broken(scenario, found, 2) else " "
            click.echo(f"{mark} {100 * found.rate:6.2f} ± {100 * found.error:4.2f}  {scenario.name}")


if __name__ == "__main__":
    main()
