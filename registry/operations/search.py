"""Search by words: in any order, anywhere in the names, in upper or lower case.

Names are matched here and not in SQL: a project has few of them beside its grids, and the database's own comparison
without case knows only the letters of its locale.
"""

import unicodedata
import uuid
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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

from registry.operations.auth import Caller
from registry.operations.projects import visible
from registry.storage.keys import of_current
from registry.storage.tables import aliases, grids, names, projects, revisions, suites

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


@dataclass(frozen=True, slots=True)
class Found:
    """The first results of a kind, and how many there are."""

    items: Sequence[Any]
    total: int


def found_names(
    connection: Connection,
    project_id: uuid.UUID,
    words: Sequence[str],
    most: int,
    joined: Mapping[tuple[str, str], str],
) -> dict[str, Found]:
    """By kind the names in use that hold every word, and those that such aliases stand for, with their `grids`: at most
    `most`, those that begin with the first word first, then those of most grids."""
    known = searchable(connection, project_id)
    found = {}
    for kind in KINDS:
        names = {alias: name for (of, alias), name in joined.items() if of == kind}
        meant = {names.get(one, one) for one in known.having(kind, words)}
        having = [*meant, *(alias for alias, name in names.items() if name in meant)]
        found[kind] = _counted(connection, project_id, kind, having, names, words[0], most) if having else Found((), 0)
    return found


def _counted(
    connection: Connection,
    project_id: uuid.UUID,
    kind: str,
    having: Sequence[str],
    joined: Mapping[str, str],
    first: str,
    most: int,
) -> Found:
    column = grids.c[kind]
    query = (
        select(column.label("name"), func.count().label("grids"))
        .where(grids.c.project_id == project_id, grids.c.deleted_at.is_(None), column.in_(having))
        .group_by(column)
    )
    grids_of = Counter[str]()
    for row in connection.execute(query):
        grids_of[joined.get(row.name, row.name)] += row.grids
    start = folded(first)
    rows = sorted(grids_of.items(), key=lambda row: (not folded(row[0]).startswith(start), -row[1], row[0]))
    return Found([{"name": name, "grids": count} for name, count in rows[:most]], len(rows))


def found_labels(connection: Connection, project_id: uuid.UUID, words: Sequence[str], most: int) -> Found:
    """The labels of current revisions that hold every word, with their `grids`, those of most grids first."""
    entry = func.jsonb_each_text(revisions.c.labels).table_valued("key", "value").render_derived().lateral()
    text = entry.c.key + "=" + entry.c.value
    query = (
        select(entry.c.key, entry.c.value, func.count().label("grids"), func.count().over().label("total"))
        .select_from(grids)
        .join(revisions, of_current(revisions))
        .join(entry, and_(*(holds(text, word) for word in words)))
        .where(grids.c.project_id == project_id, grids.c.deleted_at.is_(None), *map(labels_may_have, words))
        .group_by(entry.c.key, entry.c.value)
        .order_by(func.count().desc(), entry.c.key, entry.c.value)
        .limit(most)
    )
    rows = connection.execute(query).all()
    return Found(rows, rows[0].total if rows else 0)


def found_suites(connection: Connection, project_id: uuid.UUID, words: Sequence[str], most: int) -> Found:
    """The names of suites that hold every word."""
    here = select(suites.c.name).where(suites.c.project_id == project_id).order_by(suites.c.name)
    known = connection.scalars(here).all()
    having = [name for name in known if all(folded(word) in folded(name) for word in words)]
    return Found(having[:most], len(having))


def found_projects(connection: Connection, caller: Caller, words: Sequence[str], most: int) -> Found:
    """The projects that the caller may see in which every word occurs, in the project's name, in that of a suite or in
    one that was published there: each with the number of names of each kind that hold all words."""
    own = projects.c.slug + " " + projects.c.name

    def somewhere(word: str) -> ColumnElement[bool]:
        suite = exists().where(suites.c.project_id == projects.c.id, holds(suites.c.name, word)).correlate(projects)
        return or_(suite, func.bool_or(or_(holds(own, word), func.coalesce(holds(names.c.name, word), False))))

    whole = and_(*(holds(names.c.name, word) for word in words))
    query = (
        select(
            projects.c.id,
            projects.c.slug,
            projects.c.name,
            *(func.count().filter(names.c.kind == kind, whole).label(kind) for kind in KINDS),
            func.count().over().label("total"),
        )
        .select_from(projects)
        .outerjoin(names, and_(names.c.project_id == projects.c.id, names.c.name != ""))
        .where(projects.c.deleted_at.is_(None), visible(caller))
        .group_by(projects.c.id)
        .having(and_(*(somewhere(word) for word in words)))
        .order_by(projects.c.slug)
        .limit(most)
    )
    rows = connection.execute(query).all()
    return Found(rows, rows[0].total if rows else 0)
