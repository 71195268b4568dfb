"""The first lines of the API's reference: from a token to a ranking with curl."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from results_registry.config import DEFAULT_HOME, TOKEN_FILE

PUBLICATION = """{
  "experiment": "type-by-length", "benchmark": "Core Generalization",
  "model": "my-model", "variant": "Baseline",
  "metric": {"name": "accuracy", "unit": "%", "direction": "higher", "lower": 0, "upper": 100},
  "axes": [{"name": "Type", "kind": "nominal", "levels": ["1", "2"]},
           {"name": "Length", "kind": "numeric", "levels": [0, 1, 2, 3, 4]}],
  "values": [[99.5, 99.0, 98.5, 93.0, 88.5], [100.0, 99.5, null, 98.0, 97.5]],
  "trials": 200}"""


@dataclass(frozen=True, slots=True)
class Step:
    """A line to paste into a shell, and the sentence above it."""

    says: str
    command: str


def steps(address: str, home: Path) -> tuple[Step, ...]:
    """Five lines for a POSIX shell against the registry at `address`, with the token that `registry up` left in its
    home if it did; they publish into the project `demo`."""
    here = home / TOKEN_FILE
    token = shlex.quote(str(here)) if here.is_file() else f"{DEFAULT_HOME}/{TOKEN_FILE}"
    return (
        Step(
            "Keep the address and a token: `registry up` writes an administrator's into its home.",
            f'API={address}/api/v1\nAUTH="Authorization: Bearer $(cat {token})"',
        ),
        Step(
            "Publish a grid: a metric over axes, null where nobody measured. The answer is shown, and its id kept.",
            f"""GRID=$(curl -s "$API/projects/demo/grids" -H "$AUTH" -H "Content-Type: application/json" \\
  -d '{PUBLICATION}' |
  tee /dev/stderr | grep -o '"id":"[0-9a-f-]*' | head -n 1 | cut -c 7-)""",
        ),
        Step(
            "Wait for its statistics. `202` means that they are still being computed.",
            'curl -s "$API/grids/$GRID/statistics" -H "$AUTH" -H "Prefer: wait=10"',
        ),
        Step(
            "Read the trends as a table. `.csv`, `.md` and `.txt` after a path name a form; without one it is JSON.",
            'curl -s "$API/grids/$GRID/statistics.txt?part=trends" -H "$AUTH"',
        ),
        Step(
            "Rank the models of an experiment over the cells that all of them have.",
            'curl -s "$API/projects/demo/rankings.txt?experiment=type-by-length&metric=accuracy"'
            ' -H "$AUTH" -H "Prefer: wait=10"',
        ),
    )
