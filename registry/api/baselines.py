"""Routes of baselines: what contenders are judged against, by name, and by what policy."""

import re
import uuid
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, get_args

from flask import Response
from marshmallow import Schema, ValidationError, fields, post_load, validate, validates_schema
from sqlalchemy import Connection

from registry.api import examples
from registry.api.context import actor, enter, parts
from registry.api.fields import Body, Choice, Few, Matching, Name, Number, Whole
from registry.api.idempotency import idempotent_write
from registry.api.paging import listed
from registry.api.responses import expected_tags, json_answer
from registry.api.schemas import GRID_ID, NamesParameters, PageParameters, about, cursor_of, number_of_revision
from registry.api.smorest import Blueprint, reply
from registry.errors import Fault, Invalid
from registry.operations import baselines
from registry.operations.alerts import alerts_of
from registry.operations.baselines import Expect, find_baseline, list_baselines, pinned, tag_of, what_it_reaches
from registry.results.codec import from_document, to_document
from registry.results.gates import (
    OLD_MISSING,
    Baseline,
    Definition,
    Looks,
    MarginUnit,
    MissingCells,
    Multiplicity,
    Per,
    PolicyKind,
    Reachable,
)
from registry.results.terms import Warning
from registry.storage.gate_scope import PUBLISHED

NAME = "[A-Za-z0-9][A-Za-z0-9._-]{0,99}"
NAME_RULE = "is 1 to 100 of letters, digits, ., _ and -, and begins with a letter or digit"
_MOST_GRIDS, _MOST_NAMES = 1_000, 2_000
_LEAST_ALPHA, _MOST_ALPHA = 1e-9, 0.499


class PolicyIn(Body):
    """What a contender must show."""

    kind = Choice(
        *get_args(PolicyKind),
        load_default="non_inferior",
        metadata=about(
            "`non_inferior`: not worse by the margin; `no_cell_worse`: the same in every cell; `improves`: better by"
            " more than the margin; `equivalent`: neither; `floor`: at least the value `margin`."
        ),
    )
    margin = Number(load_default=0.0, metadata=about("The loss that is allowed; of a floor the value."))
    margin_unit = Choice(
        *get_args(MarginUnit), load_default="points", metadata=about("The metric's unit, or percent of the baseline.")
    )
    per = Choice(*get_args(Per), metadata=about("What is judged; `overall` if not given, of no_cell_worse `cell`."))
    alpha = Number(
        least=_LEAST_ALPHA, most=_MOST_ALPHA, load_default=0.05, metadata=about("The level of each one-sided test.")
    )
    multiplicity = Choice(
        *get_args(Multiplicity), load_default="holm", metadata=about("How alarms over several are corrected.")
    )
    missing = Choice(
        *get_args(MissingCells),
        old=OLD_MISSING,
        load_default="refuse",
        metadata=about("`matched`: judge the cells that both have; else a missing one makes it not_comparable."),
    )
    common_share = Number(least=0, most=1, load_default=0.5, metadata=about("matched: the least share that both have."))
    looks = Choice(
        *get_args(Looks),
        load_default="fixed",
        metadata=about("`alpha_spending`: all stored verdicts of a version together raise a false alarm with alpha."),
    )
    confirm = Whole(
        1, 10, load_default=1, metadata=about("How many verdicts on a contender must fail, one after another.")
    )

    @validates_schema
    def _check_together(self, data: dict[str, Any], **_options: Any) -> None:
        kind = data.get("kind", "non_inferior")
        if kind == "no_cell_worse" and data.get("per", "cell") != "cell":
            raise ValidationError("is cell for no_cell_worse", "per")
        if kind != "floor" and data.get("margin", 0.0) < 0:
            raise ValidationError("must be at least 0", "margin")
        if kind == "floor" and data.get("margin_unit") == "percent":
            raise ValidationError("is points for a floor", "margin_unit")


class PinnedIn(Body):
    """A revision of a grid."""

    grid = Matching(GRID_ID, "must be the id of a grid", required=True, metadata=about("The grid's id."))
    revision = Whole(1, 2**31 - 1, metadata=about("The current one if not given; it stays that one."))


class SubjectIn(Body):
    """What the baseline is: a model with its current grids, revisions, or the model before each contender."""

    model = Name(metadata=about("The model."))
    grids = Few(
        fields.Nested(PinnedIn),
        validate=validate.Length(1, _MOST_GRIDS, error=f"has 1 to {_MOST_GRIDS:,} grids"),
        metadata=about("Revisions, one of each benchmark and variant."),
    )
    previous = fields.Boolean(
        truthy={True},
        falsy={False},
        validate=validate.Predicate("__bool__", error="is true, or not given"),
        metadata=about("True, or not given: each contender is judged against the one before it."),
    )
    along = Name(
        metadata=about("previous: a label whose text is a number, or `published`, which it is if not given.", "step")
    )

    @validates_schema
    def _check_either(self, data: dict[str, Any], **_options: Any) -> None:
        if len(data.keys() - {"along"}) != 1:
            raise ValidationError("give either model, grids or previous")
        if "along" in data and "previous" not in data:
            raise ValidationError("orders contenders where previous is given", "along")

    @post_load
    def _ordered(self, data: dict[str, Any], **_options: Any) -> dict[str, Any]:
        return {"along": PUBLISHED} | data if "previous" in data else data


def _names(text: str) -> Any:
    length = validate.Length(max=_MOST_NAMES, error=f"has at most {_MOST_NAMES:,} names")
    return Few(Name(empty=True), load_default=list, validate=length, metadata=about(text))


class BaselineIn(Body):
    """What contenders shall be judged against, and by what policy."""

    experiment = Name(required=True, metadata=about("The experiment."))
    metric = Name(required=True, metadata=about("The name of the metric."))
    benchmarks = _names("Only these; all that the baseline has if not given.")
    variants = _names("Only these; all if not given.")
    subject = fields.Nested(SubjectIn, required=True, metadata=about("What the baseline is."))
    policy = fields.Nested(PolicyIn, load_default=lambda: PolicyIn().load({}), metadata=about("What must be shown."))
    strict = fields.Boolean(
        truthy={True}, falsy={False}, load_default=False, metadata=about("Refuse a policy that could not pass.")
    )


class BaselineParameters(Schema):
    policy_version = number_of_revision("An older version; the current one if not given.")


class GateParameters(Schema):
    contender = Name(required=True, metadata=about("A model, or the id of a grid."))


class VerdictsParameters(PageParameters):
    contender = Name(metadata=about("Only verdicts on this model."))
    cursor = cursor_of("[1-9][0-9]{0,8}")


blp = Blueprint("baselines", "What contenders are judged against.")


@blp.put("/projects/<project>/baselines/<baseline>", operation="setBaseline")
@blp.arguments(BaselineIn, example=examples.BASELINE_IN)
@blp.answers(
    reply(200, "Changed, or as it was", "Baseline", headers=["ETag"]),
    reply(201, "Created", "Baseline", headers=["ETag"]),
    parameters=["If-Match"],
)
@idempotent_write()
def set_baseline(connection: Connection, row: Any, sent: dict[str, Any], project: str, baseline: str) -> Response:
    """Set a baseline

    Another definition is a new version of the policy; verdicts name theirs. The answer says whether a contender with
    the same trials could pass, and what it takes; with `strict` a policy that cannot pass is refused.
    """
    if not re.fullmatch(NAME, baseline):
        raise Invalid([Fault("", f"the name of a baseline {NAME_RULE}")])
    found, is_new, reached = kept(connection, row.id, baseline, sent, expected_tags())
    return json_answer(document(found, reached), status=201 if is_new else 200, ETag=f'"{tag_of(found)}"')


def kept(
    connection: Connection, project_id: uuid.UUID, name: str, sent: Mapping[str, Any], expect: Expect
) -> tuple[Any, bool, Reachable]:
    """Set a baseline to what was sent, as `BaselineIn` loads it: its row, whether it is new, and what it reaches."""
    definition, reached = checked(connection, project_id, sent)
    found, is_new = baselines.set_baseline(
        connection, actor(connection), project_id, name, to_document(definition), expect
    )
    return found, is_new, reached


def checked(connection: Connection, project_id: uuid.UUID, sent: Mapping[str, Any]) -> tuple[Definition, Reachable]:
    """The definition that was sent, as `BaselineIn` loads it, and what it reaches; `Invalid` where it cannot be set."""
    definition = pinned(connection, project_id, _definition(sent))
    found = what_it_reaches(connection, project_id, definition)
    if sent["strict"] and found.can_pass is False:
        raise Invalid([Fault("/policy", warning.detail.removesuffix(".")) for warning in found.warnings])
    return definition, found


def _definition(sent: Mapping[str, Any]) -> Definition:
    policy = dict(sent["policy"])
    policy.setdefault("per", "cell" if policy["kind"] == "no_cell_worse" else "overall")
    fields = ("experiment", "metric", "benchmarks", "variants", "subject")
    return from_document(Definition, {name: sent[name] for name in fields} | {"policy": policy})


def document(row: Any, reached: Reachable | None = None, **more: Any) -> dict[str, Any]:
    """A baseline as it is served, with what was computed of it."""
    told = {"name": row.name, "policy_version": row.version, "updated_at": row.created_at.isoformat()}
    computed = {} if reached is None else asdict(reached)
    found: dict[str, Any] = to_document(from_document(Baseline, {**row.definition, **told, **computed, **more}))
    return found


@blp.get("/projects/<project>/baselines", operation="listBaselines")
@blp.arguments(NamesParameters, location="query")
@blp.answers(reply(200, "A page of baselines", "Baselines", headers=["Link"]), public=True)
def list_all(query: dict[str, Any], project: str) -> Response:
    """List the baselines

    By name, without what is computed.
    """
    return listed(project, query, list_baselines, document, by="name")


@blp.get("/projects/<project>/baselines/<baseline>", operation="getBaseline")
@blp.arguments(BaselineParameters, location="query")
@blp.answers(reply(200, "The baseline", "Baseline", headers=["ETag"]), public=True)
def read_baseline(query: dict[str, Any], project: str, baseline: str) -> Response:
    """Read a baseline

    Whether a contender could pass is computed from the grids as they are now.
    """
    with parts().database.reading() as connection:
        project_id = enter(connection, project, "reader").id
        row = find_baseline(connection, project_id, baseline, query.get("policy_version"))
        going, precision = alerts_of(connection, row.id)
        more = {"alerts_open": going, "alert_precision": to_document(precision)}
        definition = from_document(Definition, row.definition)
        told = document(row, reached(connection, project_id, definition), **more)
    return json_answer(told, ETag=f'"{tag_of(row)}"')


def reached(connection: Connection, project_id: uuid.UUID, definition: Definition) -> Reachable:
    """What the policy reaches; nothing, with the reason, where its grids are gone since."""
    try:
        return what_it_reaches(connection, project_id, definition)
    except Invalid as error:
        return Reachable(False, warnings=tuple(Warning("gone", f"{at[1:]}: {told}.") for at, told in error.faults))


@blp.delete("/projects/<project>/baselines/<baseline>", operation="deleteBaseline")
@blp.answers(reply(204, "Deleted"), parameters=["If-Match"])
@idempotent_write()
def delete_baseline(connection: Connection, row: Any, project: str, baseline: str) -> Response:
    """Delete a baseline

    With its versions; the audit log keeps them.
    """
    baselines.delete_baseline(connection, actor(connection), row.id, baseline, expected_tags())
    return Response(status=204)
