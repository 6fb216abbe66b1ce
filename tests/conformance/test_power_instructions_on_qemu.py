"""What every modelled instruction does to random registers and memory, compared with QEMU."""

from __future__ import annotations

from pathlib import Path

import pytest
from power_states import cases, differences, on_machine, on_qemu

from mmaproof.refinement.power.image.instruction_forms import forms
from mmaproof.refinement.power.instruction_set import HANDLERS

ELSEWHERE = (
    "b bl bc bcl bclr bclrl bcctr bcctrl addpcis mtspr mfspr dcbz lvx stvx dcbt dcbtst sync isync eieio ",
    "mfocrf",
)
"""Instructions whose results are addresses, or that write more than these programs have."""

FORMS = [
    form
    for name, form in forms().items()
    if name in HANDLERS and form.specified is None and name not in " ".join(ELSEWHERE).split()
]


@pytest.mark.parametrize(("each", "seed"), [(1, 1), pytest.param(12, 2, marks=pytest.mark.sweep)])
def test_instructions_do_what_they_do_on_qemu(each: int, seed: int, tmp_path: Path) -> None:
    some = list(cases(FORMS, each, seed))
    assert len(some) >= each * 500
    wrong = {}
    for case, expected in zip(some, on_qemu(some, tmp_path), strict=True):
        if told := differences(on_machine(case), expected):
            wrong[str(case.instruction)] = told
    assert wrong == {}
