"""Search by words: in any order, anywhere in the names, in upper or lower case.

Names are matched here and not in SQL: a project has few of them beside its grids, and the database's own comparison
without case knows only the letters of its locale.
"""

from __future__ import annotations

import unicodedata
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import orjson
from sqlalchemy import (
    ARRAY,
    ColumnElement,
    Connection,
    Text,
    and_,
    any_,
    cast,
    exists,
    func,
    literal,
    literal_column,
    or_,
    select,
)

from registry.storage.tables import aliases, grids, names, revisions

KINDS = ("experiment", "benchmark", "model", "variant", "metric")


@dataclass(frozen=True, slots=True)
class Searchable:
    """Names of a project that were ever published, each with the folded text in which its words are looked for."""

    texts: Mapping[str, Mapping[str, str]]

    def having(self, kind: str, words: Iterable[str]) -> list[str]:
        """Names of a kind that hold every word, sorted. A name and its aliases count as one text."""
        wanted = [folded(word) for word in words]
        return sorted(name for name, text in self.texts[kind].items() if all(word in text for word in wanted))


def folded(text: str) -> str:
    """Text by which words are compared: compatibility forms, without case."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def searchable(connection: Connection, project_id: uuid.UUID, kinds: Sequence[str] = KINDS) -> Searchable:
    """Names of these kinds, read with two statements."""
    here = select(names.c.kind, names.c.name).where(names.c.project_id == project_id, names.c.kind.in_(kinds))
    used = connection.execute(here.where(names.c.name != "")).all()
    joined = select(aliases.c.kind, aliases.c.alias, aliases.c.name).where(aliases.c.project_id == project_id)
    target = {(row.kind, row.alias): row.name for row in connection.execute(joined)}
    together: dict[tuple[str, str], set[str]] = {}
    for (kind, alias), name in target.items():
        together.setdefault((kind, name), {name}).add(alias)
    texts: dict[str, dict[str, str]] = {kind: {} for kind in kinds}
    for kind, name in used:
        group = together.get((kind, target.get((kind, name), name)), {name})
        texts[kind][name] = "\n".join(map(folded, sorted(group)))
    return Searchable(texts)


def grids_with(connection: Connection, project_id: uuid.UUID, words: Sequence[str]) -> list[ColumnElement[bool]]:
    """Conditions on `grids` and `revisions`: each word is in one of a grid's names, or in one of its labels."""
    if not words:
        return []
    known = searchable(connection, project_id)
    return [or_(*_in_names(known, word), label_has(word)) for word in words]


def _in_names(known: Searchable, word: str) -> list[ColumnElement[bool]]:
    found = ((kind, known.having(kind, [word])) for kind in KINDS)
    return [grids.c[kind] == any_(literal(having, ARRAY(Text))) for kind, having in found if having]


def label_has(word: str) -> ColumnElement[bool]:
    """Condition that a label holds this text, written as `<key>=<text>`."""
    entry = func.jsonb_each_text(revisions.c.labels).table_valued("key", "value").render_derived()
    some = exists(select(1).select_from(entry).where(holds(entry.c.key + "=" + entry.c.value, word)))
    return and_(labels_may_have(word), some)


def labels_may_have(word: str) -> ColumnElement[bool]:
    """Condition that every label that holds the word fulfils, and few others: one look instead of one a label."""
    written = cast(revisions.c.labels, Text)
    escaped = (orjson.dumps(part).decode()[1:-1] for part in word.split("=") if part)
    return and_(revisions.c.labels != literal_column("'{}'::jsonb"), *(holds(written, part) for part in escaped))


def holds(column: ColumnElement[str], word: str) -> ColumnElement[bool]:
    """Condition that a text holds a word. The database's locale may know no letter without case but ASCII."""
    forms = {word} if word.isascii() else {word, word.lower(), word.upper(), word.title()}
    return or_(*(column.icontains(form, autoescape=True) for form in sorted(forms)))
