"""What MFMAs give: as listed, and on whole numbers as the manual describes products, by their texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

import numpy as np

from ...spec.algebra import Array
from ...spec.errors import InputError, UnsupportedError
from ...spec.instruction_set import instruction_set
from ...spec.mfma.catalogue import BY_NAME
from ...spec.mfma.choices import choices_named
from ...spec.mfma.product import Modifiers, product
from ...spec.mfma.targets import target_named
from ...spec.numpy_algebra import NumpyAlgebra
from ..comparison import compared, refusal_is, whole_numbers
from ..obligation import Certificate
from ..table_theorem import Table, table_theorem
from .documented import STATED
from .stated import instructions
from .stated import instructions as table

WIDTHS = {"f64": 64, "f32": 32, "xf32": 32, "i32": 32, "f16": 16, "bf16": 16, "i8": 8, "fp8": 8, "bf8": 8}


class _Instruction:
    """A listed instruction: its sizes by the table, its text with usual operands."""

    def __init__(self, listed: str, target: str, c: str = "") -> None:
        name, *modifiers = listed.split()
        self.name, self.target = f"v_mfma_{name}", target
        row = table.INSTRUCTIONS.get((target, self.name)) or next(
            (row for (_, known), row in table.INSTRUCTIONS.items() if known == self.name), {}
        )
        self.blocks = int(row.get("blocks", 1))
        self.m, self.n, self.k = table.shape(self.name)
        self.types = {**dict(zip("ab", table.types(self.name), strict=True)), "c": name[:3], "d": name[:3]}
        factors, last = int(row.get("A, B", 1)), int(row.get("C, D", 16)) - 1
        a, b = (f"v[{first}:{first + factors - 1}]" for first in (0, 8))
        operands = f"a[0:{last}], {a}, {b}, {c or f'a[0:{last}]'}"
        self.text = f"{self.name} {operands} {' '.join(modifiers)}".strip()

    def shape(self, operand: str) -> tuple[int, ...]:
        extents = {"a": (self.m, self.k), "b": (self.k, self.n)}.get(operand, (self.m, self.n))
        return (self.blocks, *extents) if self.blocks > 1 else extents

    def execute(self, arrays: Mapping[str, Array], choice: str = "", registers: bool = False) -> Array:
        read = instruction_set("mfma").read(self.text)
        choices = [choice] if choice else []
        done = read.execute(
            arrays, as_registers=registers, rounding=None, choices=choices, target=self.target
        )
        return done["d" if registers or "d_bits" not in done else "d_bits"]

    def spelled(self, d: Array) -> str:
        """Return the encoding of the first element of D."""
        return f"{int(d.flat[0]):0{WIDTHS[self.types['d']] // 4}x}"

    def elements(self, operand: str, encodings: str) -> Array:
        """Return a matrix with the listed elements from its first on, along k, and 0 elsewhere."""
        found = np.zeros(self.shape(operand), dtype=f"u{max(8, WIDTHS[self.types[operand]]) // 8}")
        along = found.swapaxes(-1, -2) if operand == "b" else found
        for place, encoding in enumerate(encodings.split()):
            along[(*(0,) * (found.ndim - 1), place)] = int(encoding, 16)
        return found


@refusal_is(None, UnsupportedError)
def _of_constant(name: str, c: str) -> object:
    instruction = _Instruction(name, "gfx942", c)
    d = instruction.execute({f"{each}_bits": instruction.elements(each, "") for each in "ab"})
    assert np.all(d == d.flat[0])
    return instruction.spelled(d)


listed_results = table_theorem(
    "mfma/stated/results",
    "each instruction gives the listed results for the listed operands",
    "∀ rows of the list: executing the text on A, B and C that are 0 but for the listed elements gives "
    "D[0, 0] as listed, under the choice that is named; what no document defines is refused; an "
    "unspecified sum depends on a row of A, a column of B and an element of C alone",
    "CDNA4 ISA chapter 7; open points of the specification, by name",
    lambda: {
        **Table(STATED, "results", "mnemonic, modifiers, target, choice, A, B, C", _first).by("mnemonic"),
        "constants": Table(STATED, "constants", "instruction, C", _of_constant),
        "undefined": Table(STATED, "undefined", "instruction, target, choice", _kind),
        "unspecified": _unspecified,
    },
)


def _first(mnemonic: str, modifiers: str, target: str, choice: str, a: str, b: str, c: str) -> str:
    instruction = _Instruction(f"{mnemonic} {modifiers}", target)
    arrays = {
        f"{name}_bits": instruction.elements(name, listed)
        for name, listed in zip("abc", (a, b, c), strict=True)
    }
    return instruction.spelled(instruction.execute(arrays, choice))


def _unspecified() -> Certificate:
    """Return the claim that an unspecified sum depends on a row, a column and an element of C alone.

    Without modifiers nothing is changed.
    """
    row, target = BY_NAME["v_mfma_f32_16x16x16_f16"]["gfx942"], target_named("gfx942")
    changes = {"a": (5, 3), "b": (2, 7), "c": (5, 7)}
    expected: dict[str, object] = {"modifiers": (0, 0, 0, 0)}
    for name in changes:
        changed = np.zeros((16, 16), dtype=bool)
        changed[5 if name != "b" else slice(None), 7 if name != "a" else slice(None)] = True
        expected[name] = changed.tolist()

    def computed(matrices: Mapping[str, Array]) -> Array:
        choices = choices_named(["accumulation=unspecified"])
        return product(NumpyAlgebra(), row, target, **matrices, modifiers=Modifiers(), choices=choices)

    def specified() -> Iterator[tuple[str, object]]:
        zeros = {name: np.zeros((16, 16), dtype=np.uint32 if name == "c" else np.uint16) for name in "abc"}
        before = computed(zeros)
        for name, at in changes.items():
            matrix = zeros[name].copy()
            matrix[at] = 1
            yield name, (computed({**zeros, name: matrix}) != before).tolist()
        none = Modifiers()
        yield "modifiers", (none.cbsz, none.abid, none.blgp, none.neg)

    return compared(expected, specified)


def _kind(listed: str, target: str, choice: str) -> str:
    instruction = _Instruction(listed, target)
    try:
        instruction.execute({f"{each}_bits": instruction.elements(each, "") for each in "abc"}, choice)
    except UnsupportedError:
        return "unsupported"
    except InputError:
        return "refused"
    return "computed"


# -- whole numbers
whole_products = table_theorem(
    "mfma/stated/products",
    "products of whole numbers are those of the matrices that the lanes hold by the manual",
    "D[b, i, j] = C[b, i, j] + Σ_k A[b, i, k]·B[b, k, j], where the element (lane, e) of each operand is the "
    "matrix's by the manual's formula, and lanes read A of the lane that cbsz and abid name, B of the one "
    "that blgp names; numbers are random, and so small that every sum is exact; on matrices and on registers",
    "CDNA4 ISA chapter 7; AMD matrix instruction calculator 1.3.2",
    lambda: {
        **{target: partial(_products, target) for target in ("gfx90a", "gfx942", "gfx950")},
        **{f"modified/{reading}": partial(_modified, reading) for reading in ("neighbours", "lanes")},
    },
)


_LARGEST = {"fp8": 15, "bf8": 7, "i8": 127}
"""Whole numbers up to which each format has all; 255 in the others, so that sums of f32 are exact."""


class _Lanes:
    """An instruction's operands on the lanes."""

    def __init__(self, instruction: _Instruction) -> None:
        i = self.instruction = instruction
        held = {name: int(np.prod(i.shape(name))) // 64 for name in "abc"}
        a = instructions.lanes_of_factor(i.m, i.blocks, held["a"])
        block, column, k = instructions.lanes_of_factor(i.n, i.blocks, held["b"])
        self.places = {
            "a": a,
            "b": (block, k, column),
            "c": instructions.lanes_of_result(i.m, i.n, i.blocks, i.types["c"] == "f64"),
        }

    def place(self, name: str) -> tuple[Array, ...]:
        places = self.places["c" if name == "d" else name]
        return places if self.instruction.blocks > 1 else places[1:]

    def registers(self, name: str, matrix: Array) -> Array:
        """Return registers (64, r) that hold a matrix."""
        kind = self.instruction.types[name]
        elements = matrix[self.place(name)]
        if kind in ("f16", "i8", "f32", "xf32", "f64", "i32"):
            types = {"i8": "i1", "i32": "i4", "f16": "f2", "f64": "f8"}
            raw = elements.astype(f"<{types.get(kind, 'f4')}")
        else:
            raw = (np.ascontiguousarray(elements.astype("<f4")).view("<u4") >> 16).astype("<u2")
        return np.ascontiguousarray(raw).view("<u8" if kind == "f64" else "<u4")

    def matrix(self, name: str, elements: Array) -> Array:
        """Return the matrix that elements (lane, e) are."""
        found = np.zeros(self.instruction.shape(name), dtype=elements.dtype)
        found[self.place(name)] = elements
        return found


def _operands(instruction: _Instruction) -> dict[str, Array]:
    return {
        name: whole_numbers(instruction.shape(name), _LARGEST.get(instruction.types[name], 255), seed)
        for seed, name in enumerate("abc", 1)
    }


def _products(target: str) -> Certificate:
    having = {row["name"] for (of, _), row in table.INSTRUCTIONS.items() if of == target}
    if target == "gfx950":
        having -= {row["name"] for (of, _), row in table.INSTRUCTIONS.items() if of == "gfx942"}
    names = sorted(f"v_mfma_{name}" for name in having)
    expected: dict[str, object] = {}
    for name in names:
        given = _operands(_Instruction(name.removeprefix("v_mfma_"), target))
        expected[name] = (given["c"] + given["a"] @ given["b"]).tolist()
        if "fp8" not in name and "bf8" not in name:
            expected[f"{name} on registers"] = expected[name]

    def specified() -> Iterator[tuple[str, object]]:
        for name in names:
            instruction = _Instruction(name.removeprefix("v_mfma_"), target)
            given, lanes = _operands(instruction), _Lanes(instruction)
            read = instruction_set("mfma").read(instruction.text)
            done = read.execute(given, as_registers=False, rounding=None, choices=[], target=target)
            yield name, done["d"].astype(int).tolist()
            if f"{name} on registers" in expected:
                words = {each: lanes.registers(each, matrix) for each, matrix in given.items()}
                d = instruction.execute(words, registers=True)
                kind = {"i32": "<i4", "f64": "<f8"}.get(instruction.types["d"], "<f4")
                elements = np.ascontiguousarray(d).view(kind).astype(int)
                yield f"{name} on registers", lanes.matrix("d", elements).tolist()

    return compared(expected, specified)


def _modified(reading: str) -> Certificate:
    expected: dict[str, object] = {}
    for name, cbsz, abid, blgp in instructions.MODIFIED:
        instruction = _Instruction(f"{name} cbsz:{cbsz} abid:{abid} blgp:{blgp}", "gfx942")
        given, lanes = _operands(instruction), _Lanes(instruction)
        lane = np.arange(64)
        from_a = instructions.broadcast(lane, instruction.m, cbsz, abid, reading)
        from_b = instructions.permuted(lane, blgp)
        seen = {
            operand: lanes.matrix(operand, given[operand][lanes.place(operand)][source])
            for operand, source in (("a", from_a), ("b", from_b))
        }
        expected[instruction.text] = (given["c"] + seen["a"] @ seen["b"]).tolist()

    def specified() -> Iterator[tuple[str, object]]:
        for text in expected:
            name, _, modifiers = text.removeprefix("v_mfma_").partition(" ")
            instruction = _Instruction(f"{name} {modifiers[modifiers.index('cbsz') :]}", "gfx942")
            read = instruction_set("mfma").read(text)
            done = read.execute(
                _operands(instruction),
                as_registers=False,
                rounding=None,
                choices=[f"broadcast={reading}"],
                target="gfx942",
            )
            yield text, done["d"].astype(int).tolist()

    return compared(expected, specified)


THEOREMS = (listed_results, whole_products)
