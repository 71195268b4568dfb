"""A picture has a glyph for every character, or names it."""

from importlib.resources import files

import pytest

from registry.api.charts import forests
from registry.renderings.charts.forest import forest_of_ranking, forest_svg, forest_vega
from registry.renderings.heatmap import fonts, heatmap_svg
from registry.renderings.heatmap.png import heatmap_png, png_of
from registry.results.ranking import Ranking
from tests.registry.renderings import grid_documents
from tests.registry.renderings.documents import read, read_ranking
from tests.registry.renderings.test_ranking_renderings import SAID, ranking, row

LABELS = ("模型", "🦙", "ไทย", "שלום", "مرحبا", "Ω≈ç√∫", "e\u0301", "\u200d")


def grid(*labels: str) -> dict[str, object]:
    return grid_documents.document([grid_documents.axis("x", list(labels))], [1.0] * len(labels))


def test_the_packaged_font_has_what_its_table_says() -> None:
    assert fonts.beyond_ours("".join(LABELS)) == set("模型🦙ไทย")
    assert fonts.ranges_of((files("registry.renderings") / "fonts" / "DejaVuSans.ttf").read_bytes()) == fonts.ours()


def test_a_character_without_a_glyph_is_named_and_no_box(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fonts, "_of_the_machine", lambda: ())
    named = heatmap_svg(grid("<U+6A21><U+578B>", "<U+1F999>", "b"))
    assert heatmap_png(grid("模型", "🦙", "b")) == png_of(named)
    within = {"level": 0.95, "size": 2, "at": [{"x": "模型"}, {"x": "🦙"}]}
    framed = heatmap_png(grid("模型", "🦙", "b"), read({"revision": 1, "peaks": {"best_set": within}}))
    assert framed != heatmap_png(grid("模型", "🦙", "b"))


def test_the_picture_of_a_ranking_names_such_a_character_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fonts, "_of_the_machine", lambda: ())
    drawn = []
    for name in ("模", "<U+6A21>"):
        rows = [row(1, name, 2.0, 1, 1, "A"), row(2, "beta", -2.0, 2, 2, "B")]
        found = read_ranking(ranking(ranking=rows, pairs=[], never_met=[], components=[[name, "beta"]], groups=[]))
        drawn.append(forests(Ranking, forest_of_ranking)["png"](found))
    assert drawn[0] == drawn[1]


@pytest.mark.parametrize("said", SAID)
def test_whatever_a_ranking_says_has_a_picture(said: str) -> None:
    found = forest_of_ranking(read_ranking(SAID[said]))
    assert forest_svg(found).endswith("</svg>")
    assert forest_vega(found)["data"]["values"] is not None


def test_a_character_that_a_font_of_the_machine_has_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fonts, "_of_the_machine", lambda: (((0x6A21, 0x6A21),),))
    assert fonts.without_glyph(frozenset("模型")) == {"型"}


def test_a_file_that_is_no_font_has_no_characters(tmp_path) -> None:
    for content in (b"", b"\0\1\0\0", b"ttcf", b"x" * 100, b"\0\1\0\0\0\1" + b"\0" * 6 + b"cmap" + b"\0" * 8):
        (tmp_path / "broken.ttf").write_bytes(content)
        assert fonts._read(tmp_path / "broken.ttf") == (), content
