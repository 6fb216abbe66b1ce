"""Single PTX instructions, run on given operands in a kernel around them: known numbers or data."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import exact_arithmetic as exact
import numpy as np

from mmaproof.refinement.findings.finding import KernelFinding
from mmaproof.refinement.machine.memory import ByteLanes
from mmaproof.refinement.ptx.registers.threads import Launch
from mmaproof.refinement.ptx.run.launching import Argument, Pointer
from mmaproof.refinement.ptx.run.machine import run
from mmaproof.refinement.ptx.state.address_spaces import Buffer
from mmaproof.refinement.ptx.text.module import TYPE_BITS
from mmaproof.refinement.ptx.text.parser import parse
from mmaproof.refinement.terms.assignments import Assignment
from mmaproof.refinement.terms.evaluation import Words
from mmaproof.refinement.terms.interning import Ids
from mmaproof.refinement.terms.operations import FUNCTION
from mmaproof.refinement.terms.store import CONSTANT, Operation, TermStore, bits
from mmaproof.spec.formats import FloatFormat


@dataclass(frozen=True)
class Executed:
    """What an instruction did.

    Attributes
    ----------
    results : mapping of str to array
        Encodings by the register's name.
    findings : tuple of KernelFinding
        What was found.
    kernel : str
        The kernel that ran.
    operations : frozenset of str
        Names of the operations that the results are terms of; none if they are numbers.
    functions : frozenset of str
        Names of the uninterpreted functions among them.
    """

    results: Mapping[str, Words]
    findings: tuple[KernelFinding, ...]
    kernel: str
    operations: frozenset[str]
    functions: frozenset[str]


Make = Callable[[TermStore, dict[str, Words], str, Words, int], Ids]
"""Makes the terms of an operand, so that some threads know it, and some do not."""


def execute(
    text: str,
    operands: Mapping[str, tuple[str, object]],
    results: Mapping[str, str],
    data: Collection[str] | Make = (),
) -> Executed:
    """Run instructions in one thread for each element of the operands.

    Parameters
    ----------
    text : str
        One or more instructions, over registers named as the operands and results.
    operands : mapping of str to (type, array)
        Type (``b32``, ``pred``) and encodings (n,) of each register that is set before.
    results : mapping of str to str
        Type of each register that is read afterwards.
    data : collection of str, or callable
        Operands that the run sees as data; their values are put in afterwards. Or what makes the terms of an
        operand: from the store, the values of inputs to add to, its name, its values and its width.
    """
    count = len(np.asarray(next(iter(operands.values()))[1]))
    store = TermStore()
    arguments: list[Argument] = []
    values: dict[str, Words] = {}
    for name, (kind, given) in operands.items():
        words = np.broadcast_to(np.asarray(given), (count,)).astype(np.uint64)
        width = _stored(kind)
        if callable(data):
            terms = data(store, values, name, words, width)
        elif name in data:
            values[name] = words
            terms = store.inputs(name, bits(width), np.arange(count))
        else:
            terms = store.constants(words, width)
        size = width // 8
        lanes = ByteLanes(store, count * size)
        lanes.write(size * np.arange(count), terms)
        arguments.append(Pointer(Buffer(name, count * size, 16, (lanes.terms, lanes.lows))))
    for name, kind in results.items():
        arguments.append(Pointer(Buffer(name, count * _stored(kind) // 8, 16, writable=True)))
    kernel = _kernel(text, operands, results)
    done = run(parse(kernel, "kernel.ptx"), "kernel", Launch((1, 1, 1), (count, 1, 1)), arguments, store)
    found: dict[str, Words] = {}
    used: set[Operation] = set()
    if done.complete:
        assignment = Assignment(store, values)
        for name, kind in results.items():
            size = _stored(kind) // 8
            terms = done.contents[name].lanes.read(size * np.arange(count), size)
            used |= {store.operation(int(term)) for term in terms}
            found[name] = assignment.values(terms)
    operations = frozenset(operation.name for operation in used) - {CONSTANT}
    functions = frozenset(str(operation.attribute) for operation in used if operation.name == FUNCTION)
    return Executed(found, done.findings, kernel, operations, functions)


THREADS = 96
"""Threads in which instructions are tried."""

Reference = Callable[..., int | Sequence[int]]
"""From the operands of one thread to its results, in order."""


def check(
    text: str,
    operands: Mapping[str, tuple[str, object]],
    results: Mapping[str, str],
    reference: Reference,
    *,
    data: Sequence[Collection[str]] | None = None,
    formats: Mapping[str, FloatFormat] = MappingProxyType({}),
) -> None:
    """Compare instructions with a reference, on numbers and on data.

    Parameters
    ----------
    text, operands, results
        As of `execute`.
    reference : callable
        What every thread should compute.
    data : sequence of collections of str, optional
        Which operands are data, run by run; by default none, then all.
    formats : mapping of str to FloatFormat
        Results in which every NaN is as good as any other (in lanes as wide as the format).
    """
    columns = [[int(word) for word in np.asarray(given)] for _, given in operands.values()]
    rows = list(zip(*columns, strict=True))
    answers = [reference(*row) for row in rows]
    expected = [answer if isinstance(answer, Sequence) else (answer,) for answer in answers]
    for known in [(), tuple(operands)] if data is None else data:
        done = execute(text, operands, results, known)
        assert done.findings == (), text
        for index, name in enumerate(results):
            fmt = formats.get(name)
            for row, word, answer in zip(rows, done.results[name], expected, strict=True):
                got, wanted = int(word), answer[index]
                if fmt is not None:
                    got, wanted = _without_payloads(got, fmt), _without_payloads(wanted, fmt)
                given = ", ".join(map(hex, row))
                assert got == wanted, f"{text} of {given}, data {known}: {name} is {got:#x}, not {wanted:#x}"


def _without_payloads(word: int, fmt: FloatFormat) -> int:
    lanes = []
    while True:
        lane = word & (1 << fmt.bits) - 1
        lanes.append(exact.nan_encoding(fmt) if exact.decode(lane, fmt).nan else lane)
        word >>= fmt.bits
        if not word:
            return sum(value << fmt.bits * index for index, value in enumerate(lanes))


def words(width: int, seed: int) -> Words:
    """Return integers: small ones of either sign, powers of two and their neighbours, anything."""
    rng = np.random.default_rng([width, seed])
    edges = np.array([(1 << place) + step for place in range(width) for step in (-1, 0, 1)], dtype=object)
    small = rng.integers(-9, 10, THREADS).astype(np.int64).view(np.uint64)
    anything = rng.integers(0, 1 << 64, THREADS, dtype=np.uint64)
    near = np.array([int(word) % (1 << 64) for word in rng.choice(edges, THREADS)], dtype=np.uint64)
    return np.choose(rng.integers(0, 3, THREADS), [small, anything, near]) & np.uint64((1 << width) - 1)


def floats(fmt: FloatFormat, seed: int, lanes: int = 1) -> Words:
    """Return encodings of every sort, perhaps several to a word."""
    rng = np.random.default_rng([fmt.bits, fmt.fraction_bits, seed])
    packed = np.zeros(THREADS, dtype=np.uint64)
    for lane in range(lanes):
        drawn = exact.random_encodings(fmt, rng, THREADS).astype(np.uint64)
        packed |= drawn << np.uint64(lane * fmt.bits)
    return packed


def amounts(seed: int) -> Words:
    """Return amounts of shifts: mostly within or just beyond a word, now and then any number."""
    rng = np.random.default_rng(seed)
    near = rng.integers(0, 70, THREADS).astype(np.uint64)
    return np.where(rng.random(THREADS) < 0.8, near, rng.integers(0, 1 << 32, THREADS).astype(np.uint64))


def signed(word: int, width: int) -> int:
    """Return a two's complement number."""
    return word - (1 << width) if word >> (width - 1) & 1 else word


def _stored(kind: str) -> int:
    """Return the bits that a register takes in memory."""
    return max(8, TYPE_BITS[kind])


def _kernel(text: str, operands: Mapping[str, tuple[str, object]], results: Mapping[str, str]) -> str:
    names = [*operands, *results]
    kinds = {**{name: kind for name, (kind, _) in operands.items()}, **results}
    lines = [f".reg .{kind} {name};" for name, kind in kinds.items()]
    lines += [
        f".reg .u64 base<{len(names)}>, at<{len(names)}>;",
        ".reg .u32 me;",
        f".reg .b16 bit<{len(names)}>;",
        "mov.u32 me, %tid.x;",
    ]
    for index, name in enumerate(names):
        lines.append(f"ld.param.u64 base{index}, [{name}_address];")
        lines.append(f"mad.wide.u32 at{index}, me, {_stored(kinds[name]) // 8}, base{index};")
        if name not in operands:
            continue
        if kinds[name] == "pred":
            lines.append(f"ld.global.u8 bit{index}, [at{index}]; setp.ne.b16 {name}, bit{index}, 0;")
        else:
            lines.append(f"ld.global.b{_stored(kinds[name])} {name}, [at{index}];")
    lines.append(text)
    for index, name in enumerate(names):
        if name in operands:
            continue
        if kinds[name] == "pred":
            lines.append(f"selp.b16 bit{index}, 1, 0, {name}; st.global.b8 [at{index}], bit{index};")
        else:
            lines.append(f"st.global.b{_stored(kinds[name])} [at{index}], {name};")
    parameters = ", ".join(f".param .u64 {name}_address" for name in names)
    body = "\n".join(lines)
    head = ".version 9.0\n.target sm_120a\n.address_size 64\n"
    return f"{head}.visible .entry kernel({parameters})\n{{\n{body}\nret;\n}}\n"
