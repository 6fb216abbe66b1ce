"""The forms of ``tcgen05``, but for products: memory, loads and stores, copies, commits and fences.

Source: PTX ISA 9.1 section 9.7.16; ptxas of CUDA 13.0 on every form and target.
"""

from __future__ import annotations

from ..asynchronous.rows import Place, Row, Sort
from ..targets import TARGETS, Availability
from .register_shapes import SHAPES

SECTION = "9.7.16"

FAMILY = frozenset(name for name, target in TARGETS.items() if target.suffix and 100 <= target.number < 120)
"""Targets that have tensor memory."""

CHIPS = frozenset(name for name in FAMILY if name.endswith("a"))
"""Those of one chip."""

SINCE_86, SINCE_88 = Availability((8, 6), exactly=FAMILY), Availability((8, 8), exactly=FAMILY)
REDUCING = Availability(
    (8, 8), exactly=frozenset(name for name in FAMILY if TARGETS[name].number not in (100, 101))
)
"""Where loads reduce."""

ALLOCATIONS = tuple(1 << power for power in range(5, 10))
"""How many columns can be allocated."""

CTAS = "cta_group::1|cta_group::2"
CELLS = Place("taddr", Sort.CELLS)
_COLUMNS = Place("nCols", Sort.INTEGER, values=ALLOCATIONS)
_HALF = Place("immHalfSplitoff", Sort.CONSTANT, only_with="16x32bx2")
_REGISTERS = Place(
    "r",
    Sort.VECTOR,
    counts=(*((f"x{1 << power}", 1 << power) for power in range(8)), ("16x128b", 2), ("16x256b", 4)),
)


def _counts(*names: str, least: int = 1) -> str:
    return "|".join(f"x{count}" for count in SHAPES[names[0]].counts if count >= least)


_GROUPS = (("32x32b", "16x64b"), ("16x128b",), ("16x256b",), ("16x32bx2",))
"""Shapes with the same counts, but for those with a second address."""


def _moves() -> tuple[Row, ...]:
    loaded = "r = the cells (lane, column) from taddr on that the shape gives the thread; done after wait::ld"
    stored = "the cells (lane, column) from taddr on that the shape gives the thread = r; done after wait::st"
    more = {"pack::16b": "low halves of two neighbouring cells", "unpack::16b": "low halves of two cells"}
    found = []
    for names in _GROUPS:
        words = f"sync aligned {'|'.join(names)} {_counts(*names)}"
        found.append(
            Row(
                "tcgen05.ld", f"{words} pack::16b? b32", (_REGISTERS, CELLS, _HALF), SINCE_86, SECTION,
                (loaded, f"with .pack::16b a register has the {more['pack::16b']}"),
            )
        )  # fmt: skip
        found.append(
            Row(
                "tcgen05.st", f"{words} unpack::16b? b32", (CELLS, _HALF, _REGISTERS), SINCE_86, SECTION,
                (stored, f"with .unpack::16b a register has the {more['unpack::16b']}; high halves are open"),
            )
        )  # fmt: skip
    return tuple(found)


def _reductions() -> tuple[Row, ...]:
    reduced = Place("redval", Sort.RESULT, types=("b32", "u32", "s32", "f32"))
    effect = (
        "r = the cells, as tcgen05.ld; redval = their minimum or maximum in the thread; done after wait::ld",
    )
    words = f"sync aligned 32x32b|16x32bx2 {_counts('32x32b', least=2)} min|max"
    return tuple(
        Row(
            "tcgen05.ld.red",
            f"{words} {kinds}",
            (_REGISTERS, reduced, CELLS, _HALF),
            REDUCING,
            SECTION,
            effect,
        )
        for kinds in ("abs? NaN? f32", "u32|s32")
    )


def _copies() -> tuple[Row, ...]:
    effect = (
        "cells from taddr on = rows in shared memory, as the descriptor and the shape say, in every copy",
        "with a format, 16 elements of 6 or 4 bits and their padding become 16 bytes",
    )
    widened = "b8x16+b6x16_p32|b8x16+b4x16_p64?"
    operands = (CELLS, Place("s-desc", Sort.INTEGER, 64))
    return tuple(
        Row("tcgen05.cp", f"{CTAS} {shape} {widened}", operands, SINCE_86, SECTION, effect)
        for shape in ("128x256b|128x128b|4x256b", "64x128b warpx2::02_13|warpx2::01_23", "32x128b warpx4")
    )


_BARRIER = Place("mbar", Sort.ADDRESS, space="shared")
_MASK = Place("ctaMask", Sort.REGISTER, 16, only_with="multicast::cluster")

ROWS: tuple[Row, ...] = (
    Row(
        "tcgen05.alloc", f"{CTAS} sync aligned shared::cta? b32",
        (Place("dst", Sort.ADDRESS, space="shared"), _COLUMNS), SINCE_86, SECTION,
        ("waits until nCols columns are free, and takes them; [dst] = the address of the first",),
    ),
    Row(
        "tcgen05.dealloc", f"{CTAS} sync aligned b32", (Place("taddr", Sort.INTEGER), _COLUMNS),
        SINCE_86, SECTION, ("the nCols columns that were allocated at taddr are free",),
    ),
    Row(
        "tcgen05.relinquish_alloc_permit", f"{CTAS} sync aligned", (), SINCE_86, SECTION,
        ("the CTA allocates no more",),
    ),
    *_moves(),
    *_reductions(),
    *(
        Row(
            f"tcgen05.wait::{what}", "sync aligned", (), SINCE_86, SECTION,
            (f"waits until every tcgen05.{what} of the thread is done",),
        )
        for what in ("ld", "st")
    ),
    *_copies(),
    Row(
        "tcgen05.shift", f"{CTAS} down", (CELLS,), Availability((8, 6), exactly=CHIPS), SECTION,
        ("rows of 32 lanes and 8 columns move by one row; which way is not known: not executed",),
    ),
    Row(
        "tcgen05.commit", f"{CTAS} mbarrier::arrive::one shared::cluster? multicast::cluster? b64",
        (_BARRIER, _MASK), SINCE_86, SECTION,
        (
            "when the mma, cp and shift of the thread before it are done: one arrival at mbar",
            "with a mask: at mbar in each of its CTAs",
            "implies fence::before_thread_sync",
        ),
    ),
    *(
        Row(
            f"tcgen05.fence::{when}_thread_sync", "", (), SINCE_86, SECTION,
            (f"tcgen05 operations {when} it are ordered with what the thread synchronises with",),
        )
        for when in ("before", "after")
    ),
)  # fmt: skip
"""Every row but those of products."""
