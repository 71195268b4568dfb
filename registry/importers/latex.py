r"""LaTeX: each `tabular` of a file, read like a table of Markdown.

Cells are separated by `&`, rows end with `\\`. Rules, colours, references and commands for emphasis are removed: `$70.1
\pm 0.3$` is 70.1. A cell over several columns or rows (`\multicolumn{3}`, `\multirow`) is refused, because only its
position in the drawn table tells its levels.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from registry.errors import Fault, Invalid
from registry.importers.cell_text import Report, Row, Table
from registry.importers.imported_grid import ImportedGrid, Overrides, Place
from registry.importers.markup import apart, listed
from registry.importers.source import Source
from registry.importers.tables import read_table

NAME = "latex"
_BEGIN = re.compile(r"\\begin\{(tabular[x*]?|longtable)\}")
_COMMENT = re.compile(r"(?<!\\)%[^\n]*")
_RULES = re.compile(
    r"\\(?:hline|toprule|midrule|bottomrule|centering|small|footnotesize|endhead|endfoot|addlinespace(?:\[[^\]]{0,40}\])?"
    r"|c(?:mid)?rule(?:\([^()]{0,40}\))?\{[^{}]{0,80}\}|cline\{[^{}]{0,80}\}|rowcolor(?:\[[^\]]{0,40}\])?\{[^{}]{0,80}\})"
)
_NOTHING = re.compile(rf"(?:\s|{_RULES.pattern})*")
_AWAY = re.compile(r"\\(?:cite[a-z]*|footnote|label|ref|cellcolor|vspace|hspace)\*?(?:\[[^\]]*\])*\{[^{}]*\}")
_KEPT = re.compile(
    r"\\(?:text(?!superscript|subscript)[a-z]*|emph|underline|uline|math[a-z]*|bm|boldsymbol|mbox|makecell|textcolor\{[^{}]*\})\s*\{([^{}]*)\}"
)
_SWITCH = re.compile(r"\\(?:bf|it|bfseries|itshape|em|sc|tt|rm)\b\s*")
_ONE = re.compile(r"\\multicolumn\{1\}\{[^{}]*\}\{([^{}]*)\}")
_SPANS = re.compile(r"\\(multicolumn|multirow)\b")
_RAISED = re.compile(r"(?:(?<!\\)[\^_]|\\text(?:super|sub)script)\s*(?:\{([^{}]*)\}|(?<=\d[\^_])(\d))")
_BRACES = re.compile(r"[{}]+")
_WORDS = {r"\pm": "±", r"\times": "×", r"\%": "%", r"\_": "_", r"\&": "&", r"\#": "#", r"\$": "$", "~": " ",
          r"\,": " ", r"\;": " ", r"\!": "", r"\dagger": "†", r"\ddagger": "‡", r"\uparrow": "↑",
          r"\downarrow": "↓", r"\quad": " ", "---": "—", "--": "–"}  # fmt: skip
_NESTED = 8
"""Depth of nested commands that are removed."""
_ROW_ENDS = re.compile(r"\\\\\*?(?:\[[^\]]*\])?|\\tabularnewline")
_CELL_ENDS = re.compile(r"(?<!\\)&")
_DOLLAR = re.compile(r"(?<!\\)\$+")


def looks_like(source: Source) -> bool:
    return any(word in source.head for word in (b"\\begin{tabular", b"\\begin{longtable}", b"\\documentclass"))


def read(source: Source, wanted: Overrides) -> Iterator[ImportedGrid]:
    """Grids of every table; `Invalid` at the end for those that could not be read."""
    text = _COMMENT.sub("", source.text)
    faults: list[Fault] = []
    for kind, line, body in _tables(text):
        try:
            yield from _table(body, line, kind, wanted)
        except Invalid as error:
            faults += error.faults
    if faults:
        raise Invalid(faults)


def _tables(text: str) -> Iterator[tuple[str, int, str]]:
    """Kind, line and content of each table; one that does not end is `Invalid`."""
    at, line = 0, 1
    while begin := _BEGIN.search(text, at):
        line += text.count("\n", at, begin.end())
        at = text.find(rf"\end{{{begin[1]}}}", begin.end())
        if at < 0:
            raise Invalid([Fault(Place(line).pointer(), f"the {begin[1]} that begins here does not end")])
        yield begin[1], line, text[begin.end() : at]
        line += text.count("\n", begin.end(), at)


def _table(body: str, line: int, kind: str, wanted: Overrides) -> Iterator[ImportedGrid]:
    report = Report(lenient=True, marked=True)
    start = _behind_columns(body, arguments=2 if kind in ("tabularx", "tabular*") else 1)
    rows = list(_rows(body[start:], line + body.count("\n", 0, start), report))
    report.stop_at_faults()
    if not rows:
        raise Invalid([Fault(Place(line).pointer(), "the table is empty")])
    (first, header), *others = rows
    names = {"metric": wanted.metric} if wanted.metric else {}
    for sheet in read_table(Table(header, others, first, names), wanted, report):
        yield sheet.found(wanted)


def _behind_columns(body: str, arguments: int) -> int:
    """Index behind the arguments for the width of the table and the alignment of its columns."""
    at = len(body) - len(body.lstrip())
    if body[at : at + 1] == "[":
        at = body.find("]", at) + 1
    for _ in range(arguments):
        depth = 0
        for place in range(at, len(body)):
            depth += {"{": 1, "}": -1}.get(body[place], 0)
            if depth == 0 and body[place] == "}":
                at = place + 1
                break
    return at


def _rows(body: str, line: int, report: Report) -> Iterator[Row]:
    at = 0
    for end in [*_ROW_ENDS.finditer(body), None]:
        part = body[at : end.start() if end else len(body)]
        begin = _NOTHING.match(part)
        number = line + part.count("\n", 0, begin.end() if begin else 0)
        line += body.count("\n", at, end.end() if end else len(body))
        bare = _RULES.sub(" ", part)
        at = end.end() if end else len(body)
        if not bare.strip():
            continue
        bare = _ONE.sub(r"\1", bare)
        if span := _SPANS.search(bare):
            report.fault(Place(number), f"a cell over several columns or rows (\\{span[1]}) is not read")
            continue
        first, *others = _CELL_ENDS.split(bare)
        yield number, [listed(_plain(first)), *map(_plain, others)]


def _plain(cell: str) -> str:
    text = apart(_DOLLAR, apart(_AWAY, apart(_SWITCH, cell)))
    for _ in range(_NESTED):
        text = _RAISED.sub(_beside, _KEPT.sub(_inner, text))
    for word, sign in _WORDS.items():
        text = text.replace(word, sign)
    return " ".join(apart(_BRACES, text).split())


def _inner(match: re.Match[str]) -> str:
    """Argument of a command, apart from digits at its sides if it is one too."""
    text, start, end = match.string, match.start(), match.end()
    before, after = text[max(start - 1, 0) : start], text[end : end + 1]
    left = " " if before.isdigit() and match[1][:1].isdigit() else ""
    right = " " if (after.isdigit() or after == "\\") and match[1][-1:].isdigit() else ""
    return f"{left}{match[1]}{right}"


def _beside(match: re.Match[str]) -> str:
    """Raised or lowered text; in brackets at a number, if it is a number itself and no spread."""
    inner = (match[1] if match[1] is not None else match[2]).strip()
    noted = match.string[max(match.start() - 2, 0) : match.start()].rstrip(" }")[-1:].isdigit() and any(
        map(str.isdigit, inner)
    )
    return f" [{inner}]" if noted and not inner.startswith(("\\pm", "±", "+")) else f" {inner}"
