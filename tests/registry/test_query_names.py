"""Names in a question: what no grid has is refused at once, with the names that there are, and nothing is computed."""

import itertools
import threading
from typing import Any
from urllib.parse import urlencode

import pytest
from sqlalchemy import func, select

from registry.api import answers as lookup
from registry.storage.tables import cached_results
from tests.house import House, Project


@pytest.fixture(scope="module")
def known(house: House) -> Project:
    project = house.make_project()
    for benchmark, model in (("AMC23", "a"), ("GPQA_D", "b"), ("AIME'24", "b")):
        project.published(experiment="E", benchmark=benchmark, model=model, variant="")
    for kind, alias, name in (("benchmark", "AIME24", "AIME'24"), ("model", "A", "a"), ("experiment", "e", "E")):
        sent = {"kind": kind, "alias": alias, "name": name}
        assert project.call("POST", f"projects/{project.slug}/aliases", json=sent).status_code == 201
    return project


def ask(project: Project, what: str = "rankings", **query: Any) -> Any:
    given = {"experiment": "E", "metric": "accuracy"}
    return project.get(f"projects/{project.slug}/{what}?{urlencode(given | query, doseq=True)}")


UNKNOWN = [
    ({"benchmark": "NOPE"}, "/benchmark", 'no grid of this experiment has the benchmark "NOPE"; there are AIME\'24, '),
    ({"benchmark": "AMC23,GPQA_D"}, "/benchmark", "; repeat the parameter for several"),
    ({"benchmark": ["AMC23", "amc23"]}, "/benchmark", '"amc23"'),
    ({"model": ["a", "c"]}, "/model", 'the model "c"; there are a, b'),
    ({"variant": "x"}, "/variant", "there is none"),
    ({"benchmark": "AMC23", "model": "b"}, "", "all of these names at once"),
]


def test_a_name_that_no_grid_has_is_refused_where_it_stands_and_nothing_is_stored(
    known: Project, subtests: pytest.Subtests
) -> None:
    before = stored(known)
    for what, (query, pointer, told) in itertools.product(("rankings", "noise"), UNKNOWN):
        with subtests.test(what, query=query):
            answer = ask(known, what, **query)
            assert answer.status_code == 422
            [fault] = answer.get_json()["errors"]
            assert (fault["pointer"], told in fault["detail"]) == (pointer, True), fault
    assert stored(known) == before


def stored(project: Project) -> int:
    with project.house.database.reading() as connection:
        query = select(func.count()).select_from(cached_results).where(cached_results.c.project_id == project.id)
        return int(connection.scalar(query) or 0)


def test_an_unknown_metric_or_experiment_is_not_found(known: Project) -> None:
    for query in ({"metric": "Accuracy"}, {"experiment": "other"}):
        assert ask(known, **query).status_code == 404
    told = ask(known, metric="acuracy").get_json()["detail"]
    assert told == 'No grid of experiment "E" has the metric "acuracy"; did you mean "accuracy"; there is accuracy.'


def test_a_name_that_is_an_alias_is_known(known: Project) -> None:
    for query in ({"benchmark": "AIME24"}, {"benchmark": ["AIME'24", "AMC23"]}, {"model": "A"}, {"experiment": "e"}):
        assert ask(known, **query).status_code in (200, 202), query


def test_an_axis_that_the_grid_has_not_is_refused_before_there_are_statistics(
    project: Project, subtests: pytest.Subtests
) -> None:
    grid = project.published()["id"]
    more = ("", "&alpha=0.01", "&part=changes", "&part=thresholds&value=90")
    for path in (f"{path}?along=length{one}" for path in ("statistics", "statistics.csv") for one in more):
        with subtests.test(path):
            [fault] = project.get(f"grids/{grid}/{path}").get_json()["errors"]
            assert fault == {
                "pointer": "/along",
                "detail": 'the grid has no axis "length"; did you mean "Length"; there are Length, Type',
            }


def test_an_alias_that_goes_while_its_ranking_is_made_never_gives_that_of_the_other_experiment(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = house.make_project()
    project.published(experiment="E1", model="first")
    project.published(experiment="E2", model="second")
    sent = {"kind": "experiment", "alias": "E2", "name": "E1"}
    alias = project.call("POST", f"projects/{project.slug}/aliases", json=sent).get_json()["id"]
    house.compute()
    waiting, gone, parted = lookup.waited, threading.Event(), list[int]()

    def waited(*given: Any) -> Any:
        if not gone.is_set():
            gone.set()
            path = f"projects/{project.slug}/aliases/{alias}"
            another = threading.Thread(target=lambda: parted.append(project.call("DELETE", path).status_code))
            another.start()
            another.join()
        house.compute()
        return waiting(*given)

    monkeypatch.setattr(lookup, "waited", waited)
    answer = ask(project, experiment="E2", alpha="0.01")
    assert parted == [204]
    assert answer.status_code == 200
    assert (answer.get_json()["experiment"], [one["name"] for one in answer.get_json()["ranking"]]) == (
        "E2",
        ["second"],
    )
