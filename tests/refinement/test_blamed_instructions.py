"""The first finding is at the instruction that is at fault, and what comes of one fault is one finding."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from operator_kernels import CORPUS, contract_of

from mmaproof.refinement.examine.diagnosis import Monomial
from mmaproof.refinement.examine.fault_location import FaultLocator
from mmaproof.refinement.findings.finding import KernelFinding, Kind
from mmaproof.refinement.normal_forms.opaque_forms import atom_numbers
from mmaproof.refinement.normal_forms.readings import Quantifier
from mmaproof.refinement.terms.store import TermStore
from mmaproof.refinement.verification import verify
from mmaproof.spec.formats import F32

KERNEL = "gemm_relu_f16_sm80.ptx"


@dataclass(frozen=True)
class Edit:
    """A replacement, by the line of the kernel that it makes wrong, and what the finding says."""

    old: str
    new: str
    blamed: str
    says: tuple[str, ...]


EDITS = {
    "first store to the next row": Edit(
        "st.global.u16 \t[%rd80], %rs23;",
        "st.global.u16 \t[%rd80+16], %rs23;",
        "st.global.u16 \t[%rd80+16], %rs23;",
        ("D[i,j] holds what D[i-1,j] should", "with no barrier between", "D[0,0] is never written"),
    ),
    "last store to the neighbour": Edit(
        "st.global.u16 \t[%rd83+2], %rs32;",
        "st.global.u16 \t[%rd83], %rs32;",
        "st.global.u16 \t[%rd83], %rs32;",
        ("D[i,j] holds what D[i,j+1] should", "D[8,1] is never written (32 of 128"),
    ),
    "store of the neighbour's value": Edit(
        "st.global.u16 \t[%rd80], %rs23;",
        "st.global.u16 \t[%rd80], %rs23;\n\tst.global.u16 \t[%rd80+16], %rs23;",
        "st.global.u16 \t[%rd80+16], %rs23;",
        ("D[i,j] holds what D[i-1,j] should", "with no barrier between"),
    ),
    "bias of the neighbour, inside the activation": Edit(
        "ld.global.u16 \t%rs25, [%rd79+2];",
        "ld.global.u16 \t%rs25, [%rd79];",
        "",
        ("D[0,1] uses bias[0], expected bias[1], inside max",),
    ),
    "registers of A exchanged, inside the activation": Edit(
        "{%r72, %r73, %r74, %r75}",
        "{%r72, %r74, %r73, %r75}",
        "mma.sync",
        ("D[0,0] uses A[8,0]*B[8,0]*alpha, expected A[0,8]*B[8,0]*alpha",),
    ),
    "row of A that is loaded": Edit(
        "ld.global.u32 \t%r73, [%rd84];",
        "ld.global.u32 \t%r73, [%rd85];",
        "ld.global.u32 \t%r73, [%rd85];",
        ("D[8,0] uses A[0,0]*B[0,0]*alpha, expected A[8,0]*B[0,0]*alpha",),
    ),
    "column of B that is loaded": Edit(
        "add.s64 \t%rd86, %rd1, %rd63;",
        "add.s64 \t%rd86, %rd1, 0;",
        "",
        ("D[0,0] uses A[0,2]*B[0,0]*alpha, expected A[0,2]*B[2,0]*alpha",),
    ),
}


def findings_of(edit: Edit, folder: Path) -> tuple[str, tuple[KernelFinding, ...]]:
    text = (CORPUS / KERNEL).read_text(encoding="utf-8")
    assert text.count(edit.old) >= 1
    before, _, after = text.rpartition(edit.old)
    path = folder / KERNEL
    path.write_text(before + edit.new + after, encoding="utf-8")
    return path.read_text(encoding="utf-8"), verify(path, contract_of(KERNEL)).result.findings


@pytest.mark.parametrize("edit", EDITS.values(), ids=list(EDITS))
def test_the_instruction_at_fault_is_blamed_once(edit: Edit, tmp_path: Path) -> None:
    text, findings = findings_of(edit, tmp_path)
    assert len(findings) == 1, "\n".join(map(str, findings))
    assert findings[0].kind is Kind.WRONG_VALUE
    for each in edit.says:
        assert each in findings[0].message
    if edit.blamed:
        assert edit.blamed in text.splitlines()[findings[0].line - 1]


def test_vectors_of_polynomials_are_not_followed_as_terms() -> None:
    store = TermStore()
    quantifier = Quantifier(store)
    inputs = store.inputs("A", F32, np.arange(2))
    store.vectors(atom_numbers(inputs)[None])
    missing = Monomial((int(quantifier.read(inputs, F32)[0]),), 0, 1)
    assert not FaultLocator(quantifier).makes([missing])
