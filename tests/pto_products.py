"""PTO products one scalar at a time, in exact rational arithmetic; and tiles and operands for them.

Nothing here shares code with `mmaproof.spec.pto.products`: sums follow the text of the reference's B.2 and
B.3 element by element.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import exact_arithmetic as exact
import numpy as np

from mmaproof.spec.formats import F32, F64, Bits, FloatFormat, Format, IntegerFormat
from mmaproof.spec.pto.catalogue import OPERATIONS, ROLE_LOCATIONS, Operation, OperationKind
from mmaproof.spec.pto.element_types import ElementType, element_type_named
from mmaproof.spec.pto.targets import Profile, alias
from mmaproof.spec.pto.tile import Compact, Tile
from mmaproof.spec.rounding import Rounding

PRODUCTS = tuple(op for op in OPERATIONS.values() if op.kind is not OperationKind.MOVE)
PLAIN = tuple(op for op in PRODUCTS if not op.microscaled)
MICROSCALED = tuple(op for op in PRODUCTS if op.microscaled)

FACTORS = ("f16", "bf16", "f32", "f8E4M3FN", "f8E5M2")
SCALED_FACTORS = ("f8E4M3FN", "f8E5M2", "f4E2M1x2", "f4E1M2x2")

Scalar = tuple[int, FloatFormat]
NEAREST = Rounding.NEAREST_EVEN


def element_types(operation: Operation, a: str, b: str, d: str) -> dict[str, ElementType]:
    """Return the element type of every operand of a product."""
    named = {"a": a, "b": b, "c": d, "d": d, "bias": d, "scale_a": "f8E8M0FNU", "scale_b": "f8E8M0FNU"}
    return {role: element_type_named(named[role]) for role in (*operation.inputs, operation.output)}


def extents(m: Any, k: Any, n: Any) -> dict[str, tuple[Any, Any]]:
    """Return the extent of every operand by role; run-time sizes stay so."""
    groups = (k + 31) // 32 if isinstance(k, int) else k
    return {
        "a": (m, k), "b": (k, n), "c": (m, n), "d": (m, n), "bias": (1, n),
        "scale_a": (m, groups), "scale_b": (groups, n),
    }  # fmt: skip


def product_tiles(
    operation: Operation,
    profile: Profile,
    sizes: tuple[int, int, int],
    types: Mapping[str, ElementType],
    valid: tuple[Any, Any, Any] | None = None,
    compact: Compact = Compact.NULL,
) -> dict[str, Tile]:
    """Return the profile's aliases for the operands of a product of a size, and a valid one."""
    physical, used = extents(*sizes), extents(*(valid or sizes))
    return {
        role: alias(profile, ROLE_LOCATIONS[role], element, physical[role], used[role], compact)
        for role, element in types.items()
    }


def operand_bits(
    operation: Operation,
    types: Mapping[str, ElementType],
    sizes: tuple[int, int, int],
    rng: np.random.Generator,
) -> dict[str, Bits]:
    """Draw encodings of every operand that a product reads."""
    shapes = extents(*sizes)
    drawn = {}
    for role in operation.inputs:
        fmt = types[role].format
        assert fmt is not None
        count = int(np.prod(shapes[role]))
        if isinstance(fmt, IntegerFormat):
            flat = rng.integers(0, 1 << fmt.bits, count, dtype=np.uint64).astype(fmt.storage)
        else:
            assert isinstance(fmt, FloatFormat)
            flat = exact.random_encodings(fmt, rng, count)
        drawn[role] = flat.reshape(shapes[role])
    return drawn


def formats_by_role(types: Mapping[str, ElementType]) -> dict[str, Format]:
    return {role: element.format for role, element in types.items() if element.format is not None}


def exact_product(
    operation: Operation,
    formats: Mapping[str, Format],
    operands: Mapping[str, Bits],
    *,
    added_last: bool = False,
    in_f64: bool = False,
) -> Bits:
    """Return D, one element after the other."""
    m, k = operands["a"].shape
    n = operands["b"].shape[1]
    d = np.empty((m, n), dtype=formats["d"].storage)
    for i in range(m):
        for j in range(n):
            start = None
            if operation.accumulates:
                start = int(operands["c"][i, j])
            elif operation.biased:
                start = int(operands["bias"][0, j])
            if isinstance(formats["d"], IntegerFormat):
                total = _signed(start or 0, 32)
                for t in range(k):
                    total += _signed(int(operands["a"][i, t]), 8) * _signed(int(operands["b"][t, j]), 8)
                d[i, j] = total % (1 << 32)
            else:
                d[i, j] = _float_element(operation, formats, operands, i, j, start, added_last, in_f64)
    return d


def _float_element(
    operation: Operation,
    formats: Mapping[str, Format],
    operands: Mapping[str, Bits],
    i: int,
    j: int,
    start: int | None,
    added_last: bool,
    in_f64: bool,
) -> int:
    wide = F64 if in_f64 else F32
    seeded = start is not None and not (added_last or in_f64)
    total = start if seeded else 0
    assert total is not None
    for t in range(operands["a"].shape[1]):
        factors = [
            exact.decode(int(operands["a"][i, t]), _float(formats["a"])),
            exact.decode(int(operands["b"][t, j]), _float(formats["b"])),
        ]
        if operation.microscaled:
            factors.append(exact.decode(int(operands["scale_a"][i, t // 32]), _float(formats["scale_a"])))
            factors.append(exact.decode(int(operands["scale_b"][t // 32, j]), _float(formats["scale_b"])))
        term = factors[0]
        for factor in factors[1:]:
            term = exact.multiply(term, factor)
        total = exact.encode(exact.add([term, exact.decode(total, wide)], NEAREST), wide, NEAREST)
    if in_f64:
        if operation.accumulates:
            assert start is not None
            total = exact.fused(F64, NEAREST, (), [(start, F32), (total, F64)])
        total = exact.fused(F32, NEAREST, (), [(total, F64)])
    if start is None or seeded or (in_f64 and operation.accumulates):
        return total
    return exact.fused(F32, NEAREST, (), [(start, F32), (total, F32)])


def _signed(bits: int, width: int) -> int:
    return bits - (1 << width) if bits >> (width - 1) else bits


def _float(fmt: Format) -> FloatFormat:
    assert isinstance(fmt, FloatFormat)
    return fmt
