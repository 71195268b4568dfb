"""Tests by the names of their authors, and why there is none."""

from __future__ import annotations

from collections.abc import Iterable

from registry.renderings.words import said
from registry.results.gaps import GapTest

_TESTS = {
    "cochran_mantel_haenszel": "Cochran–Mantel–Haenszel",
    "fisher": "Fisher's exact test",
    "clustered_t": "t of the items' differences, clustered by item",
    "mantel_haenszel": "Mantel–Haenszel",
    "mcnemar": "McNemar's exact test",
    "paired_items": "t of the items' differences on each benchmark",
    "paired_t": "t of the items' differences",
    "pooled_z": "z with the trials pooled",
    "sign_flip": "exact sign flip",
    "sign_flip_normal": "sign flip by the normal law",
    "sign_flip_normal_over_benchmarks": "sign flip over the benchmarks by the normal law",
    "sign_flip_over_benchmarks": "exact sign flip over the benchmarks",
    "z": "z",
    "welch": "Welch's t",
}


def why_not(test: GapTest) -> str:
    """Why there is no test."""
    return test.reason or said(test.status)


def named_test(test: str | None) -> str:
    """A test by the names of its authors."""
    return _TESTS.get(test or "", said(test))


def either(names: Iterable[str]) -> str:
    """The different names in one phrase."""
    return " or ".join(dict.fromkeys(names))


def attainable_p(test: GapTest | None) -> float | None:
    """A p-value that could have been significant."""
    return test.p_holm if test and test.status == "ok" else None
