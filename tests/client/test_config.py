"""Where results go: arguments before environment before files, and no token to where it does not belong."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from results_registry import BadAddress
from results_registry.config import DEFAULT_URL, TOKEN_FILE, announced, find_config

OWN = """
url = "https://own.example.org"
project = "own"
[tokens]
"https://own.example.org" = "rgs_own"
"https://near.example.org/lab" = "rgs_near"
"""


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {"XDG_CONFIG_HOME": str(tmp_path / "config"), "REGISTRY_HOME": str(tmp_path / "home")}


@pytest.fixture
def here(tmp_path: Path) -> Path:
    place = tmp_path / "repository" / "deep" / "deeper"
    place.mkdir(parents=True)
    return place


def write_own(environment: dict[str, str], text: str = OWN) -> None:
    path = Path(environment["XDG_CONFIG_HOME"]) / "results-registry" / "config.toml"
    path.parent.mkdir(parents=True)
    path.write_text(text)


def test_without_anything_it_is_this_machine(environment: dict[str, str], here: Path) -> None:
    found = find_config(environment=environment, directory=here)
    assert (found.url, found.token, found.project, found.named) == (DEFAULT_URL, None, None, False)


@pytest.fixture
def next_door(environment: dict[str, str]) -> Iterator[str]:
    """The address of a registry that runs in the home of this environment, with its administrator's token."""
    home = Path(environment["REGISTRY_HOME"])
    home.mkdir()
    token = home / TOKEN_FILE
    token.write_text("rgs_admin\n")
    token.chmod(0o600)
    with announced(home, "http://127.0.0.1:9999"):
        yield "http://127.0.0.1:9999"


def test_a_registry_next_door_is_meant_where_nothing_else_is_said(
    environment: dict[str, str], here: Path, next_door: str
) -> None:
    found = find_config(environment=environment, directory=here)
    assert (found.url, found.token, found.named) == (next_door, "rgs_admin", False)
    assert find_config(next_door, environment=environment, directory=here).token == "rgs_admin"
    given = find_config(environment=environment | {"REGISTRY_TOKEN": "rgs_env"}, directory=here)
    assert given[:2] == (next_door, "rgs_env")


def test_the_token_next_door_is_for_its_address_alone_and_only_while_nobody_else_can_read_it(
    environment: dict[str, str], here: Path, next_door: str
) -> None:
    for other in ("http://127.0.0.1:9998", "https://127.0.0.1:9999", f"{next_door}/lab"):
        assert find_config(other, environment=environment, directory=here).token is None
    (Path(environment["REGISTRY_HOME"]) / TOKEN_FILE).chmod(0o644)
    assert find_config(environment=environment, directory=here).token is None


def test_a_registry_that_has_ended_is_not_next_door(environment: dict[str, str], here: Path, next_door: str) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    (Path(environment["REGISTRY_HOME"]) / "address").write_text(f"{next_door}\n{ended.pid}\n")
    assert find_config(environment=environment, directory=here)[:2] == (DEFAULT_URL, None)


def test_arguments_beat_environment_beats_repository_beats_user(environment: dict[str, str], here: Path) -> None:
    write_own(environment)
    assert find_config(environment=environment, directory=here)[:3] == ("https://own.example.org", "rgs_own", "own")
    (here.parent.parent / ".registry.toml").write_text('url = "https://near.example.org/lab/"\nproject = "near"\n')
    found = find_config(environment=environment, directory=here)
    assert found[:3] == ("https://near.example.org/lab", "rgs_near", "near")
    assert found.url_from.endswith("repository/.registry.toml")
    environment |= {"REGISTRY_URL": "http://env", "REGISTRY_TOKEN": "rgs_env", "REGISTRY_PROJECT": "env"}
    assert find_config(environment=environment, directory=here)[:3] == ("http://env", "rgs_env", "env")
    given = find_config("http://arg", "rgs_arg", "arg", environment=environment, directory=here)
    assert given[:3] == ("http://arg", "rgs_arg", "arg")


def test_a_kept_token_is_not_used_for_another_url(environment: dict[str, str], here: Path) -> None:
    write_own(environment)
    (here / ".registry.toml").write_text('url = "https://own.example.org.evil.example"\n')
    assert find_config(environment=environment, directory=here).token is None
    for url in ("http://own.example.org", "https://own.example.org:444", "https://near.example.org"):
        assert find_config(url, environment=environment, directory=here).token is None


def test_a_token_in_a_repository_is_refused(environment: dict[str, str], here: Path) -> None:
    (here / ".registry.toml").write_text('token = "rgs_x"\n')
    with pytest.raises(BadAddress, match="must hold no token") as caught:
        find_config(environment=environment, directory=here)
    assert "rgs_x" not in str(caught.value)


def test_a_file_that_is_no_toml_is_named(environment: dict[str, str], here: Path) -> None:
    write_own(environment, "url = ")
    with pytest.raises(BadAddress, match=r"config\.toml is no TOML"):
        find_config(environment=environment, directory=here)


def test_the_token_is_not_shown(environment: dict[str, str], here: Path) -> None:
    assert "rgs_secret" not in repr(find_config(token="rgs_secret", environment=environment, directory=here))
