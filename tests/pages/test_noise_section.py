"""The noise between repeats on the page of an experiment."""

from __future__ import annotations

from tests.house import House
from tests.pages.conftest import browser


def test_benchmarks_with_repeats_have_their_noise_and_others_nothing(house: House) -> None:
    project = house.make_project("public")
    path = f"/projects/{project.slug}/experiments/type-by-length"
    one = {"axes": [], "values": 70.0, "trials": 500}
    project.published(**one)
    visitor = browser(house)
    assert "noise" not in visitor.read(path).ids
    project.published(**one, model="B", repeats=5, sd=4.0)
    project.published(**one, model="B", benchmark="Alone")
    visitor.read(path)
    house.compute()
    page = visitor.read(path)
    # sd 4 with 4 degrees of freedom: 4 sqrt(4 / 11.143) and 4 sqrt(4 / 0.48442).
    assert "noise" in page.ids
    assert "On Core Generalization one repeat varies by 4 points (95 % interval 2.4 to 11.5, 4 degrees of" in page.text
    assert "4 [2.4, 11]" in page.text or "4.0 [2.4, 11" in page.text
    assert "On Alone" not in page.text
    assert any("/noise?" in (given.get("href") or "") for _, given in page.attributes)
