"""Sizes of contracts that may be any number of a domain: how they are read, and what stands in for them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from cuda_contracts import CORPUS, contract_of
from hypothesis import given
from hypothesis import strategies as st

from mmaproof.refinement.contract.reading import parse_contract
from mmaproof.refinement.contract.size_domains import LARGEST, read_domain, sweep
from mmaproof.refinement.findings.result import Method
from mmaproof.refinement.verification import verify
from mmaproof.spec.errors import InputError

TEXT = """
[kernel]
isa = "ptx"
[launch]
grid = ["N // 32", "(M + 31) // 32"]
block = {block}
[sizes]
M = "any"
N = "any multiple of 32"
K = {k}
G = "K // 32"
[[param]]
name = "A"
type = "f16"
shape = ["M", "{extent}"]
[[param]]
name = "C"
type = "f32"
shape = ["M", "N"]
access = "out"
[ensures]
formula = "C[i, j] = sum(k, A[i, k])"
"""


def text(k: str = '"any multiple of 32"', block: str = "128", extent: str = "K") -> str:
    return TEXT.format(k=k, block=block, extent=extent)


@given(st.integers(1, 512), st.integers(1, 5000), st.integers(1, 10**6))
def test_a_domain_has_the_numbers_that_its_text_says(step: int, least: int, span: int) -> None:
    domain = read_domain("K", f"any multiple of {step} >= {least} up to {least + span + step}", "here")
    expected = {each for each in range(1, least + span + step + 1) if each % step == 0 and each >= least}
    assert (domain.least, domain.most) == (min(expected), max(expected))
    assert all(representative in expected for representative in domain.representatives)
    assert domain.least in domain.representatives


@pytest.mark.parametrize(
    ("contract", "message"),
    [
        (text('"any >= 5 up to 3"'), "which is empty"),
        (text('"any multiple of 0"'), "the only multiple of 0 is 0"),
        (text('"any odd"'), "a size is a number, an expression, or"),
        (text(f'"any >= {LARGEST + 1}"'), "which is empty"),
        (text(f'"any up to {LARGEST + 1}"'), "sizes of a domain are from 1"),
        (text('"any >= 0"'), "sizes of a domain are from 1"),
        (text('"any up to 0"'), "which is empty"),
        (text(block='"K"'), "a kernel is compiled for one block"),
        (text(block='"G + 32"'), "a kernel is compiled for one block"),
        (text(extent="K % 7"), "must be a polynomial of M, N, K"),
        (text(extent="K // 64"), "must be a polynomial of M, N, K"),
        (text('"any"', extent="G"), "must be a polynomial of M, N, K"),
        (
            text().replace("[sizes]", "[[sizes]]") + '[[sizes]]\nM = 1\nN = 32\nK = "any"\nG = 1\n',
            "one table",
        ),
    ],
)
def test_what_no_kernel_can_be_for_is_refused_in_one_line(contract: str, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)) as error:
        parse_contract(contract)
    assert "\n" not in str(error.value)


def test_sizes_that_stand_in_for_all_hit_the_usual_residues() -> None:
    contract = parse_contract(text())
    assert contract.quantified is not None
    sets = contract.sizes
    assert {each["K"] // 32 for each in sets} >= {1, 2, 3, 4, 5}
    assert {each["M"] % 32 for each in sets} >= {0, 1, 31}
    assert all(each["G"] == each["K"] // 32 for each in sets)


def test_a_grid_of_nine_by_seven_tiles_is_among_them() -> None:
    domains = [read_domain(name, "any multiple of 32", "here") for name in "MN"]
    assert {"M": 9 * 32, "N": 7 * 32} in sweep(domains, ["M", "N"])


@pytest.mark.sweep
def test_a_verdict_says_how_far_it_holds(tmp_path: Path) -> None:
    kernel = CORPUS / "simt_f32_sm80.ptx"
    stated = contract_of(kernel.name).read_text(encoding="utf-8")
    stated = re.sub(r"M = 19\nN = 37\nK = 37", 'M = "any multiple of 16 up to 1024"\nN = 16\nK = 16', stated)
    stated = stated.replace("(M + 15) // 16", "M // 16 + 1")  # a block too many, which does nothing
    path = tmp_path / "contract.toml"
    path.write_text(stated, encoding="utf-8")
    result = verify(kernel, path, every=False).result
    assert (result.verdict, [each.method for each in result.quantified]) == ("verified", [Method.LISTED])
    assert "at the sizes listed" in result.strength
    again = verify(kernel, path).result
    assert again.verdict == "undecided" and any("every M" in finding.message for finding in again.findings)
