"""Scalars that may be anything and decide a branch: every case is looked at, and told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mmaproof.refinement.conditions.scalar_cases import EVERY
from mmaproof.refinement.conditions.scalar_conditions import Condition, deciding
from mmaproof.refinement.findings.result import Result
from mmaproof.refinement.kernel_replay import document_of_kernel, replay
from mmaproof.refinement.terms import operations
from mmaproof.refinement.terms.store import TermStore
from mmaproof.refinement.verification import Verification, verify
from mmaproof.spec.formats import F32, format_named

KERNEL = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry scale(.param .u64 A, .param .u64 C, .param .f32 alpha, .param .f32 beta)
{
    .reg .pred %p<4>; .reg .b32 %r<4>; .reg .b64 %d<6>; .reg .f32 %f<8>;
    ld.param.u64 %d1, [A]; ld.param.u64 %d2, [C]; ld.param.f32 %f1, [alpha]; ld.param.f32 %f2, [beta];
    mov.u32 %r1, %tid.x; mul.wide.u32 %d3, %r1, 4; add.s64 %d4, %d1, %d3; add.s64 %d5, %d2, %d3;
    ld.global.f32 %f3, [%d4]; mul.rn.f32 %f4, %f3, %f1;
    setp.eq.f32 %p1, %f2, 0f00000000;
    @%p1 bra PLAIN;
    ld.global.f32 %f5, [%d5];
    fma.rn.f32 %f6, %f5, %f2, %f4;
    st.global.f32 [%d5], %f6;
    ret;
PLAIN:
    st.global.f32 [%d5+0], %f4;
    ret;
}
"""

CONTRACT = """
[kernel]
isa = "ptx"
[launch]
block = 32
[[param]]
name = "A"
type = "f32"
shape = [32]
[[param]]
name = "C"
type = "f32"
shape = [32]
access = "inout"
[[param]]
name = "alpha"
type = "f32"
[[param]]
name = "beta"
type = "f32"
"""

ENSURES = """
[ensures]
formula = "C[i] = alpha * A[i] + beta * old(C[i])"
"""

BRANCH = "setp.eq.f32 %p1, %f2, 0f00000000;"


def verification(folder: Path, *changes: tuple[str, str], contract: str = CONTRACT + ENSURES) -> Verification:
    kernel = KERNEL
    for there, instead in changes:
        assert there in kernel
        kernel = kernel.replace(there, instead)
    (folder / "scale.ptx").write_text(kernel, encoding="utf-8")
    (folder / "scale.toml").write_text(contract, encoding="utf-8")
    return verify(folder / "scale.ptx", folder / "scale.toml")


def result_of(folder: Path, *changes: tuple[str, str], contract: str = CONTRACT + ENSURES) -> Result:
    return verification(folder, *changes, contract=contract).result


def cases_of(result: Result) -> dict[str, str]:
    return {case.case: str(case.verdict) for case in result.cases}


def test_both_ways_are_cases(tmp_path: Path) -> None:
    result = result_of(tmp_path)
    assert (result.verdict, result.equality) == ("verified", "value")
    assert [str(case) for case in result.cases] == [
        "beta = 0: verified (value)",
        "beta ≠ 0: verified (value)",
    ]
    assert not any("beta" in assumption for assumption in result.assumptions)


@pytest.mark.parametrize(
    "branch",
    [
        "setp.neu.f32 %p2, %f2, 0f00000000; not.pred %p1, %p2;",
        "setp.eq.f32 %p1, 0f80000000, %f2;",
        "setp.eq.f32 %p2, %f2, 0f00000000; setp.lt.u32 %p3, %r1, 40; and.pred %p1, %p2, %p3;",
        "setp.eq.f32 %p2, %f2, 0f00000000; selp.u32 %r2, 1, 0, %p2; setp.ne.u32 %p1, %r2, 0;",
    ],
)
def test_spellings_of_one_condition(branch: str, tmp_path: Path) -> None:
    assert cases_of(result_of(tmp_path, (BRANCH, branch))) == {"beta = 0": "verified", "beta ≠ 0": "verified"}


def test_threads_may_go_different_ways(tmp_path: Path) -> None:
    branch = f"{BRANCH} setp.lt.u32 %p2, %r1, 5; and.pred %p1, %p1, %p2;"
    assert cases_of(result_of(tmp_path, (BRANCH, branch))) == {"beta = 0": "verified", "beta ≠ 0": "verified"}


def test_a_condition_that_changes_nothing_is_told_as_it_is(tmp_path: Path) -> None:
    always = (
        ("[%d5+0], %f4", "[%d5+0], %f6"),
        ("@%p1 bra", "ld.global.f32 %f5, [%d5]; fma.rn.f32 %f6, %f5, %f2, %f4; @%p1 bra"),
    )
    result = result_of(tmp_path, *always, (BRANCH, "setp.lt.f32 %p1, %f2, 0f3F800000;"))
    assert cases_of(result) == {"beta < 1": "verified", "not beta < 1": "verified"}


def test_flushing_takes_subnormal_numbers_for_zero(tmp_path: Path) -> None:
    result = result_of(tmp_path, ("setp.eq.f32", "setp.eq.ftz.f32"))
    assert result.verdict == "verified"
    assert any(assumption.startswith("beta is not subnormal") for assumption in result.assumptions)


@pytest.mark.parametrize(
    "branch",
    ["setp.equ.f32 %p1, %f2, 0f00000000;", "setp.ne.f32 %p2, %f2, 0f00000000; not.pred %p1, %p2;"],
)
def test_a_comparison_may_take_a_nan_for_zero(branch: str, tmp_path: Path) -> None:
    result = result_of(tmp_path, (BRANCH, branch))
    assert cases_of(result) == {"beta = 0": "verified", "beta ≠ 0": "verified"}
    assert any(assumption.startswith("beta is not NaN") for assumption in result.assumptions)


def test_numbers_of_16_bits_are_told_through_conversions(tmp_path: Path) -> None:
    half = (
        (".param .f32 beta", ".param .b16 beta"),
        (
            "ld.param.f32 %f2, [beta];",
            ".reg .b16 %h; ld.param.b16 %h, [beta]; cvt.f32.f16 %f2, %h;",
        ),
    )
    contract = CONTRACT.replace('"beta"\ntype = "f32"', '"beta"\ntype = "f16"') + ENSURES
    result = result_of(tmp_path, *half, contract=contract)
    assert cases_of(result) == {"beta = 0": "verified", "beta ≠ 0": "verified"}


@pytest.mark.parametrize(
    ("there", "instead", "wrong"),
    [
        (BRANCH, "setp.eq.f32 %p1, %f1, 0f00000000;", {"alpha = 0"}),
        (BRANCH, "setp.neu.f32 %p1, %f2, 0f00000000;", {"beta ≠ 0"}),
        (BRANCH, "setp.eq.f32 %p1, %f2, 0f3F800000;", {"beta = 1"}),
        (BRANCH, "setp.le.f32 %p1, %f2, 0f00000000;", {"beta ≤ 0"}),
        ("fma.rn.f32 %f6, %f5, %f2, %f4", "add.rn.f32 %f6, %f5, %f4", {"beta ≠ 0"}),
        ("[%d5+0], %f4", "[%d5+0], %f3", {"beta = 0"}),
        ("[%d5+0]", "[%d5+4]", {"beta = 0"}),
        ("st.global.f32 [%d5], %f6", "st.global.f32 [%d4], %f6", {"beta ≠ 0"}),
    ],
)
def test_a_fault_is_refuted_in_its_case(there: str, instead: str, wrong: set[str], tmp_path: Path) -> None:
    result = result_of(tmp_path, (there, instead))
    assert result.verdict == "refuted"
    assert {case for case, verdict in cases_of(result).items() if verdict == "refuted"} == wrong
    assert all(finding.message.startswith("if ") for finding in result.findings)


def test_a_counterexample_has_the_scalars_of_its_case(tmp_path: Path) -> None:
    found = verification(tmp_path, ("[%d5+0], %f4", "[%d5+0], %f3"))
    assert found.counterexample is not None
    saved = tmp_path / "counterexample.json"
    found.counterexample.save(saved)
    document = document_of_kernel(saved)
    assert document is not None and set(document["inputs"]) == {"A", "C", "alpha", "beta"}
    assert replay(saved, document).difference is not None


def test_memory_alone_in_cases(tmp_path: Path) -> None:
    assert cases_of(result_of(tmp_path, contract=CONTRACT)) == {"beta = 0": "safe", "beta ≠ 0": "safe"}
    result = result_of(tmp_path, ("[%d5+0]", "[%d5+4]"), contract=CONTRACT)
    assert cases_of(result) == {"beta = 0": "refuted", "beta ≠ 0": "safe"}


def test_cases_that_contradict_are_none(tmp_path: Path) -> None:
    twice = "setp.gt.f32 %p2, %f2, 0f40000000; @%p2 st.global.f32 [%d5+4096], %f4; st.global.f32 [%d5+0]"
    result = result_of(
        tmp_path, ("st.global.f32 [%d5+0]", twice), (BRANCH, BRANCH.replace("eq", "lt")), contract=CONTRACT
    )
    assert result.verdict == "safe"
    assert "beta < 0, beta > 2" not in cases_of(result)


def test_too_many_cases_are_unsupported(tmp_path: Path) -> None:
    loop = (
        "mov.u32 %r2, 0; NEXT: cvt.rn.f32.u32 %f7, %r2; setp.lt.f32 %p1, %f7, %f2; "
        "add.u32 %r2, %r2, 1; @%p1 bra NEXT;"
    )
    result = result_of(tmp_path, (BRANCH, loop), contract=CONTRACT)
    assert result.verdict == "unsupported"
    assert "more than 16 cases" in result.findings[0].message


def test_a_number_says_all_of_a_scalar(tmp_path: Path) -> None:
    switch = (
        "setp.eq.f32 %p1, %f2, 0f3F800000; @%p1 st.global.f32 [%d5], %f3; "
        "setp.eq.f32 %p1, %f2, 0f40000000; @%p1 bra PLAIN; ret;"
    )
    result = result_of(tmp_path, (BRANCH, switch), contract=CONTRACT)
    assert set(cases_of(result)) == {"beta = 1", "beta = 2", "beta ≠ 1, beta ≠ 2"}
    assert [(each.name, each.written) for each in result.written] == [("C", 0)]


def test_a_branch_on_other_data_is_no_case(tmp_path: Path) -> None:
    result = result_of(tmp_path, (BRANCH, "setp.eq.f32 %p1, %f3, %f2;"))
    assert (result.verdict, result.cases) == ("refuted", ())


def compared(relation: str, constant: float, name: str = "x", fmt: str = "f32") -> Condition:
    store, read = TermStore(), format_named(fmt)
    encoding = np.float32(constant).view(np.uint32)
    sides = store.inputs(name, read, 0), store.constants(encoding, 32)
    term = store.apply(operations.compare(read, relation), *sides)
    found = deciding(store, term.reshape(1), [name])
    assert found is not None
    return found


@pytest.mark.parametrize("relation", ["eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "geu"])
def test_cases_are_all_there_is(relation: str) -> None:
    numbers = np.array([0, -0.0, 1, -1, 0.5, np.inf, -np.inf, np.nan, 1e-40], dtype=np.float32).view(
        np.uint32
    )
    condition = compared(relation, 0.0)
    cases = list(EVERY.split(condition))
    for word in numbers.tolist():
        about = []
        for case in cases:
            known = case.values.get("x")
            of = known == word if known is not None else None
            if of is None:
                of = all(
                    bool(each.holds({"x": np.array([word])})[0]) == holds for each, holds in case.conditions
                )
            about.append(of)
        granted = any("NaN" in each for case in cases for each in case.granted)
        assert sum(about) == (0 if granted and np.isnan(np.uint32(word).view(np.float32)) else 1), word


def test_what_is_supposed_is_a_constant() -> None:
    store = TermStore()
    condition = compared("lt", 1.0)
    term = condition.term_in(store)
    next(EVERY.split(condition)).assume(store)
    sides = store.inputs("x", F32, 0), store.constants(np.float32(1).view(np.uint32), 32)
    again = store.apply(operations.compare(F32, "lt"), *sides)
    assert int(again) != term and int(store.constant_values(again)) == 1


def test_data_decide_nothing_here() -> None:
    store = TermStore()
    term = store.apply(operations.compare(F32, "lt"), store.inputs("A", F32, 3), store.inputs("x", F32, 0))
    assert deciding(store, term.reshape(1), ["x"]) is None
    assert deciding(store, store.undefined(1, 1), ["x"]) is None


def test_what_no_scalar_decides_is_no_case() -> None:
    """A bit of constants alone, of which a function's value is not known, has no scalar to be told by."""
    store = TermStore()
    word = store.constants(np.float32(0.5).view(np.uint32), 32)
    term = store.apply(
        operations.compare(F32, "lt"), store.apply(operations.function("f", F32, F32), word), word
    )
    assert deciding(store, term.reshape(1), ["x"]) is None


def test_an_address_names_the_scalar_that_must_be_given(tmp_path: Path) -> None:
    there = "mul.wide.u32 %d3, %r1, 4;"
    found = verification(tmp_path, (there, "cvt.rzi.u32.f32 %r1, %f2; mul.wide.u32 %d3, %r1, 4;"))
    assert found.result.verdict == "unsupported"
    assert "depends on beta, which may be any number: give it a value" in found.result.findings[0].message
