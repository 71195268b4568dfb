"""Turn blocks and verdicts of `registry.renderings` into the typeset parts that templates show."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from registry.renderings.sheet import Block, Heading, Lines
from registry.renderings.table import Table

if TYPE_CHECKING:
    from registry.pages.drawings import Whiskers
from registry.renderings.numbers import typeset
from registry.renderings.verdicts.estimate import Answer, Verdict

_AT_THE_RIGHT = ("interval",)


@dataclass(frozen=True, slots=True)
class Part:
    """A heading, a sentence, a list of notes, or a table with its sparks (one a row, or none)."""

    kind: str
    text: str = ""
    lines: Sequence[str] = ()
    heads: Sequence[tuple[str, bool]] = ()
    """Each column's heading, and whether it stands right."""
    rows: Sequence[Sequence[str]] = ()
    keys: int = 0
    over: str = ""
    sparks: Sequence[Any] = field(default=())
    forest: "Whiskers | None" = None
    """The difference of each row as a dot with a whisker."""
    links: Sequence[str] = ()
    """Where the first cell of each row leads, or none."""


def sections_of(parts: Sequence[Part], first: str) -> list[tuple[str, list[Part]]]:
    """The parts below each heading, with the heading; `first` is that of what stands before all of them."""
    found: list[tuple[str, list[Part]]] = [(first, [])]
    for part in parts:
        if part.kind == "heading":
            found.append((part.text, []))
        else:
            found[-1][1].append(part)
    return [(heading, listed) for heading, listed in found if listed]


def parts_of(blocks: Iterable[Block]) -> list[Part]:
    """The blocks of a page below its title."""
    return [_part(block) for block in blocks if not (isinstance(block, Heading) and block.level == 1)]


def _part(block: Block) -> Part:
    if isinstance(block, Table):
        return table_part(block)
    if isinstance(block, Heading):
        return Part("heading", block.text)
    if isinstance(block, Lines):
        return Part("lines", lines=[typeset(line) for line in block.lines])
    return Part("text", typeset(block))


def table_part(table: Table, keys: int = 1, sparks: Sequence[Any] = ()) -> Part:
    """A table whose first columns name its rows."""
    right = [column.numeric or column.name.endswith(_AT_THE_RIGHT) for column in table.columns]
    rows = [
        [typeset(" ".join(cell.split()).replace("[ ", "[")) if right[place] else cell for place, cell in enumerate(row)]
        for row in table.rows
    ]
    heads = [(column.name, right[place]) for place, column in enumerate(table.columns)]
    return Part("table", heads=heads, rows=rows, keys=table.keys or keys, over=table.over, sparks=sparks)


_LABELS: dict[Answer, str] = {
    "shown": "shown",
    "absent": "shown to be equal",
    "open": "left open",
    "none": "no answer",
    "value": "measured",
    "pending": "being computed",
}


@dataclass(frozen=True, slots=True)
class ShownVerdict:
    """A verdict with its label, typeset; `about` says what it answers where a page has several."""

    answer: Answer
    label: str
    sentence: str
    more: tuple[str, ...]
    about: str = ""
    left_out: tuple[str, ...] = ()


def shown(verdict: Verdict, about: str = "") -> ShownVerdict:
    """The verdict as a template takes it."""
    more = tuple(map(typeset, verdict.more))
    label = f"shown for these {verdict.only}" if verdict.only else _LABELS[verdict.answer]
    answer = "open" if verdict.only else verdict.answer
    return ShownVerdict(answer, label, typeset(verdict.sentence), more, about, verdict.left_out)


def with_first(part: Part, keys: int, names: Collection[str]) -> Part:
    """A table in which these columns follow its first ones: what a narrow screen shows."""
    order = sorted(range(len(part.heads)), key=lambda place: place >= keys and part.heads[place][0] not in names)
    return replace(
        part, heads=[part.heads[place] for place in order], rows=[[row[place] for place in order] for row in part.rows]
    )
