"""Threads whose words are alike but for their constants are not taken for one another."""

from __future__ import annotations

from mmaproof.refinement.findings.result import Verdict

from ..elementwise_kernels import result_of

KEY = """
shl.b32 %r1, %t, 8;
or.b32 %r2, %r1, %A;
xor.b32 %C, %r2, 0x80000000;
"""
"""Each thread's own number above its datum."""

ARRAYS = {"A": "u8", "C": "u32 out"}


def test_constants_of_other_threads_are_not_forgotten() -> None:
    assert result_of(KEY, "C[i] = A[i] + 2147483648", ARRAYS).verdict is Verdict.REFUTED


def test_each_thread_has_its_own_constant() -> None:
    assert result_of(KEY, "C[i] = A[i] + 256 * i + 2147483648", ARRAYS).verdict is Verdict.VERIFIED


PAIR = """
mov.b32 %r1, {{%A, %B}};
setp.eq.u32 %p1, %t, 0;
mov.b32 %r2, {{0, %B}};
selp.b32 %r3, %r2, %r1, %p1;
xor.b32 %r4, %r3, 0x80008000;
mov.b32 {{{low}, {high}}}, %r4;
"""
"""A pair whose half is 0 at the edge, negated."""

HALVES = {"A": "f16", "B": "f16", "C": "f16 out", "D": "f16 out"}


def test_a_neighbour_that_is_zero_at_the_edge_only() -> None:
    negated = PAIR.format(low="%C", high="%D")
    both = ["C[i] = -A[i]", "D[i] = -B[i]"]
    at_edge = ["C[i] = where(i > 0, -A[i], -0.0)", "D[i] = -B[i]"]
    everywhere = ["C[i] = -0.0", "D[i] = -B[i]"]
    assert result_of(negated, both, HALVES).verdict is Verdict.REFUTED
    assert result_of(negated, everywhere, HALVES).verdict is Verdict.REFUTED
    assert result_of(negated, at_edge, HALVES).verdict is Verdict.VERIFIED


def test_words_of_elements_and_of_parts_of_elements() -> None:
    """The lower half of a word is a whole element in one thread, and a part of an element in others."""
    body = """
    cvt.u32.u16 %r1, %A;
    shl.b32 %r2, %r1, 16;
    or.b32 %r3, %r1, %r2;
    setp.eq.u32 %p1, %t, 5;
    selp.b32 %r4, %r3, %B, %p1;
    prmt.b32 %r5, %r4, %B, 0x7610;
    cvt.u16.u32 %C, %r5;
    """
    arrays = {"A": "u16", "B": "u32", "C": "u16 out"}
    assert result_of(body, "C[i] = B[i]", arrays).verdict is Verdict.REFUTED
    assert result_of(body, "C[i] = where(i == 5, A[i], B[i])", arrays).verdict is Verdict.VERIFIED
