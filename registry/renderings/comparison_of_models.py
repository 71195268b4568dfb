"""A comparison of two models: over all benchmarks, and on each of them."""

from collections.abc import Iterator, Sequence
from typing import Any

from registry.renderings.comparison import tested
from registry.renderings.numbers import UNDEFINED, ends, ends_of, intervals, level_of, p_value, places_of, rough, signed
from registry.renderings.sheet import Block, Heading, Lines
from registry.renderings.table import Column, Table, members, tidy
from registry.renderings.verdicts.comparison import model_comparison_verdict
from registry.renderings.words import (
    about,
    asked_columns,
    assumptions,
    attainable_p,
    counted,
    either,
    every,
    left_out_and_warnings,
    measure,
    named_test,
    said,
    versus,
    why_not,
)
from registry.results.comparison import (
    BenchmarkGap,
    BenchmarkHeterogeneity,
    ComparedModel,
    ModelComparison,
    WholeGap,
)
from registry.results.pairs import Pair

_SIDES = ("baseline", "contender")
_GRID = ("grid", "revision", "variant")
_NUMBERS = ("n_common", "wins", "ties", "losses", "mean", "median")
_TEST = ("test", "difference", "low", "high", "p", "p_holm", "detectable")
_LISTED = 12
"""Benchmarks of one side alone that are named; the rest is counted."""


def model_comparison_csv(document: ModelComparison) -> str:
    """One row a benchmark that both have: its grids, its cells, the difference and its test."""
    head = ["benchmark", "status", *(f"{side}_{name}" for side in _SIDES for name in _GRID), *_NUMBERS, *_TEST]
    also = asked_columns(document)
    return tidy([*head, *also], ([*_row(one), *also.values()] for one in document.by_benchmark))


def _row(one: BenchmarkGap) -> list[Any]:
    found = [one.benchmark, one.status, *members(one.baseline, *_GRID), *members(one.contender, *_GRID)]
    found += [*members(one, *_NUMBERS), *members(one.test, "name", "difference")]
    return [
        *found,
        *members(one.test and one.test.interval, "low", "high"),
        *members(one.test, "p", "p_holm", "detectable"),
    ]


def page(document: ModelComparison) -> Iterator[Block]:
    """The comparison's page: all benchmarks first, then each of them."""
    yield Heading(f"{_title(document)} — {measure(document.metric)}", 1)
    yield model_comparison_verdict(document).text
    yield Lines(tuple(_scope(document)))
    if document.whole and document.whole.benchmarks:
        yield Lines(tuple(_whole(document, document.whole)))
    yield from _benchmarks(document)
    if alone := tuple(_alone(document)):
        yield Lines(alone)
    if notes := (*assumptions(document.assumes), *left_out_and_warnings(document, "compared")):
        yield Lines(notes)


def _title(document: ModelComparison) -> str:
    """The names that differ, of both sides."""
    sides = (document.contender, document.baseline)
    mine, theirs = ([getattr(side, kind) or "" for kind in document.differs or ("model",)] for side in sides)
    return versus(mine, theirs)


def _scope(document: ModelComparison) -> Iterator[str]:
    yield about(document)
    for word in _SIDES:
        side: ComparedModel = getattr(document, word)
        variant = "" if side.variant is None else f", variant {side.variant or UNDEFINED}"
        yield f"{word}: {side.model}{variant}"
    if document.status != "ok":
        yield f"{said(document.status)}: {document.reason}"


def _whole(document: ModelComparison, whole: WholeGap) -> Iterator[str]:
    """All benchmarks together, one line a statistic."""
    alike = ", which weigh the same" if whole.benchmarks > 1 else ""
    yield f"over {counted(whole.benchmarks, 'benchmark', 'benchmarks')}{alike}: {_pair(whole)}"
    if whole.p is not None:
        yield "these two by themselves: a ranking of more names corrects for all of its pairs"
    if whole.benchmarks > 1 and whole.new_benchmarks and whole.estimand == "difference":
        yield f"if these are a sample of other benchmarks: {_pair(whole.new_benchmarks)}"
    if whole.p is None and whole.benchmarks == 1 and (found := document.by_benchmark[0].test) and found.p is not None:
        places = places_of([found.difference, *ends(found.interval)])
        yield f"if these are a sample of other cells: {tested(found, places)}"
    if whole.benchmarks_won is not None:
        won, tied, lost = whole.benchmarks_won, whole.benchmarks_tied, whole.benchmarks_lost
        sure = f"by their tests (Holm) it wins {whole.significant_wins} and loses {whole.significant_losses}"
        if not any(one.test and one.test.p_holm is not None for one in document.by_benchmark):
            sure = "none was tested"
        yield f"benchmarks: the contender wins {won}, ties {tied}, loses {lost}; {sure}"
        yield f"slots: the contender wins {whole.wins}, ties {whole.ties}, loses {whole.losses}"
    if whole.heterogeneity and whole.benchmarks > 1:
        yield _differing(whole.heterogeneity)


def _pair(pair: Pair) -> str:
    places = places_of([pair.difference, *ends(pair.interval)])
    found = signed(pair.difference, places) if pair.estimand == "difference" else f"lead {signed(pair.lead, 2)}"
    about = f" {intervals([pair.interval], places)[0]} ({level_of(pair.interval)})" if pair.interval else ""
    if pair.status != "ok" or pair.p is None:
        return f"{found}{about}; no test: {pair.reason or said(pair.status)}"
    seen = f"; could have shown {rough(pair.detectable)}" if pair.detectable is not None else ""
    return f"{found}{about}, p {p_value(pair.p)} by {named_test(pair.test)}{seen}"


def _differing(found: BenchmarkHeterogeneity) -> str:
    """Whether the benchmarks differ more than noise."""
    if found.p is None or found.statistic is None:
        return f"whether the difference differs between benchmarks is unknown: {found.reason}"
    if found.test == "cochran_q":
        named = f"Cochran's Q {found.statistic:.4g} with {found.df:g} df"
    else:
        free = found.df or 1
        named = f"Brown and Forsythe's F {found.statistic / free:.4g} with {free:.4g} and {found.df_error or 0:.4g} df"
    return (
        f"whether the difference is the same on {every(found.benchmarks, 'benchmarks')} whose error is known: {named}, "
        f"p {p_value(found.p)}"
    )


def _benchmarks(document: ModelComparison) -> Iterator[Block]:
    rows = document.by_benchmark
    if not rows:
        return
    yield Heading("By benchmark", 2)
    yield _table(rows)
    yield Lines(tuple(_notes(rows)))
    if document.by_benchmark_left_out:
        yield f"and {counted(document.by_benchmark_left_out, 'more benchmark', 'more benchmarks')}"


def _table(rows: Sequence[BenchmarkGap]) -> Table:
    tests = [row.test for row in rows]
    found = [test.interval if test else None for test in tests]
    places = places_of([*(test.difference for test in tests if test), *ends_of(found)])
    columns = [Column("benchmark", [row.benchmark for row in rows])]
    variants = [row.baseline.variant if row.baseline else "" for row in rows]
    if len(set(variants)) > 1:
        columns.append(Column("variant", variants))
    columns.append(Column("cells", [str(row.n_common) for row in rows], True))
    for name in ("wins", "ties", "losses"):
        if any(getattr(row, name) is not None for row in rows):
            told = [getattr(row, name) for row in rows]
            columns.append(Column(name, [UNDEFINED if one is None else str(one) for one in told], True))
    return Table(
        [
            *columns,
            Column("difference", [signed(test.difference if test else None, places) for test in tests], True),
            Column("interval", intervals(found, places)),
            Column("could show", [rough(test.detectable if test else None) for test in tests], True),
            Column("Holm p", [p_value(attainable_p(test)) for test in tests], True),
        ]
    )


def _notes(rows: Sequence[BenchmarkGap]) -> Iterator[str]:
    """Notes on the intervals and p-values of the benchmarks."""
    tests = [row.test for row in rows if row.test]
    known = [test.interval for test in tests if test.interval]
    if known:
        yield f"interval: {level_of(known[0])}, of one benchmark by itself"
    if named := either(named_test(test.name) for test in tests if test.p_holm is not None):
        yield f"Holm p: {named}, over the benchmarks"
    if silent := [test for test in tests if attainable_p(test) is None]:
        yield f"Holm p {UNDEFINED}: {why_not(silent[0])}"
    for row in rows:
        if row.status not in ("ok", "confounded"):
            yield f"{row.benchmark}: {said(row.status)}: {row.reason}"


def _alone(document: ModelComparison) -> Iterator[str]:
    """The benchmarks of one side alone."""
    for word, names in zip(_SIDES, (document.only_in_baseline, document.only_in_contender), strict=True):
        if names:
            more = f" and {len(names) - _LISTED:,} more" if len(names) > _LISTED else ""
            yield f"only the {word} has: {', '.join(names[:_LISTED])}{more}"
