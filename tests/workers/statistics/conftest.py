"""What tests of statistics share."""

from collections.abc import Iterator

import pytest

from tests.workers.statistics.reference_numbers import described


@pytest.fixture(autouse=True)
def _each_test_computes_what_it_asserts() -> Iterator[None]:
    yield
    described.cache_clear()
