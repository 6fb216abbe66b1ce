"""The PTO machine of the verifier beside the interpreter: the same program on the same numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mmaproof.refinement.contract.arguments import Array, Scalar
from mmaproof.refinement.contract.contract import Instance
from mmaproof.refinement.contract.reading import read_contract
from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.machine.array_memory import elements_in, inputs_of, memories
from mmaproof.refinement.machine.front_end import Outcome
from mmaproof.refinement.machine.launch_sequence import kernel_of
from mmaproof.refinement.machine.memory import ABSENT
from mmaproof.refinement.pto.front_end import PtoKernel
from mmaproof.refinement.terms.assignments import FILLINGS, Assignment
from mmaproof.refinement.terms.store import TermStore
from mmaproof.spec.float_encoding import encode
from mmaproof.spec.formats import UE8M0, FloatFormat, Format
from mmaproof.spec.pto.text.module import Function
from mmaproof.spec.pto.text.types import OtherType
from mmaproof.spec.rounding import Rounding

from .pto_machine import Machine, functions_in, kind_of
from .pto_numbers import decoded
from .pto_tiles import STORAGE, BrokenError, Pointer

SCHEDULES = 2
"""Orders of the pipes that a program without races is run in, besides that of the text."""


@dataclass
class Comparison:
    """What came of a program.

    Attributes
    ----------
    findings : set of Kind
        Of the machine.
    compared : int
        Elements that have the same bits on both sides, and depend on nothing undefined.
    differences : list of str
        What is not as the machine says.
    """

    findings: set[Kind] = field(default_factory=set)
    compared: int = 0
    differences: list[str] = field(default_factory=list)


def compared(kernel_path: Path, contract_path: Path, seed: int, *, tolerance: float = 0.0) -> Comparison:
    """Run a program on both sides, at the first sizes of its contract.

    Parameters
    ----------
    kernel_path, contract_path : Path
        The program, and what it is called with.
    seed : int
        Of the numbers, and of the orders of the pipes.
    tolerance : float
        By how much floats may differ, relatively: 0 but for functions that no document rounds.
    """
    contract = read_contract(contract_path)
    kernel = kernel_of(contract, kernel_path)
    assert isinstance(kernel, PtoKernel)
    instance = next(iter(contract.instances()))
    store, random = TermStore(), np.random.default_rng(seed)
    outcome = kernel.run(instance, store, inputs_of(store, instance))
    found = Comparison({finding.kind for finding in outcome.findings})
    if Kind.UNSUPPORTED in found.findings or Kind.ILLEGAL in found.findings:
        return found
    inputs = _numbers(instance, random)
    if Kind.DEADLOCK in found.findings:
        _expect_deadlock(kernel, instance, inputs, found)
    if not outcome.complete or any(finding.refutes for finding in found.findings):
        return found
    for filling in FILLINGS:
        _expect_outputs(kernel, instance, store, outcome, inputs, filling, seed, tolerance, found)
    return found


def _expect_deadlock(kernel: PtoKernel, instance: Instance, inputs: Inputs, found: Comparison) -> None:
    try:
        _interpreted(kernel, instance, inputs, FILLINGS[0], None)
    except BrokenError as error:
        if "deadlock" not in str(error):
            found.differences.append(f"the interpreter ends with {error}")
        return
    found.differences.append("a deadlock that the interpreter does not have")


Inputs = Mapping[str, NDArray[np.uint64]]


def _expect_outputs(
    kernel: PtoKernel,
    instance: Instance,
    store: TermStore,
    outcome: Outcome,
    inputs: Inputs,
    filling: int,
    seed: int,
    tolerance: float,
    found: Comparison,
) -> None:
    """Compare what is defined with every order of the pipes."""
    values = [Assignment(store, inputs, undefined=each) for each in FILLINGS]
    others = range(SCHEDULES) if filling == FILLINGS[0] else ()
    for order in (None, *(Random(f"{seed} {number}") for number in others)):
        try:
            memory = _interpreted(kernel, instance, inputs, filling, order)
        except BrokenError as error:
            found.differences.append(f"the interpreter ends with {error}")
            return
        for name, held in memories(instance).items():
            array = instance.arrays[name]
            if not array.access.is_written:
                continue
            written, terms = elements_in(store, held, outcome.arrays[name].lanes)
            written &= terms != ABSENT
            one, other = (value.values(terms[written]) for value in values)
            size = array.element_bits // 8
            got = memory[name].view(STORAGE[size])[: array.elements].astype(np.uint64)[written]
            wrong = (one == other) & ~_alike(got, one, array.format, tolerance)
            found.compared += int((one == other).sum())
            if wrong.any():
                at = int(np.flatnonzero(wrong)[0])
                place = np.unravel_index(int(np.flatnonzero(written)[at]), array.shape)
                of = "in the order of the text" if order is None else "in another order"
                found.differences.append(
                    f"{name}[{','.join(map(str, place))}] is {got[at]:#x} {of}, the machine says {one[at]:#x}"
                )
                return


def _alike(got: Any, wanted: Any, fmt: Format, tolerance: float) -> Any:
    same = got == wanted
    if isinstance(fmt, FloatFormat):
        one, other = decoded(got, fmt), decoded(wanted, fmt)
        same |= one == other  # zeros of either sign: what a maximum of them is, is left open
        with np.errstate(invalid="ignore"):
            same |= np.abs(one - other) <= tolerance * np.abs(other)
    return same


def _interpreted(
    kernel: PtoKernel, instance: Instance, inputs: Inputs, filling: int, order: Random | None
) -> dict[str, NDArray[np.uint8]]:
    memory = {name: _bytes(array, inputs.get(name), filling) for name, array in instance.arrays.items()}
    functions = functions_in(kernel.module)
    explicit = kernel._is_explicit(instance.contract.synchronisation)
    machine = Machine(kernel.profile, functions, memory, explicit, filling)
    entries = _entries(functions[kernel.entry], kernel)
    machine.run(
        entries,
        lambda block: _arguments(functions[kernel.entry], instance, inputs, block),
        prod(instance.grid),
        order,
    )
    return memory


def _entries(function: Function, kernel: PtoKernel) -> Sequence[tuple[str, Function]]:
    """Return what each core runs: the peers of a file, or one function for each core that it has code for."""
    if kernel.peer is not None:
        return [(kind_of(each) or "", each) for each in (function, kernel.peer)]
    text = str(kernel.module)
    called = [each for each in functions_in(kernel.module).values() if f"@{each.name}(" in str(function.body)]
    kinds = {kind_of(each) for each in called} | {
        kind for kind in ("cube", "vector") if f"pto.section.{kind}" in text
    }
    if {"cube", "vector"} <= kinds:
        return [("cube", function), ("vector", function)]
    return [("", function)]


def _bytes(array: Array, words: NDArray[np.uint64] | None, filling: int) -> NDArray[np.uint8]:
    size = array.element_bits // 8
    if words is None:
        return np.full(array.elements * size, filling, dtype=np.uint8)
    return np.ascontiguousarray(words.astype(STORAGE[size])).view(np.uint8).copy()


def _arguments(function: Function, instance: Instance, inputs: Inputs, block: int) -> list[Any]:
    given = {each.name: each for each in instance.arguments}
    found: list[Any] = []
    for name, parameter in zip(instance.passed, function.parameters, strict=True):
        argument = given[str(name)]
        if isinstance(argument, Array):
            type_ = parameter.type
            element = type_.element if isinstance(type_, OtherType) else None
            found.append(Pointer(argument.name, 0, element))
        elif argument.of_launch:
            found.append(block)
        else:
            found.append(_scalar(argument, inputs))
    return found


def _scalar(scalar: Scalar, inputs: Inputs) -> Any:
    if scalar.integer is not None:
        return scalar.integer
    word = inputs[scalar.name] if scalar.value is None else np.array([scalar.value], dtype=np.uint64)
    return decoded(word, scalar.format).tolist()[0]


def _numbers(instance: Instance, random: np.random.Generator) -> dict[str, NDArray[np.uint64]]:
    """Return small integers, whose sums are exact, for everything that a program is given."""
    given = {
        array.name: (array.format, array.elements) for array in instance.arrays.values() if array.is_given
    }
    scalars = {
        scalar.name: (scalar.format, 1) for scalar in instance.scalars.values() if scalar.value is None
    }
    found = {}
    for name, (fmt, count) in (given | scalars).items():
        numbers = random.integers(-3, 4, count)
        if fmt == UE8M0:
            found[name] = np.asarray(127 + np.abs(numbers) // 2, dtype=np.uint64)
        elif isinstance(fmt, FloatFormat):
            found[name] = encode(numbers.astype(np.float64), fmt, Rounding.NEAREST_EVEN).astype(np.uint64)
        else:
            found[name] = (numbers & ((1 << fmt.bits) - 1)).astype(np.uint64)
    return found
