"""Draw mutants, and print them as JSON."""

import argparse

from bench.mutants import as_json, draw

parser = argparse.ArgumentParser(prog="python -m bench.mutants", description=__doc__)
parser.add_argument("--seed", type=int, default=28)
parser.add_argument("--count", type=int, default=330)
asked = parser.parse_args()
print(as_json(draw(asked.seed, asked.count)))
