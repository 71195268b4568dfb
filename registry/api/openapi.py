"""The OpenAPI document: /openapi.yaml and /openapi.json; `registry.pages` shows it at /docs."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import orjson
import yaml
from flask import Blueprint, Flask, Response, current_app

from registry.api.responses import send
from registry.api.smorest import Api

blp = Blueprint("document", __name__)

REFINEMENTS: dict[str, dict[str, Any]] = {
    "ProjectChange": {"minProperties": 1},
    "GridIn": {"oneOf": [{"required": ["values"]}, {"required": ["cells"]}]},
}
"""Rules over several fields, which the schemas check in code."""

_METHODS = ("get", "post", "patch", "delete", "put")


def openapi(app: Flask) -> dict[str, Any]:
    """The document of this application."""
    found: dict[str, Any] = app.extensions["openapi"]
    return found


def openapi_yaml(app: Flask) -> str:
    """The document as YAML, stable from one run to the next."""
    plain = orjson.loads(orjson.dumps(openapi(app)))
    return yaml.dump(plain, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110)


class _Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else "'" if _is_number(text) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _is_number(text: str) -> bool:
    """Whether some version of YAML reads the bare text as a number: 0193 is one in 1.2 and none in 1.1."""
    try:
        float(text)
    except ValueError:
        return text.lstrip("+-")[:2].lower() in ("0o", "0x", "0b")
    return True


_Dumper.add_representer(str, _text)


def register(app: Flask, api: Api) -> None:
    document = api.spec.to_dict()
    for name, rules in REFINEMENTS.items():
        document["components"]["schemas"][name].update(rules)
    for path in document["paths"].values():
        for method, operation in path.items():
            if method in _METHODS:
                operation["operationId"] = operation.get("operationId") or _operation_id(method, operation)
    app.extensions["openapi"] = document
    app.register_blueprint(blp)


def _operation_id(method: str, operation: dict[str, Any]) -> str:
    words = "".join(c if c.isalnum() else " " for c in operation["summary"].lower()).split()
    return "_".join([method, *words])


def _tag(body: bytes) -> str:
    return sha256(body).hexdigest()[:16]


@blp.get("/openapi.json")
def as_json() -> Response:
    body = orjson.dumps(openapi(current_app))
    return send(body, tag=_tag(body))


@blp.get("/openapi.yaml")
def as_yaml() -> Response:
    body = openapi_yaml(current_app).encode()
    response = send(body, tag=_tag(body))
    response.headers["Content-Type"] = "application/yaml"
    return response
