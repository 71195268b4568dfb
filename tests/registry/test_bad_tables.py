"""Hostile tables: each is answered 4xx with the line and the cell at fault where there is one, and stores nothing."""

from __future__ import annotations

import gzip
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
def shared(house: House) -> Project:
    return house.make_project()


def refused(project: Project, body: bytes, media: str = "text/csv", **query: Any) -> dict[str, Any]:
    before = _stored(project)
    headers = query.pop("headers", {})
    given = {name: value for name, value in {**NAMES, **query}.items() if value is not None}
    answer = project.call(
        "POST", f"projects/{project.slug}/grids", data=body, content_type=media, query_string=given, headers=headers
    )
    assert 400 <= answer.status_code < 500, (answer.status_code, answer.text[:500])
    assert answer.content_type == "application/problem+json"
    assert _stored(project) == before
    problem: dict[str, Any] = answer.get_json()
    if answer.status_code == 422:
        assert problem["errors"]
        assert all(e["detail"] and (e["pointer"] == "" or e["pointer"][0] == "/") for e in problem["errors"]), problem
    return problem


def _stored(project: Project) -> tuple[Any, ...]:
    with project.house.database.reading() as connection:
        return tuple(connection.execute(COUNTS).one())


UNREADABLE: dict[str, bytes] = {
    "nothing": b"",
    "spaces": b"   \n  \n",
    "only line ends": b"\n\n\r\n",
    "Latin-1": "Type,value\né,1\n".encode("latin-1"),
    "UTF-16": GOOD.encode("utf-16"),
    "UTF-16 without a mark": GOOD.encode("utf-16-le"),
    "UTF-32": GOOD.encode("utf-32"),
    "an overlong encoding": b"Type,value\n\xc0\xaf,1\n",
    "an encoded surrogate": b"Type,value\n\xed\xa0\x80,1\n",
    "half a character": b"Type,value\n\xe2\x82,1\n",
    "a byte of no character": b"Type,value\n\xff,1\n",
    "NUL": b"Type,value\na\0b,1\n",
    "NUL behind the end": GOOD.encode() + b"\0",
    "NUL before the beginning": b"\0" + GOOD.encode(),
    "gzip that does not say so": gzip.compress(GOOD.encode(), mtime=0),
    "random bytes": bytes(range(256)),
    "a PNG": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
}
CSV_ONLY: dict[str, bytes] = {
    "a quote that nobody closes": b'Type,value\n"a,1\n',
    "a quote within a cell": b'Type,value\n"a"b,1\n',
    "a field of 200,000 characters": b"Type,value\n" + b"a" * 200_000 + b",1\n",
}


@pytest.mark.parametrize("body", UNREADABLE | CSV_ONLY)
def test_what_is_no_csv_is_400(shared: Project, body: str) -> None:
    assert refused(shared, (UNREADABLE | CSV_ONLY)[body])["status"] in (400, 422)


@pytest.mark.parametrize("body", UNREADABLE)
def test_what_is_no_markdown_is_refused(shared: Project, body: str) -> None:
    assert refused(shared, UNREADABLE[body], "text/markdown")["status"] in (400, 422)


NUMBERS = [
    "NaN", "nan", "NAN", "-nan", "inf", "Infinity", "-Infinity", "1e400", "-1e400", "1_0", "1,5", "0x10", "1e", "e5",
    "--1", "+-1", "1.2.3", "٣", "½", "1 000", "1'000", "12%", "$5", "True", "false", "None", "null", "NULL", "#N/A",
    "#REF!", "#DIV/0!", "=1+1", "=SUM(A1:A2)", "@SUM(1)", "+1+2", "-1-2", "=cmd|'/C calc'!A0", "5 ± 1", "~5", "<5",
    "5*", "x", "\x01", "\x7f", "\u200b5", "５", "1" * 400, ".", "-.", "[1]", "{}", '1"',
]  # fmt: skip


@pytest.mark.parametrize("number", NUMBERS)
def test_a_value_that_is_no_finite_number_is_refused_at_its_cell(shared: Project, number: str) -> None:
    quoted = '"' + number.replace('"', '""') + '"'
    problem = refused(shared, f"Type,Length,value\n1,0,99.3\n1,1,{quoted}\n".encode())
    assert problem["status"] == 422
    assert problem["errors"][0]["pointer"] == "/line/3/column/3"


@pytest.mark.parametrize("number", [one for one in NUMBERS if "|" not in one and one != "5*"])
def test_a_value_that_is_no_number_is_refused_in_a_pipe_table(shared: Project, number: str) -> None:
    problem = refused(shared, (PIPES + f"| b | 3 | {number} |\n").encode(), "text/markdown")
    assert problem["status"] == 422
    assert problem["errors"][0]["pointer"] == "/line/4/column/3"


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
    "a level of 201 characters": (f"Type,value\n{'x' * 201},1\n", {}, "/line/2/column/2"),
    "an axis of 201 characters": (f"{'x' * 201},value\na,1\n", {}, "/axes/0/name"),
    "five axes": ("A,B,C,D,E,value\n1,1,1,1,1,1\n", {}, "/line/1/column/5"),
    "half a trial": ("T,value,trials\na,0.5,0.5\n", {"lower": 0, "upper": 1}, "/line/2/column/3"),
    "no trials at all": ("T,value,trials\na,0.5,0\n", {"lower": 0, "upper": 1}, "/line/2/column/3"),
    "trials as a word": ("T,value,trials\na,0.5,many\n", {"lower": 0, "upper": 1}, "/line/2/column/3"),
    "trials past 2^53": ("T,value,trials\na,0.5,9007199254740994\n", {"lower": 0, "upper": 1}, "/line/2/column/3"),
    "trials of no proportion": ("T,value,trials\na,0.5,5\n", {}, "/trials"),
    "trials where nobody measured": ("T,value,trials\na,,5\n", {"lower": 0, "upper": 1}, "/line/2/column/2"),
    "trials twice": ("T,value,trials\na,0.5,5\n", {"lower": 0, "upper": 1, "trials": "x"}, "/trials"),
    "a negative stderr": ("T,value,stderr\na,0.5,-1\n", {}, "/line/2/column/3"),
    "a stderr as a word": ("T,value,stderr\na,0.5,small\n", {}, "/line/2/column/3"),
    "a stderr where nobody measured": ("T,value,stderr\na,,1\n", {}, "/line/2/column/2"),
    "a reason of its own": ("T,value,reason\na,,lost\n", {}, "/line/2/column/2"),
    "a reason for a value": ("T,value,reason\na,1,failed\n", {}, "/line/2/column/2"),
    "above the bounds": (GOOD, {"lower": 0, "upper": 1}, "/line/2/column/3"),
    "above the bounds in a pivot": ("Type,0,1\na,0,2\n", {"lower": 0, "upper": 1}, "/line/2/column/3"),
    "below the bounds": ("T,value\na,-0.1\n", {"lower": 0}, "/line/2/column/2"),
    "bounds upside down": (GOOD, {"lower": 5, "upper": 1}, "/metric/upper"),
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
        "benchmark,a,b\nx,1,2\n",
        {"columns": "model", "model": None, "benchmark": None},
        "/line/2/column/3",
    ),
    "no experiment": (GOOD, {"experiment": None}, "/experiment"),
    "no benchmark": (GOOD, {"benchmark": None}, "/benchmark"),
    "no model": (GOOD, {"model": None}, "/model"),
    "no metric": (GOOD, {"metric": None}, "/metric/name"),
    "a model of 201 characters in a column": (f"model,value\n{'x' * 201},1\n", {"model": None}, "/model"),
    "JSON": ('{"experiment": "e"}', {}, "/line/1"),
    "too many columns": ("T," + ",".join(map(str, range(10_001))) + "\na" + ",1" * 10_001 + "\n", {}, "/line/1"),
    "repeats past every number": ("T,value\na,1e308\na,1e308\na,-1e308\n", {}, "/line/4/column/2"),
    "repeats that are no count": ("T,value,repeats,sd\na,1,x,1\n", {}, "/line/2"),
}


@pytest.mark.parametrize("case", FAULTS)
def test_a_table_that_is_no_grid_is_refused_at_its_place(shared: Project, case: str) -> None:
    body, query, pointer = FAULTS[case]
    problem = refused(shared, body.encode(), **query)
    assert problem["status"] == 422, problem
    assert pointer in [error["pointer"] for error in problem["errors"]], problem["errors"]


OWN = "### b · m — accuracy\n\n{}\n\n1 of 1 cells measured · revision 1{}\n"
PLANE = "| Type | x | y |\n|---|---|---|\n| a | 1 | 2 |\n"
OTHER = "| Type | x | y |\n|---|---|---|\n| b | 1 | 2 |\n"
OWN_FAULTS: dict[str, tuple[str, str]] = {
    "trials of 5,000 digits": (OWN.format("5", " · trials " + "9" * 5000), "/line/5"),
    "no trials": (OWN.format("5", " · trials 0"), "/line/5"),
    "planes of other axes": (
        OWN.format(f"#### Task 1\n\n{PLANE}\n#### Task 2\n\n{PLANE.replace('Type', 'Kind / Length')}", ""),
        "/line/11",
    ),
    "planes of other dimensions": (
        OWN.format(f"#### Task 1\n\n{PLANE}\n#### Task 2\n\n{PLANE.replace('Type', 'Type / Length')}", ""),
        "/line/11",
    ),
    "a number beside a plane": (OWN.format(f"{PLANE}\n5", ""), "/line/7"),
    "a plane beside a number": (OWN.format(f"5\n\n{PLANE}", ""), "/line/5"),
    "a number below a level": (OWN.format("#### Task 1\n\n5", ""), "/line/5"),
    "two numbers": (OWN.format("5\n\n6", ""), "/line/5"),
    "two planes of one heading": (
        OWN.format(f"#### Task 1\n\n{PLANE}\n#### Task 1\n\n{PLANE}", ""), "/line/13/column/2"
    ),
    "two planes without a heading": (OWN.format(f"{PLANE}\n{OTHER}", ""), "/line/9/column/2"),
    "a row twice": (OWN.format("| T / L | x |\n|---|---|\n| a | 1 |\n| a | 2 |", ""), "/line/6/column/2"),
    "a row twice down one axis": (
        OWN.format("| T | accuracy |\n|---|---|\n| a | 1 |\n| a | 2 |", ""), "/line/6/column/2"
    ),
    "headings of other axes": (OWN.format(f"#### A 1\n\n{PLANE}\n#### A 1 · B 2\n\n{PLANE}", ""), ""),
    "text between": (OWN.format(f"{PLANE}\nI would say so.", ""), "/line/7"),
    "five axes": (OWN.format(f"#### A 1 · B 1 · C 1\n\n{PLANE.replace('Type', 'D / E')}", ""), "/line/1"),
    "one axis twice": (OWN.format(f"{PLANE.replace('Type', 'D / D')}", ""), "/line/1"),
    "nothing measured": (OWN.format("No cell was measured.", ""), "/line/1"),
    "nothing at all": (OWN.format("", ""), "/line/1"),
    "a title that is a table's heading": (
        "### a|b — x\n-|-\n1|2\n1 of 1 cells measured · revision 1\n", "/line/2"
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", OWN_FAULTS)
def test_own_markdown_that_does_not_go_together_is_refused_at_its_place(shared: Project, case: str) -> None:
    body, pointer = OWN_FAULTS[case]
    problem = refused(shared, body.encode(), "text/markdown")
    assert problem["status"] == 422, problem
    assert pointer in [error["pointer"] for error in problem["errors"]], problem["errors"]


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


@pytest.mark.parametrize("case", PIPE_FAULTS)
def test_markdown_that_is_no_grid_is_refused_at_its_place(shared: Project, case: str) -> None:
    body, pointer = PIPE_FAULTS[case]
    problem = refused(shared, body.encode(), "text/markdown")
    assert problem["status"] == 422, problem
    assert pointer in [error["pointer"] for error in problem["errors"]], problem["errors"]


@pytest.mark.parametrize(
    "query",
    [{"direction": "up"}, {"lower": "x"}, {"upper": "NaN"}, {"upper": "1e400"}, {"trials": "0"}, {"trials": "1.5"},
     {"model": ""}, {"model": "a\x00b"}, {"metric": "x" * 201}, {"surplus": "1"}, {"dry_run": "maybe"},
     {"numeric": ""}, {"rows": ""}, {"unit": "\x01"}, {"values": "1"}, {"labels": "x"}],
    ids=str,
)  # fmt: skip
def test_a_query_that_says_nonsense_is_422_with_its_name(shared: Project, query: dict[str, str]) -> None:
    problem = refused(shared, GOOD.encode(), **query)
    assert problem["status"] == 422
    assert problem["errors"][0]["pointer"].startswith("/" + next(iter(query)))


@pytest.mark.parametrize(
    "media",
    ["text/tab-separated-values", "application/csv", "text/x-markdown", "application/vnd.ms-excel",
     "text/csv; charset=latin-1", "text/markdown; charset=utf-16", "text/plain", "text/html"],
)  # fmt: skip
def test_another_type_or_encoding_of_text_is_415(shared: Project, media: str) -> None:
    assert refused(shared, GOOD.encode(), media)["status"] == 415


@pytest.mark.parametrize("coding", ["deflate", "br", "zstd", "x"])
@pytest.mark.parametrize("media", ["text/csv", "text/markdown"])
def test_another_content_coding_of_a_table_is_415(shared: Project, media: str, coding: str) -> None:
    assert refused(shared, GOOD.encode(), media, headers={"Content-Encoding": coding})["status"] == 415


@pytest.mark.parametrize("media", ["text/csv", "text/markdown"])
def test_a_gzip_bomb_of_a_table_is_413(shared: Project, media: str) -> None:
    bomb = gzip.compress(b" " * (65 * 1024 * 1024), compresslevel=6)
    assert refused(shared, bomb, media, headers={"Content-Encoding": "gzip"})["status"] == 413


@pytest.mark.parametrize("media", ["text/csv", "text/markdown"])
def test_a_table_over_16_mib_is_413(shared: Project, media: str) -> None:
    assert refused(shared, b" " * (16 * 1024 * 1024 + 1), media)["status"] == 413


FLOODS = {
    "a million wrong values": "T,value\n" + "a,x\n" * 1_000_000,
    "a million ragged rows": "T,value\n" + "a\n" * 1_000_000,
    "a million columns": "T" + ",1" * 1_000_000 + "\na" + ",1" * 1_000_000 + "\n",
    "more cells than a grid has": "T,value\n" + "a,1\n" * 2_000_001,
    "more levels than an axis has": "T,value\n" + "".join(f"{n},1\n" for n in range(10_001)),
    "a million models": "model,value\n" + "".join(f"{n},1\n" for n in range(300_000)),
    "a million quotes": 'T,value\n"' + '""' * 1_000_000 + '",1\n',
}


@pytest.mark.parametrize("flood", FLOODS)
def test_many_faults_of_a_table_are_answered_shortly(shared: Project, flood: str) -> None:
    problem = refused(shared, FLOODS[flood].encode())
    assert len(str(problem)) < 50_000


MARKDOWN_FLOODS = {
    "a million pipes": "|" * 1_000_000,
    "a million rules": "|---|\n" * 200_000,
    "a rule of a million dashes": "a|b\n" + "-" * 1_000_000 + "x\n",
    "a rule of a million spaces": "a|b\n-" + " " * 1_000_000 + "x\n",
    "a rule of a million columns": "a|b\n" + "|-" * 500_000 + "x\n",
    "a million asterisks": "a|b\n-|-\n" + "*" * 1_000_000 + "|1\n",
    "a million headings": "# a\n" * 200_000,
    "a million backslashes": "a|b\n-|-\n" + "\\" * 1_000_000 + "|1\n",
}


@pytest.mark.parametrize("flood", MARKDOWN_FLOODS)
def test_floods_of_markdown_are_refused(shared: Project, flood: str) -> None:
    refused(shared, MARKDOWN_FLOODS[flood].encode(), "text/markdown")


@pytest.mark.parametrize("heading", [f"{'=' * 100_000},value", f"{'x' * 100_000},{'x' * 100_000}"])
def test_a_fault_repeats_no_long_text(shared: Project, heading: str) -> None:
    assert len(str(refused(shared, f"{heading}\na,1\n".encode()))) < 1_000


def test_a_stranger_learns_nothing_from_the_faults_of_a_table(shared: Project) -> None:
    answer = shared.house.call("POST", f"projects/{shared.slug}/grids", data=b"x", content_type="text/csv")
    assert answer.status_code == 401
    reader = shared.call("POST", f"projects/{shared.slug}/grids", "reader", data=b"x", content_type="text/csv")
    assert reader.status_code == 403
