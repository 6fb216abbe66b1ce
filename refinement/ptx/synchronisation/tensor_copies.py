"""``cp.async.bulk.tensor``: copies of boxes of tensors, as tensor maps among a kernel's parameters say.

Which element of the tensor goes where in shared memory is the specification's
(`mmaproof.spec.ptx.asynchronous.tensor_copies`); order and completion are those of other bulk copies, see
`bulk_copies`. Source: PTX ISA 9.1 sections 5.5 and 9.7.9.25.5.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....spec.errors import InputError
from ....spec.ptx.asynchronous.tensor_copies import shared_address, source
from ....spec.ptx.asynchronous.tensor_map import COPY_ALIGNMENT, TensorMap
from ....spec.ptx.operands import Vector
from ...findings.finding import Kind
from ...machine.memory import ByteLanes
from ...sizes.integer_forms import Rows
from ...terms.interning import Ids
from ..memory.addressing import addresses
from ..memory.asynchronous_uses import refuse_written
from ..memory.descriptor_assumptions import note_alignment
from ..memory.memory_access import load_bytes, store_bytes
from ..memory.symbolic_accesses import load_rows_of_any_size, store_rows_of_any_size
from ..order.fetches import Fetcher
from ..registers.threads import Indices
from ..state.execution import Execution
from ..state.loose_races import Bytes
from ..text.operands import Operand, TensorAddress
from .boxes_of_any_size import array_of, elements_of
from .tensor_map_objects import map_at

DIMENSIONS = ("1d", "2d", "3d", "4d", "5d")


@dataclass(frozen=True)
class Box:
    """A box of a tensor, and where it is.

    Attributes
    ----------
    tensor : TensorMap
        The map.
    outside : array (elements,)
        Addresses in global memory.
    inside : array (elements,)
        Which elements the tensor has.
    shared : array (elements,)
        Addresses in shared memory.
    at : uint64
        Where the map lies.
    rows : array (elements, monomials), optional
        Addresses in global memory, in place of those in `outside`, where they depend on sizes.
    has : array (elements,), optional
        Bits that say, with `rows`, whether the tensor has an element that it may have.
    """

    tensor: TensorMap
    outside: NDArray[np.uint64]
    inside: NDArray[np.bool_]
    shared: NDArray[np.uint64]
    at: np.uint64
    rows: Rows | None = None
    has: Ids | None = None

    def is_same_as(self, other: Box) -> bool:
        """Tell whether a copy of the one is a copy of the other."""
        return (
            np.array_equal(self.shared, other.shared)
            and np.array_equal(self.inside, other.inside)
            and np.array_equal(self._elements, other._elements)
            and (self.has is None or other.has is None or np.array_equal(self.has, other.has))
        )

    @property
    def _elements(self) -> NDArray[np.generic]:
        """Where the elements are that the tensor has."""
        return (self.outside if self.rows is None else self.rows)[self.inside]

    def load(self, execution: Execution, thread: Indices, fetchers: tuple[Fetcher, ...]) -> Bytes:
        """Return the bytes (elements, bytes) of the box, zeros outside of the tensor."""
        store, size = execution.store, self.tensor.element_bytes
        whole = self.inside.all() if self.has is None else (self.has == int(store.constants(1, 1))).all()
        if self.tensor.fill == "nan" and not whole:
            execution.unsupported(f"{self.tensor}: no document says which NaN stands for elements outside")
        terms = np.full((len(self.inside), size), int(store.constants(0, 8)), dtype=np.int32)
        lows = np.zeros(terms.shape, dtype=np.uint8)
        some = np.flatnonzero(self.inside)
        if len(some):
            who = np.repeat(thread, len(some))
            terms[some], lows[some] = (
                load_bytes(execution, "global", self.outside[some], size, who, 1, fetchers)
                if self.rows is None or self.has is None
                else load_rows_of_any_size(execution, self.rows[some], size, who, self.has[some])
            )
        return terms, lows

    def store(self, execution: Execution, data: Bytes, thread: Indices) -> None:
        """Write the bytes (elements, bytes) of the box to the elements that the tensor has."""
        terms, lows = data[0][self.inside], data[1][self.inside]
        size, who = self.tensor.element_bytes, np.repeat(thread, len(terms))
        if self.rows is None or self.has is None:
            targets = self.outside[self.inside]
            refuse_written(execution, targets, size, who, "over")
            store_bytes(execution, "global", targets, (terms, lows), who, 1)
            return
        lanes = ByteLanes(execution.store, terms.size)
        lanes.terms[:], lanes.lows[:] = terms.reshape(-1), lows.reshape(-1)
        words = lanes.read(size * np.arange(len(terms)), size)[:, None]
        store_rows_of_any_size(execution, self.rows[self.inside], words, size, who, self.has[self.inside])

    def put(self, execution: Execution, data: Bytes, thread: Indices, space: str) -> None:
        """Write the bytes of the box to shared memory, of the own block or, as `space` says, of a cluster."""
        store_bytes(execution, space, self.shared, data, np.repeat(thread, len(self.shared)), 1)

    def places(self, execution: Execution, thread: Indices) -> NDArray[np.int64]:
        """Return the granules of shared memory that the box takes."""
        part = execution.memory.shared
        assert part.history is not None
        size = self.tensor.element_bytes
        inside, offsets = part.locate(self.shared, size, np.repeat(thread, len(self.shared)))
        return np.unique(part.history.places(offsets[inside], size).reshape(-1))


def box(execution: Execution, operand: Operand, start: np.uint64, thread: Indices) -> Box | None:
    """Return the box that an operand ``[map, {coordinates}]`` names; None if it can't be used.

    Parameters
    ----------
    execution : Execution
        What runs.
    operand : Operand
        As written.
    start : uint64
        Where the box begins in shared memory.
    thread : array (1,)
        Who copies.

    Raises
    ------
    InputError
        If it is no such operand, or has another number of coordinates.
    UnsupportedError
        If it is not known which map lies there, or no document says how its boxes lie.
    """
    instruction = execution.instruction
    if not isinstance(operand, TensorAddress) or len(operand.others) != 1:
        raise InputError(f"{instruction.mnemonic} takes [map, {{coordinates}}], not {operand}")
    at = addresses(execution, operand.base, thread)[0]
    tensor = map_at(execution, at, thread)
    if tensor is None:
        return None
    given = operand.others[0]
    elements = given.elements if isinstance(given, Vector) else (given,)
    named = instruction.one_of(DIMENSIONS)
    if named is None or int(named[0]) != len(elements) or len(elements) != tensor.rank:
        rank = tensor.rank
        message = f"{instruction.mnemonic} has {len(elements)} coordinates of a map of {rank} dimensions"
        execution.report(Kind.UNDEFINED, message, thread)
        return None
    if int(start) % COPY_ALIGNMENT:
        message = f"{instruction.mnemonic} at {int(start):#x}, which is no multiple of {COPY_ALIGNMENT}"
        execution.report(Kind.MISALIGNED, message, thread)
        return None
    if tensor.swizzle:
        note_alignment(execution, int(start))
    places = np.asarray(shared_address(tensor, tuple(np.indices(tensor.extents)), int(start))).reshape(-1)
    if (mapped := array_of(execution, tensor)) is not None:
        rows, has = elements_of(execution, tensor, mapped, elements, thread)
        inside = has != int(execution.store.constants(0, 1))
        nowhere = np.zeros(len(inside), dtype=np.uint64)
        return Box(tensor, nowhere, inside, places.astype(np.uint64), at, rows, has)
    numbers = [execution.numbers(element, 32, thread, "the coordinate") for element in elements]
    coordinates = [int(np.int32(np.uint32(number[0]))) for number in numbers]
    if instruction.has("bulk_group") and min(coordinates) < 0:
        message = f"{instruction.mnemonic} writes at coordinates {coordinates}; none may be negative"
        execution.report(Kind.UNDEFINED, message, thread)
        return None
    offsets, inside = source(tensor, coordinates)
    return Box(
        tensor,
        (offsets.reshape(-1) + tensor.address).astype(np.uint64),
        inside.reshape(-1),
        places.astype(np.uint64),
        at,
    )
