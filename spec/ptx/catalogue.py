"""The warp-level matrix instructions of PTX: what shapes, types and modifiers go together.

Register counts, layouts, semantics, legality and the published tables all follow from the rows
collected here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from .matrix_move_forms import MATRIX_MOVE_FORMS, MatrixMoveForm
from .mma_forms import DENSE_FORMS, MmaForm
from .sparse_mma_forms import SPARSE_FORMS
from .targets import Availability
from .variant import Family, Variant
from .wmma_forms import WMMA_FORMS, WmmaForm

Form = MmaForm | WmmaForm | MatrixMoveForm
"""A row."""

ALL_FORMS: tuple[Form, ...] = (*WMMA_FORMS, *DENSE_FORMS, *SPARSE_FORMS, *MATRIX_MOVE_FORMS)
"""Every row of every instruction."""

_WMMA = (Family.WMMA_LOAD, Family.WMMA_STORE, Family.WMMA_MMA)


def families(form: Form) -> tuple[Family, ...]:
    """Return the instructions a row is about: the three of ``wmma``, else one."""
    return _WMMA if isinstance(form, WmmaForm) else (form.family,)


def _by_family() -> dict[Family, tuple[Form, ...]]:
    return {family: tuple(form for form in ALL_FORMS if family in families(form)) for family in Family}


_FORMS: Mapping[Family, tuple[Form, ...]] = MappingProxyType(_by_family())


def forms(family: Family) -> tuple[Form, ...]:
    """Return the rows of an instruction."""
    return _FORMS[family]


def variants(form: Form) -> Iterator[Variant]:
    """Yield every legal variant of a row in its canonical spelling."""
    return form.variants()


def availability(form: Form, variant: Variant) -> Availability:
    """Return where and since when a row's variant can be used."""
    if isinstance(form, WmmaForm):
        return form.availability(variant.bit_operation)
    return form.available


def canonical(form: Form, variant: Variant) -> Variant:
    """Return a row's variant with its default vector size of block scaling spelled."""
    if isinstance(form, MmaForm) and variant.block_scale and variant.scale_vec is None:
        return replace(variant, scale_vec=form.scale_vec)
    return variant
