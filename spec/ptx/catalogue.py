"""The matrix instructions of PTX on warps and warpgroups: what shapes, types and modifiers go together.

Register counts, layouts, semantics, legality and the published tables all follow from the rows
collected here.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from .matrix_move_forms import MATRIX_MOVE_FORMS, MatrixMoveForm
from .mma_forms import DENSE_FORMS, MmaForm
from .sparse_mma_forms import SPARSE_FORMS
from .variant import Family
from .wgmma_forms import WARPGROUP_ORDER_FORMS, WGMMA_FORMS, WarpgroupOrderForm, WgmmaForm
from .wmma_forms import WMMA_FORMS, WmmaForm

Form = MmaForm | WmmaForm | MatrixMoveForm | WgmmaForm | WarpgroupOrderForm
"""A row."""

WARP_FORMS: tuple[MmaForm | WmmaForm | MatrixMoveForm, ...] = (
    *WMMA_FORMS, *DENSE_FORMS, *SPARSE_FORMS, *MATRIX_MOVE_FORMS,
)  # fmt: skip
"""Every row of the instructions of a warp."""

ALL_FORMS: tuple[Form, ...] = (*WARP_FORMS, *WGMMA_FORMS, *WARPGROUP_ORDER_FORMS)
"""Every row of every instruction."""


def _by_family() -> dict[Family, tuple[Form, ...]]:
    return {family: tuple(form for form in ALL_FORMS if family in form.families) for family in Family}


_FORMS: Mapping[Family, tuple[Form, ...]] = MappingProxyType(_by_family())


def forms(family: Family) -> tuple[Form, ...]:
    """Return the rows of an instruction."""
    return _FORMS[family]
