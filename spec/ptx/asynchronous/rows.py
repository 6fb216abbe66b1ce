"""Rows of asynchronous instructions, and their forms by spelling.

A row is written as its mnemonics are: a head whose words keep their order (``mbarrier.arrive.expect_tx``),
and modifiers in slots, which may stand in any order behind it, each once; of state spaces the order counts.
So ptxas of CUDA 13.0 reads them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from itertools import product
from math import prod
from types import MappingProxyType

from ..operands import GENERIC, Vector
from ..targets import Availability

SPACES = ("global", "shared", "shared::cta", "shared::cluster", "param", "const", "local")
"""State spaces: where from and where to."""

ORDERED = (*SPACES, "b8x16", "b6x16_p32", "b4x16_p64")
"""Modifiers whose order counts: state spaces, and what becomes what."""

OF_WIDE = ("pred", "b32", "b128")
"""Types whose order counts: that of a result, and that of a register of 128 bits."""

NOWHERE_LATER: Mapping[str, Availability] = MappingProxyType({})


class Sort(Enum):
    """What an operand is."""

    ADDRESS = "an address [register], [variable] or [register+offset]"
    TENSOR = "a tensor map with coordinates [map, {c0, …}]"
    INTEGER = "an integer register or constant"
    RESULT = "an integer register that is written"
    SINK = "_: what is returned is not available here"
    CONSTANT = "an integer constant"
    PREDICATE = "a register of .pred that is written"
    ELECTED = "a pair register|predicate"
    DATA = "registers or constants of the type"
    OFFSETS = "a vector of 16-bit offsets"
    LOCATION = "an address without brackets"
    REGISTER = "an integer register"
    CELLS = "an address of tensor memory [register] or [register+offset]"
    MATRIX = "a matrix descriptor, or an address of tensor memory [register]"
    VECTOR = "a vector of registers"
    COORDINATES = "a vector of registers, or _ in place of any"
    CONDITION = "a predicate, perhaps negated, or 0 or 1"


@dataclass(frozen=True)
class Place:
    """An operand of a row.

    Attributes
    ----------
    name : str
        As the manual calls it.
    sort : Sort
        What it is.
    bits : int
        Width of registers.
    values : range or tuple of int, optional
        What constants may be.
    space : str
        Where a variable has to be: ``shared``, ``map`` (where tensor maps are), in the ``first`` or ``last``
        space that the mnemonic names; empty for anywhere.
    only_with : str
        The modifier that demands it; empty for all forms.
    available : Availability, optional
        Where an operand that may be left out can be given; None where it may not be left out.
    counts : tuple of (str, int)
        Of a vector: how many registers it has, the product of the numbers of the form's modifiers.
    types : tuple of str
        Types of registers, where they are others than those of the sort.
    """

    name: str
    sort: Sort
    bits: int = 32
    values: range | tuple[int, ...] | None = None
    space: str = ""
    only_with: str = ""
    available: Availability | None = None
    counts: tuple[tuple[str, int], ...] = ()
    types: tuple[str, ...] = ()

    @property
    def allowed(self) -> str:
        """What constants may be, in words."""
        if not isinstance(self.values, range):
            return ", ".join(map(str, self.values or ()))
        step = f" by {self.values.step}" if self.values.step > 1 else ""
        return f"{self.values[0]} to {self.values[-1]}{step}"

    def __str__(self) -> str:
        match self.sort:
            case Sort.ADDRESS | Sort.CELLS:
                text = f"[{self.name}]"
            case Sort.MATRIX:
                text = f"{self.name}-desc or [{self.name}]"
            case Sort.VECTOR | Sort.COORDINATES:
                text = f"{{{self.name}, …}}"
            case Sort.CONDITION:
                text = f"{self.name}: pred or 0, 1"
            case Sort.TENSOR:
                text = f"[{self.name}, {{coordinates}}]"
            case Sort.SINK:
                text = "_"
            case Sort.ELECTED:
                text = f"{self.name}|p"
            case Sort.OFFSETS | Sort.DATA:
                text = self.name
            case Sort.CONSTANT:
                text = f"{self.name}: constant"
            case Sort.PREDICATE:
                text = f"{self.name}: pred"
            case _:
                text = f"{self.name}: {self.bits} bits"
        if self.values is not None:
            text += f" {self.allowed}"
        return f"{text}?" if self.available else text


@dataclass(frozen=True)
class Row:
    """An instruction, in the forms that share a meaning.

    Attributes
    ----------
    head : str
        The words that keep their order.
    modifiers : str
        Slots by spaces: ``tile?`` (may be left out), ``cta|cluster`` (one of them), ``release+cta``
        (together).
    operands : tuple of Place
        In the order of the text.
    available : Availability
        The first PTX version, and the targets.
    section : str
        Of the PTX ISA.
    effect : tuple of str
        What it does, by lines; none where that is not specified here.
    later : mapping of str to Availability
        Modifiers that came later than the row.
    """

    head: str
    modifiers: str
    operands: tuple[Place, ...]
    available: Availability
    section: str
    effect: tuple[str, ...] = ()
    later: Mapping[str, Availability] = field(default_factory=lambda: NOWHERE_LATER)

    @property
    def opcode(self) -> str:
        """What stands before the first dot."""
        return self.head.partition(".")[0]

    @cached_property
    def slots(self) -> tuple[tuple[tuple[str, ...], ...], ...]:
        """The words of each choice of each slot."""
        found = []
        for slot in self.modifiers.split():
            choices = [tuple(choice.split("+")) for choice in slot.removesuffix("?").split("|")]
            found.append((*choices, *([()] if slot.endswith("?") else [])))
        return tuple(found)

    def forms(self) -> Iterator[Form]:
        """Yield every form."""
        for chosen in product(*self.slots):
            yield Form(self, tuple(word for words in chosen for word in words))

    @property
    def source(self) -> str:
        """The section of the manual."""
        return f"PTX ISA 9.1 section {self.section}"

    def __hash__(self) -> int:
        return hash((self.head, self.modifiers, self.operands))


@dataclass(frozen=True)
class Form:
    """One mnemonic of a row.

    Attributes
    ----------
    row : Row
        Whose it is.
    modifiers : tuple of str
        In the manual's order.
    """

    row: Row
    modifiers: tuple[str, ...]

    @property
    def key(self) -> Spelled:
        """The modifiers as far as their order counts."""
        return spelled(self.modifiers)

    @cached_property
    def places(self) -> tuple[Place, ...]:
        """The operands."""
        return tuple(
            place for place in self.row.operands if not place.only_with or place.only_with in self.modifiers
        )

    def places_of(self, operands: Sequence[object]) -> tuple[Place, ...]:
        """Return the places of operands: one that may be left out before others is there for a vector."""
        mandatory = [number for number, place in enumerate(self.places) if place.available is None]
        found: list[Place] = []
        for number, place in enumerate(self.places):
            inside = place.available is not None and number < max(mandatory, default=-1)
            given = operands[len(found)] if len(found) < len(operands) else None
            if not inside or isinstance(given, Vector):
                found.append(place)
        return tuple(found)

    def vector_length(self, place: Place) -> int:
        """Return how many registers the vector in a place has."""
        return prod(count for word, count in place.counts if word in self.modifiers)

    @property
    def fewest_operands(self) -> int:
        """How many operands cannot be left out."""
        return sum(place.available is None for place in self.places)

    @property
    def available(self) -> Availability:
        """Where and since when the form can be used."""
        found = self.row.available
        for word in self.modifiers:
            if (more := self.row.later.get(word)) is not None:
                found = both(found, more)
        return found

    def spaces(self, place: Place) -> tuple[str, ...]:
        """Return the state spaces that a variable in an operand's place may be in; none for any."""
        if place.space in ("first", "last"):
            named = self.key[1]
            wanted = named[0 if place.space == "first" else -1] if named else ""
            return (wanted.partition("::")[0],) if wanted else GENERIC
        return {"shared": ("shared",), "map": MAP_SPACES}.get(place.space, ())

    @property
    def rank(self) -> int:
        """Dimensions of a tensor copy; 0 of other instructions."""
        return next((int(word[0]) for word in self.modifiers if word in RANKS), 0)

    @property
    def elements(self) -> int:
        """Elements of a vector that is stored."""
        return next((int(word[1]) for word in self.modifiers if word in ("v2", "v4")), 1)

    @property
    def is_vector(self) -> bool:
        """Whether braces may stand around what is stored."""
        return self.row.opcode == "st"

    @property
    def type(self) -> str:
        """The last modifier that is a type; empty where there is none."""
        return next((word for word in reversed(self.modifiers) if word in TYPES), "")

    @property
    def mnemonic(self) -> str:
        """The manual's spelling."""
        return ".".join([self.row.head, *self.modifiers])


MAP_SPACES = ("global",)
"""Where variables are whose names are generic addresses of tensor maps."""

RANKS = ("1d", "2d", "3d", "4d", "5d")
"""Modifiers that say how many dimensions a tensor has."""

TYPES = (*(f"{sort}{bits}" for sort in "busf" for bits in (32, 64)), "f16", "bf16")
"""Types of elements that copies reduce, and of what is stored."""

Spelled = tuple[frozenset[str], tuple[str, ...], bool]
"""Modifiers but for those of `ORDERED`, these in their order, and whether one is repeated."""


def spelled(modifiers: tuple[str, ...]) -> Spelled:
    """Return modifiers as far as their order counts."""
    ordered = {*ORDERED, *(OF_WIDE if sum(word in OF_WIDE for word in modifiers) > 1 else ())}
    spaces = tuple(word for word in modifiers if word in ordered)
    others = frozenset(modifiers).difference(ordered)
    return others, spaces, len(others) + len(set(spaces)) < len(modifiers)


def both(one: Availability, other: Availability) -> Availability:
    """Return where two things can be used together."""
    exactly = one.exactly & other.exactly if one.exactly and other.exactly else one.exactly or other.exactly
    return Availability(max(one.ptx, other.ptx), max(one.minimum, other.minimum), exactly)
