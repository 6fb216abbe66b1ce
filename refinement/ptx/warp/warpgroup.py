"""``wgmma``: products of warpgroups, of matrices that descriptors place in shared memory.

The meaning is the specification's (`mmaproof.spec.ptx.warpgroup`); here are the terms that registers and
shared memory hold, what has to be the same in all threads, and what the product still uses when it has been
issued (`asynchronous_products`). Every warp of a warpgroup is taken to read all of A and of B.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from ....spec.errors import InputError, UnsupportedError
from ....spec.fragment import Selection
from ....spec.ptx.matrix_descriptor import MatrixDescriptor, SharedMatrix
from ....spec.ptx.operands import Integer, Vector
from ....spec.ptx.product import Matrices
from ....spec.ptx.resolution import Multiplication, multiplication
from ....spec.ptx.signatures import signatures
from ....spec.ptx.variant import WARPGROUP_WARPS
from ....spec.ptx.warpgroup import Scales, shared_matrix, warpgroup_product
from ...findings.finding import Kind
from ...terms.algebra import TermAlgebra
from ...terms.interning import Ids
from ...terms.store import CONSTANT
from ..memory.asynchronous_uses import check_proxy
from ..memory.descriptor_assumptions import note_alignment, without_window
from ..memory.memory_access import load, note_reading
from ..registers.threads import WARP, Indices
from ..state.address_spaces import SHARED_WINDOW
from ..state.asynchronous_products import AsynchronousProducts, ProductRegisters
from ..state.execution import Decoders, Execution, Step, undecoded
from ..state.state_space import RANK_BITS
from ..text.module import InstructionStatement
from ..text.operands import Operand, register_names
from .matrix import accumulation_of, registers_of, write_registers

_GROUP = WARPGROUP_WARPS * WARP


def whole_warpgroups(execution: Execution, active: Indices) -> Indices:
    """Return the active threads (warpgroups, 128) of warpgroups that are all active; report the others."""
    warps = execution.whole_warps(active)[:, 0] // WARP
    of_block = execution.threads.warps
    ranks = warps % of_block
    groups = warps // of_block * of_block + ranks // WARPGROUP_WARPS * WARPGROUP_WARPS
    firsts, counts = np.unique(groups, return_counts=True)
    partial = counts < WARPGROUP_WARPS
    if partial.any():
        execution.report(
            Kind.DIVERGENCE,
            f"{execution.instruction.mnemonic} is executed by {int(counts[partial][0])} of the "
            f"{WARPGROUP_WARPS} warps of a warpgroup",
            firsts[partial][:1] * WARP,
        )
    whole: Indices = firsts[~partial][:, None] * WARP + np.arange(_GROUP)
    return whole


def _operands(instruction: InstructionStatement, form: Multiplication) -> Mapping[str, Operand]:
    """Return a product's operands by the specification's names of them."""
    in_registers = any(isinstance(operand, Vector) for operand in instruction.operands[1:2])
    names = [signature.name for signature in signatures(form.form, form.variant)[in_registers]]  # type: ignore[arg-type]
    return dict(zip(names, instruction.taking(len(names), len(names)), strict=True))


def _number(given: Mapping[str, Operand], name: str, default: int) -> int:
    operand = given.get(name)
    if operand is None:
        return default
    if not isinstance(operand, Integer):
        raise InputError(f"{name} is {operand}; it must be an integer literal")
    return operand.value


def _product(instruction: InstructionStatement) -> Step:
    form = multiplication(instruction.specified().variant)
    given = _operands(instruction, form)
    scales = Scales(True, _number(given, "scale-a", 1), _number(given, "scale-b", 1))
    transposed = {role: _number(given, f"trans-{role}", 0) == 1 for role in "ab"}
    in_memory = [role for role in "ab" if f"{role}-desc" in given]
    held = {"c": Selection(form.fragment("c"))}
    if "a" in given:
        held["a"] = Selection(form.fragment("a"))
    if form.sparsity is not None:
        held["metadata"] = form.sparsity.held(_number(given, "selector", 0))
    registers = ProductRegisters(
        frozenset(register_names([given["d"]])),
        frozenset(register_names([given["a"]] if "a" in given else [])),
        f"{form.shape} {form.d}",
    )

    def step(execution: Execution, active: Indices) -> None:
        groups = whole_warpgroups(execution, active)
        if not len(groups):
            return
        alg = TermAlgebra(execution.store)
        memory = {
            role: _SharedOperand(execution, form, role, given[f"{role}-desc"], groups, transposed[role])
            for role in in_memory
        }
        places = np.concatenate([each.places for each in memory.values()], axis=1)
        warps = _warps_of(groups)
        each_warp = np.repeat(places, WARPGROUP_WARPS, axis=0)
        AsynchronousProducts.of(execution).begin(execution, registers, each_warp, warps)
        found = {role: each.elements(alg) for role, each in memory.items()}
        counts = _same(execution, given["scale-d"], 1, groups, "scale-d").astype(bool)
        zero = np.broadcast_to(alg.constant(0, form.c), (len(groups), *form.matrix_shape("c")))
        found["c"] = zero.copy()
        for name, selection in held.items():
            source, some = given["d" if name == "c" else name], counts if name == "c" else slice(None)
            if not len(groups[some]):
                continue
            words = registers_of(execution, source, selection.word.bits, groups[some])
            value = selection.gather(alg, words)
            if name == "metadata":
                _check_metadata(execution, form, value, groups)
            if name == "c":
                found[name][some] = value
            else:
                found[name] = value
        choices = accumulation_of(execution, form)
        result = warpgroup_product(alg, form, Matrices(**found), choices, scales)
        fragment = form.fragment("d")
        write_registers(
            execution, given["d"], fragment.scatter(alg, result), fragment.packing.word.bits, groups
        )

    return step


def _same(
    execution: Execution, operand: Operand, width: int, groups: Indices, what: str
) -> NDArray[np.uint64]:
    """Return an operand (warpgroups,) that is to be the same in all threads of each."""
    numbers = execution.numbers(operand, width, groups.reshape(-1), what).reshape(groups.shape)
    differs = (numbers != numbers[:, :1]).any(axis=1)
    if differs.any():
        message = f"{what} {operand} of {execution.instruction.mnemonic} differs from thread to thread"
        execution.report(Kind.UNDEFINED, message, groups[differs].reshape(-1))
    return numbers[:, 0]


class _SharedOperand:
    """A or B in shared memory, of the warpgroups of one product.

    Attributes
    ----------
    places : array (warpgroups, granules)
        What is read.
    """

    def __init__(
        self,
        execution: Execution,
        form: Multiplication,
        role: str,
        operand: Operand,
        groups: Indices,
        transposed: bool,
    ) -> None:
        self._execution, self._form, self._role, self._groups = execution, form, role, groups
        encodings = _same(execution, operand, 64, groups, "descriptor")
        self._at = np.stack([self._addresses(int(encoding), transposed) for encoding in encodings])
        part = execution.memory.shared
        if part.peers is not None:  # a descriptor has no rank: it is of the block's own shared memory
            ranks = part.peers.ranks[execution.threads.block[groups[:, 0]]]
            self._at += (ranks.astype(np.uint64) << RANK_BITS)[:, None]
        history = part.history
        assert history is not None
        self._size = 1 if form.format(role).bits < 8 else form.format(role).bits // 8
        inside, lanes = part.locate(
            self._at.reshape(-1), self._size, np.repeat(groups[:, 0], self._at.shape[1])
        )
        lanes = np.where(inside, lanes, lanes[inside][0] if inside.any() else 0)
        self.places: NDArray[np.int64] = history.places(lanes, self._size).reshape(len(groups), -1)

    def _addresses(self, encoding: int, transposed: bool) -> NDArray[np.uint64]:
        """Return the address of each element, or of 8 of one bit, (n,), in the order of lines."""
        word = without_window(self._execution, encoding)
        matrix = _matrix(self._execution, self._form, self._role, word, transposed)
        step = max(1, 8 // matrix.bits)
        line, k = np.indices((matrix.lines, matrix.length // step))
        byte, _ = matrix.address(line, k * step)
        at: NDArray[np.uint64] = (SHARED_WINDOW + byte.reshape(-1)).astype(np.uint64)
        if matrix.descriptor.swizzle:
            note_alignment(self._execution, int(at[0]))
        return at

    def elements(self, alg: TermAlgebra) -> Ids:
        """Return the elements, A as (warpgroups, M, K stored) and B as (warpgroups, K, N)."""
        execution, form, role = self._execution, self._form, self._role
        count, fmt = self._at.shape[1], form.format(role)
        self._refuse_atomic_changes()
        least = [execution.ordering.least_told(warp) for warp in _warps_of(self._groups).tolist()]
        for group, places in enumerate(self.places):
            of_group = least[group * WARPGROUP_WARPS : (group + 1) * WARPGROUP_WARPS]
            check_proxy(execution, places, [int(thread) for each in of_group for thread in each])
        firsts = np.array([each[0] for each in least]).reshape(-1, WARPGROUP_WARPS)
        readers = np.repeat(firsts[:, 0], count)
        words = load(execution, "shared", self._at.reshape(-1), self._size, 1, readers, by_warps=True)
        for rank in range(1, WARPGROUP_WARPS):
            others = np.repeat(firsts[:, rank], count)
            note_reading(execution, "shared", self._at.reshape(-1), self._size, others)
        for index, threads in enumerate(least):
            at = self._at[index // WARPGROUP_WARPS]
            for thread in threads[1:]:
                note_reading(execution, "shared", at, self._size, np.full(count, thread))
        if fmt.bits < 8:
            words = np.stack([alg.extract(words, low, fmt) for low in range(8)], axis=-1)
        m, n = form.shape[:2]
        lines = m if role == "a" else n
        found: Ids = words.reshape(len(self._groups), lines, -1)
        return found if role == "a" else found.swapaxes(-1, -2)

    def _refuse_atomic_changes(self) -> None:
        """Refuse words that atomic operations changed: who of their threads ran a proxy fence is not kept."""
        execution, history = self._execution, self._execution.memory.shared.history
        assert history is not None
        lines = history.changed_by_atomics(self.places.reshape(-1))
        if lines.any():
            line = int(lines[lines > 0][0])
            execution.unsupported(
                f"{execution.instruction.mnemonic} of what line {line} changes by an atomic operation"
            )


def _matrix(
    execution: Execution, form: Multiplication, role: str, encoding: int, transposed: bool
) -> SharedMatrix:
    """Return where a descriptor says that an operand lies."""
    try:
        return shared_matrix(form, role, MatrixDescriptor.decoded(encoding), transposed=transposed)
    except InputError as error:
        message = f"{execution.instruction.mnemonic}: descriptor {encoding:#018x} of {role.upper()}: {error}"
        raise UnsupportedError(message) from error


def _check_metadata(execution: Execution, form: Multiplication, nibbles: Ids, groups: Indices) -> None:
    """Report metadata known to be undefined; what depends on data is the contract's to promise."""
    assert form.sparsity is not None
    known = execution.store.are(CONSTANT, nibbles).reshape(len(groups), -1).all(axis=1)
    if known.any():
        try:
            form.sparsity.require_valid(execution.store.constant_values(nibbles[known]))
        except InputError as error:
            execution.report(Kind.UNDEFINED, str(error), groups[known].reshape(-1))


def _warps_of(groups: Indices) -> Indices:
    """Return the warps of warpgroups, whose threads are given."""
    return groups[:, ::WARP].reshape(-1) // WARP


def _fence(execution: Execution, instruction: InstructionStatement, active: Indices) -> None:
    AsynchronousProducts.of(execution).fence(_warps_of(whole_warpgroups(execution, active)))


def _commit(execution: Execution, instruction: InstructionStatement, active: Indices) -> None:
    AsynchronousProducts.of(execution).commit(_warps_of(whole_warpgroups(execution, active)))


def _wait(execution: Execution, instruction: InstructionStatement, active: Indices) -> None:
    (count,) = instruction.taking(1, 1)
    if not isinstance(count, Integer):
        raise InputError(f"{instruction.mnemonic} takes an integer literal, not {count}")
    warps = _warps_of(whole_warpgroups(execution, active))
    AsynchronousProducts.of(execution).wait(execution, warps, count.value)


_ORDERING: Mapping[str, Callable[[Execution, InstructionStatement, Indices], None]] = MappingProxyType(
    {"fence": _fence, "commit_group": _commit, "wait_group": _wait}
)


def _wgmma(instruction: InstructionStatement) -> Step:
    if instruction.has("mma_async"):
        return _product(instruction)
    operation = instruction.one_of(_ORDERING)
    if operation is None:
        raise UnsupportedError(f"{instruction.mnemonic} is not modelled")
    return undecoded(_ORDERING[operation])(instruction)


HANDLERS: Decoders = MappingProxyType({"wgmma": _wgmma})
"""The instructions of this module."""
