"""Which rules an instruction of Power breaks, decided from its operands by the fields of its word.

Sources: Power ISA 3.1 Book I, instruction formats (what a field can hold) and sections 7.2 and 7.6; Moreira
et al. sections II-B2 and II-B3 (registers of accumulators, pairs).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

from .instructions import FACTORS, MNEMONICS, TARGETS, UPDATES, isa, operands

SIGNED = ("D", "SI", "target")
MASKS = ("XMSK", "YMSK", "PMSK")

_RULES = {
    **dict.fromkeys(("AT", "AS"), "accumulator-range"),
    **dict.fromkeys(("XA", "XAp", "XB", "XT", "XTp", "XS", "XSp"), "vsr-range"),
    **dict.fromkeys(("RA", "RB", "RT"), "gpr-range"),
    **dict.fromkeys(MASKS, "mask-range"),
    **dict.fromkeys(SIGNED, "immediate-range"),
}
"""The rule on what an operand's field can hold."""

Values = Mapping[str, int]
"""Operands by name, in the order of the text."""


def limits(name: str, mnemonic: str) -> tuple[int, int]:
    """Return the least number that a field can hold, and the first that is too large."""
    held = FACTORS.get(name, 1) << len(operands(mnemonic)[name])
    return (-held // 2, held // 2) if name in SIGNED else (0, held)


def broken(mnemonic: str, values: Values, target: str) -> frozenset[str]:
    """Return the rules that an instruction breaks on a processor."""
    found = {"target-isa"} if TARGETS[target][0] < isa(mnemonic) else set()
    known = operands(mnemonic)
    for name in known:
        if name not in values:
            found.add("mask-missing")
            continue
        least, end = limits(name, mnemonic)
        if not least <= values[name] < end:
            found.add(_RULES[name])
        if values[name] % FACTORS.get(name, 1):
            found.add("odd-pair" if name.startswith("X") else "immediate-alignment")
    if set(values) - set(known):
        found.add("mask-unexpected")
    if values.get("AT", 8) < 8 and not TARGETS[target][1]:
        own = set(range(4 * values["AT"], 4 * values["AT"] + 4))
        read = {values[name] for name in ("XA", "XAp", "XB") if name in values}
        if own & (read | {values[name] + 1 for name in ("XAp",) if name in values}):
            found.add("vsr-overlap")
    return frozenset(found)


def text(mnemonic: str, values: Values) -> str:
    """Spell an instruction."""
    spelled = ""
    for name, value in values.items():
        if name == "RA" and "D" in values:
            spelled += f"(r{value})"
            continue
        number = f".{value:+}" if name == "target" else f"{_FILES.get(_RULES[name], '')}{value}"
        spelled += f"{',' if spelled else ' '}{number}"
    return mnemonic + spelled


_FILES = {"accumulator-range": "a", "vsr-range": "vs", "gpr-range": "r"}


def near(mnemonic: str) -> Iterator[Values]:
    """Yield all combinations of what is about the ends of each operand."""
    names = tuple(operands(mnemonic))
    if mnemonic.removeprefix("pm") in UPDATES:
        yield from _updates(mnemonic, [name for name in names if name not in MASKS])
        return
    ends = []
    for name in names:
        least, end = limits(name, mnemonic)
        factor = FACTORS.get(name, 1)
        below = (least - factor,) if name in SIGNED else ()
        ends.append((*below, least, least + 1, end // 2, end - factor, end - 1, end))
    for each in product(*ends):
        yield dict(zip(names, each, strict=True))


def _updates(mnemonic: str, registers: list[str]) -> Iterator[Values]:
    """Yield registers about an accumulator with usual masks, then masks with usual registers."""
    masks = [name for name in operands(mnemonic) if name in MASKS]
    most = {name: limits(name, mnemonic)[1] - 1 for name in masks}
    for accumulator in (0, 7, 8):
        first = 4 * accumulator
        about = sorted({first - 1, first, first + 2, first + 3, first + 4, 63, 64} - {-1})
        for x, y in product(about, about):
            yield dict(zip(registers, (accumulator, x, y), strict=True)) | most
    usual = dict(zip(registers, (1, 34, 35), strict=True))
    for given in range(len(masks) + 1):
        for each in product(*((0, most[name], most[name] + 1) for name in masks[:given])):
            yield {**usual, **dict(zip(masks, each, strict=False))}
    if len(masks) < len(MASKS):
        yield {**usual, **most, **dict.fromkeys(MASKS[len(masks) : len(masks) + 1], 1)}


def instructions(*, updates: bool) -> Iterator[tuple[str, Values, str]]:
    """Yield rank-k updates, or the other instructions: all about the ends on POWER10, one on the others."""
    for mnemonic in MNEMONICS:
        if (mnemonic.removeprefix("pm") in UPDATES) != updates:
            continue
        for values in near(mnemonic):
            yield mnemonic, values, "power10"
        for target in TARGETS:
            yield mnemonic, usual(mnemonic), target


def usual(mnemonic: str) -> Values:
    """Return operands that every field can hold; X and Y are registers of the first accumulator."""
    return {
        name: 0 if name == "AT" or name.startswith("X") else (limits(name, mnemonic)[1] - 1) // 16 * 16 or 1
        for name in operands(mnemonic)
    }
