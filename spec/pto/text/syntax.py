"""What a PTO text says: statements, operands and types, with nothing filled in that it leaves out.

Source: reference section D.3; `assembly` reads and prints it, `resolution` fills in what is left out.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from ..catalogue import Operation
from ..element_types import ElementType
from ..tile import Compact, Extent, Location, Order, Pad


class Form(StrEnum):
    """The families of textual forms."""

    F1 = "PTO-AS synchronous form"
    F2 = "AS/IR level 1 (SSA)"
    F3 = "AS/IR level 2 (destination passing style)"


class Spelling(StrEnum):
    """How a tile type is written."""

    OPAQUE = "!pto.tile<...>"
    SHAPE = "!pto.tile<RxCxT>"
    PAGE = "!pto.tile<loc=L, T, R, C, …>"
    KEYED = "!pto.tile_buf<loc=L, dtype=T, rows=R, …>"
    COMPACT = "!pto.tile_buf<L, RxCxT, key=value, …>"


@dataclass(frozen=True)
class TileType:
    """A tile type as spelled; None where the text does not say.

    Attributes are those of `Tile`; `fractal_name` is the page spelling's ``NZ``, ``ZN``, ….
    """

    spelling: Spelling
    location: Location | None = None
    element: ElementType | None = None
    rows: int | None = None
    columns: int | None = None
    valid_rows: Extent | None = None
    valid_columns: Extent | None = None
    blocks: Order | None = None
    inner: Order | None = None
    fractal: int | None = None
    pad: Pad | None = None
    compact: Compact | None = None
    fractal_name: str | None = None

    def __str__(self) -> str:
        from .printing import spell_type

        return spell_type(self)


@dataclass(frozen=True)
class OtherType:
    """A type that is no tile: ``index``, ``i64``, ``!pto.partition_tensor_view<64x128xf16>``, ….

    Attributes
    ----------
    text : str
        As written, blanks normalised.
    element : ElementType, optional
        Of a tensor view.
    extents : tuple of int or DYNAMIC
        Of a tensor view.
    """

    text: str
    element: ElementType | None = None
    extents: tuple[Extent, ...] = ()

    def __str__(self) -> str:
        return self.text


Type = TileType | OtherType


@dataclass(frozen=True)
class Operand:
    """A value with its type.

    Attributes
    ----------
    name : str
        ``%a``, or a literal.
    type : Type, optional
        None where the text gives none.
    indices : tuple of str
        Of an indexed operand ``%panel[%z, %kk]``.
    index_types : tuple of Type
        Of the indices, where the text gives them.
    """

    name: str
    type: Type | None = None
    indices: tuple[str, ...] = ()
    index_types: tuple[Type, ...] = ()


def writes_memory(operation: Operation) -> bool:
    """Whether an operation has no result in the forms that have results: it names what it writes."""
    return operation.name == "tstore"


@dataclass(frozen=True)
class Instruction:
    """One operation of `OPERATIONS`.

    Attributes
    ----------
    operation : Operation
        Which one.
    form : Form
        How it is written.
    inputs, outputs : tuple of Operand
        What it reads and writes; F1 and F2 write their results.
    attributes : tuple of (str, str)
        The attribute dictionary.
    line, column : int
        Where it starts, from 1; instructions that differ in nothing else are equal.
    results : tuple of Operand
        Tensors that the destination passing style of older files returns besides, in general none.
    """

    operation: Operation
    form: Form
    inputs: tuple[Operand, ...]
    outputs: tuple[Operand, ...]
    attributes: tuple[tuple[str, str], ...] = ()
    line: int = field(default=1, compare=False)
    column: int = field(default=1, compare=False)
    results: tuple[Operand, ...] = ()

    def __str__(self) -> str:
        from .printing import spell

        return spell(self)

    def operands(self) -> dict[str, Operand]:
        """Return the operands by role (as far as there are as many as roles).

        The indices of ``%panel[%row, %column]`` count as operands of their own.
        """
        inputs: list[Operand] = []
        for operand in self.inputs:
            types = operand.index_types or (None,) * len(operand.indices)
            inputs += [Operand(operand.name, operand.type), *map(Operand, operand.indices, types)]
        roles = (*self.operation.inputs, *self.operation.optional)
        return dict(zip(roles, inputs, strict=False)) | dict(
            zip((self.operation.output,), self.outputs, strict=False)
        )
