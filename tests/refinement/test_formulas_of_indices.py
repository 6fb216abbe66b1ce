"""Kernels for every size whose formulas count, compare and look up with indices and sizes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from quantified_kernels import prove_blocks

from mmaproof.refinement.findings.result import Equality
from mmaproof.refinement.ptx.any_size.size_proofs import BlockProof
from mmaproof.refinement.sizes.integer_forms import Group, Symbols
from mmaproof.refinement.sizes.symbolic_terms import SymbolicTerms
from mmaproof.refinement.sizes.tail_predicates import Rest, more_than
from mmaproof.refinement.sizes.wrapped_indices import settled
from mmaproof.refinement.terms.operations import select
from mmaproof.spec.errors import UnsupportedError

TILE = 8

KERNEL = """.version 7.0
.target sm_80
.address_size 64
.visible .entry kernel(.param .u64 x, .param .u64 y, .param .u32 n, .param .f32 h)
{
.reg .pred %p<9>;
.reg .b32 %r<19>;
.reg .f32 %f<19>;
.reg .b64 %rd<19>;
.shared .align 4 .b8 tile[40];
ld.param.u64 %rd1, [x];
ld.param.u64 %rd2, [y];
ld.param.u32 %r2, [n];
ld.param.f32 %f9, [h];
mov.u32 %r3, %ctaid.x;
mov.u32 %r5, %tid.x;
mad.lo.s32 %r1, %r3, 8, %r5;
setp.ge.s32 %p1, %r1, %r2;
@%p1 bra END;
add.s32 %r6, %r2, -1;
mul.wide.s32 %rd3, %r1, 4;
add.s64 %rd4, %rd1, %rd3;
add.s64 %rd5, %rd2, %rd3;
ld.global.f32 %f1, [%rd4];
BODY
st.global.f32 [%rd5], %f5;
END:
ret;
}
"""

INSIDE = """mov.f32 %f5, %f1;
setp.eq.s32 %p2, %r1, 0;
setp.eq.s32 %p3, %r1, %r6;
or.pred %p4, %p2, %p3;
@%p4 bra STORE;
ld.global.f32 %f2, [%rd4+-4];
ld.global.f32 %f3, [%rd4+4];
add.f32 %f5, %f2, %f3;
STORE:"""
PADDED = """mov.f32 %f2, 0f00000000;
mov.f32 %f3, 0f00000000;
setp.gt.s32 %p2, %r1, 0;
@%p2 ld.global.f32 %f2, [%rd4+-4];
setp.lt.s32 %p3, %r1, %r6;
@%p3 ld.global.f32 %f3, [%rd4+4];
add.f32 %f5, %f2, %f3;"""
CLAMPED = """add.s32 %r7, %r1, -1;
max.s32 %r7, %r7, 0;
add.s32 %r8, %r1, 1;
min.s32 %r8, %r8, %r6;
mul.wide.s32 %rd6, %r7, 4;
mul.wide.s32 %rd7, %r8, 4;
add.s64 %rd6, %rd1, %rd6;
add.s64 %rd7, %rd1, %rd7;
ld.global.f32 %f2, [%rd6];
ld.global.f32 %f3, [%rd7];
add.f32 %f5, %f2, %f3;"""
REVERSED = """sub.s32 %r7, %r6, %r1;
mul.wide.s32 %rd6, %r7, 4;
add.s64 %rd6, %rd1, %rd6;
ld.global.f32 %f5, [%rd6];"""
COUNTED = """cvt.rn.f32.s32 %f2, %r1;
cvt.rn.f32.u32 %f3, %r2;
div.rn.f32 %f2, %f2, %f3;
fma.rn.f32 %f5, %f2, %f9, %f1;"""

FORMULAS = {
    "inside": (INSIDE, "y[i] = where(i == 0 or i == N - 1, x[i], x[i - 1] + x[i + 1])"),
    "padded": (PADDED, "y[i] = where(i > 0, x[i - 1], 0) + where(i + 1 < N, x[i + 1], 0)"),
    "clamped": (CLAMPED, "y[i] = x[max(i - 1, 0)] + x[min(i + 1, N - 1)]"),
    "reversed": (REVERSED, "y[i] = x[N - 1 - i]"),
    "counted": (COUNTED, "y[i] = x[i] + i / N * h"),
}

CONTRACT = """[kernel]
isa = "ptx"
[launch]
grid = "(N + 7) // 8"
block = 8
[sizes]
N = "{domain}"
[[param]]
name = "x"
type = "f32"
shape = ["N"]
[[param]]
name = "y"
type = "f32"
shape = ["N"]
access = "out"
[[param]]
name = "n"
type = "s32"
value = "N"
[[param]]
name = "h"
type = "f32"
[ensures]
formula = "{formula}"
"""


def proof(tmp_path: Path, body: str, formula: str, domain: str = "any up to 100000") -> BlockProof:
    path = tmp_path / "kernel.ptx"
    path.write_text(KERNEL.replace("BODY", body), encoding="utf-8")
    return prove_blocks(path, CONTRACT.format(domain=domain, formula=formula))


@pytest.mark.parametrize("name", FORMULAS)
def test_what_formulas_make_of_indices_is_shown_for_every_size(name: str, tmp_path: Path) -> None:
    found = proof(tmp_path, *FORMULAS[name])
    assert [domain.most for domain in found.domains] == [100000] and not found.limit
    assert found.equality is (Equality.BITS if name == "reversed" else found.equality)


def test_whole_tiles_are_split_at_both_ends(tmp_path: Path) -> None:
    assert not proof(tmp_path, *FORMULAS["clamped"], domain="any multiple of 8 up to 80000").limit


def test_positions_that_no_size_of_the_domain_has_are_left_out(tmp_path: Path) -> None:
    assert not proof(tmp_path, *FORMULAS["clamped"], domain="any >= 20 up to 1000").limit


@pytest.mark.parametrize(
    ("name", "old", "new", "why"),
    [
        ("padded", "setp.gt.s32 %p2, %r1, 0", "setp.ge.s32 %p2, %r1, 0", "out of bounds"),
        ("padded", "setp.lt.s32 %p3, %r1, %r6", "setp.le.s32 %p3, %r1, %r6", "out of bounds"),
        ("padded", "setp.gt.s32 %p2, %r1, 0", "setp.gt.s32 %p2, %r5, 0", "is not shown"),
        ("padded", "setp.gt.s32 %p2, %r1, 0", "setp.gt.s32 %p2, %r1, 1", "is not shown"),
        ("padded", "setp.lt.s32 %p3, %r1, %r6", "setp.ne.s32 %p3, %r1, 77777", "is not shown"),
        ("inside", "setp.eq.s32 %p2, %r1, 0", "setp.eq.s32 %p2, %r5, 0", "is not shown"),
        ("inside", "setp.eq.s32 %p3, %r1, %r6", "setp.eq.s32 %p3, %r1, %r2", "out of bounds"),
        ("inside", "or.pred %p4, %p2, %p3", "xor.pred %p4, %p2, %p3", "out of bounds"),
        ("clamped", "max.s32 %r7, %r7, 0", "max.s32 %r7, %r7, 1", "out of bounds|is not shown"),
        ("clamped", "min.s32 %r8, %r8, %r6", "min.s32 %r8, %r8, %r2", "out of bounds"),
        ("reversed", "sub.s32 %r7, %r6, %r1", "sub.s32 %r7, %r2, %r1", "out of bounds"),
        ("counted", "cvt.rn.f32.s32 %f2, %r1", "cvt.rn.f32.s32 %f2, %r5", "is not shown"),
        ("counted", "cvt.rn.f32.u32 %f3, %r2", "cvt.rn.f32.u32 %f3, %r6", "is not shown"),
        ("counted", "cvt.rn.f32.s32 %f2, %r1", "cvt.rn.f32.s16 %f2, %r1", "is not shown|form"),
    ],
)
def test_other_indices_are_not_shown(name: str, old: str, new: str, why: str, tmp_path: Path) -> None:
    body, formula = FORMULAS[name]
    assert old in body
    with pytest.raises(UnsupportedError, match=why):
        proof(tmp_path, body.replace(old, new), formula)


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("padded", "setp.lt.s32 %p3, %r1, %r6", "add.s32 %r7, %r1, 1;\nsetp.ne.s32 %p3, %r7, %r2"),
        ("inside", "setp.eq.s32 %p2, %r1, 0", "setp.lt.s32 %p2, %r1, 1"),
        ("counted", "cvt.rn.f32.s32 %f2, %r1", "cvt.s64.s32 %rd6, %r1;\ncvt.rn.f32.s64 %f2, %rd6"),
    ],
)
def test_other_spellings_are_shown(name: str, old: str, new: str, tmp_path: Path) -> None:
    body, formula = FORMULAS[name]
    assert old in body
    assert not proof(tmp_path, body.replace(old, new), formula).limit


def test_elements_that_a_formula_may_not_have_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedError, match="an index of x has no known bound"):
        proof(tmp_path, PADDED, "y[i] = x[i - 1] + where(i + 1 < N, x[i + 1], 0)")


def test_a_sum_may_not_end_where_an_index_says(tmp_path: Path) -> None:
    with pytest.raises(
        UnsupportedError,
        match=r"it is not shown that a block stores the values of the formula to y|unknown name i",
    ):
        proof(tmp_path, PADDED, "y[i] = sum(k < i % 7 + 1, x[i] * h)")


def test_what_is_not_known_to_be_there_is_not_settled() -> None:
    store = SymbolicTerms(Symbols([Group(("rest of N",), ((0.0,), (7.0,)))]))
    store.rests = (Rest("N", "rest of N", 1),)
    one, other = (store.constants(np.array([each]), 32) for each in (1, 2))
    terms = store.apply(select(32), more_than(store, store.rests[0], np.array([3])), one, other)
    assert settled(store, terms, []).tolist() == terms.tolist()
    assert settled(store, terms, [(store.rests[0], np.array([2]))]).tolist() == terms.tolist()
    assert settled(store, terms, [(store.rests[0], np.array([3]))]).tolist() == one.tolist()


def test_what_is_left_of_one_size_settles_no_choice_by_that_of_another() -> None:
    groups = [Group((f"rest of {name}",), ((0.0,), (7.0,))) for name in "NK"]
    store = SymbolicTerms(Symbols(groups))
    store.rests = tuple(Rest(name, f"rest of {name}", 1) for name in "NK")
    words = [store.constants(np.array([each]), 32) for each in (0, 1, 2)]
    of_n, of_k = (more_than(store, rest, np.array([3])) for rest in store.rests)
    inner = store.apply(select(32), of_n, words[1], words[2])
    terms = store.apply(select(32), of_k, inner, words[0])
    kept = store.apply(select(32), of_k, words[1], words[0])
    assert settled(store, terms, [(store.rests[0], np.array([3]))]).tolist() == kept.tolist()
    assert settled(store, terms, [(store.rests[0], np.array([2]))]).tolist() == terms.tolist()


@pytest.mark.parametrize(
    ("guard", "formula"),
    [("", "y[i] = 2 * x[i]"), ("and.pred %p2, %p2, %p3;", "y[i] = where(i > 0, 2 * x[i], x[i])")],
)
def test_what_another_thread_stored_before_may_come_last(guard: str, formula: str, tmp_path: Path) -> None:
    body = f"""setp.eq.s32 %p2, %r5, 0;
setp.gt.s32 %p3, %r1, 0;
{guard}
st.global.f32 [%rd5], %f1;
add.f32 %f5, %f1, %f1;
@%p2 """
    of_both = KERNEL.replace("%r3, 8, %r5", "%r3, 1, 0").replace("BODY\n", body)
    path = tmp_path / "kernel.ptx"
    path.write_text(of_both, encoding="utf-8")
    text = CONTRACT.replace("(N + 7) // 8", "N").replace("block = 8", "block = 2")
    with pytest.raises(UnsupportedError, match="written more than once"):
        prove_blocks(path, text.format(domain="any up to 1000", formula=formula))
