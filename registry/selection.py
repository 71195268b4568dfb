"""What is asked about: models on benchmarks at levels, by a metric; one value behind every question and every link."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from hashlib import sha256
from typing import Any, Self

import orjson

from registry.grids.slices import PARAMETER, Slice, slice_document, slice_text
from registry.results.terms import NOBODY, Selected

KINDS = ("benchmark", "model", "variant")
"""Kinds of names that a selection may be narrowed to."""
_NAMED = 3
"""Names of a kind that the sentence says; the rest is counted."""
_OMITTED = ("at", "suite", "slices", "as_of", "set_aside")
"""Fields that a document lacks where they are empty."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The grids of one experiment and metric. `benchmark`, `model` and `variant` narrow it to the named ones; empty:
    all. `at` narrows it to a slice of each grid. `suite` is the name of the list that the benchmarks are from, "" for
    none; `slices` are the levels of those of its benchmarks that have their own. `as_of` is the instant, as RFC 3339
    writes it in UTC, whose revisions count; "" for those of now. `set_aside` are names that views leave out in which a
    slot must be common to all: empty for those that cost the others too many, `("none",)` for nobody."""

    experiment: str
    metric: str
    benchmark: tuple[str, ...] = ()
    model: tuple[str, ...] = ()
    variant: tuple[str, ...] = ()
    at: Slice = ()
    suite: str = ""
    slices: tuple[tuple[str, Slice], ...] = ()
    as_of: str = ""
    set_aside: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """The fields as they are stored and sent, without slice, suite and instant where there are none."""
        # `asdict` copies deeply, which costs more than the rest of a stored answer's key; all but slices is flat.
        given = {one.name: getattr(self, one.name) for one in fields(self)}
        document = {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in given.items()
            if value or name not in _OMITTED
        }
        if self.at:
            document["at"] = slice_document(self.at)
        if self.slices:
            document["slices"] = {benchmark: slice_document(own) for benchmark, own in self.slices}
        return document

    def names(self) -> Iterator[tuple[str, str, str]]:
        """Every name but the experiment's: its kind, the parameter that it stands in, and itself."""
        yield from ((kind, kind, name) for kind in KINDS for name in getattr(self, kind))
        if self.set_aside != NOBODY and self.row_kind in KINDS:
            yield from ((self.row_kind, "set_aside", name) for name in self.set_aside)

    @property
    def row_kind(self) -> str:
        """The kind of the names that are set aside: what a view compares."""
        return "model"

    @property
    def aside_of(self) -> str | None:
        """What names are set aside of, after these words: "" of the whole answer; None where that changes nothing."""
        return ""

    def canonical(self, joined: Mapping[tuple[str, str], str]) -> Self:
        """The same with every alias replaced by the name that it stands for."""
        named: dict[str, Any] = {
            kind: tuple(sorted({joined.get((kind, name), name) for name in getattr(self, kind)})) for kind in KINDS
        }
        if self.slices:
            named["slices"] = tuple(sorted((joined.get(("benchmark", name), name), own) for name, own in self.slices))
        if self.set_aside != NOBODY:
            named["set_aside"] = tuple(sorted({joined.get((self.row_kind, name), name) for name in self.set_aside}))
        return replace(self, experiment=joined.get(("experiment", self.experiment), self.experiment), **named)

    def levels_of(self, benchmark: str) -> Slice:
        """The levels that count of the grids of a benchmark: those that `at` and its own have in common. It is the name
        that aliases stand for."""
        return self.at + next((own for name, own in self.slices if name == benchmark), ())

    def to_query(self) -> list[tuple[str, str]]:
        """The parameters that ask for it, of any view: names, texts."""
        found = [("experiment", self.experiment), ("metric", self.metric)]
        found += [("suite", self.suite)] if self.suite else [("benchmark", name) for name in self.benchmark]
        found += [(kind, name) for kind in ("model", "variant") for name in getattr(self, kind)]
        found += [(f"{PARAMETER}{axis}", condition) for axis, conditions in self.at for condition in conditions]
        found += [("set_aside", name) for name in self.set_aside]
        return found + ([("as_of", self.as_of)] if self.as_of else [])

    def sentence(self) -> str:
        """It in words: `accuracy in long-context, suite reasoning, Context at least 64000`; without a metric from the
        experiment on."""
        parts = [f"{self.metric} in {self.experiment}" if self.metric else self.experiment]
        parts += [f"suite {self.suite}"] if self.suite else list(_named("benchmark", self.benchmark))
        parts += [*_named("model", self.model), *_named("variant", self.variant)]
        parts += [slice_text(self.at)] if self.at else []
        if self.set_aside and self.aside_of is not None:
            named = "nobody" if self.set_aside == NOBODY else _listed(self.set_aside)
            parts.append(f"{named} set aside{self.aside_of}")
        return ", ".join(parts + ([f"as of {self.as_of}"] if self.as_of else []))

    @property
    def cuts(self) -> bool:
        """Whether levels are left out of a grid."""
        return bool(self.at or self.slices)

    @property
    def selection(self) -> "Selection":
        """The selection alone, of a question about it."""
        return Selection(**{one.name: getattr(self, one.name) for one in fields(Selection)})

    def selected(self) -> Selected:
        """It as every answer about several grids carries it."""
        written = orjson.dumps(Selection.document(self.selection), option=orjson.OPT_SORT_KEYS)
        return Selected(
            **{name: getattr(self, name) for name in ("experiment", "metric", *KINDS)},
            suite=self.suite or None,
            at=dict(self.at) or None,
            slices={name: dict(levels) for name, levels in self.slices} or None,
            as_of=self.as_of or None,
            set_aside=self.set_aside or None,
            sentence=self.sentence(),
            digest=f"sha256:{sha256(written).hexdigest()}",
        )


def _named(kind: str, names: Sequence[str]) -> Iterator[str]:
    if names:
        yield f"{kind}{'s' if len(names) > 1 else ''} {_listed(names)}"


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return ", ".join(name or '""' for name in names[:_NAMED]) + more
