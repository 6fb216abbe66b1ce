"""Clusters of blocks, fences, and what else kernels with asynchronous copies need."""

from __future__ import annotations

from types import MappingProxyType

from ..targets import TARGETS, Availability
from .bulk_rows import SHARED_REDUCTIONS
from .rows import Place, Row, Sort

SINCE_78, SINCE_80 = Availability((7, 8), 90), Availability((8, 0), 90)

SPECIFIC = frozenset(name for name, target in TARGETS.items() if target.suffix and target.number >= 90)
"""Targets with what only some chips have: of a chip, or of a family of chips."""

LATER_SPECIFIC = frozenset(name for name in SPECIFIC if TARGETS[name].number >= 100)
"""Those of them from Blackwell on."""

_COMPLETES = "mbarrier::complete_tx::bytes"
_TO = Place("a", Sort.ADDRESS, space="shared")
_BARRIER = Place("mbar", Sort.ADDRESS, space="shared")
_STORED = (_TO, Place("b", Sort.DATA), _BARRIER)
_MAP = Place("a", Sort.ADDRESS, space="first")
_TO_MAP, _FROM_MAP = (
    Place(name, Sort.ADDRESS, space=space) for name, space in (("dst", "first"), ("src", "last"))
)
_SIZE_OF_MAP = Place("size", Sort.CONSTANT, values=range(128, 129))
_REGISTERS = (Place("imm-reg-count", Sort.CONSTANT, values=range(24, 257, 8)),)
_RANK = Place("b", Sort.INTEGER)


def _addresses(bits: int) -> tuple[Row, ...]:
    where = Place("a", Sort.LOCATION, bits, space="shared")
    return (
        Row(
            "mapa", f"shared::cluster? u{bits}", (Place("d", Sort.RESULT, bits), where, _RANK), SINCE_78,
            "9.7.9", ("d = the address in block b of the cluster that is as far in it as a in its block",),
        ),
        Row(
            "getctarank", f"shared::cluster? u{bits}", (Place("d", Sort.RESULT), where), SINCE_78,
            "9.7.9", ("d = the rank in the cluster of the block that a is in",),
        ),
    )  # fmt: skip


def _barriers() -> tuple[Row, ...]:
    head, section = "barrier.cluster", "9.7.13"
    later = MappingProxyType({"release": SINCE_80, "relaxed": SINCE_80, "acquire": SINCE_80})
    return (
        Row(
            f"{head}.arrive", "release|relaxed? aligned?", (), SINCE_78, section,
            ("the thread arrives; it may not again before it waited", "without .relaxed it releases"), later,
        ),
        Row(
            f"{head}.wait", "acquire? aligned?", (), SINCE_78, section,
            ("waits until all threads of the cluster that have not exited arrived, and acquires",), later,
        ),
    )  # fmt: skip


def _stores() -> tuple[Row, ...]:
    since, section = Availability((8, 1), 90), "9.7.9"
    counted = "then complete_tx of mbar, in the same block: its bytes"
    effect = ("a, in another block of the cluster, = b", counted)
    order, space = "weak|cluster?", "shared::cluster?"
    reduced = ("a = a op b, in another block of the cluster", counted)
    types = "b{0}|u{0}|s{0}|f{0}"
    return (
        Row(
            "st.async", f"{order} {space} {_COMPLETES} v2|v4? {types.format(32)}", _STORED, since, section,
            effect,
        ),
        Row(
            "st.async", f"{order} {space} {_COMPLETES} v2? {types.format(64)}", _STORED, since, section,
            effect,
        ),
        *(
            Row(
                "red.async", f"relaxed+cluster {space} {_COMPLETES} {operation} {kinds}", _STORED,
                since, "9.7.13", reduced,
            )
            for operation, kinds in SHARED_REDUCTIONS
        ),
    )  # fmt: skip


def _fences() -> tuple[Row, ...]:
    section, since_83 = "9.7.13", Availability((8, 3), 90)
    since_86 = Availability((8, 6), 90)
    scopes = "cta|cluster|gpu|sys"
    cluster = MappingProxyType({"cluster": SINCE_78})
    ordered = ("orders the thread's accesses before it and behind it, in its scope",)
    barrier = "generic accesses before it come before later asynchronous ones, and the other way round"
    return (
        Row("fence", f"sc|acq_rel? {scopes}", (), Availability((6, 0), 70), section, ordered, cluster),
        Row("fence", f"acquire|release {scopes}", (), Availability((8, 6), 70), section, ordered, cluster),
        Row(
            "fence",
            "acquire+sync_restrict::shared::cluster+cluster|release+sync_restrict::shared::cta+cluster", (),
            since_86, section, ordered,
        ),
        Row(
            "fence", "mbarrier_init release cluster", (), SINCE_80, section,
            ("the thread's mbarrier.init before it come before what it releases to its cluster later",),
        ),
        Row(
            "fence.proxy", "alias", (), Availability((7, 5), 70), section,
            ("accesses through different addresses of the same memory are ordered",),
        ),
        Row("fence.proxy", "async global|shared::cta|shared::cluster?", (), SINCE_80, section, (barrier,)),
        Row(
            "fence.proxy",
            "async::generic "
            "acquire+sync_restrict::shared::cluster+cluster|release+sync_restrict::shared::cta+cluster",
            (), since_86, section, (barrier, "one way only"),
        ),
        Row(
            "fence.proxy", f"tensormap::generic release {scopes}", (), since_83, section,
            ("writes to tensor maps before it come before what acquires them later",),
        ),
        Row(
            "fence.proxy", f"tensormap::generic acquire {scopes}",
            (_MAP, _SIZE_OF_MAP), since_83, section,
            ("copies with the tensor map at a see what was released",),
        ),
    )  # fmt: skip


_MAP_VALUES = {
    "elemtype": 13, "interleave_layout": 3, "swizzle_mode": 4, "fill_mode": 2,
}  # fmt: skip
"""Fields of a tensor map that take constants only, and how many."""


def _tensor_maps() -> tuple[Row, ...]:
    since = Availability((8, 3), exactly=SPECIFIC)
    section, space = "9.7.9", "global|shared::cta?"
    effect = ("the field of the tensor map at a = new value",)
    number = Place("ord", Sort.CONSTANT, values=range(5))

    def row(field: str, bits: int, *operands: Place) -> Row:
        modifiers = f"tile {field} {space} b1024 b{bits}"
        return Row("tensormap.replace", modifiers, (_MAP, *operands), since, section, effect)

    word, long = Place("new_val", Sort.INTEGER), Place("new_val", Sort.INTEGER, 64)
    return (
        row("global_address", 64, long),
        row("rank", 32, word),
        row("box_dim|global_dim|element_stride", 32, number, word),
        row("global_stride", 64, number, long),
        *(
            row(field, 32, Place("new_val", Sort.CONSTANT, values=range(count)))
            for field, count in _MAP_VALUES.items()
        ),
        Row(
            "tensormap.cp_fenceproxy",
            "global+shared::cta tensormap::generic release cta|cluster|gpu|sys sync aligned",
            (_TO_MAP, _FROM_MAP, _SIZE_OF_MAP),
            Availability((8, 3), 90), "9.7.13",
            ("dst = src, 128 bytes of a tensor map", "released as by fence.proxy.tensormap::generic"),
        ),
    )  # fmt: skip


_HANDLE = Place("try_cancel_response", Sort.REGISTER, 128, types=("b128",))


def _launches() -> tuple[Row, ...]:
    head, section, since = "clusterlaunchcontrol", "9.7.13", Availability((8, 6), 100)
    everywhere = MappingProxyType({"multicast::cluster::all": Availability((8, 6), exactly=LATER_SPECIFIC)})
    word = ("b32", "u32", "s32", "f32")
    return (
        Row(
            f"{head}.try_cancel.async", f"shared::cta? {_COMPLETES} multicast::cluster::all? b128",
            (_TO, _BARRIER), since, section,
            (
                "16 bytes at a = whether a cluster that waited to be launched was cancelled, and where it is",
                "then complete_tx of mbar: 16 bytes",
                "with .multicast::cluster::all in all blocks of the cluster",
            ),
            everywhere,
        ),
        Row(
            f"{head}.query_cancel", "is_canceled pred b128",
            (Place("p", Sort.PREDICATE), _HANDLE), since, section,
            ("p = whether a cluster was cancelled",),
        ),
        Row(
            f"{head}.query_cancel", "get_first_ctaid::x|get_first_ctaid::y|get_first_ctaid::z b32 b128",
            (Place("d", Sort.RESULT, types=word), _HANDLE), since, section,
            ("d = a coordinate of the first block of the cluster that was cancelled; else undefined",),
        ),
        Row(
            f"{head}.query_cancel", "get_first_ctaid v4 b32 b128",
            (Place("d", Sort.COORDINATES, counts=(("v4", 4),)), _HANDLE), since, section,
            ("d = its coordinates x, y and z, and what is not specified",),
        ),
    )  # fmt: skip


ROWS: tuple[Row, ...] = (
    *_addresses(32),
    *_addresses(64),
    *_barriers(),
    *_stores(),
    *_fences(),
    *_tensor_maps(),
    *_launches(),
    Row(
        "elect.sync", "", (Place("d", Sort.ELECTED), Place("membermask", Sort.INTEGER)), SINCE_80,
        "9.7.13",
        ("p is true in one lane of membermask, always the same, and false in the others; d = that lane",),
    ),
    Row(
        "setmaxnreg.inc", "sync aligned u32", _REGISTERS,
        Availability((8, 0), exactly=SPECIFIC), "9.7.20",
        ("waits until the block has registers, then each thread of the warpgroup may have imm-reg-count",),
    ),
    Row(
        "setmaxnreg.dec", "sync aligned u32", _REGISTERS,
        Availability((8, 0), exactly=SPECIFIC), "9.7.20",
        ("each thread of the warpgroup may have imm-reg-count registers, the others go back to the block",),
    ),
    Row(
        "griddepcontrol", "wait|launch_dependents", (), SINCE_78, "9.7.13",
        (
            ".wait: waits until the grids that this one depends on are complete, and sees what they wrote",
            ".launch_dependents: grids that depend on this one may start when all its blocks said so",
        ),
    ),
)  # fmt: skip
"""Every row of clusters, fences, and the rest."""
