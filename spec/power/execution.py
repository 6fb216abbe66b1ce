"""Execute one instruction on arrays of operands, as `mmaproof run` does.

Matrix view: ``x`` (…, 4, k), ``y`` (…, n, k) and ``acc`` (…, 4, n) in ISA element order, n = 4, or 2
for f64, as values or (``x_bits``, …) as encodings. Register view: bytes in ISA order, ``x`` and ``y``
(…, 16) (the f64 pair ``x`` (…, 32)), ``acc`` (…, 64), and for the accumulator moves ``vsr`` (…, 4, 16).
Batch axes come first and broadcast.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from ..algebra import Array
from ..errors import InputError
from ..formats import U8, Bits, Format
from ..numpy_algebra import NumpyAlgebra
from ..operand_arrays import blocks, common_batch, encodings, refuse_unknown, required, shown, words
from ..rounding import Rounding
from ..values import values_of_encodings
from .catalogue import Move, RankKUpdate
from .choices import Choices
from .instructions import Instruction
from .legality import violations
from .rank_k_update import Live, rank_k_update, saturation
from .registers import ACCUMULATOR_ROWS, REGISTER_BYTES, matrix, registers
from .targets import TARGETS

ALGEBRA = NumpyAlgebra()

_BLOCK = 1 << 16
"""Products computed at a time: their temporaries stay in a core's cache."""

ROUNDINGS = MappingProxyType({r.name.lower().replace("_", "-"): r for r in Rounding})
"""Rounding directions by the name ``--rounding`` takes."""


@dataclass(frozen=True)
class Environment:
    """What an instruction depends on besides its operands.

    Attributes
    ----------
    rounding : Rounding
        FPSCR.RN.
    choices : Choices
        Readings of the open points.
    """

    rounding: Rounding = Rounding.NEAREST_EVEN
    choices: Choices = field(default_factory=Choices)


def rounding_named(name: str) -> Rounding:
    """Look a rounding direction up by name or by its FPSCR.RN code.

    Raises
    ------
    InputError
        If there is no such direction.
    """
    if name in ROUNDINGS:
        return ROUNDINGS[name]
    for rounding in Rounding:
        if name == str(rounding.value):
            return rounding
    allowed = ", ".join(f"{known} ({rounding.value})" for known, rounding in ROUNDINGS.items())
    raise InputError(f"unknown rounding {name!r}; known: {allowed}")


def execute(
    instruction: Instruction,
    arrays: Mapping[str, Array],
    environment: Environment | None = None,
    *,
    as_registers: bool = False,
) -> dict[str, Array]:
    """Execute an instruction on arrays.

    Parameters
    ----------
    instruction : Instruction
        A rank-k update or an accumulator move; the masks are those of its text.
    arrays : mapping
        The operands by name, see the module.
    environment : Environment, optional
        Rounding direction and readings of open points.
    as_registers : bool
        Register view instead of matrix view; an accumulator move has no other.

    Returns
    -------
    dict of str to array
        ``acc`` (and in matrix view ``acc_bits``); ``saturated`` (…, 4, n), the clamped elements, for a
        saturating form; ``vsr`` for ``xxmfacc``.

    Raises
    ------
    InputError
        If the instruction is not legal on Power10 or can't be executed alone, or an array is missing,
        unknown, or of the wrong shape, type or value.
    """
    wrong = violations(instruction, TARGETS["power10"])
    if wrong:
        raise InputError(f"{instruction} is illegal: {'; '.join(map(str, wrong))}")
    environment = environment or Environment()
    match instruction.operation:
        case RankKUpdate() as update:
            if instruction.prefixed and instruction.operands is None:
                raise InputError(
                    f"{instruction} needs its masks: spell its operands, {instruction.form.syntax}"
                )
            read = _from_registers if as_registers else _from_matrices
            operands = read(update, arrays)
            results = _update(update, instruction.masks, operands, environment)
            bits, fmt = results["acc_bits"], update.family.result
            if as_registers:
                del results["acc_bits"]
                results["acc"] = registers(ALGEBRA, bits, fmt).reshape(*bits.shape[:-2], -1)
            else:
                results["acc"] = values_of_encodings(bits, fmt)
            return results
        case Move() as move:
            if not as_registers:
                raise InputError(f"{instruction.mnemonic} moves whole registers: use the register view")
            return _move(move, arrays)
        case operation:
            raise InputError(
                f"{operation.mnemonic} can't be executed alone; rank-k updates and accumulator moves can"
            )


def operand_shapes(update: RankKUpdate) -> dict[str, tuple[Format, tuple[int, int]]]:
    """Return the element format and the matrix shape of every operand an update reads."""
    family = update.family
    shapes = {"x": (family.x, (4, family.rank)), "y": (family.y, (family.columns, family.rank))}
    return shapes | ({"acc": (family.result, (4, family.columns))} if update.accumulates else {})


def _from_matrices(update: RankKUpdate, arrays: Mapping[str, Array]) -> dict[str, Bits]:
    names = ["x", "y", "acc"]
    refuse_unknown(arrays, [*names, *(f"{name}_bits" for name in names)], update.mnemonic)
    return {
        name: encodings(arrays, name, fmt, shape, update.mnemonic, _UNPRIMED.get(name, ""))
        for name, (fmt, shape) in operand_shapes(update).items()
    }


def _from_registers(update: RankKUpdate, arrays: Mapping[str, Array]) -> dict[str, Bits]:
    refuse_unknown(arrays, ["x", "y", "acc"], update.mnemonic)
    operands = {}
    for name, (fmt, (rows, columns)) in operand_shapes(update).items():
        size = (rows * columns * fmt.bits // 8,)
        takes = f"{update.mnemonic} takes {shown(size)} uint8"
        array = words(name, required(arrays, name, takes, _UNPRIMED.get(name, "")), U8.storage, size)
        vsrs = array.reshape(*array.shape[:-1], -1, REGISTER_BYTES)
        operands[name] = matrix(ALGEBRA, vsrs, fmt, rows)
    return operands


_UNPRIMED = {"acc": "the accumulator is not primed: "}
"""What it means that an operand is missing."""


def _update(
    update: RankKUpdate, masks: tuple[int, int, int], operands: Mapping[str, Bits], environment: Environment
) -> dict[str, Array]:
    """Return ``acc_bits`` and, for a saturating form, ``saturated``, computed block by block."""
    family = update.family
    widths = (4, family.columns, family.rank)
    live = Live(*(ALGEBRA.flags(mask, width) for mask, width in zip(masks, widths, strict=True)))
    batch = common_batch(operands, dict.fromkeys(operands, 2))
    count = math.prod(batch)
    flat = {
        name: np.broadcast_to(bits, (*batch, *bits.shape[-2:])).reshape(count, *bits.shape[-2:])
        for name, bits in operands.items()
    }
    results: dict[str, Array] = {
        "acc_bits": np.empty((count, 4, family.columns), dtype=family.result.storage)
    }
    if update.saturates:
        results["saturated"] = np.empty((count, 4, family.columns), dtype=bool)
    unread = np.zeros((1, 1, 1), dtype=family.result.storage)
    with np.errstate(all="ignore"):
        for block in blocks(count, _BLOCK // (4 * family.columns * family.rank)):
            x, y = flat["x"][block], flat["y"][block]
            acc = flat["acc"][block] if update.accumulates else unread
            results["acc_bits"][block] = rank_k_update(
                ALGEBRA, update, x, y, acc, live, environment.rounding, environment.choices
            )
            if update.saturates:
                results["saturated"][block] = saturation(ALGEBRA, update, x, y, acc, live)
    return {name: array.reshape(*batch, *array.shape[1:]) for name, array in results.items()}


def _move(move: Move, arrays: Mapping[str, Array]) -> dict[str, Array]:
    size = ACCUMULATOR_ROWS * REGISTER_BYTES
    needed, shape = {
        Move.XXSETACCZ: (None, ()),
        Move.XXMTACC: ("vsr", (ACCUMULATOR_ROWS, REGISTER_BYTES)),
        Move.XXMFACC: ("acc", (size,)),
    }[move]
    refuse_unknown(arrays, ["acc", "vsr"], move.mnemonic)
    if needed is None:
        return {"acc": np.zeros(size, dtype=np.uint8)}
    given = required(arrays, needed, f"{move.mnemonic} takes {shown(shape)} uint8")
    array = words(needed, given, U8.storage, shape)
    if move is Move.XXMTACC:
        return {"acc": array.reshape(*array.shape[:-2], size)}
    return {"vsr": array.reshape(*array.shape[:-1], ACCUMULATOR_ROWS, REGISTER_BYTES)}
