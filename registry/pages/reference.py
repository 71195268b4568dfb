"""The OpenAPI document as people read it: operations by resource, schemas as tables."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson
from markupsafe import Markup, escape

Document = Mapping[str, Any]
METHODS = ("get", "post", "put", "patch", "delete")
LONGEST_EXAMPLE = 1_200
"""Characters of an example that the page shows; longer ones are in the document."""
RARE = 3
"""A parameter that more operations share is explained once."""
RARE_FIELD = 2
"""A field that more schemas share is explained once."""
Answer = tuple[str, str, Markup]
"""Its status, what it says, and its content."""
_CODE = re.compile("`([^`]+)`")


@dataclass(frozen=True, slots=True)
class Row:
    """A parameter or a field: its name, its type as people write it, and its meaning."""

    name: str
    type: Markup
    required: bool
    meaning: Markup
    place: str = ""


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation as a page shows it."""

    id: str
    title: str
    method: str
    path: str
    description: Markup
    parameters: Sequence[Row]
    common: Sequence[str]
    """Names of parameters that `common_parameters` explains."""
    body: Markup
    example: str
    answers: Sequence[Answer]
    also: str
    """Statuses that `common_answers` explains."""
    problems: str


@dataclass(frozen=True, slots=True)
class Schema:
    """A schema: its description and its fields."""

    name: str
    description: Markup
    rows: Sequence[Row]
    type: Markup
    common: Sequence[Row] = ()
    """Fields that `common_fields` explains."""


def common_answers(document: Document) -> list[Answer]:
    """The answers without a problem that operations share, by status."""
    shared = {
        status: _at(document, one)
        for _, _, item, method in _each(document)
        for status, one in item[method]["responses"].items()
        if "$ref" in one and status < "4"
    }
    return [(status, one.get("description", ""), _content(one)) for status, one in sorted(shared.items())]


def common_parameters(document: Document) -> list[Row]:
    """The parameters that mean the same in more than `RARE` operations, paths excepted."""
    counted = Counter(row for _, _, item, method in _each(document) for row in _parameters(document, item, method))
    return sorted((row for row, count in counted.items() if count > RARE), key=lambda row: (row.place, row.name))


def operations(document: Document) -> list[tuple[str, str, list[Operation]]]:
    """Each tag that has operations, its description, and them."""
    found: dict[str, list[Operation]] = {tag["name"]: [] for tag in document.get("tags", ())}
    common = set(common_parameters(document))
    for tag, path, item, method in _each(document):
        found.setdefault(tag, []).append(_operation(document, path, item, method, common))
    about = {tag["name"]: tag.get("description", "") for tag in document.get("tags", ())}
    return [(name, about.get(name, ""), found[name]) for name in found if found[name]]


def schemas(document: Document, names: Collection[str]) -> list[Schema]:
    """The schemas of these names, by name."""
    common = set(common_fields(document, names))
    return [
        replace(one, rows=[row for row in one.rows if row not in common], common=[r for r in one.rows if r in common])
        for one in _schemas(document, names)
    ]


def common_fields(document: Document, names: Collection[str]) -> list[Row]:
    """The fields that mean the same in more than `RARE_FIELD` of these schemas, by name; the commonest of several of a
    name."""
    counted = Counter(row for one in _schemas(document, names) for row in one.rows)
    found: dict[str, Row] = {}
    for row, count in counted.most_common():
        if count > RARE_FIELD:
            found.setdefault(row.name, row)
    return sorted(found.values(), key=lambda row: row.name)


def _schemas(document: Document, names: Collection[str]) -> list[Schema]:
    return [_schema(name, document["components"]["schemas"][name]) for name in sorted(names)]


def marked(text: str) -> Markup:
    """A text with `code` as code."""
    escaped = str(escape(text)).replace("&#39;", "'").replace("&#34;", '"')  # quotes need none between tags
    return Markup(_CODE.sub(r"<code>\1</code>", escaped))  # noqa: S704 (escaped before)


def _each(document: Document) -> Iterator[tuple[str, str, Document, str]]:
    """Tag, path, item and method of each operation."""
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                yield item[method]["tags"][0], path, item, method


def _operation(document: Document, path: str, item: Document, method: str, common: set[Row]) -> Operation:
    operation, rows = item[method], _parameters(document, item, method)
    body = _at(document, operation.get("requestBody", {}))
    answers = {status: _at(document, one) for status, one in operation["responses"].items()}
    return Operation(
        id=operation["operationId"],
        title=operation.get("summary", operation["operationId"]),
        method=method.upper(),
        path=path,
        description=marked(operation.get("description", "")),
        parameters=[row for row in rows if row not in common],
        common=[row.name for row in rows if row in common],
        body=_content(body),
        example=_example(document, body.get("content", {})),
        answers=[
            (status, one.get("description", ""), _content(one))
            for status, one in answers.items()
            if status < "4" and "$ref" not in operation["responses"][status]
        ],
        also=", ".join(one for one in answers if one < "4" and "$ref" in operation["responses"][one]),
        problems=", ".join(status for status in answers if "4" <= status < "6"),
    )


def _content(body: Document) -> Markup:
    """The schema of the JSON, and the other media types."""
    content = body.get("content", {})
    parts = [_type(one.get("schema", {})) for media, one in content.items() if media == "application/json"]
    others = [escape(media.partition(";")[0]) for media in content if media != "application/json"]
    return Markup("; ").join(part for part in [*parts, Markup(", ").join(dict.fromkeys(others))] if part)


def _example(document: Document, body: Document) -> str:
    for one in body.values():
        examples = [_at(document, each).get("value") for each in one.get("examples", {}).values()]
        given = one.get("example", examples[0] if examples else None)
        if given is not None:
            text = given if isinstance(given, str) else orjson.dumps(given, option=orjson.OPT_INDENT_2).decode()
            return text if len(text) <= LONGEST_EXAMPLE else ""
    return ""


def _parameters(document: Document, item: Document, method: str) -> list[Row]:
    listed = (*item.get("parameters", ()), *item[method].get("parameters", ()))
    return [_parameter(_at(document, one)) for one in listed]


def _parameter(parameter: Document) -> Row:
    schema = parameter.get("schema", {})
    meaning = parameter.get("description") or schema.get("description", "")
    default = schema.get("default")
    if default not in (None, [], ""):
        meaning = f"{meaning} Default: {_word(default)}."
    required = bool(parameter.get("required")) and parameter["in"] != "path"
    return Row(parameter["name"], _type(schema), required, marked(meaning.strip()), parameter["in"])


def _schema(name: str, schema: Document) -> Schema:
    parts = list(_parts(schema))
    required = {word for part in parts for word in part.get("required", ())}
    properties = {key: one for part in parts for key, one in part.get("properties", {}).items()}
    rows = [
        Row(key, _type(one), key in required, marked(one.get("description", ""))) for key, one in properties.items()
    ]
    whole = Markup(" and ").join(_type(one) for one in schema.get("allOf", ()) if "$ref" in one)
    return Schema(name, marked(schema.get("description", "")), rows, whole if rows else _type(schema))


def _parts(schema: Document) -> Iterator[Document]:
    yield schema
    for one in schema.get("allOf", ()):
        yield from _parts(one)


def _type(schema: Document) -> Markup:
    """The type in a few words, other schemas as links."""
    if "$ref" in schema:
        name = str(schema["$ref"]).rsplit("/", 1)[1]
        return Markup('<a href="/docs/schemas#{0}">{0}</a>').format(name)
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return Markup(" or ").join(dict.fromkeys(_type(one) for one in schema[key]))
    if "allOf" in schema and not schema.get("properties"):
        return Markup(" and ").join(_type(one) for one in schema["allOf"])
    if "const" in schema:
        return Markup("<code>{}</code>").format(orjson.dumps(schema["const"]).decode())
    if "enum" in schema:
        return Markup("<code>{}</code>").format(", ".join(_word(word) for word in schema["enum"]))
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    return Markup(" or ").join(_kind(kind, schema) for kind in kinds) or Markup("any")


def _kind(kind: str, schema: Document) -> Markup:
    if kind == "array" and schema.get("items"):
        return Markup("list of {}").format(_type(schema["items"]))
    if kind == "object" and isinstance(schema.get("additionalProperties"), Mapping) and schema["additionalProperties"]:
        return Markup("object of {}").format(_type(schema["additionalProperties"]))
    if kind == "object" and schema.get("properties"):
        names = (Markup("<code>{}</code> {}").format(name, _type(one)) for name, one in schema["properties"].items())
        return Markup("{{{}}}").format(Markup(", ").join(names))
    words = {"array": "list", "string": schema.get("format", "text"), "integer": "whole number"}
    return escape(words.get(kind, kind))


def _word(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _at(document: Document, node: Document) -> Document:
    """The node, or what its reference stands for."""
    while "$ref" in node:
        node = at_reference(document, node["$ref"])
    return node


def at_reference(document: Document, reference: str) -> Any:
    """What stands in the document at `#/…`."""
    found: Any = document
    for part in reference.removeprefix("#/").split("/"):
        found = found[part.replace("~1", "/").replace("~0", "~")]
    return found
