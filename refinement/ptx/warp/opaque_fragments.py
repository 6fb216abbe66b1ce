"""Opaque fragments of ``wmma``: register matrices whose layout PTX leaves open.

An element that is in a register is wrapped in a token, which says of what kind the fragment is, from which
instruction it came, and which place it has in the warp's registers. What treats all places alike (scaling,
adding fragments of one kind) makes terms of tokens that are alike but for their places, and these can be
taken apart again; whatever looks at one place does not, and a token that gets into the kernel's output
shows that its value depends on what PTX leaves open.

Source: PTX ISA 9.1 section 9.7.14.4.1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....spec.formats import U32, Format
from ....spec.fragment import Packing
from ....spec.ptx.variant import WARP_LANES
from ...terms import operations
from ...terms.algebra import TermAlgebra
from ...terms.domains import Domain, Reading, Rewriting
from ...terms.interning import Ids
from ...terms.operations import FUNCTION
from ...terms.store import Operation, TermStore

_MARK = "element of a wmma fragment, "

_COUNTER = U32


@dataclass(frozen=True)
class FragmentKind:
    """A kind of fragments that may be combined element by element.

    Attributes
    ----------
    name : str
        What makes the kind: shape, role, for multiplicands the layout.
    format : Format
        Of the elements.
    extents : (int, int)
        Rows and columns of the matrix.
    registers : int
        Registers of a thread.
    """

    name: str
    format: Format
    extents: tuple[int, int]
    registers: int

    @property
    def packing(self) -> Packing:
        """How elements lie in registers."""
        return Packing(self.format, self.format.bits)

    @property
    def places(self) -> int:
        """Elements that the registers of a warp have room for."""
        return WARP_LANES * self.registers * self.packing.per_register

    @property
    def token(self) -> Operation:
        """The operation that wraps an element: arguments element, place, instance."""
        return operations.function(
            f"{_MARK}{self.name} {self.format}", self.format, self.format, _COUNTER, _COUNTER
        )

    def held(self, store: TermStore, matrices: Ids, instance: int) -> Ids:
        """Return the registers (warps, 32, r) that hold matrices (warps, rows, columns)."""
        elements = matrices.reshape(len(matrices), -1)
        places = np.arange(self.places)
        wrapped = store.apply(
            self.token,
            elements[:, places % elements.shape[1]],
            store.constants(places, _COUNTER.bits),
            store.constants(instance, _COUNTER.bits),
        )
        fields = wrapped.reshape(len(matrices), WARP_LANES, -1)
        return self.packing.pack(TermAlgebra(store), fields)

    def matrices(self, store: TermStore, registers: Ids) -> tuple[Ids, NDArray[np.bool_]]:
        """Return the matrices (warps, rows, columns) that registers hold, and which warps hold one.

        A warp holds one if its elements are treated alike.
        """
        algebra = TermAlgebra(store)
        positions = self.packing.positions
        fields = [algebra.extract(registers, low, self.format) for low in positions]
        elements = np.stack(fields, axis=-1).reshape(len(registers), -1)
        rows, columns = self.extents
        unwrapped, fine = self._unwrapped(store, elements)
        return unwrapped[:, : rows * columns].reshape(-1, rows, columns), fine

    def _unwrapped(self, store: TermStore, elements: Ids) -> tuple[Ids, NDArray[np.bool_]]:
        own = store.number(self.token)
        places = store.constants(np.arange(self.places), _COUNTER.bits)
        arguments = store.arguments(elements)
        if (
            (store.operation_numbers(elements) == own).all()
            and (arguments[..., 1] == places).all()
            and (arguments[..., 2] == arguments[:, :1, 2]).all()
        ):
            return arguments[..., 0], np.ones(len(elements), dtype=bool)
        inner = _Rebuilt(store, lambda _, tokens: store.arguments(tokens)[:, 0]).values(elements)
        names = _Rebuilt(store, lambda _, tokens: self._shadows(store, tokens)).values(elements)
        fine = (names == names[:, :1]).all(axis=1)
        fine &= ~_tokens_elsewhere(store, elements, own, places)
        return inner, np.asarray(fine)

    def _shadows(self, store: TermStore, tokens: Ids) -> Ids:
        """Return in place of tokens what does not depend on their place."""
        instances = store.arguments(tokens)[:, 2]
        return store.apply(operations.function("wmma fragment", self.format, _COUNTER), instances)


def is_token(operation: Operation) -> bool:
    """Tell whether an operation wraps an element of a fragment."""
    return operation.name == FUNCTION and str(operation.attribute).startswith(_MARK)


class _Wrapped(Domain):
    """A domain of which tokens are leaves.

    Parameters
    ----------
    store : TermStore
        The terms.
    of_token : callable
        What tokens of an operation are.
    """

    def __init__(self, store: TermStore, of_token: Callable[[Operation, Ids], Any]) -> None:
        super().__init__(store)
        self._of_token = of_token

    def depends(self, operation: Operation, terms: Ids, read: Format | None) -> Iterable[Reading]:
        return [] if is_token(operation) else super().depends(operation, terms, read)

    def transfer(self, operation: Operation, terms: Ids, read: Format | None) -> Any:
        if is_token(operation):
            return self._of_token(operation, terms)
        return super().transfer(operation, terms, read)


class _Rebuilt(_Wrapped, Rewriting):
    """Terms with something in place of their tokens."""


_NONE = np.iinfo(np.int32).min
"""The mark of a term without tokens."""


class _Marked(_Wrapped):
    """The highest of the marks of a term's tokens."""

    join = np.maximum

    def leaf(self, operation: Operation, terms: Ids) -> int:
        return _NONE


def _tokens_elsewhere(store: TermStore, elements: Ids, own: int, places: Ids) -> NDArray[np.bool_]:
    """Tell which warps' elements (warps, places) depend on tokens of another kind, or another place."""
    kind = store.operations[own]

    def highest(operation: Operation, tokens: Ids) -> Any:
        return store.arguments(tokens)[:, 1] if operation == kind else np.iinfo(np.int32).max

    def lowest(operation: Operation, tokens: Ids) -> Any:
        return -store.arguments(tokens)[:, 1] if operation == kind else np.iinfo(np.int32).max

    most, least = (_Marked(store, each).values(elements) for each in (highest, lowest))
    elsewhere = (most != _NONE) & ((most != places) | (least != -places))
    return np.asarray(elsewhere.any(axis=1))


def leaked(store: TermStore, terms: Ids) -> NDArray[np.bool_]:
    """Tell which terms depend on where a fragment has its elements."""
    if not any(is_token(operation) for operation in store.operations):
        return np.zeros(np.shape(terms), dtype=bool)
    return np.asarray(_Marked(store, lambda *_: 1).values(np.asarray(terms)) == 1)
