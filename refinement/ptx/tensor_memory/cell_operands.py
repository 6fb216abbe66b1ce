"""Operands of a product in tensor memory, by the specification's layouts: D, A, scale factors, metadata."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from ....spec.errors import InputError
from ....spec.formats import U32
from ....spec.ptx.tensor_memory.kinds import COLUMNS, CTA_LANES
from ....spec.ptx.tensor_memory.layouts import PARTITION
from ....spec.ptx.tensor_memory.multiplication import TensorMultiplication
from ....spec.ptx.tensor_memory.product_arrays import held
from ...findings.finding import Kind
from ...terms.algebra import TermAlgebra
from ...terms.interning import Ids
from ...terms.store import CONSTANT
from ..state.execution import Execution
from .cells import Cells, Places, split_address
from .moves import with_open_halves
from .operands import by_cta
from .uses import Operation, Sort

_COPIES = (Sort.COPY,)
"""Who writes any operand and need only be issued before."""

_PIPELINED = {"d": (Sort.PRODUCT, *_COPIES)}
"""The same of operands where it is not copies alone: products on one D follow each other."""


_NUMBER_BIT = 30

NUMBERED = (
    "bits 31..30 of an address of scale factors are ignored if they equal the number in the instruction "
    "descriptor: CUTLASS sets them, and no document mentions them"
)
"""What a verdict rests on where addresses have them."""

_SELECTED_BITS = 16
"""Elements of A of at least so many bits have their metadata in one of two columns."""


class CellOperands:
    """The operands of a product that a thread issues.

    Parameters
    ----------
    execution : Execution
        What runs.
    form : TensorMultiplication
        The product.
    at : mapping of str to int
        The address of each operand.
    operation : Operation
        The product as a use of cells.
    thread : int
        Who issues it.
    blocks : tuple of int
        The CTAs whose cells they are.
    """

    def __init__(
        self,
        execution: Execution,
        form: TensorMultiplication,
        at: Mapping[str, int],
        operation: Operation,
        thread: int,
        blocks: tuple[int, ...],
    ) -> None:
        self._execution, self._form = execution, form
        self._at = {role: self._without_number(role, each) for role, each in at.items()}
        self._operation, self._thread, self._blocks = operation, thread, blocks
        self._cells = Cells.of(execution)

    def _without_number(self, role: str, address: int) -> int:
        """Return an address; of scale factors without the number that the instruction descriptor has, too."""
        number = address >> _NUMBER_BIT
        if not number or not role.startswith("scale_"):
            return address
        said = self._form.fields.number(f"{role}_id")
        if number != said:
            self._execution.unsupported(
                f"{self._execution.instruction.mnemonic}: the address of {role} has {number} in bits 31..30, "
                f"the instruction descriptor {said}: no document says which applies"
            )
        self._execution.assumptions[NUMBERED] = None
        return address & (1 << _NUMBER_BIT) - 1

    def aligned(self) -> bool:
        """Tell whether D, A and metadata begin in lanes in which they can; report others."""
        half = PARTITION // 2
        lanes = {role: split_address(address)[0] for role, address in self._at.items()}
        allowed = (0, half) if self._form.layouts.is_of_half_lanes else (0,)
        for role in ("d", "a", "metadata", "scale_a", "scale_b"):
            if role not in lanes:
                continue
            of_half = role in ("d", "a", "metadata")
            if lanes[role] in (allowed if of_half else (0,)) and (not of_half or lanes[role] == lanes["d"]):
                continue
            name = {"metadata": "the metadata", "scale_a": "sfa", "scale_b": "sfb"}.get(role, role.upper())
            text = f"{name} begins in lane {lanes[role]}"
            text += "" if role == "d" else f", and D in lane {lanes['d']}"
            rule = (
                f"D begins in lane {' or '.join(map(str, allowed))}, A and metadata in the same, others in 0"
            )
            self._execution.report(
                Kind.UNDEFINED,
                f"{self._execution.instruction.mnemonic}: {text}; {rule}",
                np.array([self._thread]),
            )
            return False
        self._refuse_odd_metadata()
        return True

    def _refuse_odd_metadata(self) -> None:
        """Refuse metadata of one column that begins in an odd one: the selector says which of two it is."""
        column = split_address(self._at.get("metadata", 0))[1]
        if column % 2 and self._form.container >= _SELECTED_BITS:
            self._execution.unsupported(
                f"{self._execution.instruction.mnemonic}: the metadata begins in column {column}; no "
                "document says what is read where it is odd: the lowest bit is the selector's"
            )

    def _lie(self, role: str) -> tuple[Places, NDArray[np.int64]] | None:
        """Return the cell of each element (copies, …) of an operand, and its lowest bit there.

        Lanes of a second CTA count on from those of the first. None if some cells are not allocated, which is
        reported.
        """
        fragment, leading = held(self._form, role)
        target = fragment.layout.target
        own = tuple(axis.extent for axis in target[len(leading) :])
        first = leading[0] if leading else 0
        copies = target[0].extent if isinstance(first, slice) else 1
        fixed = [0 if isinstance(each, slice) else int(each) for each in leading]
        coordinates = np.indices((copies, *own), dtype=np.int64)
        ahead = [np.full((copies, *own), each, dtype=np.int64) for each in fixed]
        if isinstance(first, slice):
            ahead[0] = coordinates[0]
        lane, number = fragment.layout.inverse(*ahead, *coordinates[1:])
        where = fragment.packing.places(np.asarray(number))
        start_lane, start_column = split_address(self._at["d" if role == "c" else role])
        lanes, columns = np.asarray(lane) + start_lane, where["register"] + start_column
        if role == "scale_b":
            lanes, columns = lanes[:, : self._form.shape.n], columns[:, : self._form.shape.n]
            where = {name: each[:, : self._form.shape.n] for name, each in where.items()}
        flat, execution = columns.reshape(-1), self._execution
        fine = all(
            self._cells.inside(execution, self._blocks[cta], own, flat[some], self._thread)
            for cta, some, own in by_cta(lanes.reshape(-1), CTA_LANES)
        )
        return (lanes * COLUMNS + columns, where["bit"]) if fine else None

    def _read(self, role: str, *, kept: bool) -> Ids | None:
        """Return the elements (copies, …) of an operand."""
        lie = self._lie(role)
        if lie is None:
            return None
        places, bits = lie
        distinct, inverse = np.unique(places, return_inverse=True)
        held_words = np.empty(len(distinct), dtype=np.int32)
        for cta, some, own in by_cta(distinct, CTA_LANES * COLUMNS):
            held_words[some] = self._cells.read(
                self._execution,
                self._blocks[cta],
                own,
                self._operation,
                [self._thread],
                pipelined=_PIPELINED.get("d" if role == "c" else role, _COPIES),
                kept=kept,
                needed=places.shape[0] > 1,
            )
        words: Ids = held_words[inverse.reshape(-1)].reshape(places.shape)
        fragment, _ = held(self._form, role)
        alg, fmt = TermAlgebra(self._execution.store), fragment.packing.format
        if fmt.bits == U32.bits:
            return words
        found = np.empty_like(words)
        for low in np.unique(bits).tolist():
            found[bits == low] = alg.extract(words[bits == low], int(low), fmt)
        return found

    def elements(self, role: str) -> Ids | None:
        """Return A, scale factors or metadata as matrices; None where what is wrong is reported."""
        copies = self._read(role, kept=True)
        if copies is None:
            return None
        if (copies != copies[0]).any():
            if self._execution.found_wrong:
                return None
            self._refuse_copies(role, copies)
        found: Ids = copies[0].T if role == "scale_b" else copies[0]
        return found

    def _refuse_copies(self, role: str, copies: Ids) -> None:
        """Report copies that differ; which one each element uses is the processor's to choose."""
        store, execution = self._execution.store, self._execution
        copy, *place = map(int, np.argwhere(copies != copies[0])[0])
        text = f"copy {copy} of {role} in tensor memory differs at {tuple(place)}"
        one, other = copies[0][tuple(place)], copies[(copy, *place)]
        if store.are(CONSTANT, np.array([one, other])).all():
            execution.report(
                Kind.UNDEFINED, f"{execution.instruction.mnemonic}: {text}", np.array([self._thread])
            )
        else:
            execution.unsupported(f"{execution.instruction.mnemonic}: {text}, or is not shown to be the same")

    def old_d(self) -> Ids | None:
        """Return D as it was; None where what is wrong is reported."""
        found = self._read("c", kept=False)
        return None if found is None else found[0]

    def write_d(self, new: Ids, kept: NDArray[np.bool_] | None) -> None:
        """Write D (M, N), but in lanes that are `kept`."""
        lie = self._lie("d")
        if lie is None:
            return
        places = lie[0][0].reshape(-1)
        words = new.reshape(-1)
        if self._form.d.bits < U32.bits:
            words = with_open_halves(self._execution, words)
        if kept is not None:
            written = ~kept[places // COLUMNS % CTA_LANES]
            places, words = places[written], words[written]
        for cta, some, own in by_cta(places, CTA_LANES * COLUMNS):
            self._cells.write(
                self._execution,
                self._blocks[cta],
                own,
                words[some],
                self._operation,
                [self._thread],
                pipelined=_PIPELINED["d"],
            )


def check_metadata(execution: Execution, form: TensorMultiplication, nibbles: Ids, thread: int) -> None:
    """Report metadata known to be undefined; what depends on data is the contract's to promise."""
    assert form.sparsity is not None
    if execution.store.are(CONSTANT, nibbles).all():
        try:
            form.sparsity.require_valid(execution.store.constant_values(nibbles))
        except InputError as error:
            execution.report(Kind.UNDEFINED, str(error), np.array([thread]))
