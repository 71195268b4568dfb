"""What the sentences of the demonstration come out as: found by hand, from the numbers beside them.

Each row has the beginning of a sentence, its verdict as posted, and that beyond noise. `None` is any that does not
deny the first: for those, the noise was not worked out by hand. `sentences.json` says of each what decides it.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

YES, NO, OPEN, ILL = "supported", "contradicted", "not_decidable", "ill_posed"
VERDICTS: Mapping[str, Sequence[tuple[str, str, str | None]]] = {
    document: [(row["begins"], row["posted"], row["noise"]) for row in rows]
    for document, rows in json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8")).items()
}
