"""The components of the OpenAPI document follow from the types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pytest

from registry.results.aggregates import Aggregates
from registry.results.comparison import Comparison
from registry.results.ranking import Ranking
from registry.results.schema import components, schema_of
from registry.results.statistics import Statistics
from registry.results.sweet_spot import SweetSpot
from registry.results.terms import Count, Interval, Place, Presence
from registry.results.thresholds import Thresholds

DESCRIBED = components(Statistics, Thresholds, SweetSpot, Comparison, Ranking, Aggregates)


@dataclass
class Found:
    """A finding
    in two lines."""

    from_: Place
    within: Annotated[Interval | None, "Null without noise."]
    reason: Annotated[str | None, "Why.", Presence.OMITTED] = None


def test_a_class_is_a_component_that_refers_to_others() -> None:
    found = components(Found)
    assert list(found) == ["Found", "Interval"]
    assert found["Found"] == {
        "type": "object",
        "description": "A finding in two lines.",
        "required": ["from", "within"],
        "properties": {
            "from": {"type": ["string", "number"]},
            "within": {
                "anyOf": [{"$ref": "#/components/schemas/Interval"}, {"type": "null"}],
                "description": "Null without noise.",
            },
            "reason": {"type": "string", "description": "Why."},
        },
    }


@pytest.mark.parametrize(
    ("hint", "expected"),
    [
        (float | None, {"type": ["number", "null"]}),
        (Literal["a", "b"] | None, {"enum": ["a", "b", None]}),
        (Count, {"type": "integer", "minimum": 0}),
        (tuple[str, ...], {"type": "array", "items": {"type": "string"}}),
        (dict[str, bool], {"type": "object", "additionalProperties": {"type": "boolean"}}),
    ],
)
def test_a_type_has_its_schema(hint: Any, expected: Any) -> None:
    assert schema_of(hint) == expected


@pytest.mark.parametrize("name", DESCRIBED)
def test_every_field_says_what_it_means(name: str) -> None:
    silent = [
        field
        for part in DESCRIBED[name].get("allOf", [DESCRIBED[name]])
        for field, schema in part.get("properties", {}).items()
        if "description" not in schema and "$ref" not in str(schema)
    ]
    assert silent == []
