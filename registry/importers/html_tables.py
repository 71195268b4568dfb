"""Import HTML: the tables of a page, each read as a pipe table of Markdown is, below the headings above it.

A cell that spans columns stands in each of them, one that spans rows in each of those. Rows with more or fewer cells
than the heading of their table, such as a second heading, are faults there. Tables in tables are left out.
"""

from collections.abc import Iterator
from html.parser import HTMLParser

from registry.importers.imported_grid import ImportedGrid, Overrides
from registry.importers.markdown import Document
from registry.importers.markup import WIDEST, Block
from registry.importers.source import Source

NAME = "html"
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6", "caption")
_SILENT = ("script", "style", "template")


def looks_like(source: Source) -> bool:
    """Tell whether this begins like a page and its beginning holds a table."""
    return source.head.lstrip()[:1] == b"<" and b"<table" in source.head.lower()


def read(source: Source, wanted: Overrides) -> Iterator[ImportedGrid]:
    """Grids of the tables of a page, in their order."""
    page = _Tables()
    page.feed(source.text)
    page.close()
    yield from Document(page.found, "", wanted).grids()


class _Tables(HTMLParser):
    """The headings and tables of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[Block] = []
        self._depth = self._silent = 0
        self._rows: list[tuple[int, list[str]]] = []
        self._spans: dict[int, tuple[int, str]] = {}
        self._cell: tuple[int, int] | None = None
        self._heading = ""
        self._text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self._silent += tag in _SILENT
        if tag == "table":
            self._depth += 1
            if self._depth == 1:
                self._rows, self._spans = [], {}
        elif tag == "tr" and self._depth == 1:
            self._end_of_cell()
            self._rows.append((self.getpos()[0], []))
        elif tag in ("td", "th") and self._depth == 1 and self._rows:
            self._end_of_cell()
            self._cell, self._text = (_span(given.get("colspan")), _span(given.get("rowspan"))), []
        elif tag in _HEADINGS and self._cell is None:
            self._heading, self._text = tag, []
        elif self._cell is not None and self._depth == 1:
            self._text.append(f"<{tag}>")  # as Markdown has it: a raised number is not joined to the one before

    def handle_endtag(self, tag: str) -> None:
        self._silent -= tag in _SILENT and self._silent > 0
        if tag in ("td", "th", "tr") and self._depth == 1:
            self._end_of_cell()
        elif tag == "table" and self._depth:
            self._depth -= 1
            if not self._depth and len(self._rows) > 1:
                rows = tuple((line, tuple(cells)) for line, cells in self._rows if cells)
                self.found.append(Block("table", self.getpos()[0], "", rows=rows))
        elif tag == self._heading:
            level = int(tag[1]) if tag[1:].isdecimal() else 6
            self.found.append(Block("heading", self.getpos()[0], _plain(self._text), level))
            self._heading = ""
        elif self._cell is not None and self._depth == 1:
            self._text.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        if not self._silent and self._depth < 2:
            self._text.append(data)

    def _end_of_cell(self) -> None:
        if self._cell is None:
            return
        (columns, rows), text = self._cell, _plain(self._text)
        self._cell, self._text = None, []
        row = self._rows[-1][1]
        self._from_above(row)
        for _ in range(min(columns, WIDEST - len(row))):
            if rows > 1:
                self._spans[len(row)] = rows - 1, text
            row.append(text)
        self._from_above(row)

    def _from_above(self, row: list[str]) -> None:
        """The cells of rows above that reach down to here."""
        while (left := self._spans.pop(len(row), None)) is not None:
            count, text = left
            if count > 1:
                self._spans[len(row)] = count - 1, text
            row.append(text)


def _span(given: str | None) -> int:
    return int(given) if given and given.isdecimal() and 0 < int(given) < WIDEST else 1


def _plain(text: list[str]) -> str:
    return " ".join("".join(text).split())
