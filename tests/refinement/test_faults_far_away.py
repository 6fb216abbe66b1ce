"""Faults that few or large sizes show: they are not claimed right for every size.

Each fault says at which K the kernel is wrong. A proof may hold for others only, and what it leaves to be
verified one by one is no claim.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import triton_contracts
from cuda_contracts import CORPUS, contract_of, for_every_k
from edited_kernels import edited
from sweep_parameters import few

from mmaproof.refinement.contract.reading import parse_contract
from mmaproof.refinement.machine.front_end import read_kernel
from mmaproof.refinement.ptx.front_end import PtxKernel
from mmaproof.refinement.verification import verify
from mmaproof.spec.errors import UnsupportedError

MOST = 65536

SIMT = CORPUS / "simt_f32_sm80.ptx"
AFTER = "$L__BB0_7:\n"
LATE = "setp.lt.s32 \t%p8, %r38, %r22;"
ZERO = "@%p1 mov.f32 %f67, 0f00000000;\n"

MMA = CORPUS / "mma_f16_sm80.ptx"

STAGES = triton_contracts.CORPUS / "gemm_f16_f32_f32_64x64x32_s3_sm80.ptx"
STAGE = "selp.b32 \t%r265, 0, %r157, %p6;"
WAITS = "\tcp.async.wait_group \t2;\n\tcp.async.wait_group \t2;\n"
COPIES = "setp.lt.s32 \t%p4, %r298, %r34;"

Fault = tuple[Path, tuple[tuple[str, str], ...], Callable[[int], bool]]
FAULTS: dict[str, Fault] = {
    "wrong if K/32 is odd": (
        SIMT,
        ((AFTER, AFTER + "and.b32 %r38, %r22, 63;\nsetp.eq.s32 %p1, %r38, 32;\n" + ZERO),),
        lambda k: k % 64 == 32,
    ),
    "wrong if K/32 is odd and large": (
        SIMT,
        (
            (
                AFTER,
                AFTER + "shr.u32 %r38, %r22, 5;\nand.b32 %r14, %r38, 1;\nsetp.ge.s32 %p1, %r38, 128;\n"
                "selp.b32 %r14, %r14, 0, %p1;\nsetp.ne.s32 %p1, %r14, 0;\n" + ZERO,
            ),
        ),
        lambda k: k // 32 % 2 == 1 and k >= 4096,
    ),
    "a split that leaves out the last 64 if K mod 128 is 64": (
        SIMT,
        (
            (
                LATE,
                "and.b32 %r14, %r22, 127;\nsetp.eq.s32 %p8, %r14, 64;\nselp.b32 %r14, 64, 0, %p8;\n"
                "sub.s32 %r14, %r22, %r14;\nsetp.lt.s32 %p8, %r38, %r14;",
            ),
        ),
        lambda k: k % 128 == 64,
    ),
    "a counter of 16 bits": (
        SIMT,
        ((LATE, "cvt.s32.s16 %r38, %r38;\n" + LATE),),
        lambda k: k > 32752,
    ),
    "a phase that turns after 512 turns": (
        SIMT,
        ((LATE, "and.b32 %r14, %r38, 8192;\nsetp.ne.s32 %p1, %r14, 0;\n" + ZERO + LATE),),
        lambda k: k > 8176,
    ),
    "an end of its own for more than 5000": (
        SIMT,
        ((AFTER, AFTER + "setp.gt.s32 %p1, %r22, 5000;\n" + ZERO),),
        lambda k: k > 5000,
    ),
    "wrong if the last of three stages is half full": (
        SIMT,
        ((AFTER, AFTER + "rem.u32 %r38, %r22, 96;\nsetp.eq.s32 %p1, %r38, 80;\n" + ZERO),),
        lambda k: k % 96 == 80,
    ),
    "an index of 16 bits in the last row of a tile": (
        SIMT,
        (
            (
                AFTER,
                AFTER + "mul.lo.s32 %r38, %r22, 3;\nand.b32 %r38, %r38, 65535;\n"
                "mul.lo.s32 %r14, %r22, 3;\nsetp.ne.s32 %p1, %r38, %r14;\n" + ZERO,
            ),
        ),
        lambda k: 3 * k > 65535,
    ),
    "a stage counter of 8 bits": (
        STAGES,
        (
            (
                STAGE,
                STAGE + "\nand.b32 %r157, %r298, 255;\nsetp.eq.s32 %p6, %r157, 255;\n"
                "selp.b32 %r265, 0, %r265, %p6;",
            ),
        ),
        lambda k: k > 257 * 32,
    ),
    "copies that end by a turn of 8 bits": (
        STAGES,
        ((COPIES, "and.b32 %r157, %r298, 255;\nsetp.lt.s32 %p4, %r157, %r34;"),),
        lambda k: k > 256 * 32,
    ),
    "one more group under way than stages": (
        STAGES,
        ((WAITS, WAITS.replace("2", "3")),),
        lambda k: k > 0,
    ),
    "one more group under way from the third turn on": (
        STAGES,
        (
            (
                WAITS,
                "setp.lt.s32 %p6, %r298, 2;\n@%p6 cp.async.wait_group 2;\n" + WAITS.replace("2", "3"),
            ),
        ),
        lambda k: k >= 96,
    ),
    "one more group under way from turn 200 on": (
        STAGES,
        (
            (
                WAITS,
                "setp.lt.s32 %p6, %r298, 200;\n@%p6 cp.async.wait_group 2;\n" + WAITS.replace("2", "3"),
            ),
        ),
        lambda k: k > 204 * 32,
    ),
    "one more group under way than two stages": (
        MMA,
        (("cp.async.wait_group 1;", "cp.async.wait_group 2;"),),
        lambda k: k > 0,
    ),
}


def contract_text(kernel: Path, domain: str) -> str:
    if kernel.parent == CORPUS:
        text = for_every_k(contract_of(kernel.name).stem)
        start, end = text.index('K = "any'), text.index('"\n', text.index('K = "any'))
        return f'{text[:start]}K = "{domain}{text[end:]}'
    return triton_contracts.for_every_k(kernel.name, domain)


def claimed(kernel: Path, text: str) -> range:
    """Return the numbers for which a proof claims that a kernel is right."""
    contract = parse_contract(text)
    assert contract.quantified is not None
    (domain,) = contract.quantified.domains
    read = read_kernel("ptx", kernel, contract.entry, contract.target)
    assert isinstance(read, PtxKernel)
    try:
        proof = read.for_every(contract, {}, domain, lambda what: None)
    except UnsupportedError:
        return range(0)
    return range(proof.first, proof.domain.most + 1, domain.step)


@pytest.mark.parametrize(
    "fault",
    few(
        FAULTS,
        "wrong if K/32 is odd",
        "wrong if K/32 is odd and large",
        "one more group under way than stages",
        "one more group under way than two stages",
    ),
)
def test_a_fault_is_not_claimed_right_where_it_shows(fault: str, tmp_path: Path) -> None:
    kernel, changes, is_wrong = FAULTS[fault]
    path = edited(tmp_path, kernel, *changes)
    text = contract_text(kernel, f"any multiple of 32 up to {MOST}")
    assert not [k for k in claimed(path, text) if is_wrong(k)]


@pytest.mark.sample(1)
@pytest.mark.parametrize("kernel", [SIMT, STAGES, MMA], ids=lambda each: each.stem)
def test_the_kernels_without_faults_are_claimed_right(kernel: Path) -> None:
    found = claimed(kernel, contract_text(kernel, f"any multiple of 32 up to {MOST}"))
    assert found and found[-1] == MOST


@pytest.mark.parametrize(
    "fault",
    few(
        [
            "wrong if K/32 is odd",
            "a split that leaves out the last 64 if K mod 128 is 64",
            "one more group under way than stages",
            "one more group under way from the third turn on",
            "one more group under way than two stages",
        ],
        "wrong if K/32 is odd",
    ),
)
def test_a_fault_is_refuted_at_a_size_where_it_shows(fault: str, tmp_path: Path) -> None:
    kernel, changes, is_wrong = FAULTS[fault]
    contract = tmp_path / "contract.toml"
    contract.write_text(contract_text(kernel, "any multiple of 32"), encoding="utf-8")
    result = verify(edited(tmp_path, kernel, *changes), contract).result
    assert result.verdict == "refuted"
    assert is_wrong(result.stats["sizes"][-1]["K"]), result.stats["sizes"]


@pytest.mark.parametrize(
    "fault", few(["a phase that turns after 512 turns", "copies that end by a turn of 8 bits"])
)
def test_a_fault_behind_what_is_shown_is_run_and_refuted(fault: str, tmp_path: Path) -> None:
    kernel, changes, is_wrong = FAULTS[fault]
    contract = tmp_path / "contract.toml"
    contract.write_text(contract_text(kernel, f"any multiple of 32 up to {MOST}"), encoding="utf-8")
    result = verify(edited(tmp_path, kernel, *changes), contract).result
    assert result.verdict == "refuted"
    assert is_wrong(result.stats["sizes"][-1]["K"]), result.stats["sizes"]


@pytest.mark.parametrize("fault", few(FAULTS, "one more group under way than two stages"))
def test_no_fault_is_verified_where_a_domain_states_it(fault: str, tmp_path: Path) -> None:
    kernel, changes, _ = FAULTS[fault]
    contract = tmp_path / "contract.toml"
    contract.write_text(contract_text(kernel, f"any multiple of 32 up to {MOST}"), encoding="utf-8")
    assert verify(edited(tmp_path, kernel, *changes), contract).result.verdict in ("refuted", "undecided")
