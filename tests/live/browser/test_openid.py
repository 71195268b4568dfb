"""Signing in at an OpenID provider: the certified `oidc-provider` on this machine, with its own pages and keys.

Needs node on the machine and `npm ci` in tests/live/browser/provider; without them these tests are left out.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import parse_qs, urljoin, urlsplit

import pytest
from structlog.testing import capture_logs

from registry import create_app
from registry.operations.users import add_member
from registry.pages.openid import Provider, provider_of
from registry.settings import Settings
from tests.house import House, Project
from tests.pages.conftest import Administrator, Browser, browser
from tests.ports import free_port

pytest.importorskip("authlib", reason="authlib is not installed (the extra oidc)")
import requests

HERE = Path(__file__).parent / "provider"
NODE = shutil.which("node")
pytestmark = [
    pytest.mark.skipif(NODE is None, reason="node is not installed (apt-get install nodejs npm)"),
    pytest.mark.skipif(not (HERE / "node_modules").is_dir(), reason="oidc-provider is not there (npm ci there)"),
]
CLIENT, SECRET = "registry", "a-secret-of-this-test-0123456789"


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    """A provider that runs."""
    port = free_port()
    command = [str(NODE), "provider.mjs", str(port), CLIENT, SECRET, "http://localhost/sign-in/callback"]
    with subprocess.Popen(command, cwd=HERE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout.readline() == "listening\n"
        yield f"http://127.0.0.1:{port}"
        process.terminate()


@pytest.fixture(scope="module")
def oidc(settings: Settings, issuer: str) -> Settings:
    """Settings of a registry with this provider."""
    named = {"oidc_issuer": issuer, "oidc_client_id": CLIENT, "oidc_client_secret": SECRET}
    return replace(settings, public_url="http://localhost", oidc_scopes="openid email groups", **named)


@pytest.fixture
def signing(house: House, oidc: Settings) -> House:
    provider_of.cache_clear()
    return House(create_app(oidc), house.database, oidc)


@dataclass
class Person:
    """A browser that a person uses at the registry and at the provider, each with its cookies."""

    registry: Browser
    elsewhere: requests.Session

    def go(self, path: str = "/sign-in/provider") -> str:
        """Address at the provider to which the registry sends."""
        answer = self.registry.get(path)
        assert answer.status_code == 303, answer.text
        return str(answer.headers["Location"])

    def agree(self, address: str, name: str) -> str:
        """Path with which the provider sends back, once this person has signed in there and agreed."""
        answer = self.elsewhere.get(address, allow_redirects=False)
        for _ in range(12):
            if answer.is_redirect:
                there = urljoin(answer.url, answer.headers["Location"])
                if urlsplit(there).netloc == "localhost":
                    return there.removeprefix("http://localhost")
                answer = self.elsewhere.get(there, allow_redirects=False)
            else:
                form = re.search(r'<form[^>]*action="([^"]+)"', answer.text)[1]
                prompt = re.search(r'name="prompt" value="(\w+)"', answer.text)[1]
                typed = {"prompt": prompt, "login": name, "password": "any"}
                answer = self.elsewhere.post(urljoin(answer.url, form), data=typed, allow_redirects=False)
        raise AssertionError(answer.text)

    def sign_in(self, name: str, back: str = "/") -> str:
        """Sign in at the provider and come back; the path with the code."""
        returned = self.agree(self.go(f"/sign-in/provider?back={back}"), name)
        self.answer = self.registry.get(returned)
        return returned


@pytest.fixture
def person(signing: House) -> Iterator[Person]:
    with requests.Session() as session:
        session.trust_env = False
        yield Person(browser(signing), session)


def admit(house: House, project: Project | None, **member: str) -> None:
    with house.database.transaction() as connection:
        add_member(connection, None if project is None else project.id, **member)


def test_a_user_signs_in_at_the_provider_and_administers_by_their_address(
    person: Person, signing: House, project: Project
) -> None:
    admit(signing, project, kind="user", name="ADA@Example.org", role="admin")
    page = f"/projects/{project.slug}/settings/tokens"
    assert "/sign-in/provider?back=" in person.registry.get(page).text
    person.sign_in("ada", page)
    assert (person.answer.status_code, person.answer.headers["Location"]) == (303, page)
    assert person.answer.headers["Cache-Control"] == "no-store"
    ada = Administrator(person.registry)
    assert ada.send(page, name="by ada", role="reader", days="3").status_code == 303
    log = project.call("GET", f"projects/{project.slug}/audit", "admin").get_json()["items"]
    assert (log[0]["act"], log[0]["token_id"]) == ("token.created", None)
    assert log[0]["user_id"] is not None
    shown = person.registry.read(f"/projects/{project.slug}/settings/audit").text
    assert "Ada@example.org" in shown
    assert "evaluation, everyone" in person.registry.read("/account").text


def test_a_group_gives_a_role_and_no_role_gives_nothing(person: Person, signing: House, project: Project) -> None:
    path = f"/projects/{project.slug}"
    person.sign_in("ada")
    assert person.registry.get(path).status_code == 404
    admit(signing, project, kind="group", name="evaluation", role="reader")
    assert person.registry.get(path).status_code == 200
    assert person.registry.get(f"{path}/settings").status_code == 403


def test_an_address_that_is_not_verified_is_nobody(person: Person, signing: House, project: Project) -> None:
    admit(signing, project, kind="user", name="ada@example.org", role="admin")
    person.sign_in("eve")
    assert person.answer.status_code == 401
    assert "not verified your email" in person.answer.text
    assert "registry_session" not in str(person.answer.headers.getlist("Set-Cookie"))


def test_the_request_carries_pkce_state_and_nonce_and_no_secret(person: Person) -> None:
    asked = parse_qs(urlsplit(person.go()).query)
    assert asked["code_challenge_method"] == ["S256"]
    assert len(asked["code_challenge"][0]) == 43
    assert len(asked["state"][0]) >= 32
    assert len(asked["nonce"][0]) >= 32
    assert asked["redirect_uri"] == ["http://localhost/sign-in/callback"]
    assert SECRET not in str(asked)


def test_an_answer_is_taken_once_and_in_the_browser_that_asked(person: Person, signing: House) -> None:
    address = person.go()
    cookie_of_attempt = person.registry.client.get_cookie("registry_sign_in").value
    returned = person.agree(address, "bob")
    other = browser(signing)
    assert other.get(returned).status_code == 401
    assert person.registry.get(returned).status_code == 303
    assert person.registry.get(returned).status_code == 401  # its note is gone
    other.client.set_cookie("registry_sign_in", cookie_of_attempt)
    replayed = other.get(returned)
    assert replayed.status_code == 401
    assert "invalid_grant" in replayed.text  # the provider's word: the code was used
    assert other.get("/account").status_code == 401


def test_a_changed_answer_signs_nobody_in(person: Person) -> None:
    for change in ("state=wrong", "code=wrong", "error=access_denied", "error=<b>no</b>", ""):
        returned = person.agree(person.go(), "bob")
        name = change.partition("=")[0]
        kept = [part for part in urlsplit(returned).query.split("&") if part.partition("=")[0] != name]
        query = f"?{'&'.join([*kept, change])}" if change else ""
        answer = person.registry.get(f"/sign-in/callback{query}")
        assert answer.status_code == 401, change
        assert "<b>no" not in answer.text
        assert person.registry.get("/account").status_code == 401
        person.elsewhere.cookies.clear()


def test_the_code_of_another_attempt_has_another_nonce_and_verifier(person: Person, signing: House) -> None:
    """Code injection (RFC 9700, 4.5): a code that somebody else got fits no other browser's attempt."""
    first = person.agree(person.go(), "bob")
    address = person.go()
    state = parse_qs(urlsplit(address).query)["state"][0]
    code = parse_qs(urlsplit(first).query)["code"][0]
    answer = person.registry.get(f"/sign-in/callback?code={code}&state={state}")
    assert answer.status_code == 401


def test_nobody_is_led_elsewhere_after_the_provider_and_a_session_ends_after_the_hours_of_the_setting(
    person: Person,
) -> None:
    for back in ("https://evil.example", "//evil.example", "/%5Cevil.example", "/sign-in"):
        person.sign_in("bob", back)
        assert person.answer.headers["Location"] in ("/", "/sign-in"), back
        person.elsewhere.cookies.clear()
    assert any("Max-Age=43200" in one for one in person.answer.headers.getlist("Set-Cookie"))


def test_keys_that_the_provider_changes_are_read_again(
    person: Person, issuer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    person.sign_in("bob")
    assert person.answer.status_code == 303
    person.elsewhere.cookies.clear()
    assert person.elsewhere.post(f"{issuer}/-rotate").text == "rotated"
    monkeypatch.setattr("registry.pages.openid._KEYS_AGAIN_SECONDS", 0.0)
    person.sign_in("bob")
    assert person.answer.status_code == 303


@pytest.mark.parametrize("claim", ["aud", "iss", "nonce", "exp", "alg"])
def test_an_id_token_that_is_not_for_us_is_not_believed(
    person: Person, signing: House, claim: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The provider's real token, held to what it does not say."""
    provider = provider_of(signing.settings)
    returned = person.agree(person.go(), "bob")
    if claim == "aud":
        monkeypatch.setattr(provider, "_session", Provider(signing.settings)._session)
        monkeypatch.setattr(provider, "_settings", replace(signing.settings, oidc_client_id="another"))
    elif claim == "iss":
        provider.metadata()["issuer"] = "https://another.example"
    elif claim == "alg":
        monkeypatch.setattr("registry.pages.openid.ALGORITHMS", ("ES256",))
    elif claim == "exp":
        monkeypatch.setattr("registry.pages.openid._CLOCKS_DIFFER", -10_000_000)
    elif claim == "nonce":
        verified = provider._verified
        monkeypatch.setattr(provider, "_verified", lambda token, _nonce: verified(token, "another"))
    answer = person.registry.get(returned)
    assert answer.status_code == 401, answer.text
    assert "cannot be believed" in answer.text
    assert person.registry.get("/account").status_code == 401


def test_without_the_provider_the_page_says_so_and_tokens_go_on(house: House, oidc: Settings, project: Project) -> None:
    away = replace(oidc, oidc_issuer=f"http://127.0.0.1:{free_port()}")
    visitor = browser(House(create_app(away), house.database, away))
    answer = visitor.get("/sign-in/provider")
    assert answer.status_code == 503
    assert "does not answer" in answer.text
    assert "Retry-After" in answer.headers
    assert visitor.post("/sign-in", {"token": project.tokens["reader"]}).status_code == 303


def test_who_signs_out_is_told_that_the_provider_still_knows_them(person: Person, issuer: str) -> None:
    person.sign_in("bob")
    assert person.registry.post("/sign-out", {}).headers["Location"] == "/signed-out"
    assert f'href="{issuer}/session/end?client_id={CLIENT}"' in person.registry.get("/signed-out").text
    assert person.registry.get("/account").status_code == 401


def test_codes_states_and_secrets_are_in_no_line_of_the_log(person: Person) -> None:
    with capture_logs() as lines:
        returned = person.sign_in("bob")
    logged = str(lines)
    assert "/sign-in/callback" in logged
    for one in (*parse_qs(urlsplit(returned).query)["code"], *parse_qs(urlsplit(returned).query)["state"], SECRET):
        assert one not in logged


def test_a_registry_without_a_provider_loads_no_library_for_it() -> None:
    """It would cost each idle web process some 16 MiB."""
    code = "import sys, registry; from registry.settings import Settings; registry.create_app(Settings());"
    ran = subprocess.run(
        [sys.executable, "-c", code + "print([m for m in ('authlib', 'joserfc', 'requests') if m in sys.modules])"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout == "[]\n"
