"""Blocks launched by the place of their tile, for any numbering of blocks.

Up to its first access a kernel only computes, most of it which tile a block has. Where that is the same,
as polynomials in the tile's place, for blocks in whole groups and in the last one, the rest is run once.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress

import numpy as np

from ....spec.errors import InputError, UnsupportedError
from ...contract.contract import Contract
from ...contract.size_domains import ResidueClass
from ...sizes.open_comparisons import OPEN
from ...sizes.symbolic_terms import SymbolicTerms
from ...sizes.tile_places import Place, Translation
from ...terms.interning import Ids
from ...terms.store import CONSTANT, INPUT, VECTOR
from ...terms.traversal import by_operation, operands
from ..registers.values import of_terms
from ..run.entry import PtxEntry
from ..text.operands import SpecialRegister
from .block_launch import BlockLaunch
from .grid_tiles import AXES
from .loop_states import Cells, LoopBatch
from .symbolic_launch import Corners

_OF_NUMBERS = ("%ctaid", "%nctaid")
"""Special registers that say how blocks are numbered."""


class OrderError(Exception):
    """The state of blocks at their first access is not a function of their tile's place."""


class PlacedLaunch(BlockLaunch):
    """A launch of the blocks at the place of a tile, from their first access on.

    Parameters
    ----------
    kernel, contract, known, numbers
        As of `BlockLaunch`.
    place : Place
        The place, and the blocks that have it.

    Attributes
    ----------
    seconds : dict of str to float
        What it took to run the blocks to their first access, by which they are.
    """

    def __init__(
        self,
        kernel: PtxEntry,
        contract: Contract,
        place: Place,
        known: Mapping[str, int],
        numbers: ResidueClass,
    ) -> None:
        self._blocks = [BlockLaunch(kernel, contract, block, known, numbers) for block in place.blocks]
        super().__init__(kernel, contract, place.position, known, numbers)
        self.seconds = {block.name: 0.0 for block in place.blocks}
        self._before_access: dict[tuple[tuple[float, float], ...], tuple[int, Mapping[str, Ids]]] = {}

    def _check_grid(self) -> None:
        """See `SymbolicLaunch._check_grid`; the launches of the blocks have looked at it."""

    def begun(self, corners: Corners) -> LoopBatch:
        """Return the kernel at its first access.

        Raises
        ------
        OrderError
            If what blocks hold there is not told by the place of their tile.
        """
        batch = super().begun(corners)
        at, held = self._state_at_access(corners)
        (strand,) = batch.scheduler.runnable
        strand.at = at
        for axis in {axis for block in self._blocks for axis in block.position.indices}:
            for name in _OF_NUMBERS:  # which number a block has is not known here
                del batch.execution.special[f"{name}.{AXES[axis]}"]
        batch.execution.registers = {
            name: of_terms(self.store, terms, int(self.store.widths(terms[:1])[0]))
            for name, terms in held.items()
        }
        return batch

    def _state_at_access(self, corners: Corners) -> tuple[int, Mapping[str, Ids]]:
        """Return where the first access is, and what registers hold there, the same for all blocks.

        What holds for all numbers of the size holds for some of them, so that it is looked at once.
        """
        for hull in (tuple(self.all_numbers), tuple(corners)):
            if hull in self._before_access:
                return self._before_access[hull]
            with suppress(OrderError):
                self._before_access[hull] = self._common_state(hull)
                return self._before_access[hull]
        raise OrderError

    def _common_state(self, corners: Corners) -> tuple[int, Mapping[str, Ids]]:
        """Run all blocks to their first access; raises `OrderError` where they do not hold the same there."""
        found = [self._at_access(block, corners) for block in self._blocks]
        first, registers = found[0]
        for at, others in found[1:]:
            if at != first or others.keys() != registers.keys():
                raise OrderError
            if any((others[name] != terms).any() for name, terms in registers.items()):
                raise OrderError
        return first, registers

    def _at_access(self, launch: BlockLaunch, corners: Corners) -> tuple[int, Mapping[str, Ids]]:
        """Run a block to its first access; return where that is, and what registers hold there."""
        started = time.perf_counter()
        batch = launch.begun(corners)
        try:
            batch.run_to_access()
            launch.check_findings()
            translation = Translation(
                self.position, launch.position, self.store.symbols, launch.store.symbols
            )
        except (UnsupportedError, InputError) as error:
            raise OrderError from error
        self.store.wraps |= launch.store.wraps
        (strand,) = batch.scheduler.runnable
        later = (operand for each in self.body[strand.at :] for operand in each.operands)
        if any(isinstance(each, SpecialRegister) and each.name.startswith(_OF_NUMBERS) for each in later):
            raise OrderError
        held = Cells.of(batch).registers
        found = {name: self._translated(launch.store, each, translation) for name, each in held.items()}
        self.seconds[launch.position.name] += time.perf_counter() - started
        return strand.at, found

    def _translated(self, store: SymbolicTerms, terms: Ids, translation: Translation) -> Ids:
        """Return terms of a block's store in that of this launch."""
        distinct, inverse = np.unique(terms, return_inverse=True)
        found = np.empty(len(distinct), dtype=np.int32)
        for operation, members in by_operation(store, distinct):
            where = np.searchsorted(distinct, members)
            if operation.name == CONSTANT:
                found[where] = self.store.constants(store.constant_values(members), operation.result.bits)
            elif store.is_integer(members[:1])[0]:
                rows = translation.translated(store.rows_of(members)[0])
                if rows is None:
                    raise OrderError
                found[where] = self.store.integers(rows, operation.result.bits)
            elif operation.attribute == OPEN:
                raise OrderError
            elif operation.name == INPUT and operation.attribute not in self.symbolic_arrays:
                found[where] = self.store.apply(operation, store.arguments(members)[:, 0])
            elif operation.name == VECTOR:
                elements = store.elements(members)
                parts = self._translated(store, elements.reshape(-1), translation)
                found[where] = self.store.vectors(parts.reshape(elements.shape))
            elif columns := operands(store, operation, members):
                parts_of = [self._translated(store, column, translation) for column in columns]
                found[where] = self.store.apply(operation, *parts_of)
            else:
                raise OrderError
        return found[inverse.reshape(-1)]
