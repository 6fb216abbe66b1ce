"""ptxas takes exactly the products of warpgroups that the rules allow, the named contradictions apart.

Ordinary runs judge a sample; ``pytest -m sweep tests/conformance/test_warpgroup_legality_with_ptxas.py`` all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from ptx_disagreements import around, disagreements, sampled
from ptx_warpgroup import legal, modified, near_variants, operand_neighbours, operands

from mmaproof.spec.ptx.catalogue import Form
from mmaproof.spec.ptx.instructions import Instruction
from mmaproof.spec.ptx.legality import Module, violations
from mmaproof.spec.ptx.signatures import signatures
from mmaproof.spec.ptx.targets import target_named
from mmaproof.spec.ptx.variant import Variant
from mmaproof.spec.ptx.wgmma_forms import WARPGROUP_ORDER_FORMS, WGMMA_FORMS, WgmmaForm

MODULE = Module(target_named("sm_90a"), (9, 0))

SAMPLE = 600
"""Nearly legal instructions of each kind in an ordinary run."""


def given(form: Form, variant: Variant) -> Instruction:
    return Instruction(variant, operands(signatures(form, variant)[0]))


def chosen(every: Sequence[Any], number: int, seed: int) -> list[Any]:
    """Return some of many."""
    return [every[int(place)] for place in np.random.default_rng(seed).permutation(len(every))[:number]]


def one_variant_each() -> Iterator[tuple[WgmmaForm, Variant]]:
    return ((form, next(form.variants())) for form in WGMMA_FORMS)


def test_ptxas_has_every_form_exactly_on_its_targets_and_versions() -> None:
    rng = np.random.default_rng(0)
    judged = [
        (instruction, module)
        for form in WGMMA_FORMS
        for variant in sampled(list(form.variants()), 2, rng)
        for module in around(form, variant)
        for instruction in legal(form, variant)
    ]
    judged += [
        (given(form, variant), module)
        for form in WARPGROUP_ORDER_FORMS
        for variant in form.variants()
        for module in around(form, variant)
    ]
    assert disagreements(judged) == []


def test_ptxas_generates_code_for_a_variant_of_every_form() -> None:
    judged = [(each, MODULE) for form, variant in one_variant_each() for each in legal(form, variant)]
    assert not any(violations(each, module.target, module.ptx) for each, module in judged)
    assert disagreements(judged, generate=True) == []


def test_ptxas_rejects_other_modifiers_as_the_rules_do() -> None:
    judged = [
        (given(form, other), MODULE)
        for form, variant in one_variant_each()
        for other in modified(form, variant)
    ]
    assert disagreements(judged) == []


def test_ptxas_rejects_other_shapes_and_types_as_the_rules_do() -> None:
    every = list(near_variants())
    assert len(every) > 40_000
    judged = [(given(form, variant), MODULE) for form, variant in chosen(every, SAMPLE, 1)]
    assert disagreements(judged) == []


def test_ptxas_rejects_wrong_operands_as_the_rules_do() -> None:
    every = [
        neighbour for form, variant in one_variant_each() for neighbour in operand_neighbours(form, variant)
    ]
    assert disagreements([(each, MODULE) for each in chosen(every, SAMPLE, 2)]) == []


@pytest.mark.sweep
def test_sweep_every_variant() -> None:
    every = [each for form in WGMMA_FORMS for variant in form.variants() for each in legal(form, variant)]
    assert disagreements((each, MODULE) for each in every) == []


@pytest.mark.sweep
def test_sweep_other_shapes_and_types() -> None:
    assert disagreements((given(form, variant), MODULE) for form, variant in near_variants()) == []


@pytest.mark.sweep
def test_sweep_operands() -> None:
    every = (
        neighbour for form, variant in one_variant_each() for neighbour in operand_neighbours(form, variant)
    )
    assert disagreements((each, MODULE) for each in every) == []
