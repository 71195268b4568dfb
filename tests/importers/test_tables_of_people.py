"""Tables and records as people keep them: README files, papers, folders of one's own JSON, logs of training.

The expected numbers were written down by hand from the files.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from registry.errors import Invalid
from registry.importers import formats
from registry.importers.imported_grid import ImportedGrid, Overrides
from registry.importers.markup import listed, measured, plain
from registry.importers.reading import Item, Skipped, Sources, items_of
from registry.importers.source import Source
from tests.doubling import LINEAR, growth

FILES = Path(__file__).parent / "files"
NEEDLES: dict[str, Any] = {"experiment": "niah", "benchmark": "needle", "value": "score"}


def read(name: str, **wanted: Any) -> tuple[list[ImportedGrid], list[str]]:
    """The grids of a file or a folder, and what was at fault."""
    items = list(items_of(Sources((str(FILES / name),), "auto", Overrides(**wanted))))
    faults = [str(said).removeprefix(f"{FILES}/") for one in items if isinstance(one, Skipped) for said in one.faults()]
    return [one.found for one in items if isinstance(one, Item)], faults


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("**96.0**", 96.0), ("<ins>96.7</ins>", 96.7), ("*42.7*", 42.7), ("***1***", 1.0), ("`0.5`", 0.5),
        ("100%", 100.0), ("88 %", 88.0), ("1,354", 1354.0), ("1,234.5", 1234.5), ("99.3 (84.4)", 99.3),
        ("70.1±0.3", 70.1), ("70.1 ± 0.3%", 70.1), ("0.5 +/- 0.1", 0.5), ("93.3†", 93.3), ("~12", 12.0),
        ("−1.5", -1.5), ("TBD", None), ("⏳", None), (r"\-", None), ("--", None), ("NaN", None), ("—", None),
        ("<b>7</b><br>", 7.0),
    ],
)  # fmt: skip
def test_a_number_is_read_as_a_person_reads_it(cell: str, value: float | None) -> None:
    found = measured(cell)
    assert found is not None
    assert found.value == value


@pytest.mark.parametrize("cell", ["0,123", "12,34", "1_000", "v1", "1.2.3", "3/4", "2024-07", "5 of 6", "", "0x10"])
def test_what_may_be_another_number_is_none(cell: str) -> None:
    assert measured(cell) is None


RAISED = [
    ("99.9<sup>1</sup>", 99.9), ("77<sub>0.3</sub>", 77.0), ("45.2<sup>2</sup>", 45.2), ("**70.1**<sup>2</sup>", 70.1),
    ("**45.2<sup>2</sup>**", 45.2), ("<sup>1</sup>9", 9.0), ('70.1<sup><a href="#f">[1]</a></sup>%', 70.1),
    ("70.1<sup>a</sup><sub>2</sub>", 70.1), ("45.2[1](#note)", 45.2), ("70.1 (3)<sup>1</sup>", 70.1),
]  # fmt: skip


@pytest.mark.parametrize(("cell", "value"), RAISED)
@pytest.mark.parametrize("form", ["csv", "markdown"])
def test_what_is_raised_at_a_number_is_no_part_of_it_and_is_noted(form: str, cell: str, value: float) -> None:
    text = f"L,p,q\na,{cell},1\n" if form == "csv" else f"|L|p|q|\n|-|-|-|\n|a|{cell}|1|\n"
    wanted = Overrides(rows="r", columns="c", metric="x")
    [found] = formats.read(Source("x", given=text.encode()), wanted, form)
    assert found.submission["values"] == [[value, 1.0]]
    assert [note.code for note in found.notes if note.place is not None] == ["brackets_left_out"]


@pytest.mark.parametrize(
    "cell", ["99.9<sup>1", "1<b>2</b>", "7</b><i>2", "45<b>.2</b>", "<s>9</s>10", "77<sub>3</sub>8"]
)
def test_a_tag_between_digits_never_makes_one_number_of_them(cell: str) -> None:
    assert measured(cell) is None
    assert measured(plain(cell)) is None


@pytest.mark.parametrize("cell", ["~~9~~", "**~~9~~**", "~~**9**~~", "<del>9</del>", "<s>9</s>", "~~9~~<sup>1</sup>"])
def test_a_number_that_is_struck_out_is_a_gap_with_a_note(cell: str) -> None:
    text = f"|L|p|q|\n|-|-|-|\n|a|{cell}|1|\n"
    [found] = formats.read(Source("x", given=text.encode()), Overrides(rows="r", columns="c", metric="x"), "markdown")
    assert found.submission["values"] == [[None, 1.0]]
    assert "gap_read" in [note.code for note in found.notes]
    assert plain("~~old~~") == "old"


@pytest.mark.parametrize(
    ("cell", "values"),
    [
        ("45.2$^{2}$", [45.2]), ("45.2$^2$", [45.2]), (r"\textbf{45.2}$^{2}$", [45.2]),
        (r"45.2\textsuperscript{2}", [45.2]), (r"$70.1_{\pm 0.3}$", [70.1]), ("1{,}354", [1354.0]),
        (r"45.2{\it 2}", None), ("$45.2$$2$", None), (r"\textbf{45.2}\textbf{2}", None),
    ],
)  # fmt: skip
def test_what_is_raised_in_latex_is_no_part_of_a_number(cell: str, values: list[float] | None) -> None:
    text = rf"\begin{{tabular}}{{lr}} L & p \\ a & {cell} \\ \end{{tabular}}"
    wanted = Overrides(rows="model", columns="c", metric="x")
    try:
        [found] = formats.read(Source("x", given=text.encode()), wanted, "latex")
    except Invalid:
        assert values is None
    else:
        assert found.submission["values"] == values


def test_labels_lose_marks_and_the_dash_of_a_list_but_no_sign() -> None:
    assert plain("[**Gemini**](https://example.org/g)") == "Gemini"
    assert [listed(label) for label in ("- GPT-4", "+ CoT", "-", "-1")] == ["GPT-4", "+ CoT", "-", "-1"]


def test_the_good_tables_of_a_readme_are_read_and_the_bad_one_is_named() -> None:
    found, faults = read("tables/github.md", rows="model", columns="length", metric="score", benchmark="LongBench")
    assert {one.submission["model"]: one.submission["values"] for one in found} == {
        "Gemini-1.5": [96.7, 95.8, 96.0],
        "+ CoT": [99.3, 100.0, None],
        "GPT-4": [70.1, None, None],
        "Command-R": [1354.0, None, 93.3],
    }
    assert found[0].submission["axes"][0]["levels"][1] == {"label": "8K", "number": 8000}
    assert "unit" not in found[0].submission["metric"]
    assert [fault.partition(":")[2].partition(" ")[0] for fault in faults] == ["7:2:", "8:2:"]
    assert any('"99.3 (84.4)" was read as 99.3' in note.detail for note in found[1].notes)


def test_the_registry_itself_takes_no_such_cell() -> None:
    body = b"|Length|0|1|\n|---|---|---|\n|a|88%|1|\n"
    with pytest.raises(Invalid, match="is not a number"):
        list(formats.read(Source("x", given=body), Overrides(columns="b", reads_prose=False, single=True), "markdown"))


def test_the_printed_table_of_lm_eval_is_read_as_its_json() -> None:
    found, faults = read("tables/printed.md")
    sent = {(one.submission["benchmark"], one.submission["metric"]["name"]): one.submission for one in found}
    assert faults == []
    assert {key: (one["values"], one.get("stderr"), one["variant"]) for key, one in sent.items()} == {
        ("arc_challenge", "acc"): (0.564, 0.0145, "25-shot"),
        ("arc_challenge", "acc_norm"): (0.599, 0.0143, "25-shot"),
        ("gsm8k", "exact_match,flexible-extract"): (0.375, 0.0133, "5-shot"),
        ("gsm8k", "exact_match,strict-match"): (0.37, 0.0133, "5-shot"),
        ("mmlu", "acc"): (0.625, 0.0038, ""),
        ("humanities", "acc"): (0.5625, 0.0067, "5-shot"),
        ("wikitext", "word_perplexity"): (8.5, None, "0-shot"),
    }
    assert {one["model"] for one in sent.values()} == {"mistralai/Mistral-7B-v0.1"}
    assert sent["wikitext", "word_perplexity"]["metric"]["direction"] == "lower"
    [first, second], _ = read("tables/printed_early.md")
    assert (first.submission["model"], first.submission["variant"]) == ("lmsys/vicuna-7b", "5-shot")
    assert (second.submission["benchmark"], second.submission["values"]) == ("hendrycksTest-anatomy", 0.46)


def test_tables_of_a_paper_are_read_and_cells_over_several_columns_refused() -> None:
    names = {"columns": "split", "metric": "accuracy", "benchmark": "b", "experiment": "e"}
    found, faults = read("tables/paper.tex", **names)
    assert {one.submission["model"]: one.submission["values"] for one in found} == {
        "Ours": [70.1, 55.5], "Theirs": [68.0, None]
    }  # fmt: skip
    assert faults == ["tables/paper.tex:15: a cell over several columns or rows (\\multicolumn) is not read"]
    assert found[0].notes[0].place == (9, 2)


@pytest.mark.parametrize(("second", "unit"), [("1,354", None), ("12%", "%"), ("", "%")])
def test_a_sign_of_per_cent_is_the_unit_only_of_numbers_that_all_have_it(second: str, unit: str | None) -> None:
    body = f'L,Score,Params\na,45.0%,"{second}"\n'
    [found] = formats.read(Source("x", given=body.encode()), Overrides(rows="r", columns="c", metric="x"), "csv")
    assert found.submission["metric"].get("unit") == unit
    assert ("percent_mixed" in [note.code for note in found.notes]) == (unit is None)


def test_a_table_without_a_metric_is_told_without_a_name_for_it() -> None:
    [found] = formats.read(Source("x", given=b"L,p,q\na,1,2\n"), Overrides(rows="r", columns="c"), "csv")
    [said] = [note.detail for note in found.notes if note.code == "direction_unknown"]
    assert said == "whether more or less is better is not known: no peaks and no rankings"


def test_columns_of_a_table_are_chosen() -> None:
    [found], _ = read(
        "tables/retrieval.csv", axes=("context_length", "document_depth_percent"), repeats="seed", **NEEDLES
    )
    assert [axis["name"] for axis in found.submission["axes"]] == ["context_length", "document_depth_percent"]
    assert [(tuple(one["at"].values()), one["value"]) for one in found.submission["cells"]] == [
        ((1000, 0), 1.0), ((1000, 100), 0.5), ((1000, 100), 0.25), ((2000, 0), 1.0), ((2000, 100), 0.75)
    ]  # fmt: skip
    assert found.submission["metric"]["name"] == "score"
    assert any("run_url" in note.detail for note in found.notes if note.code == "left_out")
    away = "Unnamed: 0|run_url|inputs_question|outputs|needles|reason_text|latency|tokens|error|tags"
    [dropped], _ = read("tables/retrieval.csv", drop=tuple(away.split("|")), repeats="seed", **NEEDLES)
    assert dropped.submission["cells"] == found.submission["cells"]


def test_a_table_without_a_column_value_says_how_to_name_one() -> None:
    assert "say --value COLUMN" in read("tables/retrieval.csv")[1][0]
    assert "--axes NAMES or --drop NAMES chooses" in read("tables/retrieval.csv", value="score")[1][0]
    assert (
        'there is no column "scores"; there are: Unnamed: 0, run_url'
        in read("tables/retrieval.csv", value="scores")[1][0]
    )


def test_a_folder_of_records_is_one_grid_with_its_repeats() -> None:
    found, faults = read("needles", axes=("context_length", "depth_percent"), repeats="version", **NEEDLES)
    assert faults == []
    [one] = found
    assert one.submission["model"] == "claude-2.1"
    assert sorted((tuple(cell["at"].values()), cell["value"]) for cell in one.submission["cells"]) == [
        ((1000, 0), 10.0), ((1000, 50), 3.0), ((1000, 50), 7.0), ((2000, 0), 10.0), ((2000, 50), 1.0)
    ]  # fmt: skip


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


def test_the_states_of_a_trainer_are_curves_and_the_last_one_counts() -> None:
    found, faults = read("trainer")
    assert faults == []
    curves = {one.submission["metric"]["name"]: one.submission for one in found if one.submission["axes"]}
    assert {name: (one["axes"][0]["levels"], one["values"]) for name, one in curves.items()} == {
        "loss": ([1, 3], [2.5, 2.0]),
        "eval_loss": ([2], [2.25]),
        "eval_accuracy": ([2, 4], [0.5, 0.625]),
        "train_loss": ([4], [2.25]),
    }
    assert {one["model"] for one in curves.values()} == {"bert-tiny-sst2"}
    assert curves["eval_accuracy"]["metric"]["direction"] == "higher"
    single = {one.submission["metric"]["name"]: one.submission["values"] for one in found if not one.submission["axes"]}
    assert single == {"eval_accuracy": 0.625, "eval_loss": 2.125, "train_loss": 2.25}


@pytest.mark.parametrize("word", ["Infinity", "-Infinity", "NaN"])
def test_what_a_trainer_logged_that_is_no_number_is_named(word: str, tmp_path: Path) -> None:
    path = tmp_path / "trainer_state.json"
    first = f'{{"step": 5, "eval_loss": 1.5, "grad_norm": {word}}}'
    path.write_text(f'{{"log_history": [{first}, {{"step": 10, "eval_loss": {word}}}]}}')
    [one], faults = read(str(path))
    assert (one.submission["values"], faults) == ([1.5], [])
    assert "not a number: eval_loss at step 10" in [note.detail for note in one.notes]
    path.write_text(f'{{"log_history": [{{"step": 10, "eval_loss": {word}}}]}}')
    found, [fault] = read(str(path))
    assert found == []
    assert fault.endswith("not a number: eval_loss at step 10.")
    path.rename(tmp_path / "all_results.json")
    (tmp_path / "all_results.json").write_text(f'{{"eval_loss": {word}, "eval_accuracy": 0.5}}')
    [one], _ = read(str(tmp_path / "all_results.json"))
    assert "not a number: eval_loss" in [note.detail for note in one.notes]


def test_the_folder_of_mlflow_is_read_and_a_run_that_failed_named() -> None:
    [found], [fault] = read("mlruns")
    sent = found.submission
    assert (sent["experiment"], sent["benchmark"], sent["model"]) == ("fine-tuning", "mlflow", "small")
    assert (sent["metric"]["name"], sent["values"], sent["labels"]["lr"]) == ("accuracy", 0.75, "0.1")
    assert "not a number: eval/loss" in {note.detail for note in found.notes}
    assert 'The run did not finish, or was deleted: its status is "5"' in fault


def test_nan_in_a_chart_of_wandb_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "chart.csv"
    path.write_text((FILES / "wandb_chart.csv").read_text().replace('"10","","",""', '"10","NaN","NaN","NaN"'))
    [found] = formats.read(Source("x", path), Overrides())
    assert found.submission["values"] == [0.5, 0.75]


def test_a_table_of_latex_that_does_not_end_is_named(tmp_path: Path) -> None:
    path = tmp_path / "paper.tex"
    path.write_text("Text.\n\n" + "\\begin{tabular}{l}\n" * 3)
    _, [fault] = read(str(path))
    assert fault.endswith("paper.tex:3: the tabular that begins here does not end")


@pytest.mark.parametrize(
    "name", ["tables without an end", "rules without an end", "commands in commands", "rows", "stars around a number"]
)
def test_tables_of_people_are_read_in_linear_time(name: str, tmp_path: Path) -> None:
    def written(size: int) -> str:
        stars = "*" * size
        rows = "a & 1 & 2 \\\\\n" * (size // 20)
        return {
            "tables without an end": "\\begin{tabular}" * (size // 2),
            "rules without an end": "\\begin{tabular}{l}" + "\\cmidrule(" * size + "\\end{tabular}",
            "commands in commands": "\\begin{tabular}{l}a & b \\\\" + "\\textbf{" * size + "\\end{tabular}",
            "rows": f"\\begin{{tabular}}{{lcc}}\nStep & x & y \\\\\n{rows}\\end{{tabular}}",
            "stars around a number": f"|a|b|\n|-|-|\n|x|{stars}7{stars}|\n|y|{'<' * size}|\n|z|{'[' * size}|\n",
        }[name]

    paths = {size: tmp_path / f"{size}.tex" for size in (8_000, 16_000)}
    for size, path in paths.items():
        path.write_text(written(size))
    assert growth(lambda size: read(str(paths[size])), 8_000, 16_000) < LINEAR
