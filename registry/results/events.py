"""Events: the types that a project's feed tells, what each says and carries, and who reads it."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, get_args

from registry.results import event_data as data

EventType = Literal[
    "grid.published",
    "grid.revised",
    "grid.updated",
    "grid.deleted",
    "grid.restored",
    "grid.purged",
    "items.added",
    "statistics.ready",
    "statistics.failed",
    "ranking.changed",
    "claim.created",
    "claim.deleted",
    "claim.restored",
    "claim.judged",
    "claim.flipped",
    "baseline.set",
    "baseline.deleted",
    "gate.verdict",
    "alert.opened",
    "alert.acknowledged",
    "alert.dismissed",
    "alert.resolved",
    "import.finished",
    "alias.created",
    "alias.deleted",
    "suite.set",
    "suite.deleted",
    "experiment.updated",
    "experiment.protocol_set",
    "project.updated",
    "share.created",
    "share.revoked",
    "token.created",
    "token.revoked",
    "webhook.disabled",
]
TYPES: tuple[EventType, ...] = get_args(EventType)
Reader = Literal["reader", "admin"]

OF_ADMINISTRATION = ("share.", "token.", "webhook.")
"""Beginnings of the types that only administrators of a project read."""


@dataclass(frozen=True, slots=True)
class EventKind:
    """A type of events. `data` is the dataclass of what such events carry; after a purge it may be empty."""

    name: EventType
    description: str
    data: type

    @property
    def reader(self) -> Reader:
        """The role that reads such events."""
        return "admin" if self.name.startswith(OF_ADMINISTRATION) else "reader"


def _catalogue(kinds: Mapping[EventType, tuple[str, type]]) -> Mapping[EventType, EventKind]:
    return MappingProxyType({name: EventKind(name, *kinds[name]) for name in TYPES})


CATALOGUE = _catalogue(
    {
        "grid.published": ("A grid is there, for the first time or after it was deleted.", data.GridEvent),
        "grid.revised": ("A grid has a new revision.", data.GridEvent),
        "grid.updated": ("The description or the labels of a grid are other ones.", data.GridEvent),
        "grid.deleted": ("A grid was deleted; it can be restored.", data.GridEvent),
        "grid.restored": ("A deleted grid is there again, with the revisions that it had.", data.GridEvent),
        "grid.purged": ("A deleted grid was removed for good.", data.PurgeEvent),
        "items.added": ("Outcomes of items were added to cells of a grid.", data.ItemsEvent),
        "statistics.ready": (
            "The statistics of a grid's current revision are there, or were computed anew.",
            data.StatisticsEvent,
        ),
        "statistics.failed": (
            "The statistics of a grid's current revision could not be computed.",
            data.StatisticsFailure,
        ),
        "ranking.changed": (
            "The default ranking of an experiment and metric has another order, or other ties.",
            data.RankingEvent,
        ),
        "claim.created": ("A claim is kept from now on.", data.ClaimEvent),
        "claim.deleted": ("A claim was removed.", data.ClaimEvent),
        "claim.restored": ("A removed claim is kept again.", data.ClaimEvent),
        "claim.judged": ("A claim was judged for the first time, or with other numbers.", data.JudgementEvent),
        "claim.flipped": ("The verdict on a claim is another one than before.", data.FlipEvent),
        "baseline.set": ("A baseline was created or has another definition.", data.BaselineEvent),
        "baseline.deleted": ("A baseline was deleted, and its alerts are resolved.", data.BaselineEvent),
        "gate.verdict": ("A baseline gave a verdict on a contender by itself.", data.GateEvent),
        "alert.opened": ("A contender fails a baseline's policy, for the first time or again.", data.AlertEvent),
        "alert.acknowledged": ("Somebody acknowledged an alert.", data.AlertEvent),
        "alert.dismissed": ("Somebody dismissed an alert.", data.AlertEvent),
        "alert.resolved": ("What an alert was about fails no longer, or is gone.", data.AlertEvent),
        "import.finished": (
            "A batch of grids that name the files or systems they are from was stored.",
            data.ImportEvent,
        ),
        "alias.created": ("A name stands for another one.", data.AliasEvent),
        "alias.deleted": ("A name no longer stands for another one.", data.AliasEvent),
        "suite.set": ("A suite was created or has other benchmarks.", data.SuiteEvent),
        "suite.deleted": ("A suite was deleted.", data.SuiteEvent),
        "experiment.updated": ("The description or the labels of an experiment are other ones.", data.ExperimentEvent),
        "experiment.protocol_set": ("Other keys of protocols bind in an experiment.", data.ExperimentEvent),
        "project.updated": ("The project's name, description, labels or visibility are other ones.", data.ProjectEvent),
        "share.created": ("A share link was created.", data.ShareEvent),
        "share.revoked": ("A share link was revoked.", data.ShareEvent),
        "token.created": ("A token of the project was created.", data.TokenEvent),
        "token.revoked": ("A token of the project was revoked.", data.TokenEvent),
        "webhook.disabled": ("A webhook gets no events any more.", data.WebhookEvent),
    }
)
"""What each type says and carries, by type, in the order in which they are documented."""
