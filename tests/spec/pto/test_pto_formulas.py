"""Printed formulas compute what the operations compute: they are evaluated beside it."""

from __future__ import annotations

import re
from fractions import Fraction

import numpy as np
import pytest
from printed_formulas import evaluated

from mmaproof.spec.formats import BF16, E4M3, F16, F32, S8, S32, UE8M0, Format
from mmaproof.spec.numpy_algebra import NumpyAlgebra
from mmaproof.spec.pto.catalogue import OPERATIONS, Operation, OperationKind
from mmaproof.spec.pto.choices import PRESETS, UNSPECIFIED, Choices, choices_of
from mmaproof.spec.pto.formula import product_formula, semantics
from mmaproof.spec.pto.instruction_set import INSTRUCTION_SET
from mmaproof.spec.pto.placement import unit_placement
from mmaproof.spec.pto.products import product
from mmaproof.spec.pto.resolution import applied, resolve
from mmaproof.spec.pto.sizes import SCALE_GROUP
from mmaproof.spec.pto.targets import PROFILES
from mmaproof.spec.values import encodings_of_values, values_of_encodings

PRODUCTS = [operation for operation in OPERATIONS.values() if operation.kind is not OperationKind.MOVE]
READINGS = {name: choices for name, choices in PRESETS.items() if name != UNSPECIFIED}
RNG = np.random.default_rng(5)
NAMES = {"a": "A", "b": "B", "c": "C", "bias": "bias", "scale_a": "SA", "scale_b": "SB"}


def formats_of(operation: Operation) -> list[dict[str, Format]]:
    if operation.microscaled:
        return [{"a": E4M3, "b": E4M3, "c": F32, "d": F32, "bias": F32, "scale_a": UE8M0, "scale_b": UE8M0}]
    floats: list[dict[str, Format]] = [{"a": f, "b": f, "c": F32, "d": F32, "bias": F32} for f in (F16, BF16)]
    return [*floats, {"a": S8, "b": S8, "c": S32, "d": S32, "bias": S32}]


def rounded(value: Fraction) -> Fraction:
    return Fraction(float(np.float32(float(value))))


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("operation", PRODUCTS, ids=str)
def test_a_products_formula_is_what_it_computes(operation: Operation, reading: str) -> None:
    choices: Choices = READINGS[reading]
    for formats in formats_of(operation):
        text = product_formula(operation, formats, choices).partition(" = ")[2]
        for m, k, n in ((1, 70, 2), (2, 1, 1)):
            groups = -(-k // SCALE_GROUP)
            shapes = {
                "a": (m, k), "b": (k, n), "c": (m, n), "bias": (1, n),
                "scale_a": (m, groups), "scale_b": (groups, n),
            }  # fmt: skip
            values = {role: RNG.integers(-8, 9, shapes[role]).astype(float) for role in operation.inputs}
            for role in values.keys() & {"scale_a", "scale_b"}:
                values[role] = 2.0 ** RNG.integers(-3, 4, shapes[role])
            for role in values.keys() & {"c", "bias"} if formats["d"] == F32 else ():
                values[role] *= 2.0**20  # so that there is something to round
            operands = {role: encodings_of_values(role, v, formats[role]) for role, v in values.items()}
            bits = product(NumpyAlgebra(), operation, **operands, formats=formats, choices=choices)
            d = values_of_encodings(bits, formats["d"]).astype(float)
            exact = np.frompyfunc(Fraction, 1, 1)
            names = {NAMES[role]: exact(value) for role, value in values.items()}
            functions = {"round_f32": rounded, "round_f64": lambda value: value}
            for i, j in np.ndindex(m, n):
                value = evaluated(text, i=i, j=j, k=k, **names, **functions)
                wrapped = (int(value) + (1 << 31)) % (1 << 32) - (1 << 31) if formats["d"] == S32 else value
                assert float(wrapped) == d[i, j]


@pytest.mark.parametrize("profile", PROFILES.values(), ids=str)
@pytest.mark.parametrize("operation", PRODUCTS[:6], ids=str)
def test_what_is_explained_is_the_profiles_formula(operation: Operation, profile) -> None:
    lines = list(semantics(applied(operation, {}, profile)))
    formula = product_formula(operation, formats_of(operation)[0], choices_of(profile))
    assert f"{formula} for f32" in lines
    assert any(line.endswith(" over the reals") for line in lines)


def test_a_block_begins_where_its_indices_say() -> None:
    (line, *_) = INSTRUCTION_SET.read("textract").formula("A5")
    found = re.fullmatch(r"target\[i,j\] = (.+) for \(i,j\) in .+", line)
    assert found is not None
    source = RNG.integers(0, 99, (64, 64))
    for row, column, i, j in RNG.integers(0, 32, (20, 4)):
        assert (
            evaluated(found[1], row=row, column=column, i=i, j=j, source=source)
            == source[row + i, column + j]
        )


EXTENT = "rows=16, cols=16, v_row=16, v_col=16, blayout=col_major, slayout=row_major"
CAST = (
    f"pto.tmov ins(%0 : !pto.tile_buf<loc=acc, dtype=f32, {EXTENT}, fractal=1024, pad=0>) "
    f"outs(%1 : !pto.tile_buf<loc=mat, dtype=f16, {EXTENT}, fractal=512, pad=0>)"
)


def test_a_conversion_is_written() -> None:
    assert INSTRUCTION_SET.read(CAST).formula("A5")[0].startswith("target[i,j] = round_f16(source[i,j]) for")
    quantised = INSTRUCTION_SET.read(CAST.replace("f16", "i8")).formula("A5")
    assert quantised[0] == "a move from f32 to s8 needs a quantisation: not modelled"


@pytest.mark.parametrize("profile", [p for p in PROFILES.values() if p.cube], ids=str)
@pytest.mark.parametrize("name", ["tmatmul", "tgemv", "tmatmul.bias"])
def test_pitches_are_those_of_the_matrix_unit(name: str, profile) -> None:
    text = f"pto.{name} ins({{}}) outs(%d : !pto.tile<64x64xf32>)"
    operation = OPERATIONS[name]
    tiles = ", ".join(
        f"%{role} : !pto.tile<{'1x64xf32' if role == 'bias' else '64x64xf16'}>" for role in operation.inputs
    )
    resolved = resolve(INSTRUCTION_SET.read(text.format(tiles)).statement, profile)
    lines = [
        re.fullmatch(r"(\w+): .+ of boxes ceil\((\w)/(\d+)\)·(\d+) .+", line) for line in semantics(resolved)
    ]
    found = [line for line in lines if line is not None]
    assert len(found) >= 2
    for line in found:
        role, size, box, step = line[1], line[2], int(line[3]), int(line[4])
        for m, k, n in RNG.integers(1, 200, (20, 3)):
            placement = unit_placement(
                operation, profile, role, resolved.tiles[role].element, int(m), int(k), int(n)
            )
            assert -(-int({"m": m, "k": k, "n": n}[size]) // box) * step == placement.pitch


@pytest.mark.parametrize(("factors", "result"), [("f16", "i32"), ("i8", "f32"), ("hif8", "i32")])
def test_integers_and_floats_are_not_multiplied_with_each_other(factors: str, result: str) -> None:
    a, b = (f"%{name} : !pto.tile<16x16x{factors}>" for name in "ab")
    lines = INSTRUCTION_SET.read(f"pto.tmatmul ins({a}, {b}) outs(%d : !pto.tile<16x16x{result}>)").formula()
    assert re.fullmatch(r"tmatmul of a \w+, b \w+, d \w+ has no meaning", lines[0])
    assert not any(line.startswith("D[") for line in lines)
