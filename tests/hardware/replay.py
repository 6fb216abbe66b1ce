"""What the specification says about a recorded vector, and whether the device agrees."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from mmaproof.spec.formats import FloatFormat, Format
from mmaproof.spec.numpy_algebra import NumpyAlgebra
from mmaproof.spec.ptx.matrix_moves import transpose
from mmaproof.spec.ptx.operand_arrays import multiply
from mmaproof.spec.ptx.shared_memory import ldmatrix, stmatrix
from mmaproof.spec.ptx.targets import Target, target_named
from mmaproof.spec.ptx.variant import Family

from .cases import Case, is_product
from .models import choices_on
from .vector_files import Array, Recording, VectorFile

ALGEBRA = NumpyAlgebra()


def expected(case: Case, inputs: dict[str, Array], target: Target) -> Array:
    """Return what the specification says `Case.result` is after the instruction."""
    match case.variant.family:
        case Family.LDMATRIX:
            addresses = inputs["addresses"][..., 0].astype(np.int64)
            return ldmatrix(case.move, inputs["memory"], addresses, target.number)
        case Family.STMATRIX:
            addresses = inputs["addresses"][..., 0].astype(np.int64)
            return stmatrix(case.move, inputs["memory"], addresses, inputs["a"])
        case Family.MOVMATRIX:
            return np.asarray(transpose(ALGEBRA, case.move, inputs["a"]))
        case Family.WMMA_MMA:
            return _wmma(case, inputs, target)
        case _:
            results = multiply(case.multiplication, inputs, choices_on(case, target), case.selected)
            return results["d"]


def _wmma(case: Case, inputs: dict[str, Array], target: Target) -> Array:
    operands = case.memory_operands
    matrices = {f"{role}_bits": operands[role].load(inputs[role], 0, case.stride(role)) for role in "abc"}
    d = multiply(case.multiplication, matrices, choices_on(case, target))["d_bits"]
    return np.asarray(operands["d"].store(inputs["d"], 0, d, case.stride("d")))


def with_one_nan(case: Case, result: Array) -> Array:
    """Return a result with every NaN replaced by the default one: payloads are not compared."""
    if not is_product(case):
        return result
    replace = partial(_with_one_nan, case.multiplication.d)
    if case.moves:
        operand, stride = case.memory_operands["d"], case.stride("d")
        return np.asarray(operand.store(result, 0, replace(operand.load(result, 0, stride)), stride))
    fragment = case.multiplication.fragment("d")
    return np.asarray(fragment.scatter(ALGEBRA, replace(fragment.gather(ALGEBRA, result))))


def _with_one_nan(fmt: Format, encodings: Array) -> Array:
    if not isinstance(fmt, FloatFormat) or fmt.default_nan is None:
        return encodings
    infinity = fmt.largest if fmt.infinity is None else fmt.infinity
    magnitudes = encodings & encodings.dtype.type(fmt.sign_mask - 1)
    nan = encodings.dtype.type(fmt.default_nan)
    return np.where(magnitudes > infinity, nan, encodings)


def disagreements(recording: Recording, target: Target) -> NDArray[np.bool_]:
    """Return for each vector whether the device and the specification differ."""
    case = recording.case
    said = with_one_nan(case, expected(case, recording.inputs, target))
    seen = with_one_nan(case, recording.result)
    assert said.shape == seen.shape, f"{case.variant}: {seen.shape} recorded, {said.shape} specified"
    return (said != seen).reshape(len(said), -1).any(axis=1)


def report(file: VectorFile) -> list[str]:
    """Return a line for each case of a file in which the device and the specification differ."""
    target = target_named(file.target)
    lines = []
    for recording in file.recordings:
        differ = disagreements(recording, target)
        if differ.any():
            where = ", ".join(map(str, np.flatnonzero(differ)))
            header = recording.case.header()
            lines.append(f"{header['instruction']} {header['selectors'] or ''}: vectors {where} differ")
    return lines
