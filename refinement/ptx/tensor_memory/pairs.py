"""Pairs of CTAs that work together on their tensor memories: ranks 2i and 2i + 1 of a cluster.

Source: PTX ISA 9.1 section 9.7.16 (CTA pair).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..state.execution import Execution
from .operands import Written

PAIR = 2


def blocks_of(execution: Execution, text: Written, block: int) -> tuple[int, ...]:
    """Return the blocks whose memories an instruction of a block uses: by ``cta_group`` one or two, by rank.

    Raises
    ------
    UnsupportedError
        If two are wanted and the block's cluster has no other one of its pair.
    """
    if not text.is_of_two:
        return (block,)
    threads = execution.threads
    first = int(threads.ranks[block]) // PAIR * PAIR
    peers: list[int] = threads.peers[block, first : first + PAIR].tolist()
    if len(peers) < PAIR:
        execution.unsupported(
            f"{execution.instruction.mnemonic} works on the CTAs of ranks {first} and {first + 1} of a "
            f"cluster; clusters have {threads.launch.cluster_blocks} here"
        )
    return tuple(peers)


def by_cta(
    places: NDArray[np.int64], size: int
) -> Iterator[tuple[int, NDArray[np.bool_], NDArray[np.int64]]]:
    """Yield each CTA that places (n,) are of, which these are, and the places there.

    Places of the second of two CTAs count on from the `size` of the first.
    """
    ctas, own = np.divmod(places, size)
    for cta in np.unique(ctas).tolist():
        yield cta, ctas == cta, own[ctas == cta]
