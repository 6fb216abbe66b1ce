"""Kernels that nvcc compiled for Blackwell, with fences as PTX's patterns have them, and edits of them.

``nvcc -std=c++17 -O3 -arch=sm_100a -ptx`` (CUDA 13) writes the texts.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from sweep_parameters import few

from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.findings.result import Verdict
from mmaproof.refinement.verification import verify

CORPUS = Path(__file__).parents[1] / "kernels" / "tensor_memory"
KERNEL, CONTRACT = CORPUS / "two_accumulators.ptx", CORPUS / "two_accumulators.toml"

POLL = "mbarrier.try_wait.parity.shared::cta.b64 p, "
OVER = "setp.eq.u32 p, %r0, %r0;"
AFTER = "tcgen05.fence::after_thread_sync;"

FAULTS = {
    "a tile is filled under a product": (f"{POLL}[%r40], %r41;", OVER.replace("%r0", "%r40"), Kind.RACE),
    "D is read before the last product": (f"{POLL}[%r57], %r58;", OVER.replace("%r0", "%r57"), Kind.RACE),
    "no proxy fence": ("fence.proxy.async.shared::cta;", "", Kind.PROXY),
    "no barrier before the products": ("bar.sync \t0;\n\t@%p7", "@%p7", Kind.RACE),
    "the second half of a row of A": ("70403112304640", "70403112239104", Kind.WRONG_VALUE),
    "both accumulators are one": ("[%r55], %rd13, %rd15", "[%r103], %rd13, %rd15", Kind.UNINITIALISED),
    "lanes of another warp": ("%r2, 21;", "%r2, 22;", Kind.OUT_OF_BOUNDS),
    "no fence behind the wait": (f"{AFTER}\n", "\n", Kind.RACE),
}
"""What of the text is replaced, in the last place, and by what, and the kind of the first finding."""


def test_it_is_verified() -> None:
    found = verify(KERNEL, CONTRACT).result
    assert (found.verdict, found.findings) == (Verdict.VERIFIED, ())
    assert not any("tcgen05.fence" in assumption for assumption in found.assumptions)


@pytest.mark.parametrize("fault", few(FAULTS, "a tile is filled under a product"))
def test_a_fault_is_refuted_for_its_reason(fault: str, tmp_path: Path) -> None:
    old, new, kind = FAULTS[fault]
    before, found, behind = KERNEL.read_text(encoding="utf-8").rpartition(old)
    assert found
    path = tmp_path / "k.ptx"
    path.write_text(before + new + behind)
    result = verify(path, CONTRACT).result
    assert (result.verdict, result.findings[0].kind) == (Verdict.REFUTED, kind)


HARMLESS = {
    "a wider proxy fence": ("fence.proxy.async.shared::cta;", "fence.proxy.async;"),
    "the first load is waited for with the second": ("tcgen05.wait::ld.sync.aligned;", ""),
}
"""What of the text is replaced, in the first place, and by what."""


@pytest.mark.parametrize("edit", few(HARMLESS, "a wider proxy fence"))
def test_a_harmless_edit_is_verified(edit: str, tmp_path: Path) -> None:
    old, new = HARMLESS[edit]
    text = KERNEL.read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "k.ptx"
    path.write_text(text.replace(old, new, 1))
    assert verify(path, CONTRACT).result.verdict is Verdict.VERIFIED


PAIRED = CORPUS / "paired_pipeline.ptx"
STORED = "mov.b32 \t%r27, 8;"
PAIRED_FAULTS = {
    "half of the warps that store are waited for": (STORED, STORED.replace("8", "4"), Kind.RACE),
    "bytes of one CTA are expected": (", 36864;", ", 18432;", Kind.DEADLOCK),
    "bytes complete on each CTA's own barrier": ("-16777224", "-8", Kind.DEADLOCK),
    "D is stored again before it is loaded": ("tcgen05.wait::ld.sync.aligned;", "", Kind.RACE),
    "the other CTA is not told": ("%rs5, 3;", "%rs5, 1;", Kind.DEADLOCK),
}
"""What of the text of pairs is replaced, everywhere, and by what, and the kind of the first finding."""


def test_pairs_of_ctas_are_verified() -> None:
    found = verify(PAIRED, PAIRED.with_suffix(".toml")).result
    assert (found.verdict, found.findings) == (Verdict.VERIFIED, ())


@pytest.mark.parametrize("fault", few(PAIRED_FAULTS, "bytes complete on each CTA's own barrier"))
def test_a_fault_of_pairs_is_refuted_for_its_reason(fault: str, tmp_path: Path) -> None:
    old, new, kind = PAIRED_FAULTS[fault]
    text = PAIRED.read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "k.ptx"
    path.write_text(text.replace(old, new))
    result = verify(path, PAIRED.with_suffix(".toml")).result
    assert result.verdict is Verdict.REFUTED
    assert kind in {found.kind for found in result.findings}
