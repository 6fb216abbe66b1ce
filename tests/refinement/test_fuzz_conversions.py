"""Random chains of conversions and functions: nothing is right for all data that is wrong on given ones."""

from __future__ import annotations

from random import Random

import pytest

from mmaproof.refinement.findings.result import Verdict

from ..elementwise_kernels import result_of

EIGHT = (
    "cvt.rn.satfinite.{name}x2.f32 %h1, {a}, {a}; cvt.rn.f16x2.{name}x2 %r1, %h1; "
    "mov.b32 {{%h2, %h3}}, %r1; cvt.f32.f16 {b}, %h2;"
)
STEPS = {
    "f16": ("cvt.rn.f16.f32 %h1, {a}; cvt.f32.f16 {b}, %h1;", "f16({x})"),
    "bf16": ("cvt.rn.bf16.f32 %h1, {a}; mov.b32 {b}, {{0, %h1}};", "bf16({x})"),
    "tf32": ("cvt.rna.tf32.f32 %r1, {a}; mov.b32 {b}, %r1;", "tf32({x})"),
    "e4m3": (EIGHT, "e4m3({x})"),
    "e5m2": (EIGHT, "e5m2({x})"),
    "s8": ("cvt.rni.s8.f32 %r1, {a}; cvt.rn.f32.s32 {b}, %r1;", "f32(s8(round({x})))"),
    "s32": ("cvt.rzi.s32.f32 %r1, {a}; cvt.rn.f32.s32 {b}, %r1;", "f32(s32({x}))"),
    "clamped": ("cvt.sat.f32.f32 {b}, {a};", "max(min({x}, 1.0), 0.0)"),
    "clamped half": ("cvt.rn.satfinite.f16.f32 %h1, {a}; cvt.f32.f16 {b}, %h1;", "f16({x})"),
    "integral": ("cvt.rni.f32.f32 {b}, {a};", "f32(s32(round({x})))"),
    "relu": ("max.f32 {b}, {a}, 0f00000000;", "relu({x})"),
    "bounded": ("max.f32 {b}, {a}, 0fFF800000;", "({x})"),
    "negated": ("neg.f32 {b}, {a};", "-({x})"),
    "halved": ("mul.f32 {b}, {a}, 0f3F000000;", "({x}) / 2"),
    "squared": ("mul.f32 {b}, {a}, {a};", "({x}) * ({x})"),
}
"""What a kernel does to a number, and how a formula says it, or nearly so."""

READ = {"f32": "mov.b32 %f0, %A;", "f16": "cvt.f32.f16 %f0, %A;", "s16": "cvt.rn.f32.s16 %f0, %A;"}

DATA: dict[str, list[float]] = {
    "f32": [1.0626220703125, -3.0, 500.25, 0.0, 70000.0, -(2.0**100), 2.0**-140, 2.5],
    "f16": [1.0625, -3.0, 500.25, 0.0, 65504.0, -0.4375, 2.0**-24, 2.5],
    "s16": [1, -3, 500, 0, 32767, -32768, 257, 17],
}
CASES = 20


@pytest.mark.sample(1)
@pytest.mark.parametrize("seed", range(3))
def test_all_data_are_not_right_where_given_data_are_wrong(seed: int) -> None:
    random = Random(seed)
    verdicts = []
    for _ in range(CASES):
        steps = random.choices(list(STEPS), k=random.randint(1, 3))
        said = list(steps)
        if random.random() < 1 / 2:
            said.insert(random.randrange(len(said) + 1), random.choice(["f16", "tf32", "e4m3", "relu"]))
        if random.random() < 1 / 4:
            random.shuffle(said)
        body, formula, of = "", "A[i]", random.choice(list(READ))
        for index, name in enumerate(steps):
            body += STEPS[name][0].format(name=name, a=f"%f{index}", b=f"%f{index + 1}")
        for name in said:
            formula = STEPS[name][1].format(x=formula)
        whole = f"{READ[of]} {body} mov.b32 %C, %f{len(steps)};"
        arrays = {"A": of, "C": "f32 out"}
        verdicts.append(result_of(whole, f"C[i] = {formula}", arrays, target="sm_100a").verdict)
        if verdicts[-1] is Verdict.VERIFIED:
            given = result_of(whole, f"C[i] = {formula}", arrays, values={"A": DATA[of]}, target="sm_100a")
            assert given.verdict is not Verdict.REFUTED, (of, steps, formula)
    assert {Verdict.VERIFIED, Verdict.REFUTED} <= set(verdicts)
