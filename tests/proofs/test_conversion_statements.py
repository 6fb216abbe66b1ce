"""Faults in how numbers become encodings, and encodings numbers, are refuted by what is stated of formats."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mmaproof.proofs.comparison import arrays_compared
from mmaproof.proofs.families import conversions
from mmaproof.proofs.obligation import Certificate
from mmaproof.spec import float_encoding, numpy_algebra, values
from mmaproof.spec.formats import FORMATS
from mmaproof.spec.mfma.targets import E4M3FNUZ
from mmaproof.spec.rounding import Rounding

STATED = conversions.conversions("toy", lambda: [*FORMATS.values(), E4M3FNUZ])


def defect(name: str) -> str | None:
    (obligation,) = (o for o in STATED.obligations() if o.id == f"toy/stated/conversions/{name}")
    goal = obligation.goal()
    assert isinstance(goal, Certificate)
    return goal.check()


def wrong(owner: object, name: str, change: Callable[[Any], Any]) -> Any:
    return owner, name, change(getattr(owner, name))


MUTANTS = {
    "f16": wrong(float_encoding, "_outward", lambda old: lambda n, r: ~old(n, r)),
    "tf32": wrong(float_encoding, "_increment", lambda old: lambda last, *rest: old(last ^ 1, *rest)),
    "e4m3": wrong(float_encoding, "default_nan", lambda old: lambda fmt: old(fmt) - 1),
    "e2m1": wrong(conversions, "decode", lambda old: lambda bits, fmt: old(bits ^ 1, fmt)),
    "e4m3fnuz": wrong(
        conversions, "encode", lambda old: lambda v, fmt, r: old(v, fmt, Rounding.NEAREST_EVEN)
    ),
    "f32/given": wrong(
        values, "_encode_floats", lambda old: lambda v, fmt: (old(v, fmt)[0], np.ones(v.shape, bool))
    ),
    "s8/given": wrong(
        values, "_encode_integers", lambda old: lambda v, fmt: (old(v, fmt)[0], np.ones(v.shape, bool))
    ),
    "u4/given": wrong(conversions, "checked_encodings", lambda old: lambda name, bits, fmt: bits),
    "held": wrong(
        conversions,
        "decode",
        lambda old: lambda bits, fmt: old(bits, fmt) if fmt.fraction_bits > 52 else np.zeros(bits.shape),
    ),
    "bf16": wrong(
        conversions,
        "encode",
        lambda old: lambda v, fmt, r: old(np.where(np.abs(v) < 2.0**-1000, np.copysign(0.0, v), v), fmt, r),
    ),
    "f64/given": wrong(values, "_NATIVE", lambda old: ("f16", "f32")),
    "u16/given": wrong(
        values, "numpy_type", lambda old: lambda fmt: np.dtype("i2") if fmt.name == "u16" else old(fmt)
    ),
    "payloads": wrong(
        numpy_algebra,
        "widen_nan",
        lambda old: (
            lambda bits, fmt, result: old(bits, fmt, result) & result.storage.type(result.sign_mask - 1)
        ),
    ),
    "s32": wrong(conversions.NumpyAlgebra, "saturate", lambda old: conversions.NumpyAlgebra.wrap),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_fault_is_refuted(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert defect(name) is None
    owner, attribute, changed = MUTANTS[name]
    monkeypatch.setattr(owner, attribute, changed)
    assert defect(name) is not None


def test_arrays_differ_in_elements_shapes_kinds_and_names() -> None:
    zeros, nan = np.zeros(2), np.array([np.nan, 0.0])
    same = {"x": nan}
    assert arrays_compared(same, lambda: {"x": -nan * [1, -1]}).check() is None
    for other in (
        {"x": np.array([np.nan, -0.0])},
        {"x": zeros},
        {"x": nan[:1]},
        {"y": nan},
        {"x": zeros > 0},
    ):
        assert arrays_compared(same, lambda other=other: other).check() is not None
    assert arrays_compared({"x": zeros}, lambda: {"x": np.array([0, 3.0])}).check() == (
        "x (1,): 0.0 is stated, 3.0 specified"
    )
