"""The zero-column mask of ``tcgen05.mma.ws``: columns of B that count as 0.

Source: PTX ISA 9.1 section 9.7.16 (zero-column mask), whose table exchanges the meanings of the two spans
that its examples, and CuTe, have.
"""

from __future__ import annotations

import numpy as np

from ...algebra import Array
from ...errors import UnsupportedError
from .bit_fields import BitField, FieldTable, flag, reserved

TABLE = FieldTable(
    "zero-column mask",
    64,
    (
        *(BitField(f"start{part}", 8 * part, 8) for part in range(4)),
        *(flag(f"first{part}", 32 + part) for part in range(4)),
        reserved(36, 3),
        flag("nonzero", 39),
        BitField("skip", 40, 8),
        BitField("use", 48, 8),
        BitField("shift", 56, 6),
        reserved(62, 2),
    ),
)
"""The fields."""


def zero_columns(word: int, m: int, n: int) -> Array:
    """Return which of N columns count as 0: M = 128 has one part of them, 64 two and 32 four.

    Raises
    ------
    InputError
        If a bit is set that must not be.
    UnsupportedError
        If the mask shifts columns.
    """
    fields = {name: int(value) for name, value in TABLE.decoded(word).items()}
    if fields["shift"]:
        raise UnsupportedError(f"zero-column mask {word:#018x} shifts columns, which is not specified")
    parts = 128 // m
    column = np.arange(n)
    part, place = np.divmod(column, n // parts)
    starts, firsts = (np.array([fields[f"{name}{each}"] for each in range(4)]) for name in ("start", "first"))
    used, skipped = fields["use"] + 1, fields["skip"] + 1
    turn = (place + starts[part]) % (used + skipped)
    masked: Array = bool(fields["nonzero"]) & np.where(firsts[part] == 1, turn < skipped, turn >= used)
    return masked
