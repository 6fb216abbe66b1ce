"""The bound of a verdict counts what a chosen model of the matrix unit rounds, or the worst of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import pytest
from cuda_contracts import CORPUS, contract_of

from mmaproof.refinement.findings.result import Result
from mmaproof.refinement.ptx.warp.matrix import IN_ORDER
from mmaproof.refinement.terms import operations
from mmaproof.refinement.terms.matrix_rounding import MatrixRounding, matrix_rounding
from mmaproof.refinement.terms.operations import Accumulation
from mmaproof.refinement.terms.store import Operation
from mmaproof.refinement.verification import verify
from mmaproof.spec.dot_add_bound import RoundingStep
from mmaproof.spec.errors import InputError
from mmaproof.spec.formats import E4M3, F16, F32

KERNEL = "wmma_f16_scaled_sm80.ptx"


def bound_of(*choices: str, kernel: str = KERNEL) -> str:
    result = verify(CORPUS / kernel, contract_of(kernel), choices=choices).result
    assert result.verdict == "verified"
    assert result.bound is not None
    return result.bound


def test_a_choice_says_what_each_instruction_rounds() -> None:
    assert "(1 + 2^-24)^2·(1 + 16·2^-25 + 2^-23)^4 - 1)·S" in bound_of("hopper")
    assert "(1 + 2^-24)^2·(1 + 4·2^-23 + 2^-23)^16 - 1)·S" in bound_of("volta")
    assert "(1 + 2^-24)^65 - 1)·S" in bound_of("sequential")


def test_without_a_choice_the_bound_is_that_of_the_worst_model_that_runs_the_kernel() -> None:
    bound = bound_of()
    assert "(1 + 8·2^-24 + 2^-23)^8 - 1)·S" in bound
    assert "at worst of ampere, ada, hopper, blackwell-sm100, blackwell:" in bound


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        (["hoper"], "hoper"),
        (["padding=maybe"], "maybe"),
    ],
)
def test_a_choice_that_does_not_exist_is_wrong_use(choices: Sequence[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        bound_of(*choices)


def test_metadata_are_read_by_the_reading_that_a_verdict_names() -> None:
    with pytest.raises(InputError, match="half-k-metadata: verify reads metadata by as-twice-k"):
        bound_of("half-k-metadata=unspecified")


def test_scale_factors_are_found_by_the_reading_that_a_verdict_names() -> None:
    with pytest.raises(InputError, match="one-row-scales: verify finds them in a line"):
        matrix_rounding("pto", "CPU", ["one-row-scales=boxes"])


def in_order(kernel: str, folder: Path, *choices: str) -> Result:
    path = folder / "contract.toml"
    path.write_text(contract_of(kernel).read_text() + 'accumulate = "sequential"\n')
    return verify(CORPUS / kernel, path, choices=choices).result


@pytest.mark.sample(1)
@pytest.mark.parametrize(("kernel", "said"), [(KERNEL, True), ("mma_f64_sm80.ptx", False)])
def test_a_verdict_says_that_matrix_units_sum_in_order(kernel: str, said: bool, tmp_path: Path) -> None:
    result = in_order(kernel, tmp_path)
    assert result.verdict == "verified"
    assert (IN_ORDER in result.assumptions) == said
    assert IN_ORDER not in verify(CORPUS / kernel, contract_of(kernel)).result.assumptions


def test_a_model_that_does_not_sum_in_order_contradicts_a_contract_that_does(tmp_path: Path) -> None:
    with pytest.raises(InputError, match='hopper contradicts the contract\'s accumulate = "sequential"'):
        in_order(KERNEL, tmp_path, "hopper")
    assert in_order(KERNEL, tmp_path, "sequential").verdict == "verified"


def test_a_model_without_the_instruction_is_wrong_use() -> None:
    with pytest.raises(InputError, match=r"hopper .* has no matrix unit for mma"):
        bound_of("hopper", kernel="mma_mxf4_sm120a.ptx")


def test_other_instruction_sets_have_no_choice() -> None:
    assert matrix_rounding("power", "power10", ()) is None
    with pytest.raises(InputError, match="power"):
        matrix_rounding("power", "power10", ["hopper"])


@pytest.mark.parametrize("name", ["tf32=e8m10", "tf32=e8m11", "subnormals=flushed", "cpu-2026-06"])
def test_readings_of_pto_whose_roundings_are_not_counted_are_refused(name: str) -> None:
    """A factor that is rounded to 10 fraction bits is further off than all that the bound counts."""
    with pytest.raises(InputError, match="no bound that is known"):
        matrix_rounding("pto", "A5", [name])


def test_an_accumulator_that_cuts_off_is_twice_as_far_off() -> None:
    operation = operations.dot(F32, F16, F16, F32, Accumulation("accumulate", 16))
    found = [matrix_rounding("pto", "A5", names) for names in ([], ["accumulator-rounding=toward-zero"])]
    nearest, cut = (each.of(operation) for each in found if each is not None)
    assert nearest is not None
    assert cut is not None
    assert nearest[0] == ((F32, 16),)
    ((step, count),) = cut[0]
    assert isinstance(step, RoundingStep)
    assert (step.unit, count) == (Fraction(1, 1 << 23), 16)


def test_a_choice_of_anything_else_leaves_the_worst_model() -> None:
    worst, chosen = unit("sm_90").of(fp8()), unit("sm_90", "zero-sign=negative")
    assert chosen.of(fp8()) == worst
    assert "at worst of hopper" in str(chosen)
    assert "no product is zero" in str(unit("sm_90", "zero-products=factors"))
    assert unit("sm_90", "zero-sign=negative", "accumulation=sequential").of(fp8()) != worst


# -- what operations undergo


def fp8(length: int = 32) -> Operation:
    order = "accumulate_m16n8k32_f32_e4m3_e4m3_f32"
    return operations.dot(F32, E4M3, E4M3, F32, Accumulation(order, length))


def unit(target: str, *names: str) -> MatrixRounding:
    found = matrix_rounding("ptx", target, names)
    assert found is not None
    return found


def growth(counts: Sequence[tuple[object, int]]) -> float:
    total = 1.0
    for kind, count in counts:
        step = float(kind.unit) if isinstance(kind, RoundingStep) else 2.0**-24
        total *= (1 + step) ** count
    return total - 1


def test_products_and_addends_are_as_bad_as_any_model_has_them() -> None:
    """C is added last on one of them, and goes through every step on another."""
    worst = unit("sm_90").of(fp8())
    assert worst is not None
    for name in ("hopper", "blackwell-sm100", "blackwell"):
        alone = unit("sm_90", name).of(fp8())
        assert alone is not None
        for most, own in zip(worst, alone, strict=True):
            assert growth(most) >= growth(own)


def test_ada_is_no_model_of_later_targets() -> None:
    coarse, fine = (unit(target).of(fp8()) for target in ("sm_89", "sm_90"))
    assert coarse is not None
    assert fine is not None
    assert growth(coarse[0]) > 1000 * growth(fine[0])


def test_a_target_between_two_models_has_the_earlier_one() -> None:
    assert unit("sm_86").name == unit("sm_80").name
    assert "ampere" in unit("sm_86").name
    assert "volta" not in unit("sm_86").name


def test_what_is_no_matrix_instruction_has_no_model() -> None:
    assert unit("sm_80").of(fp8(31)) is None
    other = operations.dot(F32, F16, F16, F32, Accumulation("contract", 16))
    assert unit("sm_80").of(other) is None


def test_zero_products_that_count_are_told() -> None:
    assert "no product is zero" in str(unit("sm_90", "hopper", "zero-products=factors"))
    assert "no product is zero" not in str(unit("sm_90", "hopper"))


def test_choices_change_the_bound_and_nothing_else() -> None:
    plain, chosen = (verify(CORPUS / KERNEL, contract_of(KERNEL), choices=c).result for c in ((), ("volta",)))
    assert plain.hypotheses == chosen.hypotheses
    assert dataclasses.replace(plain, bound="", stats={}) == dataclasses.replace(chosen, bound="", stats={})


@pytest.mark.parametrize(
    ("isa", "target", "choice"),
    [
        ("ptx", "sm_90", "satfinite-clamp=halves"),
        ("ptx", "sm_90", "f64-order=unspecified"),
        ("ptx", "sm_90", "sparse-b=unspecified"),
        ("ptx", "sm_90", "scale-a-rows=unspecified"),
        ("ptx", "sm_90", "narrow-rows=unspecified"),
        ("ptx", "sm_90a", "wgmma-metadata=distinct"),
        ("pto", "A5", "integer-overflow=clamp"),
        ("pto", "A5", "unit-pitches=physical"),
    ],
)
def test_readings_that_no_kernel_is_run_with_are_refused(isa: str, target: str, choice: str) -> None:
    with pytest.raises(InputError, match=f"--choice {choice.partition('=')[0]}: verify runs kernels with"):
        matrix_rounding(isa, target, [choice])
