"""Search by words: what is found in names and labels, and what cannot be searched for."""

from __future__ import annotations

import itertools
from typing import Any
from urllib.parse import quote

import pytest

from tests.house import ACCURACY, House, Project

NAMES = {
    "a": ("length-sweep", "AIME'24", "Qwen/Qwen2.5-7B", "", "accuracy"),
    "b": ("length-sweep", "AIME'25", "Qwen/Qwen2.5-32B", "Baseline", "accuracy"),
    "c": ("window_ratio", "GPQA D", "Llama 3.1 8B", "Baseline", "Pass@1"),
    "d": ("window ratio", "МАТЕМАТИКА", "ÜBER\\Modell 100%", "", "Pass@1"),
    "e": ("زمن", "Core", "שלום", "", "accuracy"),
}
LABELS = {"a": {"git_sha": "4F2C1e9", "host": "node-1"}, "b": {"git_sha": "77aa", "note": 'says "qwen" \\ 100%'}}


@pytest.fixture(scope="module")
def shelf(house: House) -> tuple[Project, dict[str, str]]:
    """Five grids with their ids by letter."""
    project = house.make_project()
    ids = {}
    for letter, (experiment, benchmark, model, variant, metric) in NAMES.items():
        names = {"experiment": experiment, "benchmark": benchmark, "model": model, "variant": variant}
        given = {"metric": ACCURACY | {"name": metric}, "axes": [], "values": 1.0, "trials": None}
        ids[letter] = project.published(**names, **given, labels=LABELS.get(letter, {}))["id"]
    return project, ids


def found(shelf: tuple[Project, dict[str, str]], text: str, more: str = "") -> str:
    """The letters of the grids that a search finds, sorted."""
    project, ids = shelf
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


def test_words_are_found_in_names_and_labels(shelf: Any, subtests: pytest.Subtests) -> None:
    for text, letters in FOUND.items():
        with subtests.test(text):
            assert found(shelf, text) == letters


def test_words_narrow_other_filters(shelf: Any) -> None:
    assert found(shelf, "qwen", "&variant=Baseline") == "b"
    assert found(shelf, "length", "&label.host=node-1") == "a"


REFUSED = {
    "a\0b": "must not hold control characters",
    "\x07": "must not hold control characters",
    "a" * 10_000: "has 10,000 characters; at most 200 are searched for",
    "a b c d e f g h i": "must be 1 to 8 words, not 9",
    "  ": "must be 1 to 8 words, not 0",
    "": "must be 1 to 8 words, not 0",
}


def test_what_cannot_be_searched_for_is_refused(shelf: Any, subtests: pytest.Subtests) -> None:
    project, _ = shelf
    for path, (text, told) in itertools.product(("grids", "names/models"), REFUSED.items()):
        with subtests.test(path, text=text[:20]):
            answer = project.get(f"projects/{project.slug}/{path}?q={quote(text)}")
            assert (answer.status_code, answer.get_json()["errors"]) == (422, [{"pointer": "/q", "detail": told}])


def test_lists_of_names_are_searched_too(shelf: Any) -> None:
    project, _ = shelf
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


def test_the_next_page_of_a_search_is_of_the_same_search(shelf: Any) -> None:
    project, ids = shelf
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
