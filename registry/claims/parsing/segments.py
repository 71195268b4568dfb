"""A sentence cut into statements."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from registry.claims.parsing.item import Item

_PREDICATES = frozenset(
    ("go", "event", "ext", "start", "end", "span", "effect", "cmp", "data", "most_data", "no_data", "concentrated",
     "cells", "stable", "alike", "no_effect", "keep")
)  # fmt: skip


def segments(items: Sequence[Item]) -> Iterator[tuple[str, list[Item]]]:
    """The statements of a sentence, each with the word before it: a comma or a joining word begins one that has a
    predicate or a number of its own; anything else stays with its neighbour."""
    pieces: list[tuple[str, list[Item]]] = [("", [])]
    aside = False
    for item in items:
        aside = item.value == "(" if item.kind == "mark" and item.value in "()" else aside
        if not aside and (item.kind == "sep" or (item.kind == "mark" and item.value in ",;")):
            pieces.append((item.phrase, []))
        else:
            pieces[-1][1].append(item)
    joint, held = "", list[Item]()
    found: list[tuple[str, list[Item]]] = []
    for word, piece in pieces:
        if not piece:
            joint = f"{joint} {word}".strip()
            continue
        if _is_whole(piece):
            found.append((f"{joint} {word}".strip(), [*held, *piece]))
            joint, held = "", []
        elif found and not held and not any(item.kind in ("mod", "share") for item in piece):
            if word in ("and", ",") or all(item.kind != "sep" for item in piece):
                found[-1] = (found[-1][0], [*found[-1][1], *piece])
            joint = ""
        else:
            held += piece
    if held:
        found.append((joint, held))
    yield from found


def _is_whole(piece: Sequence[Item]) -> bool:
    """Whether items can be a statement of their own."""
    return any(item.kind in _PREDICATES or item.kind == "number" for item in piece) and not all(
        item.kind in ("mark", "number", "prep", "fill") and item.kind != "number" for item in piece
    )
