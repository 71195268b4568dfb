"""A worker dies before each statement and each commit of its conclusions; the core tries some of them."""

from tests.house import Project
from tests.workers.test_told_results import told_once_at_every


def test_conclusions_whose_worker_died_anywhere_are_told_once(project: Project) -> None:
    told_once_at_every(1, project)
