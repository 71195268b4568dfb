"""F3, concurrent edits: publications, amendments, deletions in any order and at once, against a model of a grid."""

from collections.abc import Sequence
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from tests.house import Project
from tests.registry.test_concurrent_writers import at_once

AXES = [{"name": "Step", "kind": "numeric", "levels": [0, 1, 2, 3]}]
CONTENTS = st.lists(st.sampled_from([None, 1.0, 2.5, 3.25]), min_size=4, max_size=4)
AMENDMENTS = st.dictionaries(st.integers(0, 3), st.sampled_from([None, 1.0, 7.75, 8.5]), min_size=1, max_size=3)
CONDITIONS = st.sampled_from(["none", "the current revision", "an old revision", "any", "only new"])

Content = tuple[float | None, ...]


def amended(content: Content, cells: dict[int, float | None]) -> Content:
    return tuple(cells.get(step, value) for step, value in enumerate(content))


class Edits(RuleBasedStateMachine):
    """What the registry must hold after each step: every content that was ever current, in order."""

    def __init__(self, project: Project, names: list[int]) -> None:
        super().__init__()
        names[0] += 1
        self.project, self.model = project, f"model {names[0]}"
        self.contents: list[Content] = []
        self.tags: list[str] = []
        self.deleted = False
        self.grid = ""
        self.keys = 0

    @property
    def there(self) -> bool:
        return bool(self.contents) and not self.deleted

    def publish_now(self, values: Sequence[float | None], **headers: str) -> Any:
        sent = {
            "experiment": "edits", "benchmark": "b", "model": self.model, "metric": {"name": "loss"}, "axes": AXES,
            "values": list(values),
        }  # fmt: skip
        return self.project.publish(sent, headers=headers)

    def amend_now(self, cells: dict[int, float | None], **headers: str) -> Any:
        sent = {"cells": [{"at": {"Step": step}, "value": value} for step, value in cells.items()]}
        return self.project.call("PATCH", f"grids/{self.grid}/cells", json=sent, headers=headers)

    def condition(self, kind: str) -> tuple[dict[str, str], bool]:
        """The header of a condition, and whether it holds."""
        if kind == "only new":
            return {"If-None-Match": "*"}, not self.there
        if kind == "any":
            return {"If-Match": "*"}, self.there
        if kind == "the current revision" and self.tags:
            return {"If-Match": self.tags[-1]}, self.there
        if kind == "an old revision" and len(self.tags) > 1 and self.tags[0] != self.tags[-1]:
            return {"If-Match": self.tags[0]}, False
        return {}, True

    def took(self, answer: Any, content: Content, *, made: int) -> None:
        """An answer to a write whose condition held."""
        changes = not self.there or content != self.contents[-1]
        assert answer.status_code == (made if changes else 200), answer.text
        if changes:
            self.contents.append(content)
            self.tags.append(answer.headers["ETag"])
        self.deleted = False
        document = answer.get_json()
        self.grid = self.grid or document["id"]
        assert (document["id"], document["revision"]) == (self.grid, len(self.contents))

    @rule(values=CONTENTS, kind=CONDITIONS)
    def publish(self, values: list[float | None], kind: str) -> None:
        headers, holds = self.condition(kind)
        answer = self.publish_now(values, **headers)
        if holds:
            self.took(answer, tuple(values), made=201)
        else:
            assert answer.status_code == 412

    @precondition(lambda self: self.contents)
    @rule(cells=AMENDMENTS, kind=CONDITIONS.filter(lambda kind: kind != "only new"))
    def amend(self, cells: dict[int, float | None], kind: str) -> None:
        headers, holds = self.condition(kind)
        answer = self.amend_now(cells, **headers)
        if self.deleted:
            assert answer.status_code == 404
        elif holds:
            self.took(answer, amended(self.contents[-1], cells), made=200)
        else:
            assert answer.status_code == 412

    @precondition(lambda self: self.there)
    @rule(kind=CONDITIONS.filter(lambda kind: kind != "only new"))
    def delete(self, kind: str) -> None:
        headers, holds = self.condition(kind)
        answer = self.project.call("DELETE", f"grids/{self.grid}", headers=headers)
        assert answer.status_code == (204 if holds else 412)
        self.deleted = holds

    @precondition(lambda self: self.there)
    @rule(cells=AMENDMENTS, again=st.integers(1, 3))
    def amend_repeatedly_with_one_key(self, cells: dict[int, float | None], again: int) -> None:
        self.keys += 1
        key = {"Idempotency-Key": f"{self.model}/{self.keys}".replace(" ", "-")}
        first = self.amend_now(cells, **key)
        self.took(first, amended(self.contents[-1], cells), made=200)
        for _ in range(again):
            replayed = self.amend_now(cells, **key)
            assert (replayed.status_code, replayed.data) == (200, first.data)

    @precondition(lambda self: self.there)
    @rule(start=st.integers(0, 1000))
    def amend_different_cells_at_once(self, start: int) -> None:
        """None of four amendments is lost, whatever their order."""
        written = {step: start + step / 8 + len(self.contents) / 1024 for step in range(4)}
        answers = at_once(4, lambda step: self.amend_now({step: written[step]}))
        assert {answer.status_code for answer in answers} == {200}
        for answer in sorted(answers, key=lambda one: one.get_json()["revision"]):
            step = answers.index(answer)
            self.took(answer, amended(self.contents[-1], {step: written[step]}), made=200)

    @rule(start=st.integers(0, 1000))
    def publish_different_contents_at_once(self, start: int) -> None:
        """Each of three publications is a revision, whole."""
        contents = [(float(start), float(turn), None, len(self.contents) / 1024) for turn in range(3)]
        answers = at_once(3, lambda turn: self.publish_now(contents[turn]))
        for answer in sorted(answers, key=lambda one: one.get_json()["revision"]):
            self.took(answer, contents[answers.index(answer)], made=201)

    @precondition(lambda self: self.there)
    @rule(cells=AMENDMENTS)
    def amend_at_once_what_all_have_read(self, cells: dict[int, float | None]) -> None:
        """With If-Match one of three wins; the others are told to read again."""
        tag, before = self.tags[-1], len(self.contents)
        unlike = {0: 1000.0 + before}
        answers = at_once(3, lambda _: self.amend_now(cells | unlike, **{"If-Match": tag}))
        assert sorted(answer.status_code for answer in answers) == [200, 412, 412]
        [won] = [answer for answer in answers if answer.status_code == 200]
        self.took(won, amended(self.contents[-1], cells | unlike), made=200)

    @invariant()
    def the_grid_is_as_the_model_says(self) -> None:
        if not self.grid:
            return
        answer = self.project.get(f"grids/{self.grid}")
        if self.deleted:
            assert answer.status_code == 404
            return
        document = answer.get_json()
        assert (document["revision"], tuple(document["values"])) == (len(self.contents), self.contents[-1])

    def teardown(self) -> None:
        """In the end every revision is there, without a gap and as it was."""
        if not self.there:
            return
        listed = self.project.get(f"grids/{self.grid}/revisions?limit=1000").get_json()["items"]
        assert [row["revision"] for row in listed] == list(range(1, len(self.contents) + 1))
        for number, content in enumerate(self.contents, start=1):
            stored = self.project.get(f"grids/{self.grid}?revision={number}").get_json()
            assert tuple(stored["values"]) == content


def test_edits_in_any_order_and_at_once_are_what_the_model_says(project: Project) -> None:
    names = [0]
    half = settings().max_examples // 2  # each has a dozen steps of several requests
    few = settings(max_examples=half, stateful_step_count=12, suppress_health_check=list(HealthCheck))
    run_state_machine_as_test(lambda: Edits(project, names), settings=few)
