"""The PTO operations covered: names, operands in the order of the text, and the element types they take.

Source: pto-isa headers at 3186c381 (TMatmul, CheckStaticMad).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from ..errors import InputError
from .element_types import ELEMENT_TYPES, ElementType
from .targets import A2A3, A5, CPU, Profile
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


@dataclass(frozen=True)
class TypeTriple:
    """Element types that go together.

    Attributes
    ----------
    accumulator : ElementType
        Of C and D.
    factors : tuple of ElementType
        A and B may each be any of these.
    plain, microscaled : tuple of Profile
        Who has them in the products without and with scale factors.
    note : str
        What else there is to know.
    """

    accumulator: ElementType
    factors: tuple[ElementType, ...]
    plain: tuple[Profile, ...] = ()
    microscaled: tuple[Profile, ...] = ()
    note: str = ""

    def on(self, profile: Profile, operation: Operation) -> bool:
        """Whether a profile's operation takes it."""
        return profile in (self.microscaled if operation.microscaled else self.plain)

    def __str__(self) -> str:
        factors = "/".join(map(str, self.factors))
        return f"{self.accumulator} <- {factors} x {factors}"


def _triple(
    accumulator: str,
    *factors: str,
    plain: tuple[Profile, ...] = (),
    microscaled: tuple[Profile, ...] = (),
    note: str = "",
) -> TypeTriple:
    types = tuple(ELEMENT_TYPES[name] for name in factors)
    return TypeTriple(ELEMENT_TYPES[accumulator], types, plain, microscaled, note)


_EVERYONE = (A2A3, A5, CPU)

TYPE_TRIPLES = (
    _triple("i32", "i8", plain=_EVERYONE),
    _triple("f32", "f16", plain=_EVERYONE),
    _triple(
        "f32", "bf16", plain=_EVERYONE,
        note="on CPU only with a C++23 library: before, bfloat16_t is an alias of half",
    ),
    _triple("f32", "f32", plain=_EVERYONE),
    _triple("f32", "f8E4M3FN", "f8E5M2", plain=(A5,), microscaled=(A5, CPU)),
    _triple("f32", "hif8", plain=(A5,)),
    _triple("f32", "f4E1M2x2", "f4E2M1x2", microscaled=(A5, CPU)),
)  # fmt: skip
"""Every triple."""


def triples(profile: Profile, operation: Operation) -> tuple[TypeTriple, ...]:
    """Return what a profile's product takes."""
    return tuple(triple for triple in TYPE_TRIPLES if triple.on(profile, operation))
