"""Kernels for every number of a size: what is shown holds, and what is wrong far away is not shown."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import triton_contracts
from cuda_contracts import CORPUS, KERNELS, contract_of, for_every_k
from document_schemas import validate
from quantified_kernels import prove_size
from sweep_parameters import few

from mmaproof.refinement.findings.result import Equality, Method
from mmaproof.refinement.ptx.any_size import residue_classes, size_induction
from mmaproof.refinement.ptx.any_size.loop_states import Cells
from mmaproof.refinement.ptx.any_size.size_proofs import SizeProof
from mmaproof.refinement.sizes.invariant_inference import HELD
from mmaproof.refinement.verification import verify
from mmaproof.spec.errors import UnsupportedError

KERNEL = CORPUS / "simt_f32_sm80.ptx"
LATE = "add.s32 \t%r38, %r38, 16;"
AFTER = "$L__BB0_7:\n"


def stated(domain: str = "any multiple of 16") -> str:
    """Return the contract of the kernel for sizes that may be many."""
    text = contract_of(KERNEL.name).read_text(encoding="utf-8")
    return re.sub(r"M = 19\nN = 37\nK = 37", f'M = 16\nN = 16\nK = "{domain}"', text)


def prove(text: str, path: Path = KERNEL) -> SizeProof:
    """Prove a kernel for every number of the one size of a contract."""
    return prove_size(text, path)


def counted(path: Path, text: str, folder: Path) -> dict[Any, int]:
    """Return the roundings that a kernel is shown to have at the sizes of a contract."""
    written = folder / "counted.toml"
    written.write_text(text, encoding="utf-8")
    ((_, found),) = verify(path, written).examinations
    assert found.roundings is not None
    return dict(found.roundings.counts)


ROUNDED = ["mma_f64_sm80.ptx", "mma_f16_sm80.ptx", "simt_f32_sm80.ptx", "wmma_f16_sm80.ptx"]


@pytest.mark.parametrize("name", few(ROUNDED, "simt_f32_sm80.ptx"))
def test_the_bound_is_a_function_of_the_size(name: str, tmp_path: Path) -> None:
    text = for_every_k(KERNELS[name]["entry"], " up to 4096")
    proof = prove(text, CORPUS / name)
    shown = proof.roundings
    assert shown is not None and shown.unit == ""
    step, tight = proof.domain.step, False
    for number in range(proof.first, proof.first + 2 * shown.turn, step):
        known = text.replace(f'"any multiple of {step} up to 4096"', str(number))
        assert known != text
        (least,), (most,) = counted(CORPUS / name, known, tmp_path).values(), shown.at(number).values()
        assert least <= most <= least + dict(shown.counts[1]).popitem()[1]
        tight |= least == most
    assert tight


def test_what_a_turn_rounds_twice_grows_twice_as_fast(tmp_path: Path) -> None:
    before = prove(stated("any multiple of 16 up to 4096"))
    path = edited(tmp_path, LATE, LATE + "\nmul.f32 %f67, %f67, 0f3F800000;")
    after = prove(stated("any multiple of 16 up to 4096"), path)
    assert before.roundings is not None and after.roundings is not None
    (each,), (more,) = (dict(found.roundings.counts[1]).values() for found in (before, after))
    assert (each, more) == (16, 17)


def edited(folder: Path, old: str, new: str) -> Path:
    text = KERNEL.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path = folder / KERNEL.name
    path.write_text(text.replace(old, new), encoding="utf-8")
    return path


def test_a_verdict_holds_for_every_number_of_a_domain(tmp_path: Path) -> None:
    path = tmp_path / "contract.toml"
    path.write_text(stated("any multiple of 16 up to 1048576"), encoding="utf-8")
    result = verify(KERNEL, path, every=True).result
    assert (result.verdict, result.equality) == ("verified", Equality.VALUE)
    assert result.strength == " (value, for every K as stated)"
    validate("verify", json.loads(json.dumps(result.document())))
    assert [(each.method, each.shown_to) for each in result.quantified] == [(Method.INDUCTION, 1 << 20)]
    parts = {each["obligation"] for each in result.stats["obligations"]}
    assert parts == {"K: base", "K: step", "K: exit", "K: sums"}


def test_a_verdict_ends_where_an_index_overflows(tmp_path: Path) -> None:
    proof = prove(stated())
    # The last row of B begins at (K - 1)·16, and 15 elements follow: at K = 2^27 that is 2^31 - 1.
    assert proof.domain.most == 1 << 27
    assert "32 bits may overflow" in proof.limit
    assert proof.overflow is not None
    assert proof.overflow.sizes["K"] == (1 << 27) + 16 and proof.overflow.is_smallest
    assert proof.overflow.value > proof.overflow.limit == (1 << 31) - 1
    # Its last turns are run: row K - 16 of B begins at 2^31 elements.
    assert f"byte {-4 << 31} of B" in proof.overflow.access
    assert f"it should be byte {4 << 31}, B[{1 << 27},0]" in proof.overflow.access


FAULTS = {
    "a counter of 12 bits": (LATE, LATE + "\nand.b32 %r38, %r38, 4095;"),
    "an index of 16 bits": (
        "add.s32 \t%r36, %r36, %r11;",
        "add.s32 \t%r36, %r36, %r11;\nand.b32 %r36, %r36, 65535;",
    ),
    "wrong from 4096 on": (AFTER, AFTER + "setp.ge.s32 %p1, %r22, 4096;\n@%p1 mov.f32 %f67, 0f00000000;\n"),
    "wrong if K mod 1024 is 512": (
        AFTER,
        AFTER + "and.b32 %r38, %r22, 1023;\nsetp.eq.s32 %p1, %r38, 512;\n@%p1 mov.f32 %f67, 0f00000000;\n",
    ),
    "a turn too few from 800 on": (
        "setp.lt.s32 \t%p8, %r38, %r22;",
        "setp.lt.s32 %p8, %r22, 800;\nselp.b32 %r14, 0, 16, %p8;\nadd.s32 %r14, %r38, %r14;\n"
        "setp.lt.s32 \t%p8, %r14, %r22;",
    ),
    "no barrier at the end of a turn": ("bar.sync \t0;\n\tadd.s64", "add.s64"),
    "the next element instead of the next tile": (
        "add.s64 \t%rd15, %rd15, 64;",
        "add.s64 \t%rd15, %rd15, 4;",
    ),
}


@pytest.mark.parametrize("fault", few(FAULTS, "wrong from 4096 on", "no barrier at the end of a turn"))
def test_what_is_wrong_far_away_is_not_shown_for_all(fault: str, tmp_path: Path) -> None:
    path = edited(tmp_path, *FAULTS[fault])
    try:
        shown = prove(stated(), path).domain.most
    except UnsupportedError:
        return
    assert shown in LIMITS.get(fault, ()), shown


LIMITS = {"a counter of 12 bits": range(4096), "an index of 16 bits": range(65536 // 16 + 1)}
"""Below which numbers a fault shows nowhere; all others show at any number."""


def other_cells(monkeypatch: pytest.MonkeyPatch, change: Any) -> None:
    """Change what is guessed to be held before every turn."""
    original = size_induction.guessed

    def changed(*given: Any) -> tuple[Cells, int]:
        found, odd = original(*given)
        if not odd:
            change(given[0], found)
        return found, odd

    monkeypatch.setattr(size_induction, "guessed", changed)


def moving(store: Any, found: Cells) -> Iterator[tuple[str, np.ndarray]]:
    """Yield registers that hold integers which move from turn to turn."""
    for name, terms in found.registers.items():
        rows, known = store.rows_of(terms)
        if known.all() and rows[:, store.symbols.column("u")].any():
            yield name, rows


@pytest.mark.parametrize("seconds", [1, pytest.param(30, marks=pytest.mark.sweep)])
@pytest.mark.parametrize("change", few(["coefficient", "constant"], "coefficient"))
def test_a_wrong_guess_is_refused(change: str, seconds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def wrong(store: Any, found: Cells) -> None:
        name, rows = next(moving(store, found))
        rows[0, store.symbols.column("u") if change == "coefficient" else 0] += 1
        found.registers[name] = store.integers(rows, int(store.widths(found.registers[name][:1])[0]))
        seen.append(name)

    other_cells(monkeypatch, wrong)
    monkeypatch.setattr(residue_classes, "_SEARCH", seconds)
    with pytest.raises(
        UnsupportedError, match=r"invariant|equal|bound|depends|iterations|constant|polynomial"
    ):
        prove(stated("any multiple of 16 up to 65536"))
    assert seen


def accumulators(store: Any, found: Cells) -> list[str]:
    """Return the registers of 32 bits of which a guess says only that something is held."""
    return [
        name
        for name, terms in found.registers.items()
        if {
            store.operations[operation_number].attribute
            for operation_number in np.unique(store.operation_numbers(terms))
        }
        == {HELD}
        and int(store.widths(terms[:1])[0]) == 32
    ]


@pytest.mark.parametrize(
    "change", few(["left out", "as before the first turn", "as of another thread"], "left out")
)
def test_an_accumulator_that_a_guess_drops_is_refused(change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    dropped = []

    def drop(store: Any, found: Cells) -> None:
        (name,) = accumulators(store, found)
        terms = found.registers[name]
        if change == "left out":
            del found.registers[name]
        elif change == "as before the first turn":
            found.registers[name] = store.constants(np.zeros(len(terms), dtype=np.uint64), 32)
        else:
            found.registers[name] = np.concatenate([terms[:1], terms[:1], terms[2:]])
        dropped.append(name)

    other_cells(monkeypatch, drop)
    with pytest.raises(UnsupportedError):
        prove(stated("any multiple of 16 up to 65536"))
    assert dropped


def test_sums_that_are_taken_for_others_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    original = size_induction.looked_up

    def exchanged(wanted: Any, inputs: Any, values: Any) -> Any:
        found = original(wanted, inputs, values)
        found[:2] = found[1::-1]
        return found

    monkeypatch.setattr(size_induction, "looked_up", exchanged)
    with pytest.raises(UnsupportedError, match=r"base|step"):
        prove(stated("any multiple of 16 up to 65536"))


SHOWN = [
    "dequantised_s4_f16_sm80.ptx",
    "mma_f16_sm120a.ptx",
    "mma_f16_sm80.ptx",
    "mma_f16_sm89.ptx",
    "mma_f64_sm80.ptx",
    "mma_mxf4_sm120a.ptx",
    "mma_mxf8f6f4_sm120a.ptx",
    "mma_s4_sm80.ptx",
    "nf4_f32_sm80.ptx",
    "shuffled_gemv_f32_sm80.ptx",
    "simt_f32_sm80.ptx",
    "simt_f32_sm89.ptx",
    "wmma_f16_sm80.ptx",
    "wmma_f16_scaled_sm80.ptx",
    "wmma_s4_sm80.ptx",
    "wmma_s8_sm80.ptx",
]


@pytest.mark.parametrize("name", few(SHOWN, "simt_f32_sm80.ptx"))
def test_kernels_of_the_corpus_are_shown_for_every_k(name: str) -> None:
    proof = prove(for_every_k(KERNELS[name]["entry"], " up to 65536"), CORPUS / name)
    assert proof.domain.most == 65536 and len(proof.alone) < 24


def test_values_that_are_given_by_columns_are_not_for_every_size() -> None:
    text = for_every_k("mma_sparse_f16").replace('"K // 4"]', '"K // 4"]\nstrides = "column-major"')
    with pytest.raises(UnsupportedError, match="E depends on sizes, and has given values"):
        prove(text, CORPUS / "mma_sparse_f16_sm80.ptx")


def triton(name: str, domain: str) -> tuple[str, Path]:
    """Return the contract of a Triton kernel at one tile each way, and the kernel."""
    return triton_contracts.for_every_k(name, domain), triton_contracts.CORPUS / name


@pytest.mark.parametrize(
    "name",
    [
        "gemm_f16_f16_f16_32x64x32_s2_sm80.ptx",
        pytest.param("gemm_f16_f32_f32_32x32x32_s1_sm80.ptx", marks=pytest.mark.sweep),
        pytest.param("gemm_f16_f32_f32_32x64x32_s2_bias_sm80.ptx", marks=pytest.mark.sweep),
    ],
)
def test_pipelines_of_compilers_are_shown_for_every_size(name: str) -> None:
    proof = prove(*triton(name, "any multiple of 32 up to 1048576"))
    assert proof.domain.most == 1 << 20 and proof.first < 256


@pytest.mark.parametrize(
    "name",
    [
        "gemm_f16_f32_f32_32x64x32_s2_sm80_fault_b_advance.ptx",
        pytest.param("gemm_f16_f32_f32_32x64x32_s2_sm80_fault_k_loop_short.ptx", marks=pytest.mark.sweep),
        pytest.param("gemm_f16_f32_f32_32x64x32_s2_sm80_fault_a_stride.ptx", marks=pytest.mark.sweep),
    ],
)
def test_faults_of_compilers_kernels_are_not_shown(name: str) -> None:
    with pytest.raises(UnsupportedError):
        prove(*triton(name, "any multiple of 32 up to 1048576"))


SOUND = [name for name, facts in triton_contracts.KERNELS.items() if not facts["fault"]]


def agrees_at(name: str, number: int, folder: Path) -> bool:
    """Tell whether a kernel is verified at one K."""
    path = folder / "contract.toml"
    path.write_text(triton_contracts.for_every_k(name, f"any >= {number} up to {number}"), encoding="utf-8")
    return verify(triton_contracts.CORPUS / name, path).result.verdict == "verified"


@pytest.mark.sweep
@pytest.mark.parametrize("name", ["gemm_f16_f32_f32_32x32x32_s1_sm80.ptx"])
def test_sizes_of_a_domain_shown_are_verified_one_by_one(name: str, tmp_path: Path) -> None:
    step = triton_contracts.KERNELS[name]["tile"][2]
    proof = prove(*triton(name, f"any multiple of {step}"))
    numbers = np.random.default_rng(1).choice(np.arange(proof.first, 20 * step, step), 2, replace=False)
    assert all(number in proof.domain and agrees_at(name, number, tmp_path) for number in numbers.tolist())


@pytest.mark.sweep
@pytest.mark.parametrize("name", SOUND)
def test_random_sizes_of_every_domain_shown_are_verified(name: str, tmp_path: Path) -> None:
    step = triton_contracts.KERNELS[name]["tile"][2]
    try:
        proof = prove(*triton(name, f"any multiple of {step}"))
    except UnsupportedError as reason:
        pytest.skip(str(reason))
    numbers = np.random.default_rng(2).choice(np.arange(proof.first, 24 * step, step), 6, replace=False)
    assert all(agrees_at(name, number, tmp_path) for number in numbers.tolist())


@pytest.mark.sweep
def test_each_rest_is_shown_by_itself_where_masks_depend_on_it() -> None:
    proof = prove(stated("any up to 1000000"))
    assert (proof.domain.step, proof.domain.most) == (1, 1000000)
    assert len(proof.alone) < 48


def test_a_rest_that_is_not_known_is_told_with_its_line(tmp_path: Path) -> None:
    fault = "rem.s32 %r38, %r22, 48;\nsetp.eq.s32 %p1, %r38, 16;\n@%p1 mov.f32 %f67, 0f00000000;\n"
    path = edited(tmp_path, AFTER, AFTER + fault)
    line = path.read_text(encoding="utf-8").splitlines().index("rem.s32 %r38, %r22, 48;") + 1
    with pytest.raises(UnsupportedError, match=rf"\.ptx:{line}: rem by 48 is not a polynomial"):
        prove(stated("any multiple of 16 up to 65536"), path)


def test_sums_of_integers_end_where_they_may_saturate() -> None:
    proof = prove(*triton("gemm_s8_s32_s32_32x32x32_s1_ragged_sm80.ptx", "any multiple of 32"))
    assert proof.equality is Equality.BITS and re.search(r"\.ptx:\d+: .*saturate", proof.limit)
    # 2^17 products of -128 by -128 are 2^31, the first number that s32 does not have.
    assert (1 << 17) - 512 < proof.domain.most < 1 << 17


@pytest.mark.sweep
def test_a_fault_is_refuted_at_the_sizes_that_stand_in_for_all(tmp_path: Path) -> None:
    text, kernel = triton("gemm_f16_f32_f32_32x64x32_s2_sm80_fault_b_advance.ptx", "any multiple of 32")
    path = tmp_path / "contract.toml"
    path.write_text(text, encoding="utf-8")
    found = verify(kernel, path)
    assert found.result.verdict == "refuted" and found.counterexample is not None
    assert found.result.stats["sizes"][-1]["K"] <= 96


ROW_SUMS = """
.version 8.0
.target sm_90
.address_size 64
.visible .entry sums(.param .u64 x, .param .u64 y, .param .u32 k)
{
    .reg .pred %p<2>; .reg .b16 %h<2>; .reg .b32 %r<5>; .reg .f32 %f<3>; .reg .b64 %d<6>;
    ld.param.u64 %d1, [x]; ld.param.u64 %d2, [y]; ld.param.u32 %r1, [k];
    mov.u32 %r2, %tid.x; mul.lo.u32 %r3, %r2, %r1; mul.wide.u32 %d3, %r3, 4; add.s64 %d1, %d1, %d3;
    mul.wide.u32 %d4, %r2, 4; add.s64 %d2, %d2, %d4; mov.f32 %f1, 0f00000000; mov.u32 %r4, 0;
TURN:
    ld.global.f32 %f2, [%d1]; CARRIED add.rn.f32 %f1, %f1, %f2;
    add.s64 %d1, %d1, 4; add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, %r1; @%p1 bra TURN;
    st.global.f32 [%d2], %f1; ret;
}
"""

CONTRACT_OF_SUMS = """
[kernel]
isa = "ptx"
[launch]
grid = 1
block = 4
[sizes]
K = "any up to 64"
[[param]]
name = "X"
type = "f32"
shape = [4, "K"]
[[param]]
name = "Y"
type = "f32"
shape = [4]
access = "out"
[[param]]
name = "k"
type = "u32"
value = "K"
[ensures]
formula = "Y[i] = sum(k, X[i, k])"
"""


@pytest.mark.parametrize(
    ("carried", "verdict"),
    [
        ("", "verified"),
        ("cvt.rn.bf16.f32 %h1, %f1; cvt.f32.bf16 %f1, %h1;", "verified"),
        ("cvt.rn.f16.f32 %h1, %f1; cvt.f32.f16 %f1, %h1;", "undecided"),
        ("rcp.rn.f32 %f1, %f1; rcp.rn.f32 %f1, %f1;", "undecided"),
    ],
)
def test_conditions_of_what_is_carried_from_turn_to_turn_are_told(
    carried: str, verdict: str, tmp_path: Path
) -> None:
    """The first turn, with which every size begins, carries a constant."""
    kernel, contract = tmp_path / "sums.ptx", tmp_path / "sums.toml"
    kernel.write_text(ROW_SUMS.replace("CARRIED", carried))
    contract.write_text(CONTRACT_OF_SUMS)
    result = verify(kernel, contract).result
    assert result.verdict == verdict, result.findings
    if verdict == "undecided":
        assert "is right only if no" in result.findings[0].message
