"""The operands of one instruction as named arrays, see `spec.operand_arrays`.

Matrix view: ``x`` (…, 4, k), ``y`` (…, n, k) and ``acc`` (…, 4, n) in ISA element order, n = 4, or 2
for f64, as values or (``x_bits``, …) as encodings. Register view: bytes in ISA order, ``x`` and ``y``
(…, 16) (the f64 pair ``x`` (…, 32)), ``acc`` (…, 64), and for the accumulator moves ``vsr`` (…, 4, 16).
Batch axes come first and broadcast.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from math import prod
from types import MappingProxyType

import numpy as np

from .. import operand_arrays
from ..algebra import Algebra, Array
from ..errors import InputError
from ..formats import U8, Format
from ..fragment import Fragment
from ..operand_arrays import ALGEBRA, Matrix, Observer, Words
from ..rounding import Rounding
from .batches import rank_k_updates
from .catalogue import Family, Move, RankKUpdate
from .choices import Choices
from .instructions import Instruction
from .legality import violations
from .rank_k_update import Live, saturation
from .registers import ACCUMULATOR_ROWS, REGISTER_BYTES, accumulator_fragment, x_fragment, y_fragment
from .targets import TARGETS

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
    observer: Observer | None = None,
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
    observer : Observer, optional
        Told what is executed, if it is an update.

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
            return _update(update, instruction.masks, arrays, environment, as_registers, observer)
        case Move() as move:
            if not as_registers:
                raise InputError(f"{instruction.mnemonic} moves whole registers: use the register view")
            return _move(move, arrays)
        case operation:
            raise InputError(
                f"{operation.mnemonic} can't be executed alone; rank-k updates and accumulator moves can"
            )


@dataclass(frozen=True)
class Image:
    """An operand's registers in one array of bytes.

    Attributes
    ----------
    fragment : Fragment
        The registers (r, 16 bytes).
    """

    fragment: Fragment

    @property
    def word(self) -> Format:
        """A byte."""
        return U8

    @property
    def words(self) -> tuple[int]:
        """How many bytes there are."""
        return (prod(self.fragment.words),)

    def gather(self, alg: Algebra, registers: Array) -> Array:
        """Read bytes (…, 16 r) as the matrix."""
        return self.fragment.gather(alg, registers.reshape(*registers.shape[:-1], *self.fragment.words))

    def scatter(self, alg: Algebra, matrix: Array) -> Array:
        """Write the matrix to bytes (…, 16 r)."""
        rows = self.fragment.scatter(alg, matrix)
        return rows.reshape(*rows.shape[:-2], *self.words)


@cache
def operands(update: RankKUpdate) -> Mapping[str, Matrix]:
    """Return the matrices that an update reads."""
    family = update.family
    read = {"x": _matrix(x_fragment(family)), "y": _matrix(y_fragment(family))}
    return MappingProxyType(read | ({"acc": _accumulator(family)} if update.accumulates else {}))


@cache
def _accumulator(family: Family) -> Matrix:
    return _matrix(accumulator_fragment(family.result), "the accumulator is not primed: ")


def _matrix(fragment: Fragment, absent: str = "") -> Matrix:
    return Matrix(fragment.shape, fragment.packing.format, Image(fragment), absent)


def _update(
    update: RankKUpdate,
    masks: tuple[int, int, int],
    arrays: Mapping[str, Array],
    environment: Environment,
    as_registers: bool,
    observer: Observer | None,
) -> dict[str, Array]:
    family = update.family
    widths = (4, family.columns, family.rank)
    live = Live(*(ALGEBRA.flags(mask, width) for mask, width in zip(masks, widths, strict=True)))
    zero = ALGEBRA.constant(0, family.result)

    def compute(alg: Algebra, given: Mapping[str, Array]) -> dict[str, Array]:
        read = given["x"], given["y"], given.get("acc", zero), live
        results = {"acc": rank_k_updates(update, *read, environment.rounding, environment.choices, alg)}
        if update.saturates:
            results["saturated"] = saturation(alg, update, *read)
        return results

    return operand_arrays.execute(
        update.mnemonic,
        operands(update),
        {"acc": _accumulator(family)},
        compute,
        arrays,
        as_registers=as_registers,
        work=family.columns,  # `batches` has blocks of its own
        unread={"acc": _accumulator(family)},
        observer=observer,
    )


def _move(move: Move, arrays: Mapping[str, Array]) -> dict[str, Array]:
    rows, size = (ACCUMULATOR_ROWS, REGISTER_BYTES), ACCUMULATOR_ROWS * REGISTER_BYTES
    words = {"acc": Words((size,), U8.storage), "vsr": Words(rows, U8.storage)}
    read = {Move.XXSETACCZ: (), Move.XXMTACC: ("vsr",), Move.XXMFACC: ("acc",)}[move]
    given = operand_arrays.read(move.mnemonic, {name: words[name] for name in read}, arrays, unread=words)
    match move:
        case Move.XXSETACCZ:
            return {"acc": np.zeros(size, dtype=np.uint8)}
        case Move.XXMTACC:
            vsr = given["vsr"]
            return {"acc": vsr.reshape(*vsr.shape[:-2], size)}
        case Move.XXMFACC:
            acc = given["acc"]
            return {"vsr": acc.reshape(*acc.shape[:-1], *rows)}
