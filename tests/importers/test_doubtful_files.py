"""Every format's files of the years before and after, cut off, in other encodings, and of another format.

Whatever is wrong with a file, a push gives its grids or says in one line what was not read; never a trace, and never
status 0 for a loss.
"""

import itertools
import json
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from registry.cli import main
from registry.commands import pushing
from registry.importers.imported_grid import Overrides
from registry.importers.reading import Item, Skipped, Sources, items_of

FILES = Path(__file__).parent / "files"
JSON = {
    "lm_eval.json": "lm-eval", "inspect.json": "inspect", "mlflow.json": "mlflow",
    "mteb/some__encoder/2/STS12.json": "mteb",
}  # fmt: skip
TEXTS = ("model_card.md", "tables/github.md",
         "tables/retrieval.csv", "seed_0.txt")  # fmt: skip
BYTES = ("inspect.eval", "tidy.parquet")
EVERY = (*JSON, *TEXTS, *BYTES)
FORMS = sorted({*JSON.values(), "grid", "records", "markdown", "csv", "parquet",
                "model-index"})  # fmt: skip
EMPTY = [
    b"{}", b"[]", b'{"results": {}, "versions": {}}', b'{"runs": []}', b"null", b"\x00" * 99, b"\n\n", b"a,b\n",
    b"---\nmodel-index:\n- name: m\n  results: []\n---\n", b"[" * 100_000, b'{"a": ' * 100_000,
    b'{"scores": {}, "task_name": "x"}', b"PK\x03\x04junk", b"PAR1junk", b"\x1f\x8bjunk",
]  # fmt: skip
GRID = {"experiment": "e", "benchmark": "b", "model": "m", "metric": {"name": "x"}, "values": [1.0, 2.0],
        "axes": [{"name": "Step", "kind": "numeric", "levels": [0, 1]}]}  # fmt: skip
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


def placed(name: str, content: bytes | Any, folder: Path) -> Path:
    """A file of this name with these bytes, or this JSON value."""
    path = folder / Path(name).name
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


def sample(name: str) -> Any:
    return json.loads((FILES / name).read_text())


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


def test_keys_that_came_later_change_nothing(subtests, tmp_path: Path) -> None:
    for name in JSON:
        with subtests.test(msg=name):
            file = sample(name)
            target = file if isinstance(file, dict) else file[0]
            target["a_key_of_next_year"] = {"schema": [1, 2, {"deep": None}], "note": "text"}
            before, after = outcome(FILES / name)[0], outcome(placed(name, file, tmp_path))
            assert after[1] == []
            metrics = [[one.found.submission["metric"] for one in grids] for grids in (before, after[0])]
            assert metrics[0] == metrics[1]


def test_a_key_that_is_missing_or_has_another_shape_gives_a_grid_or_a_reason(subtests, tmp_path: Path) -> None:
    for name, form in JSON.items():
        file = sample(name)
        target = file if isinstance(file, dict) else file[0]
        for key in target:
            with subtests.test(msg=name, without=key):
                less = {one: value for one, value in target.items() if one != key}
                outcome(placed(name, less if isinstance(file, dict) else [less, *file[1:]], tmp_path))
        for instead in (None, [], {}, "text", 7):
            with subtests.test(msg=name, instead=instead):
                for at in range(25):
                    path = placed(name, mangled(file, at, instead), tmp_path)
                    outcome(path, form)
                    outcome(path)


def test_numbers_that_are_none_give_a_grid_or_a_reason(subtests, tmp_path: Path) -> None:
    for name, form in JSON.items():
        file = sample(name)
        for instead in (None, math.nan, math.inf, "N/A", -1, 1e308, True, [], {}):
            with subtests.test(msg=name, instead=instead):
                given = changed(file, lambda leaf, to=instead: to if isinstance(leaf, int | float) else leaf)
                for one in outcome(placed(name, given, tmp_path), form)[0]:
                    numbers = [value for value in leaves(one.found.submission) if isinstance(value, float)]
                    assert all(map(math.isfinite, numbers))


def leaves(value: Any) -> list[Any]:
    if isinstance(value, dict | list):
        return [leaf for one in (value.values() if isinstance(value, dict) else value) for leaf in leaves(one)]
    return [value]


def test_a_file_that_was_cut_off_gives_a_grid_or_a_reason(subtests, tmp_path: Path) -> None:
    for name in EVERY:
        with subtests.test(msg=name):
            content = (FILES / name).read_bytes()
            for tenth in range(10):
                _, skipped = outcome(placed(name, content[: len(content) * tenth // 10], tmp_path))
                assert skipped or name not in JSON


def test_other_encodings_give_the_same_grids_or_a_reason(subtests, tmp_path: Path) -> None:
    for name, encoding in itertools.product((*JSON, *TEXTS), ("utf-8-sig", "utf-16", "utf-16-le", "latin-1", "cp500")):
        with subtests.test(msg=name, encoding=encoding):
            content = (FILES / name).read_text().replace("Accuracy", "Genauigkeit ü")
            grids, skipped = outcome(placed(name, content.encode(encoding, errors="replace"), tmp_path))
            if encoding in ("utf-8-sig", "utf-16"):
                assert len(grids) == len(outcome(FILES / name)[0])
            else:
                assert skipped or grids


def test_a_file_read_as_another_format_gives_a_grid_or_a_reason(subtests, tmp_path: Path) -> None:
    for form in FORMS:
        with subtests.test(msg=form):
            for name in EVERY:
                outcome(placed(name, (FILES / name).read_bytes(), tmp_path), form)


def test_a_file_without_results_is_a_reason_and_status_1(subtests, tmp_path: Path) -> None:
    path = tmp_path / "file"
    for content in EMPTY:
        with subtests.test(msg=content[:50]):
            path.write_bytes(content)
            grids, [skipped] = outcome(path)
            assert grids == []
            assert skipped.source == str(path)
            answer = CliRunner().invoke(main, ["push", "--dry-run", str(tmp_path)])
            assert answer.exit_code == 1
            assert answer.stderr.splitlines()[-1] == "1 file was not read."
            assert "Traceback" not in answer.stderr


def test_a_grid_of_ones_own_with_a_strange_member_is_a_reason(subtests, tmp_path: Path) -> None:
    path = tmp_path / "grid.json"
    strange = (None, 7, "text", [], {}, [[1, [2]]], {"a": 1}, [None], True, 1e999, "x" * 500)
    for member, instead in itertools.product(GRID, strange):
        with subtests.test(member=member, instead=instead):
            path.write_text(json.dumps(GRID | {member: instead}))
            answer = CliRunner().invoke(main, ["push", "--dry-run", "-q", str(path)])
            assert answer.exception is None or isinstance(answer.exception, SystemExit), answer.exception
            assert answer.exit_code in (0, 1)
            assert (answer.exit_code == 0) == (answer.stderr == "")
            assert "cannot be read" not in answer.stderr
            assert all(pushing.positions(one.found.submission) > 0 for one in outcome(path)[0])


def test_a_file_that_would_never_end_is_a_reason(subtests, tmp_path: Path) -> None:
    lines = ['a: &a ["x", "x", "x", "x", "x", "x", "x", "x", "x"]']
    lines += [f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]" for a, b in itertools.pairwise("abcdefghi")]
    card = "\nmodel-index:\n- name: *i\n  results:\n  - dataset: {name: d}\n    metrics: [{type: acc, value: 1}]\n---\n"
    (tmp_path / "README.md").write_text("---\n" + "\n".join(lines) + card)
    (tmp_path / "itself.md").write_text("---\na: &a [*a]" + card.replace("*i", "*a"))
    os.mkfifo(tmp_path / "pipe.json")
    for path in sorted(tmp_path.iterdir()):
        with subtests.test(path.name):
            [found] = items_of(Sources((str(path),), "auto", Overrides()))
            assert isinstance(found, Skipped)
