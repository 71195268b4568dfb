"""pandas, Polars and DuckDB read the feed over HTTP, each with its own requests, and see exactly the seeds."""

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


def duck(extension: str) -> Any:
    """DuckDB with an extension that came as a wheel: nothing is downloaded."""
    import duckdb

    package = f"duckdb_extension_{extension}"
    file = files(package) / "extensions" / f"v{duckdb.__version__}" / f"{extension}.duckdb_extension"
    connection = duckdb.connect()
    connection.execute(f"LOAD '{file}'")
    return connection


COLUMNS = ["grid", "along", "slope"], ["Type", "Length_num", "value"]
"""Those of trends and of cells that are read; `Type` is read as text, as it was sent."""


def with_pandas(address: str, form: str, columns: list[str]) -> list[tuple[Any, ...]]:
    import pandas

    if form == "csv":
        frame = pandas.read_csv(address, dtype={"Type": str})
    elif form == "ndjson":
        frame = pandas.read_json(address, lines=True, precise_float=True, dtype={"Type": str})
    else:
        frame = {"parquet": pandas.read_parquet, "arrow": pandas.read_feather}[form](address)
    assert frame[columns[2]].dtype == "float64"
    return list(frame[columns].dropna().itertuples(index=False, name=None))


def with_polars(address: str, form: str, columns: list[str]) -> list[tuple[Any, ...]]:
    import polars

    if form == "csv":
        frame = polars.scan_csv(address, schema_overrides={"Type": polars.String})
    else:
        frame = {"parquet": polars.scan_parquet, "ndjson": polars.scan_ndjson}[form](address)
    rows: list[tuple[Any, ...]] = frame.select(columns).collect().rows()
    return rows


def with_duckdb(address: str, form: str, columns: list[str]) -> list[tuple[Any, ...]]:
    reader = {"csv": "read_csv", "parquet": "read_parquet", "ndjson": "read_json"}[form]
    named = ", ".join(f'CAST("{name}" AS VARCHAR)' if name in ("grid", "Type") else f'"{name}"' for name in columns)
    with duck("httpfs") as connection:
        rows: list[tuple[Any, ...]] = connection.execute(f"SELECT {named} FROM {reader}('{address}')").fetchall()
    return rows


READERS = {
    with_pandas: ("csv", "parquet", "ndjson", "arrow"),
    with_polars: ("csv", "parquet", "ndjson"),
    with_duckdb: ("csv", "parquet", "ndjson"),
}
"""What each library reads by itself over HTTP, with ranges where it scans."""


@pytest.fixture(scope="module")
def statistics_tables(seeds: Any, table: str) -> tuple[str, dict[str, Any]]:
    """The address of the project's feeds, and the trends of each grid as its own path has them."""
    items = seeds.get(f"projects/{seeds.slug}/grids").get_json()["items"]
    own = {one["id"]: seeds.get(f"grids/{one['id']}/statistics?part=trends").get_json()["series"] for one in items}
    return table.removesuffix("/cells"), own


@pytest.mark.parametrize(("read", "form"), [(read, form) for read, forms in READERS.items() for form in forms])
def test_a_library_reads_the_cells_and_the_trends_of_every_grid(
    table: str, first_grid: dict[str, Any], statistics_tables: Any, read: Any, form: str
) -> None:
    address, own = statistics_tables
    cells = read(f"{table}.{form}{QUERY}", form, COLUMNS[1])
    assert {(kind, length): value for kind, length, value in cells} == expected(first_grid)
    trends = read(f"{address}/statistics.{form}?part=trends", form, COLUMNS[0])
    slopes = [(grid, one["along"], one["slope"]) for grid, series in own.items() for one in series]
    assert sorted(row for row in trends if row[1]) == sorted(slopes)


def test_polars_opens_the_arrow_file(table: str, first_grid: dict[str, Any]) -> None:
    import polars

    from registry.renderings.cells_feed import AS_SENT, IDENTITY, MEASURED, PROTOCOL

    with urlopen(f"{table}.arrow{QUERY}") as answer:
        assert answer.headers["Content-Type"] == "application/vnd.apache.arrow.file"
        opened = polars.read_ipc(io.BytesIO(answer.read()), use_pyarrow=False)
    rows = opened.select(COLUMNS[1]).rows()
    assert {(kind, length): value for kind, length, value in rows} == expected(first_grid)
    own = ("Type", "Type_num", "Length", "Length_num")
    assert tuple(opened.columns) == (*IDENTITY, *own, *MEASURED, *AS_SENT, PROTOCOL)
    assert opened.schema["updated_at"] == polars.Datetime("us", "UTC")


def test_pandas_pivots_what_was_never_measured_to_nan(table: str) -> None:
    import pandas

    frame = pandas.read_json(f"{table}.ndjson{QUERY}", lines=True)
    matrix = frame.pivot_table(index="Type", columns="Length_num", values="value")
    assert (matrix.shape, int(matrix.isna().sum().sum())) == ((7, 20), 43)


def test_every_grid_has_a_row_of_trends_that_are_ready(statistics_tables: Any) -> None:
    import pandas

    address, own = statistics_tables
    frame = pandas.read_parquet(f"{address}/statistics.parquet?part=trends")
    assert (set(frame["grid"]), set(frame["state"])) == (set(own), {"ready"})


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
