"""Tables and records as people keep them: README files, papers, folders of one's own JSON.

All that is sent of a file besides its values is in `__snapshots__`.
"""

from pathlib import Path
from typing import Any

import pytest

from registry.errors import Invalid
from registry.importers import formats, sheet
from registry.importers.imported_grid import ImportedGrid, Overrides
from registry.importers.markup import listed, measured, plain
from registry.importers.reading import Item, Skipped, Sources, items_of
from registry.importers.scores import meaning_of
from registry.importers.source import Source
from tests.importers.test_formats import told, values_of

FILES = Path(__file__).parent / "files"


def read(name: str, **wanted: Any) -> tuple[list[ImportedGrid], list[str]]:
    """The grids of a file or a folder, and what was at fault."""
    items = list(items_of(Sources((str(FILES / name),), "auto", Overrides(**wanted))))
    faults = [str(said).removeprefix(f"{FILES}/") for one in items if isinstance(one, Skipped) for said in one.faults()]
    return [one.found for one in items if isinstance(one, Item)], faults


READ = {
    "**96.0**": 96.0, "<ins>96.7</ins>": 96.7, "*42.7*": 42.7, "***1***": 1.0, "`0.5`": 0.5, "100%": 100.0,
    "88 %": 88.0, "1,354": 1354.0, "1,234.5": 1234.5, "99.3 (84.4)": 99.3, "70.1±0.3": 70.1, "70.1 ± 0.3%": 70.1,
    "0.5 +/- 0.1": 0.5, "93.3†": 93.3, "~12": 12.0, "−1.5": -1.5, "TBD": None, "⏳": None, r"\-": None, "--": None,
    "NaN": None, "—": None, "<b>7</b><br>": 7.0,
}  # fmt: skip
UNREAD = ["0,123", "12,34", "1_000", "v1", "1.2.3", "3/4", "2024-07", "5 of 6", "", "0x10"]
BETWEEN_DIGITS = ["99.9<sup>1", "1<b>2</b>", "7</b><i>2", "45<b>.2</b>", "<s>9</s>10", "77<sub>3</sub>8"]


def test_a_number_is_read_as_a_person_reads_it(subtests) -> None:
    for cell, value in READ.items():
        with subtests.test(cell=cell):
            found = measured(cell)
            assert found is not None
            assert found.value == value


def test_what_may_be_another_number_is_none_and_a_tag_between_digits_makes_no_one_number(subtests) -> None:
    for cell in (*UNREAD, *BETWEEN_DIGITS):
        with subtests.test(cell=cell):
            assert measured(cell) is None
            assert cell in UNREAD or measured(plain(cell)) is None


RAISED = {
    "99.9<sup>1</sup>": 99.9, "77<sub>0.3</sub>": 77.0, "45.2<sup>2</sup>": 45.2, "**70.1**<sup>2</sup>": 70.1,
    "**45.2<sup>2</sup>**": 45.2, "<sup>1</sup>9": 9.0, '70.1<sup><a href="#f">[1]</a></sup>%': 70.1,
    "70.1<sup>a</sup><sub>2</sub>": 70.1, "45.2[1](#note)": 45.2, "70.1 (3)<sup>1</sup>": 70.1,
}  # fmt: skip
STRUCK = ["~~9~~", "**~~9~~**", "~~**9**~~", "<del>9</del>", "<s>9</s>", "~~9~~<sup>1</sup>"]


def table(form: str, text: str, rows: str = "r") -> ImportedGrid:
    [found] = formats.read(Source("x", given=text.encode()), Overrides(rows=rows, columns="c", metric="x"), form)
    return found


def test_what_is_raised_at_a_number_is_no_part_of_it_and_is_noted(subtests) -> None:
    for cell, value in RAISED.items():
        for form, text in {"csv": f"L,p,q\na,{cell},1\n", "markdown": f"|L|p|q|\n|-|-|-|\n|a|{cell}|1|\n"}.items():
            with subtests.test(cell=cell, form=form):
                found = table(form, text)
                assert found.submission["values"] == [[value, 1.0]]
                assert [note.code for note in found.notes if note.place is not None] == ["brackets_left_out"]


def test_a_number_that_is_struck_out_is_a_gap_with_a_note(subtests) -> None:
    for cell in STRUCK:
        with subtests.test(cell=cell):
            found = table("markdown", f"|L|p|q|\n|-|-|-|\n|a|{cell}|1|\n")
            assert found.submission["values"] == [[None, 1.0]]
            assert "gap_read" in [note.code for note in found.notes]
    assert plain("~~old~~") == "old"


def test_labels_lose_marks_and_the_dash_of_a_list_but_no_sign() -> None:
    assert plain("[**Gemini**](https://example.org/g)") == "Gemini"
    assert [listed(label) for label in ("- GPT-4", "+ CoT", "-", "-1")] == ["GPT-4", "+ CoT", "-", "-1"]


def test_a_grid_of_more_rows_than_a_grid_has_is_refused_before_all_are_held(monkeypatch) -> None:
    monkeypatch.setattr(sheet, "_MOST_ROWS", 4)
    source = Source("x", given=b"experiment,benchmark,model,L,value\n" + b"e,b,m,1,2\n" * 100)
    with pytest.raises(Invalid, match="a grid has at most 4 rows, repeats included") as refused:
        list(formats.read(source, Overrides(metric="x"), "csv"))
    assert [fault.pointer for fault in refused.value.faults] == ["/line/6/column/5"]


NEEDLES: dict[str, Any] = {"experiment": "niah", "benchmark": "needle", "value": "score"}
README = {"rows": "model", "columns": "length", "metric": "score", "benchmark": "LongBench"}
RETRIEVAL = {"axes": ("context_length", "document_depth_percent"), "repeats": "seed", **NEEDLES}
VALUES: dict[str, tuple[dict[str, Any], list[Any]]] = {
    "tables/github.md": (README, [[96.7, 95.8, 96.0], [99.3, 100.0, None], [70.1, None, None], [1354.0, None, 93.3]]),
    "tables/retrieval.csv": (RETRIEVAL, [[1.0, 0.5, 0.25, 1.0, 0.75]]),
    "needles": (
        {"axes": ("context_length", "depth_percent"), "repeats": "version", **NEEDLES},
        [[10.0, 7.0, 3.0, 10.0, 1.0]],
    ),
}
"""What is wanted of each file, and the values of its grids, which were written down by hand from the files."""


def test_every_file_is_read_with_its_values_axes_names_and_notes_and_the_bad_part_is_named(subtests, snapshot) -> None:
    for name, (wanted, values) in VALUES.items():
        with subtests.test(msg=name):
            found, faults = read(name, **wanted)
            assert [values_of(one.submission) for one in found] == values
            assert told(found) == snapshot(name=name)
            assert faults == snapshot(name=f"faults of {name}")


def test_the_registry_itself_takes_no_such_cell() -> None:
    body = b"|Length|0|1|\n|---|---|---|\n|a|88%|1|\n"
    with pytest.raises(Invalid, match="is not a number"):
        list(formats.read(Source("x", given=body), Overrides(columns="b", reads_prose=False, single=True), "markdown"))


def test_a_sign_of_per_cent_is_the_unit_only_of_numbers_that_all_have_it() -> None:
    for second, unit in (("1,354", None), ("12%", "%"), ("", "%")):
        found = table("csv", f'L,Score,Params\na,45.0%,"{second}"\n')
        assert found.submission["metric"].get("unit") == unit
        assert ("percent_mixed" in [note.code for note in found.notes]) == (unit is None)


def test_a_table_without_a_metric_is_told_without_a_name_for_it() -> None:
    [found] = formats.read(Source("x", given=b"L,p,q\na,1,2\n"), Overrides(rows="r", columns="c"), "csv")
    [said] = [note.detail for note in found.notes if note.code == "direction_unknown"]
    assert said == "whether more or less is better is not known: no peaks and no rankings"


def test_columns_of_a_table_can_be_dropped() -> None:
    away = "Unnamed: 0|run_url|inputs_question|outputs|needles|reason_text|latency|tokens|error|tags"
    [dropped], _ = read("tables/retrieval.csv", drop=tuple(away.split("|")), repeats="seed", **NEEDLES)
    [chosen], _ = read("tables/retrieval.csv", **RETRIEVAL)
    assert dropped.submission["cells"] == chosen.submission["cells"]


def test_a_table_without_a_column_value_says_how_to_name_one() -> None:
    assert "say --value COLUMN" in read("tables/retrieval.csv")[1][0]
    assert "--axes NAMES or --drop NAMES chooses" in read("tables/retrieval.csv", value="score")[1][0]
    [unknown] = read("tables/retrieval.csv", value="scores")[1]
    assert 'there is no column "scores"; there are: Unnamed: 0, run_url' in unknown


def test_records_of_a_list_and_of_lines_are_read_and_a_file_without_the_key_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('[{"step": 0, "scores": {"em": 0.5}}, {"step": 1, "scores": {"em": NaN}}]')
    (tmp_path / "b.jsonl").write_text('{"step": 2, "scores": {"em": 1}}\n{"step": 3, "scores": {"em": true}}\n')
    (tmp_path / "c.json").write_text('{"step": 4}')
    names = {"experiment": "e", "benchmark": "b", "model": "m"}
    found, faults = read(str(tmp_path), axes=("step",), value="scores.em", **names)
    assert faults[0].endswith('b.jsonl /1/scores.em: "true" is not a number; a cell that nobody measured is left empty')
    assert [one.submission["values"] for one in found] == [[0.5, None]]
    (tmp_path / "b.jsonl").write_text('{"step": 2, "scores": {"em": 1}}\n{"step": 3, "scores": {"em": 0.25}}\n')
    [one], faults = read(str(tmp_path), axes=("step",), value="scores.em", **names)
    assert [fault.rpartition("/")[2] for fault in faults] == ['0: there is no "scores.em"; there are: step']
    assert one.submission["values"] == [0.5, None, 1.0, 0.25]
    assert one.submission["metric"]["name"] == "scores.em"


NAMED = {"experiment": "e", "benchmark": "b"}


def written(path: Path, text: str, **wanted: Any) -> tuple[list[dict[str, Any]], list[str], list[str]]:
    """What is sent of a file or folder with these names, its notes, and its faults."""
    if text:
        path.write_text(text)
    items = list(items_of(Sources((str(path),), "auto", Overrides(**NAMED | wanted))))
    found = [one.found for one in items if isinstance(one, Item)]
    faults = [said.detail for one in items if isinstance(one, Skipped) for said in one.faults()]
    return [one.submission for one in found], [note.code for one in found for note in one.notes], faults


def test_a_column_of_a_pivot_can_be_dropped_and_the_others_keep_their_places(tmp_path: Path) -> None:
    text = "model,note,a,b\nm1,good text,1,2\nm2,other,3,x\n"
    wanted = {"rows": "model", "columns": "task", "metric": "acc", "drop": ("note",)}
    _, _, faults = written(tmp_path / "p.csv", text, **wanted)
    assert '"x" is not a number; a cell that nobody measured is left empty' in faults
    [skipped] = items_of(Sources((str(tmp_path / "p.csv"),), "auto", Overrides(**NAMED | wanted)))
    assert isinstance(skipped, Skipped)
    assert [said.place.rpartition("p.csv")[2] for said in skipped.faults()][-1] == ":3:4"
    sent, _, faults = written(tmp_path / "p.csv", text.replace("x", "4"), **wanted)
    assert (faults, [(one["model"], one["values"]) for one in sent]) == ([], [("m1", [1, 2]), ("m2", [3, 4])])
    _, _, faults = written(tmp_path / "p.csv", text, **wanted | {"drop": ("nope",)})
    assert 'there is no column "nope"; there are: model, note, a, b' in faults


def test_a_column_is_what_the_caller_says_and_one_like_an_error_is_doubted(tmp_path: Path) -> None:
    """What pandas writes: a first heading that is empty."""
    path, text = tmp_path / "q.csv", ",acc,se\na,0.5,.1\nb,0.6,.2\n"
    sent, codes, _ = written(path, text, value="acc", roles={"model": "", "stderr": "se"})
    assert [(one["model"], one["values"], one["stderr"]) for one in sent] == [("a", 0.5, 0.1), ("b", 0.6, 0.2)]
    assert "stderr_unread" not in codes
    sent, codes, _ = written(path, text, value="acc", rows="model")
    assert [(one["model"], one["axes"], "stderr" in one) for one in sent] == [("a", [], False), ("b", [], False)]
    assert codes.count("stderr_unread") == 2
    _, _, [fault] = written(path, text, value="acc")
    assert "a heading is empty: --column model=" in fault
    _, codes, _ = written(path, "model,some,std_err\na,1,2\n", metric="x", columns="c")
    assert "stderr_unread" in codes, "of a pivot too"
    text_of_noise = "model,noise_std,acc,acc_std\na,0.1,0.5,.1\na,0.2,0.4,.2\n"
    [sent_axis], codes, _ = written(path, text_of_noise, value="acc")
    assert ([axis["name"] for axis in sent_axis["axes"]], codes.count("stderr_unread")) == (["noise_std"], 1)
    _, _, [fault] = written(path, text, value="acc", roles={"model": "name"})
    assert fault == 'there is no column "name"; there are: , acc, se'
    _, _, [fault] = written(path, "model,acc\na,1\n", value="acc", rows="x", columns="y")
    assert "--rows and --columns are for a pivot" in fault


def test_several_columns_of_values_are_as_many_metrics(tmp_path: Path) -> None:
    text = "model,top1,top5,img_size\na,80.1,90.2,224\nb,81,,224\n"
    sent, _, _ = written(tmp_path / "t.csv", text, value="top1,top5")
    found = [(one["metric"]["name"], one["model"], one["values"]) for one in sent]
    assert found == [("top1", "a", [80.1]), ("top1", "b", [81]), ("top5", "a", [90.2]), ("top5", "b", [None])]
    assert {axis["name"] for one in sent for axis in one["axes"]} == {"img_size"}
    _, _, [fault] = written(tmp_path / "t.csv", text, value="top1,top5", metric="acc")
    assert "several columns of values are several metrics" in fault
    path = tmp_path / "t.json"
    sent, _, _ = written(path, '[{"model": "a", "x": 1, "y": 2}]', value="x,y")
    assert [(one["metric"]["name"], one["values"]) for one in sent] == [("x", 1), ("y", 2)]
    _, _, [fault] = written(path, '[{"model": "a"}]', value="x,y")
    assert fault == 'there is no "x", "y"; there are: model'


def test_columns_of_very_different_sizes_are_doubted_to_be_one_metric(tmp_path: Path) -> None:
    """Of the benchmarks of timm: a throughput beside a number of parameters."""
    wanted = {"rows": "model", "columns": "col", "metric": "x"}
    _, codes, _ = written(tmp_path / "t.csv", "model,samples_per_sec,param_count\na,44977.77,1.37\n", **wanted)
    assert "sizes_differ" in codes
    for text in ("model,top1,top5\na,80.1,90.2\n", "model,1K,4K\na,0.001,90\n"):
        _, codes, _ = written(tmp_path / "t.csv", text, **wanted)
        assert "sizes_differ" not in codes, "near ones, and levels that are numbers"


def test_files_of_records_at_one_coordinate_are_no_mean_of_models_unless_somebody_says_so(tmp_path: Path) -> None:
    for name, value in (("modelA-1.5", 60), ("modelB", 62)):
        (tmp_path / f"{name}.json").write_text(f'{{"eps": "8/255", "acc": {value}}}')
    wanted = {"value": "acc", "axes": ("eps",), "model": "X"}
    _, _, [fault] = written(tmp_path, "", **wanted)
    assert f"modelA-1.5.json /0 and {tmp_path}/modelB.json /0 both hold eps 8/255: --repeats NAME says" in fault
    assert fault.endswith("--model-from file makes each file a model")
    [sent], _, _ = written(tmp_path, "", **wanted, repeats="file")
    assert [cell["value"] for cell in sent["cells"]] == [60, 62]
    sent_each, _, _ = written(tmp_path, "", **wanted | {"model": None, "model_from": "file"})
    assert [(one["model"], one["values"]) for one in sent_each] == [("modelA-1.5", [60]), ("modelB", [62])]
    (tmp_path / "m3").mkdir()
    table, _, _ = written(tmp_path / "m3" / "t.csv", "Length,value\n1,2\n", metric="x", model_from="folder")
    assert [one["model"] for one in table] == ["m3"]


def test_rows_at_one_coordinate_are_refused_by_line_unless_they_are_said_to_be_repeats(tmp_path: Path) -> None:
    """Of a table that two tables were joined to, one by mistake twice."""
    names = {"experiment": "e", "benchmark": "b", "model": "m", "metric": "x", "axes": ("Length",)}
    rows = [("1", 1, 60), ("2", 1, 70), ("1.0", 2, 62), ("1", 2, 61)]
    table = "Length,seed,x\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows)
    lines = "".join(f'{{"Length": {a}, "seed": {b}, "x": {c}}}\n' for a, b, c in rows)
    for path, text, named in (
        (tmp_path / "t.csv", table, ("line 2", "line 4", "line 5")),
        (tmp_path / "t.jsonl", lines, ("/0", "/2", "/3")),
    ):
        first, second, third = named
        _, _, faults = written(path, text, **names)
        told = [fault.split(":")[0] for fault in faults]
        assert told == [f"{first} and {second} both hold Length 1.0", f"{first} and {third} both hold Length 1"]
        assert "--repeats row that each row is one" in faults[0]
        _, _, [fault] = written(path, text, **names, repeats="seed")
        assert fault.startswith(f"{second} and {third} both hold Length 1:"), "of one seed"
        [sent], _, _ = written(path, text, **names, repeats="row")
        assert [cell["value"] for cell in sent["cells"]] == [60, 70, 62, 61]
    names["nominal"] = ("Length",)
    [sent], _, _ = written(tmp_path / "v.csv", "Length,value\n3.1,60\n3.10,62\n", **names)
    assert sent["axes"][0]["levels"] == ["3.1", "3.10"], "two versions, and no number"
    models = "model,Length,value\na,1,60\nb,1,70\nb,1,71\n"
    sent, _, [fault] = written(tmp_path / "m.csv", models, **names | {"model": None})
    assert (sent, fault.split(":")[0]) == ([], "line 3 and line 4 both hold Length 1"), (
        "and nothing of the file is sent"
    )


def test_trials_of_several_metrics_are_those_of_the_shares_and_left_out_of_others(tmp_path: Path) -> None:
    table = "model,acc,loss,score,n\na,0.5,2.5,25,100\n"
    wanted = {"value": "acc,loss,score", "roles": {"trials": "n"}}
    sent, codes, faults = written(tmp_path / "t.csv", table, **wanted)
    assert ([one.get("trials") for one in sent], codes.count("trials_left_out"), faults) == ([100, None, None], 2, [])
    [share], codes, _ = written(
        tmp_path / "t.csv", table, **wanted | {"value": "score", "drop": ("acc", "loss"), "upper": 100, "lower": 0}
    )
    assert (share["trials"], "trials_left_out" in codes) == (100, False)


def test_options_that_would_change_nothing_are_an_error_of_the_file(tmp_path: Path) -> None:
    items = list(items_of(Sources((str(FILES / "inspect.eval"),), "auto", Overrides(axes=("foo",), value="bar"))))
    assert {str(said.detail) for one in items for said in one.faults()} == {  # type: ignore[union-attr,call-arg]
        "It is read as inspect, where --axes, --value would change nothing: --format names another."
    }


def test_the_part_of_the_data_before_a_metric_says_nothing_of_its_direction() -> None:
    known = [meaning_of(name) for name in ("eval/loss", "val/accuracy", "precision/loss")]
    assert [meaning and meaning.direction for meaning in known] == ["lower", "higher", None]


HTML = """<!DOCTYPE html><html><head><style>td{}</style><script>var a = "<table><tr><td>1";</script></head>
<body><h2>Board</h2><table class=t><thead><tr><th>Model<th>Size</th><th>4K</th><th>8K</tr></thead><tbody>
<tr><td><a href="https://x">Alpha</a></td><td rowspan=2>7B</td>
<td><b>90.1</b></td><td>88<sup>1</sup></td></tr><tr><td>Beta &amp; co</td><td>1<b>2</b><td>&mdash;</tr></tbody></table>
<table><tr><th>a</th><th>b</th></tr></table></body></html>"""


def test_tables_of_a_page_are_read_as_those_of_a_readme(tmp_path: Path) -> None:
    (tmp_path / "b.html").write_text(HTML)
    wanted = {"rows": "model", "columns": "Length", "drop": ("Size",), "metric": "accuracy"}
    found, faults = read(str(tmp_path / "b.html"), experiment="e", benchmark="b", **wanted)
    assert faults == [f'{tmp_path}/b.html:4:3: "1 2" is not a number; a cell that nobody measured is left empty']
    (tmp_path / "b.html").write_text(HTML.replace("1<b>2</b>", "71.5"))
    found, faults = read(str(tmp_path / "b.html"), experiment="e", benchmark="b", **wanted)
    assert faults == []
    assert [(one.submission["model"], one.submission["values"]) for one in found] == [
        ("Alpha", [90.1, 88.0]), ("Beta & co", [71.5, None]),
    ]  # fmt: skip
    assert found[0].submission["axes"][0]["levels"] == [
        {"label": "4K", "number": 4000},
        {"label": "8K", "number": 8000},
    ]
