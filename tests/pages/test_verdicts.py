"""The first sentence of a page: what its result amounts to, by the numbers that were published."""

import gzip
import re
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest
from sqlalchemy import update

from registry.storage.tables import cached_results
from tests.house import ACCURACY, Project, publication
from tests.pages.conftest import WINDOWS, Browser, Demo, share

RANKING = f"/projects/demo/rankings?{WINDOWS}"
CONTEXTS = [{"name": "Context", "kind": "numeric", "levels": [4000, 64000, 128000]}]


def gap_of_models(demo: Demo, keep: slice) -> float:
    """R1-Qwen less R1-Llama: the mean over benchmarks of the mean over the cells that both have."""
    values: dict[str, dict[str, Any]] = {}
    for one in demo.answer("projects/demo/grids?experiment=window-by-ratio&limit=100")["items"]:
        whole = demo.answer(f"grids/{one['id']}")
        benchmark = one["benchmark"].replace("'", "").replace(" ", "_")
        values.setdefault(benchmark, {})[one["model"]] = np.array(whole["values"], dtype=float)
    gaps = [np.nanmean((found["R1-Qwen"] - found["R1-Llama"])[keep]) for found in values.values()]
    assert len(gaps) == 4
    return float(np.mean(gaps))


def test_a_ranking_begins_with_who_is_better_by_how_much(demo: Demo, guest: Browser) -> None:
    page = guest.computed(RANKING)
    told = f"R1-Qwen is better than R1-Llama by {gap_of_models(demo, np.s_[:, :]):.1f} points"
    assert f"{told} (95 % interval 0.6 to 3.7) on the 32 of 80 cells of 4 benchmarks that both have" in page.text
    assert page.text.index(told) < page.text.index("metric", page.text.index("Ranking · window"))
    assert page.description.startswith(told)
    # Words of the statistics open their meaning without a script.
    targets = {given["popovertarget"] for given in page.all("button") if "popovertarget" in given}
    meanings = [given["id"] for tag, given in page.attributes if "popover" in given]
    assert targets == set(meanings)
    assert {"word-rank-range", "word-group", "word-pool", "word-holm", "word-tau"} <= targets
    assert set(meanings) <= set(guest.read("/docs").ids)


def test_a_slice_has_a_sentence_of_its_own_that_says_which_benchmark_carries_it(demo: Demo, guest: Browser) -> None:
    """Of the slice AIME'25 left out leaves what the ranking of the three other benchmarks says."""
    sliced = f"{RANKING}&{urlencode({'at.Local Window Size': '>=2000'})}"
    page = guest.computed(sliced)
    assert f"by {gap_of_models(demo, np.s_[2:, :]):.1f} points" in page.text
    assert "at Local Window Size at least 2000 on the 16 of 40 cells of 4 benchmarks that both have" in page.text
    others = urlencode({"benchmark": ["AIME'24", "AMC23", "GPQA_D"]}, doseq=True)
    rest = guest.computed(f"{sliced}&{others}")
    assert "R1-Qwen is 0.7 points better (95 % interval −1.7 to 3.0)" in rest.text
    told = "; without AIME'25 it is 0.7 points (95 % interval −1.7 to 3.0), left open, as it is without GPQA_D."
    assert told in page.text
    assert told in page.description


def test_what_is_shown_for_these_cells_alone_is_said_beside_the_other_targets(demo: Demo, guest: Browser) -> None:
    page = guest.computed(RANKING)
    assert "Who is best: shown for these cells" in page.text
    told = {"rerun": "these cells, run again : better by", "new_benchmarks": "of this kind : cannot be told:"}
    for target, words in told.items():
        [pair] = demo.answer(f"projects/demo/rankings?{WINDOWS}&target={target}")["pairs"]
        assert (pair["a"], pair["b"]) == ("R1-Llama", "R1-Qwen")
        low, high = -pair["interval"]["high"], -pair["interval"]["low"]
        around = f"{-pair['difference']:.1f} points (95 % interval {low:.1f} to {high:.1f})"
        assert f"{words} {around.replace('-', '−')}" in page.text
    assert "other questions of these benchmarks : cannot be told: 2.1 points" in page.text


def test_the_sentence_above_results_stays_when_the_other_targets_are_there(public: Project, visitor: Browser) -> None:
    for model, correct in (("a", 90.0), ("b", 70.0), ("c", 50.0)):
        for benchmark in "xyz":
            public.published(experiment="e", model=model, benchmark=benchmark, axes=[], values=correct, trials=200)
    scope = "experiment=e&metric=accuracy"
    public.get(f"projects/{public.slug}/rankings?{scope}", headers={"Prefer": "wait=0"})
    public.house.compute()
    path = f"/projects/{public.slug}/results?view=ranking&{scope}"
    first = visitor.read(path)
    assert "other benchmarks of this kind : being computed" in first.text
    last = visitor.computed(path)
    assert "other benchmarks of this kind : cannot be told" in last.text
    said = "Who is best: shown for these cells a is first of 3 models, shown to be better than both others."
    assert [said in one.text for one in (first, last)] == [True, True]
    assert ["It leads b" in one.text for one in (first, last)] == [False, False]


def test_text_and_pictures_claim_what_the_page_of_the_same_question_claims(public: Project, visitor: Browser) -> None:
    """Without noise nothing is tested of the cells; over five benchmarks a leads by 10, 11, 12, 9 and 8 points."""
    for model, values in (("a", (60, 71, 82, 59, 68)), ("b", (50, 60, 70, 50, 60))):
        for benchmark, value in zip("vwxyz", values, strict=True):
            public.published(experiment="e", model=model, benchmark=benchmark, axes=[], values=value, trials=None)
    scope = "experiment=e&metric=accuracy"
    page = visitor.computed(f"/projects/{public.slug}/rankings?{scope}")
    said = "a is better than b by 10.0 points"
    assert "Who is best: shown " + said in page.text
    assert "other benchmarks of this kind : better by 10.0 points" in page.text
    for form in ("txt", "md", "tex", "svg", "vl.json"):
        answer = public.get(f"projects/{public.slug}/rankings.{form}?{scope}")
        told = " ".join(re.sub(r"<[^>]+>|%", " ", answer.text).split())
        assert said in told, form
        assert "kind." in told, form
        assert "these cells, run again." not in told, form
        known = {"If-None-Match": answer.headers["ETag"]}
        assert public.get(f"projects/{public.slug}/rankings.{form}?{scope}", headers=known).status_code == 304
    plain = public.get(f"projects/{public.slug}/rankings?{scope}", headers={"Accept": "text/plain"})
    assert said in plain.text


def test_a_pending_and_a_failed_answer_have_no_sentence(public: Project, visitor: Browser) -> None:
    for model, value in (("A", 90.0), ("B", 50.0)):
        public.published(model=model, axes=[], values=value)
    path = f"/projects/{public.slug}/rankings?experiment=type-by-length&metric=accuracy"
    pending = visitor.read(path)
    assert "This ranking is " in pending.text
    assert "better than" not in pending.text
    assert pending.description.startswith("Results in six views")
    public.house.compute()
    assert "A is better than B by 40.0 points" in visitor.read(path).text
    failing = update(cached_results).where(cached_results.c.project_id == public.id)
    with public.house.database.transaction() as connection:
        connection.execute(failing.values(state="failed", reason="it was too much", etag=None, document=None))
    failed = visitor.read(path)
    assert "This ranking failed: it was too much." in failed.text
    assert "better than" not in failed.text


def board(project: Project, names: int, benchmarks: int) -> str:
    """A leaderboard of names whose scores cross from benchmark to benchmark; the path of its ranking."""
    grids = [
        publication(experiment="board", benchmark=f"b{benchmark}", model=f"m{name:03}", axes=[],
                    values=float(50 + (name * (benchmark + 3) * 7) % 40), trials=None)
        for name in range(names) for benchmark in range(benchmarks)
    ]  # fmt: skip
    assert project.call("POST", f"projects/{project.slug}/grids/batch", json=grids).status_code == 200
    return f"/projects/{project.slug}/rankings?experiment=board&metric=accuracy"


def test_a_board_in_which_nothing_separates_says_so_folds_its_group_and_stays_light(
    public: Project, visitor: Browser
) -> None:
    path = f"{board(public, 105, 3)}&target=new_benchmarks"
    page = visitor.computed(path)
    assert "The tests separate none of the 105 models over 3 benchmarks" in page.text
    assert "after correction for all pairs that were tested (Holm)" in page.text
    assert "less than 80 % power to show a true difference of any size that the scale has room for" in page.text
    text = visitor.get(path).text
    assert "all 105 names</summary>" in " ".join(text.split())
    assert len(page.all("rect", **{"class": "open"})) == 105
    assert len(text.encode()) <= 300_000
    assert len(gzip.compress(text.encode())) <= 60_000
    visitor.computed(f"{path}&pairs_of=m007")
    rows = visitor.get(f"{path}&pairs_of=m007").text.split('id="pairs"')[1].split("<tbody>")[1].split("</tbody>")[0]
    assert rows.count("<tr>") == 104
    # Of two of them the bar leads to how they compare on each benchmark.
    two = visitor.computed(visitor.computed(f"{path}&model=m001&model=m002").links("view=compare&")[0])
    assert len(two.links("/comparisons?baseline=")) == 3


def test_pairs_and_groups_lead_to_the_ranking_of_these_alone(public: Project, visitor: Browser) -> None:
    page = visitor.computed(board(public, 4, 3))
    pairs = [one for one in page.links("model=m00") if one.startswith("/projects/") and one.count("model=") == 2]
    assert len(pairs) >= 6
    assert visitor.get(pairs[0]).status_code == 200
    squares = [given["href"] for given in page.all("a", tabindex="-1")]
    assert len(squares) == 12  # six pairs, on either side of the diagonal
    assert {squares.count(one) for one in squares} == {2}
    assert set(squares) <= set(pairs)


def curves(project: Project, direction: str = "higher") -> tuple[str, str]:
    """The grids of two models: 90 against 60 in 300 trials is far beyond noise, and 80 against 79 is not."""
    metric = ACCURACY | {"direction": direction}
    old, new = (
        project.published(model=model, axes=CONTEXTS, values=values, metric=metric)["id"]
        for model, values in (("old", [60.0, 80.0, 70.0]), ("new", [90.0, 79.0, 71.0]))
    )
    return old, new


@pytest.mark.parametrize("direction, blue", [("higher", "d20"), ("lower", "d0")])
def test_only_cells_whose_own_difference_is_shown_are_outlined(
    project: Project, visitor: Browser, direction: str, blue: str
) -> None:
    old, new = curves(project, direction)
    # Also for who was sent a share of the project.
    link = share(project, f"/projects/{project.slug}").partition("?")[2]
    page = visitor.computed(f"/projects/{project.slug}/comparisons?baseline={old}&contender={new}&{link}")
    marked = [given for given in page.all("td") if "apart" in (given.get("class") or "")]
    assert [given["class"] for given in marked] == [f"{blue} apart"]
    assert "Context 4000: +30 (90 against 60)" in (marked[0]["title"] or "")
    assert "differs by more than noise" in page.text
    assert "blue: better than the baseline" in page.text
    assert ("lower is better" in page.text) == (direction == "lower")


def test_an_experiment_begins_with_its_ranking_if_that_is_there(public: Project, visitor: Browser) -> None:
    curves(public)
    page = visitor.computed(f"/projects/{public.slug}/results?view=heatmaps&experiment=type-by-length&metric=accuracy")
    # (30 - 1 + 1) / 3 cells are 10 points.
    assert "Who is best: shown for these cells new is better than old by 10.0 points" in page.text
    assert "new is better than old by 10.0 points" in page.description
