"""An instruction as it is written: a name, four operands, modifiers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from types import MappingProxyType

import numpy as np

from ..errors import UnsupportedError
from ..formats import Format, IntegerFormat
from .catalogue import BY_NAME, MatrixMultiply
from .targets import DEFAULT_TARGET, TARGETS, Target

OPERANDS = ("d", "a", "b", "c")
"""The operands in the order of the text."""

MODIFIERS = ("cbsz", "abid", "blgp", "neg")
"""The modifiers in the order of the text; ``neg`` stands in the place of ``blgp``."""

_FLOATS = (0.5, -0.5, 1.0, -1.0, 2.0, -2.0, 4.0, -4.0, 0.15915494309189532)


def _bits_of(number: float, bits: int) -> int:
    return int(np.array(number, dtype=f"f{bits // 8}").view(f"u{bits // 8}"))


@cache
def inline_codes(bits: int) -> Mapping[int, int]:
    """Return the codes of inline constants by their bits, for elements of 32 or of 64 bits."""
    integers = {
        number % (1 << bits): 128 + number if number >= 0 else 192 - number for number in range(-16, 65)
    }
    return MappingProxyType(
        integers | {_bits_of(number, bits): 240 + place for place, number in enumerate(_FLOATS)}
    )


_LAST_INTEGER = 208
"""The code of -16, the last of the integers."""


@dataclass(frozen=True)
class Registers:
    """Consecutive registers: ``v[0:1]``, ``a5``.

    Attributes
    ----------
    file : str
        ``v`` (VGPRs), ``a`` (AGPRs) or ``s`` (scalar registers, which no MFMA takes).
    first, count : int
        The first register's number, and how many there are.
    """

    file: str
    first: int
    count: int

    @property
    def last(self) -> int:
        """The last register's number."""
        return self.first + self.count - 1

    def __str__(self) -> str:
        if self.count == 1:
            return f"{self.file}{self.first}"
        return f"{self.file}[{self.first}:{self.last}]"


@dataclass(frozen=True)
class Constant:
    """A number in the place of a register, as it was spelled.

    Attributes
    ----------
    value : int or float
        An integer may be a number or the bits of one.
    text : str
        How it was spelled.
    """

    value: int | float
    text: str

    def pattern(self, bits: int) -> int | None:
        """Return the bits of an element that is the constant, None where they are too few for it."""
        if isinstance(self.value, float):
            return _bits_of(self.value, bits)
        signed = self.value - (1 << 64) if self.value >> 63 == 1 else self.value
        return signed % (1 << bits) if -(1 << (bits - 1)) <= signed < 1 << bits else None

    def code(self, bits: int) -> int | None:
        """Return the code of the inline constant, None if it is none of an operand of 32 or 64 bits."""
        pattern = self.pattern(bits)
        return None if pattern is None else inline_codes(bits).get(pattern)

    def encoding(self, fmt: Format) -> int:
        """Return the encoding of every element of a C that is the constant.

        Raises
        ------
        UnsupportedError
            For a float as an integer, which no document explains.
        """
        code, pattern = self.code(fmt.bits), self.pattern(fmt.bits)
        if pattern is None or code is None or (isinstance(fmt, IntegerFormat) and code > _LAST_INTEGER):
            raise UnsupportedError(f"what {self} is as C of {fmt} is not documented")
        return pattern

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Written:
    """An instruction, with its operands where they were given.

    What is written may be wrong: whether it is right is for `legality` to say, for one target.

    Attributes
    ----------
    mnemonic : str
        Its name, one of `BY_NAME`.
    operands : tuple, optional
        D, A, B and C; None when the instruction was named without operands.
    modifiers : tuple of (name, value)
        What was given of `MODIFIERS`; of ``neg`` bit 0 is A's, bit 1 is B's and bit 2 is C's.
    """

    mnemonic: str
    operands: tuple[Registers | Constant, ...] | None = None
    modifiers: tuple[tuple[str, int], ...] = ()

    @cached_property
    def given(self) -> Mapping[str, Registers | Constant]:
        """The operands that were given, by name."""
        return MappingProxyType(dict(zip(OPERANDS, self.operands or (), strict=False)))

    def modifier(self, name: str) -> int:
        """Return the value of a modifier, 0 where it was not given."""
        return dict(self.modifiers).get(name, 0)

    def on(self, target: Target) -> MatrixMultiply | None:
        """Return what the name stands for on a target."""
        return BY_NAME[self.mnemonic].get(target.name)

    @property
    def somewhere(self) -> tuple[MatrixMultiply, Target]:
        """What the name stands for on the default target, or on the first that has it."""
        found = BY_NAME[self.mnemonic]
        name = DEFAULT_TARGET.name if DEFAULT_TARGET.name in found else next(iter(found))
        return found[name], TARGETS[name]

    def __str__(self) -> str:
        operands = ", ".join(map(str, self.operands or ()))
        modifiers = (f"{name}:{_spelled(name, value)}" for name, value in self.modifiers)
        return " ".join(filter(None, [self.mnemonic, operands, *modifiers]))


def _spelled(name: str, value: int) -> str:
    return f"[{value & 1},{value >> 1 & 1},{value >> 2 & 1}]" if name == "neg" else str(value)
