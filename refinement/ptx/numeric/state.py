"""Registers of a run as numpy arrays, and what reads and writes operands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....spec.errors import UnsupportedError
from ....spec.ptx.operands import Decimal, HexFloat, Integer, Negated, Register, Sink
from ..text.module import TYPE_BITS, Function, InstructionStatement
from ..text.operands import Displaced, SpecialRegister, Symbol, float_encoding
from .memory import Memory
from .races import Races
from .threads import EVERY, BlockThreads, Lanes

Numbers = NDArray[Any]
Step = Callable[["State", Lanes], None]
Reader = Callable[["State", Lanes], Any]
Writer = Callable[["State", Lanes, Any], None]

WORDS: Mapping[int, type[np.unsignedinteger[Any]]] = {
    8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64,
}  # fmt: skip
"""What holds a word of some bits."""


class State:
    """What a run knows of some blocks.

    Parameters
    ----------
    threads : BlockThreads
        The threads.
    memory : Memory
        All memory, with that of these blocks.
    random : Generator, optional
        Draws to which side inexact results are rounded; None to round as the kernel says.

    Attributes
    ----------
    registers : dict of str to array (n,)
        Unsigned words, or truths.
    instruction : InstructionStatement
        What runs now.
    unknown : bool array
        Which blocks have read numbers that are not known.
    uninitialised : dict of str to InstructionStatement
        Arrays of which something was read that nobody has written, and where first.
    overflowed : bool
        Whether a finite number became none where it was rounded; looked at where roundings are drawn.
    races : Races, optional
        None where barriers are not all that orders threads.
    """

    def __init__(
        self, threads: BlockThreads, memory: Memory, random: np.random.Generator | None = None
    ) -> None:
        self.threads, self.memory, self.random = threads, memory, random
        self.registers: dict[str, Numbers] = dict(threads.special_registers())
        self.instruction: InstructionStatement | None = None
        self.unknown: NDArray[np.bool_] = np.zeros(len(threads.blocks), dtype=np.bool_)
        self.uninitialised: dict[str, InstructionStatement] = {}
        self.overflowed = False
        self.races: Races | None = None

    def indices(self, lanes: Lanes) -> NDArray[np.intp]:
        """Return which threads act as indices."""
        return np.arange(len(self.threads)) if lanes is EVERY else lanes

    def count(self, lanes: Lanes) -> int:
        """Return how many threads act."""
        return len(self.threads) if lanes is EVERY else len(lanes)

    def declare(self, function: Function) -> None:
        """Make the registers of a function; what nobody writes is 0."""
        for name, kind in function.registers.items():
            if "." in kind:
                raise UnsupportedError(f"the register {name} of type {kind}")
            bits = TYPE_BITS[kind]
            dtype = np.bool_ if kind == "pred" else WORDS.get(bits)
            if dtype is None:
                raise UnsupportedError(f"the register {name} of {bits} bits")
            self.registers[name] = np.zeros(len(self.threads), dtype=dtype)


class Code:
    """Makes readers and writers of operands.

    Parameters
    ----------
    function : Function
        What runs.
    symbols : mapping of str to int
        Addresses of variables and parameters, in their own spaces.
    """

    def __init__(self, function: Function, symbols: Mapping[str, int]) -> None:
        self.function, self.symbols = function, symbols

    def bits_of(self, name: str) -> int:
        """Return the bits of a register."""
        return TYPE_BITS.get(self.function.registers.get(name, "b32"), 32)

    def address_of(self, symbol: str) -> int:
        """Return where a variable lies.

        Raises
        ------
        UnsupportedError
            If it has no place here.
        """
        if symbol not in self.symbols:
            raise UnsupportedError(f"the address of {symbol}")
        return self.symbols[symbol]

    def reader(self, operand: Any, bits: int) -> Reader:
        """Return what reads an operand as unsigned words.

        Raises
        ------
        UnsupportedError
            If nothing can be read there.
        """
        dtype = WORDS[bits]
        match operand:
            case Integer(value=value):
                word = dtype(value & ((1 << bits) - 1))
                return lambda state, lanes: word
            case HexFloat() | Decimal():
                word = dtype(float_encoding(operand, bits))
                return lambda state, lanes: word
            case Symbol(name=name):
                word = dtype(self.address_of(name) & ((1 << bits) - 1))
                return lambda state, lanes: word
            case Displaced(base=base, offset=offset):
                word = dtype(self.address_of(base.name) + offset & ((1 << bits) - 1))
                return lambda state, lanes: word
            case SpecialRegister(name=name):
                return _special(name, dtype)
            case Register(name=name) if name in self.function.registers:
                if self.bits_of(name) == bits and self.function.registers[name] != "pred":
                    return lambda state, lanes: state.registers[name][lanes]
                return lambda state, lanes: state.registers[name][lanes].astype(dtype)
        raise UnsupportedError(f"the operand {operand}")

    def truth_reader(self, operand: Any) -> Reader:
        """Return what reads a predicate.

        Raises
        ------
        UnsupportedError
            If it is none.
        """
        match operand:
            case Negated(register=register):
                inner = self.truth_reader(register)
                return lambda state, lanes: ~inner(state, lanes)
            case Integer(value=value):
                truth = np.bool_(value != 0)
                return lambda state, lanes: truth
            case Register(name=name) if self.function.registers.get(name) == "pred":
                return lambda state, lanes: state.registers[name][lanes]
        raise UnsupportedError(f"the predicate {operand}")

    def writer(self, operand: Any) -> Writer:
        """Return what writes a register from words of any width, or truths.

        Raises
        ------
        UnsupportedError
            If it is none.
        """
        if isinstance(operand, Sink):
            return lambda state, lanes, words: None
        if not isinstance(operand, Register) or operand.name not in self.function.registers:
            raise UnsupportedError(f"{operand} as a result")
        name = operand.name

        def write(state: State, lanes: Lanes, words: Any) -> None:
            state.registers[name][lanes] = words

        return write

    def signed_writer(self, operand: Any, bits: int) -> Writer:
        """Return what writes a register from signed integers, whose sign goes on in wider registers."""
        write = self.writer(operand)
        if isinstance(operand, Sink):
            return write
        width = max(self.bits_of(operand.name), bits)
        dtype = np.dtype(f"i{width // 8}")
        return lambda state, lanes, words: write(
            state, lanes, np.asarray(words).astype(dtype).view(WORDS[width])
        )


def _special(name: str, dtype: Any) -> Reader:
    if name in ("%clock", "%clock64", "%clock_hi", "%globaltimer", "%smid", "%nsmid"):
        raise UnsupportedError(f"{name}, which differs from run to run")

    def read(state: State, lanes: Lanes) -> Any:
        if name not in state.registers:
            raise UnsupportedError(f"the special register {name}")
        return state.registers[name][lanes].astype(dtype)

    return read
