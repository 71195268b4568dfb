"""Outcomes of items as values: packing, digests, and whether they agree with the value of their cell."""

import gzip
import hashlib
import json
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from registry.grids.grid import Cell, Metric
from registry.grids.outcomes import (
    HeldItems,
    Outcomes,
    digest_of_ids,
    disagreement,
    fates,
    fourfold,
    has_spare_bits,
    scale_of,
    size_of_bits,
)
from registry.storage.item_outcomes import packed_cells, unpacked_cells

bits = st.lists(st.booleans(), min_size=1, max_size=70)


def packed(flags: list[bool]) -> bytes:
    return np.packbits(np.array(flags, dtype=np.uint8)).tobytes()


@given(bits)
def test_bits_are_packed_as_numpy_packs_them_and_one_beyond_the_last_is_seen(flags: list[bool]) -> None:
    content = packed(flags)
    assert len(content) == size_of_bits(len(flags))
    assert not has_spare_bits(content, len(flags))
    assert Outcomes(len(flags), bits=content).mean == pytest.approx(sum(flags) / len(flags), rel=1e-15)
    for place in range(-len(flags) % 8):
        assert has_spare_bits(packed([*flags, *([False] * place), True]), len(flags))


def _row(held: list[HeldItems], count: int) -> SimpleNamespace:
    return SimpleNamespace(set_name="s", digest=b"\x01" * 32, count=count, **packed_cells(held))


@given(st.integers(1, 40).flatmap(lambda n: st.tuples(st.just(n), st.lists(st.one_of(
    st.lists(st.booleans(), min_size=n, max_size=n),
    st.lists(st.floats(0, 1, width=64), min_size=n, max_size=n),
), min_size=1, max_size=5))))  # fmt: skip
def test_what_is_stored_is_read_back_bit_by_bit(drawn) -> None:
    count, columns = drawn
    held = []
    for place, column in enumerate(columns):
        if isinstance(column[0], bool):
            outcomes = Outcomes(count, bits=packed(column))
        else:
            outcomes = Outcomes(count, scores=tuple(column), repeats=3)
        held.append(HeldItems("s", "sha256:" + "01" * 32, (f"é{place}", "x"), 12.5, None, outcomes))
    assert list(unpacked_cells(_row(held, count))) == held


def test_bits_that_are_mostly_alike_take_less_and_twice_the_same_bytes() -> None:
    flags = np.zeros(10_000, dtype=np.uint8)
    flags[::97] = 1
    held = [HeldItems("s", "", ("x",), 1.04, 10_000, Outcomes(10_000, bits=np.packbits(flags).tobytes()))]
    assert 8 * sum(map(len, packed_cells(held).values())) < 0.3 * 10_000
    assert packed_cells(held) == packed_cells(held)
    assert gzip.decompress(packed_cells(held)["outcomes"]) == np.packbits(flags).tobytes()


def test_the_digest_of_ids_is_that_of_a_compact_json_array() -> None:
    ids = ["a", 'q"1', "é\n", "\U0001f600"]
    text = json.dumps(ids, ensure_ascii=False, separators=(",", ":"))
    assert digest_of_ids(ids) == "sha256:" + hashlib.sha256(text.encode()).hexdigest()
    assert digest_of_ids(["a", "b"]) != digest_of_ids(["b", "a"]) != digest_of_ids(["ab"])


@pytest.mark.parametrize(
    ("value", "trials", "whole", "ones", "count", "agrees"),
    [
        (99.3, 300, 100.0, 298, 300, True),  # 99.33
        (99.3, 300, 100.0, 297, 300, False),  # 99.0
        (99.0, 300, 100.0, 298, 300, False),
        (99.33333333333333, 300, 100.0, 298, 300, True),
        (0.9933333333333333, 300, 1.0, 298, 300, True),
        (99.3, None, 100.0, 298, 300, True),
        (99.4, None, 100.0, 298, 300, False),
        (50.0, 300, 100.0, 50, 100, False),  # other trials
        (66.7, None, 100.0, 2, 3, True),
        (66.6, None, 100.0, 2, 3, False),
        (67.0, None, 100.0, 2, 3, True),  # a whole number: half a percent of the scale
        (1.0, None, 1.0, 96, 100, False),
        (0.0, None, 1.0, 0, 5, True),
    ],
)
def test_outcomes_agree_with_the_value_of_their_cell(value, trials, whole, ones, count, agrees) -> None:
    given_bits = packed([True] * ones + [False] * (count - ones))
    found = disagreement(Cell((), value, trials), whole, Outcomes(count, bits=given_bits))
    assert (found is None) is agrees, found


def test_scores_of_repeats_are_whole_numbers_of_successes() -> None:
    half = Outcomes(2, scores=(0.25, 0.75), repeats=4)
    assert disagreement(Cell((), 0.5, 8), 1.0, half) is None
    odd = disagreement(Cell((), 0.5, 8), 1.0, Outcomes(2, scores=(0.3, 0.7), repeats=4))
    assert odd == "0.3 is no mean of 4 trials"
    assert disagreement(Cell((), 0.5, 8), 1.0, Outcomes(2, scores=(0.25, 0.75))) == (
        "the cell has 8 trials; 2 items are 2"
    )


def test_an_outcome_of_one_is_the_scale_of_the_metric() -> None:
    percent, proportion = Metric("a", "%", None, 0, 100), Metric("a", None, None, 0, 1)
    assert [scale_of(one) for one in (percent, Metric("a", "%"))] == [100.0, 100.0]
    assert [scale_of(one) for one in (proportion, Metric("a"))] == [1.0, 1.0]
    assert [scale_of(Metric("a", None, None, *bounds)) for bounds in ((1, 10), (0, None))] == [None, None]


def of_table(both: int, lost: int, gained: int, neither: int) -> tuple[Outcomes, Outcomes]:
    """Outcomes before and after, with so many items of each kind."""
    kinds = [(True, True)] * both + [(True, False)] * lost + [(False, True)] * gained + [(False, False)] * neither
    before, after = (Outcomes(len(kinds), bits=packed(list(side))) for side in zip(*kinds, strict=True))
    return before, after


@pytest.mark.parametrize(
    ("table", "kappa", "stderr"),
    [((20, 5, 10, 15), 0.4, 0.12699606293110033), ((45, 15, 25, 15), 0.13043478260869554, 0.0986615376234396)],
)
def test_agreement_beyond_chance_is_that_of_statsmodels(table: tuple[int, ...], kappa: float, stderr: float) -> None:
    """Tables of the article on Cohen's kappa in Wikipedia; `cohens_kappa` of statsmodels 0.14 gave the numbers."""
    told = fourfold(*of_table(*table))
    assert (told["both"], told["neither"], told["agreement"]) == (
        table[0],
        table[3],
        (table[0] + table[3]) / sum(table),
    )
    assert (told["kappa"], told["kappa_stderr"]) == (pytest.approx(kappa), pytest.approx(stderr))


def test_agreement_is_none_beyond_chance_where_both_say_one_thing() -> None:
    told = fourfold(*of_table(3, 0, 0, 0))
    assert (told["agreement"], told["kappa"], told["kappa_stderr"], told["needed"]) == (1, None, None, None)
    assert fourfold(*of_table(2, 0, 0, 2))["kappa"] == 1


@pytest.mark.parametrize("table", [(9, 1, 0, 0), (9, 0, 1, 0), (0, 1, 0, 9), (0, 0, 1, 9)])
def test_agreement_beyond_chance_is_not_defined_where_one_side_says_one_thing(table: tuple[int, ...]) -> None:
    """Ninety percent agree, and as many would by chance, whatever the other side says."""
    told = fourfold(*of_table(*table))
    assert (told["agreement"], told["kappa"], told["kappa_stderr"]) == (0.9, None, None)


def test_scores_have_no_agreement() -> None:
    assert fourfold(Outcomes(1, scores=(0.5,)), Outcomes(1, scores=(0.5,))) == {}


@pytest.mark.parametrize(("gained", "lost"), [(15, 5), (20, 10), (60, 40), (9, 1), (93, 7), (1, 0), (520, 480)])
def test_the_items_that_must_differ_are_enough_for_the_exact_test_four_times_of_five(gained: int, lost: int) -> None:
    n, share = fourfold(*of_table(5, lost, gained, 5))["needed"], gained / (gained + lost)

    def power(count: int) -> float:
        fewest = next(k for k in range(count + 2) if 2 * binom.sf(k - 1, count, 0.5) <= 0.05)
        return float(binom.sf(fewest - 1, count, share))

    assert n > 5, "of five McNemar's test finds nothing"
    assert n == 30 or gained != 15, "as in tables of the sign test, of a share of 3 in 4"
    assert power(n) >= (0.8 if n < 500 else 0.79)
    assert power(n - 1) < 0.8 or n > 20
    assert fourfold(*of_table(5, gained, lost, 5))["needed"] == n


def test_an_item_is_dead_saturated_or_decides_if_it_came_out_otherwise_once() -> None:
    models = [Outcomes(5, bits=packed(flags)) for flags in ([0, 1, 1, 0, 1], [0, 1, 0, 0, 1], [0, 1, 1, 1, 1])]
    assert fates(models) == ([0], [1, 4], [2, 3])
    assert fates([Outcomes(3, scores=(0.5, 0.5, 0.0))] * 2) == ([2], [], []), "alike, and neither dead nor saturated"
    assert fates(models[:1]) == ([0, 3], [1, 2, 4], [])
    as_scores = Outcomes(5, scores=(0.0, 1.0, 1.0, 0.0, 0.5))
    assert fates([*models, as_scores]) == ([0], [1], [2, 3, 4])
