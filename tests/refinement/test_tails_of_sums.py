"""Sums over any number of terms: one proof is for whole tiles and any tail that the last turn is left."""

from __future__ import annotations

from pathlib import Path

import pytest
from edited_kernels import edited
from element_contracts import contract_of
from hypothesis import given
from hypothesis import strategies as st
from quantified_kernels import contract_and_kernel, prove_blocks

from mmaproof.refinement.contract.size_domains import SizeDomain, with_tail
from mmaproof.refinement.contract.size_polynomials import SizePolynomials
from mmaproof.refinement.ptx.any_size import block_proofs
from mmaproof.refinement.sizes.partial_sums import partial_sums
from mmaproof.spec.errors import UnsupportedError

TERM = """
    add.u32 %r6, %r5, {index};
    setp.lt.u32 %p1, %r6, %r1;
    mov.f32 %f1, 0f00000000;
    @%p1 ld.global.f32 %f1, [%rd4+{offset}];
    fma.rn.f32 %f0, %f1, %f1, %f0;"""

KERNEL = f"""
.version 8.0
.target sm_80
.address_size 64
.visible .entry squares(.param .u64 x, .param .u64 y, .param .u32 k)
{{
    .reg .pred %p<4>;
    .reg .f32 %f<3>;
    .reg .b32 %r<9>;
    .reg .b64 %rd<9>;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    ld.param.u32 %r1, [k];
    mov.u32 %r2, %ctaid.x;
    mul.lo.u32 %r3, %r2, %r1;
    mul.wide.u32 %rd3, %r3, 4;
    add.s64 %rd4, %rd1, %rd3;
    add.u32 %r4, %r1, 3;
    shr.u32 %r4, %r4, 2;
    mov.u32 %r5, 0;
    mov.u32 %r7, 0;
    mov.f32 %f0, 0f00000000;
turn:{"".join(TERM.format(index=index, offset=4 * index) for index in range(4))}
    add.s64 %rd4, %rd4, 16;
    add.u32 %r5, %r5, 4;
    add.u32 %r7, %r7, 1;
    setp.lt.u32 %p2, %r7, %r4;
    @%p2 bra turn;
    mul.wide.u32 %rd5, %r2, 4;
    add.s64 %rd6, %rd2, %rd5;
    st.global.f32 [%rd6], %f0;
    ret;
}}
"""


LAST = TERM.format(index=3, offset=12)


def contract(formula: str = "Y[i] = sum(k, X[i, k] * X[i, k])", depth: str = "any up to 5000") -> str:
    sizes = {"M": "any up to 1000", "K": depth}
    return contract_of("squares", sizes, ["M"], [1], formula, output="M", passed="K")


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    path = tmp_path / "squares.ptx"
    path.write_text(KERNEL, encoding="utf-8")
    return path


@pytest.mark.parametrize("depth", ["any up to 1000", "any >= 7 up to 4999", "any multiple of 2 up to 5000"])
def test_one_proof_is_for_every_tail(kernel: Path, depth: str) -> None:
    proof = prove_blocks(kernel, contract(depth=depth), "K")
    assert proof.last is not None and proof.last.most == int(depth.rpartition(" ")[2])
    exits = [each for each in proof.obligations if each.name.endswith("exit")]
    assert len(exits) == 1


FAULTS = {
    "the tail is left out": ("add.u32 %r4, %r1, 3;", "mov.u32 %r4, %r1;"),
    "the tail is left out where it is one": ("add.u32 %r4, %r1, 3;", "add.u32 %r4, %r1, 2;"),
    "one more is loaded": (LAST, LAST.replace("setp.lt", "setp.le")),
    "the mask of the term before": ("add.u32 %r6, %r5, 3;", "add.u32 %r6, %r5, 2;"),
    "the mask of the term behind": ("add.u32 %r6, %r5, 1;", "add.u32 %r6, %r5, 2;"),
    "zeros that are no zeros": (LAST, LAST.replace("0f00000000", "0f00800000")),
    "the mask of the first turn": ("add.u32 %r5, %r5, 4;", ""),
    "a term twice": ("[%rd4+12]", "[%rd4+8]"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_wrong_tails_are_not_shown(
    kernel: Path, fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(block_proofs, "factors_of", lambda contract: ())  # rests one by one fail as well
    wrong = edited(tmp_path, kernel, FAULTS[fault])
    with pytest.raises(UnsupportedError):
        prove_blocks(wrong, contract(), "K")


HARMLESS = {
    "the mask is exchanged": (LAST, LAST.replace("setp.lt.u32 %p1, %r6, %r1", "setp.gt.u32 %p1, %r1, %r6")),
    "a turn of nothing": ("add.u32 %r4, %r1, 3;", "add.u32 %r4, %r1, 7;"),
}


@pytest.mark.parametrize("edit", HARMLESS)
def test_harmless_edits_are_shown(kernel: Path, edit: str, tmp_path: Path) -> None:
    assert prove_blocks(edited(tmp_path, kernel, HARMLESS[edit]), contract(), "K").last is not None


@pytest.mark.parametrize(
    ("term", "vanishes"),
    [
        ("X[i, k] * X[i, k]", True), ("X[i, k] * 3", True), ("-X[i, k]", True), ("f32(X[i, k])", True),
        ("X[i, k] - 2 * X[i, k]", True), ("X[i, k] + 1", False), ("exp(X[i, k])", False),
        ("X[i, 0] * X[0, 0]", False), ("where(X[i, k] > 0, 1, 0)", False), ("1 / X[i, k]", False),
        ("max(X[i, k], 0) * 2", False), ("X[i, k] * exp(X[i, k] - 5)", True),
        ("X[i, k] * sigmoid(X[i, k])", True), ("X[i, k] * rsqrt(X[i, k])", False),
        ("X[i, k] * (1 / X[i, k])", False), ("X[i, k] * log(X[i, k])", False),
        ("exp(X[i, k] + 90) * X[i, k]", False), ("where(X[i, k] > 0, X[i, k], inf) * X[i, k]", False),
        ("ue8m0(X[i, k])", False), ("X[i, k] * ue8m0(X[i, k])", True),
    ],
)  # fmt: skip
def test_terms_with_zeros_are_zeros_where_they_are_products(kernel: Path, term: str, vanishes: bool) -> None:
    extent = "" if "k" in term else " < K"
    found, _ = contract_and_kernel(contract(f"Y[i] = sum(k{extent}, {term})"), kernel)
    assert found.quantified is not None
    sums = partial_sums(found, "K", SizePolynomials(found.quantified))
    if vanishes:
        assert sums.axes_of_zeros() == {"X": 1}
    else:
        with pytest.raises(UnsupportedError, match="must be a product"):
            sums.axes_of_zeros()


@pytest.mark.parametrize(
    ("term", "vanishes"),
    [
        ("exp(X[i, k] - H[i]) * X[i, k]", False), ("(X[i, k] - H[i]) * (X[i, k] - H[i]) * X[i, k]", False),
        ("X[i, k] * (X[i, k] - H[i]) * H[i]", False), ("(X[i, k] - H[i]) * X[i, k]", True),
        ("where(X[i, k] <= 0, 2 + exp(H[i]), 2) * X[i, k]", False),
        ("where(X[i, k] <= 0, 2 + H[i], 2) * X[i, k]", True),
        ("X[i, k] * H[i] * H[i]", True), ("X[i, k] * (2 * X[i, k] - H[i])", True),
    ],
)  # fmt: skip
def test_products_of_data_may_overflow_at_zeros_alone(kernel: Path, term: str, vanishes: bool) -> None:
    more = '[[param]]\nname = "H"\ntype = "f32"\nshape = ["M"]\n[ensures]'
    text = contract(f"Y[i] = sum(k, {term})").replace("[ensures]", more)
    found, _ = contract_and_kernel(text, kernel)
    assert found.quantified is not None
    sums = partial_sums(found, "K", SizePolynomials(found.quantified))
    if vanishes:
        assert sums.axes_of_zeros() == {"X": 1}
    else:
        with pytest.raises(UnsupportedError, match="must be a product"):
            sums.axes_of_zeros()


def test_zeros_of_a_format_without_a_zero_are_no_zeros(kernel: Path) -> None:
    text = contract("Y[i] = sum(k, X[i, k])").replace('"f32"', '"ue8m0"', 1)
    found, _ = contract_and_kernel(text, kernel)
    assert found.quantified is not None
    with pytest.raises(UnsupportedError, match="must be a product"):
        partial_sums(found, "K", SizePolynomials(found.quantified)).axes_of_zeros()


def test_a_sum_that_is_written_twice_is_one(kernel: Path) -> None:
    total = "sum(k < K, X[i, k] * X[i, k])"
    found, _ = contract_and_kernel(contract(f"Y[i] = {total} / (1 + exp(-{total}))"), kernel)
    assert found.quantified is not None
    assert partial_sums(found, "K", SizePolynomials(found.quantified)).index == "k"


@given(step=st.integers(1, 8), tiles=st.integers(2, 8), least=st.integers(1, 100), count=st.integers(1, 300))
def test_whole_tiles_and_tails_are_all_numbers(step: int, tiles: int, least: int, count: int) -> None:
    tile, first = step * tiles, least * step
    most = -(-(first + count * step) // tile) * tile
    domain = SizeDomain("K", "", step, first, most)
    numbers = with_tail(domain, tile)
    assert numbers.covered.most == most
    begins = range(numbers.from_(0), numbers.last + 1, tile)
    assert all(numbers.count(begin) == begin // tile for begin in begins)
    met = {begin + more for begin in begins for more in range(0, tile, step)}
    assert met >= set(range(first, most + 1, step))
    assert min(met) > first - tile
