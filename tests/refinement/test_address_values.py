"""Where arrays and variables lie is not known: what depends on it is never verified, what does not is."""

from __future__ import annotations

import numpy as np
import pytest
from example_counts import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from mmaproof.refinement.findings.result import Result, Verdict
from mmaproof.refinement.machine.placements import Place, Places
from mmaproof.refinement.terms.store import TermStore

from ..elementwise_kernels import result_of

ARRAYS = {"A": "u32", "C": "u32 out"}
BELOW = "setp.lt.u64 %p0, %at0, %at1; "
SHARED = ".shared .align 16 .b8 S[128]; .shared .align 4 .b8 T[128]; mov.u32 %r1, S; "
KEPT = ".shared .align 16 .b8 K[1024]; mov.u32 %r1, K; mad.lo.u32 %r1, %t, 8, %r1; "
"""Memory of a thread."""
UNALIGNED = "and.b64 %d1, %at0, 1920; setp.ne.u64 %p0, %d1, 0; "
"""Of arrays at multiples of 256 bytes; elements of a thread lie within 128."""


def _result(body: str) -> Result:
    return result_of(body, "C[i] = A[i]", ARRAYS)


@pytest.mark.parametrize(
    "body",
    [
        BELOW + "selp.u32 %C, %A, 0, %p0;",
        BELOW + "selp.u32 %C, 0, %A, %p0;",
        BELOW + "mov.u32 %C, %A; @%p0 bra M; mov.u32 %C, 0; M:",
        BELOW + "mov.u32 %C, 0; @%p0 bra M; mov.u32 %C, %A; M:",
        BELOW + "@%p0 add.u32 %A, %A, 1; mov.u32 %C, %A;",
        "max.u64 %d1, %at0, %at1; setp.eq.u64 %p0, %d1, %at1; selp.u32 %C, %A, 0, %p0;",
        UNALIGNED + "selp.u32 %C, %A, 0, %p0;",
        UNALIGNED + "selp.u32 %C, 0, %A, %p0;",
        "sub.u64 %d1, %at1, %at0; shr.u64 %d1, %d1, 32; cvt.u32.u64 %r1, %d1; xor.b32 %C, %A, %r1;",
        "sub.u64 %d1, %at1, %at0; add.u64 %at1, %at0, %d1; mov.u32 %C, %A;",
        "shr.u64 %d1, %at0, 48; cvt.u32.u64 %r1, %d1; add.u32 %C, %A, %r1;",
        "cvt.u32.u64 %r1, %at0; shr.u32 %r1, %r1, 20; add.u32 %C, %A, %r1;",
        "mov.b64 {%r1, %r2}, %at0; shr.u32 %r2, %r2, 20; add.u32 %C, %A, %r2;",
        "mul.lo.u64 %d1, %at0, 16777216; shr.u64 %d1, %d1, 60; cvt.u32.u64 %r1, %d1; add.u32 %C, %A, %r1;",
        "not.b64 %d1, %at0; setp.gt.s64 %p0, %d1, 0; selp.u32 %C, 0, %A, %p0;",
        "setp.gt.u64 %p0, %at0, 65536; selp.u32 %C, %A, 0, %p0;",
        "ld.param.u32 %r1, [p0+4]; shr.u32 %r1, %r1, 20; add.u32 %C, %A, %r1;",
        SHARED + "shr.u32 %r1, %r1, 28; add.u32 %C, %A, %r1;",
        SHARED + "and.b32 %r1, %r1, 31; add.u32 %C, %A, %r1;",
        SHARED + "mov.u32 %r2, T; setp.lt.u32 %p0, %r1, %r2; selp.u32 %C, %A, 0, %p0;",
        SHARED + "mov.u32 %r2, T; sub.u32 %r3, %r2, %r1; add.u32 %C, %A, %r3;",
        SHARED + "cvt.u64.u32 %d1, %r1; cvta.shared.u64 %d1, %d1; shr.u64 %d1, %d1, 60; "
        "cvt.u32.u64 %r2, %d1; add.u32 %C, %A, %r2;",
        KEPT
        + "st.shared.u32 [%r1], %at0; ld.shared.u32 %r2, [%r1]; shr.u32 %r2, %r2, 20; add.u32 %C, %A, %r2;",
    ],
)
def test_what_depends_on_the_placement_is_not_verified(body: str) -> None:
    result = _result(body)
    assert result.verdict in (Verdict.REFUTED, Verdict.UNSUPPORTED, Verdict.UNDECIDED)


@pytest.mark.parametrize(
    "body",
    [
        BELOW + "selp.u32 %C, %A, %A, %p0;",
        BELOW + "@%p0 bra L; mov.u32 %C, %A; bra M; L: add.u32 %r1, %A, 1; sub.u32 %C, %r1, 1; M:",
        UNALIGNED + "@%p0 bra L; mov.u32 %C, %A; bra M; L: add.u32 %r1, %A, 1; sub.u32 %C, %r1, 1; M:",
        "setp.ne.u64 %p0, %at0, %at1; selp.u32 %C, %A, 0, %p0;",
        "setp.ne.u64 %p0, %at0, 0; selp.u32 %C, %A, 0, %p0;",
        "and.b64 %d1, %at0, 3; setp.eq.u64 %p0, %d1, 0; selp.u32 %C, %A, 0, %p0;",
        "cvt.u32.u64 %r1, %at0; and.b32 %r1, %r1, 3; add.u32 %C, %A, %r1;",
        "ld.param.u64 %d1, [p0]; add.u64 %d2, %d1, 128; setp.lt.u64 %p0, %at0, %d2; selp.u32 %C, %A, 0, %p0;",
        "ld.param.u64 %d1, [p0]; sub.u64 %d2, %at0, %d1; cvt.u32.u64 %r1, %d2; mul.lo.u32 %r2, %t, 4; "
        "sub.u32 %r1, %r1, %r2; add.u32 %C, %A, %r1;",
        SHARED + "and.b32 %r1, %r1, 15; add.u32 %C, %A, %r1;",
        SHARED + "mad.lo.u32 %r2, %t, 4, %r1; xor.b32 %r2, %r2, 8; st.shared.u32 [%r2], %A; "
        "ld.shared.u32 %C, [%r2];",
        KEPT + "shr.u64 %d1, %at0, 32; st.shared.u32 [%r1], %at0; st.shared.u32 [%r1+4], %d1; "
        "ld.shared.u32 %d2, [%r1]; ld.shared.u32 %d3, [%r1+4]; shl.b64 %d3, %d3, 32; or.b64 %d3, %d3, %d2; "
        "ld.global.u32 %C, [%d3];",
    ],
)
def test_what_does_not_depend_on_it_is_verified(body: str) -> None:
    assert _result(body).verdict is Verdict.VERIFIED


@settings(max_examples=examples(40), deadline=None)
@given(st.integers(0, 5), st.integers(0, 8), st.integers(0, 1 << 12), st.sampled_from([32, 64]))
def test_of_an_address_the_bits_below_its_alignment_are_known(
    place: int, power: int, offset: int, width: int
) -> None:
    store = TermStore()
    starts = [0x0520_0000 * (1 + index) for index in range(6)]
    places = Places(store, [Place(start, start + 4096, 1 << power, 0, 64) for start in starts])
    numbers = np.array([starts[place] + offset, 7], dtype=np.uint64)
    owners = places.owners(numbers)
    assert owners.tolist() == [place, -1]
    assert places.inside(numbers, owners).tolist() == [offset < 4096, False]
    (word,) = places.words(numbers[:1], owners[:1], width)
    assert places.words(numbers[:1], owners[:1], width)[0] == word
    assert int(store.widths(word)) == width


HALVES = (
    "and.b32 %r1, %A, 3; mad.wide.u32 %d1, %r1, 4, %at0; sub.u64 %d1, %d1, %d2; mov.b64 {%r2, %r3}, %d1; "
)
TABLE = "mul.wide.u32 %d2, %t, 4; "


@pytest.mark.parametrize(("lanes", "verdict"), [((0, 0), Verdict.VERIFIED), ((0, 1), Verdict.UNSUPPORTED)])
def test_halves_of_an_address_that_data_lead_to_are_joined(lanes: tuple[int, int], verdict: Verdict) -> None:
    """Both halves are another thread's, or each is of another thread."""
    low, high = (
        f"shfl.sync.idx.b32 %r{to}, %r{of}, {lane}, 31, -1; "
        for to, of, lane in zip((4, 5), (2, 3), lanes, strict=True)
    )
    joined = "cvt.u64.u32 %d3, %r4; cvt.u64.u32 %d4, %r5; shl.b64 %d4, %d4, 32; or.b64 %d3, %d3, %d4; "
    body = TABLE + HALVES + low + high + joined + "ld.global.u32 %C, [%d3];"
    assert result_of(body, "C[i] = A[A[0] & 3]", ARRAYS).verdict is verdict
