"""Dependence of values that have to be concrete: on data, or on registers never written."""

from __future__ import annotations

from collections.abc import Collection, Iterable

import numpy as np

from ....spec.errors import UnsupportedError
from ....spec.open_results import OpenResult
from ...terms.assignments import Assignment
from ...terms.interning import Ids
from ...terms.store import INPUT, UNDEFINED, TermStore
from ...terms.traversal import leaves_of
from .values import KNOWN, Value


class DataDependenceError(UnsupportedError):
    """An address, branch, selector or shift is symbolic where it has to be concrete.

    Parameters
    ----------
    what : str
        What it is for, with its operand.
    value : Value
        What it is.
    why : str
        Why not both of what may be is looked at, if that could be.
    """

    def __init__(self, what: str, value: Value, why: str = "") -> None:
        super().__init__(f"{what} depends on data" + (f", and {why}" if why else ""))
        self.what, self.why = what, why
        assert value.terms is not None
        self.terms: Ids = value.terms[value.terms != KNOWN]


def require_known(what: str, value: Value) -> None:
    """Check that a value is a number in every thread.

    Raises
    ------
    DataDependenceError
        If it is not; `what` says what it is for.
    """
    if value.terms is not None and (value.terms != KNOWN).any():
        raise DataDependenceError(what, value)


def scalars_alone(store: TermStore, terms: Ids, scalars: Collection[int]) -> str:
    """Return the names of the scalars that terms depend on; nothing where they depend on other data too."""
    leaves = leaves_of(store, terms)
    given = leaves[store.are(INPUT, leaves)]
    if store.are(UNDEFINED, leaves).any() or not np.isin(given, list(scalars)).all():
        return ""
    return " and ".join(dict.fromkeys(str(store.operation(int(each)).attribute) for each in np.sort(given)))


def open_result(store: TermStore, terms: Ids) -> OpenResult | None:
    """Return a result that PTX leaves open, of those that terms depend on, where there is one."""
    leaves = leaves_of(store, terms)
    found = (store.operation(int(leaf)).attribute for leaf in leaves[store.are(UNDEFINED, leaves)])
    return next((each for each in found if isinstance(each, OpenResult)), None)


def never_written(store: TermStore, terms: Ids, registers: Iterable[tuple[str, Ids]]) -> str | None:
    """Return the register to blame for terms that are no number: one never written.

    Parameters
    ----------
    store : TermStore
        The terms.
    terms : array
        Terms that should be numbers.
    registers : iterable of (str, array)
        Names of registers that were read without having been written, and the undefined terms read.

    Returns
    -------
    str or None
        A name; None if some of the terms depend on the kernel's data, or all on what else is undefined, or
        if they have one value whatever the registers held (``x - x``).
    """
    leaves = leaves_of(store, terms)
    if store.are(INPUT, leaves).any() or not _varies(store, terms):
        return None
    return next((name for name, undefined in registers if np.isin(leaves, undefined).any()), None)


def _varies(store: TermStore, terms: Ids) -> bool:
    """Tell whether terms without inputs depend on what is undefined; of predicates that is assumed."""
    if (store.widths(terms) == 1).any():
        return True
    try:
        one, other = (Assignment(store, {}, undefined=filled).values(terms) for filled in (0x5A, 0xA5))
    except UnsupportedError:
        return False
    return bool((one != other).any())
