"""No name and no number is too odd to be rendered, and CSV gives the same doubles back."""

import csv
import io
import itertools
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from registry.renderings import sheet
from registry.renderings.sheet import Heading, Lines
from registry.renderings.table import Column, Table, display_width, escaped
from tests.registry.renderings.documents import of, ranking_csv, ranking_markdown, ranking_text
from tests.registry.renderings.grid_documents import axis, cells_csv, document, grid_markdown, grid_text

ODD = [
    "🦙 7b", "نموذج", "a|b", 'say "x"', "=1+1", "-2", "+3", "@x", "back\\slash", "日本語", "e\u0301",
    "x" * 200, "\u2028", "…",
]  # fmt: skip
NAMES = st.sampled_from(ODD) | st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=30)
VALUES = st.none() | st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def grids(draw: st.DrawFn) -> dict[str, Any]:
    names = draw(st.lists(NAMES, max_size=3, unique=True))
    axes = [
        axis(name, draw(st.lists(NAMES, max_size=4, unique=True)), "nominal", draw(st.none() | NAMES)) for name in names
    ]
    found = document(axes, draw(nested([len(one["levels"]) for one in axes])), trials=draw(st.none() | st.just(7)))
    found |= {name: draw(NAMES) for name in ("experiment", "benchmark", "model", "variant")}
    return found | {"metric": {"name": draw(NAMES), "unit": draw(st.none() | NAMES), "direction": None}}


def nested(shape: list[int]) -> st.SearchStrategy[Any]:
    strategy: st.SearchStrategy[Any] = VALUES
    for size in reversed(shape):
        strategy = st.lists(strategy, min_size=size, max_size=size)
    return strategy


def leaves(values: Any) -> list[float]:
    if isinstance(values, list):
        return [leaf for one in values for leaf in leaves(one)]
    return [] if values is None else [values]


@given(grids())
def test_csv_read_back_gives_the_same_doubles_and_no_cell_starts_a_formula(grid: dict[str, Any]) -> None:
    rows = list(csv.reader(io.StringIO(cells_csv(grid), newline="")))
    place = 8 + 2 * len(grid["axes"])
    assert [repr(float(row[place])) for row in rows[1:]] == [repr(value) for value in leaves(grid["values"])]
    assert {len(row) for row in rows} == {len(rows[0])}
    for cell in itertools.chain.from_iterable(rows):
        assert cell[:1] not in tuple("=+-@\t\r") or is_number(cell)


def is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


@given(grids())
def test_renderings_end_with_one_newline_and_rows_of_a_table_have_one_number_of_cells(grid: dict[str, Any]) -> None:
    for render in (grid_text, grid_markdown):
        found = render(grid)
        assert found.endswith("\n")
        assert not found.endswith("\n\n")
    rows = [line for line in grid_markdown(grid).split("\n") if line.startswith("| ")]
    bars = {line.replace("\\\\", "").replace("\\|", "").count("|") for line in rows}
    assert len(bars) <= 1


@given(st.lists(NAMES, min_size=1, max_size=4, unique=True), VALUES, VALUES)
def test_statistics_and_rankings_take_any_name(names: list[str], one: float | None, other: float | None) -> None:
    series = {"along": names[0], "at": {name: name for name in names[1:]}, "first": one, "last": other, "slope": other}
    series |= {"direction": "flat", "mann_kendall": {"status": "ok"}, "changes_left_out": 0}
    changes = [{"from": name, "to": name, "size": one or 0.0, "sharp": None} for name in names]
    at = [dict.fromkeys(names, names[0])]
    found = {
        "grid": "g",
        "metric": {"name": names[0], "unit": names[-1]},
        "series": [series | {"changes": changes}],
        "peaks": {
            "best": {"value": one or 0.0, "at": at, "ties": 1},
            "by": {names[0]: [{"level": names[0], "value": one or 0.0, "at": at, "ties": 1}]},
        },
        "coverage": {
            **{"cells": 1, "possible": len(names), "component_count": 1},
            "by": {names[0]: {"levels": [{"level": name, "count": 1} for name in names]}},
        },
        "sensitivity": {"axes": {name: {"share": 0.5, "levels": [{"level": name, "raw_mean": one}]} for name in names}},
        "precision": {"decimals": 1, "off_lattice_count": 1, "off_lattice": [{"at": at[0], "value": one or 0.0}]},
    }
    for part in ("statistics", "trends", "changes", "peaks", "coverage", "sensitivity", "precision"):
        for render in of(part).values():
            assert render(found).endswith("\n")
    rows = [{"name": name, "score": one, "rank": 1} for name in names]
    pairs = [{"a": name, "b": name, "n_common": 1, "difference": other} for name in names]
    for render in (ranking_text, ranking_markdown, ranking_csv):
        assert render({"by": "model", "ranking": rows, "pairs": pairs, "experiment": names[0]}).endswith("\n")


PIECES = (
    "[x](javascript:alert(1))", "![y](http://z/a.png)", "<!--", "-->", "<b>", "<http://z>", "[a]: http://z", "[a][b]",
    "`", "**", "_", "~~", "|", "\\", "# ", "- ", "1. ", "> ", "&lt;", "&#91;", "](", "[", "](x", "x", " ",
)  # fmt: skip
MARKUP = st.lists(st.sampled_from(PIECES), min_size=1, max_size=6).map("".join)


@given(MARKUP, MARKUP)
def test_no_name_is_markup_in_markdown(name: str, other: str) -> None:
    """Read by a parser of CommonMark with tables: nothing but the table, the headings and the text that was written."""
    page = [Heading(name), Lines((name, other)), name, Table([Column(name, [other, name]), Column("b", ["1", other])])]
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(sheet.markdown(page))
    inline = [part for token in tokens for part in token.children or ()]
    assert {part.type for part in inline} <= {"text", "text_special"}
    assert "html_block" not in {token.type for token in tokens}
    shown = [token.children for token in tokens if token.type == "inline"]
    texts = ["".join(part.content for part in parts).split() for parts in shown]
    wanted = (name, name, other, name, name, "b", other, "1", name, other)
    assert list(filter(None, texts)) == list(filter(None, map(str.split, wanted)))


def test_a_line_break_in_a_name_does_not_break_a_table() -> None:
    assert escaped("a\nb|c\\d<script>") == "a b\\|c\\\\d\\<script>"


def test_display_width_counts_columns() -> None:
    assert [display_width(text) for text in ("abc", "日本", "e\u0301", "🦙", "a\u200db", "نموذج")] == [3, 4, 1, 2, 2, 5]


def test_latex_has_no_sign_that_its_fonts_lack() -> None:
    """What is missing and what is undefined have signs of LaTeX's own; two hyphens of a name are no dash."""
    made = sheet.latex([Table([Column("a · b", ["·", "—", "x--y"]), Column("mean", ["-1.0", "—", "2.0"], True)])])
    rows = [line for line in made.splitlines() if line.endswith(r"\\")]
    assert rows == [r"a $\cdot$ b & mean \\", r"$\cdot$ & $-$1.0 \\", r"--- & --- \\", r"x-{}-y & 2.0 \\"]
    assert made.isascii()
