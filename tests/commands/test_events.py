"""registry events: what happened, as lines."""

from __future__ import annotations

import json

import pytest

from tests.commands.terminal import Person
from tests.house import Project
from tests.told import tell


def test_events_are_lines_for_people_and_for_programs(person: Person, project: Project) -> None:
    tell(project, 1, model="A", metric="accuracy", experiment="E", grid="8c7c2f0e-4f5d-4c39-9d57-0a4f6b8f0e11")
    tell(project, 2, kind="claim.flipped", text="It is\nbetter.\x1b[2J", verdict="contradicted", before="supported")
    first, second = person.says("events").splitlines()
    assert first.endswith("grid.published        The grid A was published (E, accuracy)")
    assert second.endswith(
        "claim.flipped         The claim “It is better.\ufffd[2J” is now contradicted (it was supported before)"
    )
    told = [json.loads(line) for line in person.says("events", "--since", "2h", "--json").splitlines()]
    assert [one["position"] for one in told] == [1, 2]
    assert person.says("events", "--since", told[0]["cursor"]).splitlines() == [second]
    assert person.says("events", "--type", "claim.*", "--since", "2001-01-01").splitlines() == [second]
    assert person.says("events", "--model", "B") == ""


@pytest.mark.parametrize("since", ["yesterday", "2 h", "2026-13-01", "aaaaaaaaaaaaaaaa", "17"])
def test_a_since_that_is_nothing_of_the_kind_is_said(person: Person, project: Project, since: str) -> None:
    said = " ".join(person.complains("events", "--since", since, status=2).split())
    allowed = "now, how long ago such as 2h, an instant such as 2026-11-21T08:00:00Z, or a cursor of the feed"
    assert f"--since takes {allowed}; '{since}' is none of these." in said
