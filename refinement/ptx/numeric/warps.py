"""Exchanges, votes and matrix instructions of warps on numbers.

Those of a warp's threads that act together are those that are at the instruction at once: a run goes on with
the threads that are furthest behind, so that they meet where ways come together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....spec.errors import UnsupportedError
from ....spec.numpy_algebra import NumpyAlgebra
from ....spec.ptx import matrix_moves
from ....spec.ptx.operands import Sink, Vector
from ....spec.ptx.resolution import multiplication
from ....spec.ptx.signatures import signature
from ...findings.finding import Kind
from ..registers.threads import WARP
from ..text.module import TYPE_BITS, InstructionStatement
from ..text.operands import Pair
from .accesses import address_reader, loaded, reporter, space_of, stored_words
from .float_kinds import KINDS
from .state import WORDS, Code, State, Step
from .threads import Lanes

ALGEBRA = NumpyAlgebra()


def _grid(state: State, lanes: Lanes) -> tuple[Any, Any]:
    """Return the warps of threads that act, numbered from 0, and their lanes."""
    threads = state.indices(lanes)
    _, rows = np.unique(state.threads.warp[threads], return_inverse=True)
    return rows, state.threads.lane[threads]


def _spread(rows: Any, columns: Any, words: Any) -> tuple[Any, Any]:
    """Return words by warp and lane, and where there are some."""
    table = np.zeros((int(rows.max()) + 1, WARP), dtype=words.dtype)
    there = np.zeros(table.shape, dtype=bool)
    table[rows, columns], there[rows, columns] = words, True
    return table, there


def shuffle(code: Code, instruction: InstructionStatement) -> Step:
    """Decode ``shfl``."""
    destination, given, steer, limits, *_ = instruction.operands
    first, second = (
        (destination.first, destination.second) if isinstance(destination, Pair) else (destination, Sink())
    )
    write, tell = code.writer(first), code.writer(second)
    read, read_b, read_c = (code.reader(each, 32) for each in (given, steer, limits))
    mode = instruction.one_of(("up", "down", "bfly", "idx"))

    def step(state: State, lanes: Lanes) -> None:
        rows, lane = _grid(state, lanes)
        words = np.broadcast_to(np.asarray(read(state, lanes)), lane.shape)
        table, there = _spread(rows, lane, words)
        amount, c = read_b(state, lanes).astype(np.int64) & 31, read_c(state, lanes).astype(np.int64)
        limit, segment = c & 31, c >> 8 & 31
        least = lane & segment
        most = least | limit & ~segment & 31
        if mode == "up":
            source = lane - amount
            inside = source >= most
        else:
            chosen = {"down": lane + amount, "bfly": lane ^ amount}
            source = chosen.get(mode or "", least | amount & ~segment & 31)
            inside = source <= most
        source = np.where(inside, source, lane)
        found = np.where(there[rows, source], table[rows, source], np.uint32(0x7FFFFFFF))
        write(state, lanes, found)
        tell(state, lanes, inside)

    return step


def vote(code: Code, instruction: InstructionStatement) -> Step:
    """Decode ``vote``."""
    destination, given, *_ = instruction.operands
    write, read = code.writer(destination), code.truth_reader(given)
    mode = instruction.one_of(("all", "any", "uni", "ballot"))

    def step(state: State, lanes: Lanes) -> None:
        rows, lane = _grid(state, lanes)
        table, there = _spread(rows, lane, np.broadcast_to(read(state, lanes), lane.shape))
        yes, every = (table & there).sum(axis=1), there.sum(axis=1)
        if mode == "ballot":
            found = ((table & there).astype(np.uint32) << np.arange(WARP, dtype=np.uint32)).sum(axis=1)
            write(state, lanes, found.astype(np.uint32)[rows])
        else:
            truths = {"all": yes == every, "any": yes > 0}.get(mode or "", (yes == 0) | (yes == every))
            write(state, lanes, truths[rows])

    return step


def active_mask(code: Code, instruction: InstructionStatement) -> Step:
    """Decode ``activemask``."""
    write = code.writer(instruction.operands[0])

    def step(state: State, lanes: Lanes) -> None:
        rows, lane = _grid(state, lanes)
        _, there = _spread(rows, lane, lane)
        found = (there.astype(np.uint32) << np.arange(WARP, dtype=np.uint32)).sum(axis=1)
        write(state, lanes, found.astype(np.uint32)[rows])

    return step


def elect(code: Code, instruction: InstructionStatement) -> Step:
    """Decode ``elect.sync``: the lowest lane."""
    pair = instruction.operands[0]
    if not isinstance(pair, Pair):
        raise UnsupportedError(f"{instruction.mnemonic} on numbers")
    write, tell = code.writer(pair.first), code.writer(pair.second)

    def step(state: State, lanes: Lanes) -> None:
        rows, lane = _grid(state, lanes)
        _, there = _spread(rows, lane, lane)
        lowest = np.argmax(there, axis=1)[rows]
        write(state, lanes, lowest.astype(np.uint32))
        tell(state, lanes, lowest == lane)

    return step


def reduced(code: Code, instruction: InstructionStatement) -> Step:
    """Decode ``redux.sync``."""
    kind, name = instruction.types[0], instruction.one_of(("add", "min", "max", "and", "or", "xor"))
    if kind not in ("u32", "s32", "b32"):
        raise UnsupportedError(f"{instruction.mnemonic} on numbers")
    write, read = code.writer(instruction.operands[0]), code.reader(instruction.operands[1], 32)
    compute: Any = {
        "add": np.add, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and, "or": np.bitwise_or,
        "xor": np.bitwise_xor,
    }[name or "add"]  # fmt: skip
    dtype = np.int32 if kind == "s32" else np.uint32

    def step(state: State, lanes: Lanes) -> None:
        rows, lane = _grid(state, lanes)
        order = np.lexsort((lane, rows))
        words = np.broadcast_to(np.asarray(read(state, lanes)), lane.shape)[order].view(dtype)
        starts = np.flatnonzero(np.diff(rows[order], prepend=-1))
        found = compute.reduceat(words, starts, dtype=dtype)
        write(state, lanes, found.view(np.uint32)[rows])

    return step


def _whole(state: State, lanes: Lanes) -> Any:
    """Return the threads (warps, 32) of whole warps.

    Raises
    ------
    FaultError
        If some of a warp are missing.
    """
    threads = state.indices(lanes)
    if len(threads) % WARP or (state.threads.lane[threads].reshape(-1, WARP) != np.arange(WARP)).any():
        reporter(state, lanes)(
            Kind.DIVERGENCE, "only part of a warp executes an instruction that the whole warp must execute", 0
        )
    return threads.reshape(-1, WARP)


def _registers(code: Code, operand: Any, width: int) -> Callable[[State, Lanes], Any]:
    elements = operand.elements if isinstance(operand, Vector) else (operand,)
    readers = [code.reader(element, width) for element in elements]

    def read(state: State, threads: Any) -> Any:
        flat = threads.reshape(-1)
        columns = [np.broadcast_to(np.asarray(reader(state, flat)), flat.shape) for reader in readers]
        return np.stack(columns, axis=-1).reshape(*threads.shape, len(readers))

    return read


def _written(code: Code, operand: Any) -> Callable[[State, Any, Any], None]:
    elements = operand.elements if isinstance(operand, Vector) else (operand,)
    writers = [code.writer(element) for element in elements]

    def write(state: State, threads: Any, words: Any) -> None:
        flat = threads.reshape(-1)
        for place, each in enumerate(writers):
            each(state, flat, words[..., place].reshape(-1))

    return write


def product(code: Code, instruction: InstructionStatement) -> Step:
    """Decode ``mma``: matrices are gathered by the specification's fragments, and multiplied by numpy."""
    form = multiplication(instruction.specified().variant)
    if form.sparsity is not None or form.block_scale is not None:
        raise UnsupportedError(f"{instruction.mnemonic} on numbers")
    names = [each.name for each in signature(form.form, form.variant)]
    given = dict(zip(names, instruction.operands, strict=True))
    fragments = {role: form.fragment(role) for role in "abcd"}
    kinds = {role: form.format(role).name for role in "abcd"}
    decoders = {role: _decoder(kinds[role], instruction) for role in "abcd"}
    readers = {role: _registers(code, given[role], fragments[role].packing.word.bits) for role in "abc"}
    write = _written(code, given["d"])
    integers = form.is_integer
    if integers and instruction.has("satfinite"):
        raise UnsupportedError(f"{instruction.mnemonic} on numbers")

    def step(state: State, lanes: Lanes) -> None:
        threads = _whole(state, lanes)
        words = [fragments[role].gather(ALGEBRA, readers[role](state, threads)) for role in "abc"]
        if state.random is not None and kinds["a"] == "tf32":
            moved = [state.random.integers(0, 2, word.shape, np.uint32) * _TF32_UNIT for word in words[:2]]
            words[:2] = [each + step for each, step in zip(words, moved, strict=False)]
        a, b, c = (decoders[role](each) for role, each in zip("abc", words, strict=True))
        total = a @ b + c
        encode = _integer_words if integers else KINDS[kinds["d"]].encode
        encoded = encode(total)
        write(state, threads, fragments["d"].scatter(ALGEBRA, encoded))

    return step


def _integer_words(numbers: Any) -> Any:
    return numbers.astype(np.int64).astype(np.uint32)


def _decoder(kind: str, instruction: InstructionStatement) -> Callable[[Any], Any]:
    if kind in KINDS:
        plain = KINDS[kind]
        dtype = WORDS[plain.bits]
        if kind == "tf32":
            return lambda words: _cut(words.astype(np.uint32)).astype(np.float64)
        return lambda words: plain.decode(np.ascontiguousarray(words.astype(dtype))).astype(np.float64)
    if kind in ("s8", "s32", "u8", "u32"):
        held = np.dtype(f"{'i' if kind[0] == 's' else 'u'}{TYPE_BITS[kind] // 8}")
        return lambda words: words.astype(WORDS[TYPE_BITS[kind]]).view(held).astype(np.float64)
    raise UnsupportedError(f"{instruction.mnemonic} on numbers")


_TF32_UNIT = np.uint32(0x2000)
"""The last bit of an f32 that tf32 has."""


def _cut(words: Any) -> Any:
    return (np.ascontiguousarray(words) & np.uint32(0xFFFFE000)).view(np.float32)


def load_matrices(code: Code, instruction: InstructionStatement) -> Step:
    """Decode ``ldmatrix``."""
    move = matrix_moves.matrix_move(instruction.specified().variant)
    write = _written(code, instruction.operands[0])
    address, space = address_reader(code, instruction.operands[1]), space_of(instruction)
    (lanes_of,) = move.address_lanes.forward(*np.indices((move.count, move.rows)))

    def step(state: State, lanes: Lanes) -> None:
        threads = _whole(state, lanes)
        at = address(state, threads.reshape(-1)).reshape(threads.shape)
        named, who = at[:, lanes_of].reshape(-1), threads[:, lanes_of].reshape(-1)
        parts = loaded_rows(state, who, space, named)
        rows = np.stack(parts, axis=-1).view(np.uint8).reshape(len(threads), move.count, move.rows, 16)
        write(state, threads, matrix_moves.load(ALGEBRA, move, rows))

    return step


def loaded_rows(state: State, threads: Any, space: str, addresses: Any) -> list[Any]:
    """Return rows of 16 bytes as two words each."""
    return loaded(state, threads, space, addresses, 8, 2)


def transpose(code: Code, instruction: InstructionStatement) -> Step:
    """Decode ``movmatrix``."""
    move = matrix_moves.matrix_move(instruction.specified().variant)
    read, write = _registers(code, instruction.operands[1], 32), _written(code, instruction.operands[0])

    def step(state: State, lanes: Lanes) -> None:
        threads = _whole(state, lanes)
        write(state, threads, matrix_moves.transpose(ALGEBRA, move, read(state, threads)))

    return step


def store_matrices(code: Code, instruction: InstructionStatement) -> Step:
    """Decode ``stmatrix``."""
    move = matrix_moves.matrix_move(instruction.specified().variant)
    read = _registers(code, instruction.operands[1], 32)
    address, space = address_reader(code, instruction.operands[0]), space_of(instruction)
    (lanes_of,) = move.address_lanes.forward(*np.indices((move.count, move.rows)))

    def step(state: State, lanes: Lanes) -> None:
        threads = _whole(state, lanes)
        rows = matrix_moves.store(ALGEBRA, move, read(state, threads))
        words = np.ascontiguousarray(rows.astype(np.uint8)).view(np.uint64).reshape(-1, 2)
        at = address(state, threads.reshape(-1)).reshape(threads.shape)
        who = threads[:, lanes_of].reshape(-1)
        stored_words(state, who, space, at[:, lanes_of].reshape(-1), [words[:, 0], words[:, 1]])

    return step
