"""Right values at wrong places: the stores at fault, their races, and elements left unwritten.

Of two stores to one element in no order the one that is at fault is that whose value is not the element's.
A value that another element is to hold shows a wrong place, if it went astray there: the other element lacks
it, or it was computed where it is wanted and not stored. Otherwise a wrong operand made it twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..contract.arguments import Array
from ..equality.equivalence import compare, compared_as
from ..machine.array_memory import ArrayMemory, elements_in, first_lanes
from ..machine.front_end import FinalArray
from ..normal_forms.forms import NormalForms
from ..terms.interning import Ids
from .displacement import sources

Indices = NDArray[np.intp]

IsMade = Callable[[int], bool]
"""Tells of a wrong element of the final ones, by its place among them, whether its value is made at all."""


@dataclass(frozen=True)
class MisplacedStores:
    """Stores to wrong places.

    Attributes
    ----------
    elements : array (n,)
        Where they store.
    terms : array (n,)
        What.
    meant : array (n,)
        The elements that are to hold that.
    lines : array (n,)
        Of the stores.
    raced : array (m,)
        Lines of stores that were right, and race with these.
    unwritten : array (k,)
        Elements that nobody writes, as these store elsewhere.
    """

    elements: Indices
    terms: Ids
    meant: Indices
    lines: NDArray[np.int32]
    raced: NDArray[np.int32]
    unwritten: Indices

    @property
    def race(self) -> bool:
        """Whether any of them races with another store."""
        return bool(len(self.raced))


def misplaced(
    forms: NormalForms,
    output: Array,
    memory: ArrayMemory,
    final: FinalArray,
    actual: Ids,
    expected: Ids,
    wrong: Indices,
    unwritten: Indices,
    is_made: IsMade,
) -> MisplacedStores | None:
    """Return the stores to wrong places, if they are all that is wrong with an output.

    Parameters
    ----------
    forms : NormalForms
        Of the store.
    output : Array
        The output.
    memory : ArrayMemory
        Of the output.
    final : FinalArray
        What it holds in the end, and who stored that.
    actual, expected : array (elements,)
        What the elements hold, and are to hold; of an element without a value, `ABSENT`.
    wrong : array (n,)
        The elements whose values are not right.
    unwritten : array (k,)
        Those that nobody writes.
    is_made : callable
        Tells whether a wrong element's own value is computed.
    """
    lanes = first_lanes(output)
    covered = np.flatnonzero(expected >= 0)
    lost, values, lines = _lost(forms, output, memory, final, expected)
    right = compare(forms, values, expected[lost], output.format).equal
    raced = final.lines[lanes[lost[~right & ~np.isin(lost, wrong)]]]
    raced = np.unique(np.concatenate([raced, lines[right]]))
    elements = np.concatenate([wrong, lost[~right]])
    if not len(elements):
        return None
    terms = np.concatenate([actual[wrong], values[~right]])
    meant = sources(forms, terms, expected, covered, compared_as(output.format))
    if meant is None:
        return None
    astray = bool(len(unwritten)) and bool(np.isin(unwritten, meant).all())
    exchanged = bool(np.isin(meant, elements).all())
    if not (len(lost) or astray or exchanged or is_made(0)):
        return None
    return MisplacedStores(
        elements,
        terms,
        meant,
        np.concatenate([final.lines[lanes[wrong]], lines[~right]]),
        raced,
        unwritten if astray else unwritten[:0],
    )


def _lost(
    forms: NormalForms, output: Array, memory: ArrayMemory, final: FinalArray, expected: Ids
) -> tuple[Indices, Ids, NDArray[np.int32]]:
    """Return elements whose value another store took the place of in no order, the value, and its line."""
    before = final.overwritten
    if before is None:
        none = np.zeros(0, dtype=np.int32)
        return none.astype(np.intp), none, none
    there, terms = elements_in(forms.store, memory, before.lanes)
    found = np.flatnonzero(there & (expected >= 0))
    return found, terms[found], before.lines[first_lanes(output)[found]]


def listed(lines: Sequence[int], most: int = 3) -> str:
    """Spell lines: ``line 3``, ``lines 3, 5, 9, and 2 more``."""
    shown = ", ".join(map(str, lines[:most])) + (f", and {len(lines) - most} more" if lines[most:] else "")
    return f"{'line' if len(lines) == 1 else 'lines'} {shown}"
