"""Elements of arrays in formulas, also at an index that is data, as in ``W[token[i], j]``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import IntegerFormat
from ..analysis.enumerated_words import MOST, EnumeratedWords
from ..contract.arguments import Array
from ..formula.tree import Element, Node
from ..terms.chosen_words import word_at
from ..terms.evaluation import integers
from ..terms.interning import Ids
from ..terms.store import CONSTANT, TermStore
from .formula_space import FormulaSpace, Scope
from .term_arithmetic import Value


def elements(
    store: TermStore,
    space: FormulaSpace,
    element: Element,
    scope: Scope,
    index_of: Callable[[Node, Scope], Value],
) -> Ids:
    """Return the terms (over the space) of an element.

    Parameters
    ----------
    store : TermStore
        Of the terms.
    space : FormulaSpace
        Of the formula.
    element : Element
        The element.
    scope : Scope
        Where it is.
    index_of : callable
        Makes the terms of an index that is data.

    Raises
    ------
    InputError
        If an index may lie outside the array, or one that is data has more than `MOST` values.
    """
    array = space.instance.arrays[element.array]
    axes = [axis for axis, each in enumerate(element.indices) if not space.kinds.is_concrete(each)]
    if not axes:
        return element_terms(array, space.linear(element, scope), store)
    if len(axes) > 1:
        raise space.source.error(
            element.at, f"{len(axes)} indices of {element.array} are data; at most one may be"
        )
    (axis,) = axes
    node, shape = element.indices[axis], array.shape
    index = index_of(node, scope)
    assert isinstance(index.format, IntegerFormat)
    stride = int(np.prod(shape[axis + 1 :], dtype=np.int64))
    first = space.linear(element, scope, lambda _: np.zeros((1,) * space.rank, dtype=np.int64))
    start, terms = np.broadcast_arrays(first, index.terms)
    found = np.full(terms.size, -1, dtype=np.int32)

    def placed(numbers: NDArray[np.int64], members: NDArray[np.intp]) -> Ids:
        wrong = numbers[(numbers < 0) | (numbers >= shape[axis])]
        if len(wrong):
            raise space.source.error(
                node.at,
                f"index {axis + 1} of {element.array} may be {wrong[0]}, outside 0 to {shape[axis] - 1}: "
                "bound it by conditions in [requires]",
            )
        return element_terms(array, start.reshape(-1)[members, None] + stride * numbers, store)

    flat = terms.reshape(-1)
    for each in EnumeratedWords(store).of(flat):
        own = signed_numbers(each.words, index.format)
        found[each.places] = word_at(store, each.integers, each.codes, placed(own, each.places))
    known = np.flatnonzero(store.are(CONSTANT, flat))
    own = signed_numbers(store.constant_values(flat[known]), index.format)
    found[known] = placed(own[:, None], known)[:, 0]
    if (found < 0).any():
        raise space.source.error(
            node.at,
            f"index {axis + 1} of {element.array} is data, which may have more than {MOST} values: "
            "bound it by conditions in [requires]",
        )
    return found.reshape(terms.shape)


def element_terms(array: Array, linear: Any, store: TermStore) -> Ids:
    """Return the terms of an array's elements before the kernel, by their linear indices."""
    if array.contents is None:
        return store.inputs(array.name, array.format, linear)
    return store.constants(array.contents[linear], array.format.bits)


def signed_numbers(words: NDArray[np.uint64], fmt: IntegerFormat) -> NDArray[np.int64]:
    """Return words as the numbers of a format."""
    return np.asarray(integers(words, fmt)).astype(np.int64)
