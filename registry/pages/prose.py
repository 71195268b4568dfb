"""Descriptions as HTML: CommonMark with tables, and nothing in it that the page itself would not say.

HTML in the text is shown as text. Links lead to http, https, mailto and relative addresses; pictures become links to
them, because a page loads nothing from elsewhere. No attribute holds a style, and headings continue those of the page.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

_LINES, _LONGEST_BLOCK = 8, 14
"""Lines from which on a description is folded, at the end of a block, and those that its first block may have."""
_LINE = 90
"""Characters of a line."""
_MOST_HTML, _MOST_PLAIN = 30_000, 2_000
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_SAFE = ("http:", "https:", "mailto:")
_REL = "noopener noreferrer nofollow"
_BLOCKS = ("paragraph_open", "heading_open", "list_item_open", "blockquote_open", "th_open", "td_open")


def is_safe(address: str) -> bool:
    """Whether a link may lead there: http, https, mailto, or an address relative to the page."""
    scheme = _SCHEME.match(address.strip())
    return scheme is None or scheme[0].lower() in _SAFE


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.validateLink = is_safe  # type: ignore[method-assign,assignment]
    return parser


_PARSER = _parser()


@dataclass(frozen=True, slots=True)
class Prose:
    """A description as a page shows it: its beginning, and what is folded away."""

    shown: Markup
    folded: Markup
    is_cut: bool = False
    """Whether the page shows the beginning of the text only, and as it was written."""


@lru_cache(maxsize=256)
def prose_of(text: str) -> Prose:
    """HTML of a description. One that is all marks, so that its HTML would be many times as long, is shown as text."""
    tokens = list(_corrected(_PARSER.parse(text)))
    blocks = list(_blocks(tokens))
    shown, size = 0, 0
    for block in blocks:
        size += _height(block)
        if size > (_LINES if shown else _LONGEST_BLOCK):
            break
        shown += 1
    begin, rest = _html(blocks[:shown]), _html(blocks[shown:])
    if len(begin.encode()) + len(rest.encode()) > _MOST_HTML:
        return Prose(Markup("<p>{}</p>").format(text[:_MOST_PLAIN]), Markup(), is_cut=len(text) > _MOST_PLAIN)
    return Prose(begin, rest)


def _height(block: Sequence[Token]) -> int:
    """Lines that a block takes, about: those of its text as it was written, or as many as its characters fill."""
    first, end = block[0].map or (0, 1)
    return max(end - first, math.ceil(sum(len(token.content) for token in block) / _LINE))


def _html(blocks: Sequence[Sequence[Token]]) -> Markup:
    tokens = [token for block in blocks for token in block]
    return Markup(_PARSER.renderer.render(tokens, _PARSER.options, {}))  # noqa: S704 (html=False: the parser escapes)


def _blocks(tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """Tokens by their outermost block."""
    block: list[Token] = []
    depth = 0
    for token in tokens:
        block.append(token)
        depth += token.nesting
        if depth == 0:
            yield block
            block = []


def _corrected(tokens: Sequence[Token]) -> Iterator[Token]:
    """Tokens of blocks as a page may have them."""
    level = 1
    for place, token in enumerate(tokens):
        if token.type in ("heading_open", "th_open"):
            is_empty = not tokens[place + 1].content.strip()
            if token.type == "heading_open" and not is_empty:
                level = min(int(token.tag[1]) + 1, level + 1, 6)
            token.tag = tokens[place + 2].tag = _tag(token, level, is_empty=is_empty)
        if token.type in _BLOCKS:
            _set_direction(token)
        if token.children is not None:
            token.children = list(_inline(token.children))
        yield token


def _tag(token: Token, level: int, *, is_empty: bool) -> str:
    """Tag of a heading at this level, or of a cell that heads a column; one without a text heads nothing."""
    if token.type == "heading_open":
        return "p" if is_empty else f"h{level}"
    return "td" if is_empty else "th"


def _set_direction(token: Token) -> None:
    """Let each block run in the direction of its own text; columns of numbers say by a class that they are."""
    aligned = token.attrs.pop("style", "")
    if aligned == "text-align:right":
        token.attrs["class"] = "num"
    token.attrs["dir"] = "auto"


def _inline(tokens: Sequence[Token]) -> Iterator[Token]:
    """Tokens inside a block: links with `rel`, pictures as links, no link without a text."""
    inside = False
    for place, token in enumerate(tokens):
        if token.type == "image":
            yield from _linked(token, inside=inside)
            continue
        if token.type == "link_open":
            inside = True
            token.attrs["rel"] = _REL
        yield token
        if token.type == "link_open" and tokens[place + 1].type == "link_close":
            yield _text(str(token.attrs["href"]))
        inside = inside and token.type != "link_close"


def _linked(image: Token, *, inside: bool) -> Iterator[Token]:
    """A picture as a link to it; inside another link, its text."""
    address = str(image.attrs["src"])
    text = _text(image.content or address)
    if inside:
        yield text
        return
    yield Token("link_open", "a", 1, attrs={"href": address, "rel": _REL})
    yield text
    yield Token("link_close", "a", -1)


def _text(content: str) -> Token:
    return Token("text", "", 0, content=content)
