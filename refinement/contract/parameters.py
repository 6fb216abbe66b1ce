"""Parameters of a contract, for any sizes (`docs/contracts.md`)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ...spec.formats import Bits, Format
from ..formula.index_arithmetic import Expression


@dataclass(frozen=True)
class TensorFields:
    """What a contract says of a tensor map beside its array; extents in the order of the array's axes.

    Attributes
    ----------
    box : tuple of Expression
        Elements that one copy traverses, along each axis.
    element_strides : tuple of Expression
        Every how many of them it copies; empty for all.
    swizzle, interleave : int
        Bytes; 0 for none.
    fill : str
        What stands for elements outside.
    where : str
        ``file:line``.
    elements : str
        The type of the map's elements, of which each is several of the array's; empty where it is one.
    """

    box: tuple[Expression, ...]
    element_strides: tuple[Expression, ...]
    swizzle: int
    interleave: int
    fill: str
    where: str
    elements: str = ""


class Access(StrEnum):
    """What a kernel may do to an array."""

    IN = "in"
    OUT = "out"
    INOUT = "inout"
    SCRATCH = "scratch"

    @property
    def is_output(self) -> bool:
        """Whether the contract may say what it holds afterwards."""
        return self in (Access.OUT, Access.INOUT)

    @property
    def is_known_before(self) -> bool:
        """Whether the contract may speak of what it holds before."""
        return self in (Access.IN, Access.INOUT)

    @property
    def is_written(self) -> bool:
        """Whether the kernel may write it."""
        return self is not Access.IN


class Gaps(StrEnum):
    """What becomes of memory that lies between an array's elements and belongs to none."""

    KEPT = "kept"
    ANY = "any"


class Covers(StrEnum):
    """How much of an output a kernel of which only memory is looked at has to write."""

    WHOLE = "whole"
    PART = "part"


class Passed(StrEnum):
    """To which of two kernels that are compared a parameter is passed."""

    BOTH = "both"
    NEW = "new"
    OLD = "old"


@dataclass(frozen=True)
class ScalarParameter:
    """A parameter passed by value.

    Attributes
    ----------
    name : str
        Its name in formulas.
    format : Format
        Its type.
    value : Expression or encoding, optional
        An integer in the sizes, or the encoding of a float; None for any value at all.
    where : str
        ``file:line``.
    passed : Passed
        To which kernels.
    of_launch : bool
        Whether every block gets its own number instead of a value.
    """

    name: str
    format: Format
    value: Expression | int | None
    where: str
    passed: Passed = Passed.BOTH
    of_launch: bool = False


@dataclass(frozen=True)
class ArrayParameter:
    """A pointer, and the array there.

    Attributes
    ----------
    name : str
        Its name in formulas.
    format : Format
        Of an element.
    access : Access
        What the kernel may do.
    shape : tuple of Expression
        Extents.
    strides : tuple of Expression, or str
        In elements; or ``row-major``, ``column-major``.
    alignment : int
        Of its address, in bytes.
    element_bits, low_bit : int
        Memory taken by one element, and where in it the encoding begins.
    contents : array, optional
        Encodings that fill the array, repeated; None for any contents at all.
    gaps : Gaps
        Whether the kernel may use memory between elements.
    where : str
        ``file:line``.
    passed : Passed
        To which kernels.
    within : str, optional
        The buffer that it lies in; it has one of its own by default.
    at : Expression, optional
        How many bytes behind the beginning of that buffer.
    covers : Covers
        How much of it must be written, where the contract says nothing of values.
    variable : str, optional
        The variable of the kernel's module, in constant memory, that begins with it.
    """

    name: str
    format: Format
    access: Access
    shape: tuple[Expression, ...]
    strides: tuple[Expression, ...] | str
    alignment: int
    element_bits: int
    low_bit: int
    contents: Bits | None
    gaps: Gaps
    where: str
    passed: Passed = Passed.BOTH
    within: str | None = None
    at: Expression | None = None
    covers: Covers = Covers.WHOLE
    variable: str | None = None


@dataclass(frozen=True)
class BufferParameter:
    """A buffer that holds several arrays.

    Attributes
    ----------
    name : str
        What messages and contracts call it.
    size : Expression
        Bytes.
    alignment : int
        Of its address, in bytes.
    where : str
        ``file:line``.
    """

    name: str
    size: Expression
    alignment: int
    where: str


Parameter = ScalarParameter | ArrayParameter


@dataclass(frozen=True)
class PointerParameter:
    """An address in an array, passed by value; or a pointer to several of them in memory.

    Attributes
    ----------
    name : str
        What messages call it.
    targets : tuple of (str, Expression)
        Arrays, and bytes from their beginnings.
    in_memory : bool
        Whether the addresses are in memory, and what is passed points there.
    alignment : int
        Of that memory, in bytes.
    where : str
        ``file:line``.
    passed : Passed
        To which kernels.
    tensor : TensorFields, optional
        Of a tensor map of the array, which is passed by value.
    """

    name: str
    targets: tuple[tuple[str, Expression], ...]
    in_memory: bool
    alignment: int
    where: str
    passed: Passed = Passed.BOTH
    tensor: TensorFields | None = None


@dataclass(frozen=True)
class Structure:
    """A structure that is passed by value.

    Attributes
    ----------
    name : str
        What messages call it.
    size : int
        Bytes.
    fields : tuple of (int, str)
        Where parameters lie in it, in bytes, and their names.
    passed : Passed
        To which kernels.
    """

    name: str
    size: int
    fields: tuple[tuple[int, str], ...]
    passed: Passed = Passed.BOTH


@dataclass(frozen=True)
class Parameters:
    """All parameters of a contract.

    Attributes
    ----------
    values : tuple of Parameter
        Scalars and arrays in the kernel's order, those in structures one by one; then the arrays that only
        pointers lead to.
    pointers : tuple of PointerParameter
        Addresses, and pointers to addresses.
    buffers : tuple of BufferParameter
        Memory in which several arrays lie.
    passing : tuple of Structure or str
        What the kernel takes, in its order: structures, and names of what stands alone.
    """

    values: tuple[Parameter, ...]
    pointers: tuple[PointerParameter, ...]
    buffers: tuple[BufferParameter, ...]
    passing: tuple[Structure | str, ...]
