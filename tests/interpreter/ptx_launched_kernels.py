"""A kernel with a contract, launched on numbers by the machine and by the interpreter, on the same bytes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from interpreter import ptx_floats as floats
from interpreter.ptx_integers import Undefined, Unknown
from interpreter.ptx_interpreter import Interpreter
from interpreter.ptx_launches import Launch
from interpreter.ptx_memory import Fault, Region
from interpreter.ptx_tensor_maps import Map

from mmaproof.refinement.contract.arguments import Array
from mmaproof.refinement.contract.contract import Contract, Instance
from mmaproof.refinement.contract.reading import read_contract
from mmaproof.refinement.examine.counterexamples import as_constants, given_constants
from mmaproof.refinement.examine.trial_inputs import trial_inputs
from mmaproof.refinement.machine.array_memory import first_lanes
from mmaproof.refinement.machine.memory import ABSENT, ByteLanes
from mmaproof.refinement.ptx.front_end import PtxKernel, read_kernel
from mmaproof.refinement.ptx.run import machine
from mmaproof.refinement.ptx.run.launching import (
    Argument,
    Number,
    Pointer,
    Scalar,
    Structure,
    Tensor,
    buffers,
)
from mmaproof.refinement.ptx.run.machine import Run
from mmaproof.refinement.ptx.state.address_spaces import Buffer
from mmaproof.refinement.terms.assignments import FILLINGS, Assignment
from mmaproof.refinement.terms.store import TermStore
from mmaproof.spec.formats import FORMATS

MOST = 1_500_000
"""Instructions of single threads."""

STRIDE = 1 << 36

SEVERAL = "several launches"
"""Why contracts of more than one launch are left out."""


@dataclass
class Outcome:
    """What became of a kernel.

    Attributes
    ----------
    findings : list of str
        What the machine said of it.
    fault : str
        Why the interpreter could not go on: its kind.
    differing : list of str
        Elements of outputs that differ.
    compared : int
        Elements that were compared.
    left_out : str
        Why nothing could be compared.
    """

    findings: list[str] = field(default_factory=list)
    fault: str = ""
    differing: list[str] = field(default_factory=list)
    compared: int = 0
    left_out: str = ""


def smallest(contract: Contract) -> Instance:
    """Return a contract at the sizes of which there are the fewest threads."""
    found = [contract.instance(sizes) for sizes in contract.sizes]
    return min(found, key=lambda each: math.prod(each.grid) * math.prod(each.block) + _elements(each))


def _elements(instance: Instance) -> int:
    return sum(array.elements for array in instance.arrays.values())


@dataclass
class _Launched:
    """What the machine ran, and what was given to it."""

    run: Run
    arguments: Sequence[Argument]
    store: TermStore
    launch: Any


def _launched(kernel: PtxKernel, instance: Instance, seed: int) -> _Launched:
    """Run a kernel by the machine, on numbers such as trials take."""
    inputs = trial_inputs(instance, seed, finite=True)
    store = TermStore()
    constants = as_constants(store, instance, inputs) | given_constants(store, instance)
    found: list[_Launched] = []
    original = machine.run

    def noted(module: Any, entry: str, launch: Any, given: Any, own: TermStore, **how: Any) -> Run:
        run = original(module, entry, launch, given, own, **how)
        found.append(_Launched(run, given, own, launch))
        return run

    with mock.patch.object(machine, "run", noted):
        kernel.run(instance, store, constants)
    return found[-1]


def _encoded(store: TermStore, term: int, low: int) -> int:
    return int(store.constant_values(np.array([term]))[0]) >> low & 0xFF


def _regions(launched: _Launched) -> tuple[list[Region], dict[str, int]]:
    """Return the memory that arguments lead to, and the address of each buffer."""
    regions, bases = [], {}
    some = buffers(launched.arguments)
    for index, buffer in enumerate(some, start=1):
        bases[buffer.name] = STRIDE * index + buffer.alignment
    for buffer in some:
        data, marks = _content(launched.store, buffer, bases)
        done = 0
        for offset, length in zip(buffer.runs.offsets.tolist(), buffer.runs.lengths.tolist(), strict=True):
            part = slice(done, done + length)
            base, done = bases[buffer.name] + offset, done + length
            regions.append(Region(f"{buffer.name}+{offset}", base, data[part], marks[part], buffer.writable))
    return regions, bases


def _content(store: TermStore, buffer: Buffer, bases: Mapping[str, int]) -> tuple[bytearray, bytearray]:
    """Return the bytes of a buffer before the kernel, and which of them there are."""
    size = int(buffer.runs.lengths.sum())
    if buffer.addresses:
        words = [(bases[target.name] + offset).to_bytes(8, "little") for target, offset in buffer.addresses]
        return bytearray(b"".join(words)), bytearray(b"\1" * 8 * len(words))
    data, marks = bytearray(b"\xa5" * size), bytearray(size)
    if buffer.content is not None:
        terms, lows = buffer.content
        known = np.flatnonzero(terms != ABSENT)
        values = store.constant_values(terms[known]) >> lows[known].astype(np.uint64) & np.uint64(0xFF)
        for place, value in zip(known.tolist(), values.tolist(), strict=True):
            data[place], marks[place] = value, 1
    return data, marks


def _parameter(
    launched: _Launched, argument: Argument, size: int, bases: Mapping[str, int]
) -> tuple[bytes, bytes]:
    """Return the bytes of a parameter, and which of them are known."""
    match argument:
        case Number(encoding):
            return (encoding & ((1 << 8 * size) - 1)).to_bytes(size, "little"), b"\1" * size
        case Scalar(term):
            value = int(launched.store.constant_values(np.array([term]))[0])
            return value.to_bytes(size, "little"), b"\1" * size
        case Pointer(buffer, offset):
            return (bases[buffer.name] + offset).to_bytes(size, "little"), b"\1" * size
        case Tensor():
            return b"\xa5" * size, b"\1" * size  # of the map itself nobody is told
    assert isinstance(argument, Structure)
    data, marks = bytearray(b"\xa5" * size), bytearray(size)
    for at, width, part in argument.fields:
        data[at : at + width], marks[at : at + width] = _parameter(launched, part, width, bases)
    return bytes(data), bytes(marks)


def _maps(launched: _Launched, bases: Mapping[str, int]) -> dict[tuple[int, int], Map]:
    """Return the tensor maps among arguments, and in structures."""
    found = {}
    for number, argument in enumerate(launched.arguments):
        fields = argument.fields if isinstance(argument, Structure) else ((0, 0, argument),)
        for at, _, part in fields:
            if isinstance(part, Tensor):
                found[number, at] = _map(part, bases[part.pointer.buffer.name] + part.pointer.offset)
    return found


def _map(tensor: Tensor, address: int) -> Map:
    said = tensor.map
    if said.interleave or said.fill != "zeros":
        raise Unknown(str(said))
    size = FORMATS[said.element.removesuffix(".ftz")].bits // 8
    steps = (1, *said.steps[1:]) if said.steps else (1,) * len(said.sizes)
    strides = (size, *said.strides)
    return Map(address, size, said.sizes, strides, said.box, steps, said.swizzle, said.element)


def compare(path: Path, contract: Path, schedule: str, seed: int = 1) -> Outcome:
    """Run a kernel both ways, at the smallest sizes of its contract."""
    given = read_contract(contract)
    instance = smallest(given)
    if instance.launches:
        return Outcome(left_out=SEVERAL)
    kernel = read_kernel(path, given.entry, given.target)
    launched = _launched(kernel, instance, seed)
    outcome = Outcome([str(finding) for finding in launched.run.findings])
    function = kernel.module.functions[kernel.entry]
    regions, bases = _regions(launched)
    parameters = [
        _parameter(launched, argument, parameter.size or 0, bases)
        for parameter, argument in zip(function.parameters, launched.arguments, strict=True)
    ]
    launch = Launch(
        launched.launch.grid,
        launched.launch.block,
        parameters,
        regions,
        launched.launch.dynamic_shared or 0,
        launched.launch.cluster,
        _maps(launched, bases),
    )
    try:
        done = Interpreter(kernel.module, function, MOST).run(launch, schedule, seed)
    except Fault as fault:
        outcome.fault = f"{fault.kind}: {fault}"
        if f"more than {MOST}" in str(fault):
            return Outcome(outcome.findings, left_out=str(fault))
        return outcome
    except (Unknown, Undefined) as error:
        return Outcome(outcome.findings, left_out=f"{type(error).__name__}: {error}")
    if not launched.run.complete:
        outcome.left_out = "the machine did not end"
        return outcome
    for array in instance.outputs:
        name = array.name if array.within is None else array.within
        if name in launched.run.contents:
            parts = [region for region in done.memory.values() if region.name.rpartition("+")[0] == name]
            _compare_array(launched, array, parts, bases[name], outcome)
    return outcome


def _close(x: int, y: int, fmt: floats.Format) -> bool:
    """Tell whether two floats may be one sum in two orders, where threads come one after the other."""
    one, other = floats.decoded(x, fmt), floats.decoded(y, fmt)
    if isinstance(one, str) or isinstance(other, str):
        return one == other
    return math.isclose(floats.fraction(one), floats.fraction(other), rel_tol=1e-4, abs_tol=1e-5)


def _compare_array(
    launched: _Launched, array: Array, parts: Sequence[Region], base: int, outcome: Outcome
) -> None:
    """Compare the elements of an output."""
    name = array.name if array.within is None else array.within
    lanes: ByteLanes = launched.run.contents[name].lanes
    count = -(-(array.low_bit % 8 + array.format.bits) // 8)
    first = first_lanes(array) + (0 if array.within is None else array.at)
    lows = (array.bit_offsets.reshape(-1) % 8).tolist()
    there = lanes.written(first, count)
    words = lanes.read(first[there], count)
    values = [Assignment(launched.store, {}, undefined=filling).values(words) for filling in FILLINGS]
    data = b"".join(bytes(part.data) for part in sorted(parts, key=lambda each: each.base))
    fmt = floats.FORMATS.get(str(array.format))
    mask = (1 << array.format.bits) - 1
    for index, one, other in zip(
        np.flatnonzero(there).tolist(), *(value.tolist() for value in values), strict=True
    ):
        x = int.from_bytes(data[first[index] : first[index] + count], "little") >> lows[index] & mask
        y, z = (int(each) >> lows[index] & mask for each in (one, other))
        nan = fmt is not None and floats.is_nan(y, fmt) and floats.is_nan(z, fmt)
        if y != z and not nan:
            continue  # undefined, or in an order that PTX leaves open
        outcome.compared += 1
        if x == y or (fmt is not None and nan and floats.is_nan(x, fmt)):
            continue
        if not (fmt is not None and launched.run.arrivals and _close(x, y, fmt)):
            outcome.differing.append(
                f"{array.name}[{index}]: {x:#x} by the interpreter, {y:#x} by the machine"
            )
