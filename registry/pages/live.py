"""Live updates of a page: which events of its project's feed it asks for, and which of these concern it.

The page reads the feed as it reads its data: whoever a share let in reads it where the share reaches the feed itself.
The share of a grid or an experiment does not: events name grids beside it. Such a page polls.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from flask import g

from registry.api.context import parts
from registry.operations.find_claims import names_of_experiment
from registry.pages.links import data_path

GRIDS = ("grid.*", "items.added", "alias.*")
"""What changes which grids there are, or what they are called."""
ANSWERS = (*GRIDS, "suite.*", "experiment.protocol_set")
"""What changes the answer to a question about an experiment."""
CLAIMS = ("claim.*", "alias.*")
STATISTICS = ("statistics.*",)
GATES = ("baseline.*", "gate.verdict", "alert.*")

PENDING_SECONDS, SETTLED_SECONDS = 2, 30
"""How often a page looks for news, while something is computed and otherwise."""
WAITING_SECONDS, SELDOM_SECONDS = 10, 300
"""The same of a page whose stream is open: a release, for one, is no event."""


@dataclass(frozen=True, slots=True)
class Live:
    """The stream that tells a page what is new.

    `about` says which of the events concern the page: those whose data have one of these texts under each of these
    names; a name that the data lack says nothing. `told` is whether what the page waits for will be told.
    """

    address: str
    about: Mapping[str, Sequence[str]]
    told: bool

    def seldom(self, every: int) -> int:
        """After how many seconds a page that would ask so often asks although nothing was told."""
        if every > PENDING_SECONDS:
            return SELDOM_SECONDS
        return WAITING_SECONDS if self.told else every


def live_on(
    project: Any, types: Sequence[str], *, told: bool = False, experiment: str | None = None, **about: Sequence[object]
) -> Live | None:
    """What a page of this project is about; None where its visitor has no feed.

    `project` has a slug, an id and a visibility. An experiment is meant by every name that aliases join with it. A page
    in a frame has no stream: a site may show many frames, and a browser opens six connections to a server.
    """
    path, asked = f"/projects/{project.slug}/events", [("type", one) for one in types]
    address = "" if "embedded" in g else data_path(path, project.visibility, asked)
    if not address:
        return None
    found = {name: [str(one) for one in texts] for name, texts in about.items()}
    if experiment is not None:
        with parts().database.reading() as connection:
            found["experiment"] = list(names_of_experiment(connection, project.id, experiment))
    return Live(address, found, told)
