"""``tcgen05.cp``: rows of shared memory into lanes of tensor memory. Source: PTX ISA 9.1 section 9.7.16."""

from __future__ import annotations

import numpy as np

from ....spec.errors import InputError, UnsupportedError
from ....spec.ptx.tensor_memory.copies import copied_rows, shape_named
from ....spec.ptx.tensor_memory.kinds import COLUMNS
from ....spec.ptx.tensor_memory.layouts import PARTITION
from ....spec.ptx.tensor_memory.shared_descriptor import shared_matrix
from ...findings.finding import Kind
from ...terms.algebra import TermAlgebra
from ..registers.threads import Indices
from ..state.execution import Execution, Step
from ..text.module import InstructionStatement
from . import shared_operands
from .cells import Cells, split_address
from .operands import cell_addresses, refuse_on_data, written
from .pairs import blocks_of
from .uses import Clocks, Operation, Sort


def copy(instruction: InstructionStatement) -> Step:
    """Decode a copy."""
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
