"""The words that rules know, beside the vague ones of the dictionary: each phrase with its part in a sentence.

A clause with a word that is neither here nor a name of the project is not read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from registry.claims.dictionary import Entry, entries_by_word
from registry.claims.parsing.tokens import Token


class Word(NamedTuple):
    """What a phrase is in a sentence: its kind, and a value that rules ask for; `entry` for a vague one."""

    kind: str
    value: Any = None
    entry: Entry | None = None


def _verbs(bases: str) -> Iterator[str]:
    """The forms of regular verbs; `/` before an ending that doubles the last letter: `drop/`."""
    for base in bases.split():
        stem = base.rstrip("/")
        yield stem
        yield stem + ("es" if stem.endswith(("s", "x", "sh", "ch")) else "s")
        short = stem.removesuffix("e")
        long = stem + stem[-1] if base.endswith("/") else short
        yield long + "ed"
        yield long + "ing"


def _all() -> Iterator[tuple[str, Word]]:
    for kind, value, phrases in _WORDS:
        for phrase in phrases:
            yield phrase, Word(kind, value)
    kinds = {"cells": "share", "ill_posed": "ill_posed", "number": "about"}
    kinds |= dict.fromkeys(("size", "course", "noise", "nothing"), "mod")
    for phrase, entry in entries_by_word():
        yield phrase, Word(kinds.get(entry.use) or _equal(entry), entry.value, entry)


def _equal(entry: Entry) -> str:
    """What is close to what: the cells of a series, two sides, or the means of levels."""
    return {"stable": "stable", "robust": "stable", "comparable": "alike", "little impact": "no_effect"}[entry.words[0]]


def _split(text: str) -> list[str]:
    return [one.strip() for one in text.split(",")]


_WORDS: Sequence[tuple[str, Any, Iterable[str]]] = (
    ("go", "up", [*_verbs("increase climb grow gain"), "rise", "rises", "rising", "rose", "grows", "grew", "upward",
                  "upward trend", "increasing trend", "goes up", "upwards", "rising trend"]),
    ("go", "down", [*_verbs("decrease decline"), "fall", "falls", "falling", "fell", "downward", "downward trend",
                    "decreasing trend", "declining trend", "goes down", "downwards", "falling trend",
                    "falling accuracy"]),
    ("go", "better", [*_verbs("improve"), "improvement", "improvements", "gets better"]),
    ("go", "worse", [*_verbs("degrade worsen deteriorate"), "degradation", "deterioration", "gets worse"]),
    ("go", "not_monotone", [*_verbs("fluctuate"), "fluctuation", "fluctuations", "inconsistent", "non-monotonic",
                            "not monotonic", "unsteady", "no monotonic trend",
                            "no single monotonic trend", "no consistent trend", "no directional trend",
                            "no consistent directional trend", "no single trend"]),
    ("event", "down", [*_verbs("drop/ dip/ plunge"), "drop-off"]),
    ("event", "up", [*_verbs("jump spike rebound recover"), "recovery"]),
    ("ext", "max", [*_verbs("peak"), *_split("highest, maximum, largest, highest value, maximum value, "
                    "highest accuracy, highest score, highest values, maxima, reaches its maximum, reaches its peak, "
                    "largest value")]),
    ("ext", "min", [*_verbs("bottom"), *_split("lowest, minimum, smallest, lowest value, minimum value, "
                    "lowest accuracy, lowest score, lowest values, minima, reaches its minimum, smallest value")]),
    ("ext", "best", _split("best, top performer, best performer, best-performing, top-performing, best result, "
                           "strongest, highest performance, best performance")),
    ("ext", "worst", _split("worst, worst performer, weakest, least effective, worst result, lowest performance, "
                            "worst performance")),
    ("ext", "most_even", _split("most consistent, most stable, least variable")),
    ("most_move", None, _split("most significant, biggest, greatest, most dramatic, sharpest, steepest")),
    ("start", "first", _split("starts, start, starting, begins, beginning, begin, started, initial, initially")),
    ("end", "last", _split("ends, end, ending, finishes, final, finally, reaches, reaching, reached")),
    ("be", None, _split("is, are, was, were, be, being, equals, scores, achieves, attains, achieving, scored, of, "
                        "has")),
    ("keep", None, [*_verbs("remain stay maintain"), "stabilizes", "stabilises", "holds", "keeps", "maintaining"]),
    ("span", None, _split("ranges, ranging, range, varies from, spans")),
    ("effect", "present", _split("depends, depend, dependent, is sensitive, sensitive, are sensitive, varies, vary, "
                                 "impact, effect, influence, affects, influences, impacts, variability, variation")),
    ("cmp", "better", [*_verbs("outperform surpass beat"), *_split("better, beats, beating, better than, ahead of, "
                       "superior to, performs better than")]),
    ("cmp", "worse", [*_verbs("underperform trail"), *_split("worse, worse than, lags behind, inferior to, behind, "
                      "performs worse than, loses to")]),
    ("cmp", "higher", _split("higher, higher than, greater than, above that of, higher accuracy than, exceeds, "
                             "exceed")),
    ("cmp", "lower", _split("lower, lower than, below that of, lower accuracy than, smaller than")),
    ("data", None, _split("data, measurements, measured, complete data, coverage, data points, evaluated, covers, "
                          "cover, measured values")),
    ("most_data", None, _split("most complete data, most data, most complete, most measurements")),
    ("no_data", None, _split("no data, no measurements, nothing was measured, missing data, missing, blank, empty, "
                             "incomplete")),
    ("concentrated", None, _split("concentrated, clustered, concentrate, cluster")),
    ("cells", None, _split("cells, values, cell, value, scores, numbers")),
    ("quant", "all", _split("all, all measured, all available, all tested, every, each, both, all the, "
                            "all of the, across all")),
    ("quant", "most", _split("most, most of the, the majority of, a majority of, majority of")),
    ("quant", "none", _split("no, none of the, none of, neither of the")),
    ("quant", "others", _split("all other, every other, all the other, all others, the other, any other, the others")),
    ("quant", "any", _split("any, any of the, at least one, at least one of the")),
    ("neg", None, _split("not, never, doesn't, does not, do not, don't, did not, isn't, is not, are not, aren't, "
                         "without, cannot, fails to, no longer")),
    ("except", None, _split("except, except for, excluding, but not, other than, apart from")),
    ("only", None, _split("only, exclusively, solely")),
    ("between", None, ["between"]),
    ("prep", "by", ["by"]),
    ("prep", "within", ["within", "to within"]),
    ("prep", "to", _split("to, into, until, till, through")),
    ("prep", "from", ["from", "since"]),
    ("prep", "than", ["than", "over", "compared to", "compared with", "versus", "vs"]),
    ("prep", "with", _split("with, along, with increasing, with increased, for increasing")),
    ("prep", "at", _split("at, in, on, for, across, among, under, against, during")),
    ("sep", None, _split("and, but, while, whereas, then, and then, followed by, before, after, although, though, "
                         "yet")),
    ("performance", None, _split("performance, performs, perform")),
    ("accuracy", None, _split("accuracy, accuracies")),
    ("fill", None, _split(
        "the, a, an, its, their, it, this, that, these, those, there, here, range, trend, trends, score, result, "
        "results, shows, show, showing, shown, exhibits, exhibit, exhibiting, demonstrates, demonstrate, displays, "
        "observed, occurs, occurring, occur, see, sees, experiences, experience, available, model's, method, methods, "
        "respective, also, relatively, have, having, suffers, had, do, does, did, whole, entire, same, extremely, 's, "
        "s, value of, values of, numbered, sequence, sequences, tasks, task, in terms of, setting, settings, "
        "different, various, used, using, tested, as")),
)  # fmt: skip

PHRASES: Mapping[str, Word] = dict(_all())
_LONGEST = max(len(phrase.split()) for phrase in PHRASES)
COMMON = frozenset(PHRASES)


def phrase_at(tokens: Sequence[Token], place: int) -> tuple[Word, int] | None:
    """The longest phrase from a token on, and the token after it. Apostrophes and dashes join the words of one."""
    said, best = "", None
    for end in range(place, min(len(tokens), place + 2 * _LONGEST)):
        token = tokens[end]
        joined = end > place and token.start == tokens[end - 1].end
        said += token.word if joined or end == place else f" {token.word}"
        if len(said) > 60:
            break
        following = tokens[end + 1] if end + 1 < len(tokens) else None
        whole = (
            following is None
            or following.start > token.end
            or not (following.text[0].isalnum() or following.text in "-'")
        )
        if said in PHRASES and (whole or not token.text[-1].isalnum()):
            best = PHRASES[said], end + 1
    return best
