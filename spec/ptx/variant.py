"""A fully qualified form of a matrix instruction of a warp or a warpgroup, as it is spelled.

ptxas takes the modifiers of these instructions in any order (reference 9.7.14 gives one), so a variant
is a *set* of modifiers, except for the element types and the two layouts, whose order has a meaning.
A variant need not be legal: what is spelled is kept, `legality` judges it. ``str`` gives the spelling of the
manual's syntax lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from types import MappingProxyType
from typing import NamedTuple

from ..errors import InputError

WARP_LANES = 32
"""Threads of a warp."""

WARPGROUP_WARPS = 4
"""Neighbouring warps of a warpgroup, the first of a rank that is a multiple of it."""


class Shape(NamedTuple):
    """A tile shape; a matrix move has no k, and its n is the columns of one matrix."""

    m: int
    n: int
    k: int = 0

    def __str__(self) -> str:
        return f"m{self.m}n{self.n}" + (f"k{self.k}" if self.k else "")

    @classmethod
    def parse(cls, text: str) -> Shape:
        """Read ``m16n8k16`` or ``m8n8``.

        Raises
        ------
        InputError
            If it is no shape.
        """
        if (match := _SHAPE.fullmatch(text)) is None:
            raise InputError(f"{text!r} is no shape; a shape looks like m16n8k16 or m8n8")
        return cls(*(int(extent or 0) for extent in match.groups()))


_SHAPE = re.compile(r"m([1-9]\d{0,3})n([1-9]\d{0,3})(?:k([1-9]\d{0,3}))?", re.ASCII)


class Family(StrEnum):
    """The instructions."""

    WMMA_LOAD = "wmma.load"
    WMMA_STORE = "wmma.store"
    WMMA_MMA = "wmma.mma"
    MMA = "mma"
    MMA_SP = "mma.sp"
    LDMATRIX = "ldmatrix"
    STMATRIX = "stmatrix"
    MOVMATRIX = "movmatrix"
    WGMMA = "wgmma.mma_async"
    WGMMA_SP = "wgmma.mma_async.sp"
    WGMMA_FENCE = "wgmma.fence"
    WGMMA_COMMIT = "wgmma.commit_group"
    WGMMA_WAIT = "wgmma.wait_group"


WARPGROUP = (Family.WGMMA, Family.WGMMA_SP)
"""The products of a warpgroup: D is C, too, and B is in shared memory."""

WARPGROUP_ORDER = (Family.WGMMA_FENCE, Family.WGMMA_COMMIT, Family.WGMMA_WAIT)
"""The instructions that order a warpgroup's products with other accesses to registers."""

MULTIPLYING = (Family.MMA, Family.MMA_SP, Family.WMMA_MMA, *WARPGROUP)
"""The instructions that multiply."""

SPARSE: Mapping[Family, Family] = MappingProxyType({Family.MMA: Family.MMA_SP, Family.WGMMA: Family.WGMMA_SP})
"""What ``.sp`` makes of an instruction."""

WMMA = (Family.WMMA_LOAD, Family.WMMA_STORE, Family.WMMA_MMA)
"""The instructions on fragments that PTX leaves unspecified."""

MATRIX_MOVES = (Family.LDMATRIX, Family.STMATRIX, Family.MOVMATRIX)
"""The instructions that move matrices of 8 rows or more."""


@dataclass(frozen=True)
class Variant:
    """An instruction with its modifiers.

    Attributes
    ----------
    family : Family
        Which instruction.
    shape : Shape, optional
        Tile shape.
    types : tuple of str
        Element types in the order of the text: D A B C and the scale type for ``mma``, ``mma.sp`` and
        ``wmma.mma`` (f16 ``wmma.mma``: D C), D A B for ``wgmma``; one for the others, two
        (``b8x16.b6x16_p32``) where ``ldmatrix`` expands.
    layouts : tuple of str
        ``row`` or ``col``, of A and B in that order; one for ``wmma.load`` and ``wmma.store``.
    role : str, optional
        ``a``, ``b``, ``c`` or ``d`` of ``wmma.load`` and ``wmma.store``.
    kind : str, optional
        ``f8f6f4``, ``mxf8f6f4``, ``mxf4`` or ``mxf4nvf4``.
    block_scale : bool
        Whether ``.block_scale`` is there.
    scale_vec : str, optional
        ``1X``, ``2X`` or ``4X`` (or the ``block16`` and ``block32`` of tcgen05).
    ordered_metadata : bool
        ``mma.sp::ordered_metadata`` instead of ``mma.sp``.
    satfinite, trans, popc, sync, aligned : bool
        Whether the modifier is there.
    rounding : str, optional
        ``rn``, ``rz``, ``rm`` or ``rp``.
    bit_operation : str, optional
        ``xor`` or ``and``.
    count : str, optional
        ``x1``, ``x2`` or ``x4``: the number of matrices moved.
    space : str, optional
        State space: ``global``, ``shared``, ``shared::cta``.
    """

    family: Family
    shape: Shape | None = None
    types: tuple[str, ...] = ()
    layouts: tuple[str, ...] = ()
    role: str | None = None
    kind: str | None = None
    block_scale: bool = False
    scale_vec: str | None = None
    ordered_metadata: bool = False
    satfinite: bool = False
    trans: bool = False
    popc: bool = False
    sync: bool = True
    aligned: bool = True
    rounding: str | None = None
    bit_operation: str | None = None
    count: str | None = None
    space: str | None = None

    @cached_property
    def element_types(self) -> Mapping[str, str]:
        """Element types by operand: ``d``, ``a``, ``b``, ``c`` and ``scale``; none of matrix moves."""
        match self.family, self.types:
            case (Family.WMMA_MMA, (d, c)):
                return MappingProxyType({"d": d, "a": "f16", "b": "f16", "c": c})
            case ((Family.MMA | Family.MMA_SP | Family.WMMA_MMA), _):
                return MappingProxyType(dict(zip(("d", "a", "b", "c", "scale"), self.types, strict=False)))
            case ((Family.WGMMA | Family.WGMMA_SP), (d, *_)):
                return MappingProxyType({**dict(zip(("d", "a", "b"), self.types, strict=False)), "c": d})
            case (Family.WMMA_LOAD | Family.WMMA_STORE, (element,)) if self.role is not None:
                return MappingProxyType({self.role: element})
            case _:
                return MappingProxyType({})

    @property
    def opcode(self) -> str:
        """The instruction's name, with the operand of ``wmma.load`` and ``wmma.store``."""
        if self.role is not None:
            return f"{self.family}.{self.role}"
        return f"{self.family}::ordered_metadata" if self.ordered_metadata else str(self.family)

    def __str__(self) -> str:
        order = _ORDERS[self.family]
        rest = [slot for slot in _SPELLINGS if slot not in order]
        parts = [part for slot in (*order, *rest) for part in _SPELLINGS[slot](self)]
        return ".".join([self.opcode, *parts])


def _flag(name: str) -> Callable[[Variant], Sequence[str]]:
    return lambda variant: [name] if getattr(variant, name) else []


def _word(name: str, prefix: str = "") -> Callable[[Variant], Sequence[str]]:
    def spell(variant: Variant) -> Sequence[str]:
        value = getattr(variant, name)
        return [] if value is None else [f"{prefix}{value}"]

    return spell


_SPELLINGS: Mapping[str, Callable[[Variant], Sequence[str]]] = MappingProxyType(
    {
        "sync": _flag("sync"),
        "aligned": _flag("aligned"),
        "shape": _word("shape"),
        "layouts": lambda variant: variant.layouts,
        "count": _word("count"),
        "trans": _flag("trans"),
        "space": _word("space"),
        "kind": _word("kind", "kind::"),
        "block_scale": _flag("block_scale"),
        "scale_vec": lambda variant: _spell_scale_vec(variant.scale_vec),
        "types": lambda variant: variant.types,
        "satfinite": _flag("satfinite"),
        "rounding": _word("rounding"),
        "bit_operation": _word("bit_operation"),
        "popc": _flag("popc"),
    }
)
"""How each modifier is spelled."""


def _spell_scale_vec(size: str | None) -> Sequence[str]:
    """``2X`` stands behind ``scale_vec::``, the ``block32`` of tcgen05 alone."""
    if size is None:
        return []
    return [size if size.startswith("block") else f"scale_vec::{size}"]


_MMA_ORDER = (
    "sync", "aligned", "shape", "layouts", "satfinite", "kind", "block_scale", "scale_vec", "types",
    "rounding", "bit_operation", "popc",
)  # fmt: skip
_WMMA_MOVE_ORDER = ("sync", "aligned", "layouts", "shape", "space", "types")
_MATRIX_MOVE_ORDER = ("sync", "aligned", "shape", "count", "trans", "space", "types")

_ORDERS: Mapping[Family, tuple[str, ...]] = MappingProxyType(
    {
        Family.MMA: _MMA_ORDER,
        Family.MMA_SP: _MMA_ORDER,
        **dict.fromkeys((*WARPGROUP, *WARPGROUP_ORDER), _MMA_ORDER),
        Family.WMMA_LOAD: _WMMA_MOVE_ORDER,
        Family.WMMA_STORE: _WMMA_MOVE_ORDER,
        Family.WMMA_MMA: (
            "bit_operation", "popc", "sync", "aligned", "layouts", "shape", "rounding", "types", "satfinite"
        ),
        Family.LDMATRIX: _MATRIX_MOVE_ORDER,
        Family.STMATRIX: _MATRIX_MOVE_ORDER,
        Family.MOVMATRIX: _MATRIX_MOVE_ORDER,
    }
)  # fmt: skip
"""Order of the modifiers in the manual's syntax lines; others follow behind."""
