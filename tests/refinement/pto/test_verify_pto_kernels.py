"""The PTO kernels of the corpus are verified on every profile on which they are legal."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest
from frozen_table import frozen

from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.pto.run.execution import SCALES_IN_A_LINE
from mmaproof.refinement.verification import verify
from mmaproof.spec.errors import InputError
from tests.pto_kernels import CORPUS, KERNELS, PROFILES, contract_of, text_of, verified

ILLEGAL = {("mx_e4m3", "A2A3"): "profile", ("gemv_f16", "CPU"): "static-shape"}
"""A rule that a kernel violates on a profile."""

EXAMPLE = Path(__file__).parents[3] / "examples" / "pto"


def test_the_frozen_verdicts_are_those_of_the_sources() -> None:
    """``tests/tools/test_frozen_verdicts.py`` verifies the kernels on every profile."""
    for name, profile in product(KERNELS, PROFILES):
        verdict, _, kinds = frozen("PTO", f"{name}.{profile}")
        legal = (name, profile) not in ILLEGAL
        assert verdict == ("verified" if legal else "refuted"), (name, profile)
        assert set(kinds) == (set() if legal else {Kind.ILLEGAL}), (name, profile)


@pytest.mark.parametrize(("name", "profile"), ILLEGAL)
def test_a_kernel_is_refuted_where_it_is_illegal(tmp_path: Path, name: str, profile: str) -> None:
    found = verified(tmp_path, text_of(name), contract_of(name, profile, first_sizes=True)).result
    assert found.verdict == "refuted"
    assert {finding.kind for finding in found.findings} == {Kind.ILLEGAL}
    assert any(ILLEGAL[name, profile] in finding.message for finding in found.findings)


@pytest.mark.parametrize("name", ["ragged_f32"])
def test_a_kernel_is_verified_at_every_set_of_its_sizes(tmp_path: Path, name: str) -> None:
    found = verified(tmp_path, text_of(name), contract_of(name, "A5"))
    assert found.result.verdict == "verified"
    assert len(found.result.stats["sizes"]) == 2


@pytest.mark.parametrize("name", ["transposed_s8", "gemv_f16"])
def test_memory_alone_is_safe(tmp_path: Path, name: str) -> None:
    contract = contract_of(name, "A5").partition("[ensures]")[0]
    assert verified(tmp_path, text_of(name), contract).result.verdict == "safe"


def test_sums_in_the_documented_order_are_the_very_bits(tmp_path: Path) -> None:
    contract = contract_of("gemv_f16", "A5") + 'accumulate = "sequential"\n'
    result = verified(tmp_path, text_of("gemv_f16"), contract).result
    assert result.equality == "bits"
    assert any("accumulation=seeded" in assumption for assumption in result.assumptions)


@pytest.mark.parametrize("choice", ["accumulation=added-last", "accumulator-rounding=toward-zero"])
def test_a_choice_of_another_order_contradicts_it(tmp_path: Path, choice: str) -> None:
    kernel, contract = tmp_path / "k.pto", tmp_path / "c.toml"
    kernel.write_text(text_of("gemv_f16"), encoding="utf-8")
    contract.write_text(contract_of("gemv_f16", "A5") + 'accumulate = "sequential"\n', encoding="utf-8")
    with pytest.raises(InputError, match="contradicts the contract's accumulate"):
        verify(kernel, contract, choices=[choice])


def test_integers_and_sums_in_any_order_assume_nothing_of_it(tmp_path: Path) -> None:
    for name, more in (("transposed_s8", 'accumulate = "sequential"\n'), ("gemv_f16", "")):
        result = verified(tmp_path, text_of(name), contract_of(name, "A5") + more).result
        assert result.verdict == "verified"
        assert not any("summed" in assumption for assumption in result.assumptions)


ONE_ROW = (
    ("32x128x", "1x128x"),
    ("32x4x", "1x4x"),
    ("32x64x", "1x64x"),
    ("%m = arith.constant 32", "%m = arith.constant 1"),
)


@pytest.mark.parametrize("changes", [ONE_ROW, ()])
def test_a_verdict_says_where_scale_factors_of_one_row_are(
    tmp_path: Path, changes: tuple[tuple[str, str], ...]
) -> None:
    contract = contract_of("mx_e4m3", "CPU", first_sizes=True)
    if changes:
        contract = contract.replace("[32, ", "[1, ")
    result = verified(tmp_path, text_of("mx_e4m3", *changes), contract).result
    assert result.verdict == "verified"
    assert (SCALES_IN_A_LINE in result.assumptions) == bool(changes)


def test_the_text_says_the_profile_and_the_contract_may_say_another(tmp_path: Path) -> None:
    text = text_of("mx_e4m3", ("module {", 'module attributes {pto.target_arch = "a5"} {'))
    assert verified(tmp_path, text, contract_of("mx_e4m3")).result.verdict == "verified"
    assert verified(tmp_path, text, contract_of("mx_e4m3", "A2A3")).result.verdict == "refuted"


def test_every_kernel_has_a_contract() -> None:
    assert [name for name in KERNELS if not (CORPUS / f"{name}.toml").exists()] == []


def test_two_kernels_are_compared(tmp_path: Path) -> None:
    names = ("new.pto", "old.pto", "c.toml")
    new, old, contract = (tmp_path / name for name in names)
    new.write_text(text_of("transposed_s8"), encoding="utf-8")
    accumulated = "pto.tmatmul.acc ins(%c, %a1, %b1 : !acc, !left, !right)"
    swapped = (
        ("pto.tmatmul ins(%a0, %b0", "pto.tmatmul ins(%a1, %b1"),
        (accumulated, accumulated.replace("1", "0")),
    )
    contract.write_text(contract_of("transposed_s8", "A5").partition("[ensures]")[0], encoding="utf-8")
    for text, verdict in (
        (text_of("transposed_s8", *swapped), "verified"),
        (text_of("transposed_s8", swapped[1]), "refuted"),
    ):
        old.write_text(text, encoding="utf-8")
        assert verify(new, contract, against=old).result.verdict == verdict


def test_several_launches_follow_each_other(tmp_path: Path) -> None:
    kernel = """
!memory = memref<32x32xf32, #pto.address_space<gm>>
!tile = !pto.tile_buf<vec, 32x32xf32>
module attributes {pto.target_arch = "a5"} {
  func.func @turned(%y: !memory, %x: !memory) {
    %a = pto.alloc_tile : !tile
    %b = pto.alloc_tile : !tile
    pto.tload ins(%x : !memory) outs(%a : !tile)
    pto.set_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
    pto.wait_flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]
    pto.ttrans ins(%a : !tile) outs(%b : !tile)
    pto.set_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]
    pto.wait_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]
    pto.tstore ins(%b : !tile) outs(%y : !memory)
    return
  }
}
"""
    arrays = "".join(
        f'[[param]]\nname = "{name}"\ntype = "f32"\nshape = [32, 32]\naccess = "{access}"\n'
        for name, access in (("Y", "out"), ("W", "scratch"), ("X", "in"))
    )
    contract = f"""
[kernel]
isa = "pto"
[[launch]]
entry = "turned"
params = ["W", "X"]
[[launch]]
entry = "turned"
params = ["Y", "W"]
{arrays}
[ensures]
formula = "Y[i, j] = X[i, j]"
"""
    assert verified(tmp_path, kernel, contract).result.verdict == "verified"
    without = kernel.replace("    pto.wait_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID0>]\n", "")
    assert verified(tmp_path, without, contract).result.verdict == "refuted"
    implied = "".join(line for line in kernel.splitlines(keepends=True) if "_flag[" not in line)
    assert verified(tmp_path, implied, contract).result.verdict == "verified"
    said = contract.replace('isa = "pto"', 'isa = "pto"\nsync = "explicit"')
    assert verified(tmp_path, implied, said).result.verdict == "refuted"
