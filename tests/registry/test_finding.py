"""Grids and names are found by filters, words and levels, in pages that lose nothing."""

import itertools
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

import pytest

from tests.house import ACCURACY, House, Project, publication

SORTS = ("updated_at", "created_at", "experiment", "benchmark", "model", "variant", "metric", "cell_count")
SCORE: dict[str, Any] = {"axes": [], "values": 50.0}


def find(project: Project, *query: tuple[str, str], **more: str) -> list[dict[str, Any]]:
    answer = project.get(f"projects/{project.slug}/grids?{urlencode([*query, *more.items()])}")
    assert answer.status_code == 200, answer.text
    return answer.get_json()["items"]


def walk(project: Project, path: str) -> list[dict[str, Any]]:
    """Every item of a list, page by page, by the Link header."""
    items: list[dict[str, Any]] = []
    for _ in range(1000):
        answer = project.get(path)
        assert answer.status_code == 200, answer.text
        page = answer.get_json()
        items += page["items"]
        if page["next"] is None:
            assert "Link" not in answer.headers
            return items
        link = answer.headers["Link"]
        assert link.endswith('>; rel="next"')
        path = link[1:].partition(">")[0]
        assert quote(page["next"], safe="") in path
    raise AssertionError("the pages do not end")


def refused(project: Project, query: str) -> list[str]:
    """Where the faults of a list's query are."""
    answer = project.get(f"projects/{project.slug}/grids?{query}")
    assert answer.status_code == 422, answer.text
    return [one["pointer"] for one in answer.get_json()["errors"]]


def alias(project: Project, kind: str, alias: str, name: str) -> Any:
    sent = {"kind": kind, "alias": alias, "name": name}
    return project.call("POST", f"projects/{project.slug}/aliases", json=sent)


@pytest.fixture(scope="module")
def shelf(house: House) -> Project:
    """A project of 2^5 grids, two names of each kind."""
    project = house.make_project()
    sent = [
        publication(
            experiment=f"e{e}", benchmark=f"b{b}", model=f"m{m}", variant=f"v{v}" if v else "",
            metric=ACCURACY | {"name": f"x{x}"}, labels={"git_sha": f"{e}{b}", "job": str(m)}, axes=[],
            values=50.0 if m else None,
        )
        for e, b, m, v, x in itertools.product(range(2), repeat=5)
    ]  # fmt: skip
    assert project.call("POST", f"projects/{project.slug}/grids/batch", json=sent).status_code == 200
    return project


def test_repeated_filters_are_or_and_different_ones_and(shelf: Project) -> None:
    for kind, name in (("experiment", "e0"), ("benchmark", "b1"), ("model", "m0"), ("variant", "v1"), ("variant", "")):
        found = find(shelf, (kind, name))
        assert (len(found), {grid[kind] for grid in found}) == (16, {name})
    assert {grid["metric"]["name"] for grid in find(shelf, metric="x1")} == {"x1"}
    for query, grids in (
        ("model=m0&model=m1", 32),
        ("model=m0&model=none", 16),
        ("model=m0&model=m1&benchmark=b0&metric=x0", 8),
        ("model=none", 0),
        ("model=M0", 0),
        ("label.git_sha=01", 8),
        ("label.git_sha=01&label.job=1", 4),
        ("label.git_sha=01&label.git_sha=11&label.job=1", 8),
        ("label.git_sha=0", 0),
        ("label.other=01", 0),
    ):
        assert len(find(shelf, *parse_qsl(query))) == grids, query


def test_an_id_is_found_by_its_first_characters(shelf: Project) -> None:
    every = [grid["id"] for grid in walk(shelf, f"projects/{shelf.slug}/grids?limit=1000")]
    for size in (4, 8, 9, 13, 14, 20, 35, 36):
        begin = every[0][:size]
        assert {grid["id"] for grid in find(shelf, id=begin)} == {one for one in every if one.startswith(begin)}
    assert [grid["id"] for grid in find(shelf, id=every[0].replace("-", "")[:30])] == [every[0]]
    assert find(shelf, id="ffff") == []
    assert find(shelf, id=every[0], model="none") == []
    for text in ("", "abc", "01 93", "----", "0193g", "0193" * 10):
        assert refused(shelf, urlencode({"id": text})) == ["/id"], text


LEVELS = {
    "plain": [{"name": "Size", "kind": "numeric", "levels": [1, 7000000000]}],
    "labelled": [{"name": "Size", "kind": "numeric", "levels": ["7b", "32b"]}],
    "named": [{"name": "Size", "kind": "nominal", "levels": ["small", ">=7b"]}],
    "two": [{"name": "Size", "kind": "numeric", "levels": [3]}, {"name": "Kind", "kind": "nominal", "levels": ["a"]}],
}
AT: list[tuple[dict[str, Any], list[str]]] = [
    ({"at.Size": "7000000000"}, ["labelled", "plain"]),
    ({"at.Size": "7e9"}, ["labelled", "plain"]),
    ({"at.Size": ["7b", "small"]}, ["labelled", "named"]),
    ({"at.Size": ">1e10"}, ["labelled"]),
    ({"at.Size": ["<=3", ">2"]}, ["two"]),
    ({"at.Size": ">=7b"}, ["named"]),
    ({"at.Kind": "a", "at.Size": "<5"}, ["two"]),
    ({"at.Kind": "a", "at.Size": ">=7000000000"}, []),
    ({"at.Size": "1", "model": "plain"}, ["plain"]),
]


def test_grids_are_found_by_the_levels_that_they_have(project: Project, subtests: pytest.Subtests) -> None:
    for model, axes in LEVELS.items():
        values: Any = [[1.0]] if model == "two" else [1.0, 2.0]
        project.published(model=model, axes=axes, values=values, trials=None)
    for query, found in AT:
        with subtests.test(msg=str(query)):
            asked = urlencode({"limit": 1} | query, doseq=True)
            walked = walk(project, f"projects/{project.slug}/grids?{asked}")
            assert sorted(one["model"] for one in walked) == found
    for query, told in (({"at.Depth": "1"}, "there are "), ({"at.Kind": "9"}, 'the axis "Kind" has no level "9"')):
        answer = project.get(f"projects/{project.slug}/grids", query_string=query)
        assert (answer.status_code, told in answer.get_json()["errors"][0]["detail"]) == (422, True)


def test_updated_since_keeps_what_changed_since(project: Project) -> None:
    first = project.published(model="old", **SCORE)
    second = project.published(model="new", **SCORE)
    assert [grid["id"] for grid in find(project, updated_since=second["updated_at"])] == [second["id"]]
    project.published(model="old", axes=[], values=51.0)
    assert {grid["id"] for grid in find(project, updated_since=second["updated_at"])} == {first["id"], second["id"]}
    assert find(project, updated_since="9999-12-31T23:59:59Z") == []
    assert len(find(project, updated_since="1970-01-01T00:00:00+14:00")) == 2


def test_an_instant_may_have_nanoseconds_or_any_offset_or_be_a_day(project: Project) -> None:
    grid = project.published()
    instant = grid["updated_at"].removesuffix("Z")
    offsets = "0885-03-19T06:11:46-16:16", "2000-01-01", "2000-01-01T00:00:00 01:00", "2000-01-01T00:00:00.5Z"
    for meant in (f"{instant}999Z", f"{instant}000+00:00", instant, f"{instant}1", *offsets):
        assert [one["id"] for one in find(project, updated_since=meant)] == [grid["id"]], meant
    for wrong in (f"{instant}0001Z", "0001-01-01T00:00:00+12:00"):  # which is before the calendar
        assert refused(project, urlencode({"updated_since": wrong})) == ["/updated_since"], wrong


@pytest.mark.parametrize("limit", [1, 5, 31, 32, 33])
def test_every_order_walks_all_pages_without_loss_or_repetition(shelf: Project, limit: int) -> None:
    sorts = SORTS if limit == 5 else ("model",)
    for sort in [f"{sign}{name}" for sign in ("", "-") for name in sorts]:
        found = walk(shelf, f"projects/{shelf.slug}/grids?sort={sort}&limit={limit}")
        assert len(found) == len({grid["id"] for grid in found}) == 32
        name = sort.removeprefix("-")
        keys = [grid["metric"]["name"] if name == "metric" else grid[name] for grid in found]
        assert keys == sorted(keys, reverse=sort.startswith("-"))


@pytest.mark.parametrize("sort", ["created_at", "-created_at", "model", "-updated_at"])
def test_pages_lose_nothing_while_grids_are_added(project: Project, sort: str) -> None:
    before = {project.published(model=f"m{i:02}", **SCORE)["id"] for i in range(8)}
    seen: list[str] = []
    path = f"projects/{project.slug}/grids?sort={sort}&limit=3"
    turn = 0
    while path:
        answer = project.get(path)
        seen += [grid["id"] for grid in answer.get_json()["items"]]
        project.published(model=f"m{turn:02}-late", **SCORE)
        turn += 1
        path = answer.headers.get("Link", "<>").partition("<")[2].partition(">")[0] if turn < 60 else ""
    assert len(seen) == len(set(seen))
    assert before <= set(seen)


def test_odd_names_are_found_and_paged(project: Project) -> None:
    odd = ["é", "漢字", "a&b=c", "x/y?z#", "%00", "a+b", "'; DROP TABLE grids; --", "\u202e", "~"]
    sent = [publication(model=name, labels={name: name}, **SCORE) for name in odd]
    assert project.call("POST", f"projects/{project.slug}/grids/batch", json=sent).status_code == 200
    for name in odd:
        assert [grid["model"] for grid in find(project, model=name)] == [name]
        assert [grid["model"] for grid in find(project, **{f"label.{name}": name})] == [name]
    assert {one["model"] for one in walk(project, f"projects/{project.slug}/grids?sort=model&limit=1")} == {*odd}
    assert {one["name"] for one in walk(project, f"projects/{project.slug}/names/models?limit=1")} == {*odd}


def test_an_alias_is_found_under_the_name_and_the_name_under_the_alias(project: Project) -> None:
    for benchmark in ("AIME'24", "AIME24", "AIME 2024", "AIME25"):
        project.published(benchmark=benchmark, **SCORE)
    project.published(benchmark="other", model="AIME24", **SCORE)
    made, other = (alias(project, "benchmark", name, "AIME'24") for name in ("AIME24", "AIME 2024"))
    assert (made.status_code, other.status_code) == (201, 201)
    for asked in ("AIME'24", "AIME24", "AIME 2024"):
        assert {g["benchmark"] for g in find(project, benchmark=asked)} == {"AIME'24", "AIME24", "AIME 2024"}
    assert {g["benchmark"] for g in find(project, benchmark="AIME25")} == {"AIME25"}
    names = project.get(f"projects/{project.slug}/names/benchmarks").get_json()["items"]
    told = {item["name"]: item["alias_of"] for item in names}
    assert told == {"AIME'24": None, "AIME24": "AIME'24", "AIME 2024": "AIME'24", "AIME25": None, "other": None}
    assert [project.call("DELETE", made.headers["Location"]).status_code for _ in range(2)] == [204, 404]
    assert {g["benchmark"] for g in find(project, benchmark="AIME'24")} == {"AIME'24", "AIME 2024"}


def test_chains_circles_and_second_meanings_of_aliases_are_refused(project: Project) -> None:
    names = "aa", "ab", "ba", "bc", "ca", "ab", "ac", "cb"
    statuses = [alias(project, "model", name, other).status_code for name, other in names]
    assert statuses == [422, 201, 422, 422, 422, 409, 409, 201]
    assert [alias(project, kind, "a", "b").status_code for kind in ("variant", "metric")] == [201, 422]


def test_names_in_use_are_counted_and_those_of_deleted_grids_are_not(house: House, shelf: Project) -> None:
    for kind, names in {"models": ["m0", "m1"], "metrics": ["x0", "x1"], "variants": ["", "v1"]}.items():
        items = shelf.get(f"projects/{shelf.slug}/names/{kind}").get_json()["items"]
        assert [(item["name"], item["grids"]) for item in items] == [(name, 16) for name in names]
        assert [item["name"] for item in walk(shelf, f"projects/{shelf.slug}/names/{kind}?limit=1")] == names
    project = house.make_project()
    project.call("DELETE", f"grids/{project.published()['id']}")
    assert project.get(f"projects/{project.slug}/names/models").get_json()["items"] == []
    assert find(project) == []


def test_names_are_narrowed_by_those_of_other_kinds(project: Project) -> None:
    for experiment, model, metric in (("a", "x", "loss"), ("a", "y", "accuracy"), ("b", "y", "loss")):
        given = {"name": metric, "direction": "lower"}
        assert project.published(experiment=experiment, model=model, metric=given, trials=None)

    def named(path: str) -> list[tuple[str, int]]:
        items = project.get(f"projects/{project.slug}/names/{path}").get_json()["items"]
        return [(one["name"], one["grids"]) for one in items]

    assert named("models?experiment=a") == [("x", 1), ("y", 1)]
    assert named("metrics?experiment=a&model=y") == [("accuracy", 1)]
    assert named("experiments?metric=loss") == [("a", 1), ("b", 1)]
    assert named("benchmarks?experiment=none") == []
    sent = {"benchmarks": ["MATH"]}
    assert project.call("PUT", f"projects/{project.slug}/suites/hard", json=sent).status_code == 201
    project.published(experiment="c", benchmark="MATH", model="z")
    assert named("models?suite=hard") == [("z", 1)]
    assert project.get(f"projects/{project.slug}/names/models?suite=hard&benchmark=MATH").status_code == 422
    assert project.get(f"projects/{project.slug}/names/models?suite=soft").status_code == 422


def test_axes_are_listed_with_their_levels_and_narrowed_like_names(project: Project) -> None:
    ratio = {"name": "Ratio", "kind": "numeric", "levels": [0.5, 10, 9]}
    depth = {"name": "Depth", "kind": "ordinal", "levels": ["shallow", "deep"]}
    both, one = [[1.0, 2.0], [3.0, None], [None, 5.0]], [1.0, 2.0, 3.0]
    project.published(experiment="a", model="x", axes=[ratio, depth], values=both, trials=None)
    project.published(experiment="a", model="y", axes=[ratio | {"levels": [9, 10, 11]}], values=one, trials=None)
    project.published(experiment="b", model="x", axes=[], values=1.0, trials=None)

    def axes(query: str = "") -> list[list[Any]]:
        items = project.get(f"projects/{project.slug}/names/axes{query}").get_json()["items"]
        assert [one["levels_left_out"] for one in items] == [0] * len(items)
        levels = [[(level["level"], level["grids"]) for level in one["levels"]] for one in items]
        return [[one["name"], one["grids"], one["cells"], *own] for one, own in zip(items, levels, strict=True)]

    deep = ["Depth", 1, 4, ("shallow", 1), ("deep", 1)]
    assert axes() == axes("?experiment=a") == [deep, ["Ratio", 2, 7, ("0.5", 1), ("9", 2), ("10", 2), ("11", 1)]]
    assert axes("?model=y") == [["Ratio", 1, 3, ("9", 1), ("10", 1), ("11", 1)]]
    assert axes("?experiment=b") == []
    first = project.get(f"projects/{project.slug}/names/axes?limit=1").get_json()
    rest = project.get(f"projects/{project.slug}/names/axes", query_string={"cursor": first["next"]}).get_json()
    assert [one["name"] for one in (*first["items"], *rest["items"])] == ["Depth", "Ratio"]


SPELT = {
    "a": ("length-sweep", "AIME'24", "Qwen/Qwen2.5-7B", "", "accuracy"),
    "b": ("length-sweep", "AIME'25", "Qwen/Qwen2.5-32B", "Baseline", "accuracy"),
    "c": ("window_ratio", "GPQA D", "Llama 3.1 8B", "Baseline", "Pass@1"),
    "d": ("window ratio", "МАТЕМАТИКА", "ÜBER\\Modell 100%", "", "Pass@1"),
    "e": ("زمن", "Core", "שלום", "", "accuracy"),
}
LABELS = {"a": {"git_sha": "4F2C1e9", "host": "node-1"}, "b": {"git_sha": "77aa", "note": 'says "qwen" \\ 100%'}}


@pytest.fixture(scope="module")
def library(house: House) -> tuple[Project, dict[str, str]]:
    """Five grids with their ids by letter."""
    project = house.make_project()
    ids = {}
    for letter, (experiment, benchmark, model, variant, metric) in SPELT.items():
        names = {"experiment": experiment, "benchmark": benchmark, "model": model, "variant": variant}
        given = {"metric": ACCURACY | {"name": metric}, "axes": [], "values": 1.0, "trials": None}
        ids[letter] = project.published(**names, **given, labels=LABELS.get(letter, {}))["id"]
    return project, ids


def found(library: tuple[Project, dict[str, str]], text: str, more: str = "") -> str:
    """The letters of the grids that a search finds, sorted."""
    project, ids = library
    answer = project.get(f"projects/{project.slug}/grids?q={quote(text)}{more}")
    assert answer.status_code == 200, answer.text
    letters = {id_: letter for letter, id_ in ids.items()}
    return "".join(sorted(letters[grid["id"]] for grid in answer.get_json()["items"]))


FOUND = {
    # in any order and case anywhere in the names
    "qwen": "ab", "QWEN 7b": "a", "7b qwen": "a", "aime length": "ab", "wen2.5-3": "b", "qwen llama": "",
    "pass@1": "cd",    "aime qwen baseline accuracy length-sweep": "b", "nothing": "",
    # letters beyond ASCII have no case either
    "über": "d", "ÜBER modell": "d", "математика": "d", "Математ": "d", "שלום": "e", "زمن": "e",
    # signs of patterns stand for themselves; the underscore is in `git_sha` too
    "100%": "bd", "%": "bd", "_": "abc", "window_": "c", "\\": "bd", "\\m": "d", "'24": "a", "''": "",
    # in labels as key and text
    "4f2c": "a", "host=node": "a", "git_sha=77": "b", "=": "ab", '"qwen"': "b", "node llama": "", '":': "",
}  # fmt: skip


def test_words_are_found_in_names_and_labels(library: Any, subtests: pytest.Subtests) -> None:
    for text, letters in FOUND.items():
        with subtests.test(text):
            assert found(library, text) == letters


def test_words_narrow_other_filters(library: Any) -> None:
    assert found(library, "qwen", "&variant=Baseline") == "b"
    assert found(library, "length", "&label.host=node-1") == "a"


UNSEARCHABLE = {
    "a\0b": "must not hold control characters",
    "\x07": "must not hold control characters",
    "a" * 10_000: "has 10,000 characters; at most 200 are searched for",
    "a b c d e f g h i": "must be 1 to 8 words, not 9",
    "  ": "must be 1 to 8 words, not 0",
    "": "must be 1 to 8 words, not 0",
}


def test_what_cannot_be_searched_for_is_refused(library: Any, subtests: pytest.Subtests) -> None:
    project, _ = library
    for path, (text, told) in itertools.product(("grids", "names/models"), UNSEARCHABLE.items()):
        with subtests.test(path, text=text[:20]):
            answer = project.get(f"projects/{project.slug}/{path}?q={quote(text)}")
            assert (answer.status_code, answer.get_json()["errors"]) == (422, [{"pointer": "/q", "detail": told}])


def test_lists_of_names_are_searched_too(library: Any) -> None:
    project, _ = library
    for path, names in {
        "names/models?q=b+3": ["Llama 3.1 8B", "Qwen/Qwen2.5-32B"],
        "names/models?q=QWEN": ["Qwen/Qwen2.5-32B", "Qwen/Qwen2.5-7B"],
        "names/benchmarks?q=aime": ["AIME'24", "AIME'25"],
        "names/experiments?q=window": ["window ratio", "window_ratio"],
        "names/metrics?q=acc": ["accuracy"],
        "names/variants?q=qwen": [],
        "names/variants?q=line": ["Baseline"],
    }.items():
        items = project.get(f"projects/{project.slug}/{path}").get_json()["items"]
        assert [one["name"] for one in items] == names, path


def test_the_next_page_of_a_search_is_of_the_same_search(library: Any) -> None:
    project, ids = library
    first = project.get(f"projects/{project.slug}/grids?q=aime&sort=model&limit=1")
    assert [one["id"] for one in first.get_json()["items"]] == [ids["b"]]
    path = first.headers["Link"].split(";")[0].strip("<>")
    second = project.get(path).get_json()
    assert ([one["id"] for one in second["items"]], second["next"]) == ([ids["a"]], None)
    names = project.get(f"projects/{project.slug}/names/models?q=qwen&limit=1")
    rest = project.get(names.headers["Link"].split(";")[0].strip("<>")).get_json()["items"]
    assert [one["name"] for one in rest] == ["Qwen/Qwen2.5-7B"]


def test_a_name_is_found_by_its_alias_and_what_was_deleted_is_not(project: Project) -> None:
    mine = project.published(benchmark="AIME'24")["id"]
    gone = project.published(benchmark="GSM8K", model="gone")["id"]
    alias = {"kind": "benchmark", "alias": "American Invitational", "name": "AIME'24"}
    assert project.call("POST", f"projects/{project.slug}/aliases", json=alias).status_code == 201
    assert project.call("DELETE", f"grids/{gone}").status_code == 204
    for path, key, wanted in (("grids", "id", mine), ("names/benchmarks", "name", "AIME'24")):
        items = project.get(f"projects/{project.slug}/{path}?q=invitational").get_json()["items"]
        assert [one[key] for one in items] == [wanted]
    for path in ("grids", "names/models"):
        assert project.get(f"projects/{project.slug}/{path}?q=gone").get_json()["items"] == []
