"""How far a ranking depends on its policy, and the test that belongs to mean ranks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from registry.renderings.numbers import UNDEFINED, p_value
from registry.renderings.sheet import Block, Heading, Lines
from registry.renderings.table import Column, Table
from registry.renderings.words import counted, said

Document = dict[str, Any]
_AUTHORS = {"helm win rate": "HELM win rate", "bradley terry": "Bradley–Terry", "borda": "Borda"}
_TARGETS = {
    "rerun": "these cells, run again",
    "new_questions": "other questions of these benchmarks",
    "new_benchmarks": "other benchmarks of this kind",
}


def policy_blocks(document: Document) -> Iterator[Block]:
    """One row a policy, one column a name in the order of the ranking."""
    found = [one for one in document.get("policy_sensitivity") or () if isinstance(one.get("ranks"), list)]
    if not found:
        return
    place = {row.get("name"): number for number, row in enumerate(document.get("ranking") or [])}
    found.sort(key=lambda one: place.get(one.get("name"), len(place)))
    yield Heading("Ranks under other policies", 2)
    yield _table(document, found)
    kept = sum(one.get("best") == one.get("worst") for one in found)
    yield Lines(
        (
            *(["tau: Kendall's agreement with the order that was asked for"] if _agreement(document) else []),
            f"names that keep their rank under every policy: {kept} of {len(found)}",
        )
    )


def _table(document: Document, found: Sequence[Document]) -> Table:
    asked = {"method": document.get("method"), "missing": document.get("missing")}
    policies = list(dict.fromkeys(_key(one) for entry in found for one in [asked, *entry["ranks"]]))
    agreement = _agreement(document)
    columns = [Column("policy", [", ".join(map(method, policy)) for policy in policies])]
    if agreement:
        taus = [agreement.get(policy) for policy in policies]
        columns.append(Column("tau", ["" if tau is None else f"{tau:.2f}" for tau in taus], True))
    for entry in found:
        ranks = {_key(one): one.get("rank") for one in [*entry["ranks"], asked | {"rank": entry.get("rank")}]}
        cells = [UNDEFINED if ranks.get(policy) is None else str(ranks[policy]) for policy in policies]
        columns.append(Column(str(entry.get("name")), cells, True))
    return Table(columns, keys=len(columns) - len(found))


def _agreement(document: Document) -> dict[tuple[str, ...], float | None]:
    """Kendall's tau of each policy's order with the order asked for."""
    return {_key(one): one.get("tau") for one in (document.get("stability") or {}).get("agreement") or ()}


def _key(policy: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(policy[name]) for name in ("method", "missing") if policy.get(name))


def method(name: Any) -> str:
    """A method or a policy in plain writing."""
    return _AUTHORS.get(said(name), said(name))


def target(name: Any) -> str:
    """What the errors of a ranking are about, in plain writing."""
    return f"{said(name)} ({_TARGETS[name]})" if name in _TARGETS else said(name)


def friedman_blocks(document: Document) -> Iterator[Block]:
    """Friedman's test of mean ranks; a complete benchmark is a block."""
    found = document.get("friedman")
    if not found:
        return
    yield Heading("Friedman test", 2)
    if found.get("chi2") is None:
        yield str(found.get("reason") or "not computed")
        return
    yield Lines(tuple(_friedman(found)))


def _friedman(found: Document) -> Iterator[str]:
    blocks = (
        f", blocks: {counted(found['blocks'], 'benchmark', 'benchmarks')}" if found.get("blocks") is not None else ""
    )
    yield f"chi-squared {found['chi2']:.4g} with {found.get('df')} df, p {p_value(found.get('p'))}{blocks}"
    corrected, critical = found.get("iman_davenport") or {}, found.get("critical_difference") or {}
    if corrected.get("f") is not None:
        yield f"Iman–Davenport F {corrected['f']:.4g}, p {p_value(corrected.get('p'))}"
    if found.get("exact_p") is not None:
        yield f"exact p {p_value(found['exact_p'])}"
    if critical.get("value") is not None:
        yield f"critical difference of mean ranks (Nemenyi): {critical['value']:.3g}"
