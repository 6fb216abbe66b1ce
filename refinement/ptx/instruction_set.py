"""The modelled opcodes: decoders of all modules, by opcode."""

from __future__ import annotations

from types import MappingProxyType

from .memory import cluster_addresses, loads_and_stores
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
from .synchronisation import (
    asynchronous,
    atomics,
    barrier_instructions,
    cluster_launch_control,
    mbarrier,
    tensor_map_objects,
)
from .synchronisation.remote_reductions import reduced_asynchronously
from .synchronisation.remote_stores import or_asynchronous, stored_asynchronously
from .tensor_memory import instructions as tensor_memory
from .text.module import InstructionStatement
from .warp import election, exchanges, matrix, warpgroup, wmma

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


def is_arithmetic(instruction: InstructionStatement) -> bool:
    """Tell whether an instruction writes registers of a thread from registers of the same and parameters."""
    opcode = instruction.opcode
    return opcode in POINTWISE or opcode == "cvta" or (opcode == "ld" and instruction.has("param"))


_PLAIN: Decoders = merged(
    POINTWISE,
    *(
        each.HANDLERS
        for each in (
            asynchronous,
            atomics,
            cluster_addresses,
            cluster_launch_control,
            hints,
            loads_and_stores,
            matrix,
            mbarrier,
            tensor_map_objects,
            tensor_memory,
            election,
            exchanges,
            barrier_instructions,
            warpgroup,
            wmma,
        )
    ),
)
DECODERS: Decoders = MappingProxyType(
    {
        **_PLAIN,
        "st": or_asynchronous(_PLAIN["st"], stored_asynchronously),
        "red": or_asynchronous(_PLAIN["red"], reduced_asynchronously),
    }
)
"""Every instruction but those that move the flow of control: see `program`."""
