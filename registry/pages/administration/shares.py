"""Settings of share links: make one for a path, copy it, revoke it."""

import uuid
from string import punctuation
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode

from flask import request
from marshmallow import Schema, fields
from sqlalchemy import Connection

from registry.api.context import actor, parts
from registry.api.fields import Whole
from registry.api.schemas import ShareIn
from registry.errors import Fault, Invalid
from registry.operations import shares as stored
from registry.operations.shares import list_shares, share_address, share_with_id
from registry.pages.administration.layout import ROWS, Section, Typed, after, cut, path_of, read_form
from registry.pages.links import LOOKS, located, page_path
from registry.pages.parameters import ID, argument

_DAY = 86_400
_MADE, _QUERY = "made", "query"
"""In the address after a link was made: its id, and the query of the page that it was made for."""


class _ShareForm(Schema):
    path = fields.Raw(required=True)
    days = Whole(1, 366, load_default=30)


SHARES = Section("shares")


@SHARES.page
def shares(connection: Connection, row: Any, _typed: Typed) -> dict[str, Any]:
    """The links that have not expired, each to be copied, and a form to make one."""
    site = parts().settings.url
    rows, more = cut(list_shares(connection, row.id, after(), ROWS + 1))
    of_made = argument(_MADE, ID, "is no id of a share")
    made = share_with_id(connection, row.id, uuid.UUID(of_made)) if of_made else None
    return {
        "rows": rows,
        "more": more,
        "links": {one.id: site + share_address(connection, one) for one in rows},
        "made": made,
        "link": site + share_address(connection, made, _kept(request.args.get(_QUERY, ""))) if made else "",
    }


@SHARES.form()
def make_share(connection: Connection, row: Any) -> str:
    """Create a link to a path, or to the address of a page of this registry."""
    sent = read_form(_ShareForm())
    path, query = address_in(str(sent["path"]))
    if fault := ShareIn().validate({"path": path}).get("path"):
        raise Invalid([Fault("/path", str(fault[0]))])
    made = stored.make_share(connection, actor(connection), row, path, sent["days"] * _DAY)
    return located(path_of(row.slug, "shares"), [(_MADE, str(made.id)), *([(_QUERY, query)] if query else [])])


def address_in(text: str) -> tuple[str, str]:
    """Path and query in what was typed: a path, or an address of this registry as a browser shows it.

    A link opens its path with every query. That of the address comes back into the link, without what says how the page
    is shown or by which share it was opened.
    """
    for address in (parts().settings.url, request.host_url.rstrip("/")):
        if text.startswith(f"{address}/"):
            text = text.removeprefix(address)
    path, _, query = text.partition("#")[0].partition("?")
    view = page_path(unquote(path), parse_qsl(query))
    if view == unquote(path):
        return quote(path, safe=punctuation), _kept(query)
    return quote(view), _kept(query, "view")


def _kept(query: str, *without: str) -> str:
    return urlencode([one for one in parse_qsl(query) if one[0] not in (*LOOKS, "share", *without)])


@SHARES.form("/<uuid:share>/revoke")
def revoke_share(connection: Connection, row: Any, share: uuid.UUID) -> None:
    """Revoke a link at once."""
    stored.revoke_share(connection, actor(connection), row.id, share)
