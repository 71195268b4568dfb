"""Schemas of request bodies and queries. What is published is in `registry.api.grid_schemas`, answers are in
`registry.api.shapes`."""

from typing import Any, get_args

from marshmallow import Schema, ValidationError, fields, validate, validates_schema

from registry.api.fields import (
    AsOf,
    Body,
    Choice,
    Few,
    Instant,
    Matching,
    Member,
    Name,
    PageLimit,
    Whole,
    Words,
)
from registry.api.grid_fields import LabelChanges, Markdown, ProtocolKeys
from registry.operations.auth import ROLES
from registry.operations.find_grids import SORTS
from registry.operations.stored_grids import Deleted
from registry.results.field_paths import FORM

SLUG = "[a-z0-9][a-z0-9-]{0,62}"
KINDS = ("model", "benchmark", "variant", "experiment")
MOST_IN_SUITE = 2_000


def about(text: str, example: Any = None) -> dict[str, Any]:
    """The metadata of a field: what the contract says of it."""
    return {"description": text} if example is None else {"description": text, "example": example}


class ProjectIn(Body):
    """A project to make."""

    slug = Matching(
        SLUG,
        "is 1 to 63 of a-z, 0-9 and -, and begins with a letter or digit",
        required=True,
        metadata=about("The project's name in paths.", "demo"),
    )
    name = Name(load_default=None, metadata=about("For people; the slug if not given."))
    visibility = Choice(
        "private",
        "public",
        load_default="private",
        metadata=about("Public: read without a token; private if not given."),
    )


class _Notes(Body):
    """What people wrote about something; only what is given changes."""

    description = Markdown(metadata=about("Markdown, for people; an empty one takes it away."))
    labels = LabelChanges(
        metadata=about("Labels to set, by name, null to take one away; those that are not named stay.")
    )

    @validates_schema
    def something(self, data: Any, **_options: Any) -> None:
        if not data:
            raise ValidationError("gives nothing to change")


class ProjectChange(_Notes):
    """Changes to a project: at least one of its fields."""

    name = Name(metadata=about("For people."))
    visibility = Choice("private", "public", metadata=about("Public: read without a token."))


def _keys(text: str) -> Any:
    return ProtocolKeys(load_default=(), metadata=about(text))


class ProtocolRulesIn(Body):
    """Which keys of protocols bind in an experiment; what is not given is as if nothing was declared."""

    binding = _keys("Keys in which protocols must agree for grids to be compared.")
    free = _keys("Keys that make no difference. Others, which neither bind nor are free, are warned of.")
    required = fields.Boolean(
        load_default=False,
        metadata=about("Whether a grid that lacks a binding key, or any protocol, is not compared either."),
    )

    @validates_schema
    def apart(self, data: Any, **_options: Any) -> None:
        if both := sorted({*data.get("binding", ())} & {*data.get("free", ())}):
            raise ValidationError({"free": [f"names {', '.join(both)}, which binds"]})


class ExperimentChange(_Notes):
    """What is said of an experiment: at least one of its fields."""

    protocol = fields.Nested(
        ProtocolRulesIn, metadata=about("Which keys of protocols bind, in place of what was declared before.")
    )


class GridChange(_Notes):
    """What is said of a grid: at least one of the two. Labels are content: changed ones make a revision."""


class TokenIn(Body):
    """A token to make for a project."""

    name = Name(required=True, metadata=about("What uses the token.", "nightly evaluation"))
    role = Choice(
        *ROLES,
        load_default="writer",
        metadata=about("What it may do, `writer` if not given; each may do what those before may."),
    )
    days = Whole(1, 3650, load_default=None, metadata=about("Until it expires; 90 if not given."))


class ShareIn(Body):
    """A link to make to one path of a project."""

    path = Matching(
        r"/[!-~]{1,1000}",
        "begins with / and has no spaces",
        required=True,
        metadata=about("What the link opens, with its forms and what is below.", "/api/v1/projects/demo/cells"),
    )
    expires_in = Whole(60, 366 * 86_400, load_default=30 * 86_400, metadata=about("Seconds; 30 days if not given."))

    @validates_schema
    def plain(self, data: Any, **_options: Any) -> None:
        if {"?", "#"} & set(data.get("path", "")):
            raise ValidationError({"path": ["is a path without query and fragment"]})


class AliasIn(Body):
    """Two names to join: grids that say `alias` count as grids of `name`."""

    kind = Choice(*KINDS, required=True, metadata=about("What the names are names of."))
    alias = Name(required=True, metadata=about("What some grids say.", "AIME24"))
    name = Name(required=True, metadata=about("What it stands for.", "AIME'24"))


class SuiteIn(Body):
    """The benchmarks of a suite."""

    benchmarks = Few(
        Member(),
        required=True,
        validate=validate.Length(1, MOST_IN_SUITE, error=f"must have 1 to {MOST_IN_SUITE:,} names"),
        metadata=about(
            "Their names, each alone or with those of its levels that count: `STS22@subset=en,split=test`; several of "
            "one axis are `X@axis=a,axis=b`, a range is `X@axis=>=64000`. An @ without `axis=` behind it is of the "
            "name. One that stands there twice counts once."
        ),
    )


class PageParameters(Schema):
    limit = PageLimit(metadata=about("How many items a page has at most."))


_NEXT = about("`next` of the page before.")
ID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"


def cursor_of(pattern: str) -> Any:
    """The place in a list of which cursors match this pattern."""
    return Matching(pattern, "is not a cursor of this list", metadata=_NEXT)


class ProjectsParameters(PageParameters):
    cursor = cursor_of(SLUG)
    deleted = Choice(
        "exclude",
        "only",
        load_default="exclude",
        metadata=about("`only`: those with a tombstone that you administer. They have `deleted_at`."),
    )


class DeletedProjectParameters(Schema):
    cascade = fields.Boolean(load_default=False, metadata=about("Delete the project's grids with it."))


class ByIdParameters(PageParameters):
    cursor = cursor_of(ID)


class NamesParameters(PageParameters):
    cursor = cursor_of("[0-9a-f]{1,1600}")


def _words(text: str) -> Any:
    return Words(metadata=about(f"1 to 8 words, in any order, anywhere in {text}, in upper or lower case.", "qwen 7b"))


def many_names(text: str) -> Any:
    return fields.List(Name(empty=True), load_default=list, metadata=about(text))


def name_or_axis(metadata: Any) -> Any:
    """A kind of name, or an axis; `model` if not given."""
    wanted = "is model, variant, benchmark or axis:<name>"
    return Matching(
        r"model|variant|benchmark|axis:[^\x00-\x1f\x7f]{1,200}", wanted, load_default="model", metadata=metadata
    )


class OfNames(Schema):
    """Only grids of these names."""

    experiment = many_names("Repeat for OR; names joined by an alias count as one.")
    benchmark = many_names("Repeat for OR.")
    model = many_names("Repeat for OR.")
    variant = many_names("Repeat for OR.")
    metric = many_names("Repeat for OR.")


class NamesInUseParameters(OfNames, NamesParameters):
    suite = Name(empty=True, load_default="", metadata=about("The benchmarks of this suite, in place of `benchmark`."))
    q = _words("the name or in one that an alias joins to it")


class RevisionsParameters(PageParameters):
    cursor = cursor_of("[1-9][0-9]{0,8}")


_SINCE = (
    "Only what changed then or later: RFC 3339, or a day. Without an offset it is UTC; of a second's digits the first"
    " six count."
)


class Filtered(OfNames):
    """Filters of grids; the view adds `label.<key>`, which no schema can name."""

    updated_since = Instant(metadata=about(_SINCE))


class FindParameters(Filtered, PageParameters):
    deleted = Choice(
        *get_args(Deleted),
        load_default="exclude",
        metadata=about(
            "Grids with a tombstone: `exclude` them, `only` them, or `include` them. They have `deleted_at`, and count"
            " as updated then: with `updated_since` a mirror sees what went. Needs a token of the project."
        ),
    )
    cursor = cursor_of(f"[0-9a-f]{{1,1600}}~{ID}")

    id = Matching(
        "[0-9a-f][0-9a-f-]{3,35}",
        "is not an id or the first characters of one",
        metadata=about("A grid's id, or its first characters (4 or more).", "0193"),
    )
    q = _words("the names and labels (`<key>=<text>`) of a grid")
    sort = Choice(
        *SORTS, *(f"-{name}" for name in SORTS), load_default="-updated_at", metadata=about("A minus for descending.")
    )


def _missing() -> Any:
    meant = about("`explicit` writes unmeasured cells too, with an empty value.")
    return Choice("absent", "explicit", load_default="absent", metadata=meant)


class TableParameters(Filtered):
    """What every feed of a project takes."""

    names = Choice(
        "joined",
        "sent",
        load_default="joined",
        metadata=about(
            "`joined`: aliases count as the names that they stand for, and `<kind>_as_sent` has what was posted."
            " `sent`: the names as they were posted, without these columns."
        ),
    )


class StatisticsTableParameters(TableParameters):
    part = Choice("trends", "peaks", "coverage", required=True, metadata=about("The statistic that the rows have."))


class FeedParameters(TableParameters):
    missing = _missing()


MOST_GRIDS = 100
"""Grids that one request names: more make an address that servers refuse."""


class WholeGridsParameters(Schema):
    grid = fields.List(
        fields.UUID(),
        load_default=list,
        validate=validate.Length(max=MOST_GRIDS),
        metadata=about("Only these ids; what is not there is left out."),
    )


def number_of_revision(text: str, example: int | None = None, **options: Any) -> Any:
    """A parameter that is the number of a revision, or of a version."""
    return Whole(1, 2**31 - 1, text=True, metadata=about(text, example), **options)


class RevisionParameters(Schema):
    revision = number_of_revision("An older revision.")


class DifferenceParameters(Schema):
    a = number_of_revision("The revision before.", 1, required=True, data_key="from")
    b = number_of_revision("The revision after.", 2, required=True, data_key="to")


class DeleteParameters(Schema):
    revision = number_of_revision("A precondition: deleted only if this is the current revision, 412 else.")


class CellsParameters(RevisionParameters):
    missing = _missing()


def fields_wanted() -> Any:
    """The parameter that chooses fields of the answer."""
    return Matching(
        FORM,
        "is paths of fields with commas between them, as in series.at,series.slope",
        metadata=about(
            "Only these fields of the JSON: paths with dots, commas between them, as in `series.at,series.slope`. Lists"
            " are passed through; in a mapping the next name is a key, or `*`; a name with a dot stands in backquotes."
        ),
    )


class OfOthersParameters(Schema):
    """What narrows a selection beside its models, the same in every operation."""

    benchmark = many_names("Only these; all if not given.")
    variant = many_names("Only these; all if not given.")
    suite = Name(empty=True, load_default="", metadata=about("The benchmarks of this suite, in place of `benchmark`."))
    as_of = AsOf(metadata=about("The grids as they were then; a day: where it began in UTC."))


class OfNamesParameters(OfOthersParameters):
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
        "Names that do not decide which slots are common, and are left out where a slot must be common to all that are"
        " shown; `none`: nobody. If not given, or `auto`:"
        " those that lack more than a fifth of the slots that most have. The answer lists them with what they lack."
    )


GRID_ID = "[0-9A-Fa-f]{8}-([0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}"
