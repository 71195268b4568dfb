"""Types that many results share: intervals, reasons, what was asked, the inputs, and what is left out of them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Annotated, Literal

from registry.grids.protocol import Protocol, Role, Rules, Value, differences

OF_REPEATS, ROUNDED = "design_effect_of_repeats", "rounded_values"
"""The names of the assumptions that repeats say how far the trials of a cell depend on each other, and that errors are
larger by what rounding adds."""

NO_SPREAD = "the repeats of every cell agree, which says nothing of its noise"
"""Why there is no interval and no test where all errors are 0."""


@dataclass(frozen=True, slots=True)
class Keyword:
    """A keyword of JSON Schema that a type of Python does not say."""

    name: str
    value: str | int


@dataclass(frozen=True, slots=True)
class Digits:
    """So many significant digits of a number tell all that it is asked for."""

    count: int


class Presence(Enum):
    """When a field is missing in a document; a field without one is always there."""

    OMITTED = "left out where it is null"
    OPTIONAL = "left out of parts of the document"


Status = Annotated[
    Literal["ok", "insufficient", "undefined", "not_comparable", "confounded"],
    "ok, or in which way there is too little to go on; `reason` says why.",
]
Reason = Annotated[str | None, "Why `status` is not ok.", Presence.OMITTED]
Place = str | int | float
"""A level as an answer names it: its number on a numeric axis, else its label."""
LevelName = Annotated[Place, "The level: its number on a numeric axis, else its label."]
FirstLevel = Annotated[Place, "The first level: its number on a numeric axis, else its label."]
LastLevel = Annotated[Place, "The last level: its number on a numeric axis, else its label."]
At = Annotated[Mapping[str, Place], "A level for each axis, by the axis's name."]
SliceDocument = Annotated[
    Mapping[str, tuple[str, ...]] | None,
    "Only these levels and ranges were counted, by axis; absent for whole grids.",
    Presence.OMITTED,
]
Count = Annotated[int, Keyword("minimum", 0)]
Identifier = Annotated[str, Keyword("format", "uuid")]
Instant = Annotated[str, Keyword("format", "date-time")]
Digest = Annotated[str, Keyword("pattern", "^sha256:[0-9a-f]{64}$")]
PValue = Annotated[float, Digits(4)]
P = Annotated[PValue | None, "A p-value; null where there is none, and `status` says why."]
KnownNoise = Literal["trials", "stderr", "repeats", "unknown"]
Noise = Annotated[
    KnownNoise,
    "What the tests rest on. A posted standard error goes before trials; repeats are runs whose spread is known.",
]
Detectable = Annotated[
    Annotated[float, Digits(3)] | None,
    "The smallest true value that is found significant with probability 80 %, in the metric's unit: (z of 1 - alpha/2 "
    "+ z of 0.8) standard errors, more where few repeats estimate them, by trials on the noisier side; by McNemar's "
    "exact test enumerated, with as many items that differ as do, or as many losses; null without noise, and where the "
    "scale has no room for it.",
]


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval; its ends are in the unit of what it surrounds."""

    level: Annotated[float, "The probability with which such an interval holds the truth, 0.95 or what is said."]
    low: Annotated[float, "The lower end."]
    high: Annotated[float, "The upper end."]

    def with_0(self) -> "Interval":
        """The interval, widened where it does not hold 0: that of what a test leaves open."""
        return Interval(self.level, min(self.low, 0.0), max(self.high, 0.0))


@dataclass(frozen=True, slots=True)
class Selected:
    """The selection that an answer is about, without aliases."""

    experiment: Annotated[str, "The experiment."]
    metric: Annotated[str, "The name of the metric; empty where an answer is about two."]
    benchmark: Annotated[tuple[str, ...], "Only these benchmarks; empty: all."]
    model: Annotated[tuple[str, ...], "Only these models; empty: all."]
    variant: Annotated[tuple[str, ...], "Only these variants; empty: all."]
    suite: Annotated[str | None, "The suite that the benchmarks are from.", Presence.OMITTED]
    at: SliceDocument
    slices: Annotated[
        Mapping[str, Mapping[str, tuple[str, ...]]] | None,
        "The levels of those benchmarks of the suite that have their own, by benchmark and axis.",
        Presence.OMITTED,
    ]
    as_of: Annotated[str | None, "The instant whose revisions count; absent for now.", Presence.OMITTED]
    set_aside: Annotated[
        tuple[str, ...] | None,
        "Names that are left out where a slot must be common to all; `none` for nobody, absent for those that cost the "
        "others more than a fifth of their slots.",
        Presence.OMITTED,
    ]
    sentence: Annotated[str, "It in words."]
    digest: Annotated[Digest, "Equal for equal selections."]


About = Annotated[Selected | None, "What the answer is about.", Presence.OMITTED]


@dataclass(frozen=True, slots=True)
class Input:
    """A grid that an answer is made from."""

    grid: Annotated[Identifier, "The grid's id."]
    revision: Annotated[Count, "The revision that was read."]
    benchmark: Annotated[str | None, "Its benchmark.", Presence.OMITTED] = None
    model: Annotated[str | None, "Its model.", Presence.OMITTED] = None
    variant: Annotated[str | None, "Its variant.", Presence.OMITTED] = None


@dataclass(frozen=True, slots=True)
class DerivedGrid:
    """A grid that was declared to be made of others."""

    grid: Annotated[Identifier, "The grid's id."]
    benchmark: Annotated[str, "Its benchmark."]
    model: Annotated[str, "Its model."]


@dataclass(frozen=True, slots=True)
class Warning:
    """A doubt about what was stored all the same."""

    code: Annotated[
        str,
        "What kind of doubt it is; more kinds may come. level_added: an amendment brought a level that its axis did "
        "not have. level_number_read: a label was read as a number. rounded: a whole number above 2^53 that no double "
        "is. near_duplicate: a name is one edit from a known one. off_lattice: a value is no whole count out of its "
        "trials. stderr_zero: the standard error 0 of a proportion strictly between its bounds was left out. "
        "looks_derived: a name is that of an average or a total. repeats_read: a coordinate came several "
        "times, in cells or rows, and the cell is their mean; or a table brings repeats and sd. Of tables: left_out: "
        "columns that the registry computes. text_left_out: text around the table. kind_read: levels were read as "
        "numbers. identity_read: a title was read as names. protocol_differs, protocol_unknown: how it was measured. "
        "independent_cells: no run may move several cells of repeats at once.",
    ]
    detail: Annotated[str, "The doubt, in a sentence."]
    pointer: Annotated[str | None, "The place that it is about, where there is one.", Presence.OMITTED] = None


RUNS_APART = Warning(
    "independent_cells",
    "The repeats of a cell are taken as independent of those of other cells: where half of their variance is that of "
    "one run (a seed) in all cells, up to a third of the verdicts on means of cells err.",
)
"""Verdicts on means over several cells of repeats come with this."""


Method = Literal["mean_difference", "mean", "win_rate", "bradley_terry", "borda"]
Missing = Literal["matched", "available", "complete", "worst", "zero_votes", "zero_points"]
Target = Literal["rerun", "new_questions", "new_benchmarks"]
Estimand = Literal["difference", "lead"]
Reduction = Literal["mean", "best", "count"]
"""How the cells of an entry of a table become one number."""
SlotPolicy = Literal["matched", "available"]
"""Which slots of a table's entries count: those that all have, or those that each has."""
NOBODY = ("none",)
"""The names that are set aside where none may be."""


OF_UNITS = ("mean_difference", "mean")
"""Methods whose scores are in the metric's unit."""


def common_to_all(method: str, missing: str) -> bool:
    """Whether an order is over slots that are common to all names."""
    return missing == "complete" or (missing == "matched" and method in ("mean", "borda"))


def unordered(method: str, missing: str) -> str | None:
    """Why a method has no order under a missing policy, whatever the values are; None where it has one."""
    if method in OF_UNITS and missing == "zero_votes":
        return "zero votes give wins and ranks, but no means; ask with the method win rate"
    if missing == "zero_points" and method != "borda":
        return "zero points are of Borda's count alone; ask with the method Borda"
    return None


_NAMED = 12


@dataclass(frozen=True, slots=True)
class SetAside:
    """A name that is set aside, and what it lacks. `set_aside=none` brings it back."""

    name: Annotated[str, "The name."]
    lacks: Annotated[tuple[str, ...], "Levels and benchmarks that most names have, and of which it has nothing."]
    missing: Annotated[Count, "The slots that it lacks of those that most names have."]
    slots: Annotated[Count, "The slots that most names have."]
    at: Annotated[
        Mapping[str, Place] | None, "The column of a table in which it is; absent elsewhere.", Presence.OMITTED
    ] = None


def set_aside_warnings(found: Iterable[SetAside]) -> tuple[Warning, ...]:
    """The warning that names are set aside; none without any."""
    places: dict[SetAside, list[str]] = {}
    for one in found:
        places.setdefault(replace(one, at=None), []).extend([", ".join(map(str, one.at.values()))] if one.at else [])
    if not places:
        return ()
    said = _listed([f"{_placed(one, at)} {lacking_text(one, at)}" for one, at in places.items()], "; ")
    said = f"Set aside, so that the others keep their slots: {said}."
    return (Warning("set_aside", f"{said} With nobody set aside they are compared too."),)


def run_warnings(per: str, counts: Sequence[int]) -> tuple[Warning, ...]:
    """The doubt about what a gate judges together, given how many cells of each benchmark have repeats alone."""
    together = sum(counts) if per == "overall" else max(counts)
    return (RUNS_APART,) if per != "cell" and together > 1 else ()


def apart_warning(by: str) -> Warning:
    """The warning that nothing compares what has its own cells side by side."""
    detail = f"No two {by}s share a slot: each is over its own cells, and they are not compared."
    return Warning("nothing_shared", detail)


def is_apart(warnings: Iterable[Warning]) -> bool:
    """Whether no two share a slot, so that each is over its own."""
    return any(one.code == "nothing_shared" for one in warnings)


def lacking_text(one: SetAside, places: Sequence[str] = ()) -> str:
    """Say what a name that is set aside lacks, at each of these places."""
    whole = f", all of {_listed(one.lacks)}" if one.lacks else ""
    return f"lacks {one.missing:,} of {one.slots:,} slots{' in each' * (len(places) > 1)}{whole}"


def _placed(one: SetAside, places: Sequence[str]) -> str:
    return f"{one.name} at {_listed(places)}" if places else one.name


def _listed(texts: Sequence[str], between: str = ", ") -> str:
    more = f"{between.rstrip()} and {len(texts) - _NAMED:,} more" if len(texts) > _NAMED else ""
    return between.join(texts[:_NAMED]) + more


@dataclass(frozen=True, slots=True)
class ProtocolDifference:
    """A key under which two protocols have other values."""

    key: Annotated[str, "The key."]
    baseline: Annotated[Value | None, "In the baseline, or in the grids that were compared; null: not said."]
    contender: Annotated[Value | None, "In the contender, or in the grid that was left out; null: not said."]
    role: Annotated[Role, "What the experiment declares of the key; other: nothing."]


@dataclass(frozen=True, slots=True)
class Incomparable:
    """A grid that was left out because of its protocol."""

    grid: Annotated[Identifier, "The grid's id."]
    revision: Annotated[Count, "The revision that was read."]
    benchmark: Annotated[str, "Its benchmark."]
    model: Annotated[str, "Its model."]
    variant: Annotated[str, "Its variant."]
    differs: Annotated[tuple[ProtocolDifference, ...], "Binding keys in which it differs, or that it does not say."]


Adjusted = Annotated[
    bool | None,
    "true: it lacks some of these benchmarks, and its mean is the adjusted one: that over all benchmarks which least "
    "squares of an effect of each name and one of each benchmark expect. Else absent.",
    Presence.OMITTED,
]
LeftOutByProtocol = Annotated[
    tuple[Incomparable, ...] | None,
    "Grids of a benchmark whose protocols differ from the commonest one in a binding key; absent where none does.",
    Presence.OMITTED,
]
DifferingKeys = Annotated[
    tuple[ProtocolDifference, ...] | None,
    "Keys, the free ones aside, in which the protocols differ; absent where none does.",
    Presence.OMITTED,
]


def protocol_differences(
    rules: Rules, mine: Protocol | None, theirs: Protocol | None
) -> tuple[ProtocolDifference, ...]:
    """The keys that differ, of a baseline and a contender, with what each means."""
    found = differences(mine, theirs)
    return tuple(ProtocolDifference(one.key, one.baseline, one.contender, rules.role_of(one.key)) for one in found)


def differing_keys(
    rules: Rules, mine: Protocol | None, theirs: Protocol | None
) -> tuple[ProtocolDifference, ...] | None:
    """The keys that differ and are not free; None where none is."""
    return tuple(one for one in protocol_differences(rules, mine, theirs) if one.role != "free") or None
