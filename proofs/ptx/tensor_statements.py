"""Tensor memory against what is stated a second time: constants, shapes, illegal descriptors, and places."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product

import numpy as np

from ...spec.ptx.asynchronous.catalogue import form_of
from ...spec.ptx.matrix_descriptor import MatrixDescriptor
from ...spec.ptx.targets import TARGETS
from ...spec.ptx.tensor_memory import shared_descriptor
from ...spec.ptx.tensor_memory.copies import SHAPES as COPIES
from ...spec.ptx.tensor_memory.descriptor_rules import RULES, Described, violations
from ...spec.ptx.tensor_memory.instruction_descriptor import InstructionDescriptor
from ...spec.ptx.tensor_memory.kinds import KINDS, columns_of_d, rows_of_d
from ...spec.ptx.tensor_memory.product_form import ProductForm, product_form
from ..comparison import compared, refusal_is
from ..obligation import Certificate
from ..table_theorem import answered, table_theorem
from .stated import tensor_memory as stated
from .tensor_layouts import layouts, of_d, tiles

SOURCE = "PTX ISA 9.1 section 9.7.16; CuTe; PTX compiled by Triton"

TARGET = TARGETS["sm_100a"]


descriptors = table_theorem(
    "ptx/stated/tensor-descriptors",
    "descriptors of compiled kernels say what the kernels multiply, shapes are the manual's, and each rule "
    "refuses words that differ in one field",
    "listed constants ↦ their fields, and back; high halves of matrix descriptors of packed rows; ∀ kinds, "
    ".ws, CTAs, sparse or not: M, N and K are those of the tables, no other M or N that has a code is legal; "
    "listed words break the rule and no other, their neighbours none",
    SOURCE,
    lambda: {
        "constants": _constants,
        "matrices": _matrices,
        "shapes": _shapes,
        **{f"verdicts/{kind}": partial(_verdicts, kind) for kind in KINDS},
        **{f"witnesses/{rule.id}": partial(_witnesses, rule.id) for rule in RULES},
        "every-rule": _every_rule,
    },
)


def _constants() -> Certificate:
    @refusal_is("refused")
    def said(row: stated.Constant) -> object:
        found = InstructionDescriptor.decoded(row.kind, row.word)
        fields = {part.split("=")[0]: part.split("=")[1] for part in row.says.split()}
        others = [name for name, value in found.values.items() if value and name not in fields]
        return {name: str(found.values[name]) for name in fields} == fields and not others, found.encoding

    return answered({(row,): (True, row.word) for row in stated.CONSTANTS}, said)


def _matrices() -> Certificate:
    def high(swizzle: int, stride: int) -> int:
        return shared_descriptor.encoded(MatrixDescriptor(0, 0, stride, swizzle)) >> 32

    return answered({(swizzle, stride): word for swizzle, (stride, word) in stated.SHARED.items()}, high)


def _forms() -> Iterator[tuple[str, str, int, bool]]:
    for kind, (form, ctas), sparse in product(KINDS, (("", 1), ("", 2), ("ws", 1)), (False, True)):
        if not (form and KINDS[kind].is_scaled):
            yield kind, form, ctas, sparse


def _shapes() -> Certificate:
    def asked(kind: str, form: str, ctas: int, sparse: bool) -> object:
        found = KINDS[kind]
        rows = rows_of_d(found, ws=form == "ws", ctas=ctas, sparse=sparse)
        return rows, columns_of_d(found, ws=form == "ws", ctas=ctas, sparse=sparse), found.k(sparse=sparse)

    return compared(stated.shapes(), lambda: {at: asked(*at) for at in _forms()})


def _verdicts(kind: str) -> Certificate:
    """Ask about every N that a descriptor can say for every M that there is, and about every other M."""
    expected: dict[tuple[object, ...], object] = {}
    vector = KINDS[kind].vectors[0][1] if KINDS[kind].vectors else 0
    step, most = (128, 384) if KINDS[kind].is_scaled else (16, 496)
    for (name, form, ctas, sparse), (rows, columns, _) in stated.shapes().items():
        if name == kind:
            for m in range(0, most + 1, step):
                for n in range(0, 505, 8) if m in rows else (64,):
                    expected[form, ctas, sparse, m, n] = m in rows and n in columns

    def legal(form: str, ctas: int, sparse: bool, m: int, n: int) -> bool:
        asked = ProductForm("tcgen05.mma", KINDS[kind], ctas, form == "ws", sparse, vector)
        word = InstructionDescriptor.of(kind, m=m, n=n, sparse=int(sparse)).encoding
        return not violations(Described(asked, word), TARGET)

    return answered(expected, legal)


def _broken(mnemonic: str, word: str) -> frozenset[str]:
    form = form_of(mnemonic)
    assert form is not None
    asked = product_form(form.row.head, form.modifiers)
    return frozenset(violation.rule.id for violation in violations(Described(asked, int(word, 16)), TARGET))


def _witnesses(rule: str) -> Certificate:
    expected: dict[tuple[str, str], object] = {}
    for row in stated.WITNESSES:
        if row.rule == rule:
            expected |= {(row.form, row.legal): frozenset(), (row.form, row.illegal): frozenset({rule})}
    return answered(expected, _broken)


def _every_rule() -> Certificate:
    named = dict.fromkeys((row.rule for row in stated.WITNESSES), True)
    return compared(named, lambda: dict.fromkeys((rule.id for rule in RULES), True))


# -- places
places = table_theorem(
    "ptx/stated/tensor-memory",
    "elements are in the cells that CuTe's traits say",
    "∀ rows, columns: CTA, lane and column of D of each layout; column and bit of A; lane, column and byte "
    "of each copy of scale factors; lane, column and bit of metadata; ∀ threads, registers: the cell of each "
    "shape; ∀ rows: the lanes of each shape of tcgen05.cp; each is that of the formulas written from CuTe",
    SOURCE,
    lambda: {
        **{f"d/{letter}": partial(_d, letter) for letter in "ABCDEFG"},
        "a": _a,
        "scale-factors": _scale_factors,
        "metadata": _metadata,
        **{
            f"r/{shape}": partial(_registers, shape)
            for shape in ("32x32b", "16x64b", "16x128b", "16x256b", "16x32bx2")
        },
        "cp": _copies,
    },
)


def _d(letter: str) -> Certificate:
    found = [each for name, each in of_d().items() if name.startswith(f"d/{letter}/")]
    chosen = [each for each in found if each.fields.n in (8, 16, 48, 64, 256)]
    expected = {
        (each.fields.n, row, column): stated.d_cell(letter, each.fields.n, row, column)
        for each in chosen
        for row, column in np.ndindex(each.fields.m, each.fields.n)
    }

    def specified() -> Iterator[tuple[tuple[int, int, int], object]]:
        for each in chosen:
            points = np.indices((each.fields.m, each.fields.n))
            upper = (0 * points[0],) * each.is_of_half_lanes
            lane, column = each.d.layout.inverse(*upper, *points)
            cells = np.stack([lane // 128, lane % 128, column], axis=-1)
            for row, n in np.ndindex(cells.shape[:2]):
                yield (each.fields.n, row, n), tuple(cells[row, n].tolist())

    return compared(expected, specified)


def _a() -> Certificate:
    widths = {32: "tf32", 16: "f16", 8: "i8", 4: "mxf4"}
    expected = {(bits, k): stated.a_bit(bits, k) for bits in widths for k in range(256 // bits)}

    def specified() -> Iterator[tuple[tuple[int, int], object]]:
        for bits, kind in widths.items():
            held = layouts(kind, 128, 64).a
            _, i = held.layout.inverse(np.zeros(256 // bits, dtype=int), np.arange(256 // bits))
            where = held.packing.places(i)
            for k in range(256 // bits):
                yield (bits, k), (int(where["register"][k]), int(where["bit"][k]))

    return compared(expected, specified)


def _scale_factors() -> Certificate:
    kinds = {1: "mxf8f6f4", 2: "mxf4", 4: "mxf4nvf4"}
    expected = {
        (size, number, line, s, copy): stated.scale_cell(number, line, s, copy)
        for size in kinds
        for number, line, s, copy in product(range(0, 4, size), range(128), range(size), range(4))
    }

    held = {size: layouts(kind, 128, 128, vector=size).factors("a").layout for size, kind in kinds.items()}

    def asked(size: int, number: int, line: int, s: int, copy: int) -> object:
        lane, byte = held[size].inverse(copy, number // size, line, s)
        return int(lane), int(byte) // 4, int(byte) % 4

    return compared(expected, lambda: {at: asked(*at) for at in expected})


def _metadata() -> Certificate:
    expected: dict[tuple[bool, int, int, int], object] = {
        (wide, selector, row, chunk): stated.metadata_cell(wide, selector, row, chunk)
        for wide, selectors, chunks in ((True, 2, 8), (False, 1, 16))
        for selector, row, chunk in product(range(selectors), range(128), range(chunks))
    }
    held = {
        True: layouts("f16", 128, 64, sparse=True).metadata,
        False: layouts("i8", 128, 64, sparse=True).metadata,
    }

    def asked(wide: bool, selector: int, row: int, chunk: int) -> object:
        leading = (0, selector) if wide else (0,)
        lane, nibble = held[wide].layout.inverse(*leading, row, chunk)
        return int(lane), int(nibble) // 8, 4 * (int(nibble) % 8)

    return compared(expected, lambda: {at: asked(*at) for at in expected})


def _registers(shape: str) -> Certificate:
    chosen = [tile for tile in tiles().values() if tile.shape.name == shape and not tile.packed]
    expected = {
        (tile.count, thread, register): stated.loaded_cell(shape, thread, register)
        for tile in chosen
        for thread, register in np.ndindex(32, tile.registers)
        if tile.count < 32
    }

    def specified() -> Iterator[tuple[tuple[int, int, int], object]]:
        for tile in chosen:
            if tile.count < 32:
                *_, lane, column = tile.layout.forward(*np.indices((32, tile.registers)))
                for thread, register in np.ndindex(lane.shape):
                    yield (
                        (tile.count, thread, register),
                        (int(lane[thread, register]), int(column[thread, register])),
                    )

    return compared(expected, specified)


def _copies() -> Certificate:
    expected = {
        (name, row): stated.copied_lanes(name, row)
        for name, shape in COPIES.items()
        for row in range(shape.rows)
    }

    def asked(name: str, row: int) -> object:
        shape = COPIES[name]
        return tuple(int(shape.fragment.layout.inverse(copy, row, 0)[0]) for copy in range(shape.copies))

    return compared(expected, lambda: {at: asked(*at) for at in expected})


THEOREMS = (descriptors, places)
