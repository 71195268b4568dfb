"""Types of a claim's judgement, which `workers/claims/` fills, and of the sentences in which events are told."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from registry.results.plans import Impossible, Needed
from registry.results.terms import Count, Instant, Presence, Warning

MOST_INPUTS = 1_000
"""Grids that a judgement names."""
Verdict = Literal["supported", "contradicted", "not_decidable", "ill_posed"]
AsPosted = Annotated[Verdict, "By posted numbers as exact decimals."]
ReasonWord = Annotated[str | None, "Why a layer does not decide, such as `within_noise` or `missing_cells`."]


@dataclass(frozen=True, slots=True)
class NamedCell:
    """A cell that decides a statement."""

    at: Annotated[Mapping[str, str], "Levels by axis, and names in which the grids differ."]
    value: Annotated[float, "In the metric's unit."]


@dataclass(frozen=True, slots=True)
class ClaimNumbers:
    """The numbers behind one statement, in the metric's unit, as claimed of a difference, or as a count."""

    estimate: Annotated[float | None, "As posted; null where it is no single number."] = None
    low: Annotated[float | None, "Low end of what noise leaves possible; null: unknown or none."] = None
    high: Annotated[float | None, "High end of it."] = None
    compared_with: Annotated[str, "What is said, in words."] = ""
    over: Annotated[str | None, "Over which cells it is, in words.", Presence.OMITTED] = None
    out_of: Annotated[Count | None, "Of a count: of how many.", Presence.OMITTED] = None
    cells: Annotated[tuple[NamedCell, ...], "Cells that decide it, a dozen at most.", Presence.OPTIONAL] = ()


@dataclass(frozen=True, slots=True)
class JudgedPart:
    """One statement of a claim, in one of its groups."""

    part: Annotated[str, "JSON pointer to the statement in the claim."]
    group: Annotated[Mapping[str, str], "The levels of `for`; empty without it.", Presence.OPTIONAL]
    as_posted: AsPosted
    beyond_noise: Annotated[Verdict, "By simultaneous confidence sets."]
    reason: ReasonWord
    numbers: Annotated[ClaimNumbers, "What it rests on."]


@dataclass(frozen=True, slots=True)
class TrialsNeeded:
    """What decides a claim that is within the noise."""

    power: Annotated[float, "The probability of a decision."]
    one_sum: Annotated[bool, "Whether it hangs on one sum of cells: then the power is this; else at least this."] = (
        False
    )
    needed: Annotated[Needed | None, "If the posted numbers are true.", Presence.OMITTED] = None
    impossible: Annotated[Impossible | None, "Why no number of trials is known to do.", Presence.OMITTED] = None
    why: Annotated[str | None, "The same in a sentence.", Presence.OMITTED] = None


@dataclass(frozen=True, slots=True)
class ClaimInput:
    """A revision that was read."""

    grid: Annotated[str, "Its id."]
    revision: Annotated[Count, "The one that was current, or that the claim names."]
    digest: Annotated[str, "SHA-256 of its canonical content."]


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on a claim, with everything needed to judge it again elsewhere."""

    claim: Annotated[Mapping[str, Any], "The claim in its normal form."]
    digest: Annotated[str, "SHA-256 of the normal form: the same for the same statement."]
    verdict: Annotated[Verdict, "`as_posted`, or `beyond_noise` by `strength`."]
    as_posted: AsPosted
    beyond_noise: Annotated[Verdict, "By simultaneous confidence sets: wrong with a probability of at most `alpha`."]
    reason: ReasonWord
    robust_to_missing: Annotated[
        bool | None,
        "Whether the posted verdict stays, whatever the missing cells are; null: it decides nothing, or coordinates"
        " that not all grids declare were left out.",
    ]
    depends_on_reading: Annotated[
        bool, "Whether the bare numbers of `between`, `<=` and `>=`, not rounded, give another."
    ]
    alpha: Annotated[float, "Of `beyond_noise`."]
    parts: Annotated[tuple[JudgedPart, ...], "The statements, group by group, a hundred at most.", Presence.OPTIONAL]
    parts_left_out: Annotated[Count, "How many more there are."]
    inputs: Annotated[tuple[ClaimInput, ...], "The grids that it is about, a thousand at most.", Presence.OPTIONAL]
    sentence: Annotated[str, "All of it in words."]
    trials_needed: Annotated[
        TrialsNeeded | None, "within_noise: the trials that would decide it beyond noise.", Presence.OMITTED
    ] = None
    look: Annotated[
        Count | None,
        "`looks`, if not fixed: 1, and one more for each revision of its grids after their first.",
        Presence.OMITTED,
    ] = None
    warnings: Annotated[tuple[Warning, ...], "Names that no grid has; doubts about protocols.", Presence.OPTIONAL] = ()
    methods_version: Annotated[
        str | None, "Changes whenever a stored number would come out differently.", Presence.OMITTED
    ] = None
    state: Annotated[Literal["ready"], "A judgement that is there."] = "ready"
    computed_at: Annotated[Instant | None, "When it was computed.", Presence.OMITTED] = None


Tone = Literal["", "good", "bad"]
TargetKind = Literal["grid", "claim", "ranking", "baseline", "project", "model", "benchmark", "experiment"]
_JOINERS = "\u200c\u200d"
"""Invisible, but letters of Persian and many emoji need them."""


@dataclass(frozen=True, slots=True)
class Target:
    """What a sentence is about, by its id or name; of a ranking, `name` is the experiment and `metric` its metric,
    and `since` and `as_of` are the instants that it is about; empty: it is that of now."""

    kind: TargetKind
    name: str = ""
    metric: str = ""
    since: str = ""
    as_of: str = ""


@dataclass(frozen=True, slots=True)
class EventSentence:
    """What was done: words, what it was done to, words, and what stands beside it. Each part may be empty; none has a
    line end or a control character."""

    before: str
    about: str = ""
    after: str = ""
    beside: str = ""
    tone: Tone = ""
    target: Target | None = None

    @property
    def head(self) -> str:
        """The sentence as plain text, without what stands beside it."""
        return " ".join(filter(None, (self.before, self.about, self.after)))

    @property
    def text(self) -> str:
        """The sentence as plain text, on one line."""
        return f"{self.head} ({self.beside})" if self.beside else self.head


def plain(text: object, longest: int) -> str:
    """A text on one line: without control characters and marks that turn the direction of writing, and cut."""
    line = " ".join(str(text).split())
    kept = line if len(line) <= longest else f"{line[: longest - 1]}…"
    return "".join(one if one.isprintable() or one in _JOINERS else "\ufffd" for one in kept)
