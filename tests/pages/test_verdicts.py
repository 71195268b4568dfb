"""The first sentence of a page: what its result amounts to, by the numbers that were published."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest
from sqlalchemy import update

from registry.storage.tables import cached_results
from tests.house import Project, publication
from tests.pages.conftest import Browser, Demo, Outline

WINDOWS = {"experiment": "window-by-ratio", "metric": "Pass@1"}
RANKING = f"/projects/demo/rankings?{urlencode(WINDOWS)}"
SHARES = {"name": "accuracy", "unit": "%", "direction": "higher", "lower": 0, "upper": 100}
CONTEXTS = [{"name": "Context", "kind": "numeric", "levels": [4000, 64000, 128000]}]


def computed(demo: Demo, guest: Browser, path: str) -> Outline:
    """The page once its answer is there."""
    guest.get(path)
    demo.house.compute()
    return guest.read(path)


def description(page: Outline) -> str:
    [found] = [given["content"] for tag, given in page.attributes if given.get("property") == "og:description"]
    return found or ""


def links(page: Outline, part: str) -> list[str]:
    return [given["href"] for _, given in page.attributes if part in (given.get("href") or "")]


def gap_of_models(demo: Demo, keep: slice) -> float:
    """R1-Qwen less R1-Llama: the mean over benchmarks of the mean over the cells that both have."""
    values: dict[str, dict[str, Any]] = {}
    for one in demo.house.call("GET", "projects/demo/grids?experiment=window-by-ratio&limit=100").get_json()["items"]:
        whole = demo.house.call("GET", f"grids/{one['id']}").get_json()
        benchmark = one["benchmark"].replace("'", "").replace(" ", "_")
        values.setdefault(benchmark, {})[one["model"]] = np.array(whole["values"], dtype=float)
    gaps = [np.nanmean((found["R1-Qwen"] - found["R1-Llama"])[keep]) for found in values.values()]
    assert len(gaps) == 4
    return float(np.mean(gaps))


def test_a_ranking_begins_with_who_is_better_by_how_much(demo: Demo, guest: Browser) -> None:
    page = computed(demo, guest, RANKING)
    told = f"R1-Qwen is better than R1-Llama by {gap_of_models(demo, np.s_[:, :]):.1f} points"
    assert f"{told} (95 % interval 0.6 to 3.7) on the 32 of 80 cells of 4 benchmarks that both have" in page.text
    assert page.text.index(told) < page.text.index("metric", page.text.index("Ranking · window"))
    assert description(page).startswith(told)


def test_a_slice_has_a_sentence_of_its_own(demo: Demo, guest: Browser) -> None:
    page = computed(demo, guest, f"{RANKING}&{urlencode({'at.Local Window Size': '>=2000'})}")
    told = f"by {gap_of_models(demo, np.s_[2:, :]):.1f} points"
    assert told in page.text
    assert "at Local Window Size at least 2000 on the 16 of 40 cells of 4 benchmarks that both have" in page.text


def test_a_difference_that_one_benchmark_carries_says_so_in_the_first_sentence(demo: Demo, guest: Browser) -> None:
    """Of the slice AIME'25 left out leaves what the ranking of the three other benchmarks says."""
    sliced = urlencode({"at.Local Window Size": ">=2000"})
    page = computed(demo, guest, f"{RANKING}&{sliced}")
    others = ["AIME'24", "AMC23", "GPQA_D"]
    rest = computed(demo, guest, f"{RANKING}&{sliced}&{urlencode({'benchmark': others}, doseq=True)}")
    assert "R1-Qwen is 0.7 points better (95 % interval −1.7 to 3.0)" in rest.text
    told = (
        "; without AIME'25 it is 0.7 points (95 % interval −1.7 to 3.0), left open, as it is without GPQA_D; on other"
    )
    assert told in page.text
    assert told in description(page)


def test_from_the_front_page_to_the_answer_and_down_to_a_cell(demo: Demo, guest: Browser) -> None:
    """The project, its rankings, the experiment: three clicks to the sentence; a slice takes one more."""
    front = guest.read("/")
    assert "/projects/demo" in links(front, "/projects/demo")
    assert "/projects/demo/rankings" in links(guest.read("/projects/demo"), "/rankings")
    [scope] = links(guest.read("/projects/demo/rankings"), "window-by-ratio")
    ranking = computed(demo, guest, scope)
    assert "R1-Qwen is better than R1-Llama" in ranking.text
    compared = links(ranking, "/comparisons?baseline=")
    assert len(compared) == 4  # benchmarks, of which an alias joins three spellings
    page = computed(demo, guest, compared[0])
    assert "R1-Qwen" in description(page)
    assert len({one for one in links(page, "/grids/") if "/projects" not in one and "/api" not in one}) == 2


def test_a_pending_and_a_failed_answer_have_no_sentence(project: Project, visitor: Browser, impatient: None) -> None:
    project.call("PATCH", f"projects/{project.slug}", "admin", json={"visibility": "public"})
    for model, value in (("A", 90.0), ("B", 50.0)):
        project.published(model=model, axes=[], values=value, trials=300, metric=SHARES)
    path = f"/projects/{project.slug}/rankings?experiment=type-by-length&metric=accuracy"
    pending = visitor.read(path)
    assert "is being computed" in pending.text
    assert "better than" not in pending.text
    assert description(pending).startswith("Ranks with")
    project.house.compute()
    assert "A is better than B by 40.0 points" in visitor.read(path).text
    with project.house.database.transaction() as connection:
        connection.execute(
            update(cached_results).values(state="failed", reason="it was too much", etag=None, document=None)
        )
    failed = visitor.read(path)
    assert "This ranking failed: it was too much." in failed.text
    assert "better than" not in failed.text


def board(project: Project, names: int, benchmarks: int, **more: Any) -> str:
    """A leaderboard of names whose scores cross from benchmark to benchmark; the path of its ranking."""
    project.call("PATCH", f"projects/{project.slug}", "admin", json={"visibility": "public"})
    grids = [
        publication(experiment="board", benchmark=f"b{benchmark}", model=f"m{name:03}", axes=[], metric=SHARES,
                    values=float(50 + (name * (benchmark + 3) * 7) % 40), trials=None, **more)
        for name in range(names) for benchmark in range(benchmarks)
    ]  # fmt: skip
    assert project.call("POST", f"projects/{project.slug}/grids/batch", json=grids).status_code == 200
    return f"/projects/{project.slug}/rankings?experiment=board&metric=accuracy"


def test_a_board_in_which_nothing_separates_says_so_folds_its_group_and_stays_light(
    project: Project, visitor: Browser
) -> None:
    path = board(project, 150, 6)
    visitor.get(path)
    project.house.compute()
    page = visitor.read(path)
    assert "The tests separate none of the 150 models over 6 benchmarks" in page.text
    assert "Holm corrects for 11,175 pairs" in page.text
    text = visitor.get(path).text
    assert "all 150 names</summary>" in " ".join(text.split())
    assert len(gzip.compress(text.encode())) <= 60_000
    # Two of them are asked about by the form, which keeps the rest of the question.
    visitor.get(f"{path}&model=m001&model=m002")
    project.house.compute()
    two = visitor.read(f"{path}&model=m001&model=m002")
    assert len(links(two, "/comparisons?baseline=")) == 6


def test_pairs_and_groups_lead_to_the_ranking_of_these_alone(project: Project, visitor: Browser) -> None:
    path = board(project, 4, 3)
    visitor.get(path)
    project.house.compute()
    page = visitor.read(path)
    pairs = [one for one in links(page, "model=m00") if one.startswith("/projects/") and one.count("model=") == 2]
    assert len(pairs) >= 6
    assert visitor.get(pairs[0]).status_code == 200
    squares = [given["href"] for tag, given in page.attributes if tag == "a" and given.get("tabindex") == "-1"]
    assert len(squares) == 12  # six pairs, on either side of the diagonal
    assert {squares.count(one) for one in squares} == {2}
    assert set(squares) <= set(pairs)


def curves(project: Project, values: Mapping[str, list[float]], **more: Any) -> list[str]:
    project.call("PATCH", f"projects/{project.slug}", "admin", json={"visibility": "public"})
    return [
        project.published(model=model, axes=CONTEXTS, values=found, **{"trials": 300, "metric": SHARES} | more)["id"]
        for model, found in values.items()
    ]


@pytest.mark.parametrize("direction, blue", [("higher", "d20"), ("lower", "d0")])
def test_only_cells_whose_own_difference_is_shown_are_outlined(
    project: Project, visitor: Browser, direction: str, blue: str
) -> None:
    """90 against 60 of 100 in 300 trials is far beyond noise; 80 against 79 is not."""
    metric = SHARES | {"direction": direction}
    old, new = curves(project, {"old": [60.0, 80.0, 70.0], "new": [90.0, 79.0, 71.0]}, metric=metric)
    ways = [
        f"/projects/{project.slug}/comparisons?baseline={old}&contender={new}",
        f"/grids/{new}?show=difference&baseline={old}",
    ]
    for way in ways:
        visitor.get(way)
        project.house.compute()
        page = visitor.read(way)
        marked = [given for tag, given in page.attributes if tag == "td" and "apart" in (given.get("class") or "")]
        assert [given["class"] for given in marked] == [f"{blue} apart"]
        assert "Context 4000: +30 (90 against 60)" in (marked[0]["title"] or "")
        assert "differs by more than noise" in page.text
        assert "blue: better than the baseline" in page.text
        assert ("lower is better" in page.text) == (direction == "lower")


def test_a_share_of_the_project_outlines_the_same_cells(project: Project, visitor: Browser) -> None:
    old, new = curves(project, {"old": [60.0, 80.0, 70.0], "new": [90.0, 79.0, 71.0]})
    project.call("PATCH", f"projects/{project.slug}", "admin", json={"visibility": "private"})
    shared = {"path": f"/projects/{project.slug}"}
    made = project.call("POST", f"projects/{project.slug}/shares", "admin", json=shared).get_json()
    way = f"/grids/{new}?show=difference&baseline={old}&{made['url'].split('?')[1]}"
    assert visitor.get(way).status_code == 200
    project.house.compute()
    page = visitor.read(way)
    assert sum("apart" in (given.get("class") or "") for tag, given in page.attributes if tag == "td") == 1


def test_a_grid_begins_with_its_best_cell_its_trend_and_its_holes(demo: Demo, guest: Browser) -> None:
    page = guest.read(demo.seed0)
    assert "36 other cells may be the best as well, with 95 % confidence, and 58 are ruled out." in page.text
    assert "Along Length 5 of 7 series fall, 1 rises and 1 varies without a trend." in page.text
    assert "43 of 140 cells were never measured." in page.text
    assert "99.3 % of 300 trials is 298 of 300" in page.text
    assert description(page).startswith("The best accuracy is 100.0 %")


def test_an_experiment_begins_with_its_ranking_if_that_is_there_and_with_its_best_coordinate(
    project: Project, visitor: Browser
) -> None:
    curves(project, {"old": [60.0, 80.0, 70.0], "new": [90.0, 79.0, 71.0]})
    path = f"/projects/{project.slug}/experiments/type-by-length?metric=accuracy"
    visitor.get(path)
    project.house.compute()
    page = visitor.read(path)
    # (30 - 1 + 1) / 3 cells are 10 points.
    assert "Who is best: shown new is better than old by 10.0 points" in page.text
    assert "Best coordinate: left open No coordinate is shown to serve these 2 grids best" in page.text
    assert "new is better than old by 10.0 points" in description(page)


def test_words_of_the_statistics_open_their_meaning_without_a_script(demo: Demo, guest: Browser) -> None:
    page = computed(demo, guest, RANKING)
    targets = {given["popovertarget"] for tag, given in page.attributes if tag == "button" and "popovertarget" in given}
    meanings = [given["id"] for tag, given in page.attributes if "popover" in given]
    assert targets == set(meanings)
    assert {"word-rank-range", "word-group", "word-pool", "word-holm", "word-tau"} <= targets
    assert set(meanings) <= set(guest.read("/docs").ids)
