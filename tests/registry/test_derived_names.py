"""Names of averages."""

from __future__ import annotations

from registry.grids.suspect_names import looks_derived

AVERAGES = ["Average", "AVG", "avg.", "Mean", "overall", "Total", "Macro avg", "Micro avg", "MMLU average", "x_mean"]
OTHERS = ["", "GSM8K", "Mean IoU", "Meaning", "Totally new", "Averaged", "demean", "GPQA_D"]


def test_a_name_that_ends_in_the_word_for_an_average_looks_derived() -> None:
    assert [name for name in (*AVERAGES, *OTHERS) if looks_derived(name)] == AVERAGES
