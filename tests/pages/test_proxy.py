"""Users whom a proxy names in a header: only where the request comes from that proxy, and only in the pages."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from registry import create_app
from registry.errors import Misconfigured
from registry.operations.audit_log import COMMAND
from registry.operations.purge import purge_projects
from registry.operations.users import add_member, remove_member
from registry.settings import Settings
from tests.house import House, Project
from tests.pages.conftest import Forms, browser

USER, GROUPS = "X-Auth-Request-Email", "X-Auth-Request-Groups"
NAMED = {"proxy_user_header": USER, "proxy_groups_header": GROUPS}


def behind(house: House, **settings: Any) -> House:
    changed = replace(house.settings, **NAMED | settings)
    return House(create_app(changed), house.database, changed)


@pytest.fixture(scope="module")
def trusting(house: House) -> Iterator[House]:
    """Behind a proxy on this machine."""
    made = behind(house, proxy_addresses="10.1.0.0/16, 127.0.0.1", proxy_sign_out="/oauth2/sign_out")
    yield made
    made.app.extensions["registry"].database.close()


def admit(project: Project, kind: str, name: str, role: str) -> Any:
    with project.house.database.transaction() as connection:
        return add_member(connection, project.id, kind=kind, name=name, role=role)


def status(house: House, path: str, peer: str = "127.0.0.1", method: str = "GET", **headers: str) -> int:
    sent = {USER: "ada@example.org", "Accept": "text/html"} | {
        name.replace("_", "-"): text for name, text in headers.items()
    }
    answer = house.app.test_client().open(path, method=method, headers=sent, environ_base={"REMOTE_ADDR": peer})
    return int(answer.status_code)


@pytest.fixture
def admitted(house: House, project: Project) -> Project:
    """A project that ada@example.org administers."""
    admit(project, "user", "ada@example.org", "admin")
    return project


def test_a_user_whom_the_proxy_names_sees_what_members_see(trusting: House, admitted: Project) -> None:
    path = f"/projects/{admitted.slug}"
    assert status(trusting, path) == status(trusting, f"{path}/settings/tokens") == 200
    assert status(trusting, path, peer="10.1.2.3") == status(trusting, path, peer="::ffff:10.1.2.3") == 200
    assert status(trusting, path, X_Auth_Request_Email="ADA@Example.ORG") == 200
    assert status(trusting, path, X_Auth_Request_Email="bob@example.org") == 404


def test_a_forged_header_from_elsewhere_means_nothing(house: House, admitted: Project) -> None:
    trusting = behind(house, proxy_addresses="10.1.0.0/16,127.0.0.1", proxies=1)
    path = f"/projects/{admitted.slug}"
    for peer in ("10.2.0.1", "192.0.2.1", "::1", "", "unix", "10.1.0.1.evil"):
        assert status(trusting, path, peer=peer) == 401
        assert status(trusting, path, peer=peer, X_Forwarded_For="127.0.0.1", X_Real_IP="127.0.0.1") == 401
        assert status(trusting, f"{path}/settings", peer=peer) == 401


def test_without_configuration_the_header_means_nothing(house: House, admitted: Project) -> None:
    path = f"/projects/{admitted.slug}"
    for one in (house, behind(house), behind(house, proxy_user_header="", proxy_addresses="127.0.0.1")):
        assert status(one, path) == status(one, f"{path}/settings") == 401


def test_a_shared_secret_stands_for_the_address_or_beside_it(house: House, admitted: Project) -> None:
    path = f"/projects/{admitted.slug}"
    alone = behind(house, proxy_secret="only the proxy")
    both = behind(house, proxy_secret="only the proxy", proxy_addresses="10.1.0.0/16")
    right, wrong = {"X_Registry_Proxy_Secret": "only the proxy"}, {"X_Registry_Proxy_Secret": "guessed"}
    assert [status(alone, path, peer="192.0.2.1", **sent) for sent in (right, wrong, {})] == [200, 401, 401]
    assert [status(both, path, peer="10.1.0.9", **sent) for sent in (right, wrong, {})] == [200, 401, 401]
    assert status(both, path, peer="192.0.2.1", **right) == 401


def test_what_is_no_name_is_nobody_and_the_api_knows_no_user_of_a_proxy(trusting: House, admitted: Project) -> None:
    """Browsers send what a proxy takes for a sign-in with every request, also with those of other sites."""
    for name in ("", " ", "eve@example.org,ada@example.org", "a\x7fda@example.org", "x" * 400):
        assert status(trusting, f"/projects/{admitted.slug}", X_Auth_Request_Email=name) == 401
    for method in ("GET", "DELETE"):
        assert status(trusting, f"/api/v1/projects/{admitted.slug}", method=method, Accept="*/*") == 401


def test_a_member_who_is_removed_is_out_with_the_next_click(trusting: House, project: Project) -> None:
    path, row = f"/projects/{project.slug}", admit(project, "group", "evaluation", "reader")
    assert status(trusting, path, X_Auth_Request_Groups="everyone, evaluation") == 200
    assert status(trusting, path, X_Auth_Request_Groups="everyone") == 404
    with trusting.database.transaction() as connection:
        remove_member(connection, project.id, row.id)
    assert status(trusting, path, X_Auth_Request_Groups="everyone, evaluation") == 404


def test_the_greatest_role_counts_and_one_for_all_projects_counts_everywhere(trusting: House, project: Project) -> None:
    path = f"/projects/{project.slug}/settings"
    admit(project, "user", "carl", "reader")
    admit(project, "group", f"admins of {project.slug}", "admin")
    with trusting.database.transaction() as connection:
        add_member(connection, None, kind="user", name=f"op of {project.slug}", role="admin")
    carl = {"X_Auth_Request_Email": "carl"}
    assert status(trusting, path, **carl) == 403
    assert status(trusting, path, **carl, X_Auth_Request_Groups=f"admins of {project.slug}") == 200
    assert status(trusting, "/settings/members", **carl, X_Auth_Request_Groups=f"admins of {project.slug}") == 403
    operator = {"X_Auth_Request_Email": f"op of {project.slug}"}
    assert status(trusting, path, **operator) == status(trusting, "/settings/members", **operator) == 200


def test_members_are_added_and_removed_in_the_settings_and_logged(trusting: House, admitted: Project) -> None:
    page = f"/projects/{admitted.slug}/settings/members"
    client = trusting.app.test_client()

    def send(path: str, **typed: str) -> int:
        headers = {USER: "ada@example.org", "Sec-Fetch-Site": "same-origin"}
        form = Forms(client.get(page, headers=headers).text).forms[path] | typed
        return int(client.post(path, data=form, headers=headers).status_code)

    assert send(page, kind="user", name="Bob@Example.org", role="writer") == 303
    assert send(page, kind="user", name="bob@example.org", role="reader") == 409
    shown = Forms(client.get(page, headers={USER: "ada@example.org"}).text)
    [*_, remove] = [path for path in shown.forms if path.endswith("/remove")]
    assert send(remove) == 303
    log = admitted.call("GET", f"projects/{admitted.slug}/audit", "admin").get_json()["items"]
    assert [one["act"] for one in log] == ["member.deleted", "member.created"]
    assert {one["detail"]["name"] for one in log} == {"bob@example.org"}
    assert {one["token_id"] for one in log} == {None}
    assert len({one["user_id"] for one in log} - {None}) == 1
    out = client.post("/sign-out", headers={USER: "ada@example.org", "Sec-Fetch-Site": "same-origin"})
    assert out.headers["Location"] == "/signed-out"
    assert 'href="/oauth2/sign_out"' in client.get("/signed-out", headers={USER: "ada@example.org"}).text


def test_a_form_with_the_key_of_another_user_does_nothing(trusting: House, admitted: Project) -> None:
    admit(admitted, "user", "eve@example.org", "admin")
    page, client = f"/projects/{admitted.slug}/settings/tokens", trusting.app.test_client()
    form = Forms(client.get(page, headers={USER: "eve@example.org"}).text).forms[page] | {"name": "hers"}
    headers = {USER: "ada@example.org", "Sec-Fetch-Site": "same-origin"}
    assert client.post(page, data=form, headers=headers).status_code == 403


@pytest.mark.unit
def test_what_cannot_work_stops_the_process() -> None:
    for variable, value, word in (
        ("REGISTRY_PROXY_ADDRESSES", "proxy.example.org", "no address"),
        ("REGISTRY_PROXY_ADDRESSES", "10.0.0.1/8", "no address"),
        ("REGISTRY_OIDC_ISSUER", "http://id.example.org", "https://"),
        ("REGISTRY_OIDC_ISSUER", "id.example.org", "https://"),
    ):
        with pytest.raises(Misconfigured, match=word):
            Settings.from_environment({variable: value})


def test_a_purged_project_takes_its_members_along(house: House) -> None:
    gone = house.make_project()
    admit(gone, "user", "x", "reader")
    browser(house, gone.tokens["reader"])
    house.call("DELETE", f"projects/{gone.slug}?cascade=true", token=house.operator)
    with house.database.transaction() as connection:
        assert purge_projects(connection, COMMAND, older_than_days=0) >= 1
