"""YAML of files that others wrote: plain values, and no more of them than the text has room for."""

from __future__ import annotations

import itertools
from typing import Any

import yaml

from registry.errors import Malformed

_ALIASED = 100_000
"""Values that aliases may make of a text; nine lines of aliases to aliases can be a thousand million."""


def read_yaml(content: str, what: str) -> Any:
    """The value of a YAML text; `Malformed`, beginning with `what`, if it is none."""
    loader = yaml.SafeLoader(content)
    try:
        root = loader.get_single_node()
        if root is None:
            return None
        known: dict[int, int] = {}
        if _values_in(root, known) > max(_ALIASED, len(known)):
            raise Malformed(f"{what}: its aliases stand for more than {_ALIASED:,} values.")
        return loader.construct_document(root)
    except (yaml.YAMLError, ValueError) as error:
        raise Malformed(f"{what} is not YAML: {str(error).splitlines()[0]}.") from None
    except RecursionError:
        raise Malformed(f"{what} is nested too deep.") from None
    finally:
        loader.dispose()


def _values_in(node: yaml.Node, known: dict[int, int]) -> int:
    """How many values a node is with its aliases written out; without end counts as too many."""
    if id(node) not in known:
        known[id(node)] = _ALIASED + 1  # for what is within itself
        inner = node.value if isinstance(node, yaml.CollectionNode) else ()
        one_by_one = itertools.chain.from_iterable(inner) if isinstance(node, yaml.MappingNode) else inner
        known[id(node)] = 1 + sum(_values_in(one, known) for one in one_by_one)
    return known[id(node)]
