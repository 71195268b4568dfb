"""flask-smorest as the registry uses it: strict arguments, problems for errors, hand-written answers in the spec."""

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from typing import Any

import flask_smorest
from apispec.ext.marshmallow import MarshmallowPlugin
from flask import Flask
from marshmallow import INCLUDE, Schema

from registry.api import examples
from registry.api.arguments import Parser
from registry.api.fields import bodies, own_fields, shape_of
from registry.api.problems import KINDS, http_error
from registry.api.responses import MEDIA, check_acceptable
from registry.api.shapes import COMPONENTS, HEADERS, PARAMETERS, limited
from results_registry import __version__

API_PREFIX = "/api/v1"


class Blueprint(flask_smorest.Blueprint):  # type: ignore[misc]
    """A resource: `arguments` of flask-smorest, and `answers` to describe what it sends."""

    ARGUMENTS_PARSER = Parser()

    def __init__(self, name: str, description: str, prefix: str = API_PREFIX) -> None:
        super().__init__(name, __name__, url_prefix=prefix, description=description)

    def arguments(self, schema: type[Schema], **options: Any) -> Callable[..., Any]:
        """Override flask-smorest's, with one schema object for all requests: making one costs more than using it."""
        described: Callable[..., Any] = super().arguments(schema(), **options)
        return described

    def route(self, rule: str, *, operation: str, writes: bool | None = None, **options: Any) -> Callable[..., Any]:
        """Override flask-smorest's: with the operation's id, no query if the view takes none, and what all writes say.

        A view of another method than GET writes, if it is not said that it does not.
        """
        stores = options["methods"] != ["GET"] if writes is None else writes
        add = super().route(rule, **options)

        def decorate(view: Any) -> Any:
            given = view._apidoc["arguments"]["parameters"]
            sent = [one["in"] for one in given if isinstance(one, Mapping)]
            has_body = "json" in sent or "requestBody" in view._apidoc["manual_doc"]
            errors = {400, 415} if has_body else set()
            errors |= ({409} if stores else set()) | ({412} if "If-Match" in given else set())
            if stores:
                given.insert(0, "Idempotency-Key")
            if not sent:
                view = self.arguments(Schema, location="query", as_kwargs=True)(view)
            responses = {status: ERRORS[status] for status in sorted(errors)}
            return add(self.doc(operationId=operation, responses=responses)(view))

        return decorate

    def answers(
        self,
        *described: dict[str, Any],
        errors: Iterable[int] = (),
        public: bool = False,
        parameters: Sequence[str] = (),
        **doc: Any,
    ) -> Callable[..., Any]:
        """Describe the answers of a view, which are the forms that `Accept` may choose from, and the shared parameters.

        `public`: those of a public project are given without a token.
        """
        responses: dict[int | str, Any] = {}
        for one in described:
            shared = None if "content" in one["response"] else _SHARED.get(one["status"])
            responses[one["status"]] = shared or one["response"]
        responses |= {status: ERRORS[status] for status in sorted({*errors, 401, 403, 404, 422, 429, 503})}
        responses["default"] = "Error"
        responses |= {304: _SHARED[304]} if "If-None-Match" in parameters else {}
        security: list[dict[str, Any]] = [{"bearer": []}, *([{}] if public else [])]

        media = list(responses.get(200, {}).get("content", ()))

        def decorate(view: Callable[..., Any]) -> Callable[..., Any]:
            @wraps(view)
            def answer(*sent: Any, **path: Any) -> Any:
                check_acceptable(media)
                return view(*sent, **path)

            described_view: Any = self.doc(responses=responses, security=security, **doc)(answer)
            described_view._apidoc.setdefault("arguments", {}).setdefault("parameters", []).extend(parameters)
            return described_view  # type: ignore[no-any-return]

        return decorate

    def in_forms(
        self,
        rule: str,
        operation: str,
        forms: Sequence[str],
        schema: type[Schema],
        told: str,
        shape: str | Mapping[str, Any] | None = None,
        **more: Any,
    ) -> Callable[..., Any]:
        """Decorate a view that reads something in several forms: at its path, and at this with the suffix of a form.

        `more` may have `suffixes`, where not all forms have one; `computed`, where the answer may be pending or have
        failed; and what `reply` and `answers` take. With the parameter `Range` ranges are answered.
        """
        parameters, errors = [*more.get("parameters", ()), "If-None-Match"], [*more.get("errors", ())]
        headers, others = ["ETag", *more.get("headers", ())], []
        known, whole = more.get("example"), shape
        if more.get("computed"):
            parameters, others = [*parameters, "Prefer"], [reply(202, "")]
            if isinstance(shape, str):
                known, whole = snake(shape), ready(shape)
        if "Range" in parameters:
            errors, headers, others = [*errors, 416, 501], [*headers, "Accept-Ranges"], [reply(206, "")]
        answer = reply(200, told, whole, example=known, forms=forms, headers=headers)
        described = self.answers(answer, *others, errors=errors, public=True, parameters=parameters)
        twin = f"{rule}.<any({','.join(more.get('suffixes', forms))}):suffix>"
        unknown = INCLUDE if {"slice", "labels"} & {*parameters} else None

        def decorate(view: Callable[..., Any]) -> Callable[..., Any]:
            answered = described(view)
            for path, name, endpoint in ((rule, "", ""), (twin, "As", "_as")):
                sent = self.arguments(schema, location="query", unknown=unknown)(answered)
                self.get(path, endpoint=f"{view.__name__}{endpoint}", operation=f"{operation}{name}")(sent)
            return view

        return decorate


ERRORS = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    409: "Conflict",
    410: "Gone",
    412: "PreconditionFailed",
    413: "ContentTooLarge",
    415: "UnsupportedMediaType",
    416: "RangeNotSatisfiable",
    422: "Invalid",
    429: "TooManyRequests",
    501: "NotImplemented",
    503: "ServiceUnavailable",
}
"""The component of each error that operations name; every other one is `Error`."""
_HEADERS = {401: ["WWW-Authenticate"], 429: ["Retry-After"], 503: ["Retry-After"]}
_PROBLEM = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
_ANY_ERROR = (
    "Any other error. 400: the body is not what its content type says. 401: no token where one is needed, or a bad one."
    " 403: the token's role does not allow this. 404: it is not there, or not for this caller. 406: there is no form"
    " that `Accept` allows. 413: over a limit. 415: another content type is needed. 416: the range lies beyond the end."
    " 422: a parameter or a field is wrong; `errors` say which. 429: more than the limits allow, repeat after"
    " `Retry-After`. 501: this server was installed without what it needs. 503: the database is away, or too much comes"
    " at once; repeat after `Retry-After`. 5xx: a defect of the server."
)
_SHARED = {202: "Pending", 206: "PartialContent", 304: "NotModified"}
"""The component of each answer that operations describe without a content of their own."""


def _errors() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {"Error": {"description": _ANY_ERROR, "content": _PROBLEM}}
    for status, name in ERRORS.items():
        meanings = [kind.meaning for kind in KINDS.values() if kind.status == status and kind is not KINDS["error"]]
        headers = {header: {"$ref": f"#/components/headers/{header}"} for header in _HEADERS.get(status, [])}
        found[name] = {"description": " Or: ".join(meanings), "content": _PROBLEM}
        if headers:
            found[name]["headers"] = headers
    return found


def snake(name: str) -> str:
    """The name of a component as examples are kept by it."""
    return re.sub("(?<!^)(?=[A-Z])", "_", name).lower()


def reply(
    status: int,
    description: str,
    shape: str | Mapping[str, Any] | None = None,
    *,
    example: Any = None,
    forms: Iterable[str] = (),
    headers: Iterable[str] = (),
) -> dict[str, Any]:
    """One answer of a view: a component's name or a JSON schema, an example, and the forms that it has besides JSON.

    The example is the name of a recorded answer, or what it is; by itself the answer that is called like the shape.
    """
    response: dict[str, Any] = {"description": description}
    known = example or (snake(shape) if isinstance(shape, str) else "")
    if shape is not None:
        schema = {"$ref": f"#/components/schemas/{shape}"} if isinstance(shape, str) else dict(shape)
        told = examples.answer(known) if isinstance(known, str) else known
        response["content"] = {"application/json": {"schema": schema, "example": told}}
    for form in forms:
        if form != "json":
            text = {"example": examples.answer(known, form)} if form in _TEXTS else {}
            media = MEDIA[form].partition(";")[0]
            response.setdefault("content", {})[media] = {"schema": _SCHEMAS.get(form, _TEXT), **text}
    if headers:
        response["headers"] = {name: {"$ref": f"#/components/headers/{name}"} for name in headers}
    return {"status": status, "response": response}


_TEXTS = ("txt", "md", "csv", "tex", "ndjson", "sse")
_TEXT, _BYTES = {"type": "string"}, {"type": "string", "format": "binary"}
_SCHEMAS: dict[str, dict[str, Any]] = {
    **dict.fromkeys(("svg", "png", "parquet", "arrow"), _BYTES),
    "vl.json": {"type": "object"},
    "schema": {"type": "object"},
    "cloudevents": {"type": "array", "items": {"type": "object"}},
}


def ready(name: str) -> dict[str, Any]:
    """The schema of a computed answer: the component of this name, or why it failed; `state` tells which."""
    either = {"ready": f"#/components/schemas/{name}", "failed": "#/components/schemas/Failed"}
    return {
        "oneOf": [{"$ref": one} for one in either.values()],
        "discriminator": {"propertyName": "state", "mapping": either},
    }


class Api(flask_smorest.Api):  # type: ignore[misc]
    """The document under construction, with the shapes, headers and parameters that operations refer to."""

    DEFAULT_ERROR_RESPONSE_NAME = None

    def __init__(self, app: Flask) -> None:
        app.config.update(API_TITLE="Results registry", API_VERSION=__version__, OPENAPI_VERSION="3.1.0")
        settings = app.extensions["registry"].settings
        info = {
            "description": DESCRIPTION,
            "contact": {"name": "Results registry", "url": f"{settings.url}/docs"},
            "license": {"name": "Apache License 2.0", "identifier": "Apache-2.0"},
        }
        told = {"info": info, "servers": [{"url": "/", "description": "The registry that serves this document."}]}
        super().__init__(app, spec_kwargs={"marshmallow_plugin": MarshmallowPlugin(), **told})
        for field, kind in own_fields():
            self.register_field(field, *kind)
        self.ma_plugin.converter.add_attribute_function(shape_of(settings))
        for sent in bodies():
            self.spec.components.schema(sent.__name__, {"description": inspect.getdoc(sent)}, schema=sent)
        for name, shape in (COMPONENTS | limited(settings)).items():
            self.spec.components.schema(name, shape)
        for name, answer in _errors().items():
            self.spec.components.response(name, answer)
        unchanged = reply(304, "What the caller has still holds.", headers=["ETag"])["response"]
        self.spec.components.response("NotModified", unchanged)
        ranged = reply(206, "The range of it that was asked for.", headers=["ETag", "Content-Range"])["response"]
        self.spec.components.response("PartialContent", ranged)
        pending = reply(
            202,
            "It is being computed: ask again at `Location` (a POST: as before), or wait with `Prefer: wait=10`. Other"
            " forms than JSON wait by themselves, and then are 503.",
            "Pending",
            headers=["Retry-After", "Location", "Preference-Applied"],
        )
        self.spec.components.response("Pending", pending["response"])
        for name, header in HEADERS.items():
            self.spec.components.header(name, header)
        for name, one in PARAMETERS.items():
            self.spec.components.parameter(name, one["in"], one)
        self.spec.components.security_scheme(
            "bearer", {"type": "http", "scheme": "bearer", "description": AUTHENTICATION}
        )

    def handle_http_exception(self, error: Any) -> Any:
        return http_error(error)


DESCRIPTION = """\
Grids of results in, statistics with their uncertainty out.

Training and evaluation jobs publish grids: a metric over zero to four axes, for one model on one benchmark. They are
kept as immutable revisions. Trends, changes, peaks, coverage and rankings are computed by workers and served as
finished documents, never for old inputs: while one is pending JSON is `202` (`Prefer: wait=10` waits), and other forms
wait by themselves, then are `503` with `Retry-After`.

Errors are `application/problem+json` (RFC 9457); a 422 names each place with a JSON pointer. A 5xx or a lost
connection means that the outcome is unknown: send the same request again. Publishing the same content twice makes
one revision, and an `Idempotency-Key` makes any write repeatable. Every answer has the id of its request in
`X-Request-Id`, which is the caller's own if it sent a UUID there; the log has it too.

Any release may add fields to answers, words to what a field may say (statuses, warning codes, kinds of problem), and
forms to resources; clients ignore fields and words that they do not know. What is described here is removed or changes
its meaning only with the next minor version before 1.0 (0.3), with the next major one after it, and CHANGELOG.md says
what to write instead.

Generators of clients read `/openapi.json?view=client`: the same resources with one media type an answer.
Labels and slices are objects of query parameters in the style `form`, exploded; openapi-fetch has to be told so by
`querySerializer: {object: {style: "form", explode: true}}`, and orval does not know them. Such an object has one text a
key: who repeats one (`at.Type=3&at.Type=4`, or two ranges of an axis) gives a function as `querySerializer`.
"""

AUTHENTICATION = """\
A token of the registry: `Authorization: Bearer <token>`. Clients that only know HTTP's Basic send the token as the
password with any user name, or as the user name with an empty password. What is public is read without a token.
"""
