"""Operands that products keep in collector buffers: the same one is reused, or it is a finding."""

from __future__ import annotations

from pathlib import Path

import pytest
from tensor_memory_faults import verified
from tensor_memory_kernels import Kernel

from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.findings.result import Verdict

ONE = Kernel(m=64, n=8)
WS = Kernel(m=64, n=64, ws=True)
STEPS = Kernel(m=64, n=8, steps=2)
CELLS = Kernel(n=8, a_in_cells=True)


def products(kernel: Kernel, *ways: str) -> str:
    """Return a kernel whose first product is issued once for each way, of which the last counts."""
    line = next(each for each in kernel.text.splitlines() if each.startswith("tcgen05.mma"))
    mnemonic, _, operands = line.partition(" ")
    buffer = "b1" if kernel.ws else "a"
    spelled = [f".collector::{buffer}::{way}" if way else "" for way in ways]
    return kernel.text.replace(line, "\n".join(f"{mnemonic}{way} {operands}" for way in spelled), 1)


def steps(first: str, second: str) -> str:
    """Return the kernel of two steps along K, of whose A is another in each."""
    before, _, behind = STEPS.text.partition("kind::f16")
    middle, _, behind = behind.partition("kind::f16")
    return f"{before}kind::f16{first}{middle}kind::f16{second}{behind}"


FILL = "tcgen05.mma.cta_group::1.kind::f16.collector::a::fill"
REUSE = "tcgen05.mma.cta_group::1.kind::f16.collector::a::use"
WRITTEN = """
tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r3];
KEPT: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r3], 0;
@!%p3 bra KEPT;
st.shared.u16 [%r1], %h0;
fence.proxy.async.shared::cta;
"""

RIGHT = {
    "used twice": (ONE, products(ONE, "fill", "use", "lastuse")),
    "filled again": (ONE, products(ONE, "fill", "fill", "use")),
    "A in tensor memory": (CELLS, products(CELLS, "fill", "lastuse")),
    "B of weight-stationary products": (WS, products(WS, "fill", "", "lastuse")),
}


@pytest.mark.parametrize("case", RIGHT)
def test_the_same_operand_is_reused(case: str, tmp_path: Path) -> None:
    kernel, text = RIGHT[case]
    found = verified(tmp_path, text, kernel.contract)
    assert (found.verdict, found.findings) == (Verdict.VERIFIED, ())


WRONG = {
    "never filled": (products(ONE, "use"), "a buffer that is empty"),
    "used up": (products(ONE, "fill", "lastuse", "use"), "a buffer that is empty"),
    "discarded in between": (products(ONE, "fill", "", "use"), "a buffer that is empty"),
    "another A": (steps(".collector::a::fill", ".collector::a::use"), "another A than line"),
    "A was written again": (
        products(ONE, "fill", "use").replace("\ntcgen05.mma.cta_group::1.kind::f16.collector::a::use",
            f"{WRITTEN}tcgen05.mma.cta_group::1.kind::f16.collector::a::use"),
        "A, which was written after line",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_a_use_of_what_is_not_there_is_refuted(case: str, tmp_path: Path) -> None:
    text, message = WRONG[case]
    kernel = STEPS if case == "another A" else ONE
    found = verified(tmp_path, text, kernel.contract)
    assert (found.verdict, found.findings[0].kind) == (Verdict.REFUTED, Kind.UNDEFINED)
    assert message in found.findings[0].message and found.findings[0].line


LEFT = {
    "another thread has filled it": (
        products(ONE, "fill", "use")
        .replace("@!%p2 bra ISSUED;", "setp.eq.or.u32 %p5, %r0, 32, %p2;\n@!%p5 bra ISSUED;")
        .replace(f"\n{FILL}", f"\n@%p2 {FILL}")
        .replace(f"\n{REUSE} [%r40 + 0]", f"\nsetp.eq.u32 %p6, %r0, 32;\n@%p6 {REUSE} [%r40 + 16]"),
        "by several threads",
    ),
    "another instruction descriptor": (
        products(ONE, "fill", "use").replace(
            "\ntcgen05.mma.cta_group::1.kind::f16.collector::a::use",
            f"\nmov.b32 %r50, {ONE.idesc() | 1 << 14};"
            "\ntcgen05.mma.cta_group::1.kind::f16.collector::a::use",
        ),
        "by other descriptors",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", LEFT)
def test_what_no_source_says_is_unsupported(case: str, tmp_path: Path) -> None:
    text, message = LEFT[case]
    found = verified(tmp_path, text, ONE.contract)
    assert found.verdict is Verdict.UNSUPPORTED
    assert message in found.findings[0].message and found.findings[0].line
