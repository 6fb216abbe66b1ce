"""Assembly text to instructions; ``str(instruction)`` is the way back.

Accepted are the spellings of GNU as and objdump (``xvf64gerpp a4,vs44,vs40``, with or without ``%``), of
llvm-mc (``xvf64gerpp 4, 44, 40``), accumulators as ``acc4``, the ``dm`` aliases that objdump prints since
binutils 2.40, and a mnemonic alone. A number that starts with 0 is refused: GNU as reads it as octal.

The parser takes any number: whether it is allowed is for `legality` to say.
"""

from __future__ import annotations

import difflib
import re
from types import MappingProxyType
from typing import NoReturn

from ..errors import InputError
from .catalogue import FAMILIES, Move, RankKUpdate
from .forms import FORMS, REGISTER_NAMES, Form, Kind, Operand
from .instructions import ADDRESS_BITS, Instruction


def _alias(form: Form) -> str | None:
    """Return the dense-math name binutils gives an accumulator instruction."""
    match form.operation:
        case RankKUpdate():
            return "pm" * form.prefixed + "dm" + form.operation.mnemonic
        case Move.XXSETACCZ:
            return "dmsetaccz"
        case Move():
            return "dm" + form.mnemonic
        case _:
            return None


ALIASES = MappingProxyType({alias: form for form in FORMS.values() if (alias := _alias(form))})
"""Forms by their ``dm`` alias."""

_SPELLINGS = {**FORMS, **ALIASES}

KNOWN = ", ".join(
    [f"[pm]{family.name}*" for family in FAMILIES]
    + [form.mnemonic for form in FORMS.values() if form.update is None]
)

"""The mnemonics, shortly."""

WORDS = frozenset(_SPELLINGS)
"""How instructions begin."""

_FIRST_WORD = re.compile(r"\s*(\w+)", re.ASCII)

_OPERAND = re.compile(r"[^,()]+")
_NUMBER = r"-?(?:0x[0-9a-f]{1,16}|0b[01]{1,64}|0|[1-9][0-9]{0,18})"
_REGISTER = re.compile(rf"%?([a-z]+)(-?(?:0|[1-9][0-9]{{0,18}}))|({_NUMBER})", re.IGNORECASE | re.ASCII)
_DISTANCE = re.compile(rf"\.(?:\+?({_NUMBER}))?", re.IGNORECASE | re.ASCII)
_ADDRESS = re.compile(r"(?:0x)?([0-9a-f]{1,16})", re.IGNORECASE | re.ASCII)


def first_word(text: str) -> str:
    """Return the mnemonic, in lower case, or what stands in its place."""
    match = _FIRST_WORD.match(text)
    return match[1].lower() if match else ""


def parse(text: str, where: str | None = None, address: int | None = None) -> Instruction:
    """Read one instruction, with or without operands.

    Parameters
    ----------
    text : str
        The instruction; a comment from ``#`` on is ignored.
    where : str, optional
        Where the text stands, for error messages.
    address : int, optional
        Where the instruction stands; an absolute branch target needs it.

    Raises
    ------
    InputError
        If the text is not an instruction; it names the operand that is wrong and what is allowed.
    """
    try:
        return _parse(text.partition("#")[0], address)
    except InputError as error:
        raise InputError(str(error), where) from None


def _parse(text: str, address: int | None) -> Instruction:
    words = text.split(maxsplit=1)
    if not words:
        raise InputError("an instruction is expected, such as 'xvf32gerpp a0,vs34,vs35', not an empty line")
    form = _form(words[0].lower())
    if len(words) == 1:
        return Instruction(form)
    listed = words[1].strip()
    texts = _OPERAND.findall(listed)
    # A rank-k update may come with any number of masks: too few or too many is a matter of legality.
    expected = ",".join("_" * len(texts)) if form.update else _OPERAND.sub("_", form.syntax)
    if _OPERAND.sub("_", listed) != expected:
        raise InputError(f"{form.mnemonic} takes {form.syntax}, not {listed!r}")
    surplus = [Operand("mask", Kind.MASK, 0)] * (len(texts) - len(form.operands))
    operands = zip([*form.operands, *surplus], texts, strict=False)
    return Instruction(
        form, tuple(_value(form, operand, word.strip(), address) for operand, word in operands)
    )


def _form(mnemonic: str) -> Form:
    try:
        return _SPELLINGS[mnemonic]
    except KeyError:
        close = difflib.get_close_matches(mnemonic[:40], _SPELLINGS, n=3, cutoff=0.7)
        hint = f"did you mean {' or '.join(close)}?" if close else f"known are {KNOWN}"
        raise InputError(f"unknown mnemonic {mnemonic!r}; {hint}") from None


def _value(form: Form, operand: Operand, word: str, address: int | None) -> int:
    def fail(allowed: str) -> NoReturn:
        raise InputError(f"{form.mnemonic}: {operand.name} must be {allowed}, not {word!r}")

    if operand.kind is Kind.TARGET:
        if distance := _DISTANCE.fullmatch(word):
            return int(distance[1] or "0", 0)
        if address is None:
            fail("a distance such as .-64")
        if absolute := _ADDRESS.fullmatch(word):
            return _signed_distance(int(absolute[1], 16) - address)
        fail("a distance such as .-64 or a hexadecimal address")
    names = REGISTER_NAMES.get(operand.kind, ())
    number = _REGISTER.fullmatch(word)
    if number is None or (number[1] or "").lower() not in ("", *names):
        fail(" or ".join(["a number such as 5", *(f"{name}5" for name in names)]))
    return int(number[2] or number[3], 0)


def _signed_distance(distance: int) -> int:
    half = 1 << (ADDRESS_BITS - 1)
    return (distance + half) % (2 * half) - half
