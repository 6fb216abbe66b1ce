"""Assembly text to instructions; ``str(instruction)`` is the way back.

The modifiers may stand in any order, as ptxas takes them: they are a set, but for the element types and
the layouts, which keep theirs, and ``.popc``, which follows its operation. The parser takes any operands
and any known modifier: whether they are right is for `legality` to say.

Source: PTX ISA 9.1 chapters 4 (syntax) and 9.7.14; the orders were tried on ptxas of CUDA 13.0.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Any, NoReturn

from ..errors import InputError
from .catalogue import forms
from .constant_expressions import CAST, OPERATOR, WARP_SIZE, compiled
from .instructions import Instruction
from .mma_forms import KINDS, ROUNDINGS
from .operands import (
    Address,
    Constant,
    Decimal,
    HexFloat,
    Integer,
    Negated,
    Operand,
    Predicate,
    Register,
    Scalar,
    Sink,
    Vector,
)
from .special_registers import PREDEFINED
from .variant import SPARSE, WARPGROUP_ORDER, Family, Shape, Variant

_OPCODES: Mapping[str, tuple[Family, str | None]] = MappingProxyType(
    {
        "mma": (Family.MMA, None),
        "wmma.mma": (Family.WMMA_MMA, None),
        **{f"wmma.load.{role}": (Family.WMMA_LOAD, role) for role in "abc"},
        "wmma.store.d": (Family.WMMA_STORE, "d"),
        **{family.value: (family, None) for family in (Family.LDMATRIX, Family.STMATRIX, Family.MOVMATRIX)},
        **{family.value: (family, None) for family in (Family.WGMMA, *WARPGROUP_ORDER)},
    }
)
KNOWN = ", ".join(_OPCODES)
"""The instructions, without modifiers."""

_NOT_MODELLED = ("tcgen05", "dp2a", "dp4a", "nvgpu", "nvvm")
"""Other products of PTX, and MLIR's names of its instructions: messages about them are PTX's."""

WORDS = frozenset({*(opcode.partition(".")[0] for opcode in _OPCODES), *_NOT_MODELLED})
"""How instructions begin, up to a dot or an underscore."""

_FLAGS = ("sync", "aligned", "satfinite", "trans", "popc", "block_scale")
_TYPES = (
    *(f"{sort}{bits}" for sort in "bus" for bits in (8, 16, 32, 64)), "b128", "f16", "f16x2", "bf16",
    "bf16x2", "tf32", "f32", "f64", "e4m3", "e5m2", "e3m2", "e2m3", "e2m1", "ue8m0", "ue4m3", "s4", "u4",
    "b1", "b8x16", "b6x16_p32", "b4x16_p64",
)  # fmt: skip
_SPACES = ("global", "shared", "shared::cta", "shared::cluster", "local", "const", "param")

_LISTED = ("types", "layouts")

_MODIFIERS: Mapping[str, tuple[str, Any]] = MappingProxyType(
    {
        **{flag: (flag, True) for flag in _FLAGS},
        **{name: ("types", name) for name in _TYPES},
        **{name: ("layouts", name) for name in ("row", "col")},
        **{f"kind::{kind}": ("kind", kind) for kind in (*KINDS, "f16", "tf32", "i8")},
        **{f"scale_vec::{size}": ("scale_vec", size) for size in ("1X", "2X", "4X")},
        **{size: ("scale_vec", size) for size in ("block16", "block32")},
        **{rounding: ("rounding", rounding) for rounding in (*ROUNDINGS, "rna")},
        **{operation: ("bit_operation", operation) for operation in ("xor", "and", "or")},
        **{f"x{count}": ("count", f"x{count}") for count in (1, 2, 4, 8, 16, 32, 64, 128)},
        **{space: ("space", space) for space in _SPACES},
        "sp": ("sp", False),
        "sp::ordered_metadata": ("sp", True),
    }
)
"""Every modifier that PTX has for matrix instructions, and what it sets; shapes come besides."""

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_GUARD = re.compile(r"\s*@\s*(!?)\s*([A-Za-z_$%][\w$]*)\s", re.ASCII)
_MNEMONIC = re.compile(r"\s*([A-Za-z_]\w*(?:\s*\.(?:\w|::)+)*)", re.ASCII)
_SPACE = r"(?:\s|//[^\n]*|/\*(?:[^*]|\*(?!/))*\*/)"
_FIRST_WORD = re.compile(rf"{_SPACE}*(?:@{_SPACE}*(?:!{_SPACE}*)?[\w$%]+{_SPACE}+)?([A-Za-z0-9]+)", re.ASCII)
_SHAPE_LIKE = re.compile(r"m\d+n\d+(k\d+)?", re.ASCII)
_TOKEN = re.compile(
    r"""\s*(?:
    (?P<float>0[fF][0-9a-fA-F]{8}|0[dD][0-9a-fA-F]{16})(?!\w)
    |(?P<decimal>\d{1,40}\.\d{0,40}(?:[eE][+-]?\d{1,4})?|\d{1,40}[eE][+-]?\d{1,4})(?!\w)
    |(?P<integer>(?:0[xX][0-9a-fA-F]{1,16}|0[bB][01]{1,64}|0[0-7]{1,22}|[1-9]\d{0,19}|0)U?)(?!\w)
    |(?P<sink>_)(?![\w$])
    |(?P<name>(?:[A-Za-z_$]|%[\w$])[\w$]*(?:\.[xyzw](?!\w))?)
    |(?P<operator>"""
    + f"{CAST}|{OPERATOR}"
    + r"""|[!()])
    |(?P<mark>[{}\[\],;])
    )""",
    re.VERBOSE | re.ASCII,
)
_INTEGER_LIMIT = 1 << 64


def first_word(text: str) -> str:
    """Return how the name begins, in lower case, or what stands in its place."""
    match = _FIRST_WORD.match(text)
    return match[1].lower() if match else ""


def parse(text: str, declarations: Mapping[str, str] | None = None, where: str | None = None) -> Instruction:
    """Read one instruction, with or without operands.

    Parameters
    ----------
    text : str
        The instruction; comments, a guard and a final semicolon are accepted.
    declarations : mapping of str to str, optional
        Types of registers by name, such as ``{"r1": "b32"}``; of variables their state space,
        ``{"tile": ".shared"}``; those of others are not known. `Declarations` knows all there are.
    where : str, optional
        Where the text stands, for error messages.

    Raises
    ------
    InputError
        If the text is not an instruction; it names what is wrong and what is allowed there.
    """
    try:
        return _parse(_COMMENT.sub(" ", text), declarations or PREDEFINED)
    except InputError as error:
        raise InputError(str(error), where) from None


def _parse(text: str, declarations: Mapping[str, str]) -> Instruction:
    predicate = None
    if guard := _GUARD.match(text):
        predicate = Predicate(guard[2], bool(guard[1]), declarations.get(guard[2]))
        text = text[guard.end() :]
    mnemonic = _MNEMONIC.match(text)
    if mnemonic is None:
        raise InputError(
            f"an instruction is expected, such as 'mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32', "
            f"not {_quoted(text)}"
        )
    name = re.sub(r"\s+", "", mnemonic[1], flags=re.ASCII)
    variant = parse_mnemonic(name)
    if not mnemonic[1].startswith(_opcode(name)):
        raise InputError(f"{_opcode(name)!r} is one word: no white space may stand in it")
    operands = _Operands(text[mnemonic.end() :], declarations).parse()
    return Instruction(variant, operands, predicate)


def read_operand(text: str, declarations: Mapping[str, str]) -> Operand:
    """Read one operand.

    Raises
    ------
    InputError
        If the text is none, or more than one.
    """
    operands = _Operands(text, declarations).parse()
    if operands is None or len(operands) != 1:
        raise InputError(f"one operand is expected, not {_quoted(text)}")
    return operands[0]


@lru_cache(maxsize=4096)
def parse_mnemonic(text: str) -> Variant:
    """Read an instruction's name with its modifiers, without white space.

    Raises
    ------
    InputError
        If the name or a modifier is not known, or a modifier is repeated.
    """
    opcode = _opcode(text)
    modifiers = text.split(".")[opcode.count(".") + 1 :]
    if opcode not in _OPCODES:
        raise InputError(f"unknown instruction {_quoted(opcode)}; known: {KNOWN}")
    family, role = _OPCODES[opcode]
    fields: dict[str, Any] = {"sync": False, "aligned": False}
    listed: dict[str, list[str]] = {name: [] for name in _LISTED}
    for modifier in modifiers:
        slot, value = _modifier(modifier, opcode, family)
        if slot in _LISTED:
            listed[slot].append(value)
        elif fields.get(slot, False) is not False or (slot == "sp" and slot in fields):
            raise InputError(
                f"{opcode}: {_quoted('.' + modifier)} repeats a modifier; only one of its kind is allowed"
            )
        elif slot == "popc" and "bit_operation" not in fields:
            raise InputError(f"{opcode}: '.popc' must follow '.xor' or '.and'")
        else:
            fields[slot] = value
    if "sp" in fields:
        fields["ordered_metadata"] = fields.pop("sp")
        family = SPARSE[family]
    return Variant(
        family, types=tuple(listed["types"]), layouts=tuple(listed["layouts"]), role=role, **fields
    )


def _opcode(name: str) -> str:
    """Return the part of a name that is no modifier: `wmma` with what it does, and to which role."""
    words = name.split(".")
    if words[0] == "wgmma":
        return ".".join(words[:2])
    if words[0] != "wmma":
        return words[0]
    return ".".join(words[: 2 if words[1:2] == ["mma"] else 3])


def _modifier(modifier: str, opcode: str, family: Family) -> tuple[str, Any]:
    """Return the field a modifier sets, and the value."""
    if _SHAPE_LIKE.fullmatch(modifier):
        return "shape", Shape.parse(modifier)
    slot = _MODIFIERS.get(modifier)
    if slot is None or (slot[0] == "sp" and family not in SPARSE):
        _unknown(modifier, opcode, family)
    return slot


def _unknown(modifier: str, opcode: str, family: Family) -> NoReturn:
    candidates = _allowed(family)
    prefix = re.match(r"kind::|scale_vec::|sp::|m(?=\d)", modifier)
    similar = [name for name in candidates if prefix and name.startswith(prefix[0])]
    close = difflib.get_close_matches(modifier[:40], candidates, n=3, cutoff=0.6)
    listed = ", ".join(f".{name}" for name in similar or candidates if similar or not name.startswith("m"))
    hint = f"did you mean {' or '.join('.' + name for name in close)}? " if close else ""
    raise InputError(f"{opcode}: unknown modifier {_quoted('.' + modifier)}; {hint}allowed: {listed}")


@cache
def _allowed(family: Family) -> tuple[str, ...]:
    """Return every modifier that some legal variant of an instruction has."""
    families = (family, *((SPARSE[family],) if family in SPARSE else ()))
    spellings = dict.fromkeys(
        modifier
        for each in families
        for form in forms(each)
        for variant in form.variants()
        if variant.family is each
        for modifier in str(variant).removeprefix(variant.opcode).split(".")[1:]
    )
    sparse = {"sp": None, "sp::ordered_metadata": None} if family in SPARSE else {}
    return tuple(name for name in {**sparse, **spellings} if name)


class _Operands:
    """A parser of the text behind the mnemonic."""

    def __init__(self, text: str, declarations: Mapping[str, str]) -> None:
        self._text = text
        self._declarations = declarations
        self._tokens = self._tokenize()
        self._next()

    def _tokenize(self) -> Iterator[tuple[str, str]]:
        position, end = 0, len(self._text.rstrip())
        while position < end:
            token = _TOKEN.match(self._text, position)
            if token is None:
                raise InputError(
                    f"an operand can't begin with {_quoted(self._text[position:])}; "
                    "allowed: registers, {vectors}, [addresses], constants"
                )
            assert token.lastgroup is not None
            yield token.lastgroup, token[token.lastgroup]
            position = token.end()
        yield "end", ""

    def _next(self) -> None:
        self._kind, self._value = next(self._tokens)

    def _take(self, mark: str) -> bool:
        if self._kind == "mark" and self._value == mark:
            self._next()
            return True
        return False

    def _expect(self, mark: str) -> None:
        if not self._take(mark):
            self._fail(f"{mark!r}")

    def _fail(self, expected: str) -> NoReturn:
        found = _quoted(self._value) if self._value else "the end"
        raise InputError(f"expected {expected}, not {found}")

    def parse(self) -> tuple[Operand, ...] | None:
        """Return the operands, None if there are none."""
        operands: list[Operand] = []
        if self._kind != "end" and (self._kind, self._value) != ("mark", ";"):
            operands.append(self._operand())
            while self._take(","):
                operands.append(self._operand())
        self._take(";")
        if self._kind != "end":
            self._fail("',' or the end of the instruction")
        return tuple(operands) or None

    def _operand(self) -> Operand:
        if (self._kind, self._value) == ("operator", "!"):
            self._next()
            named = self._kind == "name" and self._value != "WARP_SZ"
            return Negated(self._register()) if named else self._expression("!")
        if self._take("{"):
            elements = [self._scalar()]
            while self._take(","):
                elements.append(self._scalar())
            self._expect("}")
            return Vector(tuple(elements))
        if self._take("["):
            base = self._scalar()
            if not isinstance(base, Register | Integer):
                raise InputError(
                    f"an address must begin with a register or variable, not {_quoted(str(base))}"
                )
            offset = 0
            if (self._kind, self._value) == ("operator", "+") and isinstance(base, Register):
                self._next()
                displacement = self._expression()
                if not isinstance(displacement, Integer):
                    raise InputError(
                        f"an address offset must be an integer, not {_quoted(str(displacement))}"
                    )
                offset = displacement.value
            self._expect("]")
            return Address(base, offset)
        return self._scalar()

    def _scalar(self) -> Scalar:
        if self._kind == "name" and self._value != "WARP_SZ":
            return self._register()
        if self._kind == "sink":
            self._next()
            return Sink()
        return self._expression()

    def _register(self) -> Register:
        name = self._value
        self._next()
        return Register(name, self._declarations.get(name))

    def _expression(self, *before: str) -> Constant:
        """Read a number, or a constant expression, the first tokens of which may have been read."""
        tokens: list[str | None] = [*before]
        numbers: list[Constant] = []
        while (self._kind in _NUMBERS or self._value == "WARP_SZ") or self._kind == "operator":
            if self._kind == "operator":
                tokens.append(self._value)
            else:
                tokens.append(None)
                numbers.append(self._number())
            self._next()
        if not numbers:
            self._fail("a number" if tokens else "a register, '_' or a constant")
        return compiled(tokens)(numbers)

    def _number(self) -> Constant:
        text = self._value
        match self._kind:
            case "integer":
                return _integer(text)
            case "decimal":
                return Decimal(text)
            case "float":
                return HexFloat(int(text[2:], 16), 32 if text[1] in "fF" else 64)
            case _:
                return WARP_SIZE


_NUMBERS = ("integer", "decimal", "float")


def _integer(text: str) -> Integer:
    digits = text.removesuffix("U")
    octal = len(digits) > 1 and digits[0] == "0" and digits[1].isdigit()
    value = int(digits, 8) if octal else int(digits, 0)
    if value >= _INTEGER_LIMIT:
        raise InputError(f"an integer constant must fit 64 bits, unlike {_quoted(text)}")
    return Integer(value, unsigned=digits != text or value >> 63 == 1)


def _quoted(text: str, length: int = 60) -> str:
    """Quote text for a message of one line."""
    text = text.strip()
    return repr(text if len(text) <= length else text[: length - 1] + "…")
