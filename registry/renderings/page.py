"""A page of headings, paragraphs and tables as HTML: whole, without style, script or anything from elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

from registry.renderings.sheet import Block, Heading, Lines
from registry.renderings.table import Table
from registry.renderings.width import one_line


def html(blocks: Iterable[Block]) -> str:
    """The page; its first heading is its title."""
    found = list(blocks)
    title = next((block.text for block in found if isinstance(block, Heading)), "Report")
    body = "\n".join(part for block in found for part in _parts(block))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_safe(title)}</title>\n</head>\n<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _safe(text: str) -> str:
    return escape(one_line(text))


def _parts(block: Block) -> Iterator[str]:
    if isinstance(block, Heading):
        yield f"<h{block.level}>{_safe(block.text)}</h{block.level}>"
    elif isinstance(block, Lines):
        yield "<ul>"
        yield from (f"<li>{_safe(line)}</li>" for line in block.lines)
        yield "</ul>"
    elif isinstance(block, Table):
        raise TypeError("a report is written in sentences")
    else:
        yield f"<p>{_safe(block)}</p>"
