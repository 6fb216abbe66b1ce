"""Printed formulas compute what the instructions compute: they are evaluated beside ``execute``."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from printed_formulas import evaluated

from mmaproof.spec.errors import InputError
from mmaproof.spec.ptx.architectures import ARCHITECTURES
from mmaproof.spec.ptx.catalogue import ALL_FORMS
from mmaproof.spec.ptx.choices import Choices
from mmaproof.spec.ptx.formula import product_formula, semantics
from mmaproof.spec.ptx.instruction_set import INSTRUCTION_SET
from mmaproof.spec.ptx.resolution import Multiplication, multiplication
from mmaproof.spec.ptx.variant import MULTIPLYING, Family, Variant

SAMPLED = [list(form.variants()) for form in ALL_FORMS]
VARIANTS = {str(v): v for number, each in enumerate(SAMPLED) for v in each if v is each[number % len(each)]}
VARIANTS |= {str(v): v for each in SAMPLED for v in each[-1:]}
PRODUCTS = [v for v in VARIANTS.values() if v.family in MULTIPLYING]
OPEN = [v for v in PRODUCTS[::2] if not (multiplication(v).is_integer or multiplication(v).is_double)]
RNG = np.random.default_rng(12)


def text_of(lines, name: str) -> str:
    (found,) = [m[1] for line in lines if (m := re.fullmatch(rf"{name}\[r\] of a lane = (.+), r = .+", line))]
    return found


def operands(form: Multiplication, size: int) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Return operands that `execute` takes, and what a formula calls them."""
    m, n, _ = form.shape
    low, high = (0, 2) if form.a.name == "b1" else (0, 3) if form.is_integer else (-size, size + 1)
    arrays = {role: RNG.integers(low, high, form.matrix_shape(role)) for role in "abc"}
    if form.block_scale is not None:
        vector = form.block_scale.vector
        arrays["scale_a"] = 2.0 ** RNG.integers(-2, 3, (m, vector))
        arrays["scale_b"] = 2.0 ** RNG.integers(-2, 3, (vector, n))
    if form.sparsity is not None:
        sparsity = replace(form.sparsity, ordered=True) if form.is_of_warpgroup else form.sparsity
        arrays["metadata"] = RNG.choice(sparsity.legal_nibbles, (m, sparsity.chunks)).astype(np.uint8)
    exact = np.frompyfunc(Fraction, 1, 1)
    titles = {"a": "A", "b": "B", "c": "C", "scale_a": "SA", "scale_b": "SB", "metadata": "E"}
    return arrays, {titles[name]: exact(array.astype(float)) for name, array in arrays.items()}


def computed(form: Multiplication, arrays: dict[str, np.ndarray], *choices: str) -> np.ndarray:
    result = INSTRUCTION_SET.read(form.name).execute(
        arrays, as_registers=False, rounding=None, choices=choices
    )
    return result["d"].astype(float)


def written_value(text: str, names: dict[str, object], place: tuple[int, ...]) -> float:
    """Evaluate a formula on numbers so small that no rounding changes them."""
    indices = dict(zip("qij" if len(place) == 3 else "ij", place, strict=True))
    code = text.partition(" = ")[2]
    roundings = dict.fromkeys(re.findall(r"(?:round|dot_add)_\w+", code), lambda value: value)
    return float(evaluated(code, **{**roundings, **names}, **indices))


def places(form: Multiplication) -> list[tuple[int, ...]]:
    return [tuple(int(RNG.integers(extent)) for extent in form.matrix_shape("d")) for _ in range(4)]


@pytest.mark.parametrize("variant", PRODUCTS, ids=str)
def test_a_products_formula_is_what_it_computes(variant: Variant) -> None:
    form = multiplication(variant)
    arrays, names = operands(form, 2 if form.a.bits >= 6 else 1)
    d = computed(form, arrays)
    for rounds in (False, True):
        text = product_formula(form, Choices(), rounds=rounds)
        for place in places(form)[:2]:
            assert written_value(text, names, place) == d[place]


@pytest.mark.parametrize("variant", OPEN, ids=str)
def test_every_architectures_formula_has_the_terms_it_computes_with(variant: Variant) -> None:
    form = multiplication(variant)
    arrays, names = operands(form, 2 if form.a.bits >= 6 else 1)
    for architecture in ARCHITECTURES:
        try:
            text = product_formula(form, Choices(accumulation=architecture.name))
        except InputError:
            with pytest.raises(InputError):
                computed(form, arrays, architecture.name)
            continue
        d = computed(form, arrays, architecture.name)
        for place in places(form)[:2]:
            assert written_value(text, names, place) == d[place]


@pytest.mark.parametrize("types", ["f32.f16.f16.f32", "f16.f16.f16.f16"])
def test_a_formula_rounds_where_the_instruction_rounds(types: str) -> None:
    form = multiplication(INSTRUCTION_SET.read(f"mma.sync.aligned.m16n8k16.row.col.{types}").written.variant)
    kind = np.float32 if types.startswith("f32") else np.float16
    arrays, names = operands(form, 2000 if kind is np.float32 else 60)
    if kind is np.float32:
        arrays["c"] = RNG.integers(1 << 22, 1 << 24, arrays["c"].shape)
        names["C"] = arrays["c"].astype(object)
    d = computed(form, arrays)
    text = product_formula(form, Choices()).partition(" = ")[2]
    rounding = {f"round_{types[:3]}": lambda value: Fraction(float(kind(float(value))))}
    exact = product_formula(form, Choices(), rounds=False).partition(" = ")[2]
    different = 0
    for i, j in np.ndindex(*d.shape):
        assert float(evaluated(text, i=i, j=j, **rounding, **names)) == d[i, j]
        different += float(evaluated(exact, i=i, j=j, **names)) != d[i, j]
    assert different


@pytest.mark.parametrize(
    "variant", [v for v in PRODUCTS[1::2] if v.family in (Family.MMA, Family.MMA_SP)], ids=str
)
def test_the_registers_hold_what_their_formulas_say(variant: Variant) -> None:
    form, lines = multiplication(variant), list(semantics(variant))
    for role in "abcd":
        fmt, text = form.format(role), text_of(lines, role)
        matrix = RNG.integers(0, 1 << min(fmt.bits, 32), form.matrix_shape(role)).astype(object)
        table = INSTRUCTION_SET.read(str(variant)).layout(role).rows()
        for row in table[:: max(1, len(table) // 50)]:
            word = evaluated(text, lane=row["lane"], r=row["register"], **{role.upper(): matrix})
            place = (row["computation"],) if form.batch else ()
            held = word >> row["bit"] & ((1 << fmt.bits) - 1)
            assert held == matrix[(*place, row["row"], row["column"])]


MOVES = {str(v): v for each in SAMPLED for v in each if "matrix" in v.family and v.space in (None, "shared")}


@pytest.mark.parametrize("variant", MOVES.values(), ids=str)
def test_a_matrix_moves_formula_is_what_it_moves(variant: Variant) -> None:
    instruction, lines = INSTRUCTION_SET.read(str(variant)), list(semantics(variant))
    run = {"as_registers": True, "rounding": None, "choices": ()}
    memory = RNG.integers(0, 256, 1024, dtype=np.uint8)
    p = RNG.permutation(64)[:32] * 16
    registers = RNG.integers(0, 1 << 32, (32, 8), dtype=np.uint32)
    if variant.family is Family.STMATRIX:
        count = int(variant.count[1:])
        operand = registers[:, :count]
        stored = instruction.execute({"memory": memory, "addresses": p, "r": operand}, **run)["memory"]
        found = re.fullmatch(r"bits\(M\[(.+)\], 8·b, 8\) ← (.+), b = 0\.\.15, i = 0\.\.7, m = .+", lines[0])
        assert found is not None
        for m, i, b in np.ndindex(count, 8, 16):
            names = {"m": m, "i": i, "b": b, "p": p, "r": operand.astype(object)}
            memory[evaluated(found[1], **names) + b] = evaluated(found[2], **names)
        np.testing.assert_array_equal(memory, stored)
        return
    if variant.family is Family.LDMATRIX:
        d = instruction.execute({"memory": memory, "addresses": p}, **run)["d"]
        rows = {int(at): int.from_bytes(memory[at : at + 16].tobytes(), "little") for at in p}
        names = {"M": rows, "p": p}
    else:
        d = instruction.execute({"a": registers[:, :1]}, **run)["d"]
        names = {"a": registers.astype(object)}
    text = text_of(lines, "d")
    for lane, r in np.ndindex(*d.shape):
        assert evaluated(text, lane=lane, r=r, **names) == d[lane, r]


@pytest.mark.parametrize("form", range(len(ALL_FORMS)))
def test_different_moves_have_different_formulas(form: int) -> None:
    moves = [v for v in SAMPLED[form] if "matrix" in v.family and v.space is None]
    assert len({"".join(semantics(v)) for v in moves}) == len(moves)


@pytest.mark.parametrize("layout", ["row", "col"])
def test_a_wmma_loads_formula_is_where_it_loads_from(layout: str) -> None:
    instruction = INSTRUCTION_SET.read(f"wmma.load.a.sync.aligned.{layout}.m32n8k16.f16")
    memory = RNG.integers(0, 1 << 14, 2048, dtype=np.uint16)
    arrays = {"memory": memory.view(np.uint8), "address": np.array(0), "stride": np.array(48)}
    d = instruction.execute(arrays, as_registers=True, rounding=None, choices=())["d_bits"]
    text = instruction.formula()[0].partition(" ← ")[2].partition(", i =")[0]
    for i, j in np.ndindex(*d.shape):
        assert evaluated(text, i=i, j=j, stride=48, M=memory) == d[i, j]
