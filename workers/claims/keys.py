"""Everything that the judging of a claim reads, as one key: a claim with the same key has the same judgement."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import orjson

from registry.claims.claim import Claim
from registry.grids.protocol import Rules
from registry.methods_version import METHODS_VERSION
from workers.claims.answer import unknown_names
from workers.scope import Aliases, canonical_names

Marks = list[list[Any]]
"""Id, revision, digest and names of each grid."""


@dataclass(frozen=True)
class Premises:
    """What the claims of a part are judged under, besides their grids. `known`: the names that there are, by kind."""

    aliases: Aliases
    rules: Rules
    known: Mapping[str, Collection[str]]

    def marks(self, rows: Iterable[Any]) -> Marks:
        """The grids in rows with their names and the number and digest of a revision, whose content never changes.

        How many looks a claim had follows from the numbers."""
        found = [
            [str(row.id), row.number, bytes(row.digest).hex(), *canonical_names(row, self.aliases).values()]
            for row in rows
        ]
        return sorted(found)

    def key_of(self, claim: Claim, current: Marks, former: Marks, *, is_large: bool) -> str:
        """SHA-256 of a claim by the names that aliases stand for, the grids that it is judged on, and all else.

        `current` and `former`: those whose current revision is read, and the revisions that the claim names. Names that
        no grid has enter as the warnings that tell what may have been meant, so that other new names change nothing.
        """
        unknown = [one.detail for one in unknown_names(claim, self.known)]
        read = [METHODS_VERSION, repr(claim), current, former, self.rules.document(), unknown, is_large]
        return sha256(orjson.dumps(read)).hexdigest()
