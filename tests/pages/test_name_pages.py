"""The pages of models, benchmarks, variants and metrics, and the lists of their names."""

import re
from typing import Any
from urllib.parse import quote

import pytest

from registry.operations.find_grids import Filters
from registry.operations.overview import scopes_of
from tests.house import ACCURACY, ENDED, House, Project, publication
from tests.pages.conftest import Browser, Demo, Outline, browser, share
from tests.recorder import statements

SCOPE = "experiment=type-by-length&metric=accuracy"
OF_ALL_KINDS = ["a//b", "..", "50% of #1? é/ö &x=1", "🦙" * 200]
STRANGE = [
    "Qwen/Qwen2.5-7B", "/begins", "ends/", ".", "a/../b", "🦙 llama", "a'b\"<i>", "שלום", "x.csv", "m" * 200,
    "back\\slash", " spaced ", "%2F%00;b=c,d+e", "search",
]  # fmt: skip


def reader(project: Project) -> Browser:
    return browser(project.house, project.tokens["reader"])


def test_a_name_leads_from_the_list_to_its_page_and_to_its_grids_whatever_it_is(
    house: House, subtests: pytest.Subtests
) -> None:
    for name in OF_ALL_KINDS + STRANGE:
        with subtests.test(msg=name):
            project = house.make_project()
            named = dict.fromkeys(("experiment", "model", "benchmark", "variant"), name)
            grid = f"/grids/{project.published(**named, metric=ACCURACY | {'name': name})['id']}"
            visitor, home = reader(project), f"/projects/{project.slug}"
            for kind in ("model", "benchmark", "variant", "metric") if name in OF_ALL_KINDS else ("model",):
                listed = visitor.read(f"{home}/{kind}s").links()
                place = next(href for href in listed if f"/{kind}s/" in href or "?name=" in href)
                page = visitor.read(place)
                assert name.strip() in " ".join(page.texts)
                assert grid in page.links()
                [all_grids] = set(page.links("sort=experiment"))
                assert grid in visitor.read(all_grids).links()
                assert visitor.get(page.links("/data/")[0]).status_code == 200
            listed = visitor.read(f"{home}/experiments").links()
            place = next(href for href in listed if "/experiments/" in href or "/grids?experiment=" in href)
            assert grid in visitor.read(place).links()
            ENDED.append(project)


def test_the_page_of_a_model_says_what_was_measured_in_each_experiment(demo: Demo, guest: Browser) -> None:
    """R1-Qwen of seed 4: four benchmarks of 20 cells; its experiment holds other models too."""
    page = guest.read("/projects/demo/models/R1-Qwen")
    grids = demo.answer("projects/demo/grids?model=R1-Qwen")["items"]
    measured = sum(grid["cell_count"] for grid in grids)
    possible = sum(grid["shape"][0] * grid["shape"][1] for grid in grids)
    assert f"{len(grids)} grids {measured} of {possible} cells measured" in page.text
    for grid in grids:
        assert f"/grids/{grid['id']}" in page.links()
        assert f"{grid['benchmark']} {grid['cell_count']} of {grid['shape'][0] * grid['shape'][1]}" in page.text
    assert page.links("/rankings?experiment=window-by-ratio")
    assert "/api/v1/projects/demo/grids?model=R1-Qwen" in page.links()
    assert "/api/v1/projects/demo/cells.csv?model=R1-Qwen" in page.links()
    # One of its grids is compared with those of other models too.
    [compared] = page.links("/comparisons?find=")
    offered = [one.get("value") for one in guest.read(compared).all("option")]
    others = demo.answer("projects/demo/grids?model=R1-Llama")["items"]
    assert {one["id"] for one in others} < {*offered}


@pytest.fixture
def ranked(project: Project) -> Project:
    """Three models on one benchmark of six cells, apart by far more than noise."""
    for model, level in (("good", 90.0), ("fair", 50.0), ("poor", 10.0)):
        values = [[level, level + 1, level + 2], [level, level - 1, level - 2]]
        project.published(model=model, values=values, trials=1000)
    return project


def test_on_a_phone_each_cell_of_a_list_has_the_head_of_its_column(guest: Browser, ranked: Project) -> None:
    def heads(page: Outline) -> set[str | None]:
        return {one.get("data-head") for one in page.all("td")}

    of_name = {*("Metric", "Cells measured", "Grids", "Statistics", "Last change", "Links")}
    assert heads(guest.read("/projects/demo/metrics/accuracy")) == of_name
    in_rankings = {"by", "Rank", "Mean", "Among all"}
    assert heads(reader(ranked).computed(f"/projects/{ranked.slug}/models/fair")) == of_name | in_rankings
    assert heads(browser(ranked.house, ranked.house.operator).read("/")) == {"About", "Grids", "Last change"}


def test_names_that_tie_for_the_first_rank_are_no_parts_and_parts_are_told(public: Project, visitor: Browser) -> None:
    for experiment, owners in (("tied", {"x": "ab"}), ("apart", {"x": "ab", "y": "cd"})):
        for benchmark, models in owners.items():
            for model in models:
                value = 90.0 if model == "a" and experiment == "apart" else 70.0
                public.published(experiment=experiment, model=model, benchmark=benchmark, axes=[], values=value)
        visitor.computed(f"/projects/{public.slug}/results?view=ranking&experiment={experiment}&metric=accuracy")
    text = visitor.read(f"/projects/{public.slug}/models/a").text
    assert "tied accuracy 1 (1–2) of 2" in text
    assert "apart accuracy 1 of those it meets" in text


def test_a_model_has_the_place_that_the_stored_ranking_gives_it(ranked: Project) -> None:
    visitor, home = reader(ranked), f"/projects/{ranked.slug}"
    path = f"{home}/models/fair"
    text = visitor.computed(path).text
    ranking = ranked.get(f"{home[1:]}/rankings?{SCOPE}").get_json()
    row = next(one for one in ranking["ranking"] if one["name"] == "fair")
    assert (row["rank"], row["rank_low"], row["rank_high"]) == (2, 2, 2)
    mean, ends = row["mean"], row["mean_interval"]
    around = f"{mean:.2f} ({ends['low']:.2f} to {ends['high']:.2f})"
    assert f"accuracy 2 of 3 {around}" in text
    ranked.published(model="best", values=[[99.0] * 3, [98.0] * 3], trials=1000)
    assert "accuracy 2 of 3" not in visitor.read(path).text
    # What somebody asked with other settings is theirs: the usual ranking alone is listed.
    assert ranked.get(f"{home[1:]}/rankings?{SCOPE}&method=borda&missing=available").status_code == 202
    ranked.house.compute()
    page = visitor.read(path)
    assert page.text.count("3 of 4") == 1
    assert not page.links("method=borda")
    [link] = page.links("view=ranking")
    assert "Ranking of type-by-length" in visitor.read(link).text


def test_opening_the_page_of_a_name_requests_nothing(ranked: Project) -> None:
    visitor = reader(ranked)
    with statements() as seen:
        for path in ("models", "models/fair", "benchmarks/Core%20Generalization", "metrics/accuracy", "search?q=fair"):
            visitor.read(f"/projects/{ranked.slug}/{path}")
    assert seen
    assert not [one for one in seen if re.match(r"\s*(INSERT|UPDATE|DELETE)", one) and "tokens" not in one]


def test_aliases_and_names_that_look_alike_lead_to_each_other(project: Project) -> None:
    for benchmark in ("AIME'24", "AIME24", "aime'24", "AIME25"):
        project.published(benchmark=benchmark)
    alias = {"kind": "benchmark", "alias": "AIME24", "name": "AIME'24"}
    assert project.call("POST", f"projects/{project.slug}/aliases", json=alias).status_code == 201
    visitor, home = reader(project), f"/projects/{project.slug}/benchmarks"
    page = visitor.read(f"{home}/AIME'24")
    assert "also called AIME24" in page.text
    assert "looks like aime'24 : they" in page.text
    assert "2 grids" in page.text
    assert "alias of AIME'24" in visitor.read(f"{home}/AIME24").text
    assert "looks like" not in visitor.read(f"{home}/AIME25").text
    # A list has a name once, with what it is also called and the grids of both.
    page = visitor.read(home)
    assert "3 names of benchmarks" in page.text
    assert "Also called Last change AIME'24 2 AIME24 " in page.text
    assert [len(page.links(f"/benchmarks/{name}")) for name in ("AIME%2724", "AIME24", "aime%2724", "AIME25")] == [
        1
    ] * 4
    found = visitor.read(f"{home}?q=AIME24")
    assert "1 name of benchmarks with these words" in found.text
    assert "AIME'24 2 AIME24 " in found.text


def test_a_name_that_no_grid_has_is_not_found(guest: Browser) -> None:
    for path in ("models/nobody", "benchmarks/a%00b", "models/%2e%2e", "metrics/x/y", "models?name=nobody"):
        assert guest.get(f"/projects/demo/{path}").status_code in (303, 404), path
    assert guest.get("/projects/nowhere/models/x").status_code in (401, 404)


def test_experiments_beyond_the_thirtieth_are_counted(project: Project) -> None:
    sent = [publication(experiment=f"e{n:02}", model="m", axes=[], values=1.0, trials=None) for n in range(33)]
    project.call("POST", f"projects/{project.slug}/grids/batch", json=sent)
    page = reader(project).read(f"/projects/{project.slug}/models/m")
    assert "30 of 33 experiments and metrics are on this page" in page.text
    assert "e29" in page.texts
    assert "e30" not in page.texts


def test_cells_that_grids_have_room_for_are_counted_by_their_axes(project: Project) -> None:
    """2 × 3 cells with 5 measured, one score without axes, and a grid whose axis has no level yet."""
    project.published(model="m")
    project.published(model="m", benchmark="one", axes=[], values=4.0, trials=None)
    empty: Any = [{"name": "Length", "kind": "numeric", "levels": []}]
    project.published(model="m", benchmark="none", axes=empty, values=[], trials=None)
    with project.house.database.reading() as connection:
        [scope] = scopes_of(connection, project.id, Filters(model=["m"]))
    assert (scope.grids, scope.measured, scope.possible, scope.pending, scope.failed) == (3, 6, 7, 3, 0)


def test_a_share_of_a_name_opens_it_and_nothing_beside_it(project: Project, visitor: Browser) -> None:
    project.published(model="a/b")
    page = visitor.read(share(project, f"/projects/{project.slug}/models/{quote('a/b')}"))
    assert not [href for href in page.links() if "/grids/" in href or href.endswith("/models")]
    assert "a/b" in page.text


def test_a_model_and_its_line_say_how_its_only_grid_falls_in_one_sentence(public: Project, visitor: Browser) -> None:
    """Newcombe's interval of 372 and 264 of 500."""
    levels = [4096, 8192, 16384, 32768, 65536, 131072, 262144]
    axis = {"name": "Context", "kind": "numeric", "scale": "log", "levels": levels}
    values = [74.4, 73.9, 72.8, 70.1, 66.0, 59.9, 52.8]
    public.published(model="M", experiment="e", axes=[axis], values=values, trials=500)
    steep = [*values[:2], 74.4, 40.0, 40.0, 40.0, 40.0]
    public.published(model="N", experiment="steep", axes=[axis], values=steep, trials=9000)
    public.house.compute()
    assert "from Context 32768 on, but not up to 16384." in visitor.read(f"/projects/{public.slug}/models/N").text
    told = "Along Context accuracy falls: at 262144 it is 21.6 points lower than at 4096 (95 % interval 15.7 to 27.3)"
    told += ", and below its first value by more than 2 points from Context 65536 on."
    assert told in visitor.read(f"/projects/{public.slug}/models/M").text
    lines = f"/projects/{public.slug}/results?view=lines&experiment=e&metric=accuracy"
    assert told in visitor.computed(lines).text


def test_what_is_empty_counts_nothing(public: Project, visitor: Browser) -> None:
    home = f"/projects/{public.slug}"
    empty = visitor.read(home)
    assert "0 grids" not in f"{empty.text} {empty.description}"
    public.published(model="M", axes=[{"name": "Length", "levels": []}], values=[], trials=None)
    told = visitor.read(f"{home}/models/M").text
    assert "1 grid no cells yet last change" in told
    assert "0 of 0" not in told


@pytest.mark.parametrize("own_labels", [False, True])
def test_a_model_says_from_which_level_on_its_series_decline(
    public: Project, visitor: Browser, own_labels: bool
) -> None:
    """A fall from 90 % to 40 % of 400 trials is 16 of its standard errors, and one of 1 point none."""
    lengths: list[Any] = [1, 2, 4, 8, 16, 32]
    if own_labels:
        lengths = [{"label": f"{length}k", "number": length} for length in lengths]
    axes = [{"name": "Type", "levels": ["late", "soon"]}, {"name": "Length", "levels": lengths}]
    values = [[90, 90, 90, 90, 40, 40], [90, 89, 40, 40, 40, 40]]
    grid = public.published(model="m", axes=axes, values=values, trials=400)["id"]
    public.house.compute()
    told = "Type soon is below its first value by more than 2 points from Length 4 on"
    for page in (f"/projects/{public.slug}/models/m", f"/grids/{grid}"):
        assert f"{told} and Type late from 16 on." in visitor.read(page).text


def test_a_benchmark_says_who_was_measured_by_which_protocol_where_there_are_several(project: Project) -> None:
    path = f"/projects/{project.slug}/benchmarks/AIME"
    heading = "Who was measured by which protocol"

    def put(model: str, protocol: dict[str, Any] | None) -> str:
        project.published(experiment="e", benchmark="AIME", model=model, protocol=protocol)
        return reader(project).read(path).text

    assert heading not in put("a", {"prompt": "v1", "shots": 5, "run": 1})
    assert f"{heading} e run 1: a run 2: b " in put("b", {"prompt": "v1", "shots": 5, "run": 2})
    answer = project.call(
        "PATCH", f"projects/{project.slug}/experiments/e", "admin", json={"protocol": {"free": ["run"]}}
    )
    assert answer.status_code == 200
    assert heading not in put("c", None)
    project.published(experiment="another", benchmark="AIME", model="a", protocol={"prompt": "v3"})
    assert f"{heading} e prompt v1: a , b prompt v2: d not said: c " in put("d", {"prompt": "v2", "shots": 5, "run": 3})
