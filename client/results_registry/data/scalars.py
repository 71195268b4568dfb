"""One value, one level: from whatever a job's libraries hold to what JSON can say.

The axes as a caller declares them: names, levels by name, or the registry's own form.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping, Sequence
from typing import Any

from results_registry.errors import BadData

_NOTHING = ("NAType", "NaTType", "MaskedConstant")
INFINITE = "failed"
"""The reason with which a cell of infinite value is unmeasured."""
KINDS = ("numeric", "ordinal", "nominal")
Declared = dict[str, Any]


def measured(given: Any) -> float | int | str | None:
    """A number, `None` where nobody measured (None, NaN, NA), `INFINITE` for an infinite one; else `BadData`."""
    if given is None or type(given).__name__ in _NOTHING:
        return None
    if type(given) is float or type(given) is int:
        return _finite(given)
    if isinstance(given, bool):
        return int(given)
    if isinstance(given, numbers.Integral):
        return int(given)
    if isinstance(given, numbers.Real) or type(given).__name__ == "Decimal":
        return _finite(float(given))
    if hasattr(given, "item") and not isinstance(given, (str, bytes)):
        return measured(_item(given))
    raise BadData(f"A value must be a number, not {_shown(given)}.")


def _finite(given: float | int) -> float | int | str | None:
    if isinstance(given, int) or math.isfinite(given):
        return given
    return None if math.isnan(given) else INFINITE


def level(given: Any) -> str | int | float:
    """A level of an axis: text, or a number; anything else by its text. `BadData` for a missing one."""
    if given is None or type(given).__name__ in _NOTHING or (isinstance(given, str) and not given):
        raise BadData("A coordinate is missing (None, NaN or an empty text).")
    if isinstance(given, bool):
        return str(given)
    if isinstance(given, numbers.Real):
        number = int(given) if isinstance(given, numbers.Integral) else float(given)
        if not math.isfinite(number):
            raise BadData("A coordinate is missing (NaN) or infinite.")
        return number
    if hasattr(given, "item"):
        return level(_item(given))
    if hasattr(given, "isoformat"):
        return str(given.isoformat())
    return " / ".join(str(part) for part in given) if isinstance(given, tuple) else str(given)


def whole(given: Any, name: str) -> int | None:
    """A count such as `trials`; `None` where there is none."""
    found = measured(given)
    if found is None:
        return None
    if isinstance(found, str) or found != int(found):
        raise BadData(f"{name} must be whole numbers, not {_shown(given)}.")
    return int(found)


def quantity(given: Any, name: str) -> float | None:
    """A number such as `stderr`; `None` where there is none."""
    found = measured(given)
    if isinstance(found, str):
        raise BadData(f"{name} must be finite.")
    return found


def _item(given: Any) -> Any:
    try:
        item = given.item()
    except (ValueError, RuntimeError, TypeError):
        raise BadData(f"A single number was expected, not {_shown(given)}.") from None
    if hasattr(item, "item"):
        raise BadData(f"A single number was expected, not {_shown(given)}.")
    return item


def _shown(given: Any) -> str:
    text = repr(given)
    return f"{text[:57]}..." if len(text) > 60 else text


def declared_axes(given: Any) -> list[Declared]:
    """Each axis as `{"name", …}`.

    A list holds names or `{"name", "kind", "levels", "unit", "scale"}`; a mapping goes from a name to the levels, a
    kind, or such fields.
    """
    if given is None:
        return []
    if isinstance(given, str):
        return [{"name": given}]
    if isinstance(given, Mapping):
        return [_named(str(name), about) for name, about in given.items()]
    axes = [_one(axis) for axis in given]
    names = [axis["name"] for axis in axes]
    if len(set(names)) < len(names):
        raise BadData(f"Two axes have the same name: {', '.join(names)}.")
    return axes


def _one(axis: Any) -> Declared:
    if isinstance(axis, Mapping):
        if "name" not in axis:
            raise BadData("An axis needs a name.")
        return _with_levels({"name": str(axis["name"])} | {key: axis[key] for key in axis if key != "name"})
    return {"name": str(axis)}


def _named(name: str, about: Any) -> Declared:
    if about is None:
        return {"name": name}
    if isinstance(about, str):
        if about not in KINDS:
            raise BadData(f'The axis "{name}" is {", ".join(KINDS)}, or has a list of levels; not "{about}".')
        return {"name": name, "kind": about}
    if isinstance(about, Mapping):
        return _with_levels({"name": name, **about})
    return _with_levels({"name": name, "levels": about})


def _with_levels(axis: Declared) -> Declared:
    if axis.get("levels") is None:
        return {key: value for key, value in axis.items() if key != "levels"}
    return axis | {"levels": [one if isinstance(one, Mapping) else level(one) for one in _listed(axis["levels"])]}


def _listed(levels: Any) -> Sequence[Any]:
    if hasattr(levels, "tolist"):
        levels = levels.tolist()
    if isinstance(levels, (str, bytes)):
        raise BadData("The levels of an axis are a list.")
    return list(levels)


def label_of(one: Any) -> Any:
    """The text by which a coordinate names a declared level."""
    return one["label"] if isinstance(one, Mapping) else one
