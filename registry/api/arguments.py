"""Arguments of a request, read strictly: unknown names, repeated ones and bodies that are no JSON are faults."""

from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from flask import Request
from marshmallow import RAISE, Schema, ValidationError, fields
from webargs.flaskparser import FlaskParser

from registry.api.context import authorize_body
from registry.api.fields import UNKNOWN, unknown
from registry.api.request_body import sent_json
from registry.errors import Fault, Invalid
from registry.grids.intake.faults import escaped

_REPEATED = ("label.", "at.", "x.at.", "y.at.")
"""Beginnings of the names that no schema knows, and that may come several times."""


class Parser(FlaskParser):
    """Arguments are read strictly: unknown names are faults, bodies go through the one reader."""

    DEFAULT_UNKNOWN_BY_LOCATION = {"json": RAISE, "query": RAISE}  # noqa: RUF012 (webargs declares it so)

    def load_json(self, req: Request, schema: Schema) -> Any:
        authorize_body()
        return sent_json()

    def load_querystring(self, req: Request, schema: Schema) -> Any:
        lists = {field.data_key or name for name, field in schema.fields.items() if isinstance(field, fields.List)}
        for name, values in req.args.lists():
            if len(values) > 1 and name not in lists and not name.startswith(_REPEATED):
                raise Invalid([Fault(f"/{escaped(name)}", "is given more than once")])
        return super().load_querystring(req, schema)

    def handle_error(self, error: ValidationError, req: Request, schema: Schema, **_options: Any) -> NoReturn:
        raise Invalid(faults_of(error.messages_dict, schema))


def faults_of(messages: Mapping[str, Any], schema: Schema | None = None) -> list[Fault]:
    """marshmallow's messages, {location: {field: [...]}}, as faults with JSON pointers.

    With the schema, an unknown field is told which one may have been meant, or which there are.
    """
    return [fault for at_location in messages.values() for fault in _faults(at_location, "", schema)]


def _faults(messages: Any, pointer: str, schema: Any) -> Iterator[Fault]:
    if isinstance(messages, Mapping):
        named = [one.data_key or name for name, one in schema.fields.items()] if schema else []
        told = unknown(map(str, messages), named) if [UNKNOWN] in messages.values() and schema else {}
        for name, inner in messages.items():
            if inner == [UNKNOWN] and name in told:
                yield Fault(f"{pointer}/{escaped(name)}", told[name])
                continue
            here = pointer if name == "_schema" else f"{pointer}/{escaped(str(name))}"
            yield from _faults(inner, here, schema if isinstance(name, int) else _schema_of(schema, name))
    elif isinstance(messages, str):
        yield Fault(pointer, messages)
    else:
        for message in messages:
            yield from _faults(message, pointer, schema)


def _schema_of(schema: Any, name: str) -> Any:
    field = None if schema is None else schema.fields.get(name)
    field = field.inner if isinstance(field, fields.List) else field
    return field.schema if isinstance(field, fields.Nested) else None
