"""Frame of all settings: a `Section` shows its page, reads its forms, carries them out and answers."""

import re
import uuid
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeVar

from flask import Response, after_this_request, g, redirect, request
from marshmallow import RAISE, Schema, ValidationError, fields
from sqlalchemy import Connection

from registry.api.arguments import faults_of
from registry.api.context import caller, enter, parts
from registry.api.fields import Whole
from registry.errors import Conflict, Fault, Invalid, PreconditionFailed
from registry.operations.auth import authorize_operator
from registry.operations.idempotency import claim_form, note_location
from registry.pages.administration.blueprint import FORM, KEY, administration, settings_page
from registry.pages.parameters import ID, argument
from registry.pages.visitors import is_secure
from registry.renderings.words import moment

Again = Callable[[Connection, Any, str], str]
"""What a form does that was carried out before, and led there."""
_WHOLE_NUMBER = re.compile("[0-9]{1,15}")
_REQUIRED = fields.Field.default_error_messages["required"]
_PREDICATE = re.compile("(is|are|must|has|have|needs|shares|stands) ")
_LONGEST_TEXT = 500_000
ROWS = 50
"""Rows of a page of a list."""
_OF_PROJECT = (
    ("", "General"),
    ("members", "Members"),
    ("tokens", "Tokens"),
    ("shares", "Share links"),
    ("aliases", "Aliases"),
    ("suites", "Suites"),
    ("alerts", "Gates"),
    ("webhooks", "Webhooks"),
    ("deleted", "Deleted grids"),
    ("audit", "Audit log"),
)
_OF_ALL = (("", "Projects"), ("members", "Members"), ("tokens", "Tokens"), ("audit", "Audit log"))


class Typed:
    """What stands in the fields of a form, and what is wrong with it."""

    def __init__(self, values: Mapping[str, str] | None = None, faults: Mapping[str, str] | None = None) -> None:
        self.values = values or {}
        self.faults = faults or {}


def asked() -> Typed:
    """What the address fills into a form: a link may, and who signs in again finds what they had typed."""
    return Typed({name: text for name, text in request.args.items() if len(text) <= _LONGEST_TEXT})


def sent() -> dict[str, str]:
    """What was typed, without the hidden fields; of a form that is asked by its address, what stands there."""
    typed = request.form if request.method == "POST" else request.args
    return {name: text for name, text in typed.items() if name not in (KEY, FORM)}


def read_form(schema: Schema, *, lists: Collection[str] = ()) -> dict[str, Any]:
    """What was typed, by a schema of the API; `Invalid` with the fields that are at fault.

    An empty field is one that is not given. Of the fields in `lists` each line is an item.
    """
    given: dict[str, Any] = {}
    for name, text in sent().items():
        plain = text.strip()
        if name in lists:
            given[name] = [line.strip() for line in plain.splitlines() if line.strip()]
        elif plain:
            given[name] = (
                int(plain) if _WHOLE_NUMBER.fullmatch(plain) and isinstance(schema.fields.get(name), Whole) else plain
            )
    try:
        return dict(schema.load(given, unknown=RAISE))
    except ValidationError as error:
        raise Invalid(faults_of({"form": error.messages}, schema)) from None


def home(connection: Connection, project: str | None) -> Any:
    """Row of the project whose settings these are, None for those of all; the visitor administers it."""
    if project is not None:
        return enter(connection, project, "admin")
    authorize_operator(caller(connection))
    return None


def carried_out(project: str | None, act: Callable[[Connection, Any], str], again: Again | None) -> str:
    """Where a form leads that does this in a project (its row), or (None) in all: the same twice, unless `again`."""
    form_id = _form_id()
    with parts().database.transaction() as connection:
        led = claim_form(connection, form_id)
        if led is not None and again is None:
            return led
        row = home(connection, project)
        location = act(connection, row) if led is None or again is None else again(connection, row, led)
        note_location(connection, form_id, location)
        return location


def _form_id() -> uuid.UUID:
    """Number of this form with this content: another content is another act."""
    try:
        shown = uuid.UUID(request.form.get(FORM, ""))
    except ValueError:
        raise Invalid([Fault("", "the form is incomplete: open its page again")]) from None
    who = g.visitor.caller
    content = sorted(request.form.items(multi=True))
    return uuid.uuid5(shown, repr((request.path, str(who.token_id or who.user_id), content)))


def by_field(faults: Collection[Fault]) -> dict[str, str]:
    """Faults by the field at which they are shown; "" for the whole form."""
    found: dict[str, str] = {}
    for fault in faults:
        field, _, inner = fault.pointer.removeprefix("/").partition("/")
        told = "must be filled in" if fault.detail == _REQUIRED else fault.detail
        found.setdefault(field, f"line {int(inner) + 1}: {told}" if inner.isdecimal() else told)
    return found


Context = Callable[[Connection, Any, Typed], Mapping[str, Any]]
"""What a section's template takes beside what all take, of a project (its row) or (None) of all; it may fill in the
form that is shown."""
Act = TypeVar("Act", bound=Callable[..., str | None])
"""What a form does in a project (its row), or (None) in all, with what its path names; where its sender is led, if not
back to the section."""


def path_of(project: str | None, section: str) -> str:
    """Path of a section of the settings of a project, or (None) of all."""
    base = "/settings" if project is None else f"/projects/{project}/settings"
    return f"{base}/{section}" if section else base


class Section:
    """A section of the settings of a project, of all, or of both (`of`): its page, and the forms that stand on it."""

    def __init__(self, name: str, path: str = "", *, of: Sequence[str] = ("project",), enter: Any = home) -> None:
        self._name, self._path, self._of, self._enter = name, path, of, enter
        self._context: Context

    def page(self, context: Context) -> Context:
        """Show the section, with what `context` adds, to who may `enter` it."""
        self._context = context
        self._add("GET", "", context, lambda project, **_of_path: self.show(project, asked()))
        return context

    def form(self, path: str = "", *, conflict_at: str = "", again: Again | None = None) -> Callable[[Act], Act]:
        """Carry out what was typed and lead its sender on; with a fault, show the section again as it was typed."""

        def added(act: Act) -> Act:
            def submitted(project: str | None, **of_path: Any) -> Response:
                try:
                    location = carried_out(
                        project,
                        lambda connection, row: act(connection, row, **of_path) or (path_of(project, self._name)),
                        again,
                    )
                except Invalid as error:
                    return self.show(project, Typed(sent(), by_field(error.faults)), 422)
                except Conflict as error:
                    return self.show(project, Typed(sent(), {conflict_at: error.detail}), 409)
                except PreconditionFailed as error:
                    return self.show(project, Typed(sent(), {"": error.detail}), 412)
                parts().notifier.notify()
                response: Response = redirect(location, 303)  # type: ignore[assignment]
                response.headers["Cache-Control"] = "no-store"
                return response

            self._add("POST", path, act, submitted)
            return act

        return added

    def show(self, project: str | None, typed: Typed, status: int = 200, **more: Any) -> Response:
        """The page with what stands in its form, and what is wrong with that."""
        with parts().database.reading() as connection:
            row = self._enter(connection, project)
            context = self._context(connection, row, typed)
        of_all = _OF_ALL if g.caller.operates else _OF_ALL[:1]
        offered = of_all if row is None else _OF_PROJECT
        common = {
            "project": row,
            "base": path_of(project, ""),
            "action": path_of(project, self._name),
            "section": self._name,
            "sections": [(path_of(project, name), title, name == self._name) for name, title in offered],
            "title": dict(offered)[self._name],
            "typed": typed.values,
            "faults": typed.faults,
            "labels": {},
            "form_id": str(uuid.uuid4()),
        }
        template = f"settings_{self._name or ('projects' if row is None else 'general')}.html"
        return settings_page(template, {**common, **context, **more}, status)

    def _add(self, method: str, path: str, named: Any, view: Callable[..., Response]) -> None:
        for of, base, project in (("project", path_of("<project>", ""), {}), ("all", "/settings", {"project": None})):
            if of in self._of:
                rule = f"{base}/{self._name}{self._path}{path}" if self._name else f"{base}{path}"
                administration.add_url_rule(rule, named.__name__, view, methods=[method], defaults=project)


_COOKIE = "registry_secret"
_SECONDS = 120
"""How long a browser keeps the secret for the page that shows it."""


def hand_over(path: str, secret: str) -> None:
    """Give the browser the secret for the page at this path, with the answer to this request."""
    _set(path, secret, _SECONDS)


def handed_over(is_its: Callable[[bytes], bool]) -> str:
    """The secret that the browser was given for this page, if it is the one; it is taken back, unless a form is shown
    again."""
    secret = request.cookies.get(_COOKIE, "")
    if secret and request.method == "GET":
        _set(request.path, "", 0)
    return secret if is_its(secret.encode("utf-8", "replace")) else ""


def _set(path: str, secret: str, seconds: int) -> None:
    def give(response: Response) -> Response:
        response.set_cookie(
            _COOKIE, secret, max_age=seconds, path=path, secure=is_secure(), httponly=True, samesite="Strict"
        )
        return response

    after_this_request(give)


@administration.app_template_filter("sentence")
def sentence(text: str, about: str = "") -> str:
    """A fault as a sentence: with a capital and a full stop, and about its field where it says no subject."""
    text = f"{about} {text}" if about and _PREDICATE.match(text) else text
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?")) else ".")


@administration.app_template_filter("details")
def details(told: Mapping[str, Any]) -> str:
    """What an entry of the audit log tells, in one line: a name and its value, then the next."""
    return " · ".join(f"{name.replace('_', ' ')}: {_value(name, one)}" for name, one in told.items())


def _value(name: str, told: Any) -> str:
    if name.endswith("_at") and isinstance(told, str):
        return moment(told)
    if isinstance(told, Mapping):
        known = {key: _value(key, one) for key, one in told.items() if one not in ("", None, [], {})}
        return ", ".join(one if name == "names" else f"{key.replace('_', ' ')} {one}" for key, one in known.items())
    return ", ".join(_value("", one) for one in told) if isinstance(told, list) else str(told)


def after() -> uuid.UUID | None:
    """Where the page of the list begins, by `after` in the address; `Invalid` when that is no id."""
    text = argument("after", ID, "is not a place in this list")
    return uuid.UUID(text) if text else None


def cut(rows: Sequence[Any]) -> tuple[Sequence[Any], str | None]:
    """Rows that a page shows of one more, and where the next page begins."""
    return rows[:ROWS], str(rows[ROWS - 1].id) if len(rows) > ROWS else None
