"""Boxes of tensors whose extents depend on sizes: where their elements are, as polynomials.

What a map says beside, its box, steps and swizzle, is the same for every size.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....spec.ptx.asynchronous.tensor_map import MOST_SIZE, STRIDE_LIMIT, TensorMap
from ....spec.ptx.matrix_descriptor import UNIT
from ...sizes.integer_forms import Rows
from ...sizes.symbolic_arrays import BYTE, SymbolicArray
from ...sizes.symbolic_terms import SymbolicTerms
from ...sizes.tail_predicates import compared
from ...terms import bit_slices
from ...terms.interning import Ids
from ...terms.truth_tables import A, B
from ..memory.symbolic_accesses import is_of_any_size, memory_of_any_size, number_of_any_size
from ..registers.threads import Indices
from ..state.execution import Execution
from ..text.operands import Operand

_MOST = (1 << 31) - 1
"""The greatest coordinate."""


def array_of(execution: Execution, tensor: TensorMap) -> tuple[int, SymbolicArray] | None:
    """Return the array that a map is of, and its address, if its extents depend on symbols."""
    return memory_of_any_size(execution).array_at(tensor.address) if is_of_any_size(execution) else None


def elements_of(
    execution: Execution,
    tensor: TensorMap,
    mapped: tuple[int, SymbolicArray],
    coordinates: Sequence[Operand],
    thread: Indices,
) -> tuple[Rows, Ids]:
    """Return the addresses (elements, monomials) of a box, and bits (elements,): whether the tensor has them.

    Parameters
    ----------
    execution : Execution
        What runs.
    tensor : TensorMap
        The map; of its sizes and strides, which are those of the smallest array, nothing is used.
    mapped : (int, SymbolicArray)
        The array, and its address.
    coordinates : sequence of Operand
        Of the first element, neighbours in memory first.
    thread : array (1,)
        Who copies.

    Raises
    ------
    UnsupportedError
        If coordinates are no polynomials, or other sizes than those of the last tile decide which elements
        the tensor has.
    """
    base, array = mapped
    store, name = execution.store, execution.instruction.mnemonic
    assert isinstance(store, SymbolicTerms)
    symbols, places = store.symbols, np.indices(tensor.extents).reshape(tensor.rank, -1)
    _require_map(execution, tensor, array)
    has, indices = store.constants(np.ones(places.shape[1], dtype=np.uint64), 1), list[Rows]()
    for axis, extent in enumerate(reversed(array.extents)):
        first = number_of_any_size(execution, coordinates[axis], 32, thread)
        if first is None:
            execution.unsupported(f"{name}: a coordinate is not a polynomial in sizes")
        low, high = symbols.bounds(first)
        if low[0] < 0 or high[0] > _MOST:
            store.doubt(f"a coordinate of {name} may be negative or too large", first, _MOST)
            execution.unsupported(f"{name}: a coordinate may be negative or too large")
        at = symbols.constants(places[axis] * tensor.every[axis]) + first
        left = extent[None] - at
        there = _positive(store, left)
        if (there < 0).any():
            store.doubt(f"how much of a box lies within {array.name} depends on sizes", 1 - left[there < 0])
            execution.unsupported(f"{name}: how much of the box lies within {array.name} depends on sizes")
        has = bit_slices.bitwise(store, A & B, has, there, there)
        indices.insert(0, at)
    found = array.place(symbols, indices) * array.element_bits // BYTE
    found[:, 0] += base
    return found, has


def _positive(store: SymbolicTerms, rows: Rows) -> Ids:
    """Return bits (n,) that say whether integers are more than 0; -1 where that is not known."""
    low, high = store.symbols.bounds(rows)
    found = np.full(len(rows), -1, dtype=np.int32)
    decided = (low > 0) | (high <= 0)
    found[decided] = store.constants((low[decided] > 0).astype(np.uint64), 1)
    for rest in store.rests:
        open_ = np.flatnonzero(found < 0)
        form = store.symbols.form(rest.form)
        found[open_] = compared(store, store.symbols, form, rest, rows[open_], "gt")
    return found


def _require_map(execution: Execution, tensor: TensorMap, array: SymbolicArray) -> None:
    """Refuse a map that is none for some sizes.

    Raises
    ------
    UnsupportedError
        If that is not known.
    """
    store, name = execution.store, execution.instruction.mnemonic
    assert isinstance(store, SymbolicTerms)
    bounds, strides = store.symbols.bounds, array.strides * array.element_bits // BYTE
    neighbours = np.flatnonzero(array.strides[-1])
    if tensor.element_bytes * BYTE != array.element_bits:
        execution.unsupported(f"{name} of {array.name}: one element of the map packs several of the array")
    if tensor.interleave or neighbours.tolist() != [0] or array.strides[-1, 0] != 1:
        execution.unsupported(
            f"{name} of {array.name}: the map is interleaved, or its elements are not contiguous"
        )
    if (strides[:-1] % UNIT).any():
        execution.unsupported(f"{name}: strides of {array.name} must be multiples of {UNIT} at every size")
    for rows, most in ((array.extents, MOST_SIZE), (strides[:-1], STRIDE_LIMIT - 1)):
        if (bounds(rows)[1] > most).any():
            store.doubt(f"a tensor map of {array.name} may be too large", rows, most)
            execution.unsupported(f"{name}: a tensor map of {array.name} may be too large")
