"""The shapes of answers, as JSON Schema: what a caller may rely on. Fields may be added; one whose
meaning changes gets another name."""

from registry.api.shapes.grids import CELLS, GRIDS, ITEMS, STATISTICS_FEEDS, limited
from registry.api.shapes.headers import HEADERS, PARAMETERS
from registry.api.shapes.projects import CLAIMS, PROJECTS
from registry.api.shapes.service import EVENTS, SERVICE
from registry.api.shapes.words import PLAIN, Shape, extended, page
from registry.results.aggregates import Aggregates
from registry.results.alerts import Alert, StoredVerdict
from registry.results.comparison import Comparison, ModelComparison
from registry.results.event_documents import CloudEvent
from registry.results.gates import Baseline, Gate
from registry.results.judgement import Judgement
from registry.results.lines import Lines
from registry.results.plans import Plan
from registry.results.ranking import Ranking
from registry.results.repeat_noise import RepeatNoise
from registry.results.schema import components
from registry.results.statistics import Statistics, Thresholds
from registry.results.trade_offs import TradeOff
from registry.results.webhooks import Delivery, Recovery, Webhook, WebhookMessage
from registry.settings import Settings

COMPONENTS: dict[str, Shape] = {
    **SERVICE,
    **PROJECTS,
    **GRIDS,
    **CELLS,
    **ITEMS,
    **STATISTICS_FEEDS,
    **EVENTS,
    **components(
        Statistics,
        Thresholds,
        Comparison,
        ModelComparison,
        Ranking,
        Aggregates,
        Lines,
        TradeOff,
        Plan,
        Baseline,
        Gate,
        StoredVerdict,
        Alert,
        RepeatNoise,
    ),
    **components(Judgement),
    **components(Webhook, Delivery, Recovery, WebhookMessage, CloudEvent),
    **CLAIMS,
    "WebhookSecret": extended(
        "Webhook",
        "A webhook with its secret.",
        secret={
            "type": "string",
            "pattern": "^whsec_[A-Za-z0-9+/]{43}=$",
            "description": "What verifies signatures, as libraries of Standard Webhooks take it; shown this once.",
        },
    ),
    "Webhooks": page("Webhook", "A page of webhooks."),
    "Deliveries": page("Delivery", "A page of deliveries of a webhook."),
    **limited(Settings()),
}
"""With the usual limits; an application describes its own (`limited`)."""

__all__ = ["COMPONENTS", "HEADERS", "PARAMETERS", "PLAIN", "Shape", "limited"]
