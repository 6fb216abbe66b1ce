"""Operands of ``tcgen05`` by the specification's names, numbers that have to be known, and pairs of CTAs.

Two CTAs that work together on their tensor memories have ranks 2i and 2i + 1 of a cluster.
Source: PTX ISA 9.1 section 9.7.16 (CTA pair).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....spec.errors import InputError, UnsupportedError
from ....spec.ptx.asynchronous.catalogue import form_of
from ....spec.ptx.asynchronous.rows import Form
from ....spec.ptx.operands import Address
from ...findings.finding import Kind
from ..registers.threads import WARP, Indices
from ..state.execution import Execution
from ..text.module import InstructionStatement
from ..text.operands import Operand


@dataclass(frozen=True)
class Written:
    """An instruction as its text has it.

    Attributes
    ----------
    instruction : InstructionStatement
        The instruction.
    form : Form
        The specification's.
    operands : mapping of str to Operand
        By name.
    """

    instruction: InstructionStatement
    form: Form
    operands: Mapping[str, Operand]

    @property
    def is_of_two(self) -> bool:
        """Whether two CTAs work together."""
        return "cta_group::2" in self.form.modifiers


def written(instruction: InstructionStatement) -> Written:
    """Read an instruction.

    Raises
    ------
    UnsupportedError
        If there is no such form.
    InputError
        If operands are missing.
    """
    form = form_of(instruction.mnemonic)
    if form is None:
        raise UnsupportedError(f"{instruction.mnemonic} is not modelled")
    given = instruction.operands
    places = form.places_of(given)
    fewest = sum(place.available is None for place in places)
    if not fewest <= len(given) <= len(places):
        raise InputError(f"{instruction.mnemonic} takes {fewest} operands, not {len(given)}")
    return Written(instruction, form, dict(zip((place.name for place in places), given, strict=False)))


def cell_addresses(execution: Execution, operand: Operand, active: Indices) -> NDArray[np.int64]:
    """Return the addresses (n active,) of cells, of an operand ``[taddr + offset]``.

    Raises
    ------
    InputError
        If it is none.
    """
    if not isinstance(operand, Address):
        raise InputError(f"{execution.instruction.mnemonic} takes a [taddr], not {operand}")
    found = execution.numbers(operand.base, 32, active, "the address").astype(np.int64)
    return (found + operand.offset) & 0xFFFFFFFF


def of_each_warp(
    execution: Execution, numbers: NDArray[np.int64], warps: Indices, what: str
) -> NDArray[np.int64]:
    """Return the number (warps,) that is to be the same in all threads of each."""
    rows = numbers.reshape(-1, WARP)
    differs = (rows != rows[:, :1]).any(axis=1)
    if differs.any():
        message = f"{what} of {execution.instruction.mnemonic} differs from thread to thread"
        execution.report(Kind.UNDEFINED, message, warps[differs].reshape(-1))
    return rows[:, 0]


def refuse_on_data(execution: Execution) -> None:
    """Refuse what data decide over."""
    if execution.path is not None:
        execution.unsupported(f"{execution.instruction.mnemonic} under a data-dependent branch")


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
