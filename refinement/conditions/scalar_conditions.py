"""Conditions on scalars: which one decides a run, where it holds, and its isolated solutions.

A condition is a term of one bit in a store of its own, so that it outlives the run in which it was met.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...spec.errors import UnsupportedError
from ...spec.float_encoding import decode
from ...spec.formats import FloatFormat, Format
from ..terms import operations
from ..terms.assignments import Assignment
from ..terms.evaluation import integers
from ..terms.interning import Ids
from ..terms.operations import Sum
from ..terms.store import CONSTANT, INPUT, NORMAL_FORM, UNDEFINED, VECTOR, Operation, TermStore
from ..terms.traversal import cone, operands

MOST_TERMS = 256
"""Of a condition."""

MOST_NUMBERS = 4
"""That are told one by one: those for which alone a condition holds, or does not."""

ENUMERATED = 16
"""Bits of a scalar of which every number is tried."""

_SIGNS = MappingProxyType({"eq": "=", "ne": "≠", "lt": "<", "le": "≤", "gt": ">", "ge": "≥"})
_OPPOSITES = MappingProxyType({"=": "≠", "≠": "="})


@dataclass(frozen=True)
class Condition:
    """A condition that depends on scalars alone.

    Attributes
    ----------
    store : TermStore
        With the condition alone.
    term : int
        The condition.
    line : int
        The kernel's line that computes it.
    """

    store: TermStore
    term: int
    line: int

    def scalars(self) -> dict[str, Format]:
        """Return the scalars that it depends on."""
        inputs = [
            self.store.operation(subterm)
            for subterm in subterms(self.store, self.term, len(self.store)) or ()
        ]
        return {str(each.attribute): each.result for each in inputs if each.name == INPUT}

    def term_in(self, store: TermStore) -> int:
        """Return the same condition as a term of another store."""
        return int(_copied(self, store, {}))

    def holds(self, numbers: Mapping[str, Any]) -> NDArray[np.bool_]:
        """Tell for numbers (n,) of each scalar, as encodings, whether it holds.

        Raises
        ------
        UnsupportedError
            If it depends on an operation whose values are not known.
        """
        count = max(len(np.atleast_1d(number)) for number in numbers.values())
        given = {name: np.resize(np.asarray(each, dtype=np.uint64), count) for name, each in numbers.items()}
        store = TermStore()
        terms = np.resize(_copied(self, store, {name: np.arange(count) for name in given}), count)
        return Assignment(store, given).values(terms).astype(bool)

    def numbers(self) -> tuple[bool, str, tuple[int, ...], str] | None:
        """Return the few numbers of a scalar for which alone it holds, or does not hold.

        Returns
        -------
        tuple of (bool, str, tuple of int, str), optional
            Whether it holds for them, the scalar, their encodings, and what is to be taken for granted of
            others; None if there are many, or it is not known which.
        """
        scalars = self.scalars()
        if len(scalars) != 1:
            return None
        ((name, fmt),) = scalars.items()
        if fmt.bits <= ENUMERATED:
            return self._enumerated(name, fmt)
        return self._compared(name, fmt)

    def _enumerated(self, name: str, fmt: Format) -> tuple[bool, str, tuple[int, ...], str] | None:
        try:
            holds = self.holds({name: np.arange(1 << fmt.bits)})
        except UnsupportedError:
            return None
        for truth in (True, False):
            where = np.flatnonzero(holds == truth)
            if len(where) <= MOST_NUMBERS:
                return truth, name, tuple(where.tolist()), ""
        return None

    def _compared(self, name: str, fmt: Format) -> tuple[bool, str, tuple[int, ...], str] | None:
        """Return the numbers that a comparison of the scalar itself with a constant finds equal."""
        found = self._comparison()
        if found is None:
            return None
        relation, compared, constant, flushed = found
        if relation not in ("eq", "ne", "equ", "neu"):
            return None
        words, granted = [constant], []
        if isinstance(compared, FloatFormat):
            number = compared.exact(constant)
            if number is None:
                return None
            if relation in ("equ", "ne"):
                granted.append(
                    f"{name} is not NaN, which line {self.line} treats as {number_of(constant, fmt)}"
                )
            if number == 0:
                words = [0, compared.sign_mask]
                if flushed:
                    granted.append(f"{name} is not subnormal, which line {self.line} treats as 0")
        truth = relation in ("eq", "equ")
        if (self.holds({name: np.array(words)}) != truth).any():
            return None
        return truth, name, tuple(words), "; ".join(granted)

    def _comparison(self) -> tuple[str, Format, int, bool] | None:
        """Return relation, format and constant of a comparison of a scalar, and whether it is flushed."""
        operation = self.store.operation(self.term)
        if operation.name != operations.COMPARE:
            return None
        sides = self.store.arguments(self.term)[:2]
        relation = str(operation.attribute)
        if self.store.operation(int(sides[0])).name == CONSTANT:
            if relation not in ("eq", "ne", "equ", "neu"):
                return None
            sides = sides[::-1]
        scalar, constant = (int(side) for side in sides)
        flushed = _flushes(self.store.operation(scalar))
        if flushed:
            scalar = int(self.store.arguments(scalar)[0])
        if self.store.operation(scalar).name != INPUT or self.store.operation(constant).name != CONSTANT:
            return None
        return relation, operation.operands[0], int(self.store.constant_values(constant)), flushed

    @property
    def is_comparison(self) -> bool:
        """Whether it compares a scalar itself with a constant, without flushing it."""
        found = self._comparison()
        return found is not None and not found[3]

    def text(self, holds: bool) -> str:
        """Say that it holds, or that it does not."""
        found = self._comparison()
        names = " and ".join(self.scalars())
        if found is None or (found[0] not in _SIGNS and found[0] not in ("equ", "neu")):
            return f"the condition of line {self.line} on {names} {'holds' if holds else 'does not hold'}"
        relation, fmt, constant, _ = found
        sign = _SIGNS[relation[:2]]
        if not holds and sign in _OPPOSITES:
            sign, holds = _OPPOSITES[sign], True
        return f"{'' if holds else 'not '}{names} {sign} {number_of(constant, fmt)}"


def number_of(encoding: int, fmt: Format) -> str:
    """Write a number; both zeros are 0."""
    words = np.array([encoding], dtype=np.uint64)
    if not isinstance(fmt, FloatFormat):
        return str(integers(words, fmt)[0])
    return f"{float(decode(words.astype(fmt.storage), fmt)[0]) + 0.0:g}"


def _flushes(operation: Operation) -> bool:
    how = operation.attribute
    return operation.name == operations.FUSED and isinstance(how, Sum) and how[:2] == (0, 1) and how.flush


def deciding(store: TermStore, terms: Ids, scalars: Collection[str]) -> Condition | None:
    """Return the condition on scalars of which a run has to know whether it holds.

    Parameters
    ----------
    store : TermStore
        The terms.
    terms : array
        What should be numbers.
    scalars : collection of str
        Names of scalars that may be anything.

    Returns
    -------
    Condition or None
        The first comparison in the terms, or a bit that one is or is chosen by; None if they depend on
        other data too, or on no scalar.
    """
    for term in np.unique(terms).tolist():
        parts = subterms(store, term, MOST_TERMS)
        if parts is None or not all(_is_known(store.operation(part), scalars) for part in parts):
            continue
        if not store.are(INPUT, np.array(parts)).any():
            continue
        bits = [
            part for part in parts if int(store.widths(part)) == 1 and store.operation(part).name != CONSTANT
        ]
        compared = [bit for bit in bits if store.operation(bit).name == operations.COMPARE]
        if bits:
            chosen = min(compared or bits)
            own = TermStore()
            line = int(store.lines(chosen))
            return Condition(own, int(_copied(Condition(store, chosen, line), own, {})), line)
    return None


def _is_known(operation: Operation, scalars: Collection[str]) -> bool:
    if operation.name == INPUT:
        return operation.attribute in scalars
    return operation.name not in (UNDEFINED, NORMAL_FORM)


def subterms(store: TermStore, term: int, most: int) -> list[int] | None:
    """Return a term and all that it depends on, in increasing order; None if they are more than `most`."""
    found = cone(store, np.array([term], dtype=np.int32), most)
    return None if found is None else found.tolist()


def _copied(condition: Condition, target: TermStore, indices: Mapping[str, NDArray[np.intp]]) -> Ids:
    """Return a condition in another store, (n,) of them where scalars are arrays (n,) of as many numbers."""
    source = condition.store
    made: dict[int, Ids] = {}
    for term in subterms(source, condition.term, len(source)) or ():
        operation, arguments = source.operation(term), source.arguments(term)
        parts = [
            made[each]
            for some in operands(source, operation, np.array([term], dtype=np.int32))
            for each in some.tolist()
        ]
        match operation.name:
            case name if name == CONSTANT:
                made[term] = target.constants(source.constant_values(term), operation.result.bits)
            case name if name == INPUT:
                at = indices.get(str(operation.attribute), arguments[0])
                made[term] = target.inputs(str(operation.attribute), operation.result, at)
            case name if name == VECTOR:
                made[term] = target.vectors(np.stack(np.broadcast_arrays(*parts), axis=-1))
            case _:
                made[term] = target.apply(operation, *parts)
    return made[condition.term]
