"""A kernel run by the interpreter and by the symbolic machine, and what differs in memory."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from interpreter import ptx_floats as floats
from interpreter.ptx_interpreter import Interpreter
from interpreter.ptx_launches import Launch
from interpreter.ptx_memory import Region
from numpy.typing import NDArray
from ptx_machine import Bench, written

from mmaproof.refinement.machine.memory import ByteLanes
from mmaproof.refinement.ptx.run.launching import Pointer
from mmaproof.refinement.ptx.run.machine import Run
from mmaproof.refinement.ptx.state.address_spaces import Buffer as MachineBuffer
from mmaproof.refinement.ptx.text.module import Module
from mmaproof.refinement.ptx.text.parser import parse
from mmaproof.refinement.terms.assignments import FILLINGS, Assignment
from mmaproof.spec.formats import FORMATS, Format

ALIGNMENT = 256


@dataclass(frozen=True)
class Given:
    """An array that a kernel gets.

    Attributes
    ----------
    name, kind : str
        Its name, and the type of its elements: ``u32``, ``f16``.
    elements : tuple of int, optional
        Encodings; None of one that is only written.
    count : int
        Elements of one that is only written.
    """

    name: str
    kind: str
    elements: tuple[int, ...] | None
    count: int = 0

    @property
    def bytes(self) -> int:
        """Of an element."""
        return FORMATS[self.kind].bits // 8

    @property
    def size(self) -> int:
        """Bytes."""
        return self.bytes * (self.count if self.elements is None else len(self.elements))


@dataclass(frozen=True)
class Left:
    """What an array holds in the end: encodings (n,), and which elements are defined."""

    words: NDArray[np.uint64]
    defined: NDArray[np.bool_]


Memory = dict[str, Left]
Extents = tuple[int, int, int]


def interpreted(
    module: Module | str,
    arrays: Sequence[Given],
    grid: Extents = (1, 1, 1),
    block: Extents = (32, 1, 1),
    schedule: str = "in order",
    seed: int = 0,
    *,
    once: bool = False,
    cluster: Extents | None = None,
) -> Memory:
    """Return what the interpreter leaves; what differs between two fillings of undefined bits is so.

    Run `once`, it does not tell what is undefined.
    """
    module = parse(module, "kernel.ptx") if isinstance(module, str) else module
    noise = random.Random(seed)
    regions, parameters = [], []
    for index, each in enumerate(arrays):
        base = (index + 1 << 32) + ALIGNMENT
        parameters.append((base.to_bytes(8, "little"), b"\1" * 8))
        data = noise.randbytes(each.size)
        if each.elements is not None:
            data = b"".join(word.to_bytes(each.bytes, "little") for word in each.elements)
        mark = bytes([each.elements is not None])
        regions.append(Region(each.name, base, bytearray(data), bytearray(mark * each.size)))
    (entry,) = module.entries
    interpreter, launch = Interpreter(module, entry), Launch(grid, block, parameters, regions, 0, cluster)
    one = interpreter.run(launch, schedule, 2 * seed).memory
    other = one if once else interpreter.run(launch, schedule, 2 * seed + 1).memory
    found = {}
    for each in arrays:
        first, second = (
            np.frombuffer(bytes(run[each.name].data), dtype=f"<u{each.bytes}") for run in (one, other)
        )
        written_ = np.frombuffer(bytes(one[each.name].written), dtype=np.uint8).reshape(-1, each.bytes)
        words = first.astype(np.uint64)
        found[each.name] = Left(words, written_.all(axis=1) & _same(each, words, second.astype(np.uint64)))
    return found


def _same(given: Given, first: NDArray[np.uint64], second: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Tell which elements are the same with two fillings of what is undefined; a NaN is, whichever it is."""
    same: NDArray[np.bool_] = first == second
    fmt = floats.FORMATS.get(given.kind)
    if fmt is not None:
        for index in np.flatnonzero(~same).tolist():
            same[index] = floats.is_nan(int(first[index]), fmt) and floats.is_nan(int(second[index]), fmt)
    return same


def run_machine(
    module: Module | str,
    arrays: Sequence[Given],
    grid: Extents = (1, 1, 1),
    block: Extents = (32, 1, 1),
    *,
    on_terms: bool,
    cluster: Extents | None = None,
) -> tuple[Memory, Run]:
    """Return what the symbolic machine leaves, run on numbers or on terms, and what it says.

    Raises
    ------
    UnsupportedError
        If it refuses the kernel.
    """
    bench = Bench()
    pointers: list[Any] = []
    for array in arrays:
        if array.elements is None:
            pointers.append(written(array.name, array.size, ALIGNMENT))
        elif on_terms:
            pointers.append(
                bench.given(
                    array.name,
                    np.array(array.elements, np.uint64),
                    FORMATS[array.kind],
                    ALIGNMENT,
                    writable=True,
                )
            )
        else:
            pointers.append(_constant(bench, array))
    clusters = {} if cluster is None else {"cluster": cluster}
    done = bench.run(module, pointers, grid=grid, block=block, **clusters)
    return {array.name: _left(bench, done, array) for array in arrays}, done


def _constant(bench: Bench, given: Given) -> Pointer:
    fmt: Format = FORMATS[given.kind]
    lanes = ByteLanes(bench.store, given.size)
    terms = bench.store.constants(np.array(given.elements, dtype=np.uint64), fmt.bits)
    lanes.write(np.arange(0, given.size, given.bytes), terms)
    return Pointer(MachineBuffer(given.name, given.size, ALIGNMENT, (lanes.terms, lanes.lows), True))


def _left(bench: Bench, done: Run, given: Given) -> Left:
    lanes = done.contents[given.name].lanes
    places = np.arange(0, given.size, given.bytes)
    there = np.asarray(lanes.written(places, given.bytes))
    terms = lanes.read(places[there], given.bytes)
    first, second = (
        Assignment(bench.store, bench.inputs, undefined=filling).values(terms) for filling in FILLINGS
    )
    words = np.zeros(len(places), dtype=np.uint64)
    words[there] = first
    defined = there.copy()
    defined[there] = _same(given, first, second)
    return Left(words, defined)


def differences(arrays: Sequence[Given], one: Memory, other: Memory) -> list[str]:
    """Return what differs; a NaN equals a NaN, and what both leave undefined is the same."""
    found = []
    for array in arrays:
        a, b = one[array.name], other[array.name]
        wrong = a.defined != b.defined
        both = a.defined & b.defined
        wrong |= both & (a.words != b.words)
        for index in np.flatnonzero(wrong).tolist():
            x, y = int(a.words[index]), int(b.words[index])
            fmt = floats.FORMATS.get(array.kind)
            if fmt is not None and both[index] and floats.is_nan(x, fmt) and floats.is_nan(y, fmt):
                continue
            spelled = [
                hex(word) if known else "undefined"
                for word, known in ((x, a.defined[index]), (y, b.defined[index]))
            ]
            found.append(
                f"{array.name}[{index}]: {spelled[0]} by the interpreter, {spelled[1]} by the machine"
            )
    return found
