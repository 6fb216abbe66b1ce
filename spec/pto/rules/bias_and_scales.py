"""Rules on the bias row and on scale factors.

Source: pto-isa headers at 3186c381, ptoas at a56b18c3.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import gt, lt

from ..contradictions import cited
from ..element_types import ELEMENT_TYPES
from ..resolution import Resolved
from ..sizes import SCALE_GROUP, operand_extents
from ..targets import A2A3, A5, CPU, Profile
from ..tile import DYNAMIC, Tile
from .enforcement import (
    BIASED,
    GEMV,
    MATMUL,
    MICROSCALED,
    PLAIN,
    Check,
    Enforcement,
    Messages,
    PtoRule,
    RuleKind,
    on_tiles,
)
from .products import located, static_sizes

MICROSCALED_GRANULE = 2 * SCALE_GROUP
"""Columns of A in a microscaled product come in multiples: a block of scale factors has two columns."""

_SCALES = ("scale_a", "scale_b")


@on_tiles("bias", "d")
def _bias_type(_: Profile, bias: Tile, d: Tile) -> Messages:
    if bias.element != d.element:
        yield f"the bias is {bias.element}, the accumulator {d.element}"


@on_tiles("bias")
def _bias_rows(_: Profile, bias: Tile) -> Messages:
    if bias.rows != 1:
        yield f"the bias has {bias.rows} rows"


@on_tiles("bias")
def _bias_row_major(_: Profile, bias: Tile) -> Messages:
    if bias.layout_name != "ND":
        yield f"the bias is {bias.blocks}, {bias.inner}"


def _bias_columns(wrong: Callable[[int, int], bool]) -> Check:
    def check(resolved: Resolved, _: Profile) -> Messages:
        n = static_sizes(resolved).get("n")
        if resolved.has("bias") and n is not None:
            columns = resolved.tiles["bias"].valid_columns
            if isinstance(columns, int) and wrong(columns, n):
                yield f"the bias has {columns} valid columns, n is {n}"

    return check


def _scale_type(resolved: Resolved, _: Profile) -> Messages:
    wanted = ELEMENT_TYPES["f8E8M0FNU"]
    for role in _SCALES:
        if resolved.has(role) and (element := resolved.tiles[role].element) != wanted:
            yield f"{role} is of {element}; it must be {wanted}"


def _scale_extent(resolved: Resolved, _: Profile) -> Messages:
    sizes = static_sizes(resolved)
    if len(sizes) < 3:
        return
    for role in filter(resolved.has, _SCALES):
        tile, (rows, columns) = resolved.tiles[role], operand_extents(**sizes)[role]
        found = tile.valid_rows, tile.valid_columns
        if any(has is not DYNAMIC and has < needs for has, needs in zip(found, (rows, columns), strict=True)):
            named = ", ".join(f"{name} = {size}" for name, size in sizes.items())
            yield f"{role} has {found[0]}x{found[1]} valid factors; {named} take {rows}x{columns}"


@on_tiles("a")
def _left_columns(_: Profile, a: Tile) -> Messages:
    if a.columns % MICROSCALED_GRANULE:
        yield f"a has {a.columns} columns, not a multiple of {MICROSCALED_GRANULE}"


_HEADERS = "pto-isa headers, TMATMUL_BIAS and TGEMV_BIAS"

BIAS_RULES: tuple[PtoRule[Resolved], ...] = (
    PtoRule(
        "bias-type", "the bias has the accumulator's element type", f"{_HEADERS}: Bias.DType == Acc.DType",
        _bias_type, cited(1), enforcements=(Enforcement(RuleKind.STATIC, operations=BIASED),),
    ),
    PtoRule(
        "bias-rows", "the bias has one row", f"{_HEADERS}: Bias.Rows == 1", _bias_rows, cited(2, 26),
        enforcements=(Enforcement(RuleKind.STATIC, operations=BIASED),),
    ),
    PtoRule(
        "bias-row-major", "the bias is row-major, without boxes", f"{_HEADERS} of A5 and CPU; ptoas; pages",
        _bias_row_major, cited(4),
        enforcements=(
            Enforcement(RuleKind.STATIC, (CPU,), BIASED),
            Enforcement(RuleKind.STATIC, (A5,), BIASED & MATMUL & PLAIN),
            Enforcement(RuleKind.ASSEMBLER_ONLY, (A5,), BIASED),
            Enforcement(RuleKind.PAGE_ONLY, (A2A3,), BIASED),
        ),
    ),
    PtoRule(
        "bias-columns", "the bias has at least n valid columns",
        "pages; ptoas for tgemv.mx.bias; no header: what lies beyond is read", _bias_columns(lt), cited(3),
        enforcements=(Enforcement(RuleKind.SILENT, operations=BIASED),),
    ),
    PtoRule(
        "bias-width", "the bias has no more than n valid columns", "pages; ptoas for tgemv.mx.bias",
        _bias_columns(gt), cited(3),
        enforcements=(
            Enforcement(RuleKind.ASSEMBLER_ONLY, operations=BIASED & MICROSCALED & GEMV),
            Enforcement(RuleKind.PAGE_ONLY, operations=BIASED),
        ),
    ),
    PtoRule(
        "scale-location", "scale factors of A are in scale_left, of B in scale_right",
        "pto-isa headers: they are at addresses tied to those of A and B; ptoas spells both scaling",
        located(*_SCALES), cited(35), enforcements=(Enforcement(RuleKind.SILENT, (A5,), MICROSCALED),),
    ),
    PtoRule(
        "scale-type", "scale factors are e8m0",
        "kernels; no header: the parameters are unused", _scale_type, cited(29),
        enforcements=(Enforcement(RuleKind.SILENT, (A5, CPU), MICROSCALED),),
    ),
    PtoRule(
        "scale-extent", f"there is a scale factor for each {SCALE_GROUP} elements of K",
        "kernels; ptoas for tgemv.mx; no header: the parameters are unused",
        _scale_extent, cited(29), enforcements=(Enforcement(RuleKind.SILENT, (A5, CPU), MICROSCALED),),
    ),
    PtoRule(
        "microscaled-columns", f"A has a multiple of {MICROSCALED_GRANULE} columns",
        "pto-isa headers, TMATMUL_MX and TGEMV_MX", _left_columns, cited(32),
        enforcements=(Enforcement(RuleKind.STATIC, (A5, CPU), MICROSCALED),),
    ),
)  # fmt: skip
"""Rules on the bias row and on scale factors."""
