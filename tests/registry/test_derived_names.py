"""Names of averages."""

from __future__ import annotations

import pytest

from registry.grids.derived_names import looks_derived


@pytest.mark.parametrize(
    "name", ["Average", "AVG", "avg.", "Mean", "overall", "Total", "Macro avg", "Micro avg", "MMLU average", "x_mean"]
)
def test_a_name_that_ends_in_the_word_for_an_average_looks_derived(name: str) -> None:
    assert looks_derived(name)


@pytest.mark.parametrize("name", ["", "GSM8K", "Mean IoU", "Meaning", "Totally new", "Averaged", "demean", "GPQA_D"])
def test_other_names_do_not(name: str) -> None:
    assert not looks_derived(name)
