"""Rows of scalar instructions, and their forms by spelling.

A row is written as its mnemonics are: a head whose words keep their order (``mul.lo``, ``shf.l``), flags,
which may stand anywhere behind it, and element types, which keep theirs. So ptxas of CUDA 13.0 reads them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Any

from ...formats import IntegerFormat
from ...word_algebra import Word, WordAlgebra, signed, unsigned
from ..targets import Availability

Meaning = Callable[..., Any]
"""From an algebra of words, a form and the operands (n,) to the result, or to several."""

ANYWHERE = Availability((1, 0))
"""On every target, in every version."""


@dataclass(frozen=True)
class ElementType:
    """A type that a mnemonic names: ``s32``, ``u16x2``, ``pred``.

    Attributes
    ----------
    name : str
        As in PTX.
    """

    name: str

    @property
    def kind(self) -> str:
        """What it reads: ``b`` (bits), ``u``, ``s``, ``f``, or ``pred``."""
        if self.name == "pred":
            return "pred"
        return "f" if "f" in self.name else self.name[0]

    @property
    def lanes(self) -> int:
        """Elements in a register."""
        return 2 if self.name.endswith("x2") else 1

    @property
    def width(self) -> int:
        """Bits of an element."""
        digits = re.search(r"\d+", self.name)
        return int(digits[0]) if digits else 1

    @property
    def bits(self) -> int:
        """Bits of all elements."""
        return self.width * self.lanes

    @property
    def format(self) -> IntegerFormat:
        """The integer format of an element; of bits it is unsigned."""
        return (signed if self.kind == "s" else unsigned)(self.width)

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Place:
    """An operand of a form.

    Attributes
    ----------
    name : str
        As the manual calls it.
    type : ElementType
        What it is read or written as.
    immediate : bool
        Whether it has to be a constant.
    """

    name: str
    type: ElementType
    immediate: bool = False

    @property
    def is_flag(self) -> bool:
        """Whether it is the carry flag, which is not written in the text."""
        return self.name == "CC.CF"


@dataclass(frozen=True)
class Row:
    """A scalar instruction, in the forms that share a meaning.

    Attributes
    ----------
    head : str
        The words that keep their order: ``add``, ``mul.lo``.
    types : str
        Element types by spaces; of several, slots by ``/``: ``u32 s32 / u32 s32``.
    operands : str
        ``d:TYPE = a:TYPE …``, where ``t`` is the first type, ``u`` the second, ``2t`` its double; ``#`` a
        constant.
    meaning : callable, optional
        What it computes; None of one that is judged, but not executed.
    section : str
        Of the PTX ISA.
    flags : str
        Slots by spaces: ``sat``, ``sat?`` (may be left out), ``clamp|wrap`` (one of them), ``f4e|b4e?``.
    availability : Availability
        The first PTX version, and the targets.
    flags_behind : bool
        Whether the manual writes the flags behind the types.
    """

    head: str
    types: str
    operands: str
    meaning: Meaning | None
    section: str
    flags: str = ""
    availability: Availability = field(default=ANYWHERE)
    flags_behind: bool = False

    @property
    def opcode(self) -> str:
        """What stands before the first dot."""
        return self.head.partition(".")[0]

    @cached_property
    def type_slots(self) -> tuple[tuple[str, ...], ...]:
        """The types of each slot."""
        return tuple(tuple(slot.split()) for slot in self.types.split("/"))

    @cached_property
    def flag_slots(self) -> tuple[tuple[str, ...], ...]:
        """The flags of each slot; an empty one where it may be left out."""
        return tuple(
            (*slot.rstrip("?").split("|"), *([""] * slot.endswith("?"))) for slot in self.flags.split()
        )

    def has_types(self, types: Sequence[str]) -> bool:
        """Say whether some form has these types."""
        return len(types) == len(self.type_slots) and all(
            name in slot for name, slot in zip(types, self.type_slots, strict=True)
        )

    def forms(self) -> Iterator[Form]:
        """Yield every form."""
        for flags in product(*self.flag_slots):
            for types in product(*self.type_slots):
                yield Form(self, tuple(filter(None, flags)), tuple(map(ElementType, types)))

    @property
    def source(self) -> str:
        """The section of the manual."""
        return f"PTX ISA 9.1 section {self.section}"


@dataclass(frozen=True)
class Form:
    """One mnemonic of a row.

    Attributes
    ----------
    row : Row
        Whose it is.
    flags : tuple of str
        In the manual's order.
    types : tuple of ElementType
        In the order written.
    """

    row: Row
    flags: tuple[str, ...]
    types: tuple[ElementType, ...]

    def has(self, flag: str) -> bool:
        """Say whether a flag is there."""
        return flag in self.flags

    def word(self, index: int) -> str:
        """Return a word of the head, from 0 for the opcode."""
        return self.row.head.split(".")[index]

    def one_of(self, *flags: str) -> str:
        """Return which of some flags is there, nothing where none is."""
        return next((flag for flag in flags if flag in self.flags), "")

    @property
    def type(self) -> ElementType:
        """The first type."""
        return self.types[0]

    @property
    def width(self) -> int:
        """Bits of an element of the first type."""
        return self.type.width

    @cached_property
    def places(self) -> tuple[tuple[Place, ...], tuple[Place, ...]]:
        """Results and sources."""
        results, sources = (
            tuple(self._place(text) for text in side.split()) for side in self.row.operands.split("=")
        )
        return results, sources

    @property
    def written_places(self) -> tuple[tuple[Place, ...], tuple[Place, ...]]:
        """The results and the sources that stand in the text: all but the carry flag."""
        results, sources = self.places
        return tuple(p for p in results if not p.is_flag), tuple(p for p in sources if not p.is_flag)

    @property
    def operand_count(self) -> int:
        """Operands in the text; two results are one."""
        return 1 + len(self.written_places[1])

    def _place(self, text: str) -> Place:
        name, _, kind = text.partition(":")
        immediate = kind.startswith("#")
        kind = kind.removeprefix("#")
        if kind in ("t", "u"):
            return Place(name, self.types["tu".index(kind)], immediate)
        if kind == "2t":
            return Place(name, ElementType(f"{self.type.kind}{2 * self.width}"), immediate)
        return Place(name, ElementType(kind), immediate)

    @property
    def mnemonic(self) -> str:
        """The manual's spelling."""
        types = tuple(map(str, self.types))
        words = (*types, *self.flags) if self.row.flags_behind else (*self.flags, *types)
        return ".".join([self.row.head, *words])

    def results(self, alg: WordAlgebra, operands: Sequence[Word]) -> tuple[Word, ...]:
        """Return what it computes of its operands: as many words as it has results."""
        assert self.row.meaning is not None, self.mnemonic
        computed = self.row.meaning(alg, self, *operands)
        return computed if isinstance(computed, tuple) else (computed,)

    def __hash__(self) -> int:
        return hash((self.row.head, self.flags, self.types))
