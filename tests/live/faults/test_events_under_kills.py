"""A feed whose writers, sequencers and readers are killed tells each act once, to all readers in one order."""

from registry.settings import Settings
from tests.live.faults import events_under_kills
from tests.live.faults.events_under_kills import Run


def test_each_act_is_told_once_and_all_readers_have_one_log(settings: Settings, own_database_url: str) -> None:
    mine = Settings(database_url=own_database_url)
    found = events_under_kills.run(mine, Run(seconds=4, writers=4, readers=2, sequencers=2))
    assert found.breaches == ()
    assert found.events == found.acts > 20
