"""The page of two models compared by name: the sentence, the rows that lead to grids, the form, and the ways to it."""

from __future__ import annotations

import gzip
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from tests.house import Project, publication
from tests.pages.conftest import Browser, Demo, Outline
from tests.pages.test_verdicts import computed, description, links

BASE = "/projects/demo/comparisons"
NAMES = {"experiment": "window-by-ratio", "metric": "Pass@1"}
BOTH = NAMES | {"baseline_model": "R1-Llama", "contender_model": "R1-Qwen"}
SLICED = BOTH | {"at.Local Window Size": ">=2000"}


def answer(demo: Demo, asked: dict[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = demo.house.call("GET", f"projects/demo/comparisons?{urlencode(asked)}").get_json()
    return found


def to_grids(page: Outline) -> list[dict[str, str]]:
    """The queries of the links to comparisons of two grids."""
    found = [link for link in links(page, "/comparisons?") if "/api/" not in link]
    return [query for link in found if "baseline" in (query := dict(parse_qsl(urlsplit(link).query)))]


def test_the_page_begins_with_who_is_better_and_has_a_row_for_each_benchmark(demo: Demo, guest: Browser) -> None:
    page = computed(demo, guest, f"{BASE}?{urlencode(BOTH)}")
    told = "R1-Qwen is better than R1-Llama by 2.1 points (95 % interval 0.6 to 3.7) on the 32 cells of 4 benchmarks"
    assert told in page.text
    assert description(page).startswith(told)
    whole = answer(demo, BOTH)
    assert f"{whole['whole']['difference']:.1f}" == "2.1"
    assert [one["baseline"] for one in to_grids(page)] == [one["baseline"]["grid"] for one in whole["by_benchmark"]]
    for one in whole["by_benchmark"]:
        assert one["benchmark"] in page.text


def test_every_row_leads_to_the_two_grids_and_these_to_cells(demo: Demo, guest: Browser) -> None:
    page = computed(demo, guest, f"{BASE}?{urlencode(SLICED)}")
    assert "Only Local Window Size at least 2000; nothing else is counted." in page.text
    asked = to_grids(page)
    assert len(asked) == 4
    assert all(one["at.Local Window Size"] == ">=2000" for one in asked)
    grids = computed(demo, guest, f"{BASE}?{urlencode(asked[0])}")
    assert "Contender less baseline" in " ".join(
        filter(None, (given.get("aria-label") for _, given in grids.attributes))
    )
    assert links(grids, "experiment=window-by-ratio")


def test_a_benchmark_that_carries_the_difference_is_in_the_sentence(demo: Demo, guest: Browser) -> None:
    page = computed(demo, guest, f"{BASE}?{urlencode(SLICED)}")
    told = "; without AIME'25 it is 0.7 points (95 % interval −1.7 to 3.0), left open, as it is without GPQA_D"
    assert told in page.text
    # The other way round it is the same claim.
    turned = SLICED | {"baseline_model": "R1-Qwen", "contender_model": "R1-Llama"}
    assert told in computed(demo, guest, f"{BASE}?{urlencode(turned)}").text


def test_the_form_asks_for_what_is_missing_and_keeps_what_is_wrong(demo: Demo, guest: Browser) -> None:
    alone = guest.get(f"{BASE}?experiment=window-by-ratio")
    assert (alone.status_code, "metric=Pass%401" in alone.location) == (303, True)
    page = guest.read(f"{BASE}?{urlencode(NAMES)}")
    fields = {given.get("name") for tag, given in page.attributes if tag in ("input", "select")}
    assert {"experiment", "metric", "baseline_model", "contender_model", "at.Ratio"} <= fields
    assert "Name two models" in page.text
    wrong = guest.read(f"{BASE}?{urlencode(BOTH | {'contender_model': 'R1-Qwem'})}", 422)
    assert "/contender_model" in wrong.text
    assert "R1-Qwen" in wrong.text
    half = guest.read(f"{BASE}?{urlencode(BOTH | {'baseline_variant': 'x'})}", 422)
    assert "is needed with baseline_variant" in half.text
    assert guest.get(f"{BASE}?{urlencode(BOTH | {'experiment': 'nowhere'})}").status_code in (404, 422)
    assert guest.get(f"{BASE}?{urlencode(BOTH | {'at.Ratio': '9'})}").status_code == 422
    mixed = guest.read(f"{BASE}?{urlencode(BOTH | {'baseline': demo.grids['4'][0]})}", 422)
    assert "cannot be given with the names of models" in mixed.text


def test_its_downloads_ask_what_it_asked(demo: Demo, guest: Browser) -> None:
    page = computed(demo, guest, f"{BASE}?{urlencode(SLICED)}")
    found = links(page, "/api/v1/")
    assert [urlsplit(one).path.rpartition("/")[2] for one in found] == [
        "comparisons", "comparisons.csv", "comparisons.md", "comparisons.txt",
    ]  # fmt: skip
    for one in found:
        assert dict(parse_qsl(urlsplit(one).query)) == SLICED
        assert guest.get(one).status_code == 200
    assert "R1-Qwen is better than R1-Llama by 2.4 points" in guest.get(found[3]).text


def test_a_ranking_and_a_comparison_of_grids_lead_to_it(demo: Demo, guest: Browser, project: Project) -> None:
    at = {"at.Local Window Size": ">=2000"}
    ranking = computed(demo, guest, f"/projects/demo/rankings?{urlencode(NAMES | at)}")
    asked = [dict(parse_qsl(urlsplit(link).query)) for link in links(ranking, "contender_model=")]
    turned = SLICED | {"baseline_model": SLICED["contender_model"], "contender_model": SLICED["baseline_model"]}
    assert SLICED in asked
    assert all(one in (SLICED, turned) for one in asked)
    assert links(guest.read(BASE), "/comparisons?experiment=")


def test_the_pairs_of_many_models_lead_to_it_and_many_benchmarks_stay_light(project: Project, visitor: Browser) -> None:
    project.call("PATCH", f"projects/{project.slug}", "admin", json={"visibility": "public"})
    scores = {"name": "accuracy", "unit": "%", "direction": "higher", "lower": 0, "upper": 100}
    grids = [
        publication(experiment="e", benchmark=f"bench {b:03}", model=f"model {m}", axes=[], metric=scores,
                    values=float(50 + (m * (b + 3) * 7) % 40), trials=300)
        for m in range(3) for b in range(120)
    ]  # fmt: skip
    assert project.call("POST", f"projects/{project.slug}/grids/batch", json=grids).status_code == 200
    path = f"/projects/{project.slug}/rankings?experiment=e&metric=accuracy"
    visitor.get(path)
    project.house.compute()
    pairs = links(visitor.read(path), "contender_model=")
    assert len(pairs) >= 3
    visitor.get(pairs[0])
    project.house.compute()
    page = visitor.read(pairs[0])
    assert "and 60 more benchmarks, which the downloads list" in page.text
    assert len(to_grids(page)) == 60
    body = visitor.get(pairs[0]).data
    assert len(body) <= 60_000
    assert len(gzip.compress(body)) < 15_000
