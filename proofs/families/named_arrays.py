"""Named arrays of a user: what is taken for an operand, what is refused, and how a batch is computed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ...spec.algebra import Algebra, Array
from ...spec.drawn_arrays import DrawnArrays, drawn
from ...spec.errors import InputError
from ...spec.formats import E2M1, E4M3, F16, F32, F64, S8, S16, U4, UE8M0, Bits
from ...spec.fragment import Fragment, Packing
from ...spec.layout import Axis, Digit, Layout
from ...spec.operand_arrays import (
    ArrayOperand,
    Arrays,
    ByteArray,
    IntegerArray,
    Matrix,
    Words,
    execute,
    in_blocks,
    read,
)
from ..comparison import REFUSED, compared, refusal_is
from ..obligation import Certificate, Theorem
from ..table_theorem import table_theorem


def named_arrays(isa: str) -> Theorem:
    """Return the theorem about the arrays that instructions are executed on.

    Parameters
    ----------
    isa : str
        The instruction set, the first word of the obligations' ids.

    Returns
    -------
    Theorem
        ``isa/stated/arrays``, an obligation for each of the ways in which arrays are given.
    """
    return table_theorem(
        f"{isa}/stated/arrays",
        "named arrays are taken if they fit an operand, drawn where asked for, and computed for all batches",
        "of a matrix, words, bytes, integers and an operand that is not needed: which names, types, shapes "
        "and values are taken, as what; numbers without a shape; drawn ones are finite, of any sign, below "
        "16 in magnitude and the same for a seed and a name; batches broadcast, of any length; registers "
        "have the elements where the layout says",
        "mmaproof run, docs/command-line.md",
        lambda: {
            "taken": _taken,
            "literals": _literals,
            "drawn": _drawn,
            "batches": _batches,
            "views": _views,
        },
    )


OPERANDS: Mapping[str, ArrayOperand] = {
    "a": Matrix((2, 3), S8),
    "h": Matrix((2,), F16),
    "r": Words((2, 4), np.dtype(np.uint32)),
    "m": ByteArray(),
    "i": IntegerArray((3,)),
    "n": IntegerArray(),
    "e": Matrix((2,), E2M1),
    "f": Matrix((2,), F64),
}
"""Operands of a toy instruction, one of each kind."""

UNREAD: Mapping[str, ArrayOperand] = {"x": Matrix((2,), S8)}
"""An operand that it has, and does not need."""

_FITTING: Mapping[str, Array] = {
    "a": np.arange(6).reshape(2, 3) - 3,
    "h": np.array([1.0, -2.0]),
    "r": np.arange(8, dtype=np.uint32).reshape(2, 4),
    "m": np.arange(5, dtype=np.uint8),
    "i": np.array([1, 2, 3], dtype=np.int16),
    "n": np.array([7], dtype=np.uint8),
    "e": np.array([0.5, -6.0]),
    "f": np.array([1.0, np.inf]),
}


def _given() -> dict[str, tuple[dict[str, Array], object]]:
    """Return what differs from fitting arrays, and what becomes of the operand that it is about."""
    a, words = _FITTING["a"], _FITTING["r"]
    codes = np.array([[1, 2, 3], [255, 0, 128]], dtype=np.uint8)
    batch = np.stack([a, a + 1])
    return {
        "a": ({}, (a % 256).tolist()),
        "a in a batch": ({"a": batch}, (batch % 256).tolist()),
        "a as reals": ({"a": a.astype(float)}, (a % 256).tolist()),
        "a too large": ({"a": a + 128}, REFUSED),
        "a of another shape": ({"a": a.T}, REFUSED),
        "a with an axis less": ({"a": a[0]}, REFUSED),
        "a with one number": ({"a": np.array(1)}, REFUSED),
        "a of truths": ({"a": a > 0}, REFUSED),
        "a twice": ({"a_bits": codes}, REFUSED),
        "another name": ({"b": a}, REFUSED),
        "what is not needed": ({"x": np.array([1, 2])}, (a % 256).tolist()),
        "bits of what is not needed": ({"x_bits": np.array([1, 2])}, (a % 256).tolist()),
        "h": ({}, [0x3C00, 0xC000]),
        "h exact in a wider type": ({"h": np.array([0.5, 3.0], dtype=np.float32)}, [0x3800, 0x4200]),
        "h not exact": ({"h": np.array([0.1, 3.0])}, REFUSED),
        "h of its own type": ({"h": np.array([0.1, -0.0], dtype=np.float16)}, [0x2E66, 0x8000]),
        "r": ({}, words.tolist()),
        "r in a batch": ({"r": np.stack([words, words])}, [words.tolist()] * 2),
        "r of 64 bits": ({"r": words.astype(np.uint64)}, REFUSED),
        "r of signed integers": ({"r": words.astype(np.int32)}, REFUSED),
        "r of another shape": ({"r": words.reshape(4, 2)}, REFUSED),
        "m": ({}, [0, 1, 2, 3, 4]),
        "m longer": ({"m": np.arange(9, dtype=np.uint8)}, list(range(9))),
        "m in a batch": ({"m": np.zeros((2, 3), dtype=np.uint8)}, [[0, 0, 0]] * 2),
        "m of one number": ({"m": np.array(1, dtype=np.uint8)}, REFUSED),
        "m of words": ({"m": np.arange(5, dtype=np.uint16)}, REFUSED),
        "i": ({}, [1, 2, 3]),
        "i in a batch": ({"i": np.array([[1, 2, 3], [4, 5, 6]])}, [[1, 2, 3], [4, 5, 6]]),
        "i of reals": ({"i": np.array([1.0, 2.0, 3.0])}, REFUSED),
        "i of another shape": ({"i": np.array([1, 2])}, REFUSED),
        "n": ({}, 7),
        "n without an axis": ({"n": np.array(-9)}, -9),
        "n with axes": ({"n": np.array([[5]])}, 5),
        "n of two": ({"n": np.array([5, 6])}, REFUSED),
        "n real": ({"n": np.array([5.0])}, REFUSED),
        "e": ({}, [1, 15]),
        "e not a number": ({"e": np.array([1.0, np.nan])}, REFUSED),
        "f": ({}, [0x3FF << 52, 0x7FF << 52]),
        "f not a number": (
            {"f": np.array([0xFFC00005, 0xBF800000], dtype=np.uint32).view(np.float32)},
            [0xFFF << 51, 0xBFF << 52],
        ),
        "h not a number": ({"h": np.array([np.nan, 1.0])}, [0x7E00, 0x3C00]),
    }


def _taken() -> Certificate:
    given = _given()
    without = {f"{name} is missing": REFUSED for name in OPERANDS}
    codes = np.array([[1, 2, 3], [255, 0, 128]], dtype=np.uint8)
    bits: dict[str, tuple[Array, object]] = {
        "a_bits": (codes, codes.tolist()),
        "a_bits wide": (codes.astype(np.uint64), codes.tolist()),
        "a_bits too wide": (codes.astype(np.uint64) + 1, REFUSED),
        "a_bits signed": (codes.astype(np.int8), REFUSED),
    }
    expected = {name: said for name, (_, said) in given.items()} | without
    expected |= {name: said for name, (_, said) in bits.items()}

    def specified() -> Mapping[str, object]:
        found = {name: _read({**_FITTING, **changed}, name[0]) for name, (changed, _) in given.items()}
        for name in OPERANDS:
            found[f"{name} is missing"] = _read({k: v for k, v in _FITTING.items() if k != name}, name)
        for name, (codes_of_a, _) in bits.items():
            others = {key: value for key, value in _FITTING.items() if key != "a"}
            found[name] = _read({**others, "a_bits": codes_of_a}, "a")
        return found

    return compared(expected, specified)


@refusal_is(REFUSED)
def _read(arrays: Arrays, name: str) -> object:
    found = read("toy", OPERANDS, arrays, UNREAD)
    return found[name if name in found else "a"].tolist()


# -- numbers without a shape, and drawn ones
def _literals() -> Certificate:
    operands: dict[str, ArrayOperand] = {"a": Matrix((2, 2), S8), "w": Words((3,), np.dtype(np.uint32))}
    one, four, three = np.array([5]), np.array([1, 2, 3, 4]), np.array([7, 8, 9], dtype=np.uint32)
    codes = np.array([255], dtype=np.uint8)
    same = {"a": [[5, 5], [5, 5]], "w": [7, 8, 9]}
    table: dict[str, tuple[DrawnArrays, object]] = {
        "one for all": (DrawnArrays({"a": one, "w": three}, None), same),
        "one for each": (DrawnArrays({"a": four, "w": three}, None), {**same, "a": [[1, 2], [3, 4]]}),
        "encodings": (DrawnArrays({"a_bits": codes, "w": three}, None), {**same, "a": [[255, 255]] * 2}),
        "with a seed": (DrawnArrays({"a": one, "w": three}, 1), same),
        "two of four": (DrawnArrays({"a": four[:2], "w": three}, None), REFUSED),
        "missing": (DrawnArrays({"a": one}, None), REFUSED),
        "unknown": (DrawnArrays({"a": one, "w": three, "b": one}, 1), REFUSED),
    }

    def specified() -> Iterator[tuple[str, object]]:
        for name, (arrays, _) in table.items():
            try:
                said = read("toy", operands, arrays)
            except InputError:
                yield name, REFUSED
            else:
                yield name, {key: array.tolist() for key, array in said.items()}
        memory = DrawnArrays({"a": one, "w": three}, 1)
        for size in (1, 3):
            data = DrawnArrays({"m": np.arange(size, dtype=np.uint8)}, None)
            yield f"memory of {size}", read("toy", {"m": ByteArray()}, data)["m"].tolist()
        yield "memory is not drawn", _refuses(lambda: read("toy", {**operands, "m": ByteArray()}, memory))
        yield "what is not needed is not drawn", sorted(read("toy", operands, memory, {"m": ByteArray()}))
        both = DrawnArrays({"a": one, "w": three, "x": one}, 1)
        yield "what is not needed without a shape", sorted(read("toy", operands, both, UNREAD))
        yield "as a mapping", (len(memory), list(memory), "a" in memory)

    expected: dict[str, object] = {name: said for name, (_, said) in table.items()}
    expected |= {"memory of 1": [0], "memory of 3": [0, 1, 2]}
    expected["memory is not drawn"] = True
    expected["what is not needed is not drawn"] = ["a", "w"]
    expected["what is not needed without a shape"] = ["a", "w"]
    expected["as a mapping"] = 0, [], False
    return compared(expected, specified)


@refusal_is(True)
def _refuses(function: Callable[[], object]) -> object:
    function()
    return False


def _drawn() -> Certificate:
    def numbers(name: str, seed: int) -> Array:
        generator = DrawnArrays({}, seed).generator(name)
        assert generator is not None
        return drawn(generator, F32, (2000,)).view(np.float32)

    def specified() -> Mapping[str, object]:
        first = numbers("a", 3)
        magnitudes = np.abs(first)
        narrow = drawn(np.random.default_rng(1), E4M3, (2000,))
        powers = drawn(np.random.default_rng(1), UE8M0, (2000,))
        whole = drawn(np.random.default_rng(1), S8, (5000,)), drawn(np.random.default_rng(1), U4, (500,))
        words = Words((64,), np.dtype(np.uint32)).drawn("w", np.random.default_rng(1))["w"]
        data = Words((5000,), np.dtype(np.uint8)).drawn("m", np.random.default_rng(1))["m"]
        return {
            "below 16": bool(magnitudes.max() < 16) and bool(magnitudes.max() >= 8),
            "not below 1/16": bool(magnitudes.min() >= 1 / 16) and bool(magnitudes.min() < 1 / 8),
            "of any sign": 0.4 < (first < 0).mean() < 0.6,
            "with fractions": bool((first != np.floor(first)).any()),
            "the same again": bool((numbers("a", 3) == first).all()),
            "others for another name": bool((numbers("b", 3) == first).any()),
            "others for another seed": bool((numbers("a", 4) == first).any()),
            "without a seed": DrawnArrays({}, None).generator("a"),
            "narrow ones are numbers": bool((narrow % 128 < 127).all()) and len(np.unique(narrow)) > 60,
            "scale factors": (int(powers.min()), int(powers.max())),
            "every integer": (len(np.unique(whole[0])), len(np.unique(whole[1])), len(np.unique(data))),
            "words": (words.dtype.name, bool((words >> 31).any()), bool((words >> 31 == 0).any())),
            "extents": [drawn(np.random.default_rng(1), fmt, (2, 3)).shape for fmt in (S8, F16)],
        }

    expected = {
        "below 16": True, "not below 1/16": True, "of any sign": True, "with fractions": True,
        "the same again": True, "others for another name": False, "others for another seed": False,
        "without a seed": None, "narrow ones are numbers": True, "scale factors": (123, 131),
        "every integer": (256, 16, 256), "words": ("uint32", True, True), "extents": [(2, 3), (2, 3)],
    }  # fmt: skip
    return compared(expected, specified)


# -- batches and registers
def _batches() -> Certificate:
    x, y = np.arange(24).reshape(3, 4, 2), np.arange(8).reshape(4, 2) * 100

    def outer(arrays: Arrays) -> Arrays:
        left, right = arrays["x"], arrays["y"]
        return {"d": left[..., :, None] + right[..., None, :], "s": left.sum(axis=-1)}

    pairs: dict[str, tuple[Array, Array]] = {
        "no batch": (x[0, 0], y[0]),
        "one batch": (x[0], y),
        "axes of one alone": (x, y[0]),
        "other axes of each": (x, y),
        "axes of one element": (x[:, :1], y),
        "nothing": (x[:, :0], y[:0]),
        "many": (np.arange(6000).reshape(3000, 2), y[1]),
    }
    expected: dict[object, object] = {"not broadcasting": True}
    for name, (left, right) in pairs.items():
        for work in (1, 1 << 10, 1 << 30):
            d = left[..., :, None] + right[..., None, :]
            s = np.broadcast_to(left.sum(axis=-1), d.shape[:-2])
            expected[name, work] = d.tolist(), s.tolist()

    def specified() -> Iterator[tuple[object, object]]:
        axes = {"x": 1, "y": 1}
        wrong = {"x": x, "y": np.zeros((3, 2))}
        yield from {"not broadcasting": _refuses(lambda: in_blocks(outer, wrong, axes, 1))}.items()
        for name, (left, right) in pairs.items():
            for work in (1, 1 << 10, 1 << 30):
                done = in_blocks(outer, {"x": left, "y": right}, axes, work)
                yield (name, work), (done["d"].tolist(), done["s"].tolist())

    return compared(expected, specified)


def _views() -> Certificate:
    holders, elements = 4, 4
    layout = Layout(
        "toy", (Axis("holder", holders), Axis("element", elements)), (Axis("row", 2), Axis("column", 8)),
        (Digit(0, 1, 2, (0, 1)), Digit(0, 2, 2, (1, 0)), Digit(1, 1, 2, (0, 4)), Digit(1, 2, 2, (0, 2))),
    )  # fmt: skip
    held = Fragment(layout, Packing(S16, 16))
    operands, results = {"a": Matrix((2, 8), S16, held)}, {"d": Matrix((2, 8), S16, held)}
    registers = np.array([[0x00010002 * (lane + 1) + (slot << 4) for slot in range(2)] for lane in range(4)])
    registers = np.stack([registers, registers + 7]).astype(np.uint32)
    matrix = np.zeros((2, 2, 8), dtype=np.int64)
    for batch, holder, element in np.ndindex(2, holders, elements):
        row, column = holder >> 1, (holder & 1) | (element & 1) << 2 | (element >> 1) << 1
        word = int(registers[batch, holder, element // 2])
        matrix[batch, row, column] = word >> 16 * (element % 2) & 0xFFFF
    complement = (~matrix) & 0xFFFF
    expected: dict[str, object] = {
        "seen": matrix.tolist(),
        "registers": (~registers).tolist(),
        "numbers": (complement - (complement >> 15 << 16)).tolist(),
        "encodings": complement.tolist(),
        "beside": [1, 2],
        "checked": ["matrix", "registers", "matrix"],
        "a result of registers alone": ["beside", "d"],
        "a result of matrices": ["beside", "d", "d_bits"],
    }

    def specified() -> Mapping[str, object]:
        seen: list[Any] = []
        checked: list[str] = []

        def compute(alg: Algebra, arrays: Arrays) -> Arrays:
            seen.append(arrays["a"].copy())
            return {"d": ~arrays["a"], "beside": np.array([1, 2])[: len(arrays["a"])]}

        def run(arrays: Arrays, as_registers: bool) -> dict[str, Bits]:
            return execute(
                "toy", operands, results, compute, arrays, as_registers=as_registers, work=1 << 14,
                check=lambda _: checked.append("matrix"),
                check_registers=lambda _: checked.append("registers"),
            )  # fmt: skip

        by_matrix = run({"a": matrix - (matrix >> 15 << 16)}, False)
        by_registers = run({"a": registers}, True)
        return {
            "seen": seen[-1].tolist(),
            "registers": by_registers["d"].tolist(),
            "numbers": by_matrix["d"].tolist(),
            "encodings": by_matrix["d_bits"].tolist(),
            "beside": by_registers["beside"].tolist(),
            "checked": checked,
            "a result of registers alone": sorted(by_registers),
            "a result of matrices": sorted(by_matrix),
        }

    return compared(expected, specified)
