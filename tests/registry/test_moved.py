"""Addresses of the release before: they lead to where their question is answered now."""

from __future__ import annotations

from tests.house import Project

LED = {
    "grids/{grid}/peaks": "grids/{grid}/statistics?part=peaks",
    "grids/{grid}/trends.csv?along=Length&at.Type=1": "grids/{grid}/statistics.csv?part=trends&along=Length&at.Type=1",
    "grids/{grid}/thresholds.md?value=90": "grids/{grid}/statistics.md?part=thresholds&value=90",
    "grids/{grid}/revisions/1": "grids/{grid}?revision=1",
    "grids/{grid}/revisions/1..1": "grids/{grid}/difference?from=1&to=1",
    "grids/{grid}.csv?at.Type=1": "grids/{grid}/cells.csv?at.Type=1",
    "grids/{grid}/cells.txt": "grids/{grid}.txt",
    "grids/{grid}/report.md": "grids/{grid}/statistics.md",
    "projects/{project}/trends.arrow?label.a=%26": "projects/{project}/statistics.arrow?part=trends&label.a=%26",
    "projects/{project}/axes?limit=1": "projects/{project}/names/axes?limit=1",
}


def test_an_old_address_leads_to_the_new_one_and_says_that_it_is_old(project: Project) -> None:
    names = {"grid": project.published()["id"], "project": project.slug}
    project.house.compute()
    for old, new in LED.items():
        answer, place = project.get(old.format(**names)), f"/api/v1/{new.format(**names)}"
        assert (answer.status_code, answer.headers["Location"]) == (308, place)
        assert answer.headers["Deprecation"].startswith("@")
        assert answer.headers["Link"] == f'<{place}>; rel="successor-version"'
        assert project.get(place, headers={"Prefer": "wait=0"}).status_code not in (404, 422), new
    assert project.get(f"grids/{names['grid']}/report.html").headers["Location"] == f"/grids/{names['grid']}"
