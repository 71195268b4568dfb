"""The page of a difference between two revisions names what differs, and shows nothing as changed that is not."""

from typing import Any

import pytest

from registry.pages import palette
from tests.house import ACCURACY, Project, publication
from tests.pages.conftest import Browser

TYPES = {"name": "type", "kind": "nominal", "levels": ["a", "b"]}
LENGTHS = {"name": "length", "kind": "numeric", "levels": [1, 2]}
ONE = {"values": [[65, 70.5], [75, None]]}
DIFFERENCES: dict[str, tuple[dict[str, Any], dict[str, Any], list[str]]] = {
    "a cell whose trials alone changed shows its trials": (
        {"trials": 400},
        {"trials": [[200, 400], [400, 400]]},
        ["1 cell changed Cell what changed before after type a, length 1 trials 400 200 Revision 2 minus"],
    ),
    "a cell shows each field that differs and what was not there": (
        {},
        ONE | {"stderr": [[None, 0.5], [None, None]]},
        ["type a, length 2 value 70.0 70.5 standard error none 0.5 1 cell removed Cell value type b, length 2 80"],
    ),
    "values have the decimals of pages, and all of theirs where these do not tell them apart": (
        {"values": [[5 / 6, 1 / 3], [0.75, 0.8]]},
        {"values": [[2 / 3, 1 / 3 + 1e-9], [0.75, 0.8]]},
        ["type a, length 1 value 0.8333 0.6667", "value 0.3333333333333333 0.3333333343333333"],
    ),
    "a metric and labels that changed are told in words": (
        {"metric": ACCURACY, "labels": {"seed": "1", "host": "x"}},
        {"metric": ACCURACY | {"lower": None, "unit": None}, "labels": {"seed": "2", "note": "y"}, "derived": True},
        [
            "Changed as a whole the metric: unit % → none the metric: lower bound 0 → none the label host x → none "
            "the label note none → y the label seed 1 → 2 derived none → yes No cell changed."
        ],
    ),
    "axes that changed are told in words": (
        {},
        {
            "axes": [LENGTHS | {"levels": [1, 4], "unit": "tokens"}, TYPES | {"levels": ["b", "a"]}],
            "values": [[75, 65], [80, 70]],
        },
        [
            "the order of the axes type, length → length, type",
            "the axis type: its levels stand in another order",
            "the axis length: unit none → tokens",
            "the axis length: with the level 4 the axis length: without the level 2",
            "2 cells added",
            "2 cells removed",
        ],
    ),
    "an axis that came is told": (
        {},
        {"axes": [TYPES | {"name": "kind"}, LENGTHS]},
        ["the axis kind is new the axis type is gone 4 cells added"],
    ),
    "a difference is drawn with what came and went": (
        {},
        {"values": [[65, 72], [None, 80]]},
        ["Revision 2 minus revision 1", "+2", "only in the baseline: 75"],
    ),
}


def revised(project: Project, first: dict[str, Any], second: dict[str, Any]) -> str:
    """The path of a grid whose two revisions differ only so."""
    common = {"axes": [TYPES, LENGTHS], "values": [[65, 70], [75, 80]], "trials": None}
    grid = project.published(**common | first)
    assert project.publish(publication(**common | second)).get_json()["revision"] == 2
    return f"/grids/{grid['id']}"


@pytest.mark.parametrize("what", DIFFERENCES)
def test_what_differs_between_two_revisions_is_told(public: Project, visitor: Browser, what: str) -> None:
    first, second, told = DIFFERENCES[what]
    page = visitor.read(f"{revised(public, first, second)}/revisions/1..2")
    for one in told:
        assert one in page.text


def test_the_cells_of_each_revision_are_offered_as_csv(public: Project, visitor: Browser) -> None:
    page = visitor.read(f"{revised(public, {}, ONE)}/revisions/1..2")
    assert [
        (",80" in visitor.get(href).text, ",70.5" in visitor.get(href).text) for href in page.links("cells.csv")
    ] == [
        (True, False),
        (False, True),
    ]


@pytest.mark.parametrize(("later", "apart"), [(48.5, 0), (60.5, 1)])
def test_a_revision_tells_noise_from_change(public: Project, visitor: Browser, later: float, apart: int) -> None:
    """Of 200 trials a cell: 40.5 to 48.5 % is z = 1.6, to 60.5 % z = 4.0, which four tests leave standing."""
    values = [[40.5, 50.0], [50.0, 50.0]]
    grid = revised(public, {"values": values, "trials": 200}, {"values": [[later, 50.0], values[1]], "trials": 200})
    waiting = visitor.read(f"{grid}/revisions/1..2").text
    assert "What the noise leaves of it is" in waiting
    public.house.compute()
    page = visitor.read(f"{grid}/revisions/1..2")
    assert len([given for given in page.all("td") if "apart" in given.get("class", "")]) == apart
    pale = f"d{palette.DIFFERENCES // 2 + 1}"
    assert len([given for given in page.all("td") if given.get("class") == pale]) == 1 - apart
    assert "revision 2" in page.text
    assert 'class="verdict shown"' not in visitor.get(f"{grid}/revisions/1..2").get_data(as_text=True)
    assert "better than the earlier revision" in page.text
    assert f"difference interval, uncorrected type a, length 1 value 40.5 {later} +{later - 40.5:.1f}" in page.text
    [link] = page.links("/comparisons?")
    assert 'name="contender_revision" inputmode="numeric" size="4" value="2"' in visitor.get(link).get_data(
        as_text=True
    )
    assert visitor.read(link).text.count("95 %")
