"""The addresses that a thread of a PTX kernel loads from and stores to, by a walk over its integers alone.

It knows nothing of the project's machine: registers are Python's integers, what is no integer is unknown, and
no address may depend on it. So sizes of any magnitude can be looked at, as no array is held.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

Number = int | None
"""What a register holds; None where it is not known."""

_STATEMENT = re.compile(r"^(?:@(!?)(%\w+)\s+)?([a-z][\w.:]*)\s*(.*);$")
_LABEL = re.compile(r"^(\$\w+):$")
_OPERANDS = re.compile(r"\{[^}]*\}|\[[^\]]*\]|[^,\s]+")
_WIDTH = re.compile(r"\.[subf](\d+)")

_RELATIONS: Mapping[str, Callable[[int, int], bool]] = {
    "lt": int.__lt__, "le": int.__le__, "gt": int.__gt__,
    "ge": int.__ge__, "eq": int.__eq__, "ne": int.__ne__,
}  # fmt: skip


def _quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


_OPERATIONS: Mapping[str, Callable[..., int]] = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b,
    "mad": lambda a, b, c: a * b + c,
    "shl": lambda a, b: a << min(b, 64), "shr": lambda a, b: a >> min(b, 64),
    "and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b, "min": min, "max": max,
    "neg": lambda a: -a, "not": lambda a: ~a, "div": _quotient, "rem": lambda a, b: a - b * _quotient(a, b),
    "mov": lambda a: a, "cvta": lambda a: a, "cvt": lambda a: a,
    "bfe": lambda a, low, count: a >> low & (1 << count) - 1,
}  # fmt: skip


@dataclass
class Walk:
    """What a thread did.

    Attributes
    ----------
    loads, stores : list of (int, int)
        Addresses in global memory, and bytes.
    """

    loads: list[tuple[int, int]] = field(default_factory=list)
    stores: list[tuple[int, int]] = field(default_factory=list)


class Walker:
    """Walks over a kernel of PTX.

    Parameters
    ----------
    text : str
        The module, of one kernel.
    """

    def __init__(self, text: str) -> None:
        self._steps: list[re.Match[str]] = []
        self._labels: dict[str, int] = {}
        body = re.sub(r"//[^\n]*", "", text[text.index("{") :])
        for line in (each.strip() for each in body.splitlines()):
            if label := _LABEL.match(line):
                self._labels[label[1]] = len(self._steps)
            elif (step := _STATEMENT.match(line)) and not line.startswith("."):
                self._steps.append(step)

    def walk(self, special: Mapping[str, int], parameters: Mapping[str, int]) -> Walk:
        """Return what a thread does, by its special registers and what the parameters are."""
        known: dict[str, Number] = dict(special)
        found, at = Walk(), 0
        while at < len(self._steps):
            inverted, guard, opcode, rest = self._steps[at].groups()
            at += 1
            operands = _OPERANDS.findall(rest)
            if guard is not None:
                acts = known.get(guard)
                assert acts is not None, f"{guard} is not known"
                if bool(acts) == bool(inverted):
                    continue
            match opcode.split("."):
                case ["bra", *_]:
                    at = self._labels[operands[0]]
                case ["ret", *_]:
                    break
                case ["ld", "param", *_]:
                    known[operands[0]] = parameters.get(operands[1][1:-1])
                case [("ld" | "st") as which, "global", *how]:
                    registers, place = operands if which == "ld" else operands[::-1]
                    count = registers.count("%")
                    accesses = found.loads if which == "ld" else found.stores
                    accesses.append((_address(known, place), count * _bytes(how)))
                    known |= dict.fromkeys(re.findall(r"%\w+", registers) if which == "ld" else ())
                case ["cp", "async", ("ca" | "cg"), *_]:
                    size = _value(known, operands[3]) if len(operands) > 3 else int(operands[2], 0)
                    assert size is not None
                    if size:
                        found.loads.append((_address(known, operands[1]), size))
                case _:
                    for register, value in _computed(known, opcode, operands):
                        known[register] = value
        return found


def _bytes(how: list[str]) -> int:
    return int(re.sub(r"\D", "", how[-1])) // 8


def _address(known: Mapping[str, Number], place: str) -> int:
    register, _, offset = place[1:-1].partition("+")
    base = known.get(register.strip())
    assert base is not None, f"{place} is not known"
    return base + int(offset or 0)


def _value(known: Mapping[str, Number], operand: str) -> Number:
    if re.fullmatch(r"-?(0x[0-9a-fA-F]+|\d+)", operand):
        return int(operand, 0)
    return known.get(operand)


def _computed(known: Mapping[str, Number], opcode: str, operands: list[str]) -> Iterator[tuple[str, Number]]:
    """Yield registers that an instruction gives a value."""
    name, *how = opcode.split(".")
    if name in ("bar", "cp", "st") or not operands:
        return
    targets = re.findall(r"%\w+", operands[0])
    values = [_value(known, operand) for operand in operands[1:]]
    width = [int(each) for each in _WIDTH.findall(opcode)]
    if how[-1:] == ["pred"]:
        yield targets[0], _of_predicates(name, values)
    elif name == "setp":
        yield targets[0], _compared(how, [_read(value, how[-1]) for value in values])
    elif name == "selp":
        chosen = values[2]
        yield targets[0], None if chosen is None else values[0] if chosen else values[1]
    elif name in _OPERATIONS and len(targets) == 1 and None not in values and "f" not in how[-1]:
        last = how[-1]
        read = [_read(value, last) for value in values]
        if name in ("mad", "mul") and "wide" in how:
            width = [2 * width[0]]
            if name == "mad":
                read[2] = values[2]
        result = _OPERATIONS[name](*read)
        if name == "bfe" and last.startswith("s") and result >> (read[2] or 1) - 1 & 1:
            result -= 1 << (read[2] or 0)
        yield targets[0], result & (1 << width[0]) - 1
    else:
        yield from ((target, None) for target in targets)


def _read(value: Number, kind: str) -> Number:
    """Return an integer as its type reads it."""
    bits = int(re.sub(r"\D", "", kind) or 1)
    if value is None:
        return None
    value &= (1 << bits) - 1
    return value - (1 << bits) if kind.startswith("s") and value >> bits - 1 else value


def _of_predicates(name: str, values: list[Number]) -> Number:
    if name == "not":
        return None if values[0] is None else 1 - values[0]
    if name in ("and", "or") and (1 if name == "or" else 0) in values:
        return 1 if name == "or" else 0
    return None if None in values else int(_OPERATIONS[name](*values))


def _compared(how: list[str], values: list[Number]) -> Number:
    assert len(values) == 2, "only plain comparisons"
    one, other = values
    return None if one is None or other is None else int(_RELATIONS[how[0]](one, other))
