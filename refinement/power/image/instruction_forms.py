"""Instruction forms of object code: decoding, encoding, text.

A form is a row of a table: a mnemonic, operands in the order of the text, and the manual's diagram of its
bits. Those of the Matrix-Multiply Assist are the specification's. A word in which a reserved bit is set is
no instruction.

Source: Power ISA 3.1 Book I section 1.6; every row is checked against GNU as and objdump.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from types import MappingProxyType
from typing import NamedTuple

from ....spec.power.catalogue import Move, RankKUpdate
from ....spec.power.encoding import LAYOUTS, PREFIX_OPCODE, Field, fields
from ....spec.power.forms import Form as SpecifiedForm
from .fixed_point_forms import BRANCHES, FIXED_POINT, STORAGE
from .vector_forms import FLOATING_POINT, VECTOR, VECTOR_SCALAR

_PREFIX_LOAD = "1:6 {0}:2 0:1 /:2 R:1 /:2 d0:18 "
_PREFIX_VECTOR = "1:6 1:2 0:4 /:4 "
_XX4 = "T:5 A:5 B:5 C:5 {1}:2 CX:1 AX:1 BX:1 TX:1"

_DIAGRAMS: Mapping[str, str] = MappingProxyType(
    {
        "I": "{0}:6 LI:24 {1}:1 {2}:1",
        "B": "{0}:6 BO:5 BI:5 BD:14 {1}:1 {2}:1",
        "XLB": "{0}:6 BO:5 BI:5 /:3 BH:2 {1}:10 {2}:1",
        "XLM": "{0}:6 BF:3 /:2 BFA:3 /:7 {1}:10 /:1",
        "XL": "{0}:6 BT:5 BA:5 BB:5 {1}:10 /:1",
        "XL0": "{0}:6 /:15 {1}:10 /:1",
        "D": "{0}:6 RT:5 RA:5 D:16",
        "DC": "{0}:6 BF:3 /:1 L:1 RA:5 D:16",
        "DXF": "{0}:6 RT:5 d1:5 d0:10 {1}:5 d2:1",
        "XO": "{0}:6 RT:5 RA:5 RB:5 0:1 {1}:9 Rc:1",
        "XOA": "{0}:6 RT:5 RA:5 /:5 0:1 {1}:9 Rc:1",
        "X": "{0}:6 RT:5 RA:5 RB:5 {1}:10 /:1",
        "X.": "{0}:6 RT:5 RA:5 RB:5 {1}:10 Rc:1",
        "X1": "{0}:6 RT:5 RA:5 /:5 {1}:10 /:1",
        "X1.": "{0}:6 RT:5 RA:5 /:5 {1}:10 Rc:1",
        "X5.": "{0}:6 RT:5 RA:5 SH5:5 {1}:10 Rc:1",
        "XS": "{0}:6 RT:5 RA:5 sh0:5 {1}:9 sh1:1 Rc:1",
        "VA": "{0}:6 RT:5 RA:5 RB:5 RC:5 {1}:6",
        "VAS": "{0}:6 RT:5 RA:5 RB:5 /:1 SHB:4 {1}:6",
        "XC": "{0}:6 BF:3 /:1 L:1 RA:5 RB:5 {1}:10 /:1",
        "A": "{0}:6 RT:5 RA:5 RB:5 BC:5 {1}:5 /:1",
        "XBFA": "{0}:6 RT:5 BFA:3 /:7 {1}:10 /:1",
        "XBI": "{0}:6 RT:5 BI:5 /:5 {1}:10 /:1",
        "XBF": "{0}:6 BF:3 /:12 {1}:10 /:1",
        "M": "{0}:6 RT:5 RA:5 SH5:5 MB5:5 ME5:5 Rc:1",
        "MR": "{0}:6 RT:5 RA:5 RB:5 MB5:5 ME5:5 Rc:1",
        "MD": "{0}:6 RT:5 RA:5 sh0:5 mb0:5 mb1:1 {1}:3 sh1:1 Rc:1",
        "MDS": "{0}:6 RT:5 RA:5 RB:5 mb0:5 mb1:1 {1}:4 Rc:1",
        "XFX": "{0}:6 RT:5 spr0:5 spr1:5 {1}:10 /:1",
        "XFC": "{0}:6 RT:5 0:1 /:9 {1}:10 /:1",
        "XFM": "{0}:6 RT:5 {2}:1 FXM:8 /:1 {1}:10 /:1",
        "DS": "{0}:6 RT:5 RA:5 DS:14 {1}:2",
        "DQX": "{0}:6 T:5 RA:5 DQ:12 TX:1 {1}:3",
        "DQP": "{0}:6 T:4 TX:1 RA:5 DQ:12 {1}:4",
        "XX1": "{0}:6 T:5 RA:5 RB:5 {1}:10 TX:1",
        "XX1L": "{0}:6 T:5 RA:5 RB:5 {1}:4 /:1 {2}:5 TX:1",
        "XX1R": "{0}:6 T:5 RA:5 /:5 {1}:10 TX:1",
        "XP": "{0}:6 T:4 TX:1 RA:5 RB:5 {1}:10 /:1",
        "XTH": "{0}:6 TH:5 RA:5 RB:5 {1}:10 /:1",
        "X00": "{0}:6 /:5 RA:5 RB:5 {1}:10 /:1",
        "X000": "{0}:6 /:15 {1}:10 /:1",
        "XSYNC": "{0}:6 /:2 L3:3 /:3 SC:2 /:5 {1}:10 /:1",
        "MLS": _PREFIX_LOAD + "{1}:6 RT:5 RA:5 d1:16",
        "PLXV": _PREFIX_LOAD.replace("{0}", "0") + "{0}:5 TX:1 T:5 RA:5 d1:16",
        "PLXVP": _PREFIX_LOAD.replace("{0}", "0") + "{0}:6 T:4 TX:1 RA:5 d1:16",
        "AS": "{0}:6 RT:5 RA:5 RB:5 /:5 {1}:5 /:1",
        "AM": "{0}:6 RT:5 RA:5 /:5 RC:5 {1}:5 /:1",
        "AF": "{0}:6 RT:5 RA:5 RB:5 RC:5 {1}:5 /:1",
        "FB": "{0}:6 RT:5 /:5 RB:5 /:5 {1}:5 /:1",
        "FX": "{0}:6 RT:5 /:5 RB:5 {1}:10 /:1",
        "FX3": "{0}:6 RT:5 RA:5 RB:5 {1}:10 /:1",
        "FC": "{0}:6 BF:3 /:2 RA:5 RB:5 {1}:10 /:1",
        "VX": "4:6 RT:5 RA:5 RB:5 {0}:11",
        "VX1": "4:6 RT:5 /:5 RB:5 {0}:11",
        "VC": "4:6 RT:5 RA:5 RB:5 Rc:1 {0}:10",
        "VXM": "4:6 RT:5 d1:5 d0:10 {0}:5 d2:1",
        "VXD": "4:6 RT:5 RA:5 RB:5 {0}:2 SH3:3 {1}:6",
        "VXE": "4:6 RT:5 {1}:5 RB:5 {0}:11",
        "VXU4": "4:6 RT:5 /:1 UIM4:4 RB:5 {0}:11",
        "VXU5": "4:6 RT:5 UIM5:5 RB:5 {0}:11",
        "VXU3": "4:6 RT:5 /:2 UIM3:3 RB:5 {0}:11",
        "VXU2": "4:6 RT:5 /:3 UIM2:2 RB:5 {0}:11",
        "VXS": "4:6 RT:5 SIM:5 /:5 {0}:11",
        "XX2": "60:6 T:5 /:5 B:5 {0}:9 BX:1 TX:1",
        "XX2E": "60:6 T:5 {1}:5 B:5 {0}:9 BX:1 TX:1",
        "XX2U2": "60:6 T:5 /:3 UIM2:2 B:5 {0}:9 BX:1 TX:1",
        "XX2U4": "60:6 T:5 /:1 UIM4:4 B:5 {0}:9 BX:1 TX:1",
        "XX3": "60:6 T:5 A:5 B:5 {0}:8 AX:1 BX:1 TX:1",
        "XX3.": "60:6 T:5 A:5 B:5 Rc:1 {0}:7 AX:1 BX:1 TX:1",
        "XX3C": "60:6 BF:3 /:2 A:5 B:5 {0}:8 AX:1 BX:1 /:1",
        "XX3D": "60:6 T:5 A:5 B:5 0:1 DM:2 {0}:5 AX:1 BX:1 TX:1",
        "XX3W": "60:6 T:5 A:5 B:5 0:1 SHW:2 {0}:5 AX:1 BX:1 TX:1",
        "XX4": "60:6 T:5 A:5 B:5 C:5 {0}:2 CX:1 AX:1 BX:1 TX:1",
        "XX1K": "60:6 T:5 31:5 UIM5:5 {0}:10 TX:1",
        "XI8": "60:6 T:5 0:2 IMM8:8 {0}:10 TX:1",
        "P8": _PREFIX_VECTOR + "imm0:16 32:6 T:5 {1}:4 TX:1 imm1:16",
        "P8X": _PREFIX_VECTOR + "imm0:16 32:6 T:5 0:3 IX:1 TX:1 imm1:16",
        "P8XX4": _PREFIX_VECTOR + "/:16 {0}:6 " + _XX4,
        "P8XX4E": _PREFIX_VECTOR + "/:8 IMM:8 {0}:6 " + _XX4,
        "P8XX4P": _PREFIX_VECTOR + "/:13 UIM3P:3 {0}:6 " + _XX4,
    }
)
"""The manual's diagrams of the forms' bits, by a name for the form."""


class Operand(NamedTuple):
    """The operand in the text that some fields encode.

    Attributes
    ----------
    name : str
        The manual's.
    fields : tuple of str
        Most significant first.
    register : str
        How registers are called, empty for numbers.
    signed : bool
        Whether it is a number with a sign.
    scale : int
        A number is this times what the fields hold.
    either : bool
        Whether assemblers take its bits with a sign and without, as GNU as does.
    """

    name: str
    fields: tuple[str, ...]
    register: str = ""
    signed: bool = False
    scale: int = 1
    either: bool = False


def _operands() -> Mapping[str, Operand]:
    found: dict[str, Operand] = {}
    for names, field, register in (
        ("RT RS FRT FRS VRT VRS", "RT", ""), ("RA FRA VRA RA0", "RA", ""), ("RB FRB VRB", "RB", ""),
        ("RC FRC VRC", "RC", ""),
    ):  # fmt: skip
        for name in names.split():
            kind = {"R": "r", "F": "f", "V": "v"}[name[0]]
            found[name] = Operand(name, (field,), register or kind)
    for name, parts in {"XT": ("TX", "T"), "XS": ("TX", "T"), "XA": ("AX", "A"), "XB": ("BX", "B"),
                        "XC": ("CX", "C")}.items():  # fmt: skip
        found[name] = Operand(name, parts, "vs")
    for name in ("XTp", "XSp"):
        found[name] = Operand(name, ("TX", "T"), "vs", scale=2)
    for name in ("BF", "BFA"):
        found[name] = Operand(name, (name,), "cr")
    found |= {
        "SI": Operand("SI", ("D",), signed=True),
        "UI": Operand("UI", ("D",)),
        "D": Operand("D", ("D",), signed=True),
        "DS": Operand("DS", ("DS",), signed=True, scale=4),
        "DQ": Operand("DQ", ("DQ",), signed=True, scale=16),
        "SI16": Operand("SI", ("D",), signed=True, either=True),
        "UI16": Operand("UI", ("D",), either=True),
        "DX": Operand("DX", ("d0", "d1", "d2"), signed=True, either=True),
        "D34": Operand("D34", ("d0", "d1"), signed=True),
        "SI34": Operand("SI34", ("d0", "d1"), signed=True),
        "IMM8": Operand("IMM8", ("IMM8",), either=True),
        "IMM32": Operand("IMM32", ("imm0", "imm1"), either=True),
        "LI": Operand("LI", ("LI",), signed=True, scale=4),
        "BD": Operand("BD", ("BD",), signed=True, scale=4),
        "SH6": Operand("SH6", ("sh1", "sh0")),
        "MB6": Operand("MB6", ("mb1", "mb0")),
        "SPR": Operand("SPR", ("spr1", "spr0")),
        "SIM": Operand("SIM", ("SIM",), signed=True),
    }
    return found


_OPERANDS = _operands()
TARGETS = ("LI", "BD")
"""Operands that are distances of branches."""


class _Part(NamedTuple):
    position: int
    ones: int
    shift: int


@dataclass(frozen=True)
class Form:
    """An instruction form.

    Attributes
    ----------
    mnemonic : str
        Its name, with a period where it records its result in CR0.
    syntax : str
        Names of operands as the text has them, with commas and parentheses.
    operands : tuple of Operand
        In the order of the text.
    fields : tuple of Field
        All bits.
    specified : SpecifiedForm, optional
        The specification's own form.
    """

    mnemonic: str
    syntax: str
    operands: tuple[Operand, ...]
    fields: tuple[Field, ...]
    specified: SpecifiedForm | None = None

    @property
    def size(self) -> int:
        """Bits: 32 or 64."""
        return self.fields[-1].first + self.fields[-1].width

    def _position(self, field: Field) -> int:
        return self.size - field.first - field.width

    @cached_property
    def mask(self) -> int:
        """The bits that are the same in every instruction of the form."""
        return sum(((1 << f.width) - 1) << self._position(f) for f in self.fields if f.fixed is not None)

    @cached_property
    def match(self) -> int:
        """Their values."""
        return sum((f.fixed or 0) << self._position(f) for f in self.fields)

    @cached_property
    def parts(self) -> tuple[tuple[_Part, ...], ...]:
        """Where each operand's bits are: of each field its position, its ones, and the place in the value."""
        by_name = {field.name: field for field in self.fields}
        found = []
        for operand in self.operands:
            parts, shift = [], 0
            for name in reversed(operand.fields):
                field = by_name[name]
                parts.append(_Part(self._position(field), (1 << field.width) - 1, shift))
                shift += field.width
            found.append(tuple(parts))
        return tuple(found)

    def width(self, index: int) -> int:
        """Return how many bits the fields of an operand have."""
        last = self.parts[index][-1]
        return last.shift + last.ones.bit_length()

    def values(self, word: int) -> tuple[int, ...]:
        """Return the operands of an instruction's bits."""
        found = []
        for index, operand in enumerate(self.operands):
            value = sum(((word >> p.position) & p.ones) << p.shift for p in self.parts[index])
            width = self.width(index)
            if operand.signed and value >> (width - 1):
                value -= 1 << width
            found.append(value * operand.scale)
        return tuple(found)

    def encode(self, values: Sequence[int]) -> int:
        """Return the bits of an instruction.

        Raises
        ------
        ValueError
            If an operand does not fit; the message says which, and what fits.
        """
        word = self.match
        for index, (operand, value) in enumerate(zip(self.operands, values, strict=True)):
            width = self.width(index)
            least = -(1 << (width - 1)) if operand.signed or operand.either else 0
            most = (1 << (width - (operand.signed and not operand.either))) - 1
            held, rest = divmod(value, operand.scale)
            if rest or not least <= held <= most:
                steps = f" in steps of {operand.scale}" if operand.scale > 1 else ""
                low, high = least * operand.scale, most * operand.scale
                raise ValueError(f"{operand.name} must be {low} to {high}{steps}, not {value}")
            for part in self.parts[index]:
                word |= ((held >> part.shift) & part.ones) << part.position
        return word


@dataclass(frozen=True)
class Instruction:
    """A decoded instruction.

    Attributes
    ----------
    form : Form
        Of what kind.
    values : tuple of int
        Its operands, in the order of the text; distances of branches in bytes.
    """

    form: Form
    values: tuple[int, ...]

    @property
    def mnemonic(self) -> str:
        """Its name."""
        return self.form.mnemonic

    @property
    def size(self) -> int:
        """Bytes."""
        return self.form.size // 8

    def text(self, address: int | None = None) -> str:
        """Return it as GNU as reads it; distances of branches from an address, or from ``.``."""
        if not self.form.operands:
            return self.mnemonic
        words = iter(self._spelled(each, value, address) for each, value in self.pairs)
        return f"{self.mnemonic} " + re.sub(r"[A-Za-z]\w*", lambda _: next(words), self.form.syntax)

    @property
    def pairs(self) -> zip[tuple[Operand, int]]:
        """Its operands, each with its value."""
        return zip(self.form.operands, self.values, strict=True)

    @staticmethod
    def _spelled(operand: Operand, value: int, address: int | None) -> str:
        if operand.name in TARGETS:
            return f".{value:+d}" if address is None else f"{(address + value) & (1 << 64) - 1:#x}"
        if operand.name == "RA0" and value == 0:
            return "0"
        return f"{operand.register}{value}"

    def __str__(self) -> str:
        return self.text()


def _rows(table: str) -> list[Form]:
    found = []
    for line in table.strip().splitlines():
        left, right = line.split(" = ")
        mnemonic, _, syntax = left.partition(" ")
        name, *numbers = right.split()
        diagram = _DIAGRAMS[name].format(*numbers)
        operands = tuple(
            _OPERANDS.get(each) or Operand(each, (each,)) for each in re.findall(r"[A-Za-z]\w*", syntax)
        )
        plain = mnemonic.removesuffix("[.]")
        found.append(Form(plain, syntax, operands, fields(diagram.replace("Rc:1", "0:1"))))
        if plain != mnemonic:
            found.append(Form(f"{plain}.", syntax, operands, fields(diagram.replace("Rc:1", "1:1"))))
    return found


_SPECIFIED_REGISTERS = {"AT": "a", "AS": "a"}
_SPECIFIED_FIELDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"XA": ("AX", "A"), "XAp": ("AX", "Ap"), "XB": ("BX", "B")}
)


def _specified() -> list[Form]:
    """Return the forms of the Matrix-Multiply Assist, as the specification encodes them."""
    found = []
    for form, layout in LAYOUTS.items():
        if not isinstance(form.operation, RankKUpdate | Move):
            continue
        operands = tuple(
            Operand(
                operand.name,
                _SPECIFIED_FIELDS.get(operand.name, (operand.name,)),
                _SPECIFIED_REGISTERS.get(operand.name, "vs" if operand.name in _SPECIFIED_FIELDS else ""),
                scale=2 if operand.name == "XAp" else 1,
            )
            for operand in form.operands
        )
        syntax = ",".join(operand.name for operand in operands)
        found.append(Form(form.mnemonic, syntax, operands, layout.fields, form))
    return found


@cache
def forms() -> Mapping[str, Form]:
    """Return every form by its mnemonic."""
    tables = (BRANCHES, FIXED_POINT, STORAGE, FLOATING_POINT, VECTOR, VECTOR_SCALAR)
    every = [form for table in tables for form in _rows(table)] + _specified()
    found = {form.mnemonic: form for form in every}
    if len(found) != len(every):
        raise AssertionError("a mnemonic has two rows")
    return MappingProxyType(found)


@cache
def _by_opcode() -> Mapping[tuple[int, int], tuple[Form, ...]]:
    found: dict[tuple[int, int], list[Form]] = defaultdict(list)
    for form in forms().values():
        mask, match = form.mask >> 26 & 63, form.match >> 26 & 63
        for opcode in range(64):
            if opcode & mask == match:
                found[form.size, opcode].append(form)
    return {key: tuple(some) for key, some in found.items()}


@cache
def decode_word(word: int) -> Instruction | None:
    """Return the instruction of a word that is no prefix; None if there is none known here."""
    for form in _by_opcode().get((32, word >> 26), ()):
        if word & form.mask == form.match:
            return Instruction(form, form.values(word))
    return None


@cache
def decode_prefixed(prefix: int, suffix: int) -> Instruction | None:
    """Return the instruction of a prefix and its suffix; None if there is none known here."""
    word = prefix << 32 | suffix
    for form in _by_opcode().get((64, suffix >> 26), ()):
        if word & form.mask == form.match:
            return Instruction(form, form.values(word))
    return None


def is_prefix(word: int) -> bool:
    """Tell whether a word is the first half of an instruction."""
    return word >> 26 == PREFIX_OPCODE


def mnemonics(table: str) -> Iterator[str]:
    """Yield the mnemonics of a table of forms."""
    for form in _rows(table):
        yield form.mnemonic
