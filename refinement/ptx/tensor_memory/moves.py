"""``tcgen05.ld``, ``st`` and ``wait``: words between a warp's registers and its quarter of the lanes.

A load or store is made where it is issued; who uses the cells otherwise needs the wait, and must know of it.
Registers that a load gives may be used at once: the processor waits for them. Source: PTX ISA 9.1 section
9.7.16 (tcgen05.ld, tcgen05.st, tcgen05.wait).
"""

from __future__ import annotations

import numpy as np

from ....spec.errors import InputError, UnsupportedError
from ....spec.formats import U16
from ....spec.ptx.operands import Integer
from ....spec.ptx.tensor_memory import moves
from ....spec.ptx.tensor_memory.kinds import COLUMNS
from ....spec.ptx.tensor_memory.layouts import PARTITION
from ....spec.ptx.tensor_memory.register_shapes import SHAPES, RegisterTile
from ....spec.ptx.variant import WARPGROUP_WARPS
from ...findings.finding import Kind
from ...terms import bit_slices
from ...terms.algebra import TermAlgebra
from ...terms.interning import Ids
from ..registers.threads import WARP, Indices
from ..state.execution import Execution, Step
from ..text.module import InstructionStatement
from ..text.operands import register_names
from ..warp.matrix import registers_of, write_registers
from .cells import CELL_BITS, Cells, Places, split_address
from .operands import Written, cell_addresses, of_each_warp, refuse_on_data, written
from .uses import Clocks, Sort, wait


def _tile(text: Written) -> RegisterTile:
    words = text.form.modifiers
    shape = next(SHAPES[word] for word in words if word in SHAPES)
    count = next(int(word[1:]) for word in words if word[0] == "x" and word[1:].isdigit())
    return RegisterTile(shape, count, not {"pack::16b", "unpack::16b"}.isdisjoint(words))


def _second_offset(text: Written) -> int:
    operand = text.operands.get("immHalfSplitoff", Integer(0))
    if not isinstance(operand, Integer):
        raise InputError(f"immHalfSplitoff is {operand}; it must be an integer literal")
    return operand.value


class _Reached:
    """The cells that each of some warps reaches.

    Attributes
    ----------
    places : list of (array, bool)
        Of each warp its cells (parts, lanes, columns), and whether they are all its own and allocated.
    """

    def __init__(self, execution: Execution, text: Written, tile: RegisterTile, warps: Indices) -> None:
        at = cell_addresses(execution, text.operands["taddr"], warps.reshape(-1))
        starts = of_each_warp(execution, at, warps, "the address")
        more = (0, _second_offset(text))[: tile.shape.parts]
        shape = tile.fragment.shape[-2:]
        self.places: list[tuple[Places, bool]] = []
        for warp, start in zip(warps, starts.tolist(), strict=True):
            parts = []
            fine = True
            for offset in more:
                lane, column = split_address((start + offset) & 0xFFFFFFFF)
                fine = fine and self._is_own(execution, tile, warp, lane)
                lanes = lane + np.arange(shape[0], dtype=np.int64)[:, None] + np.zeros(shape, dtype=np.int64)
                columns = column + np.arange(shape[1], dtype=np.int64) + np.zeros(shape, dtype=np.int64)
                block = int(execution.threads.block[warp[0]])
                fine = fine and Cells.of(execution).inside(
                    execution, block, lanes.reshape(-1), columns.reshape(-1), int(warp[0])
                )
                parts.append(lanes * COLUMNS + columns)
            self.places.append((np.stack(parts), fine))

    @staticmethod
    def _is_own(execution: Execution, tile: RegisterTile, warp: Indices, lane: int) -> bool:
        """Tell whether a warp may use lanes from one on; report others."""
        quarter = int(execution.threads.number[warp[0]]) // WARP % WARPGROUP_WARPS
        first, mnemonic = quarter * PARTITION, execution.instruction.mnemonic
        allowed = (first,) if tile.shape.lanes == PARTITION else (first, first + PARTITION // 2)
        if lane in allowed:
            return True
        if lane == 0:
            execution.unsupported(
                f"{mnemonic} names lane 0 in warp {quarter} of 4, whose lanes begin at {first}: that the "
                "warp's own are taken then is not documented"
            )
        execution.report(
            Kind.OUT_OF_BOUNDS,
            f"{mnemonic} uses lanes from {lane} on; warp {quarter} of 4 reaches lanes {first} to "
            f"{first + PARTITION - 1}, and such an access begins at {' or '.join(map(str, allowed))}",
            warp,
        )
        return False


def _least(execution: Execution, warp: Indices) -> list[int]:
    return [int(each) for each in execution.ordering.least_told(int(warp[0]) // WARP)]


def load(instruction: InstructionStatement) -> Step:
    """Decode ``tcgen05.ld``."""
    text = written(instruction)
    tile, target = _tile(text), text.operands["r"]
    names = list(register_names([target]))
    if len(set(names)) < len(names):
        raise UnsupportedError(f"{instruction.mnemonic} into one register twice")

    def step(execution: Execution, active: Indices) -> None:
        refuse_on_data(execution)
        warps = execution.whole_warps(active)
        if not len(warps):
            return
        cells, store = Cells.of(execution), execution.store
        found = []
        for warp, (places, fine) in zip(warps, _Reached(execution, text, tile, warps).places, strict=True):
            if not fine:
                found.append(store.undefined(places.size, CELL_BITS).reshape(places.shape))
                continue
            operation = Clocks.of(execution).begin(execution, Sort.LOAD, int(warp[0]))
            block = int(execution.threads.block[warp[0]])
            words = cells.read(execution, block, places.reshape(-1), operation, _least(execution, warp))
            found.append(words.reshape(places.shape))
        held = np.stack(found)
        words = moves.load(TermAlgebra(store), tile, held if tile.shape.parts > 1 else held[:, 0])
        write_registers(execution, target, words, CELL_BITS, warps)

    return step


def store(instruction: InstructionStatement) -> Step:
    """Decode ``tcgen05.st``."""
    text = written(instruction)
    tile, source = _tile(text), text.operands["r"]

    def step(execution: Execution, active: Indices) -> None:
        refuse_on_data(execution)
        warps = execution.whole_warps(active)
        if not len(warps):
            return
        registers = registers_of(execution, source, CELL_BITS, warps)
        held = moves.store(TermAlgebra(execution.store), tile, registers)
        if tile.packed:
            held = with_open_halves(execution, held)
        cells = Cells.of(execution)
        reached = _Reached(execution, text, tile, warps).places
        for warp, (places, fine), words in zip(warps, reached, held, strict=True):
            if fine:
                operation = Clocks.of(execution).begin(execution, Sort.STORE, int(warp[0]))
                block, threads = int(execution.threads.block[warp[0]]), _least(execution, warp)
                cells.write(execution, block, places.reshape(-1), words.reshape(-1), operation, threads)

    return step


def with_open_halves(execution: Execution, halves: Ids) -> Ids:
    """Return words whose low halves are some terms, and of whose high halves nothing is known."""
    flat = halves.reshape(-1)
    high = execution.store.undefined(len(flat), U16.bits)
    return bit_slices.concatenate(execution.store, [flat, high]).reshape(halves.shape)


def waits(instruction: InstructionStatement) -> Step:
    """Decode ``tcgen05.wait::ld`` and ``tcgen05.wait::st``."""
    text = written(instruction)
    sort = Sort.LOAD if text.form.row.head.endswith("::ld") else Sort.STORE

    def step(execution: Execution, active: Indices) -> None:
        refuse_on_data(execution)
        wait(execution, sort, execution.whole_warps(active))

    return step
