"""Who receives what goes to several blocks of a cluster. Source: PTX ISA 9.1 section 9.7.9.25."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ....spec.errors import InputError
from ....spec.ptx.asynchronous.clusters import receivers
from ...findings.finding import Kind
from ..registers.threads import Indices
from ..state.execution import Execution
from ..state.state_space import RANK_BITS, WINDOWS

MULTICAST = "multicast::cluster"
"""The modifier of what goes to the blocks that a mask names."""

Place = NDArray[np.uint64]
"""An address (1,) of shared memory."""


def ranks_of_mask(execution: Execution, mask: int, thread: Indices) -> tuple[int, ...]:
    """Return the ranks that a thread's mask names; none if the cluster lacks one, which is reported."""
    try:
        return receivers(mask, execution.threads.launch.cluster_blocks)
    except InputError as error:
        message = f"{execution.instruction.mnemonic}: {error}"
        execution.report(Kind.OUT_OF_BOUNDS, message, thread)
        return ()


def in_blocks(execution: Execution, place: Place, ranks: tuple[int, ...], space: str) -> list[Place]:
    """Return the place that an address names in the blocks of some ranks."""
    peers = execution.memory.shared.peers
    if peers is None:
        return [place] * len(ranks)
    window = np.uint64(WINDOWS["shared"] if space == "generic" else 0)
    own = peers.in_own_block(place - window) + window
    return [own + (np.array([rank], dtype=np.uint64) << RANK_BITS) for rank in ranks]
