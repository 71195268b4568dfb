"""Measure how often a jury's majority is right, by its size and its members' skill, and publish a table for each rule.

Each cell is a share of trials, so the number of trials goes along: the registry then knows how sure each cell is.
"""

import random

from results_registry import flush, log_grid

SIZES = (1, 3, 5, 9, 15, 25)
SKILLS = (0.45, 0.5, 0.55, 0.6, 0.7)
TRIALS = 300
METRIC = {"name": "accuracy", "unit": "%", "direction": "higher", "lower": 0, "upper": 100}


def majority(votes, _chance):
    return sum(votes) * 2 > len(votes)


def dictator(votes, _chance):
    return votes[0]


def unanimity(votes, chance):
    """Right when all are; otherwise a coin decides."""
    return all(votes) or (any(votes) and chance.random() < 0.5)


def accuracy(rule, size, skill, chance):
    """The percentage of trials in which the rule's verdict is right."""
    right = sum(rule([chance.random() < skill for _ in range(size)], chance) for _ in range(TRIALS))
    return 100 * right / TRIALS


def main():
    for rule in (majority, dictator, unanimity):
        chance = random.Random(rule.__name__)
        table = {skill: {size: accuracy(rule, size, skill, chance) for size in SIZES} for skill in SKILLS}
        log_grid(
            table,
            experiment="juries", benchmark="independent votes", model=rule.__name__, metric=METRIC,
            axes=["Skill", "Size"], trials=TRIALS,
        )  # fmt: skip
        best = max((value, size, skill) for skill, row in table.items() for size, value in row.items())
        print(f"{rule.__name__:10} best: {best[0]:.1f} % with {best[1]} members of skill {best[2]}")
    print("sent" if flush(30) else "in the spool: run `python -m results_registry sync`")


if __name__ == "__main__":
    main()
