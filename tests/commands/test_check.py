"""registry check and claim: the claims in files are judged, told with their lines, and kept."""

import json

import pytest

from registry.claims.in_files import Stated, claims_in
from registry.errors import Fault
from tests.commands.terminal import Person
from tests.house import House, Project

README = """\
# Results

<!-- claims about: experiment = "type-by-length"
metric = "accuracy" -->

Accuracy of Type 1 is 99.3 % at Length 0. <!-- claim: kind = "value"
where = {Type = [1], Length = [0]}
is = {op = "=", number = 99.3} -->
* Type 1 never falls. <!-- claim: {"kind": "trend", "along": "Length", "goes": "up", "monotone": true,
  "where": {"Type": [1]}} -->

```registry-claim
kind = "coverage"
is = "ragged"
text = "Not everything was measured."
```
"""


def judged(person: Person, project: Project, *words: str, status: int) -> str:
    """The first request promises the answers; nobody computes while a command waits, so it does not."""
    first = person.run("check", *words, "--wait", "0")
    assert first.exit_code in (1, status), first.output
    project.house.compute()
    return person.says("check", *words, status=status)


@pytest.fixture
def readme(person: Person, project: Project) -> str:
    """The file of a project with Type 1 at 99.3, 96.7 and 98.3, and Type 2 with a hole."""
    project.published()
    (person.home / "README.md").write_text(README, encoding="utf-8")
    return "README.md"


def test_every_claim_has_its_line_and_its_verdict(person: Person, project: Project, readme: str) -> None:
    lines = judged(person, project, readme, status=3).splitlines()
    assert [line.split(": ")[:2] for line in lines] == [
        ["README.md:6", "supported"], ["README.md:9", "contradicted"], ["README.md:12", "supported"]
    ]  # fmt: skip
    assert "is 99.3 (claimed: 99.3)" in lines[0]


def test_formats_for_pipelines(person: Person, project: Project, readme: str) -> None:
    github = judged(person, project, readme, "--format", "github", status=3).splitlines()
    assert github[1].startswith("::error file=README.md,line=9,title=contradicted::Contradicted as posted")
    found = json.loads(person.says("check", readme, "--format", "json", status=3))
    assert [one["line"] for one in found] == [6, 9, 12]
    assert found[1]["judgement"]["verdict"] == "contradicted"


def test_a_file_of_claims(person: Person, project: Project, house: House) -> None:
    project.published()
    text = """\
[about]
experiment = "type-by-length"
metric = "accuracy"

[[claim]]
text = "Type 1 begins at about 99."
kind = "value"
of = "first"
where = {Type = [1]}
is = {about = 99}

[[claim]]
kind = "value"
where = {Type = [2], Length = [0]}
is = {op = ">", number = 50}
"""
    (person.home / "claims.toml").write_text(text, encoding="utf-8")
    lines = judged(person, project, "claims.toml", status=0).splitlines()
    assert [line.split(": ")[:2] for line in lines] == [
        ["claims.toml:5", "supported"], ["claims.toml:12", "not_decidable"]
    ]  # fmt: skip
    assert person.run("check", "claims.toml", "--strict").exit_code == 6


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x\n<!-- claim: kind = -->", "README.md:2: cannot be read"),
        ("\n<!-- claim: kind = 'value'\nis = -->", "README.md:3: cannot be read: Invalid value (at column 6)"),
        ('<!-- claim: {"kind": "value",\n"is" 1} -->', "README.md:2: cannot be read: Expecting ':' delimiter"),
        ("```registry-claim\nkind = 'value'\nis = \n```", "README.md:3: cannot be read: Invalid value"),
        ("<!-- claim: kind = 'value' -->", 'README.md:1: lacks the field "is"'),
        ("\n\n```registry-claim\nkind = 'vlue'\n```", "README.md:3: /kind: is one of"),
        (
            "<!-- claim: kind='value'\nis={op='=', number=nan}\nabout={experiment='e', metric='m'} -->",
            "must be a finite",
        ),
    ],
)
def test_what_cannot_be_read_is_said_with_its_line(person: Person, text: str, said: str) -> None:
    (person.home / "README.md").write_text(text, encoding="utf-8")
    assert said in person.complains("check", "README.md")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("# R\n\nIt falls. <!-- claim: kind = 'trend'\nalong = 'L'\n\nThe end.\n", 3),
        ("# R\n<!-- Claim: kind = 'x' -->\n", 2),
        ("<!-- claims: kind = 'x' -->\n", 1),
        ("<!--claim kind = 'x' -->\n", 1),
        ("\n<!-- claims About: experiment = 'e' -->\n", 2),
        ("```registry-claim\nkind = 'x'\n", 1),
        ("\n```registry-claims\nkind = 'x'\n```\n", 2),
    ],
)
def test_a_comment_that_was_meant_as_a_claim_is_not_passed_over(person: Person, text: str, line: int) -> None:
    (person.home / "README.md").write_text(text, encoding="utf-8")
    assert person.complains("check", "README.md").startswith(f"README.md:{line}: ")


def test_a_fault_of_a_file_of_claims_has_the_line_of_the_file() -> None:
    [fault] = claims_in("c.toml", "[about]\nexperiment = 'e'\n\n[[claim]]\nkind = \n")
    assert isinstance(fault, Fault)
    assert (fault.pointer, fault.detail) == ("5", "cannot be read: Invalid value (at column 8)")


def test_a_comment_that_is_not_closed_hides_no_other_one() -> None:
    found = claims_in("x.md", "<!-- claim: kind='a'\n\n<!-- claim: kind='b' -->")
    assert [one.detail if isinstance(one, Fault) else one.claim for one in found] == [
        "begins a comment that is not closed by -->", {"kind": "b"}
    ]  # fmt: skip


def test_other_comments_about_claims_are_none() -> None:
    assert claims_in("x.md", "<!-- claims are judged below -->\n<!-- claim that a: b -->\n```registry\n```") == []


@pytest.mark.parametrize(("name", "text"), [("README.md", "Nothing."), ("c.toml", ""), ("d.toml", "[about]\na = 1")])
def test_a_file_without_a_claim_says_so(person: Person, name: str, text: str) -> None:
    (person.home / name).write_text(text, encoding="utf-8")
    assert person.complains("check", name, status=0) == f"{name}: no claims\n"
    assert person.run("check", name, "--strict").exit_code == 6


def test_the_others_are_judged_beside_a_faulty_claim(person: Person, project: Project, readme: str) -> None:
    faulty = "\n\n<!-- claim: kind = 'vlue' -->\n<!-- claim: kind = 'trend'\nalong='Lenght'\ngoes='up' -->\n"
    (person.home / readme).write_text(README + faulty, encoding="utf-8")
    assert person.run("check", readme, "--wait", "0").exit_code == 1
    project.house.compute()
    answer = person.run("check", readme)
    assert answer.exit_code == 1
    assert [line.split(": ")[:2] for line in answer.stdout.splitlines()] == [
        ["README.md:6", "supported"], ["README.md:9", "contradicted"], ["README.md:12", "supported"]
    ]  # fmt: skip
    told = answer.stderr.splitlines()
    assert [line.partition(" ")[0] for line in told] == ["README.md:19:", "README.md:20:", "Error:"]
    assert 'did you mean "Length"?' in told[1]
    github = person.run("check", readme, "--format", "github").stdout.splitlines()
    assert [line.split("::")[1] for line in github[3:]] == [
        "error file=README.md,line=19,title=not read", "error file=README.md,line=20,title=not read"
    ]  # fmt: skip
    found = json.loads(person.run("check", readme, "--format", "json").stdout)
    assert [(one["line"], one["judgement"]) for one in found[3:]] == [(19, None), (20, None)]
    assert 'did you mean "Length"?' in found[4]["error"]


def test_a_metric_that_is_not_there_is_said_with_what_may_be_meant(person: Person, project: Project) -> None:
    project.published()
    (person.home / "README.md").write_text(README.replace('"accuracy"', '"acuracy"'), encoding="utf-8")
    told = person.complains("check", "README.md", "--wait", "0")
    assert 'has the metric "acuracy"; did you mean "accuracy"; there is accuracy' in told


def test_a_comment_within_a_block_of_code_is_still_read_once() -> None:
    found = claims_in("x.md", "```registry-claim\nkind = 'value' # <!-- claim: kind = 'cells' -->\n```\n")
    assert [(one.line, one.claim) for one in found if isinstance(one, Stated)] == [(1, {"kind": "value"})]


def test_a_claim_keeps_its_own_subject() -> None:
    shared, own = "<!-- claims about: experiment = 'a' -->", "<!-- claim: kind='value'\nabout={grid='g'} -->"
    text = f"{shared}\n{own}\n<!-- claim: kind='x' -->"
    found = [one for one in claims_in("x.md", text) if isinstance(one, Stated)]
    assert [one.claim["about"] for one in found] == [{"grid": "g"}, {"experiment": "a"}]


def test_the_numbers_of_a_table_are_judged_as_push_reads_them(person: Person, project: Project) -> None:
    """What stands in the project: 99.3, 96.7 and 98.3 for Type 1; the table says two of them, and one otherwise."""
    sent = project.published()
    table = "# Results\n\n| Type | 0 | 1 | 2 |\n|---|---|---|---|\n| 1 | 99.3 | 96.7 | 98.4 |\n"
    (person.home / "table.md").write_text(table, encoding="utf-8")
    mapping = 'columns = "Length"\n' + "".join(
        f'{name} = "{sent[name]}"\n' for name in ("experiment", "benchmark", "model")
    )
    (person.home / "m.toml").write_text(f'{mapping}[metric.{sent["metric"]["name"]}]\nunit = "%"\n', encoding="utf-8")
    lines = judged(person, project, "table.md", "--mapping", "m.toml", status=3).splitlines()
    assert [line.split(": ")[:2] for line in lines] == [
        ["table.md:5", "supported"], ["table.md:5", "supported"], ["table.md:5", "contradicted"]
    ]  # fmt: skip
    assert "98.3 (claimed: 98.4)" in lines[2]
    (person.home / "table.md").write_text(table.replace("98.4", "984"), encoding="utf-8")
    assert "table.md:5:4: " in person.run("check", "table.md", "--mapping", "m.toml", "--upper", "100").output


def test_claims_of_a_file_are_kept_listed_shown_and_removed(person: Person, project: Project, readme: str) -> None:
    kept = person.json("claim", "add", readme)
    assert [one["source"] for one in kept] == [{"url": readme, "line": line} for line in (6, 9, 12)]
    project.house.compute()
    rows = person.rows("claim", "ls")
    assert [(one["verdict"], one["where"]) for one in rows] == [
        ("supported", "README.md:6"),
        ("contradicted", "README.md:9"),
        ("supported", "README.md:12"),
    ]
    assert [one["id"] for one in person.rows("claim", "ls", "--verdict", "contradicted")] == [kept[1]["id"]]
    assert "99.3" in person.page("claim", "show", kept[0]["id"])
    assert person.json("claim", "add", readme)[0]["id"] == kept[0]["id"]
    person.says("claim", "rm", kept[0]["id"])
    assert f"There is no claim {kept[0]['id']}." in person.complains("claim", "rm", kept[0]["id"])
    assert len(person.json("claim", "ls")) == 2


def test_where_one_has_a_fault_none_is_kept(person: Person, project: Project, readme: str) -> None:
    text = README.replace('"Length", "goes"', '"Lenght", "goes"')
    (person.home / readme).write_text(text, encoding="utf-8")
    told = person.complains("claim", "add", readme)
    assert "README.md:9: /along" in told
    assert "None is kept." in told
    assert person.json("claim", "ls") == []
