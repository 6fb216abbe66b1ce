"""The registers as machine state, and one step of a machine, for shared and for separate accumulators.

The 64 VSRs are (…, 64, 16) bytes, the eight accumulators (…, 8, 4, 16), in ISA byte order. A step reads
everything, computes, then writes; only `results` looks at data, reading and writing move whole registers.
Which of the two machines is meant is the open point ``aliasing``; see `priming` for the programs that
can't tell. The status bits (FPSCR, VSCR.SAT) and memory are not part of the state.

Register numbers may be Python ints, integer arrays or bit-vectors of at least 7 bits.

Source: Power ISA 3.1 section 7.2; QEMU commit a702c533 for shared storage.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..algebra import Algebra, Array
from ..errors import InputError
from ..formats import U8
from ..rounding import Rounding
from .catalogue import Family, Move, RankKUpdate
from .choices import Choices
from .forms import Transfer
from .instructions import VSRS_PER_ACCUMULATOR, Instruction
from .priming import ACCUMULATORS, one_of, priming
from .rank_k_update import Live, rank_k_update
from .registers import ACCUMULATOR_ROWS, REGISTER_BYTES, accumulator_fragment, x_fragment, y_fragment

VSRS = 64
ASSOCIATED_VSRS = ACCUMULATORS * VSRS_PER_ACCUMULATOR
"""VSR[0..31] are associated with accumulators."""


class State(NamedTuple):
    """The registers of a machine.

    Attributes
    ----------
    vsr : array (…, 64, 16)
        The vector-scalar registers.
    acc : array (…, 8, 4, 16)
        The accumulators; not looked at where they share the storage of VSRs.
    """

    vsr: Array
    acc: Array


class Operands(NamedTuple):
    """What an instruction reads.

    Attributes
    ----------
    vsrs : array (…, r, 16), optional
        The VSRs it reads, in the order of `Instruction.vsrs_read`; None if it reads none.
    acc : array (…, 4, 16), optional
        Its accumulator, where that must be primed.
    """

    vsrs: Array | None
    acc: Array | None


# -- register files: (…, n, w), a row for each register
def _read(alg: Algebra, file: Array, number: Any) -> Array:
    """Return the row (…, w) of a register."""
    count = file.shape[-2]
    at = one_of(alg, number, count)
    value: Array = file[..., 0, :]
    for n in range(1, count):
        value = alg.where(at[..., n, None], file[..., n, :], value)
    return value


def _write(alg: Algebra, file: Array, number: Any, value: Array) -> Array:
    """Return the file with the row of one register replaced."""
    return alg.where(one_of(alg, number, file.shape[-2])[..., None], value[..., None, :], file)


def rows(flat: Array) -> Array:
    """Split accumulators (…, 64) into their rows (…, 4, 16)."""
    return flat.reshape(*flat.shape[:-1], ACCUMULATOR_ROWS, flat.shape[-1] // ACCUMULATOR_ROWS)


def joined(four: Array) -> Array:
    """Join four rows (…, 4, 16) into an accumulator (…, 64), the inverse of `rows`."""
    return four.reshape(*four.shape[:-2], four.shape[-2] * four.shape[-1])


def groups(vsr: Array) -> Array:
    """Return VSR[4k..4k+3] (…, 8, 4, 16), the VSRs associated with each accumulator."""
    associated = vsr[..., :ASSOCIATED_VSRS, :]
    return associated.reshape(*vsr.shape[:-2], ACCUMULATORS, ACCUMULATOR_ROWS, vsr.shape[-1])


def with_groups(vsr: Array, four: Array) -> Array:
    """Return the VSRs with all of `groups` replaced."""
    associated = four.reshape(*four.shape[:-3], ASSOCIATED_VSRS, four.shape[-1])
    batch = np.broadcast_shapes(vsr.shape[:-2], associated.shape[:-2])
    others = vsr[..., ASSOCIATED_VSRS:, :]
    both = (np.broadcast_to(part, (*batch, *part.shape[-2:])) for part in (associated, others))
    return np.concatenate(list(both), axis=-2)


def accumulators(state: State, aliasing: str) -> Array:
    """Return the accumulators (…, 8, 4, 16) of a machine of one kind."""
    return groups(state.vsr) if aliasing == "shared" else state.acc


def _with_accumulators(state: State, aliasing: str, acc: Array) -> State:
    if aliasing == "shared":
        return state._replace(vsr=with_groups(state.vsr, acc))
    return state._replace(acc=acc)


# -- one step
def operands(alg: Algebra, state: State, instruction: Instruction, aliasing: str) -> Operands:
    """Read what an instruction reads."""
    vsrs = acc = None
    if instruction.operation is Move.XXMTACC:
        vsrs = rows(_read(alg, joined(groups(state.vsr)), instruction.accumulator))
    elif numbers := instruction.vsrs_read:
        values = [_read(alg, state.vsr, number) for number in numbers]
        vsrs = np.stack(np.broadcast_arrays(*values), axis=-2)
    effect = priming(instruction.operation)
    if effect is not None and effect.needs_primed:
        acc = rows(_read(alg, joined(accumulators(state, aliasing)), instruction.accumulator))
    return Operands(vsrs, acc)


def results(
    alg: Algebra,
    instruction: Instruction,
    read: Operands,
    choices: Choices,
    *,
    rounding: Rounding | Any = Rounding.NEAREST_EVEN,
    loaded: Array | None = None,
) -> Array | None:
    """Compute the registers (…, r, 16) that an instruction writes; None if it writes none.

    Parameters
    ----------
    alg : Algebra
        What bytes are.
    instruction : Instruction
        What is executed.
    read : Operands
        What it reads.
    choices : Choices
        Readings of the open points.
    rounding : Rounding
        FPSCR.RN.
    loaded : array (…, r, 16), optional
        For a load: what `memory.load` makes of the bytes at its address.

    Raises
    ------
    InputError
        If a load comes without `loaded`.
    """
    match instruction.operation:
        case RankKUpdate() as update:
            family = update.family
            x, y, acc = _matrices(alg, family, read)
            live = _live(alg, family, instruction.masks)
            value = rank_k_update(alg, update, x, y, acc, live, rounding, choices)
            return accumulator_fragment(family.result).scatter(alg, value)
        case Move.XXSETACCZ:
            return np.broadcast_to(alg.constant(0, U8), (ACCUMULATOR_ROWS, REGISTER_BYTES))
        case Move.XXMTACC:
            return read.vsrs
        case Move.XXMFACC:
            return read.acc
        case Transfer(store=False) if loaded is None:
            raise InputError(f"{instruction} needs the registers it loads")
        case Transfer(store=False):
            return loaded
        case _:
            return None


def _matrices(alg: Algebra, family: Family, read: Operands) -> tuple[Array, Array, Array]:
    """Read X, Y and the accumulator as matrices; one that is not looked at is 0."""
    assert read.vsrs is not None
    x = x_fragment(family).gather(alg, read.vsrs[..., :-1, :])
    y = y_fragment(family).gather(alg, read.vsrs[..., -1:, :])
    fmt = family.result
    acc = alg.constant(0, fmt) if read.acc is None else accumulator_fragment(fmt).gather(alg, read.acc)
    return x, y, acc


def _live(alg: Algebra, family: Family, masks: tuple[int, int, int]) -> Live:
    widths = (4, family.columns, family.rank)
    return Live(*(alg.flags(mask, width) for mask, width in zip(masks, widths, strict=True)))


def written(alg: Algebra, state: State, instruction: Instruction, aliasing: str, result: Array) -> State:
    """Return the state after an instruction has written its results (…, r, 16)."""
    number = instruction.accumulator
    if instruction.operation is Move.XXMFACC:
        moved = _write(alg, joined(groups(state.vsr)), number, joined(result))
        return state._replace(vsr=with_groups(state.vsr, rows(moved)))
    if priming(instruction.operation) is not None:
        acc = _write(alg, joined(accumulators(state, aliasing)), number, joined(result))
        return _with_accumulators(state, aliasing, rows(acc))
    vsr = state.vsr
    for row, target in enumerate(instruction.vsrs_written):
        vsr = _write(alg, vsr, target, result[..., row, :])
    return state._replace(vsr=vsr)


def step(
    alg: Algebra,
    state: State,
    instruction: Instruction,
    choices: Choices,
    *,
    rounding: Rounding | Any = Rounding.NEAREST_EVEN,
    loaded: Array | None = None,
) -> State:
    """Execute one instruction; see `results` for the parameters.

    ``choices.aliasing`` says which machine it is. What a store writes to memory is `operands`' VSRs.
    """
    read = operands(alg, state, instruction, choices.aliasing)
    result = results(alg, instruction, read, choices, rounding=rounding, loaded=loaded)
    return state if result is None else written(alg, state, instruction, choices.aliasing, result)
