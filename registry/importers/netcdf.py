"""NetCDF through xarray: each variable over one to four dimensions is a grid; needs the extra netcdf.

Axes: the dimensions, with their coordinates as levels and their `units`. Metric: the variable, with its `units` and,
where there are such attributes, `direction`, `lower` and `upper`. Identity: attributes `experiment`, `benchmark`,
`model` and `variant` of the variable or of the file. NaN is how NetCDF writes a gap.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from registry.errors import Malformed, RegistryError
from registry.importers.imported_grid import IDENTITY, ImportedGrid, Note, Overrides
from registry.importers.metrics import explained
from registry.importers.source import Source

NAME = "netcdf"


def looks_like(source: Source) -> bool:
    return source.head.startswith((b"CDF\x01", b"CDF\x02", b"CDF\x05", b"\x89HDF\r\n\x1a\n"))


def read(source: Source, wanted: Overrides) -> Iterator[ImportedGrid]:
    try:
        import xarray
    except ImportError:
        raise Malformed("Reading NetCDF needs xarray: pip install xarray h5netcdf h5py.") from None
    if source.path is None:
        raise Malformed("NetCDF is read from a file.")
    try:
        with xarray.open_dataset(source.path) as dataset:
            for name in [*dataset.coords, *dataset.data_vars]:
                if dataset[name].size > wanted.limits.cells:
                    size = f'"{name}" has {dataset[name].size} cells'
                    raise Malformed(f"{size}; a grid has at most {wanted.limits.cells}.")
            for name, variable in dataset.data_vars.items():
                if wanted.takes(str(name)) and variable.dtype.kind in "fiu":
                    yield wanted.applied(_grid(str(name), variable.load(), dataset.attrs, wanted))
    except RegistryError:
        raise
    except Exception as error:  # whatever the library under xarray makes of a damaged file
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise Malformed(f"The NetCDF file cannot be read: {reason}.") from None


def _grid(name: str, variable: Any, about: Mapping[str, Any], wanted: Overrides) -> ImportedGrid:
    attributes = {**about, **variable.attrs}
    names = {word: str(attributes[word]) for word in IDENTITY if attributes.get(word)}
    axes, notes = _axes(variable, wanted)
    values = _gaps(variable.values.tolist())
    metric: dict[str, Any] = {"name": name}
    metric |= {"unit": str(attributes["units"])} if attributes.get("units") else {}
    metric |= {"direction": str(attributes["direction"])} if attributes.get("direction") else {}
    metric |= {bound: float(attributes[bound]) for bound in ("lower", "upper") if bound in attributes}
    described, more = explained(metric, list(_measured(values)))
    sent = {**names, "metric": described, "axes": axes, "values": values}
    return ImportedGrid(sent, (*notes, *more))


def _axes(variable: Any, wanted: Overrides) -> tuple[list[dict[str, Any]], list[Note]]:
    axes, notes = [], []
    for place, dimension in enumerate(variable.dims):
        axis: dict[str, Any] = {"name": str(dimension)}
        if dimension in variable.coords:
            given = variable.coords[dimension]
            numeric = given.dtype.kind in "fiu"
            levels = given.values.tolist() if numeric else [str(one) for one in given.values.tolist()]
            if given.attrs.get("units"):
                axis["unit"] = str(given.attrs["units"])
        else:
            numeric, levels = True, list(range(variable.shape[place]))
            notes.append(Note("axis_without_levels", f'"{dimension}" has no coordinates: its levels are 0, 1, 2 …'))
        kind = wanted.kind_of(str(dimension)) or ("numeric" if numeric else "nominal")
        axes.append(axis | {"kind": kind, "levels": levels if kind == "numeric" else [str(one) for one in levels]})
    return axes, notes


def _gaps(values: Any) -> Any:
    if isinstance(values, list):
        return [_gaps(one) for one in values]
    return None if isinstance(values, float) and math.isnan(values) else values


def _measured(values: Any) -> Iterator[float]:
    if isinstance(values, list):
        for one in values:
            yield from _measured(one)
    elif values is not None:
        yield values
