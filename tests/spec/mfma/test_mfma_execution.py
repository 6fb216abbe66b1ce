"""What MFMA computes, against sums written another way, and against AMD's own numbers of elements."""

from itertools import product

import numpy as np
import pytest

from mmaproof.spec.errors import InputError, UnsupportedError
from mmaproof.spec.instruction_set import instruction_set, read
from mmaproof.spec.mfma.catalogue import ROWS, MatrixMultiply, on
from mmaproof.spec.mfma.choices import Choices
from mmaproof.spec.mfma.layouts import fragment, layout
from mmaproof.spec.mfma.product import Modifiers, fetched, lanes_of_a, lanes_of_b
from mmaproof.spec.mfma.targets import DEFAULT_TARGET, TARGETS
from mmaproof.spec.numpy_algebra import NumpyAlgebra

ALGEBRA = NumpyAlgebra()
RNG = np.random.default_rng(20)


def shape(row: MatrixMultiply, operand: str) -> tuple[int, ...]:
    return ((row.blocks,) if row.blocks > 1 else ()) + row.extents(operand)


def small(row: MatrixMultiply, operand: str, batch: tuple[int, ...] = ()) -> np.ndarray:
    """Return whole numbers of which every partial sum is exact in every type."""
    return RNG.integers(-4, 5, (*batch, *shape(row, operand)))


def run(text: str, arrays: dict, *choices: str, target: str | None = None, registers: bool = False) -> dict:
    return read(text).execute(arrays, as_registers=registers, rounding=None, choices=choices, target=target)


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_whole_numbers_are_multiplied_exactly(row: MatrixMultiply) -> None:
    arrays = {name: small(row, name, (3,)) for name in "abc"}
    target = next(name for name, target in TARGETS.items() if row.opcode(target) is not None)
    d = run(row.names(TARGETS[target])[0], arrays, target=target)["d"]
    assert np.array_equal(d, arrays["a"] @ arrays["b"] + arrays["c"])


@pytest.mark.parametrize("row", on(DEFAULT_TARGET), ids=str)
def test_registers_hold_the_matrices(row: MatrixMultiply) -> None:
    arrays = {name: small(row, name) for name in "abc"}
    expected = run(row.name, arrays)["d_bits"]
    held = {name: fragment(row, name, DEFAULT_TARGET) for name in "abcd"}
    bits = {name: held[name].scatter(ALGEBRA, run_bits(row, name, arrays[name])) for name in "abc"}
    d = run(row.name, bits, registers=True)["d"]
    assert np.array_equal(held["d"].gather(ALGEBRA, d), expected)
    assert d.dtype.itemsize * 8 * d.shape[-1] == 32 * row.registers("d")


def run_bits(row: MatrixMultiply, operand: str, values: np.ndarray) -> np.ndarray:
    from mmaproof.spec.values import encodings_of_values

    return encodings_of_values(operand, values, DEFAULT_TARGET.format(row.types[operand]))


def test_a_sum_is_rounded_after_each_product_in_the_order_of_k() -> None:
    name = "v_mfma_f32_16x16x4_f32"
    a, b, c = (RNG.standard_normal(s).astype(np.float32) for s in ((16, 4), (4, 16), (16, 16)))
    d = run(name, {"a": a, "b": b, "c": c})["d"]
    total = c.astype(np.longdouble)
    for k in range(4):
        total = (
            (a[:, k : k + 1].astype(np.longdouble) * b[k] + total).astype(np.float32).astype(np.longdouble)
        )
    assert np.array_equal(d, total.astype(np.float32))


def test_integers_wrap_or_are_clamped_as_chosen() -> None:
    name = "v_mfma_i32_4x4x4_16b_i8"
    arrays = {
        "a": np.full((16, 4, 4), 127),
        "b": np.full((16, 4, 4), 127),
        "c": np.full((16, 4, 4), 2**31 - 1),
    }
    assert (run(name, arrays)["d"] == 2**31 - 1 + 4 * 127 * 127 - 2**32).all()
    assert (run(name, arrays, "integer-overflow=clamp")["d"] == 2**31 - 1).all()


def test_the_8_bit_types_are_those_of_the_target() -> None:
    name = "v_mfma_f32_16x16x32_fp8_bf8"
    zeros = {
        "a_bits": np.zeros((16, 32), np.uint8),
        "b_bits": np.zeros((32, 16), np.uint8),
        "c": np.zeros((16, 16)),
    }
    zeros["a_bits"][:, 0], zeros["b_bits"][0] = 0x40, 0x40
    assert (run(name, zeros)["d"] == 1).all()
    assert (run(name, zeros, target="gfx950")["d"] == 4).all()
    zeros["a_bits"][0, 1] = 0x80
    assert np.isnan(run(name, zeros)["d"][0]).all() and not np.isnan(run(name, zeros)["d"][1:]).any()
    assert not np.isnan(run(name, zeros, target="gfx950")["d"]).any()


def test_xf32_loses_bits_as_chosen() -> None:
    name = "v_mfma_f32_16x16x8_xf32"
    a = np.zeros((16, 8), np.float32)
    a[:, 0] = 1 + 2**-10 + 2**-11 + 2**-12
    arrays = {"a": a, "b": np.eye(8, 16, dtype=np.float32), "c": np.zeros((16, 16))}
    assert run(name, arrays)["d"][0, 0] == 1 + 2**-10
    assert run(name, arrays, "xf32=rounded")["d"][0, 0] == 1 + 2**-9


def test_subnormals_are_lost_where_it_is_documented_or_chosen() -> None:
    least = np.float16(2.0**-24)
    arrays = {"a": np.full((16, 16), least), "b": np.full((16, 16), np.float16(1)), "c": np.zeros((16, 16))}
    name = "v_mfma_f32_16x16x16f16"
    assert (run(name, arrays)["d"] == 16 * float(least)).all()
    assert (run(name, arrays, target="gfx90a")["d"] == 0).all()
    assert (run(name, arrays, "subnormals=kept", target="gfx90a")["d"] > 0).all()
    assert (run(name, arrays, "subnormals=flushed")["d"] == 0).all()
    single = {
        "a": np.full((16, 4), 2.0**-140, np.float32),
        "b": np.ones((4, 16)),
        "c": np.full((16, 16), -(2.0**-140)),
    }
    assert (run("v_mfma_f32_16x16x4_f32", single)["d"] == 3 * 2.0**-140).all()
    assert (run("v_mfma_f32_16x16x4_f32", single, "subnormals=flushed")["d"] == -(2.0**-140)).all()


def test_f64_operands_are_negated_where_the_text_says() -> None:
    arrays = {name: RNG.integers(-9, 9, (4, 4, 4)).astype(float) for name in "abc"}
    for a, b, c in product((0, 1), repeat=3):
        text = f"v_mfma_f64_4x4x4_4b_f64 v[0:1], v[2:3], v[4:5], v[0:1] neg:[{a},{b},{c}]"
        signs = [-1 if sign else 1 for sign in (a, b, c)]
        expected = signs[0] * arrays["a"] @ (signs[1] * arrays["b"]) + signs[2] * arrays["c"]
        assert np.array_equal(run(text, arrays)["d"], expected)


def test_a_constant_c_is_in_every_element() -> None:
    arrays = {"a": np.zeros((32, 8)), "b": np.zeros((8, 32))}
    start = "v_mfma_f32_32x32x8_f16 v[0:15], v[0:1], v[2:3], "
    assert (run(start + "-4.0", arrays)["d"] == -4).all()
    assert (run(start + "0x3f800000", arrays)["d"] == 1).all()
    assert (run(start + "3", arrays)["d_bits"] == 3).all()
    whole = {"a": np.zeros((16, 32), int), "b": np.zeros((32, 16), int)}
    assert (run("v_mfma_i32_16x16x32_i8 v[0:3], v[0:1], v[2:3], -16", whole)["d"] == -16).all()
    with pytest.raises(UnsupportedError, match=r"what 0\.5 is as C of s32 is not documented"):
        run("v_mfma_i32_16x16x32_i8 v[0:3], v[0:1], v[2:3], 0.5", whole)
    with pytest.raises(InputError, match="has no operand 'c'"):
        run(start + "0", {**arrays, "c": np.zeros((32, 32))})


WITH_BLOCKS = [row for row in on(DEFAULT_TARGET) if row.blocks > 1 and not row.is_double]


@pytest.mark.parametrize("row", WITH_BLOCKS, ids=str)
def test_blocks_share_a_as_the_calculator_has_it(row: MatrixMultiply) -> None:
    """Reading 1 for each block: (b & ~(2^cbsz - 1)) | abid; reading 2 for each lane."""
    a = small(row, "a")
    for cbsz in range(row.blocks.bit_length()):
        for abid in range(1 << cbsz):
            modifiers = Modifiers(cbsz=cbsz, abid=abid)
            blocks = [(b & ~((1 << cbsz) - 1)) | abid for b in range(row.blocks)]
            seen = fetched(layout(row, "a"), lanes_of_a(row, modifiers, Choices()), a)
            assert np.array_equal(seen, a[blocks])
            seen = fetched(layout(row, "a"), lanes_of_a(row, modifiers, Choices(broadcast="lanes")), a)
            period = row.blocks >> cbsz
            assert np.array_equal(seen, a[[b % period + period * abid for b in range(row.blocks)]])


def test_lanes_read_the_b_of_other_lanes() -> None:
    row = WITH_BLOCKS[0]
    wanted = {
        1: [lane % 32 for lane in range(64)],
        2: [lane % 32 + 32 for lane in range(64)],
        3: [(lane + 16) % 64 for lane in range(64)],
        **{blgp: [lane % 16 + 16 * (blgp - 4) for lane in range(64)] for blgp in range(4, 8)},
    }
    for blgp, lanes in wanted.items():
        permuted = lanes_of_b(row, Modifiers(blgp=blgp))
        assert permuted is not None
        assert permuted(np.arange(64)).tolist() == lanes
    registers = RNG.integers(0, 1 << 32, (64, 1), dtype=np.uint32)
    held = fragment(row, "b", DEFAULT_TARGET)
    seen = fetched(held.layout, lanes_of_b(row, Modifiers(blgp=3)), held.gather(ALGEBRA, registers))
    assert np.array_equal(held.scatter(ALGEBRA, seen), registers[wanted[3]])


def test_what_is_not_known_is_not_computed() -> None:
    arrays = {"a": np.zeros((16, 16)), "b": np.zeros((16, 16)), "c": np.zeros((16, 16))}
    text = "v_mfma_f32_16x16x16_f16 v[0:3], v[0:1], v[2:3], v[0:3]"
    with pytest.raises(UnsupportedError, match="what blgp does here is not known"):
        run(f"{text} blgp:1", arrays)
    with pytest.raises(InputError, match="has no value to compute"):
        run(text, arrays, "unspecified")
    with pytest.raises(InputError, match="is illegal on gfx942: even-registers"):
        run(text.replace("v[2:3]", "v[3:4]"), arrays)
    with pytest.raises(InputError, match=r"gfx908 has no v_mfma_f32_16x16x16_f16"):
        run(text, arrays, target="gfx908")


def test_every_name_of_the_catalogue_has_a_row_and_a_formula() -> None:
    isa = instruction_set("mfma")
    rows = {row["mnemonic"] for row in isa.tables["instructions"]()}
    for row in isa.instructions():
        instruction = isa.read(row["mnemonic"])
        assert instruction.row()["mnemonic"] in rows
        assert instruction.formula()[0].startswith("D[")
    assert {name for target in TARGETS.values() for row in on(target) for name in [row.name]} == rows
