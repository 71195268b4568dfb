"""`registry push` against a running registry: everything arrives once, and what is wrong has its place and status.

Outcomes of items go after their grid, again without harm, and are completed where they were missing.
"""

import hashlib
import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from registry.commands import pushing
from registry.demo import demo_grids
from registry.importers import formats
from registry.importers.imported_grid import Overrides
from registry.importers.source import Source
from results_registry import Refused, Transport, Unreachable
from tests.commands.terminal import Person
from tests.house import Project
from tests.importers.test_item_outcomes import FLAGS, harness

FILES = Path(__file__).parents[1] / "importers" / "files"
SEEDS = [str(FILES / f"seed_{seed}.txt") for seed in range(5)]
CELLS = sum(
    sum(value is not None for row in grid.get("values", []) for value in row) for grid in demo_grids()
)  # of the five documents


def test_all_seeds_are_pushed_as_they_are(person: Person, project: Project) -> None:
    report = person.json("push", *SEEDS)
    assert (report["new"], report["same"], report["faults"]) == (18, 0, [])
    items = project.get(f"projects/{project.slug}/grids?limit=1000").get_json()["items"]
    assert sum(item["cell_count"] for item in items) == CELLS > 200
    for item in items:
        stored = project.get(f"grids/{item['id']}").get_json()
        if stored["cell_count"]:
            assert any(grid.get("values") == stored["values"] for grid in demo_grids())


def test_each_grid_of_a_seed_keeps_its_file_and_the_doubts_of_the_reading(person: Person, project: Project) -> None:
    report = person.json("push", *SEEDS)
    notes = {
        (found.submission["benchmark"], found.submission["model"]): {(note.code, note.detail) for note in found.notes}
        for seed in SEEDS
        for found in formats.read(Source(seed, Path(seed)), Overrides())
    }
    digests = {hashlib.sha256(Path(seed).read_bytes()).hexdigest(): Path(seed).name for seed in SEEDS}
    counts: Counter[str] = Counter()
    for one in report["grids"]:
        grid = project.get(f"grids/{one['id']}").get_json()
        assert (grid["source"]["format"], grid["source"]["name"]) == ("markdown", digests[grid["source"]["sha256"]])
        stored = {(warning["code"], warning["detail"]) for warning in grid["warnings"]}
        assert notes[grid["benchmark"], grid["model"]] <= stored
        assert stored, "every seed leaves something to the reader"
        counts[grid["source"]["name"]] += 1
    assert sorted(counts.values()) == [1, 1, 4, 4, 8]
    told = {Path(line["detail"].split(":")[0]).name: line["times"] for line in report["warnings"]
            if "experiment: it is called" in line["detail"]}  # fmt: skip
    assert told.items() <= counts.items(), "each is told once, though the answer has it too"
    assert len(told) >= 4


def test_records_of_several_files_name_their_folder(person: Person, project: Project) -> None:
    folder = person.home / "runs"
    folder.mkdir()
    for seed in (1, 2):
        (folder / f"{seed}.jsonl").write_text(f'{{"Length": 1, "acc": {seed}}}\n{{"Length": 2, "acc": {seed}}}\n')
    names = [option for kind in ("experiment", "benchmark", "model") for option in (f"--{kind}", kind)]
    report = person.json("push", str(folder), *names, "--axes", "Length", "--value", "acc", "--repeats", "file")
    grid = project.get(f"grids/{report['grids'][0]['id']}").get_json()
    assert grid["source"] == {"format": "records", "name": f"{folder} (2 files of records)"}
    report = person.json("push", str(folder / "1.jsonl"), *names, "--axes", "Length", "--value", "acc")
    grid = project.get(f"grids/{report['grids'][0]['id']}").get_json()
    digest = hashlib.sha256((folder / "1.jsonl").read_bytes()).hexdigest()
    assert grid["source"] == {"format": "records", "name": "1.jsonl", "sha256": digest}


def test_what_was_read_from_the_registry_keeps_the_source_that_it_has(person: Person, project: Project) -> None:
    source = {"format": "csv", "name": "first.csv"}
    published = project.published(source=source)
    file = person.home / "grid.json"
    file.write_text(json.dumps(project.get(f"grids/{published['id']}").get_json() | {"model": "copy"}))
    report = person.json("push", str(file))
    assert project.get(f"grids/{report['grids'][0]['id']}").get_json()["source"] == source


def test_a_pipe_gets_a_row_for_each_grid(person: Person) -> None:
    [row] = person.rows("push", SEEDS[0])
    assert (row["model"], row["metric"], row["revision"]) == ("Qwen-2.5 3B", "accuracy", "1")


def test_a_dry_run_shows_axes_cells_and_warnings_and_sends_nothing(person: Person, project: Project) -> None:
    said = person.says("push", "--dry-run", SEEDS[1])
    assert "Type, nominal, 7 levels: 1, 2, 3, 4, 5, 6, 7" in said
    assert "Length, numeric, 15 levels: 5, 6, 7" in said
    assert "35 of 105 cells, from 46.3 to 99" in said
    assert 'nothing names the experiment: it is called "type-by-length"' in said
    assert project.get(f"projects/{project.slug}/grids").get_json()["items"] == []


def test_what_a_file_does_not_say_is_asked_for(person: Person) -> None:
    table = person.home / "t.csv"
    table.write_text("Length,0,1\na,1,2\n")
    said = person.complains("push", str(table), "--columns", "Step")
    assert "--experiment NAME --benchmark NAME --model NAME --metric NAME" in said


def test_a_fault_names_the_file_the_line_and_the_cell(person: Person) -> None:
    table = person.home / "t.csv"
    table.write_text("Length,value\n0,1\n1,many\n")
    said = person.complains("push", "-q", str(table), "--dry-run")
    assert f'{table}:3:2: "many" is not a number' in said


def test_what_the_registry_refuses_is_told_at_its_place(person: Person) -> None:
    table = person.home / "t.csv"
    table.write_text("Length,value\n0,1\n1,2\n")
    names = ["--experiment", "e", "--benchmark", "b", "--model", "m", "--metric", "x", "--upper", "1"]
    said = person.complains("push", "-q", str(table), *names)
    assert f"{table}:3:2: 2.0 is outside" in said


def test_what_the_options_say_of_every_grid_is_published(person: Person, project: Project) -> None:
    said = ["--trials", "300", "--questions", "60", "--design-effect", "1.5", "--derived", "--description", "*a file*"]
    person.json("push", SEEDS[0], *said)
    [grid] = project.get(f"projects/{project.slug}/grids").get_json()["items"]
    assert (grid["questions"], grid["design_effect"], grid["derived"]) == (60, 1.5, True)
    assert grid["description"] == "*a file*"


def test_a_folder_is_pushed_and_what_was_not_read_in_it_is_status_1(person: Person) -> None:
    folder = person.home / "results"
    shutil.copytree(FILES / "mteb", folder / "mteb")
    shutil.copy(FILES / "model_card.md", folder)
    (folder / "notes.bin").write_bytes(b"\x01\x02")
    report = json.loads(person.says("push", str(folder), "--json", status=1))
    assert (report["new"], report["files"], report["unread"]) == (3, 2, [str(folder / "notes.bin")])
    assert any("notes.bin: Its content is of no known format" in one for one in report["faults"])
    left_out = person.json("push", str(folder), "--exclude", "*.bin")
    assert (left_out["same"], left_out["unread"]) == (3, [])


def test_a_thousand_files_that_are_not_read_are_one_line_and_their_number_the_last(person: Person) -> None:
    folder = person.home / "strangers"
    folder.mkdir()
    for number in range(1000):
        (folder / f"{number:04}.json").write_text(json.dumps({"answer": number}))
    answer = person.run("push", str(folder))
    assert answer.exit_code == 1
    first, last = answer.stderr.splitlines()
    assert first.startswith(f"Error: {folder}/0000.json: Its JSON is of no known format")
    assert first.endswith("(and 999 more like this; --json has all)")
    assert last == "0 grids from 0 files: 0 new, 0 unchanged; 1,000 files were not read."
    assert person.run("push", "--dry-run", str(folder)).stderr.splitlines()[-1] == "1,000 files were not read."


def test_every_file_that_was_found_is_in_one_list_and_the_summary_adds_up(person: Person) -> None:
    folder, names = person.home / "all", ["--experiment", "e", "--model", "m", "--metric", "x"]
    folder.mkdir()
    for name, text in {
        "in.csv": "benchmark,Length,value\na,1,2\n", "copy.csv": "benchmark,Length,value\na,1,2\n",
        "part.csv": f"benchmark,Length,value\nb,1,2\n{'b' * 201},1,2\n", "fault.csv": "Length,value\n1,2\n2,3\n",
        "not.csv": "benchmark,Length,value\nc,1,two\n",
    }.items():  # fmt: skip
        (folder / name).write_text(text)
    lists = {
        "read": ["copy.csv", "in.csv"], "in_part": ["part.csv"], "at_fault": ["fault.csv"], "unread": ["not.csv"],
    }  # fmt: skip
    for more in ((), ("--dry-run",)):
        report = json.loads(person.says("push", str(folder), *names, *more, "--json", status=1))
        found = {name: [Path(one).name for one in report[name]] for name in lists}
        if more:  # the limit of names is the server's
            assert found.pop("in_part") == []
            assert found.pop("read") == ["copy.csv", "in.csv", "part.csv"]
        assert found.items() <= lists.items()
        assert (report["files"], len(report["faults"])) == (3, 2 if more else 3)
    last = person.run("push", str(folder), *names).stderr.splitlines()[-1]
    assert last == (
        "2 grids from 3 files: 0 new, 2 unchanged, 2 at fault; 1 file was at fault; 1 file was not read; "
        "1 file was read in part."
    )
    nothing = person.run("push", str(folder / "not.csv"), *names, "--dry-run", "--json")
    assert json.loads(nothing.stdout)["unread"] == [str(folder / "not.csv")], "a document though nothing was read"
    told = person.complains("push", "--dry-run", str(folder / "fault.csv"))
    assert "does not say its experiment, benchmark, model, metric: add" in told, "all at once"
    many = "Length,value\n" + "".join(f"{n},7±1\n" for n in range(9))
    (folder / "many.csv").write_text(many)
    told = person.says("push", "--dry-run", str(folder / "many.csv"), *names, "--benchmark", "b")
    assert [line[-22:] for line in told.splitlines() if "±" in line][-1] == "(and 6 more like this)"
    assert told.count("was read as 7") == 3


def test_an_empty_folder_is_status_1(person: Person) -> None:
    (person.home / "empty").mkdir()
    assert "empty: The folder holds no file" in person.complains("push", "empty")


def test_two_files_of_one_grid_are_told_apart_by_the_revision_that_the_format_gives(person: Person) -> None:
    for revision, score in (("aaa", 0.5), ("bbb", 0.75)):
        folder = person.home / "mteb" / "org__model" / revision
        folder.mkdir(parents=True)
        entry = {"hf_subset": "default", "main_score": score}
        (folder / "STS12.json").write_text(json.dumps({"task_name": "STS12", "scores": {"test": [entry]}}))
    report = person.json("push", "mteb")
    assert [(one["variant"], one["revision"]) for one in report["grids"]] == [("", 1), ("bbb", 1)]
    again = person.json("push", "mteb")
    assert (again["new"], again["same"]) == (0, 2)


def test_of_two_files_of_one_grid_without_a_revision_the_later_is_refused(person: Person, project: Project) -> None:
    names = ["--experiment", "e", "--benchmark", "b", "--model", "m", "--metric", "x"]
    for name, value in (("one", 1), ("same", 1), ("two", 2)):
        (person.home / f"{name}.csv").write_text(f"Length,value\n0,{value}\n1,2\n")
    answer = person.run("push", "one.csv", "same.csv", "two.csv", *names)
    assert answer.exit_code == 1
    assert "two.csv: e · b · m · x came from one.csv with other values; --variant" in answer.stderr
    [grid] = project.get(f"projects/{project.slug}/grids").get_json()["items"]
    assert grid["revision"] == 1
    assert project.get(f"grids/{grid['id']}").get_json()["values"] == [1, 2]


def test_a_batch_is_bounded_by_the_cells_of_its_grids(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pushing, "CELLS", 25)
    sizes: list[int] = []
    taken = pushing.Push._take

    def counted(self: pushing.Push, batch: Any, items: Any) -> None:
        sizes.append(len(batch))
        taken(self, batch, items)

    monkeypatch.setattr(pushing.Push, "_take", counted)
    axis = {"name": "Step", "kind": "numeric", "levels": list(range(10))}
    grid = {"experiment": "e", "benchmark": "b", "metric": {"name": "x"}, "axes": [axis], "values": [0.5] * 10}
    lines = "".join(json.dumps(grid | {"model": f"m{number}"}) + "\n" for number in range(5))
    (person.home / "five.ndjson").write_text(lines)
    assert person.json("push", "five.ndjson")["new"] == 5
    assert sizes == [2, 2, 1]


def test_a_folder_of_records_is_one_grid_and_pushed_again_the_same(person: Person) -> None:
    asked = ["push", str(FILES / "needles"), "--axes", "context_length,depth_percent", "--value", "score"]
    asked += ["--repeats", "version", "--experiment", "niah", "--benchmark", "needle"]
    first, again = person.json(*asked), person.json(*asked)
    assert (first["new"], first["files"], first["unread"]) == (1, 5, [])
    assert (again["new"], again["same"]) == (0, 1)


def test_a_record_at_fault_is_named_and_loses_no_other_file(person: Person) -> None:
    folder = person.home / "records"
    folder.mkdir()
    for step in range(5):
        (folder / f"{step}.json").write_text(json.dumps({"step": step, "score": step / 4}))
    (folder / "2.json").write_text(json.dumps([{"step": 2, "score": 1}, {"step": 9, "score": "high"}]))
    asked = ["push", str(folder), "--axes", "step", "--value", "score", "--experiment", "e", "--benchmark", "b"]
    report = json.loads(person.says(*asked, "--model", "m", "--json", status=1))
    assert (report["new"], report["files"], report["unread"]) == (1, 4, [str(folder / "2.json")])
    [fault] = report["faults"]
    assert fault.startswith(f'{folder}/2.json /1/score: "high" is not a number')
    (folder / "2.json").write_text(json.dumps({"step": 2, "score": 1, "model": "n"}))
    report = json.loads(person.says(*asked, "--json", status=1))
    assert len(report["unread"]) == 5
    assert f"{folder}/0.json /0/model: is empty" in report["faults"][0]


@pytest.mark.parametrize("options", [["--axes", "step", "--value", "v"], []])
@pytest.mark.parametrize("lines", [False, True])
def test_a_key_that_comes_twice_in_a_record_is_refused(person: Person, options: list[str], lines: bool) -> None:
    record = '{"step": 1, "model": "m", "metric": "x", "axes": [], "values": 1, "v": 1, "v": 5}'
    (person.home / "twice.json").write_text(f"{record}\n" * 2 if lines else f"[{record}]")
    names = ["--experiment", "e", "--benchmark", "b"]
    said = person.complains("push", "twice.json", *options, *names)
    assert 'key "v" comes twice in one object' in said
    assert ("Line 1" in said) == lines


def test_a_batch_that_is_refused_as_a_whole_loses_only_the_grid_at_fault(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = Transport.call

    def narrow(self: Transport, method: str, path: str, body: Any = None, **options: Any) -> Any:
        if b"too large" in (body or b""):
            raise Refused(413, {"status": 413, "detail": "The body is too large."})
        return call(self, method, path, body, **options)

    monkeypatch.setattr(Transport, "call", narrow)
    grid = {"experiment": "e", "benchmark": "b", "metric": {"name": "x"}, "axes": [], "values": 1.0}
    lines = [json.dumps(grid | {"model": name}) for name in ("a", "b", "too large", "c", "d")]
    (person.home / "some.ndjson").write_text("\n".join(lines))
    report = json.loads(person.says("push", "some.ndjson", "--json", status=1))
    assert (report["new"], report["refused"], report["faults"]) == (4, 1, ["some.ndjson: The body is too large."])


def test_a_project_that_is_not_there_is_said_to_be_made(person: Person) -> None:
    answer = person.run("push", "-p", "nobodys", SEEDS[0])
    assert answer.exit_code == 4
    said = answer.stderr
    assert 'There is no project "nobodys"' in said
    assert "`registry project create nobodys`" in said


def test_a_push_that_was_cut_off_is_completed_by_another(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    grid = {"experiment": "e", "benchmark": "b", "metric": {"name": "x"}, "axes": [], "values": 1.0}
    lines = person.home / "many.ndjson"
    lines.write_text("".join(json.dumps(grid | {"model": f"m{n}"}) + "\n" for n in range(30)))
    monkeypatch.setattr(pushing, "TOGETHER", 10)
    taken = pushing.Push._take
    calls: list[int] = []

    def interrupted(self: pushing.Push, *given: object) -> None:
        taken(self, *given)  # type: ignore[arg-type]
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(pushing.Push, "_take", interrupted)
    assert person.run("push", str(lines)).exit_code == 130
    monkeypatch.setattr(pushing.Push, "_take", taken)
    report = person.json("push", str(lines))
    assert (report["new"], report["same"]) == (10, 20)


def test_a_push_says_how_its_grids_were_measured(person: Person) -> None:
    person.json("push", SEEDS[0], "--protocol", "harness=a=b", "--protocol", "shots=5")
    [row] = person.rows("ls")
    assert person.json("show", row["id"])["protocol"] == {"harness": "a=b", "shots": 5}
    assert "Protocol: harness a=b · shots 5" in person.page("show", row["id"])
    for wrong in (["shots"], ["shots=5", "--protocol", "shots=3"]):
        answer = person.run("push", SEEDS[0], "--protocol", *wrong)
        assert (answer.exit_code, "KEY=VALUE" in answer.stderr) == (2, True)


def test_without_an_answer_the_grids_wait_in_the_spool(person: Person, address: str) -> None:
    away = person.having(REGISTRY_URL="http://127.0.0.1:9")
    answer = away.run("push", SEEDS[0])
    assert answer.exit_code == 5
    assert "registry sync" in answer.stderr
    assert person.run("sync", "--any-url", "--url", address).exit_code == 0
    [row] = person.rows("ls")
    assert row["model"] == "Qwen-2.5 3B"


def test_a_wrong_token_is_status_4_and_a_wrong_option_status_2(person: Person) -> None:
    assert person.having(REGISTRY_TOKEN="rgs_wrong").run("push", SEEDS[0]).exit_code == 4
    assert person.run("push", "nothing.csv").exit_code == 2
    assert person.run("push", SEEDS[0], "--label", "x").exit_code == 2


def stored(project: Project) -> dict[str, Any]:
    [grid] = project.get(f"projects/{project.slug}/grids").get_json()["items"]
    found: dict[str, Any] = project.get(f"grids/{grid['id']}/items?outcomes=true").get_json()
    return found


def test_samples_are_pushed_with_their_results(person: Person, project: Project, tmp_path: Path) -> None:
    harness(tmp_path / "runs", {"arc": FLAGS})
    report = person.json("push", str(tmp_path / "runs"))
    assert (report["new"], report["faults"], report["unread"]) == (1, [], [])
    found = stored(project)
    assert [(one["name"], one["count"], one["cells"]) for one in found["sets"]] == [("arc", 6, 1)]
    assert found["cells"][0]["outcomes"] == "tA=="  # 101101 in the high bits
    assert found["cells"][0]["mean"] == pytest.approx(4 / 6)


def test_a_repeated_push_completes_a_grid_without_items(
    person: Person, project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection breaks after the grid: it is there without items; the same push again adds them."""
    harness(tmp_path / "runs", {"arc": FLAGS})
    call = Transport.call

    def broken(self: Transport, method: str, path: str, *given: Any, **named: Any) -> Any:
        if path.endswith("/items"):
            raise Unreachable("The cable is cut.")
        return call(self, method, path, *given, **named)

    with monkeypatch.context() as patched:
        patched.setattr(Transport, "call", broken)
        person.run("push", str(tmp_path / "runs"))
    assert stored(project)["cells"] == []
    report = person.json("push", str(tmp_path / "runs"))
    assert (report["new"], report["same"]) == (0, 1)
    assert len(stored(project)["cells"]) == 1
    again = person.json("push", str(tmp_path / "runs"))
    assert (again["same"], again["warnings"]) == (1, [])


def test_what_was_kept_for_later_brings_its_items_too(
    person: Person, project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness(tmp_path / "runs", {"arc": FLAGS})
    with monkeypatch.context() as patched:

        def away(*_given: Any, **_named: Any) -> Any:
            raise Unreachable("Nobody is there.")

        patched.setattr(Transport, "call", away)
        person.run("push", str(tmp_path / "runs"))
    person.run("sync")
    assert len(stored(project)["cells"]) == 1


def test_other_outcomes_of_the_same_mean_are_a_warning(person: Person, project: Project, tmp_path: Path) -> None:
    harness(tmp_path / "runs", {"arc": FLAGS})
    person.json("push", str(tmp_path / "runs"))
    harness(tmp_path / "runs", {"arc": [0, 1, 1, 1, 0, 1]})
    report = person.json("push", str(tmp_path / "runs"))
    assert report["same"] == 1
    assert any("other outcomes" in one["detail"] for one in report["warnings"])
