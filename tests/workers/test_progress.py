"""How much of a large ranking is counted, as long as it is pending."""

from __future__ import annotations

from registry.commands.session import sentence
from tests.house import House, Project
from tests.workers.test_counted_rankings import QUESTION, table
from tests.workers.test_rankings import ask
from workers.jobs.invalidation import apply_invalidations
from workers.rankings.pair_sums import catch_up, open_scope


def progress(project: Project) -> float | None:
    answer = ask(project)
    assert answer.status_code == 202
    found: float | None = answer.get_json()["derivation"].get("progress")
    return found


def test_a_pending_ranking_tells_the_share_of_its_grids_that_are_counted(large: House, project: Project) -> None:
    """Two grids of four benchmarks each; a count whose time is up counts one benchmark."""
    for benchmark in "ABCD":
        for model in ("m1", "m2"):
            table(project, model, benchmark, [1.0, 2.0])
    assert progress(project) is None
    apply_invalidations(large.database, large.settings)
    open_scope(large.database, project.id, QUESTION)
    told = []
    for _ in range(5):
        catch_up(large.database, project.id, QUESTION, 0.0)
        told.append(progress(project))
    assert told == [0.0, 0.25, 0.5, 0.75, 1.0]
    project.call("PATCH", f"projects/{project.slug}", "admin", json={"visibility": "public"})
    shown = project.house.call("GET", f"/projects/{project.slug}/rankings?experiment=leaderboard&metric=accuracy").text
    assert '<progress max="1" value="1.0">100%</progress>' in shown


def test_a_terminal_shows_it_as_a_bar() -> None:
    assert sentence("ranking", None) == "waiting for ranking"
    assert sentence("ranking", 0.25) == "waiting for ranking, 25% counted"
