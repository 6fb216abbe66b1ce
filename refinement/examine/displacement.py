"""Displaced outputs: elements that hold the values of other elements, and by which rule."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import Format
from ..normal_forms.forms import NormalForms
from ..normal_forms.polynomials import ExpansionError
from ..terms.interning import Ids

Indices = NDArray[np.intp]

NOWHERE = -1
"""What an element holds no other is to hold."""

_AXES = "ijkl"


def sources(forms: NormalForms, terms: Ids, expected: Ids, covered: Indices, fmt: Format) -> Indices | None:
    """Return for each of some values at wrong elements the element that is to hold it.

    Parameters
    ----------
    forms : NormalForms
        Of the store.
    terms : array (n,)
        The values.
    expected : array (elements,)
        What they are to hold.
    covered : array (m,)
        Those of which that is known.
    fmt : Format
        In which they are compared.

    Returns
    -------
    array (n,), optional
        None unless there is one for each: then nothing is wrong with them but their places.
    """
    if forms.are_slow(terms).any() != forms.are_slow(expected[covered]).any():
        return None  # one computes functions or extrema, and the other does not
    try:
        held = forms.identifiers(terms, fmt)
        wanted = forms.identifiers(expected[covered], fmt)
    except ExpansionError:
        return None
    order = np.argsort(wanted, kind="stable")
    places = np.minimum(np.searchsorted(wanted, held, sorter=order), len(order) - 1)
    found: Indices = covered[order[places]]
    same = wanted[order[places]] == held
    distinct = len(np.unique(held)) > min(len(held), 2) // 2  # of one constant, nobody knows whose it is
    return found if same.all() and distinct and not _constant(forms, terms, held) else None


def _constant(forms: NormalForms, terms: Ids, held: NDArray[np.int32]) -> bool:
    """Tell whether what elements hold is a number, the same whatever the inputs are."""
    return bool(forms.store.are("constant", terms).any() or (held == 0).any())


def rule(name: str, shape: tuple[int, ...], members: Indices, found: Indices) -> str:
    """Spell which elements hold what others are to hold: ``C[i,j] holds what C[i,j+1] should``."""
    to = np.stack(np.unravel_index(members, shape)).astype(np.int64)
    of = np.stack(np.unravel_index(found, shape)).astype(np.int64)
    if len(shape) <= len(_AXES):
        axes = list(_AXES[: len(shape)])
        if len(shape) == 2 and (of == to[::-1]).all():
            return f"{name}[i,j] holds what {name}[j,i] should"
        spelled = [_index(axis, *pair) for axis, pair in zip(axes, zip(to, of, strict=True), strict=True)]
        if all(each is not None for each in spelled):
            return f"{name}[{','.join(axes)}] holds what {name}[{','.join(map(str, spelled))}] should"
    first = [",".join(map(str, each[:, 0])) for each in (to, of)]
    return f"{name}[{first[0]}] holds what {name}[{first[1]}] should"


def _index(axis: str, to: NDArray[np.int64], of: NDArray[np.int64]) -> str | None:
    """Spell one index by another, if one rule does it for all."""
    distance = of - to
    if (distance == distance[0]).all():
        return f"{axis}{int(distance[0]):+d}" if distance[0] else axis
    flipped = of ^ to
    if (flipped == flipped[0]).all():
        return f"{axis}^{int(flipped[0])}"
    return str(int(of[0])) if (of == of[0]).all() else None
