"""A page of headings, paragraphs and tables, for a terminal, as Markdown, and its tables for LaTeX."""

import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from registry.renderings import table as tables
from registry.renderings.table import Table, display_width, one_line


@dataclass(frozen=True, slots=True)
class Heading:
    """A title (level 1) or the heading of a part."""

    text: str
    level: int = 2


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines that belong together."""

    lines: tuple[str, ...]


Block = Heading | Lines | Table | str
T = TypeVar("T")


def text(blocks: Iterable[Block]) -> str:
    """The page for a terminal: blocks with an empty line between them, a newline at the end."""
    return "\n".join(filter(None, map(_text, blocks)))


def _text(block: Block) -> str:
    if isinstance(block, Table):
        return tables.text(block)
    if isinstance(block, Heading):
        shown = one_line(block.text)
        return f"{shown}\n" if block.level > 2 else f"{shown}\n{'=-'[block.level - 1] * display_width(shown)}\n"
    lines = block.lines if isinstance(block, Lines) else (block,)
    return "".join(wrapped(one_line(line)) + "\n" for line in lines)


def wrapped(line: str) -> str:
    """A line broken between words where it is wider than a terminal."""
    if len(line) <= tables.WIDTH:
        return line
    return textwrap.fill(line, tables.WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def markdown(blocks: Iterable[Block]) -> str:
    """The page as Markdown."""
    return "\n".join(filter(None, map(_markdown, blocks)))


def latex(blocks: Iterable[Block]) -> str:
    """The tables of the page for LaTeX, and the rest of it as comments."""
    return "".join(map(_latex, blocks))


def forms(page: Callable[[T], Iterable[Block]]) -> dict[str, Callable[[T], str]]:
    """What writes such a page in each form."""
    return {
        "txt": lambda found: text(page(found)),
        "md": lambda found: markdown(page(found)),
        "tex": lambda found: latex(page(found)),
    }


def _latex(block: Block) -> str:
    if isinstance(block, Table):
        return tables.latex(block)
    lines = block.lines if isinstance(block, Lines) else (block.text if isinstance(block, Heading) else block,)
    return "".join(f"% {one_line(line)}\n" for line in lines)


def _markdown(block: Block) -> str:
    if isinstance(block, Table):
        return tables.markdown(block)
    if isinstance(block, Heading):
        return f"{'#' * block.level} {tables.escaped_heading(block.text)}\n"
    if isinstance(block, Lines):
        return "".join(f"* {tables.escaped_line(line)}\n" for line in block.lines)
    return tables.escaped_line(block) + "\n"
