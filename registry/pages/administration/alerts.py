"""Settings of gates: forms that set and delete baselines and answer alerts. `registry.pages.gates` shows both."""

import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, get_args
from urllib.parse import urlencode

from flask import Response, redirect, request
from marshmallow import Schema, ValidationError, fields
from sqlalchemy import Connection

from registry.api.arguments import faults_of
from registry.api.baselines import NAME, NAME_RULE, BaselineIn, checked, kept
from registry.api.context import actor, parts
from registry.api.fields import Choice, Matching, Name, Whole
from registry.api.grid_fields import Markdown
from registry.errors import Fault, Invalid, NotFound
from registry.operations import alerts as stored
from registry.operations import baselines
from registry.operations.alerts import find_alert
from registry.operations.baselines import find_baseline, list_baselines, tag_of
from registry.operations.scope_options import name_options, scope_options
from registry.operations.suites import list_suites, members_of, suites_by_benchmarks
from registry.pages.administration.blueprint import LONGEST_QUERY, administration
from registry.pages.administration.layout import ROWS, Section, Typed, by_field, home, read_form, sent
from registry.pages.gates import definition_of, previewed, where, yardstick_of
from registry.renderings.policies import policy_in_words, subject_in_words
from registry.results.alerts import DismissalReason
from registry.results.gates import MarginUnit, MissingCells, Per, PolicyKind

_ANSWERS = (
    ("acknowledged", "It is right: somebody sees to it"),
    ("expected", "Dismiss: it is right, and expected"),
    ("fixed_elsewhere", "Dismiss: it is right, and fixed elsewhere"),
    ("noise", "Dismiss: it is noise"),
    ("wrong", "Dismiss: it is wrong"),
)


_KINDS = {
    "non_inferior": "is not worse by more than the margin",
    "no_cell_worse": "is not worse in any cell",
    "improves": "is better by more than the margin",
    "equivalent": "is neither better nor worse by more than the margin",
    "floor": "reaches the margin itself",
}
_LISTED = 300


class _Answer(Schema):
    answer = Choice("acknowledged", *get_args(DismissalReason), required=True)
    note = Markdown(load_default="")
    version = Whole(1, 2**31 - 1, required=True)


class _Gate(Schema):
    """A baseline as far as the form has it; what else its definition says stays as it was."""

    name = Matching(NAME, NAME_RULE, required=True)
    changes = Name()
    experiment = Name(required=True)
    metric = Name(required=True)
    model = Name()
    suite = Name()
    benchmarks = fields.List(Name(), load_default=list)
    kind = Choice(*get_args(PolicyKind), required=True)
    margin = fields.Float(load_default=0.0, allow_nan=False, error_messages={"invalid": "must be a number"})
    margin_unit = Choice(*get_args(MarginUnit), required=True)
    per = Choice(*get_args(Per), required=True)
    missing = Choice(*get_args(MissingCells), required=True)


class _GateName(Schema):
    name = Name(required=True)


_OF_POLICY = ("kind", "margin", "margin_unit", "per", "missing")


GATES = Section("alerts")


@GATES.page
def alerts(connection: Connection, row: Any, typed: Typed) -> dict[str, Any]:
    """The baselines with a form that sets one, and a form for the alert that the address names."""
    scopes = scope_options(connection, row.id, _LISTED)
    chosen, named = _chosen(connection, row.id), request.args.get("baseline", "")
    if named and not typed.faults:
        _fill(typed, connection, row.id, named)
    defined = [(one, definition_of(one)) for one in list_baselines(connection, row.id, None, ROWS + 1)]
    suites = suites_by_benchmarks(connection, row.id)
    kept_name = (typed.values.get("name", ""),)
    going = stored.list_alerts(connection, row.id, {"baseline": kept_name, "state": stored.LIVE}, None, _LISTED)
    return {
        "rows": [
            (one, subject_in_words(found), next(policy_in_words(found, yardstick_of(connection, row.id, found), suite)))
            for one, found in defined
            for suite in [suites.get(frozenset(found.benchmarks), "")]
        ],
        "experiments": sorted({one.experiment for one in scopes}),
        "metrics": sorted({one.metric for one in scopes}),
        "models": name_options(connection, row.id, "model", limit=_LISTED),
        "suites": [(one.name, one.name) for one in list_suites(connection, row.id, None, _LISTED)],
        "going": len(going),
        "kinds": list(_KINDS.items()),
        "chosen": chosen,
        "chosen_where": "" if chosen is None else where(chosen),
        "answers": _ANSWERS,
        "preview": None,
        "usual": "acknowledged" if chosen is None else chosen.reason or "acknowledged",
    }


def _fill(typed: Typed, connection: Connection, project_id: uuid.UUID, name: str) -> None:
    """Fill the form with the baseline of this name, to be changed; with the name alone if there is none."""
    try:
        found = definition_of(find_baseline(connection, project_id, name))
    except NotFound:
        typed.values, typed.faults = {"name": name}, {"name": "is of no baseline yet: this form makes it"}
        return
    policy = {one: f"{text:g}" if isinstance(text := getattr(found.policy, one), float) else text for one in _OF_POLICY}
    about = {"name": name, "changes": name, "experiment": found.experiment, "metric": found.metric}
    about["model"] = found.subject.model or ""
    suite = suites_by_benchmarks(connection, project_id).get(frozenset(found.benchmarks))
    some = {"suite": suite} if suite else {"benchmarks": "\n".join(found.benchmarks)}
    typed.values = about | policy | some


@GATES.form()
def set_gate(connection: Connection, row: Any) -> str:
    """Set a baseline, or give it another definition, and lead to how the contenders stand."""
    name, sent = _definition(connection, row.id)
    with _at_fields():
        kept(connection, row.id, name, sent, None)
    return f"/projects/{row.slug}/baselines/{name}"


_PREVIEW = "/projects/<project>/settings/alerts/preview"


@administration.post(_PREVIEW)
def ask_preview(project: str) -> Response:
    """Lead to the preview, the address of which has what was typed: one goes back to it and sends nothing again."""
    written = urlencode([(name, text) for name, text in sent().items() if text.strip()])
    if len(written) > LONGEST_QUERY:
        too_long = {"benchmarks": "are too many for a preview: name a suite, or save the baseline"}
        return GATES.show(project, Typed(sent(), too_long), 422)
    return redirect(f"{request.path}?{written}", 303)  # type: ignore[return-value]


@administration.get(_PREVIEW)
def preview_gate(project: str) -> Response:
    """Say what the baseline in the address would have said, and set nothing."""
    if not request.args:
        return redirect(request.path.removesuffix("/preview"), 303)  # type: ignore[return-value]
    try:
        with parts().database.reading() as connection:
            row = home(connection, project)
            name, definition_ = _definition(connection, row.id)
            with _at_fields():
                definition, reached = checked(connection, row.id, definition_)
    except Invalid as error:
        return GATES.show(project, Typed(sent(), by_field(error.faults)), 422)
    return GATES.show(project, Typed(sent()), preview=previewed(row, name, definition, reached))


def _definition(connection: Connection, project_id: uuid.UUID) -> tuple[str, dict[str, Any]]:
    """The name of the baseline in the form, and its definition as `BaselineIn` loads it."""
    typed = read_form(_Gate(), lists=("benchmarks",))
    policy = {one: typed[one] for one in _OF_POLICY}
    if typed["kind"] == "no_cell_worse":
        policy["per"] = "cell"
    subject = {"model": typed["model"]} if "model" in typed else {"previous": True}
    of_suite = _whole_members(connection, project_id, typed["suite"]) if "suite" in typed else ()
    about = {one: typed[one] for one in ("experiment", "metric")}
    about["benchmarks"] = list(dict.fromkeys([*typed["benchmarks"], *of_suite]))
    try:
        found = find_baseline(connection, project_id, typed["name"]).definition
        if typed.get("changes") != typed["name"]:
            raise Invalid([Fault("/name", "is a baseline already: choose Change beside it, or another name")])
        policy = found["policy"] | policy
        subject = subject if "model" in typed or "model" in found["subject"] else found["subject"]
        about["variants"] = found.get("variants", [])
    except NotFound:
        pass
    with _at_fields():
        return typed["name"], BaselineIn().load(about | {"subject": subject, "policy": policy})


def _whole_members(connection: Connection, project_id: uuid.UUID, suite: str) -> tuple[str, ...]:
    """The benchmarks of a suite as they are now; `Invalid` where some count at levels of their own."""
    members = members_of(connection, project_id, suite)
    if members["slices"]:
        raise Invalid([Fault("/suite", "has levels of its own for some benchmarks; a baseline has whole ones")])
    return tuple(members["benchmark"])


@contextmanager
def _at_fields() -> Iterator[None]:
    """Faults of a definition are told at the fields of the form that they are in."""
    try:
        yield
    except ValidationError as error:
        raise Invalid(_of_form(faults_of({"json": error.messages_dict}))) from None
    except Invalid as error:
        raise Invalid(_of_form(error.faults)) from None


def _of_form(faults: Iterable[Fault]) -> list[Fault]:
    own = _Gate().fields
    told = [([part for part in one.pointer.split("/") if part in own], one.detail) for one in faults]
    return [Fault(f"/{parts_[-1]}" if parts_ else "", detail) for parts_, detail in told]


@GATES.form("/delete")
def delete_gate(connection: Connection, row: Any) -> None:
    """Delete the baseline of this name; its alerts are resolved."""
    baselines.delete_baseline(connection, actor(connection), row.id, read_form(_GateName())["name"], None)


def _chosen(connection: Connection, project_id: uuid.UUID) -> Any:
    """The alert that the address names, if it is not resolved."""
    try:
        named = uuid.UUID(str((request.view_args or {}).get("alert") or request.args.get("alert", "")))
        found = find_alert(connection, project_id, named)
    except (ValueError, NotFound):
        return None
    return None if found.state == "resolved" else found


@GATES.form("/<uuid:alert>", conflict_at="answer")
def answer_alert(connection: Connection, row: Any, alert: uuid.UUID) -> str:
    """Acknowledge or dismiss an alert, unless it changed since the form was shown."""
    sent = read_form(_Answer())
    word = sent["answer"]
    said = {"state": "acknowledged"} if word == "acknowledged" else {"state": "dismissed", "reason": word}
    found = find_alert(connection, row.id, alert)
    expect = (f"{sent['version']}{tag_of(found).removeprefix(str(found.version))}",)
    stored.answer_alert(connection, actor(connection), row.id, alert, said | {"note": sent["note"]}, expect)
    return f"/projects/{row.slug}/alerts"
