"""The equality engine made to answer "equal" always: what is left is what stands behind its word."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from mmaproof.refinement.analysis.rounding_depth import roundings
from mmaproof.refinement.equality import equivalence
from mmaproof.refinement.equality.equivalence import Comparison
from mmaproof.refinement.normal_forms.forms import NormalForms
from mmaproof.refinement.terms.interning import Ids
from mmaproof.spec.formats import Format


@contextmanager
def equality_forced() -> Iterator[None]:
    """Answer every comparison of terms with "equal", whatever they are, while the context lasts.

    The checker behind `equivalence.compare` stays in place, and so do the runs on numbers, definedness and
    races. Comparisons that were made before are not forgotten; verify kernels inside the context.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(equivalence, "_compared", _always_equal)
        taken = equivalence.taken
        patch.setattr(
            equivalence, "taken", lambda forms: replace(taken(forms), tolerance=equivalence._WRITTEN_OUT)
        )
        yield


def _always_equal(
    forms: NormalForms, actual: Ids, expected: Ids, fmt: Format, identical: NDArray[np.bool_], **_: object
) -> Comparison:
    equal = np.ones(len(actual), dtype=bool)
    if identical.all():
        return Comparison(identical, equal)
    rounded = ~identical
    return Comparison(identical, equal, roundings(forms.store, actual[rounded], expected[rounded]))
