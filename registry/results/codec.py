"""The one way to write and to read a document: values of the result types, JSON, and the stored bytes.

Written: the fields of a frozen dataclass under their names (a trailing underscore falls off: `from_`), without those
that are `Presence.OMITTED` and `None`; a number that is not finite as null. Read: fields that this version does not
know are ignored, for a document may come from a server of another version; one that is missing has its default, else
nothing (`None`, an empty list, a value whose fields are missing). Scalars are taken as they are: a word that a later
version adds is read as it stands.
"""

import dataclasses
import gzip
import math
import types
import typing
from collections.abc import Callable, Collection, Hashable, Mapping
from functools import lru_cache
from typing import Annotated, Any, TypeVar, cast, get_args, get_origin, get_type_hints

import orjson

from registry.results.columns import unpacked
from registry.results.terms import Digits, Presence

Result = TypeVar("Result")
Reader = Callable[[Any], Any]
_Number = Callable[[float], float | None]
_Field = tuple[str, str, bool, _Number]
_GZIP = b"\x1f"
_AS_THEY_ARE = frozenset({type(None), str, bool, int})


def to_document(value: Any) -> Any:
    """The value as dicts, lists, strings, ints, finite floats, booleans and `None`."""
    return _document(value, _exact)


def to_short_document(value: Any, digits: int = 9) -> Any:
    """The same with so many significant digits of each number that is not whole, or those that its type says, but for
    the levels of axes: they are names. Numbers of a million and more, of which so few digits might tell too little,
    stay as they are."""
    return _document(value, _of_digits(digits))


def _exact(value: float) -> float | None:
    return value if math.isfinite(value) else None


@lru_cache(maxsize=16)
def _of_digits(digits: int) -> _Number:
    written = f"%.{digits}g"

    def shortened(value: float) -> float | None:
        if value.is_integer() or abs(value) >= 1e6:
            return value if math.isfinite(value) else None
        return float(written % value) if math.isfinite(value) else None

    return shortened


def _document(value: Any, number: _Number) -> Any:
    kind = type(value)
    if kind in _AS_THEY_ARE:
        return value
    if kind is float:
        return number(value)
    if isinstance(value, (tuple, list)):
        own = _row_numbers(cast(Hashable, kind)) or [None] * len(value)
        return [_document(item, _chosen(number, one)) for item, one in zip(value, own, strict=True)]
    if fields := _fields_of(cast(Hashable, kind), number):
        return _written(value, fields)
    if kind is dict or isinstance(value, Mapping):
        return {str(key): _document(item, number) for key, item in value.items()}
    return _document(value.tolist(), number)


def _written(value: Any, fields: tuple[_Field, ...]) -> dict[str, Any]:
    """A dataclass as a dict; scalars are most of it, and take the short way."""
    found: dict[str, Any] = {}
    for name, wire, omitted, number in fields:
        item = getattr(value, name)
        if item is None:
            if not omitted:
                found[wire] = None
        elif (kind := type(item)) is float:
            found[wire] = number(item)
        else:
            found[wire] = item if kind in _AS_THEY_ARE else _document(item, number)
    return found


@lru_cache(maxsize=1024)
def _fields_of(kind: Hashable, number: _Number) -> tuple[_Field, ...]:
    """The fields of a dataclass: the name, how it is written, whether it is left out where it is `None`, and how its
    numbers are written: as those of the document, or as its type says; none of any other type."""
    if not dataclasses.is_dataclass(kind):
        return ()
    hints = get_type_hints(kind, include_extras=True)
    return tuple(
        (
            field.name,
            wire_name(field),
            presence_of(hint := hints[field.name]) is Presence.OMITTED,
            _chosen(number, _own_number(hint)),
        )
        for field in dataclasses.fields(cast(Any, kind))
    )


@lru_cache(maxsize=256)
def _row_numbers(kind: Any) -> tuple[_Number | None, ...]:
    """How short documents write the columns of a `NamedTuple`; none of any other type."""
    hints = get_type_hints(kind, include_extras=True) if hasattr(kind, "_fields") else {}
    return tuple(map(_own_number, hints.values()))


def _chosen(number: _Number, own: _Number | None) -> _Number:
    """How a number is written that has a way of its own: in that, but for exact documents."""
    return number if own is None or number is _exact else own


def _own_number(hint: Any) -> _Number | None:
    """How short documents write numbers of a type: exactly if it is a level, which is a number or a name, or holds
    nothing else; with the digits that it says; `None`: with those of the document."""
    inside = get_args(hint)
    if {str, float} <= set(inside):
        return _exact
    said = (_of_digits(one.count) if isinstance(one, Digits) else _own_number(one) for one in inside)
    return next((one for one in said if one is not None), None)


def presence_of(hint: Any) -> Presence | None:
    """When a field of this type is missing in a document; `None`: never."""
    more = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    return next((one for one in more if isinstance(one, Presence)), None)


def wire_name(field: dataclasses.Field[Any]) -> str:
    """The name of a field in JSON."""
    return field.name.rstrip("_")


def from_document(kind: type[Result], document: Mapping[str, Any]) -> Result:
    """The value that a JSON document says; `ValueError` where it is no document of this kind."""
    return cast(Result, _reader(cast(Hashable, kind))(document))


def to_bytes(document: Mapping[str, Any]) -> bytes:
    """The bytes of a JSON document as they are stored and served: compressed, times in UTC with a Z.

    `ValueError` on NaN or Infinity, which orjson would write as null.
    """
    check_finite(document)
    return compressed(document)


def compressed(document: Mapping[str, Any]) -> bytes:
    """The same of a document that `to_document` has made, which has no such numbers."""
    return gzip.compress(orjson.dumps(document, option=orjson.OPT_UTC_Z), compresslevel=5, mtime=0)


def from_bytes(stored: bytes | memoryview) -> dict[str, Any]:
    """The JSON document in stored bytes, of `compressed` or of `columns.packed`."""
    if not is_served(stored):
        return unpacked(stored)
    document: dict[str, Any] = orjson.loads(gzip.decompress(stored))
    return document


def is_served(stored: bytes | memoryview) -> bool:
    """Whether stored bytes are those that a caller who takes gzip is sent."""
    return bytes(stored[:1]) == _GZIP


def read(kind: type[Result], stored: bytes | memoryview, parts: Collection[str] | None = None) -> Result:
    """The value in stored bytes, or these parts of it."""
    document = from_bytes(stored)
    if parts is not None:
        document = {name: document[name] for name in parts if name in document}
    return from_document(kind, document)


def check_finite(document: Any) -> None:
    """Raise ValueError if a NaN or an Infinity is anywhere in a JSON-ready dictionary, list or tuple."""
    left = [document]
    while left:
        value = left.pop()
        for inner in value.values() if type(value) is dict else value:
            kind = type(inner)
            if kind is float:
                if not math.isfinite(inner):
                    raise ValueError(f"a statistic is {inner}")
            elif kind is dict or kind is list or kind is tuple:
                left.append(inner)


@lru_cache(maxsize=256)
def _reader(kind: Any) -> Reader:
    """The function that reads values of a type; the identity of scalars and of what has no type."""
    origin, inside = get_origin(kind), get_args(kind)
    if origin in (types.UnionType, typing.Union):
        readers = {_reader(one) for one in inside} - {_as_it_is}
        return readers.pop() if readers else _as_it_is
    if origin is tuple:
        return _tuple_reader(_reader(inside[0]))
    if origin in (dict, _ABSTRACT_MAPPING):
        return _mapping_reader(_reader(inside[1]))
    return _dataclass_reader(kind) if dataclasses.is_dataclass(kind) else _as_it_is


_ABSTRACT_MAPPING = get_origin(Mapping[str, Any])


def _as_it_is(value: Any) -> Any:
    return value


def _tuple_reader(item: Reader) -> Reader:
    return tuple if item is _as_it_is else lambda found: tuple([item(one) for one in found])


def _mapping_reader(item: Reader) -> Reader:
    return dict if item is _as_it_is else lambda found: {key: item(one) for key, one in found.items()}


def _dataclass_reader(kind: Any) -> Reader:
    hints = get_type_hints(kind)
    known = [
        (wire_name(field), _reader(hints[field.name]), _absent(field, hints[field.name]))
        for field in dataclasses.fields(kind)
    ]

    def read_dataclass(document: Any) -> Any:
        if not isinstance(document, Mapping):
            raise ValueError(f"{kind.__name__} is no JSON object: {document!r:.80}")
        found = []
        for name, reader, absent in known:
            value = document.get(name)
            # Most fields are scalars: a call of a function that does nothing would take most of the time.
            if value is None:
                value = absent()
            elif reader is not _as_it_is:
                value = reader(value)
            found.append(value)
        return kind(*found)

    return read_dataclass


def _absent(field: dataclasses.Field[Any], hint: Any) -> Callable[[], Any]:
    """Value of a field that a document does not have: its default, an empty list or mapping, a value without
    anything, else `None`."""
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory
    if field.default is not dataclasses.MISSING:
        return lambda: field.default
    if dataclasses.is_dataclass(hint):
        return lambda: _reader(cast(Hashable, hint))({})
    return {tuple: tuple, dict: dict, _ABSTRACT_MAPPING: dict}.get(get_origin(hint), lambda: None)
