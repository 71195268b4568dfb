"""Claims as pages show them: the sentence, which verdict it has, and the numbers."""

import itertools
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from sqlalchemy import Connection

from registry.claims.claim import Claim, Compound, Extreme, IllPosed, Part, Rank, Says, atoms_of
from registry.claims.grammar import read_claim
from registry.claims.wording import stated, subject
from registry.operations.find_claims import (
    CONTRADICTED,
    LAYERS_DIFFER,
    ClaimFilters,
    claims_in_order,
    names_of_experiment,
    verdict_in_order,
    verdicts_in_order,
)
from registry.operations.names import Joined
from registry.pages.links import to
from registry.renderings.numbers import typeset
from registry.renderings.words import counted
from registry.results.codec import from_bytes

WORDS: Mapping[str, str] = {
    "contradicted": "Contradicted",
    "not_decidable": "Not decidable",
    "supported": "Supported",
    "supported_as_posted": "Supported as posted",
    "supported_beyond_noise": "Supported beyond noise",
    "ill_posed": "Ill-posed",
    "unjudged": "Being judged",
    "beyond_noise": "Contradicted beyond noise",
    "within_noise": "Contradicted as posted",
    "layers_differ": "As posted contradicted, beyond noise supported",
}
"""Verdicts, the two ways in which a claim is contradicted or supported, and what is neither."""
_TRIALS = re.compile(r" With [\d,.]+ times the (trials|repeats).*")
_IN_SECTION = 24
_LONGEST_QUOTE = 320
_STATEMENTS = 3
"""Of a claim without a text that are told in place of one."""


@dataclass(frozen=True, slots=True)
class ShownClaim:
    """A claim in a list. `quote` is what somebody wrote, or what the claim says in the words of its kind."""

    id: uuid.UUID
    quote: str
    is_quoted: bool
    verdict: str
    finer: str
    """The verdict, and of what is contradicted in which way."""
    sentence: str
    source: Mapping[str, Any]
    experiment: str
    is_due: bool
    """Whether it is judged again, as results have changed since."""

    @property
    def beginning(self) -> str:
        """The quote, or of a long one what a heading has room for."""
        return self.quote if len(self.quote) <= _LONGEST_QUOTE else f"{self.quote[:_LONGEST_QUOTE].rstrip()}…"

    @property
    def short(self) -> str:
        """The sentence without how many trials would decide it."""
        return _TRIALS.sub("", self.sentence)

    @property
    def tone(self) -> str:
        """The verdict whose colour it has: what only one layer contradicts is open."""
        return "not_decidable" if self.finer == LAYERS_DIFFER else self.verdict

    @property
    def word(self) -> str:
        """The verdict in words."""
        return WORDS[self.finer]


@dataclass(frozen=True, slots=True)
class SaidOf:
    """What is said of the results of a page: the first claims, those that do not hold before the others."""

    claims: Sequence[ShownClaim]
    counts: Mapping[str, int]
    tags: Sequence[object]

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def headline(self) -> str:
        return headline(self.counts)

    @property
    def ordered(self) -> Sequence[tuple[str, str, int]]:
        return ordered(self.counts)

    @property
    def is_due(self) -> bool:
        return any(one.is_due or one.verdict == "unjudged" for one in self.claims)


def headline(counts: Mapping[str, int]) -> str:
    """How many sentences are contradicted, and how many of them beyond noise; "" where there are none at all."""
    total, (sure, unsure) = sum(counts.values()), (counts.get(one, 0) for one in CONTRADICTED)
    wrong = sure + unsure
    sentences = counted(total, "sentence", "sentences")
    if not total:
        return ""
    if wrong:
        beyond = f", {f'{sure:,}' if sure else 'none'} of them beyond noise" if unsure else ", beyond noise"
        are, their = ("is", "its") if wrong == 1 else ("are", "their")
        return f"{wrong:,} of {sentences} {are} contradicted by {their} own numbers{beyond}"
    if counts.get("unjudged", 0) == total:
        return f"{sentences}, being judged"
    if total == 1:
        return "The one sentence is not contradicted by its numbers"
    return f"None of {sentences} is contradicted by its numbers"


def said_of(
    connection: Connection, row: Any, experiment: str, grid: uuid.UUID | None = None, joined: Joined | None = None
) -> SaidOf:
    """The claims about an experiment, or of those the ones that were judged by a grid; the row is the project's, or the
    grid's.

    A share that does not open the claims shows none: they have numbers of other grids.
    """
    project_id, slug = (row.project_id, row.project) if grid else (row.id, row.slug)
    if not to(f"/projects/{slug}/claims"):
        return SaidOf((), {}, ())
    filters = ClaimFilters(experiment=names_of_experiment(connection, project_id, experiment, joined))
    rows = claims_in_order(connection, project_id, filters, _IN_SECTION, grid=grid)
    counts = verdicts_in_order(connection, project_id, filters, grid) if rows else {}
    return SaidOf([shown_claim(row) for row in rows], counts, [tags_of_claims(rows), counts])


def tags_of_claims(rows: Sequence[Any]) -> list[object]:
    """Changes when what is shown of these claims does."""
    return [(row.id, row.judgement, row.state, row.updated_at) for row in rows]


def shown_claim(row: Any) -> ShownClaim:
    """The claim of a row as `find_claim` has it."""
    return ShownClaim(
        row.id,
        row.text or said_by(read_claim(orjson.loads(row.normal))),
        bool(row.text),
        row.verdict or "unjudged",
        verdict_in_order(row),
        sentence_of(row),
        row.source,
        row.experiment,
        row.state == "pending",
    )


def sentence_of(row: Any) -> str:
    """The judgement of a row in words, with why no results can decide it; "" where there is none."""
    if not row.document:
        return ""
    document = from_bytes(row.document)
    atoms = atoms_of(read_claim(document["claim"]).says) if row.verdict == "ill_posed" else ()
    why = dict.fromkeys(atom.says.because for _, atom in atoms if isinstance(atom.says, IllPosed))
    return typeset(" ".join([document["sentence"], *filter(None, why)]))


def said_by(claim: Claim) -> str:
    """What a claim says, in the words of its kinds."""
    told = [f"{subject(atom, {})}{_own_cells(atom.says)}: {stated(atom.says)}" for _, atom in atoms_of(claim.says)]
    more = [f"and {len(told) - _STATEMENTS} more"] if len(told) > _STATEMENTS else []
    return "; ".join([*told[:_STATEMENTS], *more])


def _own_cells(says: Says) -> str:
    """Over which cells levels are compared, where that is not over those that all have."""
    if not isinstance(says, Extreme | Rank) or says.missing == "matched":
        return ""
    return f" of each over its own cells (missing {says.missing})"


def denies(part: Part) -> bool:
    """Whether a claim says of some of its statements that they do not hold."""
    return isinstance(part, Compound) and (part.kind == "not" or any(map(denies, part.claims)))


@dataclass(frozen=True, slots=True)
class ShownPart:
    """One statement of a claim in one of its groups, with its numbers. `interval` is what noise leaves possible."""

    subject: str
    claimed: str
    posted: str
    interval: str
    as_posted: str
    beyond_noise: str


def shown_parts(document: Mapping[str, Any]) -> Iterator[ShownPart]:
    """The statements of a judgement, in its order."""
    atoms = dict(atoms_of(read_claim(document["claim"]).says))
    for part in document.get("parts", ()):
        atom, numbers = atoms[part["part"]], part["numbers"]
        ends = (numbers["low"], numbers["high"])
        yield ShownPart(
            typeset(", ".join(filter(None, [subject(atom, part.get("group") or {}), numbers.get("over")]))),
            typeset(stated(atom.says)),
            _posted(numbers),
            "" if ends == (None, None) else f"{number(ends[0]) or '−∞'} to {number(ends[1]) or '∞'}",
            part["as_posted"],
            part["beyond_noise"],
        )


def _posted(numbers: Mapping[str, Any]) -> str:
    """The number as posted, and of a count of how many; "" for none."""
    told = number(numbers["estimate"])
    return f"{told} of {number(numbers['out_of'])}" if told and numbers.get("out_of") is not None else told


def number(value: float | None) -> str:
    """A number with at most four digits after those before the point; "" for none."""
    if value is None:
        return ""
    written = f"{value:,.4f}" if abs(value) >= 1_000 else f"{value:.4g}"
    return typeset(written.rstrip("0").rstrip(".") if "." in written and "e" not in written else written)


def ordered(verdicts: Mapping[str, int]) -> list[tuple[str, str, int]]:
    """Each verdict that some claim has: its name, its word and how many have it."""
    return [(name, WORDS[name], count) for name, count in verdicts.items() if count]


def cells_of(document: Mapping[str, Any], most: int) -> list[str]:
    """The cells that decide a claim: `83.7 at Length 9, Type 1`."""
    found = (cell for part in document.get("parts", ()) for cell in part["numbers"].get("cells", ()))
    told = (
        f"{number(one['value'])} at {', '.join(f'{axis} {level}' for axis, level in one['at'].items())}"
        for one in found
    )
    return list(itertools.islice(dict.fromkeys(told), most))
