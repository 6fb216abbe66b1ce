"""Descriptors of tcgen05: words and their fields, and what lies in shared memory besides wgmma's layouts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial

from ...spec.algebra import Algebra, Array
from ...spec.errors import InputError
from ...spec.formats import U32, U64
from ...spec.ptx.matrix_descriptor import PATTERN_ROWS, UNIT, MatrixDescriptor, SharedMatrix
from ...spec.ptx.tensor_memory import shared_descriptor, zero_columns
from ...spec.ptx.tensor_memory.bit_fields import BitField, FieldTable
from ...spec.ptx.tensor_memory.instruction_descriptor import table
from ...spec.ptx.tensor_memory.kinds import KINDS, ROW_BYTES
from ...spec.ptx.tensor_memory.shared_descriptor import shared_matrix
from ..comparison import compared
from ..obligation import Case, Certificate, Equation, Inputs, Method, Property, Status, Variable, theorem
from .descriptors import ADDRESS, ELEMENT, comes_back, placed, read, stepped

SOURCE = "PTX ISA 9.1 section 9.7.16 (instruction descriptor, matrix descriptor, zero-column mask); CuTe"

TABLES: dict[str, FieldTable] = {
    **{f"instruction/{kind}": table(kind) for kind in KINDS},
    "matrix": shared_descriptor.TABLE,
    "zero-columns": zero_columns.TABLE,
}


@theorem(
    "ptx/tensor-descriptor/fields",
    "the fields of a descriptor are all of its bits, each once",
    "∀ words: the sum of the fields' bits, each moved to its place, is the word; without the field of M "
    "(pinned) it is not",
    SOURCE,
)
def fields() -> Iterator[Case]:
    """Yield one obligation for each word, and that one field less is not the word (pinned)."""
    for name, words in TABLES.items():
        yield Case(name, partial(_sum_of_fields, words))
    less = table("f16")
    less = replace(less, fields=tuple(field for field in less.fields if field.name != "m"))
    yield Case(
        "instruction/f16/without-m", partial(_sum_of_fields, less, {"word": 1 << 24}), Status.REFUTED,
        statement="the sum of the bits of all fields but M is the word",
    )  # fmt: skip


def _sum_of_fields(words: FieldTable, pinned: dict[str, int] | None = None) -> Property:
    fmt = U32 if words.bits == 32 else U64

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        joined = v["word"] & 0
        for field in words.fields:
            joined = joined + (((v["word"] >> field.low) & (1 << field.width) - 1) << field.low)
        yield Equation(joined, v["word"], fmt, label="word")

    return Property((Variable("word", fmt, (1,)),), claim, pinned=pinned, abstract=False)


@theorem(
    "ptx/tensor-descriptor/round-trip",
    "what a descriptor says is encoded as the descriptor; codes without a meaning are refused",
    "∀ fields, ∀ codes: a code with a meaning, others as they are, decodes to that and encodes to the word; "
    "another one is refused; no two codes of a field mean the same",
    SOURCE,
)
def round_trip() -> Iterator[Case]:
    """Yield one obligation for each word."""
    for name, words in TABLES.items():
        yield Case(name, partial(_round_trip, words), method=Method.CERTIFICATE)


def _round_trip(words: FieldTable) -> Certificate:
    start = words.encoding({})

    def codes(field: BitField) -> Iterator[int]:
        every = range(1 << field.width)
        return iter(every if field.width < 9 else [*every[:64], *every[:: 1 << field.width - 6], every[-1]])

    def word(field: BitField, code: int) -> int:
        return start & ~(((1 << field.width) - 1) << field.low) | code << field.low

    expected: dict[tuple[int, int], object] = {}
    for field in words.fields:
        meanings = {code: value for value, code in field.codes}
        for code in codes(field):
            known = not field.codes or code in meanings
            value = meanings.get(code, code * field.unit)
            expected[field.low, code] = (value if field.name else None, word(field, code)) if known else None

    def specified() -> Iterator[tuple[tuple[int, int], object]]:
        for field in words.fields:
            for code in codes(field):
                try:
                    values = words.decoded(word(field, code))
                except InputError:
                    yield (field.low, code), None
                    continue
                said = values[field.name] if field.name else None
                yield (field.low, code), (said, words.encoding(values))

    return compared(expected, specified)


# -- where elements are
@cache
def matrices() -> dict[str, SharedMatrix]:
    """Return what tcgen05 reads besides what wgmma does: 64 lines of one product's K, packed as usual.

    Bytes with neighbours along M or N, with each swizzle; tf32 so, where 32 bytes stay together; 4-bit
    elements with neighbours along K.
    """
    found = {}
    lines = 64
    for width in (0, 32, 64, 128):
        packed, length = PATTERN_ROWS * (width or UNIT), ROW_BYTES
        leading = length * width if width else lines * UNIT
        fields = MatrixDescriptor(0, leading, packed, width)
        found[f"mn-major-{width}/8-bit"] = shared_matrix(fields, 128, length, 8, transposed=True)
        if width:
            nibbles = MatrixDescriptor(0, UNIT, packed, width)
            found[f"k-major-{width}/4-bit"] = shared_matrix(nibbles, lines, 2 * length, 4)
    atoms = MatrixDescriptor(0, 1024, 512, 128, atom=2 * UNIT)
    found["mn-major-128-atom32/32-bit"] = shared_matrix(atoms, lines, ROW_BYTES // 4, 32, transposed=True)
    return found


@theorem(
    "ptx/tensor-descriptor/addresses",
    "elements of A and B that only tcgen05 reads lie at distinct places, inside of the tile, and are read",
    "∀ starts that are multiples of 1024, ∀ (line, k): (line, k) ↦ (address, bit) has a left inverse, is "
    "start + the map over F2, less than start + the bytes of the tile; ∀ memories: the element is what is "
    "there; bytes with neighbours along M or N, tf32 so, and 4-bit elements",
    SOURCE,
)
def addresses() -> Iterator[Case]:
    """Yield three obligations for each layout."""
    for name, matrix in matrices().items():
        yield Case(f"{name}/injective", partial(comes_back, matrix), statement=matrix.linear.formula)
        yield Case(f"{name}/placed", partial(placed, matrix))
        yield Case(f"{name}/read", partial(read, matrix), method=Method.STRUCTURAL)


@theorem(
    "ptx/tensor-descriptor/steps",
    "a descriptor of a tile plus a number is the descriptor of a part of the tile along K",
    "∀ starts that are multiples of 1024, ∀ (line, k): the address with the start moved by s steps is that "
    "of (line, k + s·K) of the longer tile: s·32 bytes in rows, with neighbours along M or N as often the "
    "stride (without swizzling the leading offset) as K has groups of 8 lines, of 4 with atoms of 32 bytes",
    SOURCE,
)
def steps() -> Iterator[Case]:
    """Yield one obligation for each layout that has further steps."""
    for name, matrix in matrices().items():
        described, width = matrix.descriptor, matrix.descriptor.swizzle
        if matrix.transposed:
            count, step = 4, matrix.length // (PATTERN_ROWS * UNIT // described.atom)
            step *= described.stride if width else described.leading
            described = replace(described, leading=count * described.leading) if width else described
        else:
            count, step = width // ROW_BYTES, ROW_BYTES
        if count == 1:
            continue
        whole = shared_matrix(
            described, matrix.lines, count * matrix.length, matrix.bits, transposed=matrix.transposed
        )
        part = replace(matrix, descriptor=described)
        yield Case(f"{name}/k", partial(stepped, whole, part, count, step))


@theorem(
    "ptx/tensor-descriptor/atoms",
    "swizzling that leaves 32 bytes together is its own inverse and keeps them together",
    "∀ addresses x: s(s(x)) = x; s(x) and x agree but in bits 5 and 6; it is not that of 16 bytes (pinned)",
    SOURCE,
)
def atoms() -> Iterator[Case]:
    """Yield the claim, and that 16 bytes are moved alike (pinned)."""
    yield Case("128-bytes", _undone)
    yield Case("128-bytes/as-16", _alike, Status.REFUTED, statement="swizzling is that of 16 bytes")


def _swizzled(x: Array, atom: int) -> Array:
    matrix = SharedMatrix(MatrixDescriptor(0, 1024, 512, 128, atom), 64, 4, 32, True, (32,))
    moved: Array = matrix.address(0 * x, 0 * x, x)[0]
    return moved


def _undone() -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        there = _swizzled(v["x"], 2 * UNIT)
        yield Equation(_swizzled(there, 2 * UNIT), v["x"], ADDRESS, label="twice")
        kept = (1 << ADDRESS.bits) - 1 - 0b1100000
        yield Equation(there & kept, v["x"] & kept, ADDRESS, label="other bits")

    return Property((replace(ELEMENT[0], name="x"),), claim, abstract=False)


def _alike() -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        yield Equation(_swizzled(v["x"], 2 * UNIT), _swizzled(v["x"], UNIT), ADDRESS, label="place")

    return Property((replace(ELEMENT[0], name="x"),), claim, pinned={"x": [128]}, abstract=False)


THEOREMS = (fields, round_trip, addresses, steps, atoms)
