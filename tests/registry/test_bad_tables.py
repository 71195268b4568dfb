"""Hostile tables: each is answered 4xx with the line and the cell at fault where there is one, and stores nothing."""

import gzip
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import text

from tests.house import House, Project

GOOD = "Type,Length,value\n1,0,99.3\n1,1,96.7\n"
PIPES = "| Type | 0 | 1 |\n|---|---|---|\n| a | 1 | 2 |\n"
NAMES = {"experiment": "e", "benchmark": "b", "model": "never", "metric": "accuracy", "columns": "Length"}
COUNTS = text("""
    SELECT (SELECT count(*) FROM grids), (SELECT count(*) FROM revisions), (SELECT count(*) FROM names),
           (SELECT count(*) FROM idempotency_keys)
""")


@pytest.fixture(scope="module")
def home(house: House) -> Project:
    return house.make_project()


@pytest.fixture
def shared(home: Project) -> Iterator[Project]:
    """Whatever a test sends stores nothing."""
    with home.house.database.reading() as connection:
        before = tuple(connection.execute(COUNTS).one())
    yield home
    with home.house.database.reading() as connection:
        assert tuple(connection.execute(COUNTS).one()) == before


def refused(project: Project, body: bytes, media: str = "text/csv", **query: Any) -> dict[str, Any]:
    headers = query.pop("headers", {})
    given = {name: value for name, value in {**NAMES, **query}.items() if value is not None}
    answer = project.call(
        "POST", f"projects/{project.slug}/grids", data=body, content_type=media, query_string=given, headers=headers
    )
    assert 400 <= answer.status_code < 500, (answer.status_code, answer.text[:500])
    assert answer.content_type == "application/problem+json"
    problem: dict[str, Any] = answer.get_json()
    if answer.status_code == 422:
        assert problem["errors"]
        assert all(e["detail"] and (e["pointer"] == "" or e["pointer"][0] == "/") for e in problem["errors"]), problem
    return problem


UNREADABLE = [
    b"", b"   \n  \n", b"\n\n\r\n", "Type,value\né,1\n".encode("latin-1"), GOOD.encode("utf-16"),
    GOOD.encode("utf-16-le"), GOOD.encode("utf-32"),
    b"Type,value\n\xc0\xaf,1\n",  # an overlong encoding
    b"Type,value\n\xed\xa0\x80,1\n",  # an encoded surrogate
    b"Type,value\n\xe2\x82,1\n", b"Type,value\n\xff,1\n", b"Type,value\na\0b,1\n", GOOD.encode() + b"\0",
    b"\0" + GOOD.encode(), gzip.compress(GOOD.encode(), mtime=0), bytes(range(256)), b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
]  # fmt: skip
NO_CSV = [
    b'Type,value\n"a,1\n', b'Type,value\n"a"b,1\n', b"Type,value\n" + b"a" * 200_000 + b",1\n"
]  # fmt: skip


def test_what_is_no_csv_and_no_markdown_is_refused(shared: Project, subtests: pytest.Subtests) -> None:
    for media, bodies in (("text/csv", UNREADABLE + NO_CSV), ("text/markdown", UNREADABLE)):
        for body in bodies:
            with subtests.test(media=media, body=body[:60]):
                assert refused(shared, body, media)["status"] in (400, 422)


NUMBERS = [
    "NaN", "nan", "NAN", "-nan", "inf", "Infinity", "-Infinity", "1e400", "-1e400", "1_0", "1,5", "0x10", "1e", "e5",
    "--1", "+-1", "1.2.3", "٣", "½", "1 000", "1'000", "12%", "$5", "True", "false", "None", "null", "NULL", "#N/A",
    "#REF!", "#DIV/0!", "=1+1", "=SUM(A1:A2)", "@SUM(1)", "+1+2", "-1-2", "=cmd|'/C calc'!A0", "5 ± 1", "~5", "<5",
    "5*", "x", "\x01", "\x7f", "\u200b5", "５", "1" * 400, ".", "-.", "[1]", "{}", '1"',
]  # fmt: skip


def test_a_value_that_is_no_finite_number_is_refused_at_its_cell(shared: Project, subtests: pytest.Subtests) -> None:
    for number in NUMBERS:
        quoted = '"' + number.replace('"', '""') + '"'
        with subtests.test(number[:40]):
            problem = refused(shared, f"Type,Length,value\n1,0,99.3\n1,1,{quoted}\n".encode())
            assert (problem["status"], problem["errors"][0]["pointer"]) == (422, "/line/3/column/3")
        if "|" not in number and number != "5*":
            with subtests.test(number[:40], media="text/markdown"):
                problem = refused(shared, (PIPES + f"| b | 3 | {number} |\n").encode(), "text/markdown")
                assert (problem["status"], problem["errors"][0]["pointer"]) == (422, "/line/4/column/3")


FAULTS: dict[str, tuple[str, dict[str, Any], str]] = {
    "a short row": ("Type,0,1\na,1\n", {}, "/line/2"),
    "a long row": ("Type,0,1\na,1,2,3\n", {}, "/line/2"),
    "a long row at the end": ("Type,0,1\na,1,2\nb,1,2,3\n", {}, "/line/3"),
    "a short tidy row": ("Type,value\na\n", {}, "/line/2"),
    "one column": ("value\n1\n", {}, "/line/1"),
    "one word": ("grid", {}, "/line/1"),
    "a heading and nothing else": ("Type,value\n", {}, ""),
    "a pivot's heading and nothing else": ("Type,0,1\n", {}, ""),
    "a heading twice": ("Type,Type,value\n1,2,3\n", {}, "/line/1/column/2"),
    "a column twice in a pivot": ("Type,0,0\na,1,2\n", {}, "/line/1/column/3"),
    "a number twice in a pivot": ("Type,0,0.0\na,1,2\n", {}, "/line/1/column/3"),
    "a row twice": ("Type,0,1\na,1,2\na,3,4\n", {}, "/line/3/column/1"),
    "a number twice down a pivot": ("Type,0,1\n1,1,2\n1.0,3,4\n", {}, "/line/3/column/1"),
    "a row without a name": ("Type,0,1\n,1,2\n", {}, "/line/2/column/1"),
    "a column without a name": ("Type,0,\na,1,2\n", {}, "/line/1/column/3"),
    "a level without a name": ("Type,value\n,1\n", {}, "/line/2/column/1"),
    "an index without a name beside tidy columns": (",Type,value\n0,a,1\n1,b,2\n", {}, "/line/1/column/1"),
    "no name for the columns": ("Type,0,1\na,1,2\n", {"columns": None}, "/line/1"),
    "no name for the rows": (",0,1\na,1,2\n", {}, "/line/1/column/1"),
    "one axis twice": ("Length,0,1\na,1,2\n", {}, "/line/1"),
    "a formula in the heading": ("=A1,value\na,1\n", {}, "/line/1/column/1"),
    "a formula as a level": ("Type,value\n=1+1,1\n", {}, "/line/2/column/1"),
    "a formula as a row": ("Type,0,1\n@x,1,2\n", {}, "/line/2/column/1"),
    "a formula across": ("Type,0,=1\na,1,2\n", {}, "/line/1/column/3"),
    "a formula as a model": ("model,T,value\n=x(),a,1\n", {}, "/line/2/column/1"),
    "a line break in a level": ('Type,value\n"a\nb",1\n', {}, "/line/3/column/2"),
    "a bell in a level": ("Type,value\na\x07,1\n", {}, "/line/2/column/2"),
    "five axes": ("A,B,C,D,E,value\n1,1,1,1,1,1\n", {}, "/line/1/column/5"),
    "trials as a word": ("T,value,trials\na,0.5,many\n", {"lower": 0, "upper": 1}, "/line/2/column/3"),
    "trials of no proportion": ("T,value,trials\na,0.5,5\n", {}, "/line/2/column/2"),
    "trials where nobody measured": ("T,value,trials\na,,5\n", {"lower": 0, "upper": 1}, "/line/2/column/2"),
    "trials twice": ("T,value,trials\na,0.5,5\n", {"lower": 0, "upper": 1, "trials": "x"}, "/trials"),
    "a stderr as a word": ("T,value,stderr\na,0.5,small\n", {}, "/line/2/column/3"),
    "a stderr where nobody measured": ("T,value,stderr\na,,1\n", {}, "/line/2/column/2"),
    "a reason for a value": ("T,value,reason\na,1,failed\n", {}, "/line/2/column/2"),
    "above the bounds": (GOOD, {"lower": 0, "upper": 1}, "/line/2/column/3"),
    "above the bounds in a pivot": ("Type,0,1\na,0,2\n", {"lower": 0, "upper": 1}, "/line/2/column/3"),
    "a numeric axis of words": ("T,value\na,1\n", {"numeric": "T"}, "/line/2/column/2"),
    "a number of a level that is none": ("T,T_num,value\na,x,1\n", {}, "/line/2/column/2"),
    "two numbers of one level": ("T,T_num,value\na,1,1\na,2,2\n", {}, "/line/3/column/2"),
    "a lower bound that is a word": ("T,lower,value\na,foo,1\n", {}, "/line/2/column/2"),
    "an upper bound that is a word": ("T,Upper,value\na,1 %,1\n", {}, "/line/2/column/2"),
    "a direction of its own": ("T,direction,value\na,up,1\n", {}, "/metric/direction"),
    "a number for one level and none for another": ("T,T_num,value\na,1,1\nb,,2\n", {}, "/line/3/column/2"),
    "several models": ("model,T,value\na,x,1\nb,x,1\n", {"model": None}, "/line/3/column/3"),
    "several metrics": ("metric,T,value\na,x,1\nb,x,1\n", {"metric": None}, "/line/3/column/3"),
    "models across": (
        "benchmark,a,b\nx,1,2\n", {"columns": "model", "model": None, "benchmark": None}, "/line/2/column/3"
    ),
    "no experiment": (GOOD, {"experiment": None}, "/experiment"),
    "no metric": (GOOD, {"metric": None}, "/metric/name"),
    "JSON": ('{"experiment": "e"}', {}, "/line/1"),
    "too many columns": ("T," + ",".join(map(str, range(10_001))) + "\na" + ",1" * 10_001 + "\n", {}, "/line/1"),
    "repeats past every number": ("T,value\na,1e308\na,1e308\na,-1e308\n", {}, "/line/4/column/2"),
    "repeats that are no count": ("T,value,repeats,sd\na,1,x,1\n", {}, "/line/2"),
}  # fmt: skip
PIPE_FAULTS: dict[str, tuple[str, str]] = {
    "words": ("A sentence without a table.\n", ""),
    "a heading": ("# A heading\n", ""),
    "a rule alone": ("|---|---|\n", ""),
    "no rule": ("| Type | 0 |\n| a | 1 |\n", ""),
    "two tables": (PIPES + "\n" + PIPES, ""),
    "a short row": (PIPES + "| b | 1 |\n", "/line/4"),
    "a long row": (PIPES + "| b | 1 | 2 | 3 |\n", "/line/4"),
    "a row twice": (PIPES + "| a | 1 | 2 |\n", "/line/4/column/1"),
    "a column twice": (PIPES.replace("| 1 |", "| 0 |", 1), "/line/1/column/3"),
    "a row without a name": (PIPES + "|  | 1 | 2 |\n", "/line/4/column/1"),
    "a formula": (PIPES + "| =1 | 1 | 2 |\n", "/line/4/column/1"),
    "one column": ("| Type |\n|---|\n| a |\n", "/line/1"),
    "a heading and nothing else": ("| Type | 0 | 1 |\n|---|---|---|\n", ""),
    "HTML": ("<table><tr><td>1</td></tr></table>\n", ""),
    "a list": ("* Length 5: 77.3%\n* Length 6: 69.7%\n", ""),
}


def test_a_table_that_is_no_grid_is_refused_at_its_place(shared: Project, subtests: pytest.Subtests) -> None:
    cases = [("text/csv", case, *FAULTS[case]) for case in FAULTS]
    cases += [("text/markdown", case, body, {}, at) for case, (body, at) in PIPE_FAULTS.items()]
    for media, case, body, query, pointer in cases:
        with subtests.test(case, media=media):
            problem = refused(shared, body.encode(), media, **query)
            assert problem["status"] == 422, problem
            assert pointer in [error["pointer"] for error in problem["errors"]], problem["errors"]


BOUNDS = {"lower": "0", "upper": "100"}
QUERIES = [
    {"direction": "up"}, {"lower": "x"}, {"upper": "NaN"}, {"upper": "1e400"}, {"trials": "0"}, {"trials": "1.5"},
    {"model": ""}, {"model": "a\x00b"}, {"metric": "x" * 201}, {"surplus": "1"}, {"dry_run": "maybe"},
    {"numeric": ""}, {"rows": ""}, {"unit": "\x01"}, {"values": "1"}, {"labels": "x"}, {"questions": "3"},
    {"questions": "301", "trials": "300"} | BOUNDS, {"questions": "0", "trials": "300"} | BOUNDS,
    {"design_effect": "0.5", "trials": "300"} | BOUNDS, {"design_effect": "nan", "trials": "300"} | BOUNDS,
    {"derived": "perhaps"},
]  # fmt: skip


def test_a_query_that_says_nonsense_is_422_with_its_name(shared: Project, subtests: pytest.Subtests) -> None:
    for query in QUERIES:
        with subtests.test(**query):
            problem = refused(shared, GOOD.encode(), **query)
            assert problem["status"] == 422
            assert problem["errors"][0]["pointer"].startswith("/" + next(iter(query)))


OTHER_MEDIA = [
    "text/tab-separated-values", "application/csv", "text/x-markdown", "application/vnd.ms-excel",
    "text/csv; charset=latin-1", "text/markdown; charset=utf-16", "text/plain", "text/html",
]  # fmt: skip


def test_another_type_or_coding_of_a_table_is_415_and_too_large_a_one_is_413(
    shared: Project, subtests: pytest.Subtests
) -> None:
    cases = [(415, GOOD.encode(), media, {}) for media in OTHER_MEDIA]
    bomb, gzipped = gzip.compress(b" " * (17 * 1024 * 1024), compresslevel=6), {"Content-Encoding": "gzip"}
    for media in ("text/csv", "text/markdown"):
        for coding in ("deflate", "br", "zstd", "x"):
            cases.append((415, GOOD.encode(), media, {"Content-Encoding": coding}))
        cases += [(413, bomb, media, gzipped), (413, b" " * (16 * 1024 * 1024 + 1), media, {})]
    for status, body, media, headers in cases:
        with subtests.test(media=media, headers=headers, size=len(body)):
            assert refused(shared, body, media, headers=headers)["status"] == status


FLOODS = {
    "wrong values": "T,value\n" + "a,x\n" * 100_000,
    "ragged rows": "T,value\n" + "a\n" * 100_000,
    "columns": "T" + ",1" * 100_000 + "\na" + ",1" * 100_000 + "\n",
    "more cells than a grid has": "T,value\n" + "a,1\n" * 2_000_001,
    "models": "model,value\n" + "".join(f"{n},1\n" for n in range(30_000)),
    "quotes": 'T,value\n"' + '""' * 100_000 + '",1\n',
}
MARKDOWN_FLOODS = {
    "pipes": "|" * 100_000,
    "rules": "|---|\n" * 20_000,
    "a rule of many dashes": "a|b\n" + "-" * 100_000 + "x\n",
    "a rule of many spaces": "a|b\n-" + " " * 100_000 + "x\n",
    "a rule of many columns": "a|b\n" + "|-" * 50_000 + "x\n",
    "asterisks": "a|b\n-|-\n" + "*" * 100_000 + "|1\n",
    "headings": "# a\n" * 20_000,
    "backslashes": "a|b\n-|-\n" + "\\" * 100_000 + "|1\n",
}


def test_many_faults_of_a_table_are_answered_shortly(shared: Project, subtests: pytest.Subtests) -> None:
    for media, floods in (("text/csv", FLOODS), ("text/markdown", MARKDOWN_FLOODS)):
        for name, body in floods.items():
            with subtests.test(name, media=media):
                assert len(str(refused(shared, body.encode(), media))) < 50_000
    for heading in (f"{'=' * 100_000},value", f"{'x' * 100_000},{'x' * 100_000}"):
        assert len(str(refused(shared, f"{heading}\na,1\n".encode()))) < 1_000, "a fault repeats no long text"
