"""Words at places that an integer tells, as chains of selects: ``A[i]`` is ``where(i == 0, A[0], …)``."""

from __future__ import annotations

import numpy as np

from ...spec.formats import IntegerFormat
from . import operations
from .evaluation import Words, apply
from .interning import Ids
from .store import TermStore, is_raw


def word_at(store: TermStore, integers: Ids, codes: Words, words: Ids) -> Ids:
    """Return which of some words each integer tells.

    Parameters
    ----------
    store : TermStore
        Of the terms.
    integers : array (n,)
        Terms of one width.
    codes : array (E,)
        All that they may be, each once.
    words : array (n, E, …)
        The word for each code; all are equally wide.

    Returns
    -------
    array (n, …)
        Words, 0 for integers that are none of the codes.
    """
    choice = operations.select(int(store.widths(words.reshape(-1)[:1])[0]))
    found = np.broadcast_to(store.constants(0, choice.result.bits), (len(words), *words.shape[2:]))
    for index, code in enumerate(codes):
        holds = equal_to(store, integers, code)
        found = apply(store, choice, holds.reshape(-1, *[1] * (words.ndim - 2)), words[:, index], found)
    return found


def equal_to(store: TermStore, integers: Ids, code: np.uint64) -> Ids:
    """Return where integers are a number, compared as what they are, as formulas compare them."""
    found = np.empty(len(integers), dtype=np.int32)
    numbers = store.operation_numbers(integers)
    for number in np.unique(numbers):
        some, own = np.flatnonzero(numbers == number), store.operations[number].result
        fmt = own if isinstance(own, IntegerFormat) and not is_raw(own) else operations.signed(own.bits)
        equal = operations.compare(fmt, "eq")
        found[some] = apply(store, equal, integers[some], store.constants(code, fmt.bits))
    return found
