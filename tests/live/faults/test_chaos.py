"""F1, chaos: twelve kinds of fault, one every three seconds, while eight clients write and read."""

from pathlib import Path

from tests.live.faults.chaos import chaos

SEED = 20261121
KINDS = 12


def test_nothing_is_lost_stale_duplicated_or_wrong(tmp_path: Path) -> None:
    """Other seeds, longer: `make chaos SEED=n SECONDS=n`."""
    verdict = chaos(tmp_path, SEED, seconds=60)
    print(verdict)
    assert verdict.good, f"\n{verdict}"
    assert verdict.facts["kinds of faults"] == KINDS
    assert verdict.facts["writes"]["acknowledged"] >= 200
    assert verdict.facts["writes"]["unknown"] == 0
    assert {"replays answered", "rankings read", "statistics read"} <= verdict.facts["read meanwhile"].keys()
