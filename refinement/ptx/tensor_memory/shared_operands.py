"""What products and copies of tensor memory read of shared memory, through the asynchronous proxy.

It is read where the instruction is issued; who writes there must know the operation to be over. Source: PTX
ISA 9.1 section 9.7.16 (matrix descriptor; memory consistency).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ....spec.errors import InputError, UnsupportedError
from ....spec.formats import U4, U8
from ....spec.ptx.matrix_descriptor import MatrixDescriptor, SharedMatrix
from ....spec.ptx.memory import from_bytes
from ....spec.ptx.targets import target_named
from ....spec.ptx.tensor_memory import shared_descriptor
from ....spec.ptx.tensor_memory.multiplication import TensorMultiplication
from ....spec.ptx.tensor_memory.shared_descriptor import Pointing
from ....spec.ptx.tensor_memory.shared_operands import PADDED, operand_matrix
from ...findings.finding import Kind
from ...terms.algebra import TermAlgebra
from ...terms.interning import Ids
from ..memory.asynchronous_uses import check_proxy
from ..memory.descriptor_assumptions import note_alignment, without_window
from ..memory.memory_access import load_bytes
from ..order.fetches import Fetcher
from ..state.address_spaces import SHARED_WINDOW
from ..state.execution import Execution
from ..state.remote_accesses import RemoteAccesses
from ..state.state_space import RANK_BITS
from ..synchronisation.mbarrier import REMOTE
from .uses import Operation

_LINE = 16
"""Bytes that descriptors keep together, at multiples of them."""


def decoded(execution: Execution, name: str, word: int, thread: int) -> MatrixDescriptor | None:
    """Return what a descriptor says; report one that says nothing.

    Raises
    ------
    UnsupportedError
        If no document says enough of what it says.
    """
    word = without_window(execution, word)
    wrong = shared_descriptor.violations(Pointing(name, word), target_named(execution.module.target))
    if wrong:
        message = f"{execution.instruction.mnemonic}: {wrong[0].message}"
        execution.report(Kind.ILLEGAL, message, np.array([thread]))
        return None
    return shared_descriptor.decoded(word)


def matrix_of(form: TensorMultiplication, role: str, descriptor: MatrixDescriptor) -> SharedMatrix:
    """Return where A or B lies.

    Raises
    ------
    UnsupportedError
        If the swizzling is not for such elements.
    """
    try:
        return operand_matrix(form, role, descriptor)
    except InputError as error:
        raise UnsupportedError(f"descriptor of {role.upper()} of {form.name}: {error}") from error


def elements(
    execution: Execution,
    form: TensorMultiplication,
    role: str,
    matrix: SharedMatrix,
    operation: Operation,
    thread: int,
    blocks: tuple[int, ...],
) -> Ids:
    """Return A as (M, stored K) and B as (K, N), as a thread's product reads them: a part in each block."""
    parts = [_part(execution, form, role, matrix, operation, thread, block) for block in blocks]
    lines = np.concatenate(parts)
    return lines.T if role == "b" else lines


def _part(
    execution: Execution,
    form: TensorMultiplication,
    role: str,
    matrix: SharedMatrix,
    operation: Operation,
    thread: int,
    block: int,
) -> Ids:
    """Return rows of A or columns of B (lines, K) that one block has."""
    alg, fmt = TermAlgebra(execution.store), form.format(role)
    line, k = np.indices((matrix.lines, matrix.length))
    at, _ = matrix.address(line, k)
    size = max(1, matrix.bits // 8)
    found = _words(execution, at.reshape(-1), size, matrix.descriptor, operation, thread, block)
    words = found.reshape(at.shape)
    if fmt.bits == form.container < U8.bits:
        low, high = (alg.extract(words, bit, U4) for bit in (0, U4.bits))
        words = np.where(k % 2 == 0, low, high)
    elif fmt.bits != form.container:
        held = words.reshape(matrix.lines, matrix.length // PADDED, PADDED)
        words = from_bytes(alg, held[..., : PADDED * fmt.bits // 8], fmt).reshape(at.shape)
    return words


def rows(execution: Execution, matrix: SharedMatrix, operation: Operation, thread: int, block: int) -> Ids:
    """Return bytes (rows, bytes of a row) of a block's memory, as a thread's copy reads them."""
    at, _ = matrix.address(*np.indices((matrix.lines, matrix.length)))
    found = _words(execution, at.reshape(-1), 1, matrix.descriptor, operation, thread, block)
    return found.reshape(at.shape)


def _words(
    execution: Execution,
    at: NDArray[np.int64],
    size: int,
    descriptor: MatrixDescriptor,
    operation: Operation,
    thread: int,
    block: int,
) -> Ids:
    """Return words (n,) of `size` bytes at addresses that a descriptor says, in a block's shared memory."""
    part, space = execution.memory.shared, "shared"
    found, inverse = np.unique(at // _LINE, return_inverse=True)
    lines = (SHARED_WINDOW + found * _LINE).astype(np.uint64)
    if part.peers is not None:  # a descriptor has no rank
        lines = lines + (np.uint64(part.peers.ranks[block]) << RANK_BITS)
        if block != execution.threads.block[thread]:
            space = REMOTE
            RemoteAccesses.of(execution).note_copy(execution, block, operation.agent, operation.time)
    if descriptor.swizzle:
        note_alignment(execution, int(lines[0]))
    threads = np.full(len(lines), thread, dtype=np.intp)
    _check(execution, lines, threads)
    fetchers = (Fetcher(operation.agent, operation.time),)
    terms, lows = load_bytes(execution, space, lines, _LINE, threads, 0, fetchers)
    start = (at % _LINE)[:, None] + np.arange(size)
    row = inverse.reshape(-1)[:, None]
    return part.lanes.joined(terms[row, start], lows[row, start])


def _check(execution: Execution, lines: NDArray[np.uint64], threads: NDArray[np.intp]) -> None:
    """Report what was written with no proxy fence between, and refuse what atomic operations changed."""
    part = execution.memory.shared
    assert part.history is not None
    inside, offsets = part.locate(lines, _LINE, threads)
    places = part.history.places(offsets[inside], _LINE).reshape(-1)
    changed = part.history.changed_by_atomics(places)
    if changed.any():
        line = int(changed[changed > 0][0])
        execution.unsupported(
            f"{execution.instruction.mnemonic} of what line {line} changes by an atomic operation"
        )
    check_proxy(execution, places, [int(threads[0])])
