"""Instruction words: the fields of every form, and words to and from instructions.

A layout is the manual's diagram, from bit 0 (the most significant) on. A prefixed instruction is one
64-bit value, prefix above suffix. `Layout.assemble`, `Layout.extract` and `Layout.matches` are written
with ``+ * & | >> <<`` and ``==`` only, so Python ints, numpy arrays and bit-vectors of at least the
layout's size evaluate the same formulas.

A word with a reserved bit set is not an instruction here: decoding is then the exact inverse of encoding.
(`contradictions.RESERVED_BITS` says who else does what.)

Source: Power ISA 3.1 Book I, instruction formats XX3, X, DQ, D, B and MMIRR. Every form was checked
against GNU as and llvm-mc.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from types import MappingProxyType
from typing import Any

from ..errors import InputError
from .catalogue import Family, Move, RankKUpdate
from .forms import FORMS, FixedPoint, Form, Operand, Transfer, mask_widths
from .instructions import Instruction
from .memory import Endian

Word = Any
"""A Python int, a numpy array of uint64, or a Z3 bit-vector: the same formulas hold for all of them."""

PREFIX_OPCODE = 1
"""Primary opcode of a prefix; no word form has it."""

PREFIX_BOUNDARY = 64
"""A prefixed instruction does not cross a multiple of this many bytes."""


@dataclass(frozen=True)
class Field:
    """Consecutive bits of an instruction.

    Attributes
    ----------
    name : str
        The manual's name; ``/`` for reserved bits, the value itself for opcode bits.
    first : int
        The most significant bit's number, bit 0 being the instruction's most significant bit.
    width : int
        Number of bits.
    """

    name: str
    first: int
    width: int

    @property
    def reserved(self) -> bool:
        """Whether the bits are reserved: zero in every instruction."""
        return self.name == "/"

    @property
    def fixed(self) -> int | None:
        """The value of opcode or reserved bits, None for a part of an operand."""
        return 0 if self.reserved else int(self.name) if self.name.isdigit() else None


def fields(diagram: str) -> tuple[Field, ...]:
    """Read a diagram ``name:width …``; fields of no width are left out."""
    entries = [(name, int(width)) for name, width in (entry.split(":") for entry in diagram.split())]
    firsts = accumulate((width for _, width in entries), initial=0)
    return tuple(
        Field(name, first, width) for (name, width), first in zip(entries, firsts, strict=False) if width
    )


PARTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "XA": ("AX", "A"), "XAp": ("AX", "Ap"), "XB": ("BX", "B"),
        "XT": ("TX", "T"), "XTp": ("TX", "Tp"), "XS": ("SX", "S"), "XSp": ("SX", "Sp"),
        "D": ("DQ",), "target": ("BD",),
    }
)  # fmt: skip
"""The fields an operand's value is made of, most significant first; other operands are one field."""


@dataclass(frozen=True)
class Part:
    """Where a field of an operand stands: ``(value >> shift) & ones`` is ``(word >> position) & ones``."""

    operand: Operand
    shift: int
    position: int
    ones: int


@dataclass(frozen=True)
class Layout:
    """The encoding of one form.

    Attributes
    ----------
    form : Form
        What is encoded.
    fields : tuple of Field
        All bits, in order.
    """

    form: Form
    fields: tuple[Field, ...]

    def __post_init__(self) -> None:
        in_operands = sum(part.ones << part.position for part in self.parts)
        if self.size != (64 if self.form.prefixed else 32) or self.mask + in_operands != (1 << self.size) - 1:
            raise AssertionError(
                f"{self.form.mnemonic}: the fields of its operands and its fixed bits are no partition"
            )

    @property
    def size(self) -> int:
        """Width of the instruction in bits: 32 or 64."""
        return self.fields[-1].first + self.fields[-1].width

    def _position(self, field: Field) -> int:
        return self.size - field.first - field.width

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The fields of all operands."""
        by_name = {field.name: field for field in self.fields}
        parts = []
        for operand in self.form.operands:
            shift = operand.multiple.bit_length() - 1
            for name in reversed(PARTS.get(operand.name, (operand.name,))):
                field = by_name[name]
                parts.append(Part(operand, shift, self._position(field), (1 << field.width) - 1))
                shift += field.width
            if shift != operand.bits:
                raise AssertionError(
                    f"{self.form.mnemonic}: {operand.name} has {shift} bits, not {operand.bits}"
                )
        return tuple(parts)

    @cached_property
    def mask(self) -> int:
        """The opcode and reserved bits."""
        return self.opcode_mask | self.reserved_mask

    @cached_property
    def match(self) -> int:
        """The values of the opcode and reserved bits: the encoding with every operand 0."""
        return sum((field.fixed or 0) << self._position(field) for field in self.fields)

    @cached_property
    def reserved_mask(self) -> int:
        """The reserved bits."""
        return self._ones(field for field in self.fields if field.reserved)

    @cached_property
    def opcode_mask(self) -> int:
        """The opcode bits."""
        return self._ones(field for field in self.fields if field.fixed is not None and not field.reserved)

    def _ones(self, selected: Iterator[Field]) -> int:
        return sum(((1 << field.width) - 1) << self._position(field) for field in selected)

    # -- formulas for every kind of word
    def matches(self, word: Word) -> Word:
        """Tell whether a word (32 or 64 bits, as `size` says) is an instruction of this form."""
        return (word & self.mask) == self.match

    def assemble(self, values: Mapping[str, Word]) -> Word:
        """Return the word with these operand values, by operand name; bits that don't fit are dropped."""
        word: Word = self.match
        for part in self.parts:
            word = word | (((values[part.operand.name] >> part.shift) & part.ones) << part.position)
        return word

    def extract(self, word: Word) -> dict[str, Word]:
        """Return the operands' values modulo ``2**bits`` (a negative displacement reads as a large one)."""
        values: dict[str, Word] = {}
        for part in self.parts:
            bits = ((word >> part.position) & part.ones) << part.shift
            name = part.operand.name
            values[name] = values[name] | bits if name in values else bits
        return values


_DIAGRAMS: Mapping[str, str] = MappingProxyType(
    {
        "lxv": "61:6 T:5 RA:5 DQ:12 TX:1 1:3",
        "stxv": "61:6 S:5 RA:5 DQ:12 SX:1 5:3",
        "lxvp": "6:6 Tp:4 TX:1 RA:5 DQ:12 0:4",
        "stxvp": "6:6 Sp:4 SX:1 RA:5 DQ:12 1:4",
        "lxvx": "31:6 T:5 RA:5 RB:5 4:4 /:1 12:5 TX:1",
        "stxvx": "31:6 S:5 RA:5 RB:5 396:10 SX:1",
        "lxvpx": "31:6 Tp:4 TX:1 RA:5 RB:5 333:10 /:1",
        "stxvpx": "31:6 Sp:4 SX:1 RA:5 RB:5 461:10 /:1",
        "addi": "14:6 RT:5 RA:5 SI:16",
        # bc with BO = 16 (decrement CTR, branch if not zero), BI = 0, AA = 0, LK = 0
        "bdnz": "16:6 16:5 0:5 BD:14 0:1 0:1",
    }
)


def _diagram(form: Form) -> str:
    match form.operation:
        case RankKUpdate(family=family, extended_opcode=opcode):
            a = "A:5" if family.x_registers == 1 else "Ap:4 /:1"
            word = f"59:6 AT:3 /:2 {a} B:5 {opcode}:8 AX:1 BX:1 /:1"
            return f"{_prefix(family)} {word}" if form.prefixed else word
        case Move(value=operation):
            return f"31:6 {form.operands[0].name}:3 /:2 {operation}:5 /:5 177:10 /:1"
        case Transfer() | FixedPoint():
            return _DIAGRAMS[form.mnemonic]


def _prefix(family: Family) -> str:
    """Draw the MMIRR prefix: PMSK starts at bit 16, YMSK at bit 28, whatever their widths."""
    width = {"PMSK": 0, **mask_widths(family)}
    pmsk, ymsk = width["PMSK"], width["YMSK"]
    return f"{PREFIX_OPCODE}:6 3:2 9:4 /:4 PMSK:{pmsk} /:{8 - pmsk} XMSK:4 YMSK:{ymsk} /:{4 - ymsk}"


class _Layouts(Mapping[Form, Layout]):
    """The encodings by form, made when one is asked for: whoever encodes nothing needs none."""

    @cached_property
    def _made(self) -> Mapping[Form, Layout]:
        return {form: Layout(form, fields(_diagram(form))) for form in FORMS.values()}

    def __getitem__(self, form: Form) -> Layout:
        return self._made[form]

    def __iter__(self) -> Iterator[Form]:
        return iter(self._made)

    def __len__(self) -> int:
        return len(self._made)


LAYOUTS: Mapping[Form, Layout] = _Layouts()
"""The encoding of every form."""


# -- instructions
def encode(instruction: Instruction) -> tuple[int, ...]:
    """Return the instruction's words, a prefix first.

    Raises
    ------
    InputError
        If operands are missing or superfluous, or one has no encoding.
    """
    form = instruction.form
    operands = instruction.operands
    if operands is None or len(operands) != len(form.operands):
        raise InputError(f"{form.mnemonic} is encoded with {form.syntax}, not as {str(instruction)!r}")
    for operand, value in instruction.given():
        if value not in operand.values:
            raise InputError(f"{form.mnemonic}: {operand.name} must be {operand.allowed}, not {value}")
    word = LAYOUTS[form].assemble(instruction.values)
    return divmod(word, 1 << 32) if form.prefixed else (word,)


def decode(*words: int) -> Instruction:
    """Return the instruction of one word, or of a prefix and its suffix.

    Raises
    ------
    InputError
        If the words are none of `FORMS`; where only reserved bits differ, the text says which.
    """
    if len(words) not in (1, 2) or any(word not in range(1 << 32) for word in words):
        raise InputError("an instruction is one 32-bit word, or a prefix word and a suffix word")
    size, code = 32 * len(words), sum(word << 32 * place for place, word in enumerate(reversed(words)))
    for layout in LAYOUTS.values():
        if layout.size == size and layout.matches(code):
            raw = layout.extract(code)
            return Instruction(layout.form, tuple(_signed(o, raw[o.name]) for o in layout.form.operands))
    raise InputError(f"{' '.join(f'0x{word:08x}' for word in words)} {_defect(size, code)}")


def _signed(operand: Operand, value: int) -> int:
    return value - (1 << operand.bits) if operand.signed and value >> (operand.bits - 1) else value


def _defect(size: int, code: int) -> str:
    if size == 32 and code >> 26 == PREFIX_OPCODE:
        return "is the prefix of a 64-bit instruction; its suffix is missing"
    for layout in LAYOUTS.values():
        if layout.size == size and not (code ^ layout.match) & layout.opcode_mask:
            reserved = code & layout.reserved_mask
            bits = [str(bit) for bit in range(size) if reserved >> (size - 1 - bit) & 1]
            return f"is no instruction: in {layout.form.mnemonic}, bits {', '.join(bits)} must be 0"
    return "is no instruction known here"


# -- bytes
def to_bytes(words: tuple[int, ...], order: Endian) -> bytes:
    """Return words as they stand in memory: a prefix first, each word in the machine's byte order."""
    return b"".join(word.to_bytes(4, order.byteorder) for word in words)


def crosses_boundary(instruction: Instruction, address: int) -> bool:
    """Tell whether a prefixed instruction at `address` would lie across a 64-byte boundary (not allowed)."""
    return instruction.prefixed and address % PREFIX_BOUNDARY == PREFIX_BOUNDARY - 4


def disassemble(code: bytes, order: Endian, address: int = 0) -> Iterator[tuple[int, Instruction]]:
    """Yield the instructions of machine code, each with its address.

    Raises
    ------
    InputError
        At the first instruction that is not one of `FORMS`, that is cut off, or that crosses a 64-byte
        boundary.
    """
    if len(code) % 4:
        raise InputError(f"machine code comes in words of 4 bytes, not in {len(code)} bytes")
    words = [int.from_bytes(code[at : at + 4], order.byteorder) for at in range(0, len(code), 4)]
    at = 0
    while at < len(words):
        here = address + 4 * at
        length = 2 if words[at] >> 26 == PREFIX_OPCODE else 1
        try:
            instruction = decode(*words[at : at + length])
        except InputError as error:
            raise InputError(str(error), where=f"0x{here:x}") from error
        if crosses_boundary(instruction, here):
            raise InputError(f"{instruction} crosses a {PREFIX_BOUNDARY}-byte boundary", where=f"0x{here:x}")
        yield here, instruction
        at += length
