"""Accesses of a batch at concrete sizes: their places, and the first out of bounds."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ....spec.errors import UnsupportedError
from ....spec.formats import Format
from ...normal_forms.forms import NormalForms
from ...normal_forms.polynomials import ABSENT
from ...sizes.symbolic_arrays import OutsideError, SymbolicArray
from ...sizes.symbolic_terms import SymbolicTerms
from ...terms.interning import Ids
from ...terms.traversal import leaves_of
from ..memory.symbolic_accesses import memory_of_any_size
from ..registers.threads import Indices
from .loop_states import LoopBatch, LoopHeadError


class TooLongError(UnsupportedError):
    """Blocks that take more instructions than they may."""


@dataclass(frozen=True)
class Visit:
    """Accesses of one instruction to an array.

    Attributes
    ----------
    line : int
        The instruction.
    array : SymbolicArray
        The array.
    offsets : array (n,)
        Bytes from its beginning.
    threads : array (n,)
        Whose they are.
    doubts : int
        How many there were before.
    stores : bool
        Whether they store.
    """

    line: int
    array: SymbolicArray
    offsets: NDArray[np.int64]
    threads: Indices
    doubts: int
    stores: bool


@dataclass
class Followed:
    """All accesses of a batch.

    Attributes
    ----------
    visits : list of Visit
        In order; the last is the one outside, if there is one.
    outside : int, optional
        Of the last, the thread that accesses what is outside its array.
    error : UnsupportedError, optional
        Why it was not followed to its end.
    instructions : int
        How many it took.
    stored : list of (Format, array)
        What was stored in each array, and how its elements are read.
    """

    visits: list[Visit] = field(default_factory=list)
    outside: int | None = None
    error: UnsupportedError | None = None
    instructions: int = 0
    stored: list[tuple[Format, Ids]] = field(default_factory=list)

    def visit(self, like: Followed, thread: int, own: int) -> Visit | None:
        """Return the visit of a thread that is the last one of another thread, by its line and how often."""
        (line, often) = like.visits[-1].line, like.often(thread, like.visits[-1].line)
        for each in self.visits:
            if each.line == line and own in each.threads:
                often -= 1
                if not often:
                    return each
        return None

    def reaches_output(self, store: SymbolicTerms, visit: Visit, offset: int) -> bool:
        """Tell whether what is stored depends on the element at some bytes of an array that was loaded.

        What cancels over the reals does not count: ``(x - x) + y`` is y, whatever x is.
        """
        array = visit.array
        place = store.symbols.constants(np.array([8 * offset // array.element_bits]))
        element = store.elements_at(array.name, array.format, place)
        forms = NormalForms(store)
        return any(
            np.isin(leaves_of(store, _left_of(forms, terms, fmt)), element).any()
            for fmt, terms in self.stored
        )

    def often(self, thread: int, line: int) -> int:
        """Return how often a thread has come to an access."""
        return sum(visit.line == line and thread in visit.threads for visit in self.visits)


def _left_of(forms: NormalForms, terms: Ids, fmt: Format) -> Ids:
    """Return terms of which numbers are made that others cancel in; the numbers where that is not known."""
    try:
        atoms = np.unique(forms.polynomials(terms, fmt).atoms)
    except UnsupportedError:
        return terms
    left = [atom & 0xFFFFFFFF for atom in atoms[atoms != ABSENT].tolist()]
    return np.array([forms.quantifier.origin(term) or term for term in left], dtype=np.int32)


def follow(store: SymbolicTerms, batch: LoopBatch, most: int) -> Followed:
    """Run a batch to its end, or to the first access that is outside its array.

    Parameters
    ----------
    store : SymbolicTerms
        Of its launch; the symbols are one number each.
    batch : LoopBatch
        The batch.
    most : int
        Instructions that it may take.
    """
    found = Followed()

    def visited(array: SymbolicArray, offsets: NDArray[np.int64], threads: Indices, stores: bool) -> None:
        numbers = store.symbols.numbers(offsets)
        found.visits.append(Visit(store.line, array, numbers, threads, len(store.doubts), stores))

    memory_of_any_size(batch.execution).watch = visited
    before = batch.instructions
    while True:
        try:
            batch.run()
        except LoopHeadError:
            if batch.instructions - before <= most:
                continue
            found.error = TooLongError("blocks take too many instructions")
        except OutsideError as error:
            if batch.execution.path is None:
                found.outside = int(error.threads[0])
            else:
                found.error = error
        except UnsupportedError as error:
            found.error = error
        found.instructions = batch.instructions - before
        found.stored = memory_of_any_size(batch.execution).stored_terms()
        return found
