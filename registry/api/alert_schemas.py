"""Schemas of what is said of alerts, and of the parameters of their list."""

from __future__ import annotations

from typing import Any, get_args

from marshmallow import ValidationError, fields, validates_schema

from registry.api.baseline_schemas import NAME, NAME_RULE
from registry.api.fields import Body, Choice, Matching
from registry.api.grid_fields import Markdown
from registry.api.schemas import PageParameters, about
from registry.results.verdicts import AlertState, DismissalReason

_ID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"


class AlertChange(Body):
    """What an alert was: real, or dismissed for a reason."""

    state = Choice("acknowledged", "dismissed", required=True, metadata=about("What is made of it."))
    reason = Choice(
        *get_args(DismissalReason),
        metadata=about("dismissed: `noise` and `wrong` count against the baseline's precision, the others for it."),
    )
    note = Markdown(metadata=about("For people; it stays if not given."))

    @validates_schema
    def _check_reason(self, data: dict[str, Any], **_options: Any) -> None:
        if data.get("state") == "dismissed" and "reason" not in data:
            raise ValidationError("is required for a dismissal", "reason")
        if data.get("state") == "acknowledged" and "reason" in data:
            raise ValidationError("is of a dismissal", "reason")


class AlertsParameters(PageParameters):
    state = fields.List(Choice(*get_args(AlertState)), load_default=list, metadata=about("Only these; repeat for OR."))
    baseline = Matching(NAME, f"the name of a baseline {NAME_RULE}", metadata=about("Only alerts of this baseline."))
    cursor = Matching(
        f"[0-9a-f]{{1,14}}~{_ID}", "is not a cursor of this list", metadata=about("`next` of the page before.")
    )
