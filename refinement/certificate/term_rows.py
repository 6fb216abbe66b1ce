"""Terms of a store as rows of a document, each after its arguments; see `refinement.recheck.document`."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Any

import numpy as np

from ...spec.formats import FORMATS, FloatFormat, Format
from ..recheck.document import LEAVES
from ..terms.store import CONSTANT, NORMAL_FORM, VECTOR, Operation, TermStore


class TermRows:
    """The terms that some terms of a store consist of, numbered again.

    Parameters
    ----------
    store : TermStore
        The terms.
    roots : iterable of int
        What is to be in the document.

    Attributes
    ----------
    operations, rows : list
        The parts of the document.
    """

    def __init__(self, store: TermStore, roots: Iterable[int]) -> None:
        self._store = store
        self.operations: list[list[Any]] = []
        self.rows: list[list[int]] = []
        self._of_operations: dict[int, int] = {}
        arguments = self._within(roots)
        self._places = {term: place for place, term in enumerate(sorted(arguments))}
        for term in self._places:
            is_leaf = self._store.operation(term).name in LEAVES
            given = arguments[term] if is_leaf else [self._places[argument] for argument in arguments[term]]
            self.rows.append([self._operation(term), *given])

    def place(self, term: int) -> int:
        """Return the number of a term in the document."""
        return self._places[term]

    def _within(self, roots: Iterable[int]) -> dict[int, list[int]]:
        """Return all terms with their arguments: of an input the index, of a constant the word."""
        found: dict[int, list[int]] = {}
        pending = list(set(roots))
        while pending:
            term = pending.pop()
            if term in found:
                continue
            name = self._store.operation(term).name
            arguments = [each for each in self._store.arguments(term).tolist() if each >= 0]
            if name == CONSTANT:
                found[term] = [int(self._store.constant_values(np.array([term]))[0])]
            elif name in (*LEAVES, NORMAL_FORM):
                found[term] = arguments[:1]
            else:
                if name == VECTOR:
                    arguments = self._store.elements(np.array([term])).reshape(-1).tolist()
                found[term] = arguments
                pending += [argument for argument in arguments if argument not in found]
        return found

    def _operation(self, term: int) -> int:
        number = int(self._store.operation_numbers(term))
        if number not in self._of_operations:
            self._of_operations[number] = len(self.operations)
            self.operations.append(_written(self._store.operations[number]))
        return self._of_operations[number]


def _written(operation: Operation) -> list[Any]:
    result, *operands = map(_name, (operation.result, *operation.operands))
    return [operation.name, result, operands, _plain(operation.attribute)]


def _name(fmt: Format) -> str:
    assert not isinstance(fmt, FloatFormat) or FORMATS[fmt.name] == fmt
    return fmt.name


def _plain(attribute: Any) -> Any:
    if isinstance(attribute, Enum):
        return attribute.name
    if isinstance(attribute, tuple):
        return [_plain(each) for each in attribute]
    return attribute if isinstance(attribute, str | int | bool | None) else repr(attribute)
