"""Which opcodes are modelled: the decoders of every module, by opcode."""

from __future__ import annotations

from . import (
    arithmetic,
    asynchronous,
    atomics,
    bit_counts,
    bits,
    conversions,
    elementary_functions,
    floating,
    hints,
    integer,
    loads_and_stores,
    matrix,
    mbarrier,
    moves,
    predicates,
    warp,
    warp_barrier,
    wmma,
)
from .execution import Decoders
from .handlers import merged

POINTWISE: Decoders = merged(
    *(
        each.HANDLERS
        for each in (
            arithmetic,
            bit_counts,
            bits,
            conversions,
            elementary_functions,
            floating,
            integer,
            moves,
            predicates,
        )
    )
)
"""Instructions that write registers of a thread from registers of the same, and do nothing else."""

DECODERS: Decoders = merged(
    POINTWISE,
    *(
        each.HANDLERS
        for each in (
            asynchronous,
            atomics,
            hints,
            loads_and_stores,
            matrix,
            mbarrier,
            warp,
            warp_barrier,
            wmma,
        )
    ),
)
"""Every instruction but those that move the flow of control: see `program`."""
