"""The seed heatmaps through the whole service: published over HTTP, computed and read back."""

import json
from typing import Any

import pytest

from registry.demo import demo_grids
from registry.grids.intake import Limits, read_submission
from registry.results.codec import to_short_document
from tests.house import House, Project
from tests.workers.asking import join
from tests.workers.statistics.reference_numbers import having
from workers.derive import told_digits
from workers.statistics import describe

ALIASES = (("AIME24", "AIME'24"), ("AIME25", "AIME'25"), ("GPQA D", "GPQA_D"))


@pytest.fixture(scope="module")
def demo(house: House) -> tuple[Project, list[tuple[dict[str, Any], str]]]:
    """The project of the seeds, what was sent, and the id of each grid."""
    project = house.make_project()
    for alias, name in ALIASES:
        join(project, "benchmark", alias, name)
    published = [(sent, project.publish(sent).get_json()["id"]) for sent in demo_grids()]
    house.compute()
    return project, published


def test_the_statistics_of_the_seeds_are_those_that_the_functions_give(demo: Any, subtests: pytest.Subtests) -> None:
    """`statistics` holds the functions to every reference."""
    project, published = demo
    for sent, grid in published:
        with subtests.test(sent["benchmark"], model=sent["model"]):
            served = project.get(f"grids/{grid}/statistics").get_json()
            posted = read_submission({"axes": []} | sent, Limits()).grid
            found = describe(posted)
            expected = to_short_document(found, told_digits(posted.values, found))
            assert {name: served[name] for name in expected} == json.loads(json.dumps(expected, allow_nan=False))


def test_seed_four_is_ranked_against_seed_two_over_thirty_two_slots(demo: Any) -> None:
    """Counted by hand in the tables, too: 3-1-4 on AIME'24, 8-0-0 on AIME'25, 5-0-3 on AMC23, 8-0-0 on GPQA_D, over
    four windows and the two ratios that R1-Llama has."""
    project, _ = demo
    [wanted] = [entry["output"] for entry in having("paired_common_support")]
    question = {"experiment": "window-by-ratio", "metric": "Pass@1"}
    found = project.get(f"projects/{project.slug}/rankings", query_string=question).get_json()
    assert [row["name"] for row in found["ranking"]] == ["R1-Qwen", "R1-Llama"]
    [pair] = found["pairs"]
    assert (pair["a"], pair["b"], pair["n_common"]) == ("R1-Llama", "R1-Qwen", 32)
    assert (pair["wins"], pair["ties"], pair["losses"]) == (7, 1, 24)
    assert [(row["wins"], row["ties"], row["losses"], row["cells"]) for row in found["ranking"]] == [
        (24, 1, 7, 80),
        (7, 1, 24, 32),
    ]
    assert found["slots"] == {"total": 80, "compared": 32}
    assert found["benchmarks"] == ["AIME'24", "AIME'25", "AMC23", "GPQA_D"]
    # R1-Llama's 43.7 % on AIME24 is no count of 150: 65 are 43.3 %, 66 are 44.0 %.
    [doubt] = found["warnings"]
    assert (len(found["inputs"]), doubt["code"], "1 of 8 grids" in doubt["detail"]) == (8, "off_lattice", True)
    # The reference takes the values as printed, the registry the whole numbers of successes nearest to them.
    assert -pair["difference"] == pytest.approx(wanted["macro_mean_diff"], abs=0.02)
