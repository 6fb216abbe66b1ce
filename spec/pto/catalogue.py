"""The PTO operations covered: their names, operands in the order of the text, and what runs them.

Source: reference sections B.7, D.2 and E.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from ..errors import InputError
from .tile import Location


class OperationKind(StrEnum):
    """What an operation does."""

    MATMUL = "matrix product"
    GEMV = "vector-matrix product"
    MOVE = "move"


INDICES = ("row", "column")
"""Roles of operands that are numbers: where a block begins in a tile."""


@dataclass(frozen=True)
class Operation:
    """An operation.

    Attributes
    ----------
    name : str
        As in the text, without ``pto.``: ``tmatmul.mx.acc``.
    kind : OperationKind
        What it does.
    inputs : tuple of str
        Roles of its operands in the order of the text. Products: ``c`` the accumulator read, ``a``,
        ``scale_a``, ``b``, ``scale_b``, ``bias``. Moves: ``source``, ``row``, ``column``.
    output : str
        ``d`` of a product, ``target`` of a move.
    summary : str
        One line.
    optional : tuple of str
        Roles of operands that may stand behind the inputs: a ``quantisation``, which is a scalar or a tile.
    view : str, optional
        Role of the operand that is a view of global memory.
    """

    name: str
    kind: OperationKind
    inputs: tuple[str, ...]
    output: str
    summary: str
    optional: tuple[str, ...] = ()
    view: str | None = None

    @property
    def stores(self) -> bool:
        """Whether it writes global memory, which even a text with results names as an operand."""
        return self.view == self.output

    @property
    def tiles(self) -> tuple[str, ...]:
        """Roles of the operands that are tiles or views: all but indices, and optional ones."""
        return tuple(role for role in (*self.inputs, self.output) if role not in INDICES)

    @property
    def microscaled(self) -> bool:
        """Whether operands come with scale factors."""
        return "scale_a" in self.inputs

    @property
    def accumulates(self) -> bool:
        """Whether the sum includes an accumulator."""
        return "c" in self.inputs

    @property
    def biased(self) -> bool:
        """Whether the sum includes a bias row."""
        return "bias" in self.inputs

    def __str__(self) -> str:
        return self.name


ROLE_LOCATIONS = MappingProxyType(
    {
        "a": Location.LEFT,
        "b": Location.RIGHT,
        "c": Location.ACC,
        "d": Location.ACC,
        "bias": Location.BIAS,
        "scale_a": Location.SCALE_LEFT,
        "scale_b": Location.SCALE_RIGHT,
    }
)
"""Where the operands of a product live."""


def _products() -> list[Operation]:
    found = []
    for stem, kind, what in (
        ("tmatmul", OperationKind.MATMUL, "matrix product"),
        ("tgemv", OperationKind.GEMV, "row vector times matrix"),
    ):
        for mx in ("", ".mx"):
            factors = ("a", "scale_a", "b", "scale_b") if mx else ("a", "b")
            scaled = ", scaled per 32 elements of K" if mx else ""
            for suffix, inputs, plus in (
                ("", factors, ""),
                (".acc", ("c", *factors), " plus an accumulator"),
                (".bias", (*factors, "bias"), " plus a bias row"),
            ):
                found.append(Operation(f"{stem}{mx}{suffix}", kind, inputs, "d", what + scaled + plus))
    return found


def _move(
    name: str, summary: str, *indices: str, view: str | None = None, quantised: bool = True
) -> Operation:
    optional = ("quantisation",) if quantised else ()
    return Operation(name, OperationKind.MOVE, ("source", *indices), "target", summary, optional, view)


_MOVES = (
    _move("tload", "global memory to a tile", view="source", quantised=False),
    _move("tmov", "tile to tile, of one extent"),
    _move("textract", "a block of a tile to a tile", *INDICES),
    _move("tinsert", "a tile to a block of a tile", *INDICES),
    _move("tstore", "a tile to global memory", view="target"),
)

OPERATIONS = MappingProxyType({operation.name: operation for operation in (*_products(), *_MOVES)})
"""Every operation by name."""


def plain_name(name: str) -> str:
    """Return a name without ``pto.``, the underscores of page titles (``tmatmul_bias``), and ``.fp``.

    ``tmov.fp`` is a ``tmov`` with a tile of scale factors.
    """
    plain = name.removeprefix("pto.").lower().replace("_", ".")
    stem = OPERATIONS.get(plain.removesuffix(".fp"))
    return stem.name if stem is not None and stem.optional else plain


def operation_named(name: str) -> Operation:
    """Look an operation up by any of its names, see `plain_name`.

    Raises
    ------
    InputError
        If there is none.
    """
    try:
        return OPERATIONS[plain_name(name)]
    except KeyError:
        raise InputError(f"unknown operation {name[:60]!r}; known: {', '.join(OPERATIONS)}") from None
