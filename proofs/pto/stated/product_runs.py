"""Products of PTO on buffers, with what is there before and after: what the headers make of them.

Source: pto-isa at 3186c381, include/pto/cpu/TMatmul.hpp (TMatmulMxNzZn: a double accumulates the products and
the accumulator read; the sum is rounded to float, and the bias is added to that).

Sources: pto-isa headers at 3186c381: TMATMUL, TGEMV, pto_tile.hpp; pto-isa issues 253 and 280,
pypto pull request 537, tilelang-ascend issue 1341.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
from numpy.typing import NDArray

from .buffers import Buffer, Numbers, buffer, encoded, small_numbers, tile, up
from .names import operand

NPU, ALL, SCALING = ("A2A3", "A5"), ("A2A3", "A5", "CPU"), ("A5", "CPU")

Arrays = Mapping[str, Buffer]


@dataclass(frozen=True)
class Run:
    """An instruction on buffers.

    Attributes
    ----------
    name : str
        What it is about.
    profiles : tuple of str
        Where it runs.
    text : callable of a profile
        The statement.
    arrays : callable of a profile
        What is given.
    result : callable of a profile
        The buffer that is written, afterwards.
    choices : tuple of str
        Readings of what documents leave open.
    matrices : bool
        Whether matrices are given and made instead of buffers.
    """

    name: str
    profiles: tuple[str, ...]
    text: Callable[[str], str]
    arrays: Callable[[str], Arrays]
    result: Callable[[str], Buffer]
    choices: tuple[str, ...] = ()
    matrices: bool = False


GROUP, GROUPS = 32, 2
LARGE, SMALL = Fraction(256), Fraction(1, 64)
"""Elements of E4M3: 2^8 and 2^-6, whose squares are 28 binary places apart."""

ROWS = tuple(product((31, 16, 15, 3), (0, 3)))
"""Of A: how many small elements follow the large one, and the exponent of the scale factors."""

_STARTS = (Fraction(0), Fraction(1, 256), Fraction(-65536), Fraction(1, 1024), Fraction(1, 2**60))
COLUMNS = tuple(product((0, -5), _STARTS))
"""Of B, all of whose elements but the first are small: the exponent of the scale factors, and what is added
to the sum, before or after it is rounded. The last one f64 loses: a sum half way between two numbers of f32
stays there."""

OPERATIONS = {"tmatmul.mx": "", "tmatmul.mx.acc": "c", "tmatmul.mx.bias": "bias"}
"""Products, and the operand that each has besides factors and scale factors."""

_ELEMENTS = (LARGE, *[SMALL] * (GROUP - 1))


def text(operation: str) -> str:
    """Return the statement, of the simulator: 16 x 64 times 64 x 32."""
    tiles = {"a": "left 16x64xf8E4M3FN L", "scale_a": "scale_left 16x2xf8E8M0FNU Zz",
             "b": "right 64x32xf8E4M3FN Zn", "scale_b": "scale_right 2x32xf8E8M0FNU Nn"}  # fmt: skip
    names = {role: f"%{role}" for role in tiles}
    acc = "acc 16x32xf32 Nz"
    if OPERATIONS[operation] == "c":
        tiles, names = {"c": acc, **tiles}, {"c": "%d", **names}
    elif OPERATIONS[operation] == "bias":
        tiles["bias"], names["bias"] = "bias 1x32xf32 ND", "%bias"
    types = ", ".join(str(operand(spelled, "CPU")) for spelled in tiles.values())
    return f"pto.{operation} ins({', '.join(names.values())} : {types}) outs(%d : {operand(acc, 'CPU')})"


def arrays(operation: str) -> dict[str, NDArray[np.float64]]:
    """Return the matrices; the second group of factors is 0, and so are other rows and columns."""
    a, b = np.zeros((16, GROUP * GROUPS)), np.zeros((GROUP * GROUPS, 32))
    scale_a, scale_b, start = np.ones((16, GROUPS)), np.ones((GROUPS, 32)), np.zeros(32)
    for row, (small, exponent) in enumerate(ROWS):
        a[row, : 1 + small] = [float(element) for element in _ELEMENTS[: 1 + small]]
        scale_a[row] = 2.0**exponent
    for column, (exponent, first) in enumerate(COLUMNS):
        b[:GROUP, column] = [float(element) for element in _ELEMENTS]
        scale_b[:, column], start[column] = 2.0**exponent, float(first)
    found: dict[str, NDArray[np.float64]] = {"a": a, "b": b, "scale_a": scale_a, "scale_b": scale_b}
    if (role := OPERATIONS[operation]) != "":
        found[role] = np.broadcast_to(start, (16 if role == "c" else 1, 32)).copy()
    return found


def result(operation: str, row: int, column: int) -> float:
    """Return an element of D: f64 holds every sum of products exactly."""
    (small, left), (right, start) = ROWS[row], COLUMNS[column]
    products = (element * element for element in _ELEMENTS[: 1 + small])
    total = sum(products, Fraction(0)) * Fraction(2) ** (left + right)
    if OPERATIONS[operation] == "c":
        return float(np.float32(float(total + start)))
    rounded = Fraction(float(np.float32(float(total))))
    return float(np.float32(float(rounded + (start if OPERATIONS[operation] else 0))))


_UNIT: dict[str, tuple[int | str, int | str]] = {"a": (16, "k"), "b": ("k", 16), "c": (16, 16), "d": (16, 16)}


def _spelled(operation: str, operands: Mapping[str, str], profile: str, names: Mapping[str, str]) -> str:
    inputs = [role for role in operands if role != "d"]
    values = ", ".join(names.get(role, f"%{role}") for role in inputs)
    types = ", ".join(str(operand(operands[role], profile)) for role in inputs)
    return f"pto.{operation} ins({values} : {types}) outs(%d : {operand(operands['d'], profile)})"


def _apart(role: str, text: str, profile: str, extent: tuple[int, int], gemv: bool) -> tuple[int, int] | None:
    """Return the extent that the matrix unit derives the distance of blocks from: that of m, k and n."""
    if profile == "CPU" or role not in _UNIT or (gemv and role == "a"):
        return None
    k0 = 32 // {"i8": 1, "f8E4M3FN": 1, "f8E5M2": 1, "f16": 2, "bf16": 2}.get(tile(text, profile).element, 4)
    high, wide = (k0 if unit == "k" else int(unit) for unit in _UNIT[role])
    return up(extent[0], high), up(extent[1], wide)


def _of_product(
    name: str,
    operation: str,
    profiles: tuple[str, ...],
    operands: dict[str, str],
    sizes: tuple[int, int, int],
    *,
    read: tuple[int, int] | None = None,
    choices: tuple[str, ...] = (),
    apart: bool = False,
    given: dict[str, list[int]] | None = None,
) -> Run:
    """Return a product of m x k and k x n; `read` are other m and k that it runs as."""
    m, k, n = sizes
    rows, depth = read or (m, k)
    extents = {"a": (rows, depth), "b": (depth, n), "c": (rows, n), "d": (rows, n), "bias": (1, n),
               "scale_a": (rows, depth // 32), "scale_b": (depth // 32, n)}  # fmt: skip
    gemv = operation.startswith("tgemv")

    def matrix(role: str) -> Numbers:
        return small_numbers(*extents[role], start=3 * list(extents).index(role))

    def whole(role: str, profile: str) -> Buffer:
        spelled = tile(operands[role], profile)
        rest = encoded(spelled.element, np.full(spelled.rows * spelled.columns, 2))
        away = _apart(role, operands[role], profile, extents[role], gemv)
        return buffer(spelled, encoded(spelled.element, matrix(role)), rest, apart=away)

    def arrays(profile: str) -> Arrays:
        roles = [role for role in operands if role != "d"]
        if "c" in operands and apart and profile != "CPU":
            roles.remove("c")
        held = {role: whole(role, profile) for role in roles}
        if "c" not in held:
            held["d"] = whole("c" if apart else "d", profile)
        return held | {name: np.array(numbers) for name, numbers in (given or {}).items()}

    def result(profile: str) -> Buffer:
        a, b = matrix("a").astype(float), matrix("b").astype(float)
        if "scale_a" in operands:
            a = a * 2.0 ** matrix("scale_a").repeat(32, axis=1)
            b = b * 2.0 ** matrix("scale_b").repeat(32, axis=0)
        total = a @ b
        for role in ("c", "bias"):
            if role in operands:
                total = total + matrix(role)
        spelled = tile(operands["d"], profile)
        written = total.astype(np.float32).view(np.uint32)
        if spelled.element == "i32":
            written = total.astype(np.int32).view(np.uint32)
        before = whole("c" if "c" in operands else "d", profile)
        away = _apart("d", operands["d"], profile, extents["d"], gemv)
        return buffer(spelled, written, before, apart=away)

    names = {"c": "%c" if apart else "%d"}
    return Run(
        name, profiles, lambda profile: _spelled(operation, operands, profile, names), arrays, result, choices
    )


def _factors(m: int, k: int, n: int, a: str, b: str, d: str) -> dict[str, str]:
    return {"a": f"left {m}x{k}x{a} L", "b": f"right {k}x{n}x{b} Zn", "d": f"acc {m}x{n}x{d} Nz"}


_HALVES = _factors(32, 64, 48, "f16", "f16", "f32")
_PART = {"a": "left 64x64xf16 L valid=20x40 compact=1", "b": "right 64x64xf16 Zn valid=40x24 compact=1",
         "d": "acc 64x64xf32 Nz valid=20x24 compact=1"}  # fmt: skip
_ONE = {"a": "left 16x64xf16 L valid=1x64", "b": "right 64x32xf16 Zn", "d": "acc 16x32xf32 Nz valid=1x32"}
_SCALED = {"a": "left 16x64xf8E4M3FN L", "scale_a": "scale_left 16x2xf8E8M0FNU Zz",
           "b": "right 64x32xf8E5M2 Zn", "scale_b": "scale_right 2x32xf8E8M0FNU Nn",
           "d": "acc 16x32xf32 Nz"}  # fmt: skip


def _scaled_row(k: int) -> dict[str, str]:
    """Return the operands of a product of one row of k elements, each 32 with a factor."""
    return {
        "a": f"left 1x{k}xf8E4M3FN L",
        "scale_a": f"scale_left 1x{k // 32}xf8E8M0FNU Zz",
        "b": f"right {k}x32xf8E5M2 Zn",
        "scale_b": f"scale_right {k // 32}x32xf8E8M0FNU Nn",
        "d": "acc 1x32xf32 Nz",
    }


_VECTOR = {"a": "left 1x256xf16 L", "b": "right 256x32xf16 Zn", "d": "acc 16x32xf32 Nz valid=1x32"}

_EXACT = (
    _of_product("f16", "tmatmul", ALL, _HALVES, (32, 64, 48)),
    _of_product("i8", "tmatmul", ALL, _factors(32, 64, 32, "i8", "i8", "i32"), (32, 64, 32)),
    _of_product("f32", "tmatmul", ALL, _factors(16, 32, 16, "f32", "f32", "f32"), (16, 32, 16)),
    _of_product("fp8", "tmatmul", ("A5",), _factors(32, 64, 32, "f8E4M3FN", "f8E5M2", "f32"), (32, 64, 32)),
    _of_product(
        "accumulate",
        "tmatmul.acc",
        ALL,
        {"c": "acc 32x48xf32 Nz", **_factors(32, 64, 48, "bf16", "bf16", "f32")},
        (32, 64, 48),
    ),
    _of_product(
        "accumulate apart",
        "tmatmul.acc",
        ALL,
        {"c": "acc 32x48xf32 Nz", **_factors(32, 64, 48, "bf16", "bf16", "f32")},
        (32, 64, 48),
        apart=True,
    ),
    _of_product(
        "bias",
        "tmatmul.bias",
        ALL,
        {"a": _HALVES["a"], "b": _HALVES["b"], "bias": "bias 1x48xf32 ND", "d": _HALVES["d"]},
        (32, 64, 48),
    ),
    _of_product("scaled", "tmatmul.mx", SCALING, _SCALED, (16, 64, 32)),
    _of_product("vector", "tgemv", NPU, _VECTOR, (1, 256, 32)),
    _of_product("row", "tgemv", ("CPU",), {**_VECTOR, "d": "acc 1x32xf32 Nz"}, (1, 256, 32)),
    _of_product(
        "open",
        "tmatmul",
        ALL,
        {"a": "left 32x64xf16 L valid=?x64", "b": "right 64x48xf16 Zn valid=?x?", "d": "acc 32x48xf32 Nz"},
        (32, 64, 48),
        given={"valid_a": [32, 64], "valid_b": [64, 48]},
    ),
    _of_product("part", "tmatmul", ALL, _PART, (20, 40, 24)),
    _of_product(
        "whole granules of k",
        "tmatmul",
        NPU,
        _PART,
        (20, 40, 24),
        read=(20, 48),
        choices=("k-tail=granules",),
    ),
    _of_product("one row of 16", "tmatmul", ("A2A3",), _ONE, (1, 64, 32), read=(16, 64)),
    _of_product("one row", "tmatmul", ("A5", "CPU"), _ONE, (1, 64, 32)),
    _of_product("scaled row", "tgemv.mx", ("CPU",), _scaled_row(128), (1, 128, 32)),
    _of_product(
        "scaled row in a box",
        "tgemv.mx",
        ("CPU",),
        _scaled_row(64),
        (1, 64, 32),
        choices=("one-row-scales=boxes",),
    ),
)


# -- numbers that are rounded
def _of_numbers(
    name: str,
    operation: str,
    profiles: tuple[str, ...],
    a: list[float],
    b: list[float],
    expected: float,
    *,
    start: float | None = None,
    element: str = "f32",
    choices: tuple[str, ...] = (),
) -> Run:
    """Return the product of one row and one column; the rest is zeros."""
    storage = {"f32": (np.float32, np.uint32), "f16": (np.float16, np.uint16)}[element]
    operands = _factors(16, 16, 16, element, element, "f32")
    if operation.endswith("bias"):
        operands = {"a": operands["a"], "b": operands["b"], "bias": "bias 1x16xf32 ND", "d": operands["d"]}
    elif operation.endswith("acc"):
        operands = {"c": operands["d"], **operands}

    def one(role: str, numbers: list[float], profile: str) -> Buffer:
        matrix = np.zeros((1, 16) if role == "bias" else (16, 16), dtype=np.float64)
        matrix[:1, : len(numbers)] = numbers
        if role == "b":
            matrix = matrix.T
        real, word = storage if role in ("a", "b") else (np.float32, np.uint32)
        return buffer(tile(operands[role], profile), matrix.astype(real).view(word))

    def arrays(profile: str) -> Arrays:
        given = {"a": one("a", a, profile), "b": one("b", b, profile)}
        if start is not None:
            role = "bias" if "bias" in operands else "c"
            given[role] = one(role, [start], profile)
        return given

    def result(profile: str) -> Buffer:
        matrix = np.zeros((16, 16), dtype=np.float32)
        if "bias" in operands:
            matrix[:, 0] = start  # of every row
        matrix[0, 0] = expected
        return buffer(tile(operands["d"], profile), matrix.view(np.uint32))

    return Run(
        name, profiles, lambda profile: _spelled(operation, operands, profile, {"c": "%d"}), arrays, result,
        choices,
    )  # fmt: skip


_TIE, _BIG = 1 + 2.0**-11, 2.0**24

_ROUNDED = (
    _of_numbers("f32", "tmatmul", ALL, [_TIE], [1], _TIE),
    _of_numbers("tie of 10 bits", "tmatmul", ALL, [_TIE], [1], 1, choices=("tf32=e8m10",)),
    _of_numbers(
        "odd tie of 10 bits", "tmatmul", ALL, [1], [1 + 3 * 2.0**-11], 1 + 2.0**-9, choices=("tf32=e8m10",)
    ),
    _of_numbers("11 bits", "tmatmul", ALL, [_TIE], [1], _TIE, choices=("tf32=e8m11",)),
    _of_numbers("tie of 11 bits", "tmatmul", ALL, [1 + 2.0**-12], [1], 1, choices=("tf32=e8m11",)),
    _of_numbers(
        "halves stay",
        "tmatmul",
        ALL,
        [1 + 2.0**-10],
        [1],
        1 + 2.0**-10,
        element="f16",
        choices=("tf32=e8m10",),
    ),
    _of_numbers("seeded bias", "tmatmul.bias", NPU, [1, 1], [1, 1], _BIG, start=_BIG),
    _of_numbers("bias last", "tmatmul.bias", ("CPU",), [1, 1], [1, 1], _BIG + 2, start=_BIG),
    _of_numbers(
        "bias chosen last",
        "tmatmul.bias",
        NPU,
        [1, 1],
        [1, 1],
        _BIG + 2,
        start=_BIG,
        choices=("accumulation=added-last",),
    ),
    _of_numbers(
        "bias cut off",
        "tmatmul.bias",
        ("A5",),
        [3, 3],
        [0.5, 0.5],
        _BIG,
        start=_BIG,
        choices=("accumulator-rounding=toward-zero",),
    ),
    _of_numbers(
        "sum cut off",
        "tmatmul",
        ("A5",),
        [_BIG, 3, -3],
        [1, 0.5, 0.5],
        _BIG - 2,
        choices=("accumulator-rounding=toward-zero",),
    ),
    _of_numbers("sum to nearest", "tmatmul", ALL, [_BIG, 3, -3], [1, 0.5, 0.5], _BIG),
    _of_numbers("seeded accumulator", "tmatmul.acc", NPU, [1, 1], [1, 1], _BIG, start=_BIG),
    _of_numbers("accumulator last", "tmatmul.acc", ("CPU",), [1, 1], [1, 1], _BIG + 2, start=_BIG),
    _of_numbers("order of k", "tmatmul", ALL, [_BIG, 1, 1], [1, 1, 1], _BIG),
    _of_numbers("order of k backwards", "tmatmul", ALL, [1, 1, _BIG], [1, 1, 1], _BIG + 2),
    _of_numbers("fused", "tmatmul", ALL, [_TIE, 1], [_TIE, -1], float(np.float32(2.0**-10 + 2.0**-22))),
    _of_numbers("subnormal", "tmatmul", ALL, [2.0**-24], [1], 2.0**-24, element="f16"),
    _of_numbers(
        "flushed", "tmatmul", ALL, [2.0**-24], [1], 0, element="f16", choices=("subnormals=flushed",)
    ),
    _of_numbers("flushed sum", "tmatmul", ALL, [2.0**-70], [2.0**-70], 0, choices=("subnormals=flushed",)),
    _of_numbers("subnormal sum", "tmatmul", ALL, [2.0**-70], [2.0**-70], 2.0**-140),
)

PRODUCTS = (*_EXACT, *_ROUNDED)
"""On whole numbers, and on numbers that are rounded."""

REFUSED_PRODUCTS = (
    _of_product(
        "scaled row in boxes",
        "tgemv.mx",
        ("CPU",),
        _scaled_row(128),
        (1, 128, 32),
        choices=("one-row-scales=boxes",),
    ),
)
"""Whose factors leave their buffer."""
