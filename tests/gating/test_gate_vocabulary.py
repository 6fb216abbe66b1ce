"""An instruction set that brings no words of its own is read in those of its tables."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from gate_tables import compared, json_table, standing

from mmaproof.gating.judging import answer
from mmaproof.gating.vocabulary import Vocabulary
from mmaproof.spec.errors import InputError, UnsupportedError
from mmaproof.spec.findings import Standing
from mmaproof.spec.instruction_set import Judgement
from mmaproof.spec.legality import Rule, Violation

ROWS = [
    {"mnemonic": "toy_f32_4x4x2", "opcode": "0x40", "shape": "4x4x2", "blocks": "16", "A": "f16", "B": "half",
     "C and D": "f32"},
    {"mnemonic": "toy_i32_4x4x4", "shape": "4x4x4", "A": "i8", "B": "i8", "C and D": "i32",
     "targets": "t2, t3", "A registers": "1", "source": "§ 2"},
]  # fmt: skip
LATE: Rule[Any, Any] = Rule("late", "t1 has no integers", "§ 2", lambda subject, target: ())


def read(text: str) -> SimpleNamespace:
    name = text.split(maxsplit=1)[0]
    if name not in {row["mnemonic"] for row in ROWS}:
        raise InputError(f"no instruction: {text}")

    def legal(target: str, version: str | None) -> Judgement:
        wrong = target == "t1" and "i32" in name
        return Judgement(target, (Violation(LATE, "t1"),) if wrong else ())

    return SimpleNamespace(mnemonic=name, legal=legal)


class Toy:
    name = "toy"
    targets = ("t1", "t2", "t3")
    tables = {"instructions": lambda: ROWS}  # noqa: RUF012
    read = staticmethod(read)


@pytest.fixture
def words() -> Vocabulary:
    isa: Any = Toy()
    return Vocabulary(isa)


def test_points_are_the_rows_of_the_table(words: Vocabulary) -> None:
    cells = {
        "instruction": "toy_i32_4x4x4", "shape": "m4n4k4", "a": "s8", "b": "s8", "c": "s32", "d": "s32"
    }  # fmt: skip
    assert [point.text for point in words.points] == ["toy_f32_4x4x2", "toy_i32_4x4x4"]
    assert (words.points[1].cells, words.points[1].source) == (cells, "§ 2")
    assert (words.points[0].cells["b"], words.points[0].cells["blocks"]) == ("f16", "16")
    assert words.read("toy_i32_4x4x4 a, b") == cells
    assert words.read("toy") is None


def test_names_and_targets(words: Vocabulary) -> None:
    assert words.name_of("toy_i32_4x4x4 a, b") == "toy_i32_4x4x4"
    with pytest.raises(UnsupportedError, match="toy_i32_4x4x9"):
        words.name_of("toy_i32_4x4x9")
    assert words.targets("t2+") == ("t2", "t3")
    assert words.targets("T*") == ("t1", "t2", "t3")
    with pytest.raises(UnsupportedError):
        words.targets("t4+")


def test_instructions_are_judged_as_the_set_judges_them(words: Vocabulary) -> None:
    assert answer(words, "toy_i32_4x4x4", "t2", None).legal
    (cause,) = answer(words, "toy_i32_4x4x4", "t1", None).causes
    assert (cause.id, cause.message) == ("toy/late", "t1")
    assert answer(words, "toy", "t2", None).causes[0].id == "gate/syntax"


def test_a_list_of_names_may_be_all_that_a_row_states(tmp_path: Path) -> None:
    assert standing(tmp_path, {"instruction": "xvf32ger|xvf64ger", "target": "power10"}) is Standing.AGREES


@pytest.mark.parametrize(
    ("target", "expected"),
    [("pwr10", Standing.AGREES), ("pwr10+", Standing.AGREES), ("pwr9", Standing.DRIFT)],
)
def test_a_spelling_of_targets_tells_the_instruction_set(
    tmp_path: Path, target: str, expected: Standing
) -> None:
    assert standing(tmp_path, {"shape": "m4n4k1", "a": "f32", "target": target}) is expected


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"instruction": "v_mfma_f32_32x32x8_f16", "target": "gfx942"}, Standing.AGREES),
        ({"shape": "32x32x8", "blocks": 1, "a": "half", "d": "float", "target": "gfx942"}, Standing.AGREES),
        ({"shape": "32x32x8", "blocks": 2, "a": "half", "target": "gfx942"}, Standing.DRIFT),
        ({"shape": "16x16x32", "a": "fp8", "b": "bf8", "target": "gfx942"}, Standing.AGREES),
        ({"shape": "16x16x32", "a": "fp8", "b": "bf8", "target": "gfx90a"}, Standing.DRIFT),
        ({"shape": "16x16x32", "a": "fp8", "b": "bf8", "target": "gfx90a", "legal": "no"}, Standing.AGREES),
        ({"shape": "16x16x32", "a": "i8", "target": "gfx940+"}, Standing.AGREES),
        (
            {"instruction": "v_mfma_f32_*", "shape": "32x32x8", "a": "f16", "target": "gfx90a"},
            Standing.AGREES,
        ),
        ({"shape": "32x32x8", "a": "f16", "target": "gfx90a"}, Standing.AGREES),
        ({"instruction": "v_mfma_f32_32x32x8_f16", "target": "gfx90a"}, Standing.DRIFT),
        ({"instruction": "v_mfma_f32_32x32x8_f16", "a": "f16", "target": "gfx90a"}, Standing.DRIFT),
        ({"instruction": "v_mfma_f32_32x32x8f16", "a": "f16", "target": "gfx90a"}, Standing.AGREES),
        ({"instruction": "v_mfma_f99", "target": "gfx942"}, Standing.UNDECIDED),
        ({"shape": "16x16x32", "a": "i8", "target": "gfx777"}, Standing.UNDECIDED),
    ],
)
def test_rows_about_mfma(tmp_path: Path, row: dict[str, Any], expected: Standing) -> None:
    assert standing(tmp_path, row) is expected


def test_mfma_forms_are_not_missing_under_another_name(tmp_path: Path) -> None:
    named = [f"v_mfma_f32_{shape}f16" for shape in ("32x32x8", "16x16x16", "32x32x4", "16x16x4", "4x4x4")]
    rows = [{"instruction": name, "target": "gfx90a"} for name in named]
    report = compared(json_table(tmp_path, *rows), complete=True)
    assert list(report.findings) == []
