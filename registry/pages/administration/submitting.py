"""Forms of settings: read, done and answered; a secret is shown once."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable, Collection, Mapping
from typing import Any

from flask import Response, after_this_request, g, request
from marshmallow import RAISE, Schema, ValidationError
from sqlalchemy import Connection

from registry.api.arguments import faults_of
from registry.api.context import caller, enter, parts
from registry.errors import Fault, Invalid
from registry.operations.auth import authorize_operator
from registry.operations.idempotency import claim_form, note_location
from registry.pages.administration.blueprint import FORM, KEY
from registry.pages.visitors import is_secure

Again = Callable[[Connection, Any, str], str]
"""What a form does that was carried out before, and led there."""
_DIGITS = re.compile("[0-9]{1,15}")
_LONGEST_TEXT = 500_000


class Typed:
    """What stands in the fields of a form, and what is wrong with it."""

    def __init__(self, values: Mapping[str, str] | None = None, faults: Mapping[str, str] | None = None) -> None:
        self.values = values or {}
        self.faults = faults or {}


def asked() -> Typed:
    """What the address fills into a form: a link may, and who signs in again finds what they had typed."""
    return Typed({name: text for name, text in request.args.items() if len(text) <= _LONGEST_TEXT})


def sent() -> dict[str, str]:
    """What was typed, without the hidden fields."""
    return {name: text for name, text in request.form.items() if name not in (KEY, FORM)}


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
            given[name] = int(plain) if _DIGITS.fullmatch(plain) and _is_whole(schema, name) else plain
    try:
        return dict(schema.load(given, unknown=RAISE))
    except ValidationError as error:
        raise Invalid(faults_of({"form": error.messages}, schema)) from None


def _is_whole(schema: Schema, name: str) -> bool:
    return type(schema.fields.get(name)).__name__ == "Whole"


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
        field = fault.pointer.removeprefix("/").partition("/")[0]
        found.setdefault(field, fault.detail)
    return found


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
