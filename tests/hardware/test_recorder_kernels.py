"""The recorder's kernels assemble to machine code, and leave no form of a target out."""

from __future__ import annotations

import os
import subprocess
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hardware.cases import Case, cases
from hardware.kernels import module
from ptx_assembler import assembler
from sweep_parameters import few

from mmaproof.spec.ptx.assembly import parse
from mmaproof.spec.ptx.block_scaling import ScaleFactors
from mmaproof.spec.ptx.catalogue import WARP_FORMS
from mmaproof.spec.ptx.legality import violations
from mmaproof.spec.ptx.mma_forms import MmaForm
from mmaproof.spec.ptx.targets import NEWEST, Version, target_named
from mmaproof.spec.ptx.variant import Variant
from mmaproof.spec.ptx.variant_rules import form_of

TARGETS = ("sm_80", "sm_90a", "sm_120a")

KERNELS = 100
"""Kernels of one module."""


@pytest.mark.parametrize("name", few(TARGETS, "sm_90a"))
def test_kernels_assemble(name: str, tmp_path: Path) -> None:
    target, ptxas = target_named(name), assembler()
    by_version: dict[Version, list[Case]] = defaultdict(list)
    for case, ptx in cases(target):
        if ptx <= ptxas.ptx:
            by_version[ptx].append(case)
    modules = [
        module(found[at : at + KERNELS], target, ptx)
        for ptx, found in by_version.items()
        for at in range(0, len(found), KERNELS)
    ]

    def assemble(number: int) -> str:
        source = tmp_path / f"{number}.ptx"
        source.write_text(modules[number])
        finished = subprocess.run(
            [ptxas.executable, "-arch", name, "-suppress-sparse-mma-advisory-info", source, "-o", os.devnull],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        return finished.stdout + finished.stderr if finished.returncode else ""

    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        assert [said for said in pool.map(assemble, range(len(modules))) if said] == []


@pytest.mark.parametrize("name", TARGETS)
def test_every_legal_variant_is_recorded(name: str) -> None:
    target = target_named(name)
    recorded: set[Variant] = set()
    for case, _ in cases(target):
        recorded |= {case.variant, *case.moves}
    legal = {
        variant
        for form in WARP_FORMS
        for variant in form.variants()
        if form.availability(variant).on(target) and not violations(parse(str(variant)), target, NEWEST)
    }
    assert {str(variant) for variant in legal - recorded} == set()


@pytest.mark.parametrize("name", TARGETS)
def test_every_selector_is_recorded(name: str) -> None:
    used = defaultdict(set)
    for case, _ in cases(target_named(name)):
        used[case.variant].add(case.selected)
    for variant, selected in used.items():
        form = form_of(variant)
        if not isinstance(form, MmaForm):
            continue
        if form.sparse:
            assert {s.sparsity for s in selected} == set(range(form.selectors))
        if form.scale_vec:
            a, b = (ScaleFactors(operand, form.scale_factors).selectors for operand in "ab")
            assert {s.scale_a for s in selected} == set(a)
            assert {s.scale_b for s in selected} == set(b)


def test_a_case_survives_its_header() -> None:
    for case, _ in cases(target_named("sm_120a")):
        assert Case.from_header(case.header()) == case
