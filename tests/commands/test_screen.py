"""Tables that fit: folding, leaving out, cutting; colours; TSV fields; the user's file as TOML."""

import tomllib
from pathlib import Path

import pytest

from registry.commands.account import write_config
from registry.commands.page import colour_of, cut, fitted, page, wrapped
from registry.commands.screen import field
from registry.commands.show import _OF_256
from registry.errors import Misconfigured
from registry.renderings.heatmap.colours import luminance
from registry.renderings.table import Column, Table, display_width

WIDE = Column("name", ["评测基准", "Qwen"])
NUMBERS = Column("score", ["99.3", "100"], True)


@pytest.mark.parametrize("width", range(12, 60, 3))
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    columns = [Column("model", ["模型" * 12, "Qwen-2.5 3B"]), NUMBERS, Column("note", ["long words " * 5, ""]), WIDE]
    fit = fitted(columns, width, ["note"])
    lines = list(page([Table(fit.columns)], width, colour=False))
    assert all(display_width(line) <= width for line in lines) or len(fit.columns) == 1


def test_columns_of_wide_characters_stay_aligned() -> None:
    lines = list(page([Table([WIDE, NUMBERS])], 80, colour=False))
    places = [display_width(line[: line.index(one)]) for line, one in zip(lines[1:], ("99.3", "100"), strict=True)]
    assert places[0] == places[1] + 1  # the points stand below each other: " 99.3" and "100  "


def test_what_matters_least_goes_first_and_is_named() -> None:
    columns = [Column(name, ["x" * 10], True) for name in ("a", "b", "c")]
    assert fitted(columns, 100, ["a"]).left_out == []
    assert fitted(columns, 25, ["b", "a"]).left_out == ["b"]
    assert fitted(columns, 12, ["b", "a"]).left_out == ["b", "a"]
    assert "left out for want of room: b" in list(page([Table(columns)], 30, colour=False, least=["b"]))


def test_a_cut_text_ends_with_a_mark_and_fits() -> None:
    assert cut("abcdef", 6) == "abcdef"
    assert cut("abcdef", 4) == "abc…"
    assert cut("评测基准", 6) == "评测…"


def test_keys_are_repeated_where_a_table_is_folded() -> None:
    table = Table([Column("Type", ["1"]), *(Column(str(i), ["99.9"], True) for i in range(20))], keys=1, over="Length")
    lines = list(page([table], 50, colour=False))
    assert [line.split()[0] for line in lines if line.startswith("Type")] == ["Type"] * 3
    assert all(len(line) <= 50 for line in lines)


@pytest.mark.parametrize(("number", "colour"), [(16, "#000000"), (231, "#ffffff"), (221, "#ffd75f"), (244, "#808080")])
def test_the_256_colours_are_xterms(number: int, colour: str) -> None:
    assert colour_of(number) == colour


def test_the_palette_of_256_goes_one_way() -> None:
    lights = [luminance(colour_of(number)) for number in _OF_256]
    assert lights == sorted(lights)
    assert len(set(lights)) == len(lights)


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, ""), (0.1, "0.1"), (1e300, "1e+300"), (-0.0, "-0.0"), (True, "true"), ("a\tb", "a b")],
)
def test_a_field_holds_no_tab_and_reads_back(value: object, text: str) -> None:
    assert field(value) == text


def test_a_long_sentence_is_broken_between_words() -> None:
    lines = wrapped("one two three four five six seven eight", 20)
    assert all(len(line) <= 20 for line in lines)
    assert " ".join(line.strip() for line in lines) == "one two three four five six seven eight"


def test_what_is_kept_reads_back_as_toml(tmp_path: Path) -> None:
    content = {
        "url": 'a"b\\c',
        "n": 3,
        "tokens": {"https://x:8080": "rgs_é", "plain": "1"},
        "deep": {"er": {"x": True}},
    }
    write_config(tmp_path / "config.toml", content)
    assert tomllib.loads((tmp_path / "config.toml").read_text()) == content


def test_a_file_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Misconfigured, match="cannot be written"):
        write_config(tmp_path / "file" / "config.toml", {"url": "x"})
