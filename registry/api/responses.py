"""How every view answers: content negotiation, entity tags and 304, `Prefer: wait`, turns for large answers.

`wanted_form` picks the form, `send` answers with its tag or 304, `patience` says how long a caller waits. Those of
pages are in `pages/responses.py`.
"""

import gzip
import re
import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import orjson
from flask import Response, after_this_request, g, request

from registry.api.request_policy import UNCOUNTED
from registry.errors import NotAcceptable, TooLarge, TooManyRequests
from registry.results.codec import Result, from_bytes, from_document, is_served

MEDIA = {
    "json": "application/json",
    "txt": "text/plain; charset=utf-8",
    "md": "text/markdown; charset=utf-8",
    "csv": "text/csv; charset=utf-8",
    "tex": "text/x-tex; charset=utf-8",
    "ndjson": "application/x-ndjson",
    "html": "text/html; charset=utf-8",
    "svg": "image/svg+xml",
    "png": "image/png",
    "vl.json": "application/vnd.vegalite.v6+json",
    "parquet": "application/vnd.apache.parquet",
    "arrow": "application/vnd.apache.arrow.file",
    "cloudevents": "application/cloudevents-batch+json; charset=utf-8",
    "sse": "text/event-stream; charset=utf-8",
    "schema": "application/schema+json",
}
_BY_TYPE = {media.split(";")[0]: form for form, media in MEDIA.items()}
_COMPRESSED_FROM = 1024
_PACKED = ("png", "parquet")
_DIGITS = re.compile("[0-9]+")
LARGE_TABLE = 20_000
"""Cells that a grid written as text or Markdown has at most: names and protocols make each of them long."""
HELD = 8 * 1024 * 1024
"""Bytes of an answer that was made whole from which on it counts as being worked on until it is sent."""
_large_answers = threading.BoundedSemaphore(2)
"""So many of these are on their way at once from a process: slow readers of them leave places for others."""
_TURN = 0.5
"""Seconds that one waits for its turn."""
_WAIT_DIGITS = 9
"""A wait of more digits than this is as long as any; Python reads no number of thousands of digits."""
_TAG = re.compile(r'(?:W/)?"([^"]*)"')


def dumps(value: Any) -> bytes:
    """JSON bytes of a value that holds no NaN (orjson would write it as null without a word)."""
    return orjson.dumps(value, option=orjson.OPT_UTC_Z)


def wanted_form(suffix: str | None, offered: Sequence[str]) -> str:
    """The form to answer in: the path's suffix beats Accept beats JSON."""
    if suffix is not None:
        return suffix
    if "Accept" not in request.headers:
        return offered[0]
    types = [MEDIA[form].split(";")[0] for form in offered]
    return _BY_TYPE[request.accept_mimetypes.best_match(types, default=types[0])]


def check_acceptable(media: Sequence[str]) -> None:
    """`NotAcceptable` where `Accept` allows none of these media types; a path that names a form (`.csv`) has chosen."""
    chosen = request.path in UNCOUNTED or "." in str(request.url_rule)
    if chosen or not media or not request.accept_mimetypes or request.method not in ("GET", "HEAD"):
        return
    if request.accept_mimetypes.best_match(media) is None:
        raise NotAcceptable(f"Accept allows none of the forms that there are: {', '.join(media)}.")


def known_tags(header: str = "If-None-Match") -> tuple[str, ...]:
    """The entity tags in a conditional header, without quotes and weakness marks; `*` stands for itself."""
    given = request.headers.get(header, "")
    return ("*",) if given.strip() == "*" else tuple(_TAG.findall(given))


def expected_tags() -> tuple[str, ...] | None:
    """The entity tags that `If-Match` allows; None when there is no such header."""
    return known_tags("If-Match") if "If-Match" in request.headers else None


def expected_revisions() -> tuple[str, ...] | None:
    """The revision tags that `If-Match` allows; None when there is no such header.

    A grid's ETag begins with `<revision>-<digest>`; a write depends on the revision and its digest only.
    """
    if "If-Match" not in request.headers:
        return None
    return tuple("-".join(tag.split(".")[0].split("-")[:2]) for tag in known_tags("If-Match"))


def expected_notes() -> tuple[tuple[str, str], ...] | None:
    """Pairs of a revision tag and a description tag that `If-Match` allows; None when it allows any.

    A grid's ETag is `<revision>-<digest>-<state>[-<description>][.<form>]`.
    """
    if "If-Match" not in request.headers or "*" in known_tags("If-Match"):
        return None
    found = [tag.split(".")[0].split("-") for tag in known_tags("If-Match")]
    return tuple(("-".join(parts[:2]), "-".join(parts[3:])) for parts in found)


def tagged(base: str, form: str) -> str:
    """The entity tag of one form of a stored thing."""
    return base if form == "json" else f"{base}.{form}"


def not_modified(tag: str) -> bool:
    """Return whether `If-None-Match` names this tag, so that `send` answers 304 whatever its body."""
    tags = known_tags()
    return "*" in tags or tag in tags


def send(
    body: bytes | str, *, form: str = "json", status: int = 200, tag: str | None = None, **headers: str
) -> Response:
    """The response, `304` when the caller has this tag already, compressed when it may be and is worth it."""
    if tag is not None and status == 200 and not_modified(tag):
        return common(Response(status=304), tag)
    data = body.encode() if isinstance(body, str) else body
    response = Response(data, status, content_type=MEDIA[form])
    for name, value in headers.items():
        response.headers[name.replace("_", "-")] = value
    if len(data) >= _COMPRESSED_FROM and not packed(form) and accepts_gzip():
        # A large page is a quarter smaller at level 6, for 5 ms; documents are large too, but read by programs.
        response.set_data(gzip.compress(data, compresslevel=6 if form == "html" else 1, mtime=0))
        response.headers["Content-Encoding"] = "gzip"
    if (response.content_length or 0) > HELD:
        take_turn()
    return common(response, tag)


def take_turn(places: threading.BoundedSemaphore = _large_answers) -> None:
    """Have this request be one of few with such an answer until that was sent; `TooManyRequests` where there are as
    many."""
    if "takes_turn" in g:
        return
    if not places.acquire(timeout=_TURN):
        raise TooManyRequests("Other large answers are being sent. Ask again in a moment.", 2, "large_answers")
    g.takes_turn = True

    @after_this_request
    def release(response: Response) -> Response:
        response.call_on_close(places.release)
        return response


def send_stored(document: bytes | memoryview | None, tag: str) -> Response:
    """A stored JSON document: its very bytes to callers who take gzip, if they are that.

    None stands for the document that the caller has already.
    """
    if document is None or not_modified(tag):
        return common(Response(status=304), tag)
    if not is_served(document):
        return json_answer(from_bytes(document), tag=tag)
    compressed = accepts_gzip()
    response = Response(bytes(document) if compressed else gzip.decompress(document), content_type=MEDIA["json"])
    if compressed:
        response.headers["Content-Encoding"] = "gzip"
    return common(response, tag)


def packed(form: str) -> bool:
    """Return whether gzip would not make this form smaller."""
    return form in _PACKED


def accepts_gzip() -> bool:
    """Return whether the caller takes a compressed answer."""
    return "gzip" in request.headers.get("Accept-Encoding", "") and request.accept_encodings["gzip"] > 0


def common(response: Response, tag: str | None) -> Response:
    """The response with the headers that every conditional answer has."""
    response.headers["Vary"] = "Accept, Accept-Encoding, Authorization"
    if tag is not None:
        # Weak: the same tag serves the plain and the compressed bytes.
        response.headers["ETag"] = f'W/"{tag}"' if "Content-Encoding" in response.headers else f'"{tag}"'
        # Of a revision too, which never changes: it may be deleted, and who reads it shut out.
        response.headers["Cache-Control"] = "private, no-cache"
    return response


def json_answer(value: Any, *, status: int = 200, tag: str | None = None, **headers: str) -> Response:
    return send(dumps(value), status=status, tag=tag, **headers)


def check_legible(form: str, cells: int) -> None:
    """`TooLarge` for text and Markdown of more cells than anybody reads."""
    if form in ("txt", "md") and cells > LARGE_TABLE:
        limit = f"Text and Markdown have at most {LARGE_TABLE:,} cells, and these are {cells:,}."
        raise TooLarge(f"{limit} Ask for .csv, or for a slice (at.<axis>=<level>).")


def rendered(
    form: str, value: Any, renderers: Mapping[str, Callable[[Any], str | bytes]], tag: str | None = None
) -> Response:
    """A value as JSON or through the renderer of the form."""
    own = None if tag is None else tagged(tag, form)
    if own is not None and not_modified(own):
        return common(Response(status=304), own)
    if form == "json":
        return send(dumps(value), form=form, tag=own)
    return send(renderers[form](value), form=form, tag=own)


def of_values(
    kind: type[Result],
    renderers: Mapping[str, Callable[[Result], str | bytes]],
    unread: Mapping[str, Collection[str]] | None = None,
) -> Mapping[str, Callable[[Any], str | bytes]]:
    """Renderers of JSON documents, from those of the values that the documents say; `unread` are the parts that a form
    does without."""

    def of_value(render: Callable[[Result], str | bytes], without: Collection[str]) -> Callable[[Any], str | bytes]:
        return lambda document: render(
            from_document(kind, {name: part for name, part in document.items() if name not in without})
        )

    return {form: of_value(render, (unread or {}).get(form, ())) for form, render in renderers.items()}


def patience(most: int) -> int | None:
    """Seconds that the caller will wait (`Prefer: wait=N`), at most `most`; None when it did not say."""
    for preference in request.headers.get("Prefer", "").split(","):
        name, _, value = preference.strip().partition("=")
        digits = value.strip('"')
        if name.lower() == "wait" and _DIGITS.fullmatch(digits):
            return min(int(digits[-_WAIT_DIGITS:]), most) if len(digits.lstrip("0")) <= _WAIT_DIGITS else most
    return None
