"""Train a small classifier and log its losses while it learns: one call a step, which never waits and never raises.

Nothing is installed for this but the registry itself. Results go where REGISTRY_URL, REGISTRY_PROJECT and
REGISTRY_TOKEN say.
"""

import math
import random

from results_registry import flush, log_cells

NAMES = {"experiment": "logistic-regression", "benchmark": "two clouds", "model": "logistic"}
METRIC = {"name": "log loss", "unit": "nat", "direction": "lower", "lower": 0}
AXES = [{"name": "Split", "kind": "nominal"}, {"name": "Step", "kind": "numeric"}]


def clouds(count, chance):
    """Points of two classes around (1, 1) and (-1, -1), with a 1 in front for the intercept."""
    for _ in range(count):
        side = chance.choice((0, 1))
        centre = 2 * side - 1
        yield (1.0, chance.gauss(centre, 1.5), chance.gauss(centre, 1.5)), side


def probability(weights, point):
    return 1 / (1 + math.exp(-sum(w * x for w, x in zip(weights, point, strict=True))))


def loss(weights, data):
    chances = [probability(weights, point) if side else 1 - probability(weights, point) for point, side in data]
    return -sum(math.log(chance) for chance in chances) / len(data)


def main(seed=1, steps=50, rate=0.2):
    chance = random.Random(seed)
    splits = {"train": list(clouds(200, chance)), "validation": list(clouds(200, chance))}
    weights = [0.0, 0.0, 0.0]
    for step in range(steps):
        cells = [{"Split": name, "Step": step, "value": loss(weights, data)} for name, data in splits.items()]
        log_cells(cells, **NAMES, variant=f"seed {seed}", metric=METRIC, axes=AXES, labels={"rate": rate})
        for point, side in splits["train"]:
            error = side - probability(weights, point)
            weights = [w + rate / 200 * error * x for w, x in zip(weights, point, strict=True)]
    print(f"validation loss after {steps} steps: {loss(weights, splits['validation']):.4f}")
    print("sent" if flush(30) else "in the spool: run `python -m results_registry sync`")


if __name__ == "__main__":
    main()
