"""The operands of one instruction as named arrays, see `spec.operand_arrays`.

Matrix view: ``a`` (…, M, K), ``b`` (…, K, N), ``c`` (…, M, N), with an axis of blocks before the rows where
there are several. Register view: uint32 (of f64 uint64, the pairs), each (…, 64 lanes, registers). A
constant C is taken from the text.
"""

from __future__ import annotations

from math import prod

import numpy as np

from .. import operand_arrays
from ..algebra import Algebra, Array
from ..errors import InputError, UnsupportedError
from ..operand_arrays import Arrays, Matrix, Observer
from .choices import PAIRWISE, UNSPECIFIED, Choices
from .instructions import Constant, Written
from .layouts import fragment
from .legality import permutes_lanes
from .product import modifiers_of, product, sums_pairwise
from .targets import Target


def execute(
    written: Written,
    target: Target,
    arrays: Arrays,
    choices: Choices,
    *,
    as_registers: bool,
    observer: Observer | None = None,
) -> dict[str, Array]:
    """Execute a legal instruction; see `spec.operand_arrays.execute`.

    Raises
    ------
    InputError
        If an array is missing, unknown, or of the wrong shape, type or value.
    UnsupportedError
        If it is not known what the instruction computes.
    """
    row = written.on(target)
    assert row is not None
    if choices.accumulation == UNSPECIFIED and row.result != "i32":
        raise InputError(f"{UNSPECIFIED} accumulation has no value to compute; --list-choices prints others")
    if (
        choices.accumulation == PAIRWISE
        and row.result == "f32"
        and not (row.factors == "f32" or sums_pairwise(row, target))
    ):
        raise InputError(
            f"{PAIRWISE} accumulation is of f16 and bf16 on gfx908 and gfx90a, not of {row} on {target.name}"
        )
    if written.modifier("blgp") and not permutes_lanes(row, target):
        raise UnsupportedError(f"{written}: what blgp does here is not known (contradiction blgp-one-block)")
    held = {name: fragment(row, name, target) for name in row.types}
    operands = {name: Matrix(each.shape, each.packing.format, each) for name, each in held.items()}
    results, modifiers, known = {"d": operands.pop("d")}, modifiers_of(written), {}
    if isinstance(given := written.given.get("c"), Constant):
        c = operands.pop("c")
        known["c"] = np.full(c.shape, given.encoding(c.format), dtype=c.format.storage)

    def compute(alg: Algebra, read: Arrays) -> Arrays:
        a, b, c = ({**read, **known}[name] for name in "abc")
        return {"d": product(alg, row, target, a, b, c, modifiers, choices)}

    work = prod(results["d"].shape) * row.k
    return operand_arrays.execute(
        row.name,
        operands,
        results,
        compute,
        arrays,
        as_registers=as_registers,
        work=work,
        observer=observer,
    )
