"""The OpenAPI document: /openapi.yaml and /openapi.json; `registry.pages` shows it at /docs."""

from collections.abc import Iterator, Mapping
from copy import deepcopy
from hashlib import sha256
from typing import Any

import orjson
import yaml
from flask import Blueprint, Flask, Response, current_app, request

from registry.api import examples
from registry.api.fields import bodies
from registry.api.grid_schemas import PublishParameters
from registry.api.openapi_schemas import (
    drop_unused,
    looked_up,
    name_texts,
    operations,
    ordered,
    refer_to_examples,
    refer_to_parameters,
    refer_to_properties,
    refine,
    say_in_place,
    without_defaults,
)
from registry.api.responses import MEDIA, send
from registry.api.smorest import Api
from registry.errors import Fault, Invalid

blp = Blueprint("document", __name__)

REFINEMENTS: dict[str, dict[str, Any]] = {
    "ProjectChange": {"minProperties": 1},
    "WebhookData": {"additionalProperties": True},
}
"""Rules over several fields, which the schemas check in code, and objects that have more fields than are named."""

_EVERYWHERE = ("400", "401", "403", "404", "413", "415", "416", "422", "429", "501", "503")
"""Errors that any operation may give: `default` stands for them, but in the view for clients."""
_SAID_IN_PLACE = 800
"""Bytes of the longest schema that is said where it is used, if that is one place; clients have types with names."""
_SHARED_FROM = 100
"""Bytes that are saved at least where what several objects have is said in one place."""
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


def _yaml_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else "'" if _is_number(text) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def _is_number(text: str) -> bool:
    """Return whether some version of YAML reads the bare text as a number: 0193 is one in 1.2 and none in 1.1."""
    try:
        float(text)
    except ValueError:
        return text.lstrip("+-")[:2].lower() in ("0o", "0x", "0b")
    return True


_Dumper.add_representer(str, _yaml_text)


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
    document["paths"] = {
        path: {method: ordered(one) for method, one in item.items()} for path, item in document["paths"].items()
    }
    return document


def _whole(document: dict[str, Any]) -> dict[str, Any]:
    """The document with one path a resource: the paths with a suffix are said in its description."""
    paths = document["paths"]
    told = document | {"paths": {path: _with_forms(document, path) for path in paths if not is_twin(path, paths)}}
    told = _placed(told | {"webhooks": {"event": {"post": _EVENT}}})
    for item in told["paths"].values():
        for operation in item.values():
            answers = operation["responses"]
            own = {status for status in answers if status not in _EVERYWHERE}
            # Linters want an error of the caller's among those of each operation.
            own |= set() if any(status.startswith("4") for status in own) else {"422"}
            operation["responses"] = {status: one for status, one in answers.items() if status in own}
            if operation["security"] == document["security"]:
                del operation["security"]
    drop_unused(told)
    name_texts(told)
    refer_to_properties(told, _SHARED_FROM)
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


_STANDARD = "#/components/schemas/WebhookMessage"
_CLOUD = "#/components/schemas/CloudEvent"


def _header(name: str, description: str, **schema: Any) -> dict[str, Any]:
    told = {"name": name, "in": "header", "required": True, "description": description}
    return told | {"schema": {"type": "string", **schema}}


_EVENT: dict[str, Any] = {
    "summary": "Receive an event",
    "description": (
        "An event of a project, sent to the address of a webhook that wants its type, one of `Event` or `webhook.test`."
        " Of the format `standard` the body is JSON, of `cloudevents` a CloudEvent; chats are sent a sentence in their"
        " own form.\n\nEach event is sent at least once, and may come twice, with the same `webhook-id`. Verify the"
        " signature, or anybody may send: libraries of Standard Webhooks do it, and the page about events has the code."
    ),
    "operationId": "receiveEvent",
    "tags": ["webhooks"],
    "security": [],
    "parameters": [
        _header("webhook-id", "The event's id, the same each time that it is sent.", format="uuid"),
        _header(
            "webhook-timestamp",
            "When this attempt was sent: seconds since 1970. Refuse what is older than some minutes.",
            pattern="^[0-9]+$",
        ),
        _header(
            "webhook-signature",
            "`v1,` and the base64 of HMAC-SHA256 over `{webhook-id}.{webhook-timestamp}.{body}`; the key is the secret"
            " without `whsec_`, decoded from base64. For a day after a rotation two of them, with a space between: one"
            " that fits is enough.",
            pattern="^v1,[A-Za-z0-9+/]{43}=( v1,[A-Za-z0-9+/]{43}=)?$",
        ),
    ],
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": {"$ref": _STANDARD}, "example": examples.WEBHOOK_MESSAGE},
            "application/cloudevents+json": {"schema": {"$ref": _CLOUD}},
        },
    },
    "responses": {
        "2XX": {
            "description": "Taken, if it comes within 15 seconds. What it says is kept up to 1,000 bytes, for people."
        },
        "410": {"description": "There is no receiver any more: the webhook is disabled until somebody enables it."},
        "429": {"description": "Too much: sent again, not before `Retry-After`, of which an hour at most is waited."},
        "503": {"description": "Not now: sent again, not before `Retry-After`, of which an hour at most is waited."},
        "default": {
            "description": "Anything else, a redirect and no answer too: sent again, up to seven times within about a"
            " day, then given up. A webhook without one success in five days is disabled."
        },
    },
}
Operation = dict[str, Any]

JSON = "application/json"
FORMS = {
    "json": ("Json", "as JSON"),
    "txt": ("Text", "as text"),
    "md": ("Markdown", "as Markdown"),
    "csv": ("Csv", "as CSV"),
    "tex": ("Latex", "as LaTeX"),
    "ndjson": ("Ndjson", "as NDJSON"),
    "html": ("Html", "as HTML"),
    "parquet": ("Parquet", "as Parquet"),
    "arrow": ("Arrow", "as an Arrow file"),
    "svg": ("Svg", "as SVG"),
    "png": ("Png", "as PNG"),
    "vl.json": ("VegaLite", "as Vega-Lite"),
}
"""Suffixes that a form adds to an operation's id and to its summary."""
_LEFT_OUT = {"publishGrid": frozenset(PublishParameters().fields) - {"dry_run"}}
"""Parameters that clients do without: those of tables."""
_UNTYPED = frozenset({"fields"})
"""Parameters whose answers lack what the schema requires."""


def client_view(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document with one media type an answer, and no path that could be taken for another."""
    view: dict[str, Any] = deepcopy(dict(document))
    view["paths"] = dict(_client_paths(view))
    # Lists of several depths are one type to who has to tell them apart when a program runs.
    one, null, *_lists = view["components"]["schemas"]["Nested"]["anyOf"]
    view["components"]["schemas"]["Nested"]["anyOf"] = [one, null, {"type": "array", "items": {}}]
    # A property with a default is required in types that openapi-typescript makes, of requests too.
    for schema in view["components"]["schemas"].values():
        for told in schema.get("properties", {}).values():
            told.pop("default", None)
    drop_unused(view)
    return view


def as_form(document: Mapping[str, Any], operation: Mapping[str, Any], form: str) -> Operation:
    """The operation that answers in this form alone."""
    name, words = FORMS[form]
    found = _with_media(document, operation, MEDIA[form].partition(";")[0])
    return found | {
        "operationId": f"{operation['operationId']}{name}",
        "summary": f"{operation['summary']} {words}",
        "description": f"Answers what `{operation['operationId']}` answers, {words}.",
    }


def is_twin(path: str, paths: Mapping[str, Any]) -> bool:
    """Return whether the path is that of another one with the suffix of a form."""
    resource, _, suffix = path.rpartition(".")
    return resource in paths and suffix in ("{suffix}", "{form}")


def _client_paths(document: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Operation]]]:
    paths = document["paths"]
    for path, item in paths.items():
        if is_twin(path, paths):
            continue
        told = {method: _plain(document, one) for method, one in item.items() if method != "get"}
        content = _content(document, item["get"]) if "get" in item else {}
        if JSON in content or len(content) == 1:
            told = {"get": _plain(document, item["get"])} | told
        if told:
            yield path, told
        for form in suffixes_of(document, path):
            if form != "json":
                yield f"{path}.{form}", {"get": _plain(document, as_form(document, item["get"], form))}


def suffixes_of(document: Mapping[str, Any], path: str) -> list[str]:
    """The suffixes that the path may have, each of which names a form."""
    for parameter in ("suffix", "form"):
        twin = document["paths"].get(f"{path}.{{{parameter}}}")
        if twin is not None:
            told = [looked_up(document, one) for one in twin["get"]["parameters"]]
            return next(list(one["schema"]["enum"]) for one in told if one["name"] == parameter)
    return []


def _content(document: Mapping[str, Any], operation: Operation) -> dict[str, Any]:
    content: dict[str, Any] = looked_up(document, operation["responses"].get("200", {})).get("content", {})
    return content


def _plain(document: Mapping[str, Any], operation: Operation) -> Operation:
    """The operation with JSON alone where it has JSON, and without the parameters that clients do without."""
    found = _with_media(document, operation, JSON)
    if "requestBody" in found:
        content = found["requestBody"]["content"]
        found["requestBody"]["content"] = {JSON: content[JSON]}
    left_out = _LEFT_OUT.get(operation["operationId"], frozenset()) | _UNTYPED
    parameters = operation.get("parameters", [])
    found["parameters"] = [one for one in parameters if looked_up(document, one)["name"] not in left_out]
    return ordered(found)


def _with_media(document: Mapping[str, Any], operation: Mapping[str, Any], media: str) -> Operation:
    """A copy whose answer has this media type alone, if it has it."""
    found: Operation = deepcopy(dict(operation))
    answer = looked_up(document, found["responses"].get("200", {}))
    if media in answer.get("content", {}):
        content = {media: answer["content"][media]}
        found["responses"]["200"] = answer | {"content": content}
        if "206" in found["responses"]:
            found["responses"]["206"] = looked_up(document, found["responses"]["206"]) | {"content": content}
    return found
