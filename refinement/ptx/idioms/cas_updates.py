"""CAS updates: updates of words by compare-and-swap that commute (see `cas_loops`).

A thread comes to the swap once, with what the word is to become as a function of what is there: `f` of an
unknown number, which the first guess is. The function is applied to what is there; it must be a sum with it,
or an extremum, so that the word is the same in every order (a sum of floats up to rounding).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....spec.formats import FloatFormat, Format
from ....spec.ptx.open_results import ATOMIC_RESULT
from ...terms import bit_slices, operations
from ...terms.evaluation import apply
from ...terms.interning import Ids
from ...terms.store import UNDEFINED, Operation, TermStore
from ...terms.traversal import leaves_of
from ..memory.addressing import addresses, located, space_of
from ..memory.memory_access import read, write
from ..registers.threads import Indices
from ..registers.values import known, of_terms
from ..state.execution import Execution, Step
from ..synchronisation.atomics import check_alike, check_scope, rounds
from ..text.module import TYPE_BITS, InstructionStatement
from .cas_loops import SwapLoop

_PARTS = (1, 2, 4)
"""Into how many numbers a word may be divided."""


def guess(instruction: InstructionStatement) -> Step:
    """Return the step of a load whose result only a swap compares with what is there."""

    def step(execution: Execution, active: Indices) -> None:
        destination, source = instruction.taking(2, 3)[:2]
        size = TYPE_BITS[instruction.types[-1]] // 8
        at = addresses(execution, source, active)
        space = space_of(execution, instruction, ordering=True)
        for _ in located(execution, space, at, size, active, size):
            pass
        terms = execution.store.undefined(len(active), 8 * size, ATOMIC_RESULT)
        execution.write(destination, of_terms(execution.store, terms, 8 * size), active)

    return step


def test(instruction: InstructionStatement, loop: SwapLoop) -> Step:
    """Return the step of the comparison that ends a loop: it ends."""

    def step(execution: Execution, active: Indices) -> None:
        answers = np.full(len(active), int(loop.ends), dtype=np.uint64)
        execution.write(instruction.operands[0], known(answers, 1), active)

    return step


def swap(instruction: InstructionStatement) -> Step:
    """Return the step of the compare-and-swap: the whole update."""

    def step(execution: Execution, active: Indices) -> None:
        if execution.path is not None:
            execution.unsupported(f"{instruction.mnemonic} under a data-dependent branch")
        found, place, expected, new = instruction.taking(4, 4)
        width = TYPE_BITS[instruction.types[-1]]
        space = space_of(execution, instruction, ordering=True)
        at = addresses(execution, place, active)
        execution.write_terms(
            found, execution.store.undefined(len(active), width, ATOMIC_RESULT), width, active
        )
        guessed, terms = (execution.terms(each, width, active) for each in (expected, new))
        turns = execution.turns_of(active)
        for part, members, offsets in located(
            execution, space, at, width // 8, active, width // 8, stores=True
        ):
            check_scope(execution, instruction, part)
            for some in rounds(offsets, turns[members]):
                chosen = members[some]
                _update(execution, part.name, active[chosen], offsets[some], guessed[chosen], terms[chosen])

    return step


@dataclass(frozen=True)
class _Update:
    """What a number becomes: an operation on it and others.

    Attributes
    ----------
    operation : Operation
        The operation.
    arguments : array (arguments,)
        Its arguments.
    place : int
        Which of them is the number; -1 if the number stays.
    """

    operation: Operation
    arguments: Ids
    place: int

    @property
    def kind(self) -> tuple[str, Format]:
        """Name and format of what is the same in every order with others of its kind."""
        fmt = self.operation.operands[self.place]
        if self.operation.name == operations.EXTREMUM:
            assert isinstance(self.operation.attribute, tuple)
            which, nan, flush = self.operation.attribute
            return f"{which}{'.NaN' * nan}{'.ftz' * flush}", fmt
        return "add", fmt


def _update(
    execution: Execution, space: str, threads: Indices, offsets: NDArray[np.int64], guessed: Ids, terms: Ids
) -> None:
    """Let threads update words (n,), no two of them one word."""
    store, part = execution.store, execution.memory.space(space)
    width = int(store.widths(terms[:1])[0])
    for index in range(len(threads)):
        one = slice(index, index + 1)
        count, updates = _updates(store, guessed[one], terms[one], width)
        if not updates:
            execution.unsupported(
                f"{execution.instruction.mnemonic}: a loop must update a word by a sum or an "
                "extremum of its old value"
            )
        size = width // 8 // count
        for number, update in enumerate(updates):
            if update.place < 0:
                continue
            place = offsets[one] + number * size
            name, fmt = update.kind
            sort = fmt.name if isinstance(fmt, FloatFormat) or name != "add" else str(8 * size)
            check_alike(execution, part, place, f"{name}.{sort}", None, size, threads[one])
            before = read(execution, part, place, size, 1, threads[one], atomic=True)[:, 0]
            before = np.where(before < 0, store.undefined(1, 8 * size), before)
            arguments = [
                before if each == update.place else term[None] for each, term in enumerate(update.arguments)
            ]
            after = apply(store, update.operation, *arguments)
            execution.unordered |= isinstance(fmt, FloatFormat) and name == "add"
            execution.note_semaphores(part, place, after, size, threads[one])
            write(execution, part, place, after[:, None], size, threads[one], atomic=True)


def _updates(store: TermStore, guessed: Ids, terms: Ids, width: int) -> tuple[int, list[_Update]]:
    """Return into how many numbers a word is divided, and what becomes of each; none if that is not known."""
    if not store.are(UNDEFINED, guessed)[0]:
        return 1, []
    for count in _PARTS:
        if width % count or width // count < 16:
            break
        bits = width // count
        pairs = [
            [bit_slices.extract(store, each, low, bits) for each in (guessed, terms)]
            for low in range(0, width, bits)
        ]
        found = [_update_of(store, int(guessed[0]), int(was[0]), int(new[0])) for was, new in pairs]
        if all(each is not None for each in found):
            return count, [each for each in found if each is not None]
    return 1, []


def _update_of(store: TermStore, guessed: int, was: int, new: int) -> _Update | None:
    """Return what becomes of a number that is a part of what was guessed, if that is known."""
    terms = np.array([new], dtype=np.int32)
    operation, arguments = store.operation(new), store.arguments(terms)[0]
    if new == was:
        return _Update(operation, arguments, -1)
    first = 0
    if operation.name in (operations.FUSED, operations.RING):
        assert isinstance(operation.attribute, operations.Sum)
        first = 2 * operation.attribute.products
    elif operation.name != operations.EXTREMUM:
        return None
    arguments = arguments[: len(operation.operands)]
    places = [each for each, term in enumerate(arguments.tolist()) if term == was and each >= first]
    others = np.delete(arguments, places[:1])
    if len(places) != 1 or guessed in leaves_of(store, others).tolist():
        return None
    if operation.operands[places[0]] != operation.result:
        return None
    return _Update(operation, arguments, places[0])
