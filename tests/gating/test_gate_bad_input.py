"""A table that can't be used is refused with file and line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from gate_tables import MMA, compared, csv_table, json_table

from mmaproof.spec.errors import InputError

GOOD = {"shape": "m16n8k8", "a": "f16", "target": "sm_80"}


def refusal(path: Path) -> str:
    with pytest.raises(InputError) as raised:
        compared(path)
    return str(raised.value).removeprefix(f"{path.parent}/")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "table.csv:1: no column titles"),
        ("# only a remark\n", "table.csv:1: no column titles"),
        ("shape,a\n", "table.csv:1: the table has no rows"),
        ("shape,a,b\n\nm16n8k8,f16\n", "table.csv:3: 2 cells under 3 columns"),
        ("shape,a,shape\n", "table.csv:1: two columns are called 'shape'"),
        ("shape,,a\n", "table.csv:1: column 2 has no title"),
        ("shape,atype,a\nm16n8k8,f16,f16\n", "table.csv:2: two columns mean 'a'"),
        ("shape,frob\nm16n8k8,1\n", "table.csv:2: unknown column 'frob'"),
        ('shape,a\n"m16n8k8,f16\n', "table.csv:2: malformed CSV"),
        ("shape,ptx\nm16n8k8,banana\n", "table.csv:2: unknown PTX version 'banana'"),
        ("shape\tptx\nm16n8k8\tbanana\n", "table.csv:2: unknown PTX version 'banana'"),
        ("shape;legal\nm16n8k8;maybe\n", "table.csv:2: 'maybe' is neither yes nor no"),
        ("shape,legal\nm16n8k8,maybe\n", "table.csv:2: 'maybe' is neither yes nor no"),
        ("shape,a\nbig,f16\n", "table.csv:2: 'big' is not a shape"),
        ("shape,a\nm\uff11\uff16n8k16,f16\n", "table.csv:2: 'm\uff11\uff16n8k16' is not a shape"),
        ("target,legal\nsm_80,yes\n", "table.csv:2: the row states no instruction"),
        ("shape,a,legal\nm16n8k8,f16,\nm16n8k8,f16|bf16,no\n", "table.csv:3: m16n8k8 a=f16|bf16 contradicts"),
        (f"instr,shape\n{MMA},m16n8k8\n", "table.csv:2: column 'shape' says m16n8k8, the"),
        (f'instr,operand,layout\n{MMA},a,"((4,8),2:(1,4)"\n', "table.csv:2: "),
        (f'instr,operand,layout\n{MMA},a,"(1000000000,8):(1,1)"\n', "table.csv:2: a layout of 8000000000"),
        (f'instr,operand,layout\n{MMA},q,"(4,8):(1,4)"\n', "table.csv:2: "),
        (f"instr,operand\n{MMA},a\n", "table.csv:2: a layout row has"),
    ],
)  # fmt: skip
def test_csv(tmp_path: Path, text: str, message: str) -> None:
    assert refusal(csv_table(tmp_path, text)).startswith(message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", ":1: a table is"),
        ("null", ":1: a table is"),
        ("[]", ":1: the table has no rows"),
        ("{}", ':1: a table has "rows"'),
        ('{"isa": "ptx"}', ':1: a table has "rows"'),
        ('{"rows":\n{}}', ':2: "rows" is an array'),
        ('[{"shape": "m16n8k8"},\n[1]]', ":2: a row is an object of cells, not [1]"),
        ('[{"shape": "m16n8k8"},\n\n{"shape": }]', ":3: not JSON"),
        ('[{"shape": "m16n8k8"}\n{"a": 1}]', ":2: not JSON"),
        ('[{"a": "f16",\n "a": "f16"}]', ":1: the key 'a' stands there twice"),
        ('{"schema": 1,\n"schema": 1, "rows": []}', ":2: the key 'schema' stands there twice"),
        ('[{"shape": "m16n8k8"}]\n}', ":2: text after"),
        ('[{"shape": "m16n8k8"}, {"a": "f16"}, {"a": "f16", "legal": 7}]', ":1, row 3: 7 is neither"),
        ('[{"a": "f16"}, {"a": "f16", "legal": 0}]', ":1, row 2: a=f16 contradicts line 1, row 1"),
        ('{"isa": "ptx",\n"rows": [{"target": "sm_80"}]}', ":2: the row states no instruction"),
        ('[{"shape": "m16n8k8", "k": NaN}]', ":1: NaN is not JSON"),
        ("[" * 100_000, ":1: "),
        ('[{"shape": "m16n8k8"}, {"shape": ' + "[" * 100_000, ":1: not JSON"),
        ('{"schema": 2, "rows": [{"shape": "m16n8k8"}]}', ":1: schema 2 is not known"),
        ('{"frob": 1, "rows": [{"shape": "m16n8k8"}]}', ":1: unknown column 'frob'"),
        ('{"columns": {"x": "frob"}, "rows": [{"x": "m16n8k8"}]}', ":1: unknown column 'frob'"),
    ],
)
def test_json(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "table.json"
    path.write_text(text, encoding="utf-8")
    assert refusal(path).startswith(f"table.json{message}")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"a": {"x": 1}}, "column 'a' is a value or a list of values"),
        ({"a": []}, "column 'a' is a value or a list of values"),
        ({"target": ["sm_80", ["sm_90"]]}, "column 'target' is a value or a list of values"),
        ({"shape": {"m": 16, "q": 1}}, "a shape has m, n and k"),
        ({"shape": {"m": 16, "n": 8, "k": {}}}, "'m16n8k{}' is not a shape"),
        ({"m": 16}, "a shape is one column, or m, n and k"),
        ({"types": "f16.f16.f16"}, "types are D.A.B.C"),
        ({"types": {"a": "f32"}}, "'types' says a = f32"),
        ({"isa": []}, "an ISA is one of power, ptx, pto, mfma, not []"),
        ({"legal": {}}, "{} is neither yes nor no"),
        ({"target": "power10", "kind": "*"}, "rows about power have no column 'kind'"),
        ({"target": "A5", "instruction": "tmatmul", "shape": "m*"}, "column 'shape' is no pattern"),
        ({"a": [f"x{n}" for n in range(300)], "b": [f"y{n}" for n in range(300)]}, "the row lists 90000"),
        ({"operand": "a", "layout": "(1):(1)", "instr": 7}, "the instruction and the operand"),
    ],
    ids=str,
)
def test_cells(tmp_path: Path, row: dict, message: str) -> None:
    assert refusal(json_table(tmp_path, GOOD, {**GOOD, **row})).startswith(f"table.json:4: {message}")


def test_a_file_that_is_none(tmp_path: Path) -> None:
    assert "can't be read" in refusal(tmp_path / "nothing.csv")
    assert "can't be read" in refusal(tmp_path)
    (tmp_path / "bytes.csv").write_bytes(b"shape\n\xff\n")
    assert refusal(tmp_path / "bytes.csv") == "bytes.csv:2: not UTF-8: byte 6 is 0xff"


def test_one_object_a_line(tmp_path: Path) -> None:
    path = tmp_path / "table.jsonl"
    rows = [GOOD, {**GOOD, "target": "sm_70"}]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert [finding.line for finding in compared(path).findings] == [2]
    path.write_text(json.dumps(rows[1]), encoding="utf-8")
    assert [finding.line for finding in compared(path).findings] == [1]
    path.write_text(json.dumps(GOOD) + "\n[]\n", encoding="utf-8")
    assert refusal(path).startswith("table.jsonl:2: a row is an object")


def test_tables_do_not_contradict_each_other_across_files(tmp_path: Path) -> None:
    first = json_table(tmp_path, GOOD)
    second = csv_table(tmp_path, "shape,a,target,legal\nm16n8k8,f16,sm_80,no\n")
    assert [finding.file for finding in compared(first, second).findings] == [str(second)]
