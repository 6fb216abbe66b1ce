"""Rules on the operands of a product: what they are, their types and extents, and the sizes they give.

Source: pto-isa headers at 3186c381, ptoas at a56b18c3.
"""

from __future__ import annotations

import re

from ..catalogue import INDICES, ROLE_LOCATIONS, OperationKind, triples
from ..contradictions import cited
from ..resolution import Resolved
from ..sizes import SIZE_BITS, size_sources
from ..targets import A2A3, A5, CPU, Profile
from ..text.types import OtherType, TileType
from ..tile import DYNAMIC, Extent, Tile
from .enforcement import (
    ACCUMULATING,
    ALWAYS,
    CUBE,
    GEMV,
    MATMUL,
    MICROSCALED,
    PLAIN,
    PRODUCTS,
    Check,
    Enforcement,
    Messages,
    PtoRule,
    RuleKind,
    on_tiles,
)

LARGEST_SIZE = 4095
"""Of m, k and n."""

PHASES = ("unspecified", "unknown", "partial", "final")
"""Values of ``accPhase``."""

_PHASE = re.compile(r"acc_phase[<\s]+\.?(\w+)\s*>")


def product_sizes(resolved: Resolved) -> dict[str, tuple[Extent, str]]:
    """Return the sizes m, k and n that are given, each with where it comes from."""
    found: dict[str, tuple[Extent, str]] = {}
    if resolved.operation.kind is OperationKind.MOVE:
        return found
    for name, source in zip("mkn", size_sources(resolved.operation, resolved.profile), strict=True):
        if source is None:
            found[name] = (1, "constant")
        elif resolved.has(source.role):
            found[name] = (getattr(resolved.tiles[source.role], f"valid_{source.extent}"), str(source))
    return found


def static_sizes(resolved: Resolved) -> dict[str, int]:
    """Return the sizes that are known before run time."""
    return {name: size for name, (size, _) in product_sizes(resolved).items() if isinstance(size, int)}


def _availability(resolved: Resolved, profile: Profile) -> Messages:
    if not profile.microscaling:
        yield f"{resolved.operation} is not on {profile}"


_NO_TILE = re.compile(
    r"index|[us]?i\d+|b?f\d+|!pto\.(?:ptr|tensor_view|partition_tensor_view)\b.*", re.DOTALL
)
"""Types that no tile has; ``memref`` and what is not known here may be one."""


def _operand_type(resolved: Resolved, _: Profile) -> Messages:
    operation = resolved.operation
    for role, operand in resolved.instruction.operands().items():
        match operand.type:
            case TileType() if role == operation.view:
                yield f"{role} is a tile; it must be a view of global memory"
            case TileType() if role in INDICES:
                yield f"{role} is a tile; it must be an index"
            case OtherType(text) if role in operation.tiles and role != operation.view:
                if _NO_TILE.fullmatch(text):
                    yield f"{role} is {text}; it must be a tile"


def located(*roles: str) -> Check:
    """Return the check that the operands of these roles are where a product takes them from."""

    def check(resolved: Resolved, _: Profile) -> Messages:
        for role in filter(resolved.has, roles):
            if (found := resolved.location(role)) is not (wanted := ROLE_LOCATIONS[role]):
                yield f"{role} is in {found}; it must be in {wanted}"

    return check


def _type_triple(resolved: Resolved, profile: Profile) -> Messages:
    allowed = triples(profile, resolved.operation)
    if not resolved.has("a", "b") or not allowed:
        return
    a, b = resolved.tiles["a"].element, resolved.tiles["b"].element
    accumulators = [triple.accumulator for triple in allowed if a in triple.factors and b in triple.factors]
    if not accumulators:
        yield f"a {a} and b {b}; {resolved.operation} on {profile} takes {', '.join(map(str, allowed))}"
    for role in ("d", "c") if accumulators else ():
        if resolved.has(role) and (element := resolved.tiles[role].element) not in accumulators:
            yield f"{role} {element} for a {a} and b {b}; it must be {' or '.join(map(str, accumulators))}"


@on_tiles("a", "b")
def _mixed_fp8(_: Profile, a: Tile, b: Tile) -> Messages:
    if a.element != b.element and {a.element.name, b.element.name} <= {"f8E4M3FN", "f8E5M2"}:
        yield f"a {a.element} and b {b.element} are two types"


def _static_shape(resolved: Resolved, _: Profile) -> Messages:
    for left, left_extent, right, right_extent in (
        ("a", "rows", "d", "rows"), ("a", "columns", "b", "rows"), ("b", "columns", "d", "columns"),
    ):  # fmt: skip
        written = resolved.type_of(left), resolved.type_of(right)
        if resolved.has(left, right) and all(isinstance(each, TileType) for each in written):
            one, other = getattr(written[0], left_extent), getattr(written[1], right_extent)
            if one != other:
                yield f"{one} {left_extent} of {left}, {other} {right_extent} of {right}"


@on_tiles("a", "b")
def _contraction(_: Profile, a: Tile, b: Tile) -> Messages:
    if DYNAMIC not in (a.valid_columns, b.valid_rows) and a.valid_columns != b.valid_rows:
        yield f"a has {a.valid_columns} valid columns, b {b.valid_rows} valid rows"


def _result_extent(resolved: Resolved, _: Profile) -> Messages:
    if not resolved.has("d"):
        return
    tile, sizes = resolved.tiles["d"], static_sizes(resolved)
    for name, valid, what in (("m", tile.valid_rows, "rows"), ("n", tile.valid_columns, "columns")):
        if name in sizes and valid not in (DYNAMIC, sizes[name]):
            yield f"d has {valid} valid {what}; the product has {sizes[name]} ({name})"


@on_tiles("a")
def _gemv_row(profile: Profile, a: Tile) -> Messages:
    if a.valid_rows not in (DYNAMIC, 1):
        done = "ignores all but the first" if profile.cube else "computes all of them"
        yield f"a has {a.valid_rows} valid rows, {profile} {done}"


def _size_range(resolved: Resolved, _: Profile) -> Messages:
    for name, (size, source) in product_sizes(resolved).items():
        if isinstance(size, int) and not 1 <= size <= LARGEST_SIZE:
            wrapped = size % (1 << SIZE_BITS)
            seen = f"; 16 bits of it are {wrapped}, which no assertion objects to"
            yield (
                f"{name} = {size} ({source}) is not in [1, {LARGEST_SIZE}]"
                f"{seen if 1 <= wrapped <= LARGEST_SIZE else ''}"
            )


@on_tiles("c", "d")
def _one_accumulator_type(_: Profile, c: Tile, d: Tile) -> Messages:
    if c != d:
        differing = [name for name in vars(c) if getattr(c, name) != getattr(d, name)]
        yield "; ".join(f"{name} of c {getattr(c, name)}, of d {getattr(d, name)}" for name in differing)


def _phase(resolved: Resolved, _: Profile) -> Messages:
    for name, value in resolved.instruction.attributes:
        if name == "accPhase" and ((found := _PHASE.search(value)) is None or found[1] not in PHASES):
            yield f"accPhase is {value}; it must be #pto.acc_phase<…> of {', '.join(PHASES)}"


def _phase_of_acc(resolved: Resolved, _: Profile) -> Messages:
    if any(name == "accPhase" for name, _ in resolved.instruction.attributes):
        yield f"{resolved.operation} has an accPhase"


_MATMUL_CHECK = "TMatmul.hpp of each profile, CheckStaticMad"
_PTOAS = "ptoas verifiers"

PRODUCT_RULES: tuple[PtoRule[Resolved], ...] = (
    PtoRule(
        "profile", "the profile has the operation", "pto-isa headers: TMATMUL_MX and TGEMV_MX", _availability,
        cited(23), enforcements=(Enforcement(RuleKind.STATIC, operations=MICROSCALED),),
    ),
    PtoRule(
        "operand-type", "an operand is a tile, a view or an index as the operation says",
        "ptoas at a56b18c3", _operand_type, enforcements=ALWAYS,
    ),
    PtoRule(
        "location", "A is in left, B in right, the accumulator in acc, the bias in bias", _MATMUL_CHECK,
        located("a", "b", "c", "d", "bias"), cited(22),
        enforcements=(Enforcement(RuleKind.STATIC, operations=PRODUCTS),),
    ),
    PtoRule(
        "type-triple", "the element types of C, A and B go together", _MATMUL_CHECK,
        _type_triple, cited(12, 13, 14), enforcements=(Enforcement(RuleKind.STATIC, operations=PRODUCTS),),
    ),
    PtoRule(
        "mixed-fp8", "A and B have one fp8 type", _PTOAS, _mixed_fp8, cited(28),
        enforcements=(Enforcement(RuleKind.ASSEMBLER_ONLY, (A5,), PLAIN & PRODUCTS),),
    ),
    PtoRule(
        "static-shape",
        "physical extents match: rows of A and C, columns of A and rows of B, columns of B and C",
        "cpu/TMatmul.hpp; pages; ptoas", _static_shape, cited(7),
        enforcements=(
            Enforcement(RuleKind.STATIC, (CPU,), PLAIN),
            Enforcement(RuleKind.PAGE_ONLY, (CPU,), MICROSCALED),
            Enforcement(RuleKind.ASSEMBLER_ONLY, (A2A3, A5), MATMUL),
            Enforcement(RuleKind.ASSEMBLER_ONLY, (A5,), GEMV),
            Enforcement(RuleKind.PAGE_ONLY, (A2A3,), GEMV),
        ),
    ),
    PtoRule(
        "contraction", "A has as many valid columns as B has valid rows",
        "pages, TMATMUL; ptoas for tgemv; no header: invalid elements are read, or valid ones left out",
        _contraction, cited(8, 17), enforcements=(Enforcement(RuleKind.SILENT, operations=PRODUCTS),),
    ),
    PtoRule(
        "result-extent", "the valid region of the result is m x n",
        "pages, TMATMUL; ptoas for tgemv; no header: m x n are written, whatever is valid", _result_extent,
        cited(6, 17), enforcements=(Enforcement(RuleKind.SILENT, operations=PRODUCTS),),
    ),
    PtoRule(
        "gemv-row", "A of tgemv has one valid row", "pages, TGEMV; ptoas; no header", _gemv_row, cited(9),
        enforcements=(Enforcement(RuleKind.SILENT, operations=GEMV),),
    ),
    PtoRule(
        "size-range", f"m, k and n are in [1, {LARGEST_SIZE}]", "pto-isa headers; pages", _size_range,
        cited(10, 11, 34),
        enforcements=(
            Enforcement(RuleKind.DEBUG_ONLY, CUBE, PRODUCTS),
            Enforcement(RuleKind.RUN_TIME, (CPU,), MICROSCALED),
            Enforcement(RuleKind.PAGE_ONLY, (CPU,), PLAIN),
        ),
    ),
    PtoRule(
        "accumulator-type", "the accumulators read and written have one type",
        "TMATMUL_ACC, TGEMV_ACC: one template parameter", _one_accumulator_type, cited(18),
        enforcements=(Enforcement(RuleKind.STATIC, operations=ACCUMULATING),),
    ),
    PtoRule(
        "phase-value", f"accPhase is one of {', '.join(PHASES)}", "pto-isa headers, AccPhase; ptoas", _phase,
        cited(19), enforcements=(Enforcement(RuleKind.STATIC, operations=PRODUCTS),),
    ),
    PtoRule(
        "phase-on-cpu", "tmatmul.acc has no phase on CPU", "pto-isa headers of the simulator", _phase_of_acc,
        cited(19), enforcements=(Enforcement(RuleKind.STATIC, (CPU,), frozenset({"tmatmul.acc"})),),
    ),
)  # fmt: skip
"""Rules on the operands and sizes of products."""
