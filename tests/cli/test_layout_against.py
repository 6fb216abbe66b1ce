"""``mmaproof layout --against``, on the examples too."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import mmaproof
from document_schemas import SCHEMAS, validate

from mmaproof.spec.foreign_layouts.comparison import Verdict

EXAMPLES = Path(__file__).parents[2] / "examples"
ROWS = [
    (path.stem, row)
    for name in ("cute_traits", "linear_layouts", "shared_memory_loads")
    for path in (EXAMPLES / "gate" / f"{name}{kind}.json" for kind in ("", "_wrong"))
    for row in json.loads(path.read_text(encoding="utf-8"))
]
MMA = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
A = "((4,8),(2,2,2)):((32,1),(16,8,128))"
SWAPPED = "((4,8),(2,2,2)):((32,1),(16,128,8))"


@pytest.mark.parametrize(("file", "row"), ROWS, ids=lambda part: part if isinstance(part, str) else "")
def test_the_layouts_of_the_examples_have_their_verdicts(file: str, row: dict[str, str]) -> None:
    layout = row["layout"] if isinstance(row["layout"], str) else json.dumps(row["layout"])
    arguments = ("layout", row["instruction"], "--operand", row["operand"], "--against", layout)
    result = mmaproof(*arguments)
    assert result.out.startswith(f"{row['_verdict']}: ")
    assert (result.status, result.err) == (1 if file.endswith("_wrong") else 0, "")
    document = json.loads(mmaproof(*arguments, "--format", "json").out)
    validate("layout-comparison", document)
    assert document["equal"] is not file.endswith("_wrong")


def test_a_wrong_layout_is_explained() -> None:
    result = mmaproof("layout", MMA, "--operand", "a", "--against", SWAPPED)
    assert result.status == 1
    assert result.out.splitlines() == [
        "other-bijection: lane 0, element 2 holds (row 0, column 8), specified is (row 8, column 0); "
        "128 of 256 differ",
        "  permutation: registers (1 2)",
        "  repair: change the strides 128 (coordinate 1 of the element) to 8, "
        f"8 (coordinate 2 of the element) to 128: {A}",
        f"  expected: {A}",
    ]


def test_a_layout_is_read_from_a_file(tmp_path: Path) -> None:
    table = EXAMPLES / "layouts" / "c_of_m16n8k16.csv"
    assert mmaproof("layout", MMA, "--operand", "c", "--against", f"@{table}").status == 0
    assert mmaproof("layout", MMA, "--operand", "d", "--against", f"@{table}").status == 0
    written = mmaproof("layout", MMA, "--operand", "b", "--format", "json").out
    document = tmp_path / "b.json"
    document.write_text(written, encoding="utf-8")
    assert mmaproof("layout", MMA, "--operand", "b", "--against", f"@{document}").status == 0
    assert mmaproof("layout", MMA, "--operand", "c", "--against", f"@{document}").status == 1


def test_a_layout_that_is_unspecified_is_undecided() -> None:
    wmma = "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32"
    result = mmaproof("layout", wmma, "--operand", "a", "--against", "(32,8):(8,1)")
    assert (result.status, result.out) == (3, "")


def test_a_buffer_is_compared_on_its_profile() -> None:
    product = "%c = tmatmul %a, %b : (!pto.tile<16x32xf16>, !pto.tile<32x16xf16>) -> !pto.tile<16x16xf32>"
    against = ("layout", product, "--operand", "a", "--against", "(16,(16,2)):(16,(1,256))")
    assert [mmaproof(*against, "--target", target).status for target in ("A5", "CPU")] == [0, 0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--against", A, "--lane", "5"), "remove --lane and --element"),
        (("--against", A, "--format", "svg"), "table or json, not as svg"),
        (("--against", "@/nonexistent/layout.csv"), "/nonexistent/layout.csv: can't be read"),
        (("--against", "(1000,1000,1000):(1,1,1)"), "1000000000 elements"),
        (("--against", "((4,8),(2,2,2):((32,1),(16,8,128))"), "expected ')'"),
        (("--against", ""), "no layout"),
    ],
)
def test_bad_input_is_one_line_and_status_2(arguments: tuple[str, ...], message: str) -> None:
    result = mmaproof("layout", MMA, "--operand", "a", *arguments)
    assert result.wrong_use
    assert message in result.err


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    binary = tmp_path / "layout"
    binary.write_bytes(b"\xff\xfe\x00")
    result = mmaproof("layout", MMA, "--operand", "a", "--against", f"@{binary}")
    assert result.wrong_use
    assert "not UTF-8" in result.err


def test_the_schema_has_every_verdict() -> None:
    schema = json.loads((SCHEMAS / "layout-comparison.schema.json").read_text(encoding="utf-8"))
    assert schema["properties"]["verdict"]["enum"] == [verdict.value for verdict in Verdict]


def test_the_document_has_every_verdict_in_its_words() -> None:
    text = (EXAMPLES.parent / "docs" / "layout-notations.md").read_text(encoding="utf-8")
    assert [verdict for verdict in Verdict if f"| `{verdict}` | {verdict.meaning} |" not in text] == []
