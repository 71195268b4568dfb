"""registry hooks and events: webhooks added, tested, rotated, recovered, removed; events as lines."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from sqlalchemy import insert

from registry.storage.tables import delivery_attempts
from tests.commands.terminal import Person, person_of
from tests.house import Project
from tests.told import tell


@pytest.fixture
def admin(project: Project, address: str, tmp_path: Path) -> Person:
    """An administrator of a project that nobody else uses."""
    return person_of(project, address, tmp_path, "admin")


def test_a_webhook_is_added_tested_rotated_and_removed(admin: Person, project: Project) -> None:
    assert "No webhook yet" in admin.page("hooks", "ls")
    only = ("--only", "model=a", "--only", "model=b", "--only", "experiment=x")
    made = admin.json("hooks", "add", "https://hooks.example.org/a", "claim.*", "grid.deleted", *only)
    assert re.fullmatch(r"whsec_[A-Za-z0-9+/]{43}=", made["secret"])
    assert (made["filter"], made["format"]) == ({"model": ["a", "b"], "experiment": ["x"]}, "standard")
    [found] = admin.rows("hooks", "ls")
    assert (found["id"], found["state"], found["types"]) == (made["id"], "enabled", "claim.* grid.deleted")
    sent = admin.json("hooks", "test", made["id"])
    [told] = admin.rows("hooks", "deliveries", made["id"], "--state", "pending")
    assert (told["id"], told["type"], told["attempts"]) == (sent["id"], "webhook.test", "0")
    assert "No such delivery." in admin.page("hooks", "deliveries", made["id"], "--state", "failed")
    assert sent["id"] in admin.page("hooks", "redeliver", sent["id"])
    assert made["secret"] != admin.says("hooks", "rotate", made["id"], "-q").strip()
    assert admin.says("hooks", "recover", made["id"], "0", "-q") == "0\n"
    assert admin.json("hooks", "recover", made["id"], "2026-11-21")["count"] == 0
    assert admin.json("hooks", "recover", made["id"], "2h")["count"] == 0
    assert "enabled" in admin.page("hooks", "enable", made["id"])
    admin.says("hooks", "rm", made["id"], "--yes")
    assert "No webhook yet" in admin.page("hooks", "ls")


@pytest.mark.parametrize(
    ("since", "said"),
    [
        ("gestern", "SINCE takes a position of the feed such as 17, how long ago such as 2h, an instant"),
        ("-1", "No such option"),
        ("1", "SINCE is beyond the last event of the project, whose position is 0; it takes a position of the feed"),
        ("vorgesternabend", "SINCE is not a cursor of this project's events; it takes a position of the feed"),
        ("20261121", "SINCE is beyond the last event of the project, whose position is 0"),
        ("2026-11-21T25:00:00Z", "SINCE takes a position"),
    ],
)
def test_what_is_no_place_to_recover_from_is_said(admin: Person, project: Project, since: str, said: str) -> None:
    made = admin.json("hooks", "add", "https://hooks.example.org/a", "*")
    assert said in " ".join(admin.complains("hooks", "recover", made["id"], since, status=2).split())


def test_what_is_no_option_is_said(admin: Person, project: Project) -> None:
    added = ("hooks", "add", "https://hooks.example.org/", "*")
    assert "--only takes NAME=TEXT" in admin.complains(*added, "--only", "token=x", status=2)
    assert "is not the id" in admin.complains("hooks", "test", "x", status=2)


def test_a_narrow_terminal_has_whole_ids_and_each_error_once(admin: Person, project: Project) -> None:
    made = admin.json("hooks", "add", "https://hooks.example.org/a", "*")
    sent = [admin.json("hooks", "test", made["id"])["id"] for _ in range(3)]
    errors = ["unreachable: no address that may be sent to"] * 2 + ["answered 500"]
    with project.house.database.transaction() as connection:
        for one, error in zip(sent, errors, strict=True):
            connection.execute(insert(delivery_attempts).values(delivery_id=one, number=1, error=error))
    page = admin.page("hooks", "deliveries", made["id"], columns=80)
    assert all(one in page for one in sent)
    assert "2 deliveries: unreachable: no address that may be sent to" in page
    assert "1 delivery: answered 500" in page
    assert [one["error"] for one in admin.rows("hooks", "deliveries", made["id"])] == errors[::-1]


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
