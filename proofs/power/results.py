"""What instructions, kernels and loads of Power give: as listed, by way of the instructions' texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from ...spec.algebra import Array
from ...spec.formats import F32, F64, Format
from ...spec.instruction_set import instruction_set
from ...spec.numpy_algebra import NumpyAlgebra
from ...spec.power import kernels, memory
from ...spec.power.builtins import Builtins
from ...spec.power.memory import Endian
from ..comparison import compared
from ..obligation import Certificate
from ..table_theorem import Table, table_theorem
from .documented import STATED
from .stated import instructions as table

listed_results = table_theorem(
    "power/stated/results",
    "each instruction gives the listed results for the listed operands",
    "∀ rows of the list (two or more for each mnemonic's family): executing the text on registers that hold "
    "X, Y and ACC in every word gives the result in every word, and reports the clamped elements",
    "Power ISA 3.1 section 7.2, pseudocode; QEMU 7.2, measured; qemu-devel 2022-05-10",
    lambda: {
        **Table(STATED, "results", "mnemonic, masks, X, Y, ACC, RN", _result).by("mnemonic"),
        "disabled": Table(STATED, "disabled", "XMSK, YMSK", _enabled),
    },
)


def _executed(mnemonic: str, masks: str, x: str, y: str, acc: str, rounding: str) -> Mapping[str, Array]:
    """Execute an instruction on words that fill the registers."""
    pair = table.UPDATES[mnemonic.removeprefix("pm")]["X"] == "f64"
    operands = ",".join(filter(None, ["a0", "vs34", "vs36", masks]))
    arrays = {"x": _filled(x, 32 if pair else 16), "y": _filled(y, 16)}
    if acc:
        arrays["acc"] = _filled(acc, 64)
    instruction = instruction_set("power").read(f"{mnemonic} {operands}")
    return instruction.execute(arrays, as_registers=True, rounding=rounding, choices=[])


def _filled(word: str, size: int) -> Array:
    unit = bytes.fromhex(word)
    return np.frombuffer(unit * (size // len(unit)), dtype=np.uint8)


def _result(mnemonic: str, *given: str) -> tuple[str, object]:
    """Return the word that every element of the accumulator is, and whether all are clamped."""
    done = _executed(mnemonic, *given)
    whole = done["acc"].astype(np.uint8).tobytes().hex()
    word = whole[: 16 if "f64" in mnemonic else 8]
    every = word * (len(whole) // len(word)) == whole
    clamped = done.get("saturated")
    alike = clamped is None or np.all(clamped) == np.any(clamped)
    return word if every else whole, (None if clamped is None else bool(np.any(clamped))) if alike else "some"


def _enabled(xmsk: str, ymsk: str) -> list[str]:
    done = _executed("pmxvi4ger8pp", f"{xmsk},{ymsk},255", "10000000", "10000000", "00000007", "0")
    return [f"{row},{column}" for row, column in np.argwhere(done["acc"].reshape(4, 4, 4)[..., 3])]


# -- kernels
kernel_results = table_theorem(
    "power/stated/kernels",
    "the two kernels of the paper give the matrices that their equations say, on whole numbers",
    "DGEMM for n = 1, 2, 3: A[8b + 2r + c] = Σ_t X[8t + i] Y[8t + j], i = 4(b>>2) + r, j = 2(b&3) + c, and "
    "for n = 0 nothing is stored; "
    "SCONV: C[16b + 4r + c] = Σ_q H[8q + i] image[channel][row][shift + j], q = 9 channel + 3 row + shift, "
    "which is H times the matrix of equation (25), three rows of each channel, each shifted by 0, 1 and 2; "
    "X, Y, H and the image are different whole numbers, so that every sum is exact",
    "Moreira et al. sections V-A and V-B, equations (15) and (25), Figures 4 to 9",
    lambda: {
        name: goal
        for endian in Endian
        for name, goal in (
            (f"dgemm/{endian}", partial(_dgemm, endian)),
            (f"sconv/{endian}", partial(_sconv, endian)),
            (f"sconv/equation-25/{endian}", partial(_equation_25, endian)),
        )
    },
)


def _numbers(size: int, start: int) -> list[int]:
    return [(start + 37 * place) % 101 - 50 for place in range(size)]


def _in_memory(numbers: Sequence[int], fmt: Format, endian: Endian) -> Array:
    order = "<" if endian is Endian.LITTLE else ">"
    return np.frombuffer(np.array(numbers, dtype=f"{order}f{fmt.bits // 8}").tobytes(), dtype=np.uint8)


def _from_memory(data: Array, fmt: Format, endian: Endian) -> list[float]:
    order = "<" if endian is Endian.LITTLE else ">"
    values = np.frombuffer(np.ascontiguousarray(data, dtype=np.uint8).tobytes(), f"{order}f{fmt.bits // 8}")
    return [float(value) for value in values]


def _dgemm(endian: Endian) -> Certificate:
    x, y = _numbers(24, 3), _numbers(24, 58)
    expected = {
        n: [
            float(sum(x[8 * t + 4 * (b // 4) + r] * y[8 * t + 2 * (b % 4) + c] for t in range(n)))
            for b in range(8) for r in range(4) for c in range(2)
        ]
        for n in (1, 2, 3)
    } | {0: []}  # fmt: skip

    def specified() -> Mapping[int, object]:
        machine = Builtins(NumpyAlgebra(), endian)
        at_x, at_y = (_in_memory(numbers, F64, endian) for numbers in (x, y))
        stored = {n: kernels.dgemm_kernel(machine, at_x, at_y, n) for n in range(4)}
        return {n: _from_memory(data, F64, endian) for n, data in stored.items()}

    return compared(expected, specified)


def _sconv(endian: Endian) -> Certificate:
    h = _numbers(27 * 8, 7)
    image = [[_numbers(18, 11 * channel + 5 * row) for row in range(3)] for channel in range(3)]
    expected = {
        "C": [
            float(
                sum(
                    h[8 * (9 * channel + 3 * row + shift) + 4 * (b // 4) + r]
                    * image[channel][row][shift + 4 * (b % 4) + c]
                    for channel in range(3) for row in range(3) for shift in range(3)
                )
            )
            for b in range(8) for r in range(4) for c in range(4)
        ]
    }  # fmt: skip

    def specified() -> Mapping[str, object]:
        machine = Builtins(NumpyAlgebra(), endian)
        pixels = [[_in_memory(row, F32, endian) for row in channel] for channel in image]
        stored = kernels.sconv_kernel(machine, _in_memory(h, F32, endian), pixels)
        return {"C": _from_memory(stored, F32, endian)}

    return compared(expected, specified)


memory_order = table_theorem(
    "power/stated/memory",
    "loads and stores have the registers and bytes in the measured order",
    "little-endian: lxv reverses 16 bytes, lxvp has the upper half of 32 in the even register, reversed; "
    "big-endian: bytes and registers are in order; stores are the inverses",
    "Power ISA 3.1 section 7.6; measured with compiled code on both byte orders",
    lambda: {"order": _memory_order},
)


def _memory_order() -> Certificate:
    ascending = list(range(64))
    expected = {
        ("little", 1): [ascending[15::-1]],
        ("little", 2): [ascending[31:15:-1], ascending[15::-1]],
        ("big", 1): [ascending[:16]],
        ("big", 2): [ascending[:16], ascending[16:32]],
        ("big", 4): [ascending[16 * k : 16 * k + 16] for k in range(4)],
    }

    def specified() -> Mapping[tuple[str, int], object]:
        found: dict[tuple[str, int], object] = {}
        for order, count in expected:
            data = np.arange(16 * count, dtype=np.uint8)
            loaded = memory.load(data, Endian(order))
            stored = memory.store(loaded, Endian(order))
            found[order, count] = loaded.tolist() if (stored == data).all() else None
        return found

    return compared(expected, specified)


def _equation_25(endian: Endian) -> Certificate:
    """Return the claim of the matrix product that the paper makes of the convolution."""
    n = 18
    h = np.array(_numbers(27 * 8, 5)).reshape(27, 8).T
    image = np.array(_numbers(9 * n, 17)).reshape(3, 3, n)
    rows = [image[channel, row] for channel in range(3) for row in range(3)]
    derived = np.stack([row[shift : n - 2 + shift] for row in rows for shift in (0, 1, 2)])
    expected = {"C": (h @ derived).tolist()}

    def specified() -> Mapping[str, object]:
        machine = Builtins(NumpyAlgebra(), endian)
        pixels = [[_in_memory(row.tolist(), F32, endian) for row in channel] for channel in image]
        taps = _in_memory(h.T.ravel().tolist(), F32, endian)
        blocks = np.array(_from_memory(kernels.sconv_kernel(machine, taps, pixels), F32, endian))
        found = blocks.astype(int).reshape(2, 4, 4, 4).transpose(0, 2, 1, 3).reshape(8, 16)
        return {"C": found.tolist()}

    return compared(expected, specified)


THEOREMS = (listed_results, kernel_results, memory_order)
