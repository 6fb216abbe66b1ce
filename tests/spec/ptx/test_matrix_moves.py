"""Matrix moves: register counts, lane maps as PTX ISA 9.7.14.5.15 to 17 states them, checks of addresses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmaproof.spec.errors import InputError
from mmaproof.spec.formats import B1, F16, F64, S4, TF32, U8, U16, U32, Format
from mmaproof.spec.numpy_algebra import NumpyAlgebra
from mmaproof.spec.ptx.matrix_move_forms import MATRIX_MOVE_FORMS
from mmaproof.spec.ptx.matrix_moves import MatrixMove, load, matrix_move, store, transpose
from mmaproof.spec.ptx.memory import from_bytes, to_bytes
from mmaproof.spec.ptx.row_expansion import EXPANSIONS, U6
from mmaproof.spec.ptx.shared_memory import ldmatrix, stmatrix
from mmaproof.spec.ptx.variant import Family, Shape

ALG = NumpyAlgebra()

MOVES = {
    str(move): move
    for move in (matrix_move(variant) for form in MATRIX_MOVE_FORMS for variant in form.variants())
}
LOADS = [name for name, move in MOVES.items() if move.family is Family.LDMATRIX]
STORES = [name for name, move in MOVES.items() if move.family is Family.STMATRIX]

REGISTERS = {
    "ldmatrix.m8n8.x1": 1, "ldmatrix.m8n8.x2": 2, "ldmatrix.m8n8.x4": 4,
    "ldmatrix.m16n16.x1": 2, "ldmatrix.m16n16.x2": 4,
    "ldmatrix.m8n16.x1": 1, "ldmatrix.m8n16.x2": 2, "ldmatrix.m8n16.x4": 4,
    "stmatrix.m8n8.x1": 1, "stmatrix.m8n8.x2": 2, "stmatrix.m8n8.x4": 4,
    "stmatrix.m16n8.x1": 1, "stmatrix.m16n8.x2": 2, "stmatrix.m16n8.x4": 4,
    "movmatrix.m8n8": 1,
}  # fmt: skip
"""Table A.4."""


def test_every_form_has_the_registers_of_the_table() -> None:
    found = {
        f"{move.family}.{move.shape}" + (f".x{move.count}" if move.family is not Family.MOVMATRIX else ""): (
            move.registers
        )
        for move in MOVES.values()
    }
    assert found == REGISTERS
    assert len(MOVES) == 28


@pytest.mark.parametrize("form", MATRIX_MOVE_FORMS, ids=lambda form: f"{form.family}-{form.types[-1]}")
def test_the_table_of_forms_counts_the_same_registers(form: Any) -> None:
    for variant in form.variants():
        assert matrix_move(variant).registers == form.registers(variant.count)


@pytest.mark.parametrize("name", MOVES)
def test_layouts_are_bijections_on_the_whole_warp(name: str) -> None:
    move = MOVES[name]
    assert move.layout.defect() is None
    assert move.address_lanes.defect() is None
    assert move.addresses <= 32


@pytest.mark.parametrize("name", MOVES)
def test_the_printed_formula_is_the_layout(name: str) -> None:
    layout = MOVES[name].layout
    formula = dict(part.split(" = ") for part in layout.formula.replace("·", "*").split("; "))
    for lane in range(32):
        for i in range(layout.source[1].extent):
            values = {"lane": lane, "i": i}
            expected = tuple(eval(formula[axis.name], {}, values) for axis in layout.target)
            assert expected == layout.forward(lane, i)


def plain_load(move: MatrixMove, rows: Any) -> Any:
    """Reference C.6, lane by lane, on memory rows as lists of 16 bytes."""
    loaded = np.zeros((32, move.registers), dtype=np.uint32)
    for lane in range(32):
        g, t = lane >> 2, lane & 3
        for register in range(move.registers):
            if move.element == U16:
                s = rows[register]
                words = [[s[r][2 * x] | s[r][2 * x + 1] << 8 for x in range(8)] for r in range(8)]
                halves = [words[2 * t + j][g] if move.trans else words[g][2 * t + j] for j in (0, 1)]
                loaded[lane, register] = halves[0] | halves[1] << 16
                continue
            if move.shape == Shape(16, 16):
                q, v = divmod(register, 2)
                parts = [plain_row(move, rows[q][4 * t + j])[g + 8 * v] for j in range(4)]
            else:
                parts = [plain_row(move, rows[register][g])[4 * t + j] for j in range(4)]
            loaded[lane, register] = sum(part << 8 * j for j, part in enumerate(parts))
    return loaded


def plain_row(move: MatrixMove, row: list[int]) -> list[int]:
    """Expand a row through one big integer."""
    if move.expansion is None:
        return row
    bits = {"b6x16_p32": 6, "b4x16_p64": 4}[move.expansion.name]
    whole = int.from_bytes(bytes(row), "little")
    return [whole >> bits * n & ((1 << bits) - 1) for n in range(16)]


def plain_store(move: MatrixMove, registers: Any) -> Any:
    """Reference C.7, lane by lane."""
    rows = np.zeros((move.count, 8, 16), dtype=np.uint8)
    for lane in range(32):
        g, t = lane >> 2, lane & 3
        for q in range(move.count):
            data = int(registers[lane, q]).to_bytes(4, "little")
            for j, byte in enumerate(data):
                if move.element == U8:
                    place = q, 2 * t + (j & 1), g + 8 * (j >> 1)
                else:
                    row, word = (2 * t + j // 2, g) if move.trans else (g, 2 * t + j // 2)
                    place = q, row, 2 * word + j % 2
                rows[place] = byte
    return rows


def random_bytes(seed: int, *shape: int) -> Any:
    return np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)


@given(st.sampled_from(LOADS), st.integers(0, 2**32))
def test_ldmatrix_is_the_lane_loop_of_the_manual(name: str, seed: int) -> None:
    move = MOVES[name]
    memory = random_bytes(seed, 1024)
    addresses = np.random.default_rng(seed + 1).integers(0, 64, 32) * 16
    rows = [
        [[int(byte) for byte in memory[addresses[move.rows * q + r] :][:16]] for r in range(move.rows)]
        for q in range(move.count)
    ]
    assert (ldmatrix(move, memory, addresses) == plain_load(move, rows)).all()


@given(st.sampled_from(STORES), st.integers(0, 2**32))
def test_stmatrix_is_the_lane_loop_of_the_manual(name: str, seed: int) -> None:
    move = MOVES[name]
    generator = np.random.default_rng(seed)
    memory, registers = random_bytes(seed, 1024), generator.integers(0, 2**32, (32, move.registers))
    addresses = generator.permutation(64)[:32] * 16
    expected = memory.copy()
    for q, matrix in enumerate(plain_store(move, registers)):
        for r, row in enumerate(matrix):
            expected[addresses[8 * q + r] :][:16] = row
    written = stmatrix(move, memory, addresses, registers.astype(np.uint32))
    assert (written == expected).all()
    assert (memory == random_bytes(seed, 1024)).all()


@given(st.integers(0, 2**32))
def test_movmatrix_is_the_lane_loop_of_the_manual(seed: int) -> None:
    registers = np.random.default_rng(seed).integers(0, 2**32, (32, 1)).astype(np.uint32)
    halves = [[int(registers[lane, 0]) >> 16 * j & 0xFFFF for j in (0, 1)] for lane in range(32)]
    x = [[halves[4 * r + c // 2][c % 2] for c in range(8)] for r in range(8)]
    moved = transpose(ALG, MOVES["movmatrix.m8n8.trans.b16"], registers)
    for lane in range(32):
        g, t = lane >> 2, lane & 3
        assert moved[lane, 0] == x[2 * t][g] | x[2 * t + 1][g] << 16


@given(st.sampled_from(STORES), st.integers(0, 2**32))
def test_batch_axes_come_first(name: str, seed: int) -> None:
    move = MOVES[name]
    rows = random_bytes(seed, 2, 3, move.count, move.rows, 16)
    loaded = load(ALG, move, rows)
    assert loaded.shape == (2, 3, 32, move.registers)
    assert (store(ALG, move, loaded) == rows).all()
    assert (loaded[1, 2] == load(ALG, move, rows[1, 2])).all()


def test_registers_of_a_batch_are_stored_to_copies_of_one_memory() -> None:
    move = MOVES["stmatrix.m8n8.x2.b16"]
    registers = np.arange(3 * 32 * 2, dtype=np.uint32).reshape(3, 32, 2)
    memory, addresses = np.zeros(512, dtype=np.uint8), 16 * np.arange(32)
    written = stmatrix(move, memory, addresses, registers)
    assert [each.tolist() for each in written] == [
        stmatrix(move, memory, addresses, register).tolist() for register in registers
    ]
    with pytest.raises(InputError, match="broadcast"):
        stmatrix(move, np.zeros((2, 512), dtype=np.uint8), addresses, registers)
    with pytest.raises(InputError, match="broadcast"):
        ldmatrix(MOVES["ldmatrix.m8n8.x2.b16"], np.zeros((2, 512), dtype=np.uint8), np.stack([addresses] * 3))


def test_memories_and_addresses_broadcast() -> None:
    move = MOVES["ldmatrix.m8n8.x2.b16"]
    memory, addresses = random_bytes(0, 3, 1, 512), np.arange(32) * np.ones((2, 1), dtype=int) * 16
    loaded = ldmatrix(move, memory, addresses)
    assert loaded.shape == (3, 2, 32, 2)
    assert (loaded[2, 1] == ldmatrix(move, memory[2, 0], addresses[1])).all()
    stored = stmatrix(MOVES["stmatrix.m8n8.x2.b16"], memory, addresses, loaded)
    assert (stored == memory).all()


@given(st.sampled_from([B1, S4, U6, U8, F16, TF32, F64]), st.integers(0, 2**32))
def test_elements_lie_little_endian_in_memory(fmt: Format, seed: int) -> None:
    data = random_bytes(seed, 48)
    elements = from_bytes(ALG, data, fmt)
    whole = int.from_bytes(data.tobytes(), "little")
    expected = [whole >> fmt.bits * i & ((1 << fmt.bits) - 1) for i in range(8 * 48 // fmt.bits)]
    assert elements.tolist() == expected
    assert (to_bytes(ALG, elements, fmt) == data).all()


def test_expansion_ignores_the_padding() -> None:
    for expansion in EXPANSIONS.values():
        row = random_bytes(3, 16)
        other = row.copy()
        other[expansion.packed_bytes :] ^= 0xFF
        assert (expansion.expand(ALG, row) == expansion.expand(ALG, other)).all()


VALID = np.arange(32) * 16


@pytest.mark.parametrize("name", [*LOADS, *STORES])
def test_only_the_lowest_lanes_need_addresses(name: str) -> None:
    move, memory = MOVES[name], random_bytes(1, 512)
    addresses = VALID.copy()
    addresses[move.addresses :] = -7
    if move.family is Family.LDMATRIX:
        assert (ldmatrix(move, memory, addresses) == ldmatrix(move, memory, VALID)).all()
        if move.addresses < 32:
            with pytest.raises(InputError, match=f"the address -0x7 of lane {move.addresses} is no multiple"):
                ldmatrix(move, memory, addresses, target=75)
    else:
        registers = random_bytes(2, 32, 4 * move.registers).view(np.uint32)
        once, again = (stmatrix(move, memory, lanes, registers) for lanes in (addresses, VALID))
        assert (once == again).all()


@pytest.mark.parametrize(
    ("lane", "address", "message"),
    [
        (5, 0x88, "ldmatrix.m8n8.x1.b16: the address 0x88 of lane 5 is no multiple of 16"),
        (7, 512, "ldmatrix.m8n8.x1.b16: the address 0x200 of lane 7 names 16 bytes that are not inside a "
                 "memory of 512"),
        (0, -16, "ldmatrix.m8n8.x1.b16: the address -0x10 of lane 0 names 16 bytes that are not inside a "
                 "memory of 512"),
    ],
)  # fmt: skip
def test_bad_addresses_are_named(lane: int, address: int, message: str) -> None:
    addresses = VALID.copy()
    addresses[lane] = address
    with pytest.raises(InputError) as raised:
        ldmatrix(MOVES["ldmatrix.m8n8.x1.b16"], random_bytes(0, 512), addresses)
    assert str(raised.value) == message


def test_unsigned_addresses_and_small_memories_are_checked() -> None:
    with pytest.raises(InputError, match="lane 0 names 16 bytes"):
        ldmatrix(MOVES["ldmatrix.m8n8.x1.b16"], random_bytes(0, 8), np.zeros(32, dtype=np.uint64))
    with pytest.raises(InputError, match="from each of 32 lanes"):
        ldmatrix(MOVES["ldmatrix.m8n8.x1.b16"], random_bytes(0, 512), VALID[:8])


def test_two_rows_stored_to_one_place_are_refused() -> None:
    move = MOVES["stmatrix.m8n8.x1.b16"]
    addresses = VALID.copy()
    addresses[6] = addresses[2]
    with pytest.raises(InputError, match="lanes 2 and 6 both store a row to 0x20; which one stays"):
        stmatrix(move, random_bytes(0, 512), addresses, np.zeros((32, 1), dtype=np.uint32))


def test_registers_are_b32() -> None:
    for name in LOADS:
        rows = random_bytes(0, MOVES[name].count, MOVES[name].rows, 16)
        assert load(ALG, MOVES[name], rows).dtype == U32.storage


@pytest.mark.parametrize("shape", [(), (31,), (33,), (2, 31)])
def test_every_lane_gives_an_address(shape: tuple[int, ...]) -> None:
    memory = np.zeros(4096, dtype=np.uint8)
    with pytest.raises(InputError, match="takes an address from each of 32 lanes"):
        ldmatrix(MOVES["ldmatrix.m8n8.x1.b16"], memory, np.zeros(shape, dtype=np.int64))
