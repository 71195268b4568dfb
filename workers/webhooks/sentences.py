"""An event in one plain sentence, for people who read it in a chat."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_LONGEST_TEXT = 400
"""Characters of a text that people wrote."""
_SENTENCES: Mapping[str, str] = {
    "grid.published": "Published: {model} on {benchmark}, {metric} of {experiment}.",
    "grid.revised": "Revised: {model} on {benchmark}, {metric} of {experiment}, now revision {revision}.",
    "grid.updated": "Described anew: {model} on {benchmark}, {metric} of {experiment}.",
    "grid.deleted": "Deleted: {model} on {benchmark}, {metric} of {experiment}.",
    "grid.restored": "Restored: {model} on {benchmark}, {metric} of {experiment}.",
    "grid.purged": "A deleted grid was removed for good.",
    "items.added": "Outcomes of items were added: {model} on {benchmark}, set {set}.",
    "statistics.ready": "Statistics are ready: {model} on {benchmark}, {metric} of {experiment}.",
    "statistics.failed": "Statistics failed: {model} on {benchmark}, {metric} of {experiment}: {reason}",
    "ranking.changed": "Ranking changed: {leaders} of {models} models now leads {metric} of {experiment}.",
    "claim.created": "A claim is kept: “{text}”.",
    "claim.updated": "A claim was changed: “{text}”.",
    "claim.deleted": "A claim was removed: “{text}”.",
    "claim.restored": "A claim is kept again: “{text}”.",
    "claim.judged": "Claim judged: “{text}” is {verdict}.",
    "claim.flipped": "Claim flipped: “{text}” is now {verdict}; it was {before}.",
    "baseline.set": "The baseline {baseline} was set, version {version}.",
    "baseline.deleted": "The baseline {baseline} was deleted.",
    "gate.verdict": "{contender} against the baseline {baseline}: {verdict}. {sentence}",
    "alert.opened": "Alert: {model} fails the baseline {baseline}.",
    "alert.acknowledged": "An alert was acknowledged: {model} fails the baseline {baseline}.",
    "alert.dismissed": "An alert was dismissed: {model} fails the baseline {baseline}.",
    "alert.resolved": "An alert is resolved: {model} against the baseline {baseline}.",
    "import.finished": "Import finished from {source}: {new} new, {unchanged} unchanged, {failed} failed.",
    "alias.created": "The {kind} {alias} now counts as {name}.",
    "alias.deleted": "The {kind} {alias} no longer counts as {name}.",
    "suite.set": "The suite {suite} was set.",
    "suite.deleted": "The suite {suite} was deleted.",
    "experiment.updated": "The experiment {experiment} was described anew.",
    "experiment.protocol_set": "Other keys of protocols bind in the experiment {experiment}.",
    "project.updated": "The project was changed: {changed}.",
    "share.created": "A share link was created.",
    "share.revoked": "A share link was revoked.",
    "token.created": "A token was created: {name}.",
    "token.revoked": "A token was revoked.",
    "webhook.disabled": "A webhook was disabled: {reason}",
    "webhook.test": "This is a test: the webhook works.",
}


def sentence_of(type_: str, data: Mapping[str, Any]) -> str:
    """What an event says, by its type; of one that is not known here, or says less than it should, its type."""
    words = {name: _words(value) for name, value in data.items()}
    try:
        return " ".join(_SENTENCES[type_].format_map(words).split())
    except KeyError:
        return f"{type_.replace('.', ': ').replace('_', ' ').capitalize()}."


def _words(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(_words(one) for one in value)
    text = str(value)
    text = text.replace("_", " ") if text in ("not_decidable", "ill_posed", "not_shown") else text
    return text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 1]}…"
