"""Operands of an instruction as they are written.

``str`` of each spells it as PTX does.
"""

from __future__ import annotations

from dataclasses import dataclass, field

GENERIC = ("global", "shared", "local")
"""State spaces of variables whose names are generic addresses too."""

UNDECLARED = "undeclared"
"""The type of a name that nothing declares, where all declarations are known."""


@dataclass(frozen=True)
class Register:
    """A register, or another name in its place.

    Attributes
    ----------
    name : str
        As written.
    type : str, optional
        The type it was declared with (``b32``; ``v4.b32`` of a vector), None where that is not known; what
        another name is: ``.shared`` (a variable there), ``.special`` (a special register), ``.func``,
        ``.label``.
    """

    name: str
    type: str | None = None

    @property
    def space(self) -> str | None:
        """What a name is that is no register, where that is known; the state space of a variable."""
        return self.type[1:] if self.type is not None and self.type.startswith(".") else None

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Sink:
    """The ``_`` of a result that is not needed."""

    def __str__(self) -> str:
        return "_"


@dataclass(frozen=True)
class Integer:
    """An integer constant.

    Attributes
    ----------
    value : int
        The number; a negative one stands for its two's complement of 64 bits.
    unsigned : bool
        Whether it is unsigned where it is an operand of a constant expression.
    """

    value: int
    unsigned: bool = field(default=False, compare=False)

    def __str__(self) -> str:
        return str(self.value)


@dataclass(frozen=True)
class HexFloat:
    """A floating-point constant by its bits.

    Attributes
    ----------
    encoding : int
        The bits.
    bits : int
        32 of ``0f3F800000``, 64 of ``0d3FF0000000000000``.
    """

    encoding: int
    bits: int

    def __str__(self) -> str:
        return f"0{'f' if self.bits == 32 else 'd'}{self.encoding:0{self.bits // 4}X}"


@dataclass(frozen=True)
class Decimal:
    """A floating-point constant such as ``1.5``."""

    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Negated:
    """A predicate that is read negated: ``!%p1``."""

    register: Register

    def __str__(self) -> str:
        return f"!{self.register}"


Constant = Integer | HexFloat | Decimal
Scalar = Register | Sink | Constant


@dataclass(frozen=True)
class Vector:
    """A brace-enclosed vector of registers, sinks or constants."""

    elements: tuple[Scalar, ...]

    def __str__(self) -> str:
        return f"{{{', '.join(map(str, self.elements))}}}"


@dataclass(frozen=True)
class Address:
    """A memory operand: ``[base]`` or ``[base+offset]``.

    Attributes
    ----------
    base : Register or Integer
        A register or variable; a constant is read, but no instruction here takes one.
    offset : int
        Bytes.
    """

    base: Register | Integer
    offset: int = 0

    def __str__(self) -> str:
        return f"[{self.base}+{self.offset}]" if self.offset else f"[{self.base}]"


Operand = Scalar | Vector | Address | Negated


@dataclass(frozen=True)
class Predicate:
    """A guard: ``@p``, negated ``@!p``.

    Attributes
    ----------
    name : str
        As written.
    negated : bool
        Whether threads act where it is false.
    type : str, optional
        The type it was declared with, None where that is not known.
    """

    name: str
    negated: bool = False
    type: str | None = None

    def __str__(self) -> str:
        return f"@{'!' * self.negated}{self.name}"
