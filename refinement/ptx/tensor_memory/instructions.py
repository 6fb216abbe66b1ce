"""The instructions on tensor memory, by what stands behind ``tcgen05.``; copies, commits and fences are here.

Source: PTX ISA 9.1 section 9.7.16 (tcgen05.cp, tcgen05.commit, tcgen05.fence).
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from ....spec.errors import InputError, UnsupportedError
from ....spec.ptx.tensor_memory.copies import copied_rows, shape_named
from ....spec.ptx.tensor_memory.kinds import COLUMNS
from ....spec.ptx.tensor_memory.layouts import PARTITION
from ....spec.ptx.tensor_memory.shared_descriptor import shared_matrix
from ...findings.finding import Kind
from ...terms.algebra import TermAlgebra
from ..memory.addressing import addresses
from ..registers.threads import WARP, Indices
from ..state.execution import Decoder, Decoders, Execution, Step
from ..synchronisation.barrier_objects import BarrierObjects
from ..synchronisation.barrier_phases import Arrival
from ..synchronisation.mbarrier import REMOTE, barriers_at_addresses
from ..synchronisation.multicast import in_blocks, ranks_of_mask
from ..text.module import InstructionStatement
from . import allocation, moves, products, shared_operands
from .cells import Cells, split_address
from .operands import blocks_of, cell_addresses, refuse_on_data, written
from .uses import Clocks, Operation, Sort


def copy(instruction: InstructionStatement) -> Step:
    """Decode a copy of rows of shared memory into lanes of tensor memory."""
    text = written(instruction)
    shape = shape_named(text.form.modifiers)
    widened = next((word for word in text.form.modifiers if word[0] == "b" and "_p" in word), "")

    def step(execution: Execution, active: Indices) -> None:
        refuse_on_data(execution)
        words = execution.numbers(text.operands["s-desc"], 64, active, "the descriptor").tolist()
        at = cell_addresses(execution, text.operands["taddr"], active).tolist()
        for thread, word, address in zip(active.tolist(), words, at, strict=True):
            operation = Clocks.of(execution).begin(execution, Sort.COPY, thread)
            for block in blocks_of(execution, text, int(execution.threads.block[thread])):
                _copy(execution, thread, word, address, operation, block)

    def _copy(
        execution: Execution, thread: int, word: int, address: int, operation: Operation, block: int
    ) -> None:
        """Copy from a block's shared memory to its tensor memory."""
        fields = shared_operands.decoded(execution, "s-desc", word, thread)
        if fields is None:
            return
        try:
            matrix = shared_matrix(fields, shape.rows, shape.row_bytes, 8)
        except InputError as error:
            raise UnsupportedError(f"{instruction.mnemonic}: {error}") from error
        rows = shared_operands.rows(execution, matrix, operation, thread, block)
        cells = copied_rows(TermAlgebra(execution.store), shape, rows, widened=widened)
        lane, column = split_address(address)
        apart = PARTITION if shape.lanes < PARTITION else 1
        if lane and apart == 1:
            message = f"{instruction.mnemonic} begins in lane {lane}; it fills all lanes from 0 on"
            execution.report(Kind.UNDEFINED, message, np.array([thread]))
            return
        extents = cells.shape
        lanes = lane + apart * np.arange(extents[0])[:, None] + np.zeros(extents, dtype=np.int64)
        columns = column + np.arange(extents[1]) + np.zeros(extents, dtype=np.int64)
        memory = Cells.of(execution)
        if memory.inside(execution, block, lanes.reshape(-1), columns.reshape(-1), thread):
            places = (lanes * COLUMNS + columns).reshape(-1)
            memory.write(execution, block, places, cells.reshape(-1), operation, [thread])

    return step


def commit(instruction: InstructionStatement) -> Step:
    """Decode a commit: an arrival at a barrier object when what the thread has issued is over."""
    text = written(instruction)
    space = REMOTE if REMOTE in text.form.modifiers else "generic"
    place, mask = text.operands["mbar"], text.operands.get("ctaMask")

    def step(execution: Execution, active: Indices) -> None:
        refuse_on_data(execution)
        at = addresses(execution, place, active)
        masks = None if mask is None else execution.numbers(mask, 16, active, "the mask").tolist()
        objects = BarrierObjects.of(execution)
        for member in range(len(active)):
            thread = active[member : member + 1]
            over = Clocks.of(execution).finish(execution, Sort.PRODUCT, int(thread[0]))
            how = Arrival(copies=True, wide=True, finished=over)
            places = [at[member : member + 1]]
            if masks is not None:
                ranks = ranks_of_mask(execution, masks[member], thread)
                places = in_blocks(execution, places[0], ranks, space)
            for where in places:
                for barrier, _ in barriers_at_addresses(execution, space, where, thread, later=True):
                    objects.ended += barrier.arrive(execution, thread, how)

    return step


def fence(instruction: InstructionStatement) -> Step:
    """Decode a fence: before other threads are told of something, or after one was told.

    The manual's patterns ask for it beside barriers that acquire and release.
    """
    before = written(instruction).form.row.head.endswith("before_thread_sync")

    def step(execution: Execution, active: Indices) -> None:
        clocks = Clocks.of(execution)
        if not before:
            clocks.fence_after(execution, active)
            return
        for warp in np.unique(active // WARP):
            clocks.fence_before(execution, active[active // WARP == warp])

    return step


_BY_NAME: Mapping[str, Decoder] = MappingProxyType(
    {
        "alloc": allocation.allocate,
        "dealloc": allocation.deallocate,
        "relinquish_alloc_permit": allocation.relinquish,
        "ld": moves.load,
        "st": moves.store,
        "wait": moves.waits,
        "cp": copy,
        "mma": products.multiply,
        "commit": commit,
        "fence": fence,
    }
)


def _decoded(instruction: InstructionStatement) -> Step:
    words = instruction.mnemonic.split(".")
    decode = _BY_NAME.get(words[1].partition("::")[0]) if len(words) > 1 else None
    if decode is None or "red" in words:
        raise UnsupportedError(f"{instruction.mnemonic} is not modelled")
    return decode(instruction)


HANDLERS: Decoders = MappingProxyType({"tcgen05": _decoded})
"""The instructions of this package."""
