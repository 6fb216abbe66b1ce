"""Rules on the bias row and on scale factors.

Source: pto-isa headers at 3186c381, ptoas at a56b18c3.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..catalogue import ROLE_LOCATIONS
from ..contradictions import cited
from ..element_types import ELEMENT_TYPES
from ..resolution import Resolved
from ..sizes import SCALE_GROUP, operand_extents
from ..targets import A2A3, A5, CPU, Profile
from ..tile import DYNAMIC, Order
from .products import static_sizes
from .standing import BIASED, GEMV, MATMUL, MICROSCALED, PLAIN, PtoRule, RuleKind, Standing

Messages = Iterator[str]

MICROSCALED_GRANULE = 2 * SCALE_GROUP
"""Columns of A in a microscaled product come in multiples: a block of scale factors has two columns."""


def _bias_type(resolved: Resolved, _: Profile) -> Messages:
    if resolved.has("bias", "d"):
        bias, accumulator = resolved.tiles["bias"].element, resolved.tiles["d"].element
        if bias != accumulator:
            yield f"the bias is {bias}, the accumulator {accumulator}"


def _bias_rows(resolved: Resolved, _: Profile) -> Messages:
    if resolved.has("bias") and (rows := resolved.tiles["bias"].rows) != 1:
        yield f"the bias has {rows} rows"


def _bias_row_major(resolved: Resolved, _: Profile) -> Messages:
    if resolved.has("bias"):
        tile = resolved.tiles["bias"]
        if (tile.blocks, tile.inner) != (Order.ROW_MAJOR, Order.NONE_BOX):
            yield f"the bias is {tile.blocks}, {tile.inner}"


def _bias_columns(resolved: Resolved, _: Profile) -> Messages:
    n = static_sizes(resolved).get("n")
    if resolved.has("bias") and n is not None:
        columns = resolved.tiles["bias"].valid_columns
        if isinstance(columns, int) and columns < n:
            yield f"the bias has {columns} valid columns, n is {n}"


def _bias_width(resolved: Resolved, _: Profile) -> Messages:
    n = static_sizes(resolved).get("n")
    if resolved.has("bias") and n is not None:
        columns = resolved.tiles["bias"].valid_columns
        if isinstance(columns, int) and columns > n:
            yield f"the bias has {columns} valid columns, n is {n}"


def _scale_location(resolved: Resolved, _: Profile) -> Messages:
    for role in ("scale_a", "scale_b"):
        if resolved.has(role) and (found := resolved.tiles[role].location) is not ROLE_LOCATIONS[role]:
            yield f"{role} is in {found}; it must be in {ROLE_LOCATIONS[role]}"


def _scale_type(resolved: Resolved, _: Profile) -> Messages:
    wanted = ELEMENT_TYPES["f8E8M0FNU"]
    for role in ("scale_a", "scale_b"):
        if resolved.has(role) and (element := resolved.tiles[role].element) != wanted:
            yield f"{role} is of {element}; it must be {wanted}"


def _scale_extent(resolved: Resolved, _: Profile) -> Messages:
    sizes = static_sizes(resolved)
    if len(sizes) < 3:
        return
    for role in ("scale_a", "scale_b"):
        if not resolved.has(role):
            continue
        tile, (rows, columns) = resolved.tiles[role], operand_extents(**sizes)[role]
        found = tile.valid_rows, tile.valid_columns
        if any(has is not DYNAMIC and has < needs for has, needs in zip(found, (rows, columns), strict=True)):
            named = ", ".join(f"{name} = {size}" for name, size in sizes.items())
            yield f"{role} has {found[0]}x{found[1]} valid factors; {named} take {rows}x{columns}"


def _left_columns(resolved: Resolved, _: Profile) -> Messages:
    if resolved.has("a") and (columns := resolved.tiles["a"].columns) % MICROSCALED_GRANULE:
        yield f"a has {columns} columns, not a multiple of {MICROSCALED_GRANULE}"


_HEADERS = "pto-isa headers, TMATMUL_BIAS and TGEMV_BIAS"

BIAS_RULES: tuple[PtoRule[Resolved], ...] = (
    PtoRule(
        "bias-type", "the bias has the accumulator's element type", f"{_HEADERS}: Bias.DType == Acc.DType",
        _bias_type, cited(1), standings=(Standing(RuleKind.STATIC, operations=BIASED),),
    ),
    PtoRule(
        "bias-rows", "the bias has one row", f"{_HEADERS}: Bias.Rows == 1", _bias_rows, cited(2, 26),
        standings=(Standing(RuleKind.STATIC, operations=BIASED),),
    ),
    PtoRule(
        "bias-row-major", "the bias is row-major, without boxes", f"{_HEADERS} of A5 and CPU; ptoas; pages",
        _bias_row_major, cited(4),
        standings=(
            Standing(RuleKind.STATIC, (CPU,), BIASED),
            Standing(RuleKind.STATIC, (A5,), BIASED & MATMUL & PLAIN),
            Standing(RuleKind.ASSEMBLER_ONLY, (A5,), BIASED),
            Standing(RuleKind.PAGE_ONLY, (A2A3,), BIASED),
        ),
    ),
    PtoRule(
        "bias-columns", "the bias has at least n valid columns",
        "pages; ptoas for tgemv.mx.bias; no header: what lies beyond is read", _bias_columns, cited(3),
        standings=(Standing(RuleKind.SILENT, operations=BIASED),),
    ),
    PtoRule(
        "bias-width", "the bias has no more than n valid columns", "pages; ptoas for tgemv.mx.bias",
        _bias_width, cited(3),
        standings=(
            Standing(RuleKind.ASSEMBLER_ONLY, operations=BIASED & MICROSCALED & GEMV),
            Standing(RuleKind.PAGE_ONLY, operations=BIASED),
        ),
    ),
    PtoRule(
        "scale-location", "scale factors of A are in scale_left, of B in scale_right",
        "pto-isa headers: they are at addresses tied to those of A and B; ptoas spells both scaling",
        _scale_location, cited(35), standings=(Standing(RuleKind.SILENT, (A5,), MICROSCALED),),
    ),
    PtoRule(
        "scale-type", "scale factors are e8m0",
        "kernels; no header: the parameters are unused", _scale_type, cited(29),
        standings=(Standing(RuleKind.SILENT, (A5, CPU), MICROSCALED),),
    ),
    PtoRule(
        "scale-extent", f"there is a scale factor for each {SCALE_GROUP} elements of K",
        "kernels; ptoas for tgemv.mx; no header: the parameters are unused",
        _scale_extent, cited(29), standings=(Standing(RuleKind.SILENT, (A5, CPU), MICROSCALED),),
    ),
    PtoRule(
        "microscaled-columns", f"A has a multiple of {MICROSCALED_GRANULE} columns",
        "pto-isa headers, TMATMUL_MX and TGEMV_MX", _left_columns, cited(32),
        standings=(Standing(RuleKind.STATIC, (A5, CPU), MICROSCALED),),
    ),
)  # fmt: skip
"""Rules on the bias row and on scale factors."""
