"""The forms of ``tcgen05.mma``: kinds, CTAs, ``.sp``, ``.ws``, collectors and block scaling.

Source: PTX ISA 9.1 section 9.7.16; of 11,760 combinations of modifiers ptxas of CUDA 13.0 takes these on
sm_100a, and no other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from ..asynchronous.rows import Place, Row, Sort
from ..targets import Availability
from .rows import CHIPS, CTAS, FAMILY, SECTION, SINCE_86, SINCE_88

INTEGER_CHIPS = frozenset(name for name in CHIPS if not name.startswith("sm_103"))
"""Targets whose products may be of integers."""

SCALING = Availability(
    (8, 6), exactly=frozenset(name for name in FAMILY if name.startswith(("sm_100", "sm_103")))
)
"""Where D can be scaled before it is added to."""

_OPERATIONS = ("fill", "use", "lastuse", "discard")
_OF_A = "|".join(f"collector::a::{operation}" for operation in _OPERATIONS) + "?"
_OF_A_SHIFTED = "ashift collector::a::lastuse|collector::a::discard?"
_OF_B = "|".join(f"collector::b{place}::{operation}" for place in range(4) for operation in _OPERATIONS) + "?"


def _cells(name: str) -> Place:
    return Place(name, Sort.CELLS, types=("b32",))


_D, _B = _cells("d"), Place("b-desc", Sort.INTEGER, 64)
_A, _SHIFTED_A = Place("a", Sort.MATRIX, 64), _cells("a")
_METADATA, _IDESC = _cells("sp-meta"), Place("idesc", Sort.INTEGER)
_ENABLE = Place("enable-input-d", Sort.CONDITION, values=(0, 1))
_LANES = Place(
    "disable-output-lane", Sort.VECTOR, available=SINCE_86, counts=(("cta_group::1", 4), ("cta_group::2", 8))
)
_SCALE_D = Place("scale-input-d", Sort.CONSTANT, values=range(16), available=SCALING)
_ZEROS = Place("zero-column-mask", Sort.INTEGER, 64, available=SINCE_86)
_FACTORS = (_cells("sfa"), _cells("sfb"))

EFFECT = (
    "D[i,j] = Σ over k A[i,k]·B[k,j], plus the old D[i,j] where enable-input-d is true",
    "types, M, N, signs of A and B, and whether neighbours are along K: as idesc says",
    "done when a later commit arrives",
)
_SCALED = "each factor times its scale factor, a byte at sfa and sfb"
_CHIP = MappingProxyType(
    {f"scale_vec::{size}": Availability((8, 6), exactly=CHIPS) for size in ("1X", "2X", "4X")}
)
_LATER: Mapping[str, Availability] = MappingProxyType(
    {
        **_CHIP,
        "kind::mxf4nvf4": Availability((8, 7), exactly=FAMILY),
        "block16": SINCE_88,
        "block32": SINCE_88,
    }
)


def _products() -> Iterator[Row]:
    for sparse in (False, True):
        head, metadata = "tcgen05.mma" + ".sp" * sparse, (_METADATA,) * sparse
        for a, modifiers in ((_A, _OF_A), (_SHIFTED_A, _OF_A_SHIFTED)):
            common = (_D, a, _B, *metadata, _IDESC, _LANES, _ENABLE)
            yield Row(
                head, f"{CTAS} kind::f16|kind::tf32 {modifiers}", (*common, _SCALE_D), SINCE_86, SECTION,
                (*EFFECT, "lanes of the mask keep D; the old D is divided by 2^scale-input-d"),
            )  # fmt: skip
            for kind, since in (("f8f6f4", SINCE_86), ("i8", Availability((8, 6), exactly=INTEGER_CHIPS))):
                yield Row(
                    head, f"{CTAS} kind::{kind} {modifiers}", common, since, SECTION,
                    (*EFFECT, "lanes of the mask keep D"),
                )  # fmt: skip


def _scaled() -> Iterator[Row]:
    for sparse in (False, True):
        head, metadata = "tcgen05.mma" + ".sp" * sparse, (_METADATA,) * sparse
        operands = (_D, _A, _B, *metadata, _IDESC, *_FACTORS, _ENABLE)
        for kind, packed in (("mxf8f6f4", False), ("mxf4", True), ("mxf4nvf4", True)):
            since = Availability((8, 6), exactly=CHIPS if sparse and packed else FAMILY)
            sizes = {
                "mxf8f6f4": "scale_vec::1X|block32", "mxf4": "scale_vec::2X|block32",
                "mxf4nvf4": "scale_vec::2X|scale_vec::4X|block16|block32",
            }[kind]  # fmt: skip
            words = f"{CTAS} kind::{kind} block_scale"
            effect = (*EFFECT, _SCALED)
            yield Row(head, f"{words} {sizes} {_OF_A}", operands, since, SECTION, effect, _LATER)
            if kind != "mxf4nvf4":
                defaulted = Availability((8, 8), exactly=since.exactly)
                yield Row(head, f"{words} {_OF_A}", operands, defaulted, SECTION, effect, _LATER)


def _reusing() -> Iterator[Row]:
    for sparse in (False, True):
        head, metadata = "tcgen05.mma.ws" + ".sp" * sparse, (_METADATA,) * sparse
        operands = (_D, _A, _B, *metadata, _IDESC, _ENABLE, _ZEROS)
        for kinds, since in (
            ("kind::f16|kind::tf32|kind::f8f6f4", SINCE_86),
            ("kind::i8", Availability((8, 6), exactly=INTEGER_CHIPS)),
        ):
            yield Row(
                head, f"cta_group::1 {kinds} {_OF_B}", operands, since, SECTION,
                (*EFFECT, "columns of B that the mask names count as 0"),
            )  # fmt: skip


ROWS: tuple[Row, ...] = (*_products(), *_scaled(), *_reusing())
"""Every row of products."""
