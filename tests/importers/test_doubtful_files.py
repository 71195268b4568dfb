"""Every format's files of the years before and after, cut off, in other encodings, and of another format.

Whatever is wrong with a file, a push gives its grids or says in one line what was not read; never a trace, and never
status 0 for a loss.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from registry.cli import main
from registry.commands import pushing
from registry.importers.imported_grid import Overrides
from registry.importers.reading import Item, Skipped, Sources, items_of

FILES = Path(__file__).parent / "files"
JSON = {
    "lm_eval.json": "lm-eval", "lm_eval_early.json": "lm-eval", "inspect.json": "inspect", "mlflow.json": "mlflow",
    "mteb/some__encoder/2/STS12.json": "mteb", "mteb_early/STS22.json": "mteb", "helm/stats.json": "helm",
    "trainer/all_results.json": "trainer", "trainer/checkpoint-4/trainer_state.json": "trainer",
}  # fmt: skip
TEXTS = ("model_card.md", "wandb_chart.csv", "tables/github.md", "tables/printed.md", "tables/paper.tex",
         "tables/retrieval.csv", "seed_0.txt")  # fmt: skip
BYTES = ("inspect.eval", "tidy.parquet", "xarray3.nc", "xarray4.nc")
EVERY = (*JSON, *TEXTS, *BYTES)
FORMS = sorted({*JSON.values(), "grid", "records", "latex", "markdown", "csv", "wandb", "parquet", "netcdf",
                "model-index", "mlflow-store"})  # fmt: skip
EMPTY = [
    b"{}", b"[]", b'{"results": {}, "versions": {}}', b'{"runs": []}', b"null", b"\x00" * 99, b"\n\n", b"a,b\n",
    b"---\nmodel-index:\n- name: m\n  results: []\n---\n", b'{"log_history": []}', b"[" * 100_000, b'{"a": ' * 100_000,
    b'{"scores": {}, "task_name": "x"}', b"PK\x03\x04junk", b"PAR1junk", b"CDF\x01junk", b"\x1f\x8bjunk",
    b"\x89HDF\r\n\x1a\njunk",
]  # fmt: skip
NAMES: dict[str, Any] = {"experiment": "e", "benchmark": "b", "model": "m"}


def outcome(path: Path, form: str = "auto") -> tuple[list[Item], list[Skipped]]:
    """What is read of a file: grids, or a reason of the registry's own in one line."""
    items = list(items_of(Sources((str(path),), form, Overrides(**NAMES))))
    grids = [one for one in items if isinstance(one, Item)]
    skipped = [one for one in items if isinstance(one, Skipped)]
    assert grids or skipped
    for one in skipped:
        for said in one.faults():
            assert "\n" not in str(said)
            assert not said.detail.startswith("It cannot be read:"), said
    return grids, skipped


def placed(name: str, content: bytes, folder: Path) -> Path:
    path = folder / Path(name).name
    path.write_bytes(content)
    return path


def changed(value: Any, change: Callable[[Any], Any]) -> Any:
    """A JSON value with each of its leaves changed."""
    if isinstance(value, dict):
        return {name: changed(one, change) for name, one in value.items()}
    return [changed(one, change) for one in value] if isinstance(value, list) else change(value)


def mangled(value: Any, at: int, to: Any) -> Any:
    """A JSON value with its object or list of this number, counted from the outside, replaced."""
    count = iter(range(10_000))

    def walk(one: Any) -> Any:
        if not isinstance(one, dict | list):
            return one
        if next(count) == at:
            return to
        return {k: walk(v) for k, v in one.items()} if isinstance(one, dict) else [walk(v) for v in one]

    return walk(value)


@pytest.mark.parametrize("name", JSON)
def test_keys_that_came_later_change_nothing(name: str, tmp_path: Path) -> None:
    file = json.loads((FILES / name).read_text())
    before, _ = outcome(FILES / name)
    target = file if isinstance(file, dict) else file[0]
    target["a_key_of_next_year"] = {"schema": [1, 2, {"deep": None}], "note": "text"}
    after, skipped = outcome(placed(name, json.dumps(file).encode(), tmp_path))
    assert skipped == []
    assert [one.found.submission["metric"] for one in after] == [one.found.submission["metric"] for one in before]


@pytest.mark.parametrize("name", JSON)
def test_a_key_that_is_missing_gives_a_grid_or_a_reason(name: str, tmp_path: Path) -> None:
    file = json.loads((FILES / name).read_text())
    target = file if isinstance(file, dict) else file[0]
    for key in target:
        less = {one: value for one, value in target.items() if one != key}
        outcome(placed(name, json.dumps(less if isinstance(file, dict) else [less, *file[1:]]).encode(), tmp_path))


@pytest.mark.parametrize("name", JSON)
@pytest.mark.parametrize("instead", [None, math.nan, math.inf, "N/A", -1, 1e308, True, [], {}])
def test_numbers_that_are_none_give_a_grid_or_a_reason(name: str, instead: Any, tmp_path: Path) -> None:
    file = json.loads((FILES / name).read_text())
    given = changed(file, lambda leaf: instead if isinstance(leaf, int | float) else leaf)
    form = JSON[name]
    for one in outcome(placed(name, json.dumps(given).encode(), tmp_path), form)[0]:
        assert not any(isinstance(value, float) and not math.isfinite(value) for value in leaves(one.found.submission))


def leaves(value: Any) -> list[Any]:
    if isinstance(value, dict | list):
        return [leaf for one in (value.values() if isinstance(value, dict) else value) for leaf in leaves(one)]
    return [value]


@pytest.mark.parametrize("name", JSON)
@pytest.mark.parametrize("instead", [None, [], {}, "text", 7])
def test_a_part_of_another_shape_gives_a_grid_or_a_reason(name: str, instead: Any, tmp_path: Path) -> None:
    file = json.loads((FILES / name).read_text())
    for at in range(25):
        given = mangled(file, at, instead)
        outcome(placed(name, json.dumps(given).encode(), tmp_path), JSON[name])
        outcome(placed(name, json.dumps(given).encode(), tmp_path))


@pytest.mark.parametrize("name", EVERY)
def test_a_file_that_was_cut_off_gives_a_grid_or_a_reason(name: str, tmp_path: Path) -> None:
    content = (FILES / name).read_bytes()
    for tenth in range(10):
        _, skipped = outcome(placed(name, content[: len(content) * tenth // 10], tmp_path))
        assert skipped or name not in JSON


@pytest.mark.parametrize("name", [*JSON, *TEXTS])
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "latin-1", "cp500"])
def test_other_encodings_give_the_same_grids_or_a_reason(name: str, encoding: str, tmp_path: Path) -> None:
    content = (FILES / name).read_text().replace("Accuracy", "Genauigkeit ü").encode(encoding, errors="replace")
    grids, skipped = outcome(placed(name, content, tmp_path))
    if encoding in ("utf-8-sig", "utf-16"):
        assert len(grids) == len(outcome(FILES / name)[0])
    else:
        assert skipped or grids


@pytest.mark.parametrize("form", FORMS)
def test_a_file_read_as_another_format_gives_a_grid_or_a_reason(form: str, tmp_path: Path) -> None:
    for name in EVERY:
        path = placed(name, (FILES / name).read_bytes(), tmp_path)
        if form in ("parquet", "netcdf"):
            pytest.importorskip({"parquet": "pyarrow", "netcdf": "xarray"}[form])
        outcome(path, form)


@pytest.mark.parametrize("content", EMPTY)
def test_a_file_without_results_is_a_reason_and_status_1(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    grids, [skipped] = outcome(path)
    assert grids == []
    answer = CliRunner().invoke(main, ["push", "--dry-run", str(tmp_path)])
    assert answer.exit_code == 1
    assert answer.stderr.splitlines()[-1] == "1 file was not read."
    assert "Traceback" not in answer.stderr
    assert skipped.source == str(path)


GRID = {"experiment": "e", "benchmark": "b", "model": "m", "metric": {"name": "x"}, "values": [1.0, 2.0],
        "axes": [{"name": "Step", "kind": "numeric", "levels": [0, 1]}]}  # fmt: skip


@pytest.mark.parametrize("member", GRID)
@pytest.mark.parametrize("instead", [None, 7, "text", [], {}, [[1, [2]]], {"a": 1}, [None], True, 1e999, "x" * 500])
def test_a_grid_of_ones_own_with_a_strange_member_is_a_reason(member: str, instead: Any, tmp_path: Path) -> None:
    path = tmp_path / "grid.json"
    path.write_text(json.dumps(GRID | {member: instead}))
    answer = CliRunner().invoke(main, ["push", "--dry-run", "-q", str(path)])
    assert answer.exception is None or isinstance(answer.exception, SystemExit), answer.exception
    assert answer.exit_code in (0, 1)
    assert (answer.exit_code == 0) == (answer.stderr == "")
    assert "cannot be read" not in answer.stderr
    assert all(pushing.positions(one.found.submission) > 0 for one in outcome(path)[0])
