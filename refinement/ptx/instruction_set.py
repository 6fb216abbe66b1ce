"""The modelled opcodes: decoders of all modules, by opcode."""

from __future__ import annotations

from .memory import loads_and_stores
from .scalar import (
    conversions,
    elementary_functions,
    floating,
    hints,
    moves,
    predicates,
    specified,
)
from .state.execution import Decoders
from .state.handlers import merged
from .synchronisation import asynchronous, atomics, mbarrier, warp_barrier
from .warp import exchanges, matrix, wmma

POINTWISE: Decoders = merged(
    *(
        each.HANDLERS
        for each in (
            conversions,
            elementary_functions,
            floating,
            moves,
            predicates,
            specified,
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
            exchanges,
            warp_barrier,
            wmma,
        )
    ),
)
"""Every instruction but those that move the flow of control: see `program`."""
