"""Assembly text to instructions; ``str(written)`` is the way back.

Accepted is what llvm-mc accepts: tuples as ``v[0:1]``, ``acc[0:3]`` or ``[v0, v1]``, expressions
(`assembler_expressions`), commas or none, names in capitals, modifiers in their order only. A text may stop
after the name.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from ..assembler_expressions import evaluate, evaluated
from ..errors import InputError, UnsupportedError
from .catalogue import BY_NAME
from .instructions import MODIFIERS, OPERANDS, Constant, Registers, Written

UNMODELLED = MappingProxyType(
    {
        r"v_smfmac_": "a product with a sparse A",
        r"v_mfma_(?:ld_)?scale_": "a product with scale factors, or their load",
        r"v_mfma_\w*f8f6f4": "a product whose modifiers choose its element types",
        r"v_accvgpr_": "a move between VGPRs and AGPRs",
    }
)
"""What belongs to the instruction set and is not modelled, by how its name begins."""

_COMMENT = re.compile(r"/\*.*?\*/|//.*|;.*", re.DOTALL)
_TUPLE = re.compile(r"(v|a|acc|s)\s*\[([^\[\]:]+)(?::([^\[\]:]+))?\]")
_SINGLE = re.compile(r"(?P<file>v|a|acc|s)(?P<number>[0-9]{1,6})(?!\w)")
_LIST = re.compile(r"\[\s*(?P<registers>(?:v|a|acc)[0-9]{1,6}(?:\s*,\s*(?:v|a|acc)[0-9]{1,6})*)\s*\]")
_MODIFIER = re.compile(r"([a-z_]+)\s*:")
_NEGATED = re.compile(r"\s*\[([^\]]*)\]")
_EXPONENT = r"(?:e[-+]?[0-9]{1,4})"
_FLOAT = re.compile(
    rf"(-?)\s*([0-9]+\.[0-9]*{_EXPONENT}?|\.[0-9]+{_EXPONENT}?|[0-9]+{_EXPONENT})(?!\w)", re.IGNORECASE
)
_SEPARATOR = re.compile(r"\s*,?\s*")

WORDS = frozenset({"v_mfma", "v_smfmac", "v_accvgpr"})
"""How the texts begin; see `first_word`."""

KNOWN = "v_mfma_<type>_<M>x<N>x<K>_<type>"
"""What instructions there are, shortly."""

_LONGEST = 200
"""Characters of an operand list that are read at all."""


def first_word(text: str) -> str:
    """Return the mnemonic's beginning, in lower case, or nothing."""
    found = re.match(r"\s*(v_(?:s?mfmac?|accvgpr))_", _COMMENT.sub(" ", text), re.IGNORECASE)
    return found[1].lower() if found else ""


def parse(text: str) -> Written:
    """Read one instruction, with or without operands.

    Raises
    ------
    InputError
        If the text is not an instruction; it names what is wrong and what is allowed.
    UnsupportedError
        If the instruction is known but not modelled.
    """
    words = _COMMENT.sub(" ", text).split(maxsplit=1)
    if not words:
        raise InputError("an instruction is expected, such as 'v_mfma_f32_32x32x8_f16', not an empty line")
    mnemonic = words[0].lower().removesuffix("_e64")
    if mnemonic not in BY_NAME:
        raise _unknown(mnemonic)
    if len(words) == 1:
        return Written(mnemonic)
    rest = words[1].strip()
    if len(rest) > _LONGEST:
        raise InputError(f"{mnemonic}: {len(rest)} characters of operands; at most {_LONGEST} are read")
    try:
        operands, modifiers = _operands(rest)
    except InputError as reason:
        raise InputError(f"{mnemonic}: {reason}") from None
    if len(operands) != len(OPERANDS):
        raise InputError(f"{mnemonic} takes D, A, B and C, not {len(operands)} operands")
    return Written(mnemonic, operands, modifiers)


def _unknown(mnemonic: str) -> InputError | UnsupportedError:
    for pattern, meaning in UNMODELLED.items():
        if re.match(pattern, mnemonic):
            return UnsupportedError(f"{mnemonic} is {meaning}: known, but not modelled")
    close = difflib.get_close_matches(mnemonic[:60], BY_NAME, n=3, cutoff=0.8)
    hint = f"did you mean {' or '.join(close)}?" if close else f"known are {KNOWN}"
    return InputError(f"unknown mnemonic {mnemonic!r}; {hint}")


def _operands(text: str) -> tuple[tuple[Registers | Constant, ...], tuple[tuple[str, int], ...]]:
    operands: list[Registers | Constant] = []
    modifiers: dict[str, int] = {}
    at = 0
    while at < len(text):
        if found := _MODIFIER.match(text, at):
            name = found[1]
            _require_place(name, modifiers)
            modifiers[name], at = (_negations if name == "neg" else evaluated)(text, found.end())
        elif modifiers:
            raise InputError(f"{text[at:]!r} stands after a modifier; only modifiers do")
        else:
            operand, at = _operand(text, at)
            operands.append(operand)
        separator = _SEPARATOR.match(text, at)
        assert separator is not None
        at = separator.end()
    return tuple(operands), tuple(modifiers.items())


def _operand(text: str, at: int) -> tuple[Registers | Constant, int]:
    if found := _TUPLE.match(text, at):
        first = evaluate(found[2])
        last = first if found[3] is None else evaluate(found[3])
        if last < first:
            raise InputError(f"{found[0]} ends before it begins")
        return Registers(_file(found[1]), first, last - first + 1), found.end()
    if found := _SINGLE.match(text, at):
        return Registers(_file(found["file"]), int(found["number"]), 1), found.end()
    if found := _LIST.match(text, at):
        listed = [
            Registers(_file(single["file"]), int(single["number"]), 1)
            for single in _SINGLE.finditer(found["registers"])
        ]
        whole = replace(listed[0], count=len(listed))
        if listed != [replace(whole, first=whole.first + place, count=1) for place in range(whole.count)]:
            raise InputError(f"{found[0]} are not consecutive registers")
        return whole, found.end()
    if found := _FLOAT.match(text, at):
        return Constant(float(found[1] + found[2]), found[0]), found.end()
    try:
        number, end = evaluated(text, at)
    except InputError:
        shown = repr(text[at:].partition(",")[0].strip())
        raise InputError(f"{shown} is no operand: registers such as v[0:1] or a5, or a number, are") from None
    return Constant(number, text[at:end].strip()), end


def _file(spelled: str) -> str:
    """Return ``v``, ``a`` or ``s``; ``acc`` is another spelling of ``a``."""
    return "a" if spelled == "acc" else spelled


def _require_place(name: str, before: Mapping[str, int]) -> None:
    if name not in MODIFIERS:
        raise InputError(f"unknown modifier {name!r}; known: {', '.join(MODIFIERS)}")
    places = [MODIFIERS.index(earlier) for earlier in before]
    if places and MODIFIERS.index(name) <= places[-1]:
        raise InputError(f"{name} stands after {MODIFIERS[places[-1]]}; the order is {', '.join(MODIFIERS)}")


def _negations(text: str, at: int) -> tuple[int, int]:
    found = _NEGATED.match(text, at)
    numbers = [evaluate(part) for part in found[1].split(",")] if found else []
    if not found or len(numbers) > 3 or not set(numbers) <= {0, 1}:
        shown = found[0].strip() if found else text[at:].strip()
        raise InputError(f"neg:{shown} must be [a,b,c], each 0 or 1")
    return sum(number << place for place, number in enumerate(numbers)), found.end()
