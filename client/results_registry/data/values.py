"""What a value, level or count of a job's libraries becomes, so that JSON can say it."""

import math
import numbers
from typing import Any

from results_registry.errors import BadData

Level = str | int | float
_NOTHING = ("NAType", "NaTType", "MaskedConstant")
INFINITE = "failed"
"""The reason with which a cell of infinite value is unmeasured."""


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
