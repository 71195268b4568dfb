"""login, logout, whoami; and where a command finds its registry, token and project."""

import os
import stat
from pathlib import Path

import pytest

from tests.commands.terminal import Person
from tests.house import House, Project


def kept(person: Person) -> Path:
    return person.home / "config" / "results-registry" / "config.toml"


def logged_in(person: Person, token: str) -> Person:
    bare = person.lacking("REGISTRY_TOKEN", "REGISTRY_PROJECT")
    answer = bare.run("login", stdin=f"{token}\n")
    assert answer.exit_code == 0, answer.output
    return bare.lacking("REGISTRY_URL")


def test_whoami_tells_name_role_project_and_expiry(person: Person, project: Project) -> None:
    told = person.json("whoami")
    assert set(told) == {"url", "id", "name", "role", "project", "created_at", "expires_at", "last_used_at"}
    assert (told["url"], told["name"], told["role"]) == (person.environment["REGISTRY_URL"], "writer", "writer")
    assert told["project"] == project.slug
    [row] = person.rows("whoami")
    assert list(row) == ["url", "name", "role", "project", "expires_at", "last_used_at"]
    assert person.says("whoami", "-q") == "writer\n"
    assert f"project    {project.slug}" in person.page("whoami")


def test_a_kept_token_is_used_without_any_environment_and_closed_to_others(person: Person, project: Project) -> None:
    later = logged_in(person, project.tokens["reader"])
    assert stat.S_IMODE(kept(person).stat().st_mode) == 0o600
    assert later.json("whoami")["name"] == "reader"
    assert later.says("ls") == later.says("ls", "-p", project.slug)  # its project became the default


def test_a_token_is_tried_before_it_is_kept(person: Person) -> None:
    answer = person.run("login", stdin="rgs_nonsense\n")
    assert answer.exit_code == 4
    assert not kept(person).exists()
    assert "rgs_nonsense" not in answer.output


def test_login_without_a_token_is_a_usage_error(person: Person) -> None:
    assert person.run("login", stdin="").exit_code == 2


def test_logging_in_elsewhere_keeps_what_was_there(person: Person, project: Project) -> None:
    kept(person).parent.mkdir(parents=True)
    kept(person).write_text('note = "mine"\n\n[tokens]\n"https://other.example" = "rgs_other"\n')
    kept(person).chmod(0o600)
    logged_in(person, project.tokens["reader"])
    text = kept(person).read_text()
    assert 'note = "mine"' in text
    assert '"https://other.example" = "rgs_other"' in text


def test_after_logout_nothing_is_kept(person: Person, project: Project) -> None:
    later = logged_in(person, project.tokens["reader"])
    answer = later.run("logout")
    assert answer.exit_code == 0, answer.output
    assert project.tokens["reader"] not in kept(person).read_text()
    assert "registry login" in later.complains("whoami", status=4)
    assert "keeps no token" in later.complains("logout", status=4)


def test_a_token_in_a_file_that_others_can_read_is_not_used(person: Person, project: Project) -> None:
    later = logged_in(person, project.tokens["reader"])
    kept(person).chmod(0o644)
    told = later.complains("whoami", status=4)
    assert "chmod 600" in told
    assert "asks for a token" in told


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to somebody else")
def test_a_repository_file_of_a_stranger_is_refused(person: Person) -> None:
    path = person.home / ".registry.toml"
    path.write_text('url = "http://127.0.0.1:1"\n')
    os.chown(path, 12345, -1)
    assert "another user" in person.lacking("REGISTRY_URL").complains("whoami")


def test_the_only_project_that_is_seen_is_meant(person: Person, project: Project) -> None:
    project.published()
    assert len(person.lacking("REGISTRY_PROJECT").rows("ls")) == 1


def test_of_several_projects_one_must_be_named(person: Person, house: House) -> None:
    house.make_project("public")
    operator = person.having(REGISTRY_TOKEN=house.operator).lacking("REGISTRY_PROJECT")
    assert "REGISTRY_PROJECT" in operator.complains("ls")


def test_a_token_may_not_be_for_another_project(person: Person, house: House) -> None:
    other = house.make_project()
    assert other.slug in person.complains("ls", "-p", other.slug)


def test_an_unreachable_registry_is_status_5_and_says_what_to_do(person: Person) -> None:
    told = person.complains("ls", "--url", "http://127.0.0.1:1", status=5)
    assert "registry up" in told
    assert "Errno" not in told
    assert told.count("\n") == 1
