"""How obligations name the instruction that they are about: by its shape, or by its arithmetic."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...spec.mfma.assembly import parse
from ...spec.mfma.catalogue import MatrixMultiply
from ...spec.mfma.targets import TARGETS, Target
from .blocked import arithmetic_name
from .layouts import fragment_name, shape_name


def patterns(mnemonic: str) -> tuple[str, ...]:
    """Return regular expressions for the parts of ids that name an instruction on any target."""
    written = parse(mnemonic)
    found = {target: row for target in TARGETS.values() if (row := written.on(target)) is not None}
    names = (pattern for target, row in found.items() for pattern in _patterns(row, target))
    return tuple(dict.fromkeys([re.escape(mnemonic.removeprefix("v_mfma_")), *names]))


def _patterns(row: MatrixMultiply, target: Target) -> Iterator[str]:
    arithmetic = arithmetic_name(row, target)
    yield f"(?:blocked|numerics)/[a-z-]+/{arithmetic}"
    yield f"(?:one-term|fused)/{arithmetic.partition('/')[2]}"
    yield f"{re.escape(shape_name(row))}/[abc]"
    for operand in "abc":
        yield re.escape(fragment_name(row, operand, target))
    if row.blocks > 1:
        yield f"{row.blocks}-blocks"
