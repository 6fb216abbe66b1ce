"""Faults in sums, in how arrays are taken and how layouts are evaluated are refuted by what is stated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mmaproof.proofs.families import arithmetic, digit_layouts, matrix_sums, named_arrays, packed_bytes
from mmaproof.proofs.obligation import Certificate, Theorem
from mmaproof.spec import float_arithmetic, layout_terms, operand_arrays, rearrangement
from mmaproof.spec.drawn_arrays import DrawnArrays
from mmaproof.spec.formats import F16, F32
from mmaproof.spec.fragment import Packing, Selection
from mmaproof.spec.layout import Layout
from mmaproof.spec.numpy_algebra import NumpyAlgebra
from mmaproof.spec.rounding import Rounding

FUSED = arithmetic.fused("toy", lambda: [(F16, F16, F32)])
SUMS, BYTES = matrix_sums.matrix_sums("toy"), packed_bytes.packed_bytes("toy")
ARRAYS, DIGITS = named_arrays.named_arrays("toy"), digit_layouts.digit_layouts("toy")

Change = Callable[[Callable[..., Any]], Callable[..., Any]]

MUTANTS: dict[str, tuple[Theorem, object, str, Change]] = {
    "fused/f16-f16-f32": (FUSED, float_arithmetic, "sum_to_odd", lambda old: lambda x, y: x + y),
    "fused/f16-f16-f32/special": (
        FUSED, float_arithmetic, "exact_sum", lambda old: lambda _, terms: old(Rounding.NEAREST_EVEN, terms),
    ),
    "fused/batches": (
        FUSED, float_arithmetic, "_in_blocks", lambda old: lambda *rest: np.roll(old(*rest), 1, axis=None),
    ),
    "fused/refused": (
        FUSED, float_arithmetic, "require_exact_terms",
        lambda old: lambda result, *rest: result == F32 or old(result, *rest),
    ),
    "sums/integers": (SUMS, matrix_sums, "integer_sum", lambda old: lambda alg, x, y, live: old(alg, x, y)),
    "sums/chains": (SUMS, matrix_sums, "unfused", lambda old: lambda step: step),
    "bytes/packed": (
        BYTES, NumpyAlgebra, "unpack", lambda old: lambda self, data, fmt: old(self, data[..., ::-1], fmt),
    ),
    "bytes/fields": (
        BYTES, NumpyAlgebra, "extract", lambda old: lambda self, words, low, fmt: old(self, words, 0, fmt),
    ),
    "bytes/flags": (BYTES, NumpyAlgebra, "flags", lambda old: lambda *rest: old(*rest)[..., ::-1]),
    "arrays/taken": (ARRAYS, operand_arrays, "refuse_unknown", lambda old: lambda *_: None),
    "arrays/literals": (
        ARRAYS, DrawnArrays, "of_shape",
        lambda old: lambda self, name, shape: None if name.endswith("_bits") else old(self, name, shape),
    ),
    "arrays/drawn": (
        ARRAYS, named_arrays, "drawn", lambda old: lambda *arguments: old(*arguments) >> 1,
    ),
    "arrays/batches": (
        ARRAYS, operand_arrays, "blocks", lambda old: lambda count, length: list(old(count, length))[:1],
    ),
    "arrays/views": (ARRAYS, Packing, "unpack", lambda old: lambda self, *rest: old(self, *rest)[..., ::-1]),
    "digits/maps": (
        DIGITS, layout_terms.Term, "of", lambda old: lambda self, at: old(replace(self, extent=2), at),
    ),
    "digits/text": (
        DIGITS, layout_terms.Term, "__str__", lambda old: lambda self: f"{self.factor}·{self.name}",
    ),
    "digits/bijections": (DIGITS, Layout, "rank_defect", lambda old: lambda self: None),
    "digits/regrouped": (
        DIGITS, Layout, "regrouped", lambda old: lambda self, **axes: replace(old(self, **axes), origin=())
    ),
    "digits/rearranged": (
        DIGITS, rearrangement, "_placed",
        lambda old: lambda axes, names, extents, binary: old(axes, sorted(names), extents, binary),
    ),
    "digits/packed": (
        DIGITS, Packing, "pack", lambda old: lambda self, *rest: old(self, *rest) + np.uint32(1),
    ),
    "digits/selected": (
        DIGITS, Selection, "gather",
        lambda old: lambda self, *rest: old(replace(self, at=self.at[:1]), *rest),
    ),
}  # fmt: skip


def defect(theorem: Theorem, name: str) -> str | None:
    (obligation,) = (o for o in theorem.obligations() if o.id == f"toy/stated/{name}")
    goal = obligation.goal()
    assert isinstance(goal, Certificate)
    return goal.check()


@pytest.mark.parametrize("name", MUTANTS)
def test_a_fault_is_refuted(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    theorem, owner, attribute, change = MUTANTS[name]
    assert defect(theorem, name) is None
    monkeypatch.setattr(owner, attribute, change(getattr(owner, attribute)))
    assert defect(theorem, name) is not None
