"""What tests of claims share."""

import pytest

from workers.claims import trials


@pytest.fixture
def unplanned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the trials that would decide a claim uncounted, which takes longer than its verdict."""
    monkeypatch.setattr(trials, "MOST_WORK", 0)
