"""The page of a ranking: the form offers only what can be answered, and hundreds of names stay readable."""

from __future__ import annotations

import re

import pytest

from registry.pages.bars import WIDTH, bars_of
from tests.house import Project, publication
from tests.pages.conftest import Browser, Demo, Outline
from tests.registry.renderings.documents import read_ranking


def opened(project: Project) -> Project:
    project.call("PATCH", f"projects/{project.slug}", "admin", json={"visibility": "public"})
    return project


def offered(page: Outline, name: str) -> list[str]:
    """The values of the options of one select, or of the suggestions for one field."""
    found, inside = [], False
    for tag, given in page.attributes:
        if tag == "select":
            inside = given.get("name") == name
        elif tag == "option" and inside:
            found.append(given.get("value"))
    return found


def test_rank_models_leads_to_what_can_be_ranked_and_each_of_it_is_answered(demo: Demo, guest: Browser) -> None:
    page = guest.read("/projects/demo/rankings")
    links = [given["href"] for _, given in page.attributes if "/rankings?experiment=" in (given.get("href") or "")]
    assert len(links) == 3  # the demonstration has three experiments of one metric each
    for link in links:
        assert guest.get(link).status_code == 200, link


def test_a_project_leads_to_the_ranking_of_each_experiment_before_it_lists_grids(demo: Demo, guest: Browser) -> None:
    text = guest.get("/projects/demo").text
    before, _ = text.split('<h2 id="grids">')
    for words in ("Rank models", "Compare two grids", "Lines", "Trade-off", ">Table<"):
        assert words in before
        assert text.count(words) == 1
    led = guest.get("/projects/demo/rankings?experiment=window-by-ratio")
    assert '/projects/demo/rankings?experiment=window-by-ratio">rank<' in before
    assert led.headers["Location"] == "/projects/demo/rankings?experiment=window-by-ratio&metric=Pass%401"


def test_another_experiment_with_one_metric_is_answered_by_that_metric(demo: Demo, guest: Browser) -> None:
    answer = guest.get("/projects/demo/rankings?experiment=size-by-progress&metric=Pass@1")
    assert answer.status_code == 303
    assert "metric=Pass%401" not in answer.headers["Location"]
    assert guest.get(answer.headers["Location"]).status_code == 200


def test_an_experiment_with_several_metrics_offers_its_own(project: Project, visitor: Browser) -> None:
    opened(project)
    for experiment, metric in [("one", "a"), ("one", "b"), ("two", "c"), ("two", "d")]:
        project.publish(publication(experiment=experiment, metric={"name": metric, "direction": "higher"}, trials=None))
    page = visitor.read(f"/projects/{project.slug}/rankings?experiment=two&metric=a", 404)
    assert 'No grid of "two" has the metric "a"; there are c, d.' in page.text
    texts = [given.get("href") or "" for _, given in page.attributes if "aria-current" not in given]
    offered = [one for one in texts if "/rankings" in one and "metric=" in one]
    assert sum("sign-in" not in one and "kiosk=" not in one for one in offered) == 2
    assert ("select", "metric") in [(tag, given.get("name")) for tag, given in page.attributes]


@pytest.mark.parametrize(
    "query, told",
    [
        (
            "benchmark=NOPE",
            "has the benchmark \"NOPE\"; there are AIME'24, AIME'25, AIME24, AIME25, AMC23, GPQA D, GPQA_D.",
        ),
        ("benchmark=AMC23,GPQA_D", 'has the benchmark "AMC23,GPQA_D"'),
        ("model=NOPE", 'has the model "NOPE"; there are R1-Llama, R1-Qwen.'),
        ("by=axis:ratio", 'has an axis "ratio"; there are Local Window Size, Ratio.'),
        ("model=R1-Qwen&model=NOPE", 'has the model "NOPE"; there are R1-Llama, R1-Qwen.'),
        ("model=R1-Qwen&by=axis:nope", 'has an axis "nope"; there are Local Window Size, Ratio.'),
        ("method=guess", "/method"),
    ],
)
def test_a_wrong_name_keeps_the_form_and_names_the_right_ones(
    demo: Demo, guest: Browser, query: str, told: str
) -> None:
    page = guest.read(f"/projects/demo/rankings?experiment=window-by-ratio&metric=Pass@1&{query}", 422)
    assert told in page.text
    assert "no better end" not in page.text
    assert {"metric", "by", "method", "target"} <= {
        given.get("name") for tag, given in page.attributes if tag == "select"
    }


def test_an_unknown_experiment_keeps_the_form(demo: Demo, guest: Browser) -> None:
    page = guest.read("/projects/demo/rankings?experiment=nothing&metric=Pass@1", 404)
    assert "experiment" in {given.get("name") for tag, given in page.attributes if tag == "select"}


def test_the_page_says_what_the_text_says_about_stability(demo: Demo, guest: Browser) -> None:
    path = "/projects/demo/rankings?experiment=window-by-ratio&metric=Pass@1"
    guest.get(path)
    demo.house.compute()
    text = guest.read(path).text
    assert "one benchmark less" in text
    assert "Ranks with benchmarks drawn again" in text
    assert "With two names the score is therefore half of the difference." in text
    page = guest.read(path)
    links = [given["href"] for _, given in page.attributes if "/models/R1-Qwen" in (given.get("href") or "")]
    assert links
    assert guest.get(links[0]).status_code == 200


@pytest.mark.parametrize("count", [1, 2, 20, 44, 45, 60, 300])
def test_bars_and_dots_stay_within_the_box_for_any_number_of_names(count: int) -> None:
    rows = [{"rank": n + 1, "rank_low": n + 1, "rank_high": n + 1, "name": str(n), "score": 0.0} for n in range(count)]
    rows[0]["rank_high"] = count
    for bar in bars_of(read_ranking({"ranking": rows, "method": "mean"})):
        x, wide, dot, size = (float(text) for text in (bar.x, bar.wide, bar.dot, bar.size))
        assert x >= 0
        assert wide > 0
        assert x + wide <= WIDTH + 0.2
        assert x - 0.2 <= dot - size
        assert dot + size <= x + wide + 0.2


def test_above_thirty_names_the_pairs_of_one_name_are_shown(project: Project, visitor: Browser) -> None:
    opened(project)
    many = [
        publication(model=f"m{number:02}", axes=[{"name": "x", "kind": "nominal", "levels": ["a", "b"]}],
                    values=[40.0 + number, 50.0 + number])
        for number in range(34)
    ]  # fmt: skip
    project.call("POST", f"projects/{project.slug}/grids/batch", json=many)
    path = f"/projects/{project.slug}/rankings?experiment=type-by-length&metric=accuracy"
    visitor.get(path)
    project.house.compute()
    page = visitor.read(path)
    assert "There are 561 pairs." in page.text  # 34 times 33, halved
    rows = visitor.get(f"{path}&pairs_of=m07").text.split('id="pairs"')[1].split("<tbody>")[1].split("</tbody>")[0]
    assert rows.count("<tr>") == 33
    assert all("m07" in row for row in rows.split("</tr>")[:-1])
    assert len(page.attributes) < 120 * 34
    assert not re.search(r'(width|r)="-', visitor.get(path).text)


def test_a_project_without_grids_and_an_experiment_with_one_model_end_in_no_dead_end(
    project: Project, visitor: Browser
) -> None:
    opened(project)
    path = f"/projects/{project.slug}/rankings"
    assert "nothing to rank" in visitor.read(path).text
    project.published(metric={"name": "size", "direction": None}, trials=None)
    answer = visitor.get(path)
    assert answer.status_code == 303  # there is one thing to ask
    visitor.get(answer.headers["Location"])
    project.house.compute()
    assert "Nothing is ranked" in visitor.read(answer.headers["Location"]).text


def test_a_name_of_another_metric_is_not_offered_in_place_of_a_wrong_one(project: Project, visitor: Browser) -> None:
    opened(project)
    for metric, model in [("a", "one"), ("a", "two"), ("b", "three")]:
        project.published(metric={"name": metric, "direction": "higher"}, model=model, trials=None)
    experiment = publication()["experiment"]
    page = visitor.read(f"/projects/{project.slug}/rankings?experiment={experiment}&metric=a&model=three", 422)
    assert 'has the model "three"; there are one, two.' in page.text


def test_the_page_of_three_hundred_names_is_short(project: Project, visitor: Browser) -> None:
    """A lab's leaderboard: 300 kB at most, with a form in which the pairs of one name are asked for."""
    opened(project)
    for benchmark in range(9):
        grids = [
            publication(
                experiment="board",
                benchmark=f"b{benchmark}",
                model=f"m{model:03}",
                axes=[],
                values=float((model * 37 + benchmark * 11 + (model * benchmark) % 17) % 100),
                trials=None,
            )
            for model in range(300)
        ]
        assert project.call("POST", f"projects/{project.slug}/grids/batch", json=grids).status_code == 200
    project.house.compute()
    path = f"/projects/{project.slug}/rankings?experiment=board&metric=accuracy"
    text = visitor.get(path).text
    assert len(text.encode()) <= 300_000
    assert text.count("<circle") == 300
    assert "There are 44,850 pairs" in text
    visitor.get(f"{path}&pairs_of=m007")
    project.house.compute()
    rows = visitor.get(f"{path}&pairs_of=m007").text.split('id="pairs"')[1].split("<tbody>")[1].split("</tbody>")[0]
    assert rows.count("<tr>") == 299
