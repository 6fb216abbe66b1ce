"""Assembly text to instructions; ``str(instruction)`` is the way back.

Accepted are the spellings of GNU as and objdump (``xvf64gerpp a4,vs44,vs40``, with or without ``%``), of
llvm-mc (``xvf64gerpp 4, 44, 40``), accumulators as ``acc4``, the ``dm`` aliases that objdump prints since
binutils 2.40, a mnemonic alone, and expressions where numbers stand (`assembler_expressions`).

The parser takes any number: whether it is allowed is for `legality` to say.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NoReturn

from ..assembler_expressions import evaluate
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

_REGISTER = re.compile(r"%?([a-z]+)(-?(?:0|[1-9][0-9]{0,18}))", re.IGNORECASE | re.ASCII)
_BASE = re.compile(r"(.*[^\s].*)\(([^()]*)\)\s*")
_NONE: Mapping[str, int] = MappingProxyType({})
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
    texts = listed.split(",")
    based = _BASE.fullmatch(texts[-1]) if "(" in form.syntax else None
    if based:
        texts[-1:] = based.groups()
    # A rank-k update may come with any number of masks: too few or too many is a matter of legality.
    fits = form.update or (len(texts) == len(form.operands) and bool(based) == ("(" in form.syntax))
    if "" in texts or not fits:
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
        if word.startswith("."):
            return _expression(word, lambda: fail("a distance such as .-64"), {".": 0})
        if address is None:
            fail("a distance such as .-64")
        if absolute := _ADDRESS.fullmatch(word):
            return _signed_distance(int(absolute[1], 16) - address)
        fail("a distance such as .-64 or a hexadecimal address")
    names = REGISTER_NAMES.get(operand.kind, ())
    register = _REGISTER.fullmatch(word)
    if register and register[1].lower() in names:
        return int(register[2])
    allowed = " or ".join(["a number such as 5", *(f"{name}5" for name in names)])
    return _expression(word, lambda: fail(allowed))


def _expression(word: str, fail: Callable[[], NoReturn], symbols: Mapping[str, int] = _NONE) -> int:
    try:
        return evaluate(word, symbols.__getitem__)
    except InputError:
        fail()


def _signed_distance(distance: int) -> int:
    half = 1 << (ADDRESS_BITS - 1)
    return (distance + half) % (2 * half) - half
