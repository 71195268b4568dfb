"""Recognise names of computed values: Average, Overall, Macro avg."""

from __future__ import annotations

import re
from functools import lru_cache

_LAST = re.compile(r"(?:^|[ _\-./:(])(?:average|avg|mean|overall|total) ?\.?\)?$", re.IGNORECASE)
_LONGEST = 100
"""Letters at the end of a name that are examined."""


@lru_cache(maxsize=4096)
def looks_derived(name: str) -> bool:
    """Whether a name or its last word is a usual one for an average or a total, in any case of letters.

    "MMLU average" and "Macro avg" look derived; "Mean IoU tasks" and "Totally new" do not.
    """
    return _LAST.search(" ".join(name[-_LONGEST:].split())) is not None
