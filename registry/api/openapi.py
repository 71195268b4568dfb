"""The OpenAPI document: /openapi.yaml and /openapi.json; `registry.pages` shows it at /docs."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import orjson
import yaml
from flask import Blueprint, Flask, Response, current_app, request

from registry.api import examples
from registry.api.client_view import client_view, is_twin, suffixes_of
from registry.api.fields import bodies
from registry.api.openapi_references import (
    drop_unused,
    operations,
    ordered,
    refer_to_examples,
    refer_to_parameters,
    say_in_place,
)
from registry.api.openapi_schemas import refine, without_defaults
from registry.api.openapi_webhooks import described_webhooks
from registry.api.responses import send
from registry.api.smorest import Api
from registry.errors import Fault, Invalid

blp = Blueprint("document", __name__)

REFINEMENTS: dict[str, dict[str, Any]] = {
    "ProjectChange": {"minProperties": 1},
    "WebhookData": {"additionalProperties": True},
}
"""Rules over several fields, which the schemas check in code, and objects that have more fields than are named."""

_EVERYWHERE = ("401", "403", "422", "429", "503")
"""Errors that any operation may give: `default` stands for them, but in the view for clients."""
_SAID_IN_PLACE = 480
"""Bytes of the longest schema that is said where it is used, if that is one place; clients have types with names."""
_ORDER = ("openapi", "info", "servers", "paths", "components", "webhooks", "security", "tags")


def openapi(app: Flask) -> dict[str, Any]:
    """The document of this application."""
    found: dict[str, Any] = app.extensions["openapi"]
    return found


def openapi_for_clients(app: Flask) -> dict[str, Any]:
    """The view of the document for generators of clients, made when it is first asked for: few processes are."""
    kept = app.extensions
    if "openapi_client_view" not in kept:
        kept["openapi_client_view"] = client_view(kept["openapi_described"])
    found: dict[str, Any] = kept["openapi_client_view"]
    return found


_VIEWS = {"whole": openapi, "client": openapi_for_clients}


def openapi_yaml(app: Flask, *, client: bool = False) -> str:
    """The document, or its view for generators of clients, as YAML, stable from one run to the next."""
    plain = orjson.loads(orjson.dumps(openapi_for_clients(app) if client else openapi(app)))
    return yaml.dump(plain, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=160)


class _Dumper(yaml.SafeDumper):
    """Writes what fits on a line on one line, and the examples as JSON is written."""

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def represent_sequence(self, tag: str, sequence: Any, flow_style: bool | None = None) -> Any:
        return super().represent_sequence(tag, sequence, flow_style=_is_short(sequence))

    def represent_mapping(self, tag: str, mapping: Any, flow_style: bool | None = None) -> Any:
        is_example = mapping.keys() == {"value"} and not isinstance(mapping["value"], str)
        return super().represent_mapping(tag, mapping, flow_style=is_example or _is_short(mapping))


def _is_short(value: Any) -> bool:
    return len(orjson.dumps(value)) <= _SHORT and "\n" not in repr(value)


_SHORT = 2000
"""Characters of JSON that are written on one line of YAML."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else "'" if _is_number(text) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _is_number(text: str) -> bool:
    """Return whether some version of YAML reads the bare text as a number: 0193 is one in 1.2 and none in 1.1."""
    try:
        float(text)
    except ValueError:
        return text.lstrip("+-")[:2].lower() in ("0o", "0x", "0b")
    return True


_Dumper.add_representer(str, _text)


def register(app: Flask, api: Api) -> None:
    """Build the document of this application, in which every resource is by now, and serve it."""
    document = _described(api.spec.to_dict())
    app.extensions["openapi"] = _whole(document)
    app.extensions["openapi_described"] = document
    app.register_blueprint(blp)


def _described(described: dict[str, Any]) -> dict[str, Any]:
    """All that is described: with references for what is said several times, and in a fixed order."""
    document = _placed(described)
    document["security"] = [{"bearer": []}, {}]
    schemas = document["components"]["schemas"]
    for sent in (body.__name__ for body in bodies()):
        schemas[sent] = without_defaults(schemas[sent])
    for name, rules in REFINEMENTS.items():
        schemas[name].update(rules)
    document["components"]["schemas"] = refine(schemas)
    refer_to_parameters(document)
    for _, _, operation in operations(document):
        operation["responses"] = dict(sorted(operation["responses"].items()))
    refer_to_examples(document, examples.named())
    document["paths"] = {path: _ordered(item) for path, item in document["paths"].items()}
    return document


def _whole(document: dict[str, Any]) -> dict[str, Any]:
    """The document with one path a resource: the paths with a suffix are said in its description."""
    paths = document["paths"]
    told = document | {"paths": {path: _with_forms(document, path) for path in paths if not is_twin(path, paths)}}
    told = _placed(told | {"webhooks": described_webhooks()})
    for item in told["paths"].values():
        for operation in item.values():
            answers = operation["responses"].items()
            operation["responses"] = {status: one for status, one in answers if status not in _EVERYWHERE}
            if operation["security"] == document["security"]:
                del operation["security"]
    drop_unused(told)
    say_in_place(told, _SAID_IN_PLACE)
    return told


def _placed(document: dict[str, Any]) -> dict[str, Any]:
    return {key: document[key] for key in _ORDER if key in document}


def _with_forms(document: dict[str, Any], path: str) -> dict[str, Any]:
    item: dict[str, Any] = {method: dict(one) for method, one in document["paths"][path].items()}
    suffixes = ", ".join(f"`.{suffix}`" for suffix in suffixes_of(document, path))
    if not suffixes:
        return item
    about = item["get"].get("description", "")
    more = f"Forms, by `Accept` or as a suffix: {suffixes}."
    return item | {"get": ordered(item["get"] | {"description": f"{about}\n\n{more}".strip()})}


def _ordered(item: dict[str, Any]) -> dict[str, Any]:
    return {method: ordered(one) for method, one in item.items()}


def _tag(body: bytes) -> str:
    return sha256(body).hexdigest()[:16]


@blp.get("/openapi.json")
def as_json() -> Response:
    """The whole document, or with `view=client` the one for generators of clients."""
    view = request.args.get("view", "whole")
    if view not in _VIEWS:
        raise Invalid([Fault("/view", f"must be one of {', '.join(_VIEWS)}")])
    body = orjson.dumps(_VIEWS[view](current_app))
    return send(body, tag=_tag(body))


@blp.get("/openapi.yaml")
def as_yaml() -> Response:
    body = openapi_yaml(current_app).encode()
    response = send(body, tag=_tag(body))
    response.headers["Content-Type"] = "application/yaml"
    return response
