"""Certificates by comparison: what the specification says, entry by entry, against what a document states.

The tables that documents print are written down again in the packages ``stated``, from the document alone;
they import nothing of the specification, and nothing of the specification imports them. A fault in one of
the two tables is a difference between them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np

from ..spec.algebra import Array
from ..spec.errors import InputError
from ..spec.instruction_set import instruction_set
from .obligation import Certificate

Asked = ParamSpec("Asked")

REFUSED = "refused"
"""What tables call what is refused."""


def refused(read: Callable[[], object]) -> bool:
    """Tell whether what reads a text refuses it."""
    try:
        read()
    except InputError:
        return True
    return False


def refusal_is(
    answer: object, *errors: type[Exception]
) -> Callable[[Callable[Asked, object]], Callable[Asked, object]]:
    """Return the decorator of a question whose answer is `answer` where it is refused.

    Parameters
    ----------
    answer : object
        What a refusal is to say.
    *errors : exception classes
        What refusals are; by default `InputError`.
    """
    caught = errors or (InputError,)

    def decorated(question: Callable[Asked, object]) -> Callable[Asked, object]:
        @wraps(question)
        def answering(*given: Asked.args, **named: Asked.kwargs) -> object:
            try:
                return question(*given, **named)
            except caught:
                return answer

        return answering

    return decorated


UNREADABLE = "text"
"""Stands for the rules of a text that can't be read."""


def broken_rules(isa: str, text: str, target: str) -> frozenset[str]:
    """Return the ids of the rules that a text breaks on a target; `UNREADABLE` of one that can't be read."""
    try:
        judgement = instruction_set(isa).read(text).legal(target)
    except InputError:
        return frozenset({UNREADABLE})
    return frozenset(violation.rule.id for violation in judgement.violations)


Key = TypeVar("Key", bound=Hashable)

SHOWN = 200
"""Characters of an entry that a message has."""


def compared(
    stated: Mapping[Key, object],
    specified: Callable[[], Mapping[Key, object] | Iterable[tuple[Key, object]]],
) -> Certificate:
    """Return the certificate that two tables have the same entries under the same keys.

    Parameters
    ----------
    stated : mapping
        What the document says.
    specified : callable
        Returns what the specification says: a mapping, or its keys with their entries.
    """
    return Certificate(lambda: difference(stated, dict(specified())), len(stated), stated=True)


def whole_numbers(shape: tuple[int, ...], largest: int, seed: int) -> Array:
    """Return whole numbers for a product to be compared on, by a generator.

    All from -`largest` to `largest` come equally often, in random order: of numbers with a period, rows a
    period apart are alike, and nobody notices their exchange.
    """
    random, size = np.random.default_rng(seed), math.prod(shape)
    every = np.arange(-largest, largest + 1)
    shuffled = [random.permutation(every) for _ in range(-(-size // len(every)))]
    return np.asarray(np.concatenate(shuffled)[:size].reshape(shape))


def difference(stated: Mapping[Key, object], specified: Mapping[Key, object]) -> str | None:
    """Return the first entry in which two tables differ; None where they are equal."""
    for key, entry in stated.items():
        if key not in specified:
            return f"{_spelled(key)} is stated, and not specified"
        if specified[key] != entry:
            return f"{_spelled(key)}: {_spelled(entry)} is stated, {_spelled(specified[key])} specified"
    surplus = next((key for key in specified if key not in stated), None)
    return None if surplus is None else f"{_spelled(surplus)} is specified, and not stated"


def arrays_compared(
    stated: Mapping[str, Array], specified: Callable[[], Mapping[str, Array] | Iterable[tuple[str, Array]]]
) -> Certificate:
    """Return the certificate that arrays are the same elements, of one kind; of floats every NaN is one.

    Parameters
    ----------
    stated : mapping of str to array
        What the document says.
    specified : callable
        Returns what the specification says, as of `compared`.
    """

    def found() -> str | None:
        said = dict(specified())
        if said.keys() != stated.keys():
            return f"{_spelled(frozenset(said.keys() ^ stated.keys()))}: only one of the two has it"
        return next(filter(None, (_differing(name, stated[name], said[name]) for name in stated)), None)

    return Certificate(found, sum(map(np.size, stated.values())), stated=True)


def _differing(name: str, stated: Array, specified: Array) -> str | None:
    """Return the first element in which two arrays differ."""
    if np.shape(stated) != np.shape(specified):
        return f"{name}: the shape {np.shape(stated)} is stated, {np.shape(specified)} specified"
    if (stated.dtype.kind == "f") != (specified.dtype.kind == "f"):
        return f"{name}: {stated.dtype} is stated, {specified.dtype} specified"
    wrong = _identities(stated) != _identities(specified)
    if not wrong.any():
        return None
    at = tuple(int(place) for place in np.argwhere(wrong)[0])
    return f"{name} {at}: {stated[at]} is stated, {specified[at]} specified"


def _identities(array: Array) -> Any:
    """Return what tells elements apart: of floats the bits, which tell zeros apart, all NaNs alike."""
    if array.dtype.kind != "f":
        return array
    wide = np.asarray(array, dtype=np.float64)
    return np.where(np.isnan(wide), np.nan, wide).view(np.int64)


def _spelled(entry: object) -> str:
    if isinstance(entry, tuple):
        text = " ".join(map(_spelled, entry))
    else:
        text = str(sorted(map(str, entry))) if isinstance(entry, (set, frozenset)) else str(entry)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
