"""Rules on the order of operands: what the headers assert, and what the matrix unit needs to find them.

The matrix unit is given addresses and m, k, n, but no strides: it derives the distance between blocks from
the sizes, where movers take it from the tile. Where both disagree the result is silently wrong.
Source: pto-isa headers at 3186c381, pto-isa issue 253, pypto issue 2470. The
distances of A and B are inferred from the movers (confidence: medium), that of C is confirmed.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..catalogue import ROLE_LOCATIONS, OperationKind
from ..contradictions import cited
from ..placement import LINEAR, mover_placement, unit_placement
from ..resolution import Resolved
from ..sizes import OPERAND_EXTENTS, executed_rows, operand_extents
from ..targets import A2A3, A5, CPU, Profile, alias
from ..tile import DYNAMIC, FRACTAL_BYTES, Compact, Order, Tile, c0
from .enforcement import (
    CUBE,
    GEMV,
    MATMUL,
    MICROSCALED,
    PRODUCTS,
    Check,
    Enforcement,
    Messages,
    PtoRule,
    RuleKind,
    on_tiles,
)
from .products import static_sizes


def _aliased(
    roles: tuple[str, ...], resolved: Resolved, profile: Profile
) -> Iterator[tuple[str, Tile, Tile]]:
    """Yield of each role its tile and what the profile's alias would be."""
    for role in filter(resolved.has, roles):
        tile = resolved.tiles[role]
        yield role, tile, alias(profile, ROLE_LOCATIONS[role], tile.element, (tile.rows, tile.columns))


@on_tiles("a")
def _left_inner(_: Profile, a: Tile) -> Messages:
    if a.inner is not Order.ROW_MAJOR:
        yield f"a is {a.inner} inside its blocks; it must be {Order.ROW_MAJOR}"


@on_tiles("a")
def _left_blocks(profile: Profile, a: Tile) -> Messages:
    if a.blocks is not profile.left_blocks:
        yield f"the blocks of a are {a.blocks}; on {profile} they must be {profile.left_blocks}"


def _order(*roles: str) -> Check:
    def check(resolved: Resolved, profile: Profile) -> Messages:
        for role, tile, wanted in _aliased(roles, resolved, profile):
            if tile.layout_name != wanted.layout_name:
                orders = f"{tile.blocks}, {tile.inner}"
                yield f"{role} is {tile.layout_name} ({orders}); it must be {wanted.layout_name}"

    return check


def _fractal(resolved: Resolved, profile: Profile) -> Messages:
    for role, tile, wanted in _aliased(("a", "b", "d", "scale_a", "scale_b"), resolved, profile):
        if tile.boxed and tile.fractal != wanted.fractal:
            yield f"{role} has blocks of {tile.fractal} bytes, the matrix unit {wanted.fractal}"


def _pitch(role: str) -> Check:
    def check(resolved: Resolved, profile: Profile) -> Messages:
        sizes = static_sizes(resolved)
        if not resolved.has(role) or len(sizes) < 3:
            return
        tile = resolved.tiles[role]
        valid = tile.valid_rows, tile.valid_columns
        if tile.fractal not in FRACTAL_BYTES:
            return  # another rule says so
        if tile.compact not in (Compact.NULL, Compact.NORMAL) or (tile.compact and DYNAMIC in valid):
            return  # not known
        taken = unit_placement(resolved.operation, profile, role, tile.element, **sizes)
        moved = mover_placement(profile, tile, valid)
        in_a_line = tile.boxed and moved.layout == LINEAR
        same_order = (tile.blocks, tile.inner) == (taken.layout.blocks, taken.layout.inner)
        if not same_order or (role == "a" and in_a_line):
            return  # another rule says so
        pitch = taken.layout.box[1] if in_a_line else moved.pitch
        extent = operand_extents(**sizes)[role]
        block_rows, block_columns = taken.layout.box
        one_block = extent.rows <= block_rows if taken.layout.by_rows else extent.columns <= block_columns
        if not one_block and taken.pitch != pitch:
            named = ", ".join(f"{name} = {sizes[name]}" for name in OPERAND_EXTENTS[role])
            line = "columns" if taken.layout.by_rows else "rows"
            if in_a_line:
                advice = f"it is to have {block_rows} rows"
            elif tile.compact is Compact.NORMAL:
                advice = f"its valid {line} are to be those of the product"
            else:
                advice = f"its {line} are to be the product's, rounded up to blocks, or it is to be compact"
            yield (
                f"with {named} the matrix unit takes {taken.pitch} elements from block to block of {role}, "
                f"the {tile.rows}x{tile.columns} tile has {pitch}: {advice}"
            )

    return check


def _left(resolved: Resolved, profile: Profile) -> Messages:
    """In blocks, or a line, as the operation takes it; both are the same within one row of a block."""
    k = static_sizes(resolved).get("k")
    if not resolved.has("a") or k is None or k <= c0((a := resolved.tiles["a"]).element):
        return
    if resolved.operation.kind is OperationKind.GEMV and a.rows > 1:
        yield f"a has {a.rows} rows in blocks, {profile} takes its row as {k} elements in a line"
    elif resolved.operation.kind is OperationKind.MATMUL and a.rows == 1:
        yield f"a is one row in a line, {profile} takes blocks of 16 rows"


def _written_rows(resolved: Resolved, profile: Profile) -> Messages:
    m = static_sizes(resolved).get("m")
    if resolved.has("d") and m is not None:
        written, rows = executed_rows(resolved.operation, profile, m), resolved.tiles["d"].rows
        if written > max(m, rows):
            yield f"m = {m} runs as {written}: so many rows are read and written, d has {rows}"


_CHECKS = "TMatmul.hpp of each profile, CheckStaticMad"
_MOVERS = "inferred from the movers of compact tiles"


def _asserted_on(*profiles: Profile) -> tuple[Enforcement, ...]:
    """Return the enforcements of what some headers assert, and every matrix unit needs."""
    unchecked = tuple(profile for profile in CUBE if profile not in profiles)
    return Enforcement(RuleKind.STATIC, profiles, PRODUCTS), Enforcement(RuleKind.SILENT, unchecked, PRODUCTS)


def _silent(
    operations: frozenset[str] = PRODUCTS, profiles: tuple[Profile, ...] = CUBE
) -> tuple[Enforcement]:
    return (Enforcement(RuleKind.SILENT, profiles, operations),)


ORDER_RULES: tuple[PtoRule[Resolved], ...] = (
    PtoRule(
        "left-inner", "A is row-major inside its blocks", _CHECKS, _left_inner, cited(20),
        enforcements=_asserted_on(A5, CPU),
    ),
    PtoRule(
        "left-blocks",
        "the blocks of A are column-major on A5 (Nz; on CPU of mx products), row-major on A2A3 (Zz)", _CHECKS,
        _left_blocks, cited(25, 27),
        enforcements=(Enforcement(RuleKind.STATIC, (CPU,), MICROSCALED), *_asserted_on(A5)),
    ),
    PtoRule(
        "right-layout", "B is Zn", _CHECKS, _order("b"), cited(20), enforcements=_asserted_on(A5, CPU),
    ),
    PtoRule(
        "accumulator-layout", "accumulators are Nz", _CHECKS, _order("c", "d"), cited(20),
        enforcements=_asserted_on(A5, CPU),
    ),
    PtoRule(
        "scale-layout", "scale factors of A are Zz, of B Nn", "pto-isa headers, TileLeftScale",
        _order("scale_a", "scale_b"), cited(29), enforcements=_silent(profiles=(A5,)),
    ),
    PtoRule(
        "fractal-size", "blocks have 512 bytes in A and B, 1024 in the accumulator, 32 in scale factors",
        "the blocks of the matrix unit (pto_tile.hpp)", _fractal, cited(32), enforcements=_silent(),
    ),
    PtoRule(
        "left-pitch", "blocks of A are as far apart as the matrix unit takes them to be", _MOVERS,
        _pitch("a"), cited(21), enforcements=_silent(),
    ),
    PtoRule(
        "right-pitch", "blocks of B are as far apart as the matrix unit takes them to be", _MOVERS,
        _pitch("b"), cited(21), enforcements=_silent(),
    ),
    PtoRule(
        "accumulator-pitch", "blocks of the accumulator are as far apart as the matrix unit takes them to be",
        "pto-isa issue 253; pypto issue 2470", _pitch("d"), cited(21), enforcements=_silent(),
    ),
    PtoRule(
        "gemv-left", "A of tgemv is one row in a line, unless it is within one row of a block",
        "TMov.hpp and TExtract.hpp to a one-row Left (how A5 takes it: low confidence)",
        _left, enforcements=_silent(GEMV),
    ),
    PtoRule(
        "matmul-left", "A of tmatmul is in blocks, unless it is within one row of a block",
        "pto-isa headers: tmatmul keeps the matrix unit out of its GEMV mode", _left,
        enforcements=_silent(MATMUL),
    ),
    PtoRule(
        "row-granule", "the accumulator has the 16 rows that A2A3 makes of one",
        "pto-isa headers of A2A3: m = 1 runs as 16", _written_rows,
        enforcements=_silent(MATMUL, (A2A3,)),
    ),
)  # fmt: skip
"""Rules on the order of operands in their buffers."""
