"""pandas, Polars and DuckDB read the feed over HTTP, each with its own requests, and see exactly the seeds."""

from __future__ import annotations

import io
import re
from importlib.resources import files
from typing import Any
from urllib.request import urlopen

import pytest


def leaves(values: Any) -> list[Any]:
    return [leaf for one in values for leaf in leaves(one)] if isinstance(values, list) else [values]


QUERY = "?experiment=type-by-length&benchmark=Core%20Generalization"


def expected(grid: dict[str, Any]) -> dict[tuple[str, float], float]:
    """The measured cells of seed 0, as they were published."""
    types, lengths = (axis["levels"] for axis in grid["axes"])
    return {
        (kind, float(length)): value
        for kind, row in zip(types, grid["values"], strict=True)
        for length, value in zip(lengths, row, strict=True)
        if value is not None
    }


def test_pandas_reads_csv_and_parquet(table: str, first_grid: dict[str, Any]) -> None:
    import pandas

    for frame in (
        pandas.read_csv(f"{table}.csv{QUERY}", dtype={"Type": str}),
        pandas.read_parquet(f"{table}.parquet{QUERY}"),
    ):
        found = dict(zip(zip(frame["Type"], frame["Length_num"], strict=True), frame["value"], strict=True))
        assert found == expected(first_grid)
        assert frame["value"].dtype == frame["Length_num"].dtype == "float64"


def test_pandas_and_polars_open_the_arrow_file(table: str, first_grid: dict[str, Any]) -> None:
    import pandas
    import polars

    from registry.renderings.feed import AS_SENT, IDENTITY, MEASURED, PROTOCOL

    address = f"{table}.arrow{QUERY}"
    with urlopen(address) as answer:
        assert answer.headers["Content-Type"] == "application/vnd.apache.arrow.file"
        content = answer.read()
    opened = polars.read_ipc(io.BytesIO(content), use_pyarrow=False)
    for rows in (
        pandas.read_feather(address)[["Type", "Length_num", "value"]].itertuples(index=False, name=None),
        opened.select("Type", "Length_num", "value").iter_rows(),
    ):
        assert {(kind, length): value for kind, length, value in rows} == expected(first_grid)
    assert tuple(opened.columns) == (
        *IDENTITY,
        "Type",
        "Type_num",
        "Length",
        "Length_num",
        *MEASURED,
        *AS_SENT,
        PROTOCOL,
    )
    assert opened.schema["updated_at"] == polars.Datetime("us", "UTC")


def test_pandas_pivots_what_was_never_measured_to_nan(table: str, first_grid: dict[str, Any]) -> None:
    import pandas

    frame = pandas.read_json(f"{table}.ndjson{QUERY}", lines=True)
    matrix = frame.pivot_table(index="Type", columns="Length_num", values="value")
    assert matrix.shape == (7, 20)
    assert int(matrix.isna().sum().sum()) == 43


@pytest.mark.parametrize("form", ["csv", "parquet", "ndjson"])
def test_polars_scans_it_with_ranges(table: str, first_grid: dict[str, Any], form: str) -> None:
    import polars

    address = f"{table}.{form}{QUERY}"
    if form == "csv":
        frame = polars.read_csv(address, schema_overrides={"Type": polars.String})
    elif form == "parquet":
        frame = polars.scan_parquet(address).collect()
    else:
        frame = polars.scan_ndjson(address).collect()
    rows = frame.select("Type", "Length_num", "value").rows()
    assert {(kind, length): value for kind, length, value in rows} == expected(first_grid)


def duck(extension: str) -> Any:
    """DuckDB with an extension that came as a wheel: nothing is downloaded."""
    import duckdb

    package = f"duckdb_extension_{extension}"
    file = files(package) / "extensions" / f"v{duckdb.__version__}" / f"{extension}.duckdb_extension"
    connection = duckdb.connect()
    connection.execute(f"LOAD '{file}'")
    return connection


@pytest.mark.parametrize("form", ["csv", "parquet", "ndjson"])
def test_duckdb_reads_it_through_httpfs(table: str, first_grid: dict[str, Any], form: str) -> None:
    reader = {
        "csv": "read_csv('{}', types = {{'Type': 'VARCHAR'}})",
        "parquet": "read_parquet('{}')",
        "ndjson": "read_json('{}')",
    }[form].format(f"{table}.{form}{QUERY}")
    with duck("httpfs") as connection:
        rows = connection.execute(f'SELECT "Type", "Length_num", value FROM {reader}').fetchall()
    assert {(str(kind), length): value for kind, length, value in rows} == expected(first_grid)


@pytest.fixture(scope="module")
def statistics_tables(seeds: Any, table: str) -> tuple[str, dict[str, Any]]:
    """The address of the project's feeds, and the trends of each grid as its own path has them."""
    items = seeds.get(f"projects/{seeds.slug}/grids").get_json()["items"]
    own = {one["id"]: seeds.get(f"grids/{one['id']}/statistics?part=trends").get_json()["series"] for one in items}
    return table.removesuffix("/cells"), own


def slopes(own: dict[str, Any]) -> list[tuple[str, str, float]]:
    return sorted((grid, one["along"], one["slope"]) for grid, series in own.items() for one in series)


def test_pandas_reads_the_trends_of_every_grid(statistics_tables: Any) -> None:
    import pandas

    address, own = statistics_tables
    for frame in (
        pandas.read_csv(f"{address}/statistics.csv?part=trends", dtype={"Type": str}),
        pandas.read_parquet(f"{address}/statistics.parquet?part=trends"),
        pandas.read_feather(f"{address}/statistics.arrow?part=trends"),
        pandas.read_json(f"{address}/statistics.ndjson?part=trends", lines=True, precise_float=True),
    ):
        assert set(frame["grid"]) == set(own)
        known = frame[frame["along"].notna()]
        assert sorted(zip(known["grid"], known["along"], known["slope"], strict=True)) == slopes(own)
        assert frame["slope"].dtype == "float64"
        assert set(frame["state"]) == {"ready"}


@pytest.mark.parametrize("form", ["csv", "parquet", "ndjson"])
def test_polars_and_duckdb_scan_the_trends_of_every_grid(statistics_tables: Any, form: str) -> None:
    import polars

    address, own = statistics_tables
    readers: dict[str, Any] = {"csv": polars.scan_csv, "parquet": polars.scan_parquet, "ndjson": polars.scan_ndjson}
    found = readers[form](f"{address}/statistics.{form}?part=trends").select("grid", "along", "slope").collect()
    assert sorted(row for row in found.rows() if row[1]) == slopes(own)
    reader = {"csv": "read_csv", "parquet": "read_parquet", "ndjson": "read_json"}[form]
    with duck("httpfs") as connection:
        query = f"SELECT CAST(grid AS VARCHAR), along, slope FROM {reader}('{address}/statistics.{form}?part=trends')"
        rows = connection.execute(f"{query} WHERE along IS NOT NULL").fetchall()
    assert sorted(rows) == slopes(own)


def test_peaks_and_coverage_have_the_grids_that_are_listed(statistics_tables: Any, seeds: Any) -> None:
    import pandas

    address, own = statistics_tables
    best, covered = (pandas.read_parquet(f"{address}/statistics.parquet?part={one}") for one in ("peaks", "coverage"))
    counts = {one["id"]: one["cell_count"] for one in seeds.get(f"projects/{seeds.slug}/grids").get_json()["items"]}
    assert dict(zip(covered["grid"], covered["cells"], strict=True)) == counts
    assert set(best["grid"]) == set(own)
    cells = pandas.read_parquet(f"{address}/cells.parquet").groupby("grid")["value"].max()
    for grid, group in best.groupby("grid"):
        if grid in cells:
            assert set(group["value"]) == {cells[grid]}  # of each seed more is better
        else:
            assert group["value"].isna().all()
            assert counts[grid] == 0


def test_altair_accepts_every_seed_as_vega_lite_and_vega_draws_it(address: str, seeds: Any) -> None:
    import altair
    import vl_convert

    items = seeds.get(f"projects/{seeds.slug}/grids").get_json()["items"]
    assert len(items) == 18
    for item in items:
        answer = seeds.get(f"grids/{item['id']}/heatmap.vl.json")
        assert answer.status_code == 200
        chart = altair.Chart.from_dict(answer.get_json(force=True))
        assert chart.to_dict()["$schema"].endswith("v6.json")
        picture = vl_convert.vegalite_to_svg(answer.get_json(force=True), vl_version="6.4")
        measured = sum(value is not None for value in leaves(seeds.get(f"grids/{item['id']}").get_json()["values"]))
        assert len(re.findall('aria-roledescription="rect mark"[^>]*fill="rgb', picture)) == measured
