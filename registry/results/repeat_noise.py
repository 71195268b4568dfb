"""Types of the noise floor: how much a value varies when it is measured again, by benchmark.
`workers/answers/repeat_noise.py` fills them; `renderings/repeat_noise.py` writes them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from registry.results.parameters import FALSE_ALARM, POWER
from registry.results.terms import About, Count, Input, Instant, Presence, Reason, SliceDocument, Status


@dataclass(frozen=True, slots=True)
class RepeatSpread:
    """A standard deviation of one repeat of a cell, or a ratio of variances."""

    value: Annotated[float, "The deviation, in the metric's unit; or the ratio."]
    low: Annotated[float, "The lower end of its interval."]
    high: Annotated[float, "The upper end."]
    df: Annotated[float, "Degrees of freedom."]
    cells: Annotated[Count, "The cells that it was estimated from."]


@dataclass(frozen=True, slots=True)
class BenchmarkNoise:
    """The noise on one benchmark."""

    benchmark: Annotated[str, "The benchmark."]
    status: Status
    sentence: Annotated[str, "The same in words."]
    cells: Annotated[Count, "The measured cells."] = 0
    between: Annotated[RepeatSpread | None, "As repeats of a cell came out."] = None
    within: Annotated[RepeatSpread | None, "As the trials of one repeat explain it."] = None
    ratio: Annotated[RepeatSpread | None, "The variance between repeats to the one that trials explain."] = None
    excess: Annotated[
        Literal["more", "less", "not_shown"] | None,
        "more, less: the interval of the ratio leaves 1 out, above or below.",
    ] = None


@dataclass(frozen=True, slots=True)
class Floor:
    """From where on one more run of a cell is worse than chance, by the runs that it has."""

    benchmark: Annotated[str, "The benchmark."]
    model: Annotated[str, "The model."]
    variant: Annotated[str, "The variant."]
    at: Annotated[Mapping[str, str], "The cell."]
    runs: Annotated[Count, "Repeats of the cell."]
    mean: Annotated[float, "Of the runs."]
    sd: Annotated[float, "Of one run: what a rerun of the same questions varies by."]
    limit: Annotated[float, "One more run of an unchanged model is worse in a share `false_alarm` of cases."]
    finds: Annotated[float, "A change for the worse by so much lets a run fail with the probability `power`."]
    questions_sd: Annotated[float | None, "What the score would vary by on as many other questions of the kind."]
    sentence: Annotated[str, "The same in words."]


@dataclass(frozen=True, slots=True)
class RepeatNoise:
    """What values vary by of themselves."""

    status: Status
    experiment: Annotated[str, "The experiment."] = ""
    metric: Annotated[str, "The metric."] = ""
    unit: Annotated[str | None, "Its unit."] = None
    alpha: Annotated[float, "Intervals have the level 1 - alpha."] = 0.05
    benchmarks: Annotated[tuple[BenchmarkNoise, ...], "By name."] = ()
    floors: Annotated[tuple[Floor, ...], "Of the models that are asked for, where their cells have repeats."] = ()
    false_alarm: Annotated[float, "Of each floor."] = FALSE_ALARM
    power: Annotated[float, "Of what a floor finds."] = POWER
    reason: Reason = None
    slice: SliceDocument = None
    inputs: Annotated[tuple[Input, ...], "The grids."] = ()
    selection: About = None
    methods_version: Annotated[str | None, "Of the statistics.", Presence.OMITTED] = None
    computed_at: Annotated[Instant | None, "When it was computed.", Presence.OMITTED] = None
    state: Annotated[Literal["ready"], "It is computed."] = "ready"
