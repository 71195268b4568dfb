"""The programs of bench/ run to their ends, with tiny sizes on servers of their own; no figure is judged."""

import os
import subprocess
import sys
from dataclasses import asdict
from datetime import date
from pathlib import Path

import pytest

from bench import json_folder, table
from bench.__main__ import ran
from bench.figures import Figure
from bench.programs import TINY

DAY = date(2026, 11, 22)


@pytest.mark.parametrize("program", TINY)
def test_a_program_runs_to_its_end(program: str) -> None:
    figures, well = ran(program, tiny=True, longest=240)
    assert well, [asdict(one) for one in figures]
    assert [one.name for one in figures if one.value is None or one.value < 0] == []
    assert len({one.name for one in figures}) == len(figures) > 0


def test_a_program_that_does_not_end_is_cut_and_said() -> None:
    figures, well = ran("command_line", tiny=True, longest=0.01)
    assert not well
    assert figures[-1].verdict == "not measured"
    assert "did not end" in figures[-1].measured


def test_without_mlflow_the_comparison_says_so_and_goes_on(tmp_path: Path) -> None:
    program = f"from bench.compare import *; show(measure(20, True, 2, Path({str(tmp_path / 'mlflow')!r})))"
    nowhere = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path)}
    command = [sys.executable, "-c", program]
    told = subprocess.run(command, env=os.environ | nowhere, capture_output=True, text=True, check=True).stdout
    assert "beside MLflow: the package registry gives no MLflow" in told
    assert told.count("beside a folder of JSON files: ") == 5


def test_the_table_keeps_what_people_wrote_and_the_rows_of_other_programs() -> None:
    old = "| a | one | 1 s |  |  | then |\n| b | two | 2 s |  |  | then |"
    text = f"before\n{table.BEGIN}\nold\n{old}\n{table.END}\nafter\n"
    rows = table.rows("b", [Figure("three", 3.0, "s", at_most=2.0)], DAY)
    found = table.replaced(text, {"b": rows}, "new", ("a", "b"))
    assert found.startswith(f"before\n{table.BEGIN}\nnew\n")
    assert found.endswith(f"{table.END}\nafter\n")
    assert "| a | one | 1 s |  |  | then |\n| b | three | 3 s | ≤ 2 s | missed by 50% | 2026-11-22 |\n" in found
    assert "two" not in found


def test_a_folder_of_files_ranks_by_the_mean_of_all_cells(tmp_path: Path) -> None:
    for number, (model, values) in enumerate([("a", [[1.0, 3.0]]), ("b", [[6.0, None]]), ("a", [[8.0, 8.0]])]):
        json_folder.write(tmp_path, number, {"model": model, "values": values})
    assert json_folder.ranking(tmp_path) == [("b", 6.0), ("a", 5.0)]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["0.json", "1.json", "2.json"]
