"""Bulk copies, and tensor copies of the tensor memory accelerator (TMA).

What is copied, and where, is in `tensor_copies`; of ``.im2col`` forms only legality is specified.
"""

from __future__ import annotations

from types import MappingProxyType

from ..targets import Availability
from .rows import Place, Row, Sort

SECTION = "9.7.9.25"
SINCE = Availability((8, 0), 90)

MOST_BYTES = 1_048_560
"""The greatest size that a plain bulk copy may name: the multiple of 16 below 2^20."""

_LATER = MappingProxyType({"shared::cta": Availability((8, 6), 90)})
"""Copies to the block's own shared memory were to ``.shared::cluster`` before."""

_HINT = Place("cache-policy", Sort.INTEGER, 64, only_with="L2::cache_hint")
_MASK = Place("ctaMask", Sort.INTEGER, 16, only_with="multicast::cluster")
_BARRIER = Place("mbar", Sort.ADDRESS, space="shared")
_TO = Place("dstMem", Sort.ADDRESS, space="first")
_FROM = Place("srcMem", Sort.ADDRESS, space="last")
_SIZE = Place("size", Sort.INTEGER, values=range(0, MOST_BYTES + 1, 16))
_TENSOR = Place("tensorMap", Sort.TENSOR, space="map")
_MAP = Place("a", Sort.ADDRESS, space="first")
_OFFSETS = Place("im2colOffsets", Sort.OFFSETS)

_COMPLETES = "mbarrier::complete_tx::bytes"
_PER_CTA = "bit r of ctaMask: to the same place in block r of the cluster; the barrier there counts"
_ANY_RANK, _IM2COL_RANK = "1d|2d|3d|4d|5d", "3d|4d|5d"

_LOADED = (
    "shared[dstMem + place(i)] = tensor[c + i] for all i of the box, outside of the tensor its fill value",
    "then complete_tx of mbar: the bytes of the whole box",
)
_STORED = ("tensor[c + i] = shared[srcMem + place(i)] for all i of the box that are inside of the tensor",)
_REDUCED = ("tensor[c + i] = tensor[c + i] op shared[srcMem + place(i)] for all i of the box inside",)
_GROUPED = "done when the group is that the thread commits next"


def _loads() -> tuple[Row, ...]:
    barrier = (_TO, _TENSOR, _BARRIER)
    wide = f"shared::cluster+global {_COMPLETES} multicast::cluster? L2::cache_hint?"
    own = f"shared::cta+global {_COMPLETES} L2::cache_hint?"
    head = "cp.async.bulk.tensor"
    return (
        Row(
            head, f"{_ANY_RANK} tile? {wide}", (*barrier, _MASK, _HINT), SINCE, SECTION,
            (*_LOADED, _PER_CTA),
        ),
        Row(head, f"{_ANY_RANK} tile? {own}", (*barrier, _HINT), SINCE, SECTION, _LOADED, _LATER),
        Row(
            head, f"{_IM2COL_RANK} im2col {wide}", (*barrier, _OFFSETS, _MASK, _HINT), SINCE, SECTION
        ),
        Row(
            head, f"{_IM2COL_RANK} im2col {own}", (*barrier, _OFFSETS, _HINT), SINCE, SECTION,
            later=_LATER,
        ),
    )  # fmt: skip


def _stores(head: str, operation: str, effect: tuple[str, ...], section: str) -> tuple[Row, ...]:
    to = f"global+shared::cta {operation}bulk_group L2::cache_hint?"
    operands = (_TENSOR, _FROM, _HINT)
    return (
        Row(head, f"{_ANY_RANK} tile? {to}", operands, SINCE, section, (*effect, _GROUPED)),
        Row(head, f"{_IM2COL_RANK} im2col_no_offs {to}", operands, SINCE, section),
    )


def _prefetches() -> tuple[Row, ...]:
    head, effect = "cp.async.bulk.prefetch.tensor", ("no value changes",)
    to = "L2 global {} L2::cache_hint?"
    return (
        Row(head, f"{_ANY_RANK} {to.format('tile?')}", (_TENSOR, _HINT), SINCE, SECTION, effect),
        Row(head, f"{_IM2COL_RANK} {to.format('im2col')}", (_TENSOR, _OFFSETS, _HINT), SINCE, SECTION),
        Row("cp.async.bulk.prefetch", "L2 global L2::cache_hint?", (_FROM, _SIZE, _HINT), SINCE,
            SECTION, effect),
        Row("prefetch", "param|const? tensormap", (_MAP,), SINCE, "9.7.9", effect),
    )  # fmt: skip


GLOBAL_REDUCTIONS: tuple[tuple[str, str], ...] = (
    ("add", "u32|s32|u64|f32|f64"), ("add+noftz", "f16|bf16"), ("min|max", "u32|s32|u64|s64|f16|bf16"),
    ("inc|dec", "u32"), ("and|or|xor", "b32|b64"),
)  # fmt: skip
"""Operations and types of plain bulk reductions in global memory."""

SHARED_REDUCTIONS: tuple[tuple[str, str], ...] = (
    ("add", "u32|s32|u64"), ("min|max", "u32|s32"), ("inc|dec", "u32"), ("and|or|xor", "b32")
)  # fmt: skip
"""Those in shared memory of another block, also of ``red.async``."""


def _plain() -> tuple[Row, ...]:
    copied = "dstMem[b] = srcMem[b], 0 ≤ b < size; size and addresses are multiples of 16"
    counted = "then complete_tx of mbar: size bytes"
    head, with_barrier = "cp.async.bulk", (_TO, _FROM, _SIZE, _BARRIER)
    return (
        Row(
            head, f"shared::cluster+global {_COMPLETES} multicast::cluster? L2::cache_hint?",
            (*with_barrier, _MASK, _HINT), SINCE, SECTION, (copied, counted, _PER_CTA),
        ),
        Row(
            head, f"shared::cta+global {_COMPLETES} L2::cache_hint?", (*with_barrier, _HINT), SINCE, SECTION,
            (copied, counted), _LATER,
        ),
        Row(
            head, f"shared::cluster+shared::cta {_COMPLETES}", with_barrier, SINCE, SECTION,
            (copied, counted, "dstMem and mbar are in another block of the cluster"),
        ),
        Row(
            head, "global+shared::cta bulk_group L2::cache_hint?", (_TO, _FROM, _SIZE, _HINT), SINCE, SECTION,
            (copied, _GROUPED),
        ),
        Row(
            "cp.async.bulk.commit_group", "", (), SINCE, SECTION,
            ("the thread's bulk copies since the last commit are a group",),
        ),
        Row(
            "cp.async.bulk.wait_group", "read?", (Place("N", Sort.CONSTANT, values=range(1 << 32)),), SINCE,
            SECTION,
            (
                "waits until at most the N latest groups are not done: all their writes are visible to the "
                "thread",
                "with .read: until they have read their sources",
            ),
        ),
    )  # fmt: skip


def _reductions() -> tuple[Row, ...]:
    head, effect = "cp.reduce.async.bulk", "dstMem[i] = dstMem[i] op srcMem[i] for all elements, in any order"
    to_global = (
        Row(
            head, f"global+shared::cta bulk_group L2::cache_hint? {operation} {types}",
            (_TO, _FROM, _SIZE, _HINT), SINCE, SECTION, (effect, _GROUPED),
        )
        for operation, types in GLOBAL_REDUCTIONS
    )  # fmt: skip
    to_shared = (
        Row(
            head, f"shared::cluster+shared::cta {_COMPLETES} {operation} {types}",
            (_TO, _FROM, _SIZE, _BARRIER), SINCE, SECTION, (effect, "then complete_tx of mbar: size bytes"),
        )
        for operation, types in SHARED_REDUCTIONS
    )  # fmt: skip
    return (*to_global, *to_shared)


TENSOR_REDUCTIONS = ("add", "min", "max", "inc", "dec", "and", "or", "xor")
"""Operations of tensor reductions, on elements of the map's type."""

ROWS: tuple[Row, ...] = (
    *_loads(),
    *_stores("cp.async.bulk.tensor", "", _STORED, SECTION),
    *_stores("cp.reduce.async.bulk.tensor", f"{'|'.join(TENSOR_REDUCTIONS)} ", _REDUCED, SECTION),
    *_prefetches(),
    *_plain(),
    *_reductions(),
)
"""Every row of bulk and tensor copies."""
