"""Which opcodes are modelled: the decoders of every module, by opcode."""

from __future__ import annotations

from . import (
    arithmetic,
    asynchronous,
    atomics,
    bits,
    conversions,
    counting,
    floating,
    integer,
    loads_and_stores,
    matrix,
    moves,
    predicates,
    quotients,
    warp,
    warp_barrier,
    wmma,
)
from .execution import Decoders
from .handlers import merged

POINTWISE: Decoders = merged(
    *(
        each.HANDLERS
        for each in (arithmetic, bits, conversions, counting, floating, integer, moves, predicates, quotients)
    )
)
"""Instructions that write registers of a thread from registers of the same, and do nothing else."""

DECODERS: Decoders = merged(
    POINTWISE,
    *(each.HANDLERS for each in (asynchronous, atomics, loads_and_stores, matrix, warp, warp_barrier, wmma)),
)
"""Every instruction but those that move the flow of control: see `program`."""
