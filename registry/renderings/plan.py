"""A plan as sentences, and its shares as a table."""

from collections.abc import Iterator, Sequence
from typing import Any

from registry.renderings.numbers import rough
from registry.renderings.sheet import Block, Heading, Lines
from registry.renderings.table import Column, Table
from registry.renderings.words import place
from registry.results.plans import GateNow, Needed, NextCell, Plan, PlannedShare

_ASSUMED = {
    "independent_cells": "the cells are independent of one another",
    "equal_scaling": "where a multiple of the trials is named, all cells get the same",
    "independent_items": "items are independent of one another",
    "normal_law": "the estimate follows the normal law",
    "posted_numbers": "the posted numbers are true",
}
COLUMNS = ("benchmark", "share", "cells", "trials_now", "trials")
OUTCOME = ("affordable", "impossible", "reason")
"""What is said of the whole plan, in each row of a sheet."""
NEXT = ("benchmark", "model", "at", "why")
NEEDED = ("effect", "factor", "trials")


def page(plan: Plan, within: str = "") -> list[Block]:
    """What is told of a plan, as one `within` a ranking, after which words it asks to be as strict."""
    sides = "one-sided" if plan.one_sided else "two-sided"
    blocks: list[Block] = [Heading(f"Plan — power {plan.power:g}, alpha {plan.alpha:g}, {sides}", 1)]
    blocks.append(Lines(tuple(_sentences(plan, within))))
    if plan.next_cells:
        blocks.append(_first(plan.next_cells))
    if plan.allocation:
        blocks.append(_shares(plan.allocation))
    if assumed := [_ASSUMED.get(word, word) for word in plan.assumptions]:
        blocks.append(f"assumed: {'; '.join(assumed)}")
    return blocks


def _sentences(plan: Plan, within: str) -> Iterator[str]:
    if plan.kind == "claim":
        decided = "decides the claim" if plan.decidable_now else "does not decide the claim"
        yield f"what is stored {decided} beyond noise"
    if plan.gate is not None:
        yield from _of_gate(plan.gate)
    elif plan.observed is not None:
        error = "" if plan.stderr is None else f", standard error {rough(plan.stderr)}"
        decided = {True: ": shown to differ from 0", False: ": not told apart from 0", None: ""}[plan.decidable_now]
        yield f"measured: {plan.observed:+.4g}{error}{decided}"
    if plan.detectable:
        yield f"with the present {_counted(plan)} a difference of {rough(plan.detectable)} would be found"
    if plan.needed is not None:
        yield _takes(
            plan.needed, "to decide it" if plan.kind in ("claim", "gate") else "to show", within, _counted(plan)
        )
    if plan.cautious is not None:
        yield _takes(plan.cautious, "if it is as small as the interval leaves it,", within, _counted(plan))
    if plan.next_cells:
        more = f", and {plan.next_cells_left_out:,} more" if plan.next_cells_left_out else ""
        yield f"to be measured first, as the claim is about them: the cells below{more}"
    if plan.total:
        below = ", and is split below" if plan.allocation else ""
        enough = {True: "; the budget is enough", False: f"; the budget is not enough{below}", None: ""}[
            plan.affordable
        ]
        split = ", split as below" if plan.allocation and plan.affordable is not False else ""
        instead = "in place of one multiple for all, " if len(plan.allocation) > 1 else ""
        yield f"{instead}to be added: {plan.total:,} trials in all{split}{enough}"
    if plan.impossible is not None:
        yield f"impossible: {plan.reason}"


def _counted(plan: Plan) -> str:
    """What the plan counts: an error estimated from repeats shrinks like others, and is not of the normal law."""
    if "independent_items" in plan.assumptions:
        return "items"
    estimated = "equal_scaling" in plan.assumptions and "normal_law" not in plan.assumptions
    return "repeats" if estimated else "trials"


def _takes(needed: Needed, when: str, within: str, counted: str) -> str:
    parts = []
    if needed.factor is not None:
        parts.append(f"{rough(needed.factor)} times the {counted} of every cell")
    if needed.trials is not None:
        parts.append(f"{needed.trials:,} {counted} of each")
    effect = "" if needed.effect is None else f" {needed.effect:.4g}"
    return f"{when}{effect}{within}: {', '.join(parts) or f'too many {counted}'}"


def _of_gate(gate: GateNow) -> Iterator[str]:
    yield gate.sentence
    if gate.margin_shown_at_equal_scores is not None:
        possible = "" if gate.can_pass is None else f", which {'passes' if gate.can_pass else 'does not pass'}"
        yield f"equal scores and trials would exclude a loss of {rough(gate.margin_shown_at_equal_scores)}{possible}"
    if gate.trials_to_decide_margin is not None:
        yield f"equal scores pass with probability 80 % from {gate.trials_to_decide_margin:,} trials of a cell"


def _first(cells: Sequence[NextCell]) -> Table:
    rows = [[one.benchmark, one.model, place(one.at) if one.at else ""] for one in cells]
    return Table([Column(title, [row[i] for row in rows]) for i, title in enumerate(("benchmark", "model", "at"))])


def _shares(shares: Sequence[PlannedShare]) -> Table:
    rows = [tuple("" if cell is None else str(cell) for cell in row) for row in rows_of(shares)]
    kept = [i for i in range(len(COLUMNS)) if any(row[i] for row in rows)]
    heads = (*COLUMNS[:-2], "trials now", "more trials")
    return Table([Column(heads[i], [row[i] for row in rows], i > 0) for i in kept])


def sheet(plan: Plan) -> tuple[Sequence[str], list[list[Any]]]:
    """The plan as columns and rows: its shares, or without any the cells that come first, or what it takes."""
    outcome = [getattr(plan, name) for name in OUTCOME]
    if plan.allocation:
        return (*COLUMNS, *OUTCOME), [[*row, *outcome] for row in rows_of(plan.allocation)]
    if plan.next_cells:
        cells = [[one.benchmark, one.model, place(one.at) if one.at else None, one.why] for one in plan.next_cells]
        return (*NEXT, *OUTCOME), [[*row, *outcome] for row in cells]
    return (*NEEDED, *OUTCOME), [[*(getattr(plan.needed, name, None) for name in NEEDED), *outcome]]


def rows_of(shares: Sequence[PlannedShare]) -> list[list[Any]]:
    """A row for each share, under `COLUMNS`."""
    return [[one.benchmark, round(one.share, 4), one.cells, one.trials_now, one.trials] for one in shares]
