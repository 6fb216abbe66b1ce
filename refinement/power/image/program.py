"""Loaded programs, from object files or assembler text, and invalid forms of their instructions."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from .fixed_point_forms import STORAGE
from .instruction_forms import Instruction, decode_prefixed, decode_word, is_prefix, mnemonics

IMPORTS = 0x180_0000
"""Where functions of other files seem to be, of a file that is not linked: a branch reaches it."""

LINKED_IMPORTS = 0x7000_0000_0000
"""Where they seem to be of a file that is."""

IMPORT_BYTES = 16
"""Between two of them."""

MOST_ADDRESS = (1 << 31) - 8
"""An address of code is below: lines are numbers of 31 bits."""

_STORAGE = frozenset(mnemonics(STORAGE))
_UPDATES = "(RA)", ",RA,RB"
"""How loads and stores end whose RA is updated."""


@dataclass(frozen=True)
class Symbol:
    """A named address.

    Attributes
    ----------
    name : str
        The name.
    address : int
        The address, of a function its global entry point.
    size : int
        Bytes, 0 where it is not said; those of a function count the table behind its code.
    is_function : bool
        Whether it is code.
    is_global : bool
        Whether other files see it.
    keeps_toc : bool
        Whether it leaves the register of the table of contents as it was: all do whose ``st_other`` does
        not say that their callers can't rely on it; of a listing nothing is known.
    """

    name: str
    address: int
    size: int
    is_function: bool
    is_global: bool
    keeps_toc: bool = False


@dataclass(frozen=True)
class Section:
    """A section of a program.

    Attributes
    ----------
    name : str
        For messages.
    address : int
        Where they begin.
    data : bytearray
        They.
    executable, writable : bool
        What may be done with them.
    known : bool
        Whether they are as the file says when a function is called: not of data that the program changes.
    """

    name: str
    address: int
    data: bytearray
    executable: bool
    writable: bool
    known: bool

    @property
    def end(self) -> int:
        """The address behind them."""
        return self.address + len(self.data)


@dataclass(frozen=True)
class Image:
    """A loaded program.

    Attributes
    ----------
    path : str
        Its file.
    sections : tuple of Section
        Its memory, in increasing order of addresses.
    symbols : tuple of Symbol
        Names.
    toc : int
        What the register of the table of contents holds.
    imports : mapping of int to str
        Functions of other files, by the address that calls of them branch to.
    refusals : mapping of int to str
        Instructions that can't be relocated, and why.
    lines : mapping of int to int, optional
        Of text, the line of each instruction.
    texts : mapping of int to str
        Of text, instructions that are not known.
    """

    path: str
    sections: tuple[Section, ...]
    symbols: tuple[Symbol, ...]
    toc: int
    imports: Mapping[int, str]
    refusals: Mapping[int, str] = field(default_factory=dict)
    lines: Mapping[int, int] | None = None
    texts: Mapping[int, str] = field(default_factory=dict)

    @cached_property
    def _starts(self) -> list[int]:
        return [section.address for section in self.sections]

    def section_at(self, address: int) -> Section | None:
        """Return the section of an address."""
        index = bisect_right(self._starts, address) - 1
        if index < 0 or address >= self.sections[index].end:
            return None
        return self.sections[index]

    @cached_property
    def functions(self) -> tuple[Symbol, ...]:
        """Symbols of code, by address; where two are at one, the one that other files see is last."""
        found = [
            symbol
            for symbol in self.symbols
            if (section := self.section_at(symbol.address)) is not None and section.executable
        ]
        return tuple(sorted(found, key=lambda each: (each.address, each.is_function, each.is_global)))

    def keeps_toc(self, address: int) -> bool:
        """Tell whether the functions that begin at an address, if any do, leave that register as it was."""
        found = [symbol.keeps_toc for symbol in self.symbols if symbol.address == address]
        return bool(found) and all(found)

    @cached_property
    def _function_starts(self) -> list[int]:
        return [function.address for function in self.functions]

    def spelled(self, address: int) -> str:
        """Describe an address of code: ``0x1a4 <dgemm+0x24>``."""
        index = bisect_right(self._function_starts, address) - 1
        if index < 0 or self.functions[index].is_function is False:
            return f"{address:#x}"
        symbol = self.functions[index]
        offset = address - symbol.address
        if symbol.size and offset >= symbol.size:
            return f"{address:#x}"
        return f"{address:#x} <{symbol.name}{f'+{offset:#x}' if offset else ''}>"

    def line_of(self, address: int) -> int:
        """Return the line of an instruction, or of object code, where there are none, its address plus 1."""
        return address + 1 if self.lines is None else self.lines.get(address, 0)

    def place(self, address: int) -> str:
        """Tell where an instruction is, by its line, or in object code, which has none, by its address."""
        return self.spelled(address) if self.lines is None else f"line {self.line_of(address)}"

    def word(self, address: int) -> int | None:
        """Return the word of code at an address."""
        section = self.section_at(address)
        if section is None or not section.executable or address + 4 > section.end:
            return None
        at = address - section.address
        return int.from_bytes(section.data[at : at + 4], "little")

    def instruction(self, address: int) -> Instruction | str:
        """Return the instruction at an address, or what keeps it from being one that is known."""
        where = self.spelled(address)
        if address in self.refusals:
            return f"{self.refusals[address]} at {where}"
        if address in self.texts:
            return f"{self.texts[address]} at {where} is not modelled"
        word = self.word(address)
        if word is None or address % 4:
            return f"a branch to {address:#x}, where there is no code"
        if not is_prefix(word):
            return _valid(decode_word(word), f"the word {word:#010x} at {where}")
        suffix = self.word(address + 4)
        if suffix is None:
            return f"a prefix without a suffix at {where}"
        return _valid(decode_prefixed(word, suffix), f"the words {word:#010x} {suffix:#010x} at {where}")


def _valid(found: Instruction | None, words: str) -> Instruction | str:
    """Return an instruction, or the words of which there is none, or an invalid form."""
    reason = None if found is None else invalid(found)
    if reason is not None:
        return f"{words}, {found}, whose form is invalid: {reason}"
    return words if found is None else found


def invalid(instruction: Instruction) -> str | None:
    """Return why the form of an instruction is invalid, None if it is not.

    An invalid form has operands that the manual excludes. What a processor does with one is undefined; GNU as
    and objdump refuse them, QEMU most. Source: Power ISA 3.1 Book I section 1.6, chapters 2 (branches, CR)
    and 3 (loads and stores with update).

    Parameters
    ----------
    instruction : Instruction
        One that was decoded.
    """
    given = {operand.name: value for operand, value in instruction.pairs}
    name = instruction.mnemonic
    if given.get("R") and given.get("RA0"):
        return f"R is 1, and RA is r{given['RA0']}, not 0"
    if name in _STORAGE and instruction.form.syntax.endswith(_UPDATES):
        if given["RA"] == 0:
            return "RA, which is updated, is 0"
        if given["RA"] == given.get("RT"):
            return f"r{given['RT']} is both loaded and updated"
    if name in ("bcctr", "bcctrl") and not given["BO"] & 4:
        return "CTR can't be both decremented and where to branch"
    if name in ("mtocrf", "mfocrf") and given["FXM"].bit_count() != 1:
        return f"FXM is {given['FXM']}, not one bit"
    return None
