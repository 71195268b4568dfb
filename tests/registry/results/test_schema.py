"""The components of the OpenAPI document follow from the types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from registry.results.schema import components, schema_of
from registry.results.terms import Count, Interval, Place, Presence


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


def test_a_type_has_its_schema() -> None:
    hints: list[tuple[Any, dict[str, Any]]] = [
        (float | None, {"type": ["number", "null"]}),
        (Literal["a", "b"] | None, {"enum": ["a", "b", None]}),
        (Count, {"type": "integer", "minimum": 0}),
        (tuple[str, ...], {"type": "array", "items": {"type": "string"}}),
        (dict[str, bool], {"type": "object", "additionalProperties": {"type": "boolean"}}),
    ]
    for hint, expected in hints:
        assert schema_of(hint) == expected
