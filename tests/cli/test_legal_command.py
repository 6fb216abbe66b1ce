"""``mmaproof legal`` and ``tables``."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from command_line import mmaproof
from document_schemas import validate

from mmaproof.spec.power import tables
from mmaproof.spec.power.contradictions import CONTRADICTIONS
from mmaproof.spec.power.forms import FORMS


def answers(stdin: str | bytes, *options: str) -> tuple[int, list[dict]]:
    result = mmaproof("legal", "-", *options, stdin=stdin)
    assert result.err == ""
    documents = [json.loads(line) for line in result.out.splitlines()]
    for document in documents:
        validate("legal", document)
    return result.status, documents


def test_a_legal_instruction_has_status_0() -> None:
    result = mmaproof("legal", "xvf32ger a0,vs34,vs35")
    assert (result.status, result.out) == (0, "legal on power10: xvf32ger a0,vs34,vs35\n")


def test_an_illegal_one_has_status_1_and_every_violated_rule() -> None:
    result = mmaproof("legal", "pmxvf32ger a0,vs1,vs35,16,0", "--target", "power9", "--json")
    assert result.status == 1
    document = json.loads(result.out)
    validate("legal", document)
    assert {v["rule"] for v in document["violations"]} == {"target-isa", "mask-range", "vsr-overlap"}
    text = mmaproof("legal", "pmxvf32ger a0,vs1,vs35,16,0", "--target", "power9").out
    assert all(
        v[key] in text for v in document["violations"] for key in ("rule", "reason", "source", "message")
    )


def test_the_target_matters() -> None:
    overlapping = "xvf32ger a0,vs1,vs35"
    assert [mmaproof("legal", overlapping, "--target", t).status for t in ("power10", "future")] == [1, 0]


def test_each_line_gets_one_answer_in_order() -> None:
    lines = ["xvf32ger", "", "  pmxvf32ger a0,vs34,vs35,1,2  ", "xvf64ger a0,vs33,vs36", "frobnicate"]
    status, documents = answers("\n".join(lines))
    assert status == 1
    assert [(d["instr"], d["legal"]) for d in documents] == [
        ("xvf32ger", True),
        ("pmxvf32ger a0,vs34,vs35,1,2", True),
        ("xvf64ger a0,vs33,vs36", False),
        ("frobnicate", False),
    ]
    assert [v["rule"] for d in documents for v in d["violations"]] == ["odd-pair", "syntax"]
    assert "unknown mnemonic 'frobnicate'" in documents[-1]["violations"][0]["message"]


def test_a_json_line_names_its_own_target() -> None:
    requests = [{"instr": "xvf32ger"}, {"instr": "xvf32ger", "target": "power9", "ptx": "8.6"}]
    for request in requests:
        validate("legal-request", request)
    status, documents = answers("\n".join(map(json.dumps, requests)), "--target", "power11", "--ptx", "8.6")
    assert status == 1
    assert [(d["target"], d["legal"]) for d in documents] == [("power11", True), ("power9", False)]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"instr": 7}', '"instr" and "target" must be strings'),
        ('{"target": "power10"}', '"instr" and "target" must be strings'),
        ('{"instr": "xvf32ger", "target": []}', '"instr" and "target" must be strings'),
        ('{"instr": "xvf32ger", "target": "vax"}', "unknown target 'vax'"),
        ('{"instr"', "not JSON"),
        ("{" * 50_000, "not JSON"),
        ("[1]", "unknown mnemonic"),
        ("\0", "unknown mnemonic"),
    ],
)
def test_a_line_that_is_no_instruction_violates_the_syntax_and_does_not_stop_the_rest(
    line: str, message: str
) -> None:
    status, documents = answers(f"{line}\nxvf32ger\n")
    assert status == 1
    assert [d["legal"] for d in documents] == [False, True]
    (violation,) = documents[0]["violations"]
    assert violation["rule"] == "syntax" and message in violation["message"]


def test_lines_may_be_any_bytes() -> None:
    status, documents = answers(b"\xff\xfe xvf32ger\nxvf32ger\n")
    assert (status, [d["legal"] for d in documents]) == (1, [False, True])


def test_no_lines_are_all_legal() -> None:
    assert answers("") == (0, [])


def test_thousands_of_lines() -> None:
    status, documents = answers("pmxvi4ger8pp a1,vs34,vs35,15,15,255\n" * 3000)
    assert (status, len(documents)) == (0, 3000)


@pytest.mark.parametrize(
    ("options", "rows"),
    [((), tables.rows), (("--rules",), tables.rule_rows), (("--contradictions",), tables.contradiction_rows)],
)
def test_every_format_has_the_same_table(options: tuple[str, ...], rows, tmp_path: Path) -> None:
    expected = rows()
    document = json.loads(mmaproof("tables", "power", *options, "--format", "json").out)
    validate("tables", document)
    assert document["rows"] == expected
    as_csv = mmaproof("tables", *options, "--format", "csv").out
    assert list(csv.DictReader(as_csv.splitlines())) == expected
    markdown = mmaproof("tables", *options, "--format", "md").out.splitlines()
    assert len(markdown) == len(expected) + 2
    assert len({line.replace("\\|", "").count("|") for line in markdown}) == 1
    out = tmp_path / "table"
    assert mmaproof("tables", *options, "--format", "csv", "--out", out).out == ""
    assert out.read_text() == as_csv


def test_the_tables_are_complete() -> None:
    instructions = json.loads(mmaproof("tables", "--format", "json").out)["rows"]
    assert [row["mnemonic"] for row in instructions] == list(FORMS)
    contradictions = mmaproof("tables", "--contradictions").out
    assert all(who in contradictions for c in CONTRADICTIONS for who, _ in c.claims)
