"""Schemas of the parameters of what is computed: statistics, thresholds, rankings, comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from marshmallow import Schema, ValidationError, fields, validate, validates_schema

from registry.api.fields import AsOf, Choice, Dimensions, Matching, Name, Quantity, Share, Whole
from registry.api.schemas import about, loss_wanted, many_names
from registry.api.statistics_parts import PARTS
from registry.query import METHODS, MISSING, OLD_WORDS, REDUCTIONS, SLOT_POLICIES, SORTS, TARGETS
from registry.results.field_paths import FORM
from registry.results.policies import unordered

_ON_DEMAND = " Other settings than the usual ones are computed when they are first asked."


def _fields() -> Any:
    return Matching(
        FORM,
        "is paths of fields with commas between them, as in series.at,series.slope",
        metadata=about(
            "Only these fields of the JSON: paths with dots, commas between them, as in `series.at,series.slope`. Lists"
            " are passed through; in a mapping the next name is a key, or `*`; a name with a dot stands in backquotes."
        ),
    )


_MOST_LEVELS = 20
_OF_SERIES = ("lost", "split")


class StatisticsParameters(Schema):
    part = Choice(*PARTS, "thresholds", metadata=about("Only this of the statistics; everything if not given."))
    value = fields.List(
        Quantity(),
        validate=validate.Length(1, _MOST_LEVELS, error=f"is given 1 to {_MOST_LEVELS} times"),
        metadata=about("With `part=thresholds`: where the series cross these levels; may be repeated."),
    )
    fields = _fields()
    revision = Whole(1, 2**31 - 1, text=True, metadata=about("An older revision."))
    along = Name(metadata=about("Only the series along this axis."))
    alpha = Share(metadata=about("The level of tests and intervals, 0.05 if not given." + _ON_DEMAND))
    sharp_change = Quantity(
        least=0,
        metadata=about("The size from which a step may be called sharp, 5 % of a bounded range if not given."),
    )
    equivalence = Quantity(
        least=0,
        metadata=about("The margin within which a series may be called flat, 2 % of a bounded range if not given."),
    )
    lost = loss_wanted()
    split = Quantity(
        metadata=about("Also the mean beyond this number of an axis less that up to it: `split` and `grid_split`.")
    )

    @validates_schema
    def _check_part(self, data: dict[str, Any], **_options: Any) -> None:
        """Refuse what the part does not have."""
        part = data.get("part")
        if (part == "thresholds") != ("value" in data):
            raise ValidationError("is needed with part=thresholds, and for nothing else", "value")
        for name in _OF_SERIES:
            if name in data and part not in (None, "trends"):
                raise ValidationError("is for all statistics or part=trends", name)


class _OfOthersParameters(Schema):
    """What narrows a selection beside its models, the same in every operation."""

    benchmark = many_names("Only these; all if not given.")
    variant = many_names("Only these; all if not given.")
    suite = Name(empty=True, load_default="", metadata=about("The benchmarks of this suite, in place of `benchmark`."))
    as_of = AsOf(metadata=about("The grids as they were then; a day: where it began in UTC."))


class OfNamesParameters(_OfOthersParameters):
    """The names to which a selection is narrowed."""

    model = many_names("Only these; all if not given.")


class NarrowedParameters(OfNamesParameters):
    """A selection without its metric."""

    experiment = Name(required=True, metadata=about("The experiment that is asked about."))


class SelectedParameters(NarrowedParameters):
    """A selection."""

    metric = Name(required=True, metadata=about("The name of the metric."))


class SharedSlotsParameters(Schema):
    """Who is left out of a view in which a slot must be common to all."""

    set_aside = many_names(
        "Names to leave out where a slot must be common to all that are shown; `none`: nobody. If not given, or `auto`:"
        " those that lack more than a fifth of the slots that most have. The answer lists them with what they lack."
    )


_MISSING = (
    "What is made of slots that not all have. `matched` compares two names where both are measured; `available` takes"
    " what each has; `complete` keeps the slots that all have; `worst` fills a gap with the worst value; `zero_votes`"
    " lets who is missing lose to all who are there; `zero_points`, for Borda, gives who is missing no points, as mteb"
    " counts."
)


RANKING_PARTS = ("ranking", "by_benchmark")
"""Parts of a ranking that are tables of their own."""


class RankingParameters(SelectedParameters, SharedSlotsParameters):
    fields = _fields()
    by = Matching(
        r"model|variant|benchmark|axis:[^\x00-\x1f\x7f]{1,200}",
        "is model, variant, benchmark or axis:<name>",
        load_default="model",
        metadata=about(
            "`model`, `variant`, `axis:<name>`, or `benchmark`: on which one values are best, over the models that"
            " benchmarks share; the hardest is last."
        ),
    )
    method = Choice(*METHODS, load_default="mean_difference", metadata=about("What scores come from."))
    missing = Choice(*MISSING, old=OLD_WORDS["missing"], load_default="matched", metadata=about(_MISSING))
    alpha = Share(load_default=0.05, metadata=about("The level of tests; intervals have the level 1 - alpha."))
    target = Choice(
        *TARGETS,
        old=OLD_WORDS["target"],
        load_default=TARGETS[0],
        metadata=about(
            "What could change the answer: running these cells again, other questions of these benchmarks, or other"
            " benchmarks. `fixed_cells` is the old word for the first."
        ),
    )
    pairs_of = Name(
        empty=True,
        load_default="",
        metadata=about(
            "List the pairs of this name, and no others. If not given: every pair up to a hundred names, above that"
            " those of neighbours in the order."
        ),
    )

    since = AsOf(
        metadata=about(
            "Also what changed since then: `change`. Read as `as_of` is, and earlier than that, or than now."
        )
    )

    part = Choice(
        *RANKING_PARTS,
        load_default=RANKING_PARTS[0],
        metadata=about("Of the CSV form: the order, or the scores of each name `by_benchmark`. Other forms have all."),
    )

    @validates_schema
    def _check_since(self, data: dict[str, Any], **_options: Any) -> None:
        since, as_of = (datetime.fromisoformat(data[name]) if data.get(name) else None for name in ("since", "as_of"))
        if since and as_of and since >= as_of:
            raise ValidationError("must be before as_of", "since")

    @validates_schema
    def _check_target(self, data: dict[str, Any], **_options: Any) -> None:
        """Refuse to take the benchmarks that are ranked for a sample, or their questions for those of one."""
        # A page reads what is right of a question in which something is wrong, so that any field may be absent.
        if data.get("by") == "benchmark" and data.get("target", TARGETS[0]) != TARGETS[0]:
            raise ValidationError("with by=benchmark only target=rerun has a meaning", "target")

    @validates_schema
    def _check_policy(self, data: dict[str, Any], **_options: Any) -> None:
        """Refuse what no grid could give an order of."""
        reason = unordered(data.get("method", METHODS[0]), data.get("missing", MISSING[0]))
        if reason is not None:
            raise ValidationError(reason, "missing")


_DIMENSIONS = "`benchmark`, `model`, `variant` or `axis:<name>`; repeated, or with commas between them."


class AggregatesParameters(SelectedParameters, SharedSlotsParameters):
    group_by = Dimensions(
        3,
        required=True,
        metadata=about(f"One to three dimensions whose levels make the entries. {_DIMENSIONS}", ["model"]),
    )
    over = Dimensions(
        5,
        metadata=about(
            "Dimensions over whose levels each entry is averaged, every level with the same weight; `benchmark` if not"
            f" given, unless it is grouped by. {_DIMENSIONS}",
            ["benchmark"],
        ),
    )
    value = Choice(
        *REDUCTIONS,
        load_default="mean",
        metadata=about(
            "How all other dimensions are reduced first, within each level of `over`: the mean of the cells, the best"
            " in the metric's direction, or the number of measured ones."
        ),
    )
    missing = Choice(
        *SLOT_POLICIES,
        metadata=about(
            "Which slots count: a slot is a combination of levels of the dimensions that are not grouped by."
            " `matched`: those that every entry has, so that entries are comparable. `available`: each entry's own;"
            " a warning names the entries that lack some. If not given: matched, but available for counts."
        ),
    )
    alpha = Share(load_default=0.05, metadata=about("The level of tests; intervals have the level 1 - alpha."))
    sort = Name(
        metadata=about(
            "The order of rows that are names: `mean`, that over the columns; `name`; or a column, by its level. The"
            " better is first. If not given: `mean`, but `name` for counts by columns and for three dimensions."
        )
    )

    @validates_schema
    def sorted_by(self, data: Any, **_options: Any) -> None:
        sort = data.get("sort", SORTS[1])
        if sort != SORTS[1] and (reason := unsorted(data.get("group_by", ()), data.get("value"), sort)):
            raise ValidationError(reason, "sort")

    @validates_schema
    def apart(self, data: Any, **_options: Any) -> None:
        both = [one for one in data.get("over", ()) if one in data.get("group_by", ())]
        if both:
            raise ValidationError(f'"{both[0]}" is grouped by already', "over")


def unsorted(group_by: Sequence[str], value: str | None, sort: str) -> str | None:
    """Why the rows of a table are in no order but that of their names; or None."""
    if not group_by:
        return None
    if group_by[0].startswith("axis:"):
        return "is of rows that are names; levels of an axis have an order of their own"
    if len(group_by) > 2 or (len(group_by) == 1 and sort != SORTS[0]):
        return "a column is of a table of two dimensions" if sort != SORTS[0] else "is of one or two dimensions"
    if value == "count" and group_by[1:] and sort == SORTS[0]:
        return "is of means and bests; numbers of cells have no mean over columns"
    return None


GRID_ID = "[0-9A-Fa-f]{8}-([0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}"


def _grid(text: str, example: str, *, required: bool = True, **options: Any) -> Any:
    return Matching(GRID_ID, "must be the id of a grid", required=required, metadata=about(text, example), **options)


class ComparisonParameters(Schema):
    fields = _fields()
    baseline = _grid("The grid that is subtracted.", "0193a1b2-0000-7000-8000-000000000001")
    contender = _grid("The grid that it is subtracted from.", "0193a1b2-0000-7000-8000-000000000002")
    baseline_revision = Whole(1, 2**31 - 1, text=True, metadata=about("The current one if not given."))
    contender_revision = Whole(1, 2**31 - 1, text=True, metadata=about("The current one if not given."))
    alpha = Share(load_default=0.05, metadata=about("The level of tests; intervals have the level 1 - alpha."))


_OF_IDS = ("baseline", "contender", "baseline_revision", "contender_revision")
_OF_NAMES = ("experiment", "metric", "baseline_model", "contender_model")
BENCHMARKS_OF_SIDES = ("baseline_benchmark", "contender_benchmark")
VARIANTS_OF_SIDES = ("baseline_variant", "contender_variant")
_MORE_OF_NAMES = (*VARIANTS_OF_SIDES, "benchmark", "variant", "suite", "as_of", *BENCHMARKS_OF_SIDES)


class EitherComparisonParameters(ComparisonParameters, _OfOthersParameters):
    """A comparison of two grids by their ids, or of two models by name, which alone takes what narrows a selection."""

    baseline = _grid("The grid that is subtracted.", "0193a1b2-0000-7000-8000-000000000001", required=False)
    contender = _grid("The grid that it is subtracted from.", "0193a1b2-0000-7000-8000-000000000002", required=False)
    experiment = Name(metadata=about("In place of ids: compare models by name, in this experiment."))
    metric = Name(metadata=about("By name: the name of the metric."))
    baseline_model = Name(metadata=about("By name: the model that is subtracted."))
    contender_model = Name(metadata=about("By name: the model that it is subtracted from."))
    baseline_variant = Name(
        empty=True,
        metadata=about("By name: the baseline's variant; with that of the contender, or neither: the same of both."),
    )
    contender_variant = Name(empty=True, metadata=about("By name: the contender's variant."))
    baseline_benchmark = Name(metadata=about("By name: that of the baseline's grid. With it, two grids are compared."))
    contender_benchmark = Name(metadata=about("By name: that of the contender's grid, where it is another one."))

    @validates_schema
    def _check_way(self, data: dict[str, Any], **_options: Any) -> None:
        """Refuse a mixture of ids and names, and half of either."""
        ids = [name for name in _OF_IDS if data.get(name) is not None]
        names = [name for name in (*_OF_NAMES, *_MORE_OF_NAMES) if data.get(name) not in (None, "", [])]
        names += [name for name in VARIANTS_OF_SIDES if data.get(name) == ""]
        if ids and names:
            raise ValidationError({name: [_MIXED] for name in names})
        needed = _OF_NAMES if names else _OF_IDS[:2]
        if absent := [name for name in needed if name not in data]:
            raise ValidationError({name: [_REQUIRED] for name in absent})
        self.check_pair(data, BENCHMARKS_OF_SIDES, "benchmark", "suite")
        if data.get("as_of") and BENCHMARKS_OF_SIDES[0] in data:
            raise ValidationError("is for models: compare revisions of two grids by their ids", "as_of")
        self.check_pair(data, VARIANTS_OF_SIDES, "variant")

    def check_pair(self, data: dict[str, Any], pair: tuple[str, ...], *instead: str) -> None:
        """`ValidationError` where one of a pair is given alone, or beside what it stands in the place of."""
        given = [name for name in pair if name in data]
        if len(given) == 1:
            [other] = {*pair} - {*given}
            raise ValidationError(f"is needed with {given[0]}", other)
        if given and (both := [name for name in instead if data[name]]):
            raise ValidationError(f"is chosen by {pair[0]} and {pair[1]}; give one or the other", both[0])


_REQUIRED = "Missing data for required field."
_MIXED = (
    "cannot be given with ids: compare two grids by baseline and contender, or two models by experiment, metric,"
    " baseline_model and contender_model"
)


class RepeatNoiseParameters(SelectedParameters):
    alpha = Share(load_default=0.05, metadata=about("The level of tests; intervals have the level 1 - alpha."))
