"""Looks of lines: which of sixteen each name has."""

from registry.views.lines import looks_of

ORDER = [f"m{number}" for number in range(40)]


def test_eight_names_have_eight_colours_and_eight_more_the_same_dashed() -> None:
    assert looks_of(ORDER[:8], ORDER) == {name: number for number, name in enumerate(ORDER[:8])}
    assert sorted(looks_of(ORDER[4:20], ORDER).values()) == list(range(16))
    assert all(look < 8 for look in looks_of(["m0", "m8", "m16", "m39"], ORDER).values())


def test_whoever_comes_later_takes_no_look_from_who_was_there() -> None:
    shown = ["m1", "m9", "m17", "m20"]
    before = looks_of(shown, ORDER)
    assert len(set(before.values())) == 4
    after = looks_of(["m33", *shown, "nobody knows"], ORDER)
    assert {name: after[name] for name in shown} == before
