"""Open points: each unconfirmed point has its choice, and each choice computes what it says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mmaproof.proofs.text_tables import SOURCE
from mmaproof.spec.errors import InputError
from mmaproof.spec.formats import S8, S32
from mmaproof.spec.instruction_set import NAMES, instruction_set
from mmaproof.spec.numpy_algebra import NumpyAlgebra
from mmaproof.spec.pto.catalogue import OPERATIONS
from mmaproof.spec.pto.choices import Choices
from mmaproof.spec.pto.element_types import ELEMENT_TYPES
from mmaproof.spec.pto.placement import operand_placement
from mmaproof.spec.pto.products import product
from mmaproof.spec.pto.sizes import Sizes
from mmaproof.spec.pto.targets import A5, CPU, alias
from mmaproof.spec.pto.tile import Location

TABLE = Path(__file__).with_name("unconfirmed_points.tsv")
"""Points that no document or tool confirms: what the specification takes is a choice, or has a reason."""


def unconfirmed_points() -> list[dict[str, str]]:
    names, *rows = (line.split("\t") for line in TABLE.read_text(encoding="utf-8").splitlines())
    return [dict(zip(names, row, strict=True)) for row in rows]


@pytest.mark.parametrize("isa", NAMES)
def test_every_choice_has_its_unconfirmed_point(isa: str) -> None:
    chosen = [row["choice"] for row in unconfirmed_points() if row["isa"] == isa and row["choice"]]
    assert sorted(chosen) == sorted(point.name for point in instruction_set(isa).open_points)


def test_every_unconfirmed_point_has_a_choice_or_a_reason() -> None:
    rows = unconfirmed_points()
    assert [row for row in rows if bool(row["choice"]) == bool(row["reason"])] == []
    assert [row for row in rows if not row["point"] or not row[SOURCE] or row["isa"] not in NAMES] == []
    assert len({(row["isa"], row["point"]) for row in rows}) == len(rows)


def executed(isa: str, text: str, choice: str, target: str | None = None, **arrays: Any) -> Any:
    """Execute an instruction on matrices by a reading of one point, and return D or the accumulator."""
    instruction = instruction_set(isa).read(text)
    given = {name: np.asarray(array) for name, array in arrays.items()}
    rounding = given.pop("rounding", None)
    found = instruction.execute(
        given, as_registers=False, rounding=None if rounding is None else str(rounding), choices=[choice],
        target=target,
    )  # fmt: skip
    return found["acc_bits" if isa == "power" else "d_bits"]


def matrix(rows: int, columns: int, *entries: float) -> np.ndarray:
    """Return a matrix whose first row begins with some entries; all others are 0."""
    found = np.zeros((rows, columns))
    found[0, : len(entries)] = entries
    return found


@pytest.mark.parametrize(("reading", "d"), [("fpscr", 0x3F800001), ("nearest", 0x3F800000)])
def test_direction_of_the_first_rounding_of_bf16(reading: str, d: int) -> None:
    found = executed(
        "power", "xvbf16ger2pp", f"bf16-direction={reading}", x=matrix(4, 2, 1, 2.0**-15),
        y=matrix(4, 2, 1, 2.0**-15), acc=np.zeros((4, 4)), rounding="upward",
    )  # fmt: skip
    assert found[0, 0] == d


@pytest.mark.parametrize(("reading", "d"), [("signed", 0x80000000), ("positive", 0)])
def test_the_zero_that_a_subnormal_becomes(reading: str, d: int) -> None:
    text = "v_mfma_f32_16x16x16f16"
    row = np.full((16, 16), -0.0)
    found = executed(
        "mfma", text, f"flushed-zero={reading}", "gfx90a", a=row - 2.0**-24, b=np.ones((16, 16)), c=row
    )
    assert set(found.ravel().tolist()) == {d}


@pytest.mark.parametrize(("reading", "d"), [("wrap", 0x80000000), ("clamp", 0x7FFFFFFF)])
def test_overflow_of_i32_on_pto(reading: str, d: int) -> None:
    formats = {"a": S8, "b": S8, "c": S32, "d": S32}
    a, b, c = (
        np.full((1, 1), 1, np.uint8),
        np.full((1, 1), 1, np.uint8),
        np.full((1, 1), 2**31 - 1, np.uint32),
    )
    choices, operation = Choices(integer_overflow=reading), OPERATIONS["tmatmul.acc"]
    found = product(NumpyAlgebra(), operation, a, b, c=c, formats=formats, choices=choices)
    assert found[0, 0] == d


def test_pitches_of_the_matrix_unit() -> None:
    tile = alias(A5, Location.LEFT, ELEMENT_TYPES["f16"], (64, 64), (20, 18))
    operation, sizes = OPERATIONS["tmatmul"], Sizes(20, 18, 17)

    def pitch(profile: Any, role: str, reading: str) -> int:
        choices = Choices(unit_pitches=reading)
        return int(operand_placement(operation, profile, role, tile, sizes, choices).pitch)

    assert pitch(A5, "a", "derived") < pitch(A5, "a", "physical") == pitch(CPU, "a", "derived")
    assert pitch(A5, "d", "derived") == pitch(A5, "d", "physical")


@pytest.mark.parametrize(("reading", "d"), [("once", 2**31 - 1), ("halves", 2**31 - 2)])
def test_clamps_of_satfinite(reading: str, d: int) -> None:
    a = matrix(16, 32)
    a[0, [0, 16]] = 1, -1
    found = executed(
        "ptx", "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32", f"satfinite-clamp={reading}",
        a=a, b=np.ones((32, 8)), c=np.full((16, 8), 2**31 - 1),
    )  # fmt: skip
    assert found[0, 0] == d


@pytest.mark.parametrize(("reading", "d"), [("kept", 0x8000), ("positive", 0)])
def test_the_sign_of_what_is_rounded_to_zero(reading: str, d: int) -> None:
    instruction = instruction_set("ptx").read("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16")
    arrays = {"a": matrix(16, 16, -(2.0**-24)), "b": np.full((16, 8), 2.0**-10), "c": np.zeros((16, 8))}
    found = instruction.execute(
        arrays, as_registers=False, rounding=None, choices=["hopper", f"underflow-sign={reading}"]
    )
    assert found["d_bits"][0, 0] == d


@pytest.mark.parametrize(
    ("text", "choice", "registers"),
    [
        ("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64", "f64-order", False),
        (
            "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 "
            "{%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, %r3}, {%r4, %r5, %r6, %r7}, {%f0, %f1, %f2, %f3}, %r8, 0;",
            "sparse-b", True,
        ),
        (
            "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0 "
            "{%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, %r3}, {%r4, %r5}, {%f0, %f1, %f2, %f3}, %r6, {0, 0}, %r7, "
            "{0, 0};",
            "scale-a-rows", True,
        ),
        ("ldmatrix.sync.aligned.m8n16.x4.shared.b8x16.b6x16_p32", "narrow-rows", False),
    ],
)  # fmt: skip
def test_what_is_not_known_is_refused(text: str, choice: str, registers: bool) -> None:
    instruction = instruction_set("ptx").read(text)
    with pytest.raises(InputError, match=rf"{choice}=unspecified|unspecified accumulation"):
        instruction.execute({}, as_registers=registers, rounding=None, choices=[f"{choice}=unspecified"])
    with pytest.raises(InputError, match="no array"):
        instruction.execute({}, as_registers=registers, rounding=None, choices=[])
