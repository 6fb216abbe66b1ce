"""Kernels for every number of the sizes by which their grids grow: one block stands for all."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
import row_contracts
import triton_contracts
from cuda_contracts import CORPUS, contract_of
from document_schemas import validate
from edited_kernels import edited
from quantified_kernels import RAGGED, SIMT, TRITON, of_triton, stated
from quantified_kernels import prove_blocks as prove
from sweep_parameters import few

from mmaproof.refinement.findings.result import Equality, Method
from mmaproof.refinement.ptx.any_size import block_proofs
from mmaproof.refinement.verification import verify
from mmaproof.spec.errors import UnsupportedError

SIXTEENS = "any multiple of 16"


def test_one_block_stands_for_all() -> None:
    proof = prove(SIMT, stated(SIMT, SIXTEENS, SIXTEENS, 32))
    assert {domain.name for domain in proof.domains} == {"M", "N"}
    # Indices are products of two sizes in 32 bits.
    assert all(domain.most < 46341 for domain in proof.domains)
    assert "32 bits may overflow" in proof.limit


def test_sizes_are_shown_up_to_the_last_that_fits() -> None:
    text = of_triton(TRITON.name, "any multiple of 32", "any multiple of 64", 32)
    ends = {domain.name: domain.most for domain in prove(TRITON, text).domains}
    # The last element that is stored lies at M·N - 1, of s32 that 46340² is the last square of.
    assert all(46340 - 128 < ends[name] <= 46340 for name in "MN")


def test_the_end_is_found_in_few_attempts_where_all_sizes_are_any(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[int] = []
    attempted = block_proofs._Attempt.proof

    def counted(self, domains, last):  # type: ignore[no-untyped-def]
        tried.append(max(domain.most for domain in domains))
        return attempted(self, domains, last)

    monkeypatch.setattr(block_proofs._Attempt, "proof", counted)
    text = stated(SIMT, SIXTEENS, SIXTEENS, SIXTEENS)
    proof = prove(SIMT, text, "K")
    assert proof.last is not None
    assert all(46340 - 32 < domain.most <= 46340 for domain in (*proof.domains, proof.last))
    assert len(set(tried)) <= 3, tried


MASKED_COPY = """.version 8.0
.target sm_80
.address_size 64
.visible .entry copy(.param .u64 a, .param .u64 c, .param .u32 m, .param .u32 n) {
.reg .pred %p<3>;
.reg .b32 %r<16>;
.reg .b64 %rd<8>;
ld.param.u64 %rd1, [a];
ld.param.u64 %rd2, [c];
ld.param.u32 %r1, [m];
ld.param.u32 %r2, [n];
mov.u32 %r3, %ctaid.y;
mov.u32 %r4, %tid.y;
shl.b32 %r5, %r3, 4;
or.b32 %r5, %r5, %r4;
mov.u32 %r6, %ctaid.x;
mov.u32 %r7, %tid.x;
shl.b32 %r8, %r6, 4;
or.b32 %r8, %r8, %r7;
setp.ge.s32 %p1, %r5, %r1;
setp.ge.s32 %p2, %r8, %r2;
@%p1 bra done;
@%p2 bra done;
mul.lo.s32 %r9, %r5, %r2;
mul.wide.s32 %rd3, %r9, 4;
mul.wide.s32 %rd4, %r8, 4;
add.s64 %rd5, %rd3, %rd4;
add.s64 %rd6, %rd1, %rd5;
add.s64 %rd7, %rd2, %rd5;
ld.global.b32 %r10, [%rd6];
st.global.b32 [%rd7], %r10;
done:
ret;
}
"""
"""A masked copy, whose rows begin at i·N in 32 bits: i·N < 2^31 for all i < M up to M = N = 46341."""

COPIED = """[kernel]
isa = "ptx"
entry = "copy"
[launch]
grid = ["cdiv(N, 16)", "cdiv(M, 16)"]
block = [16, 16]
[sizes]
M = "any"
N = "any"
[[param]]
name = "A"
type = "f32"
shape = ["M", "N"]
[[param]]
name = "C"
type = "f32"
shape = ["M", "N"]
access = "out"
[[param]]
name = "m"
type = "s32"
value = "M"
[[param]]
name = "n"
type = "s32"
value = "N"
[ensures]
formula = "C[i, j] = A[i, j]"
"""


def test_a_fault_is_found_behind_rows_that_masks_hide(tmp_path: Path) -> None:
    (path := tmp_path / "copy.ptx").write_text(MASKED_COPY, encoding="utf-8")
    (contract := tmp_path / "contract.toml").write_text(COPIED, encoding="utf-8")
    result = verify(path, contract).result
    assert [finding.kind for finding in result.findings] == ["out-of-bounds"]
    (ends,) = {int(number) for number in re.findall(r"[MN] = (\d+)", result.findings[0].message)}
    assert 46342 <= ends < 46342 + 16


def test_no_fault_is_found_where_indices_have_64_bits(tmp_path: Path) -> None:
    wide = MASKED_COPY.replace("mul.lo.s32 %r9, %r5, %r2;", "").replace(
        "mul.wide.s32 %rd3, %r9, 4;", "mul.wide.s32 %rd3, %r5, %r2;\nshl.b64 %rd3, %rd3, 2;"
    )
    (path := tmp_path / "copy.ptx").write_text(wide, encoding="utf-8")
    (contract := tmp_path / "contract.toml").write_text(
        COPIED.replace('"any"', '"any up to 60000"'), encoding="utf-8"
    )
    result = verify(path, contract).result
    assert (result.verdict, result.findings) == ("verified", ())


def test_indices_of_64_bits_are_shown_as_far_as_a_grid_goes(tmp_path: Path) -> None:
    wide = "mul.wide.s32 %rd13, %r2, %r21;\ncvt.s64.s32 %rd14, %r5;\nadd.s64 %rd13, %rd13, %rd14;\n"
    wide += "shl.b64 %rd13, %rd13, 2;"
    path = edited(tmp_path, SIMT, ("mul.wide.s32 \t%rd13, %r34, 4;", wide))
    proof = prove(path, stated(SIMT, SIXTEENS, SIXTEENS, 16))
    ends = {domain.name: domain.most for domain in proof.domains}
    assert ends["M"] == 65535 * 16 and ends["N"] >= ends["M"], proof.limit


def test_a_size_without_a_grid_is_a_finding(tmp_path: Path) -> None:
    path = tmp_path / "contract.toml"
    text = stated(SIMT, "any", 16, 16)
    path.write_text(re.sub(r"grid = .*", 'grid = ["N // 16", "M // 16"]', text), encoding="utf-8")
    result = verify(SIMT, path).result
    assert result.verdict == "refuted" and [finding.kind for finding in result.findings] == ["illegal"]
    assert "a grid of 1 x 0 x 1 blocks launches nothing at M = 1, N = 16" in result.findings[0].message


@pytest.mark.parametrize(
    ("grid", "sizes", "blocks", "empty"),
    [
        ('["N // 16", "M // 16", "K // 48"]', (16, 16, SIXTEENS), "1 x 1 x 0", (16, 16, 16)),
        ('["N // 16", "M // 16", "max(0, 1 - K // 128)"]', (16, 16, SIXTEENS), "1 x 1 x 0", (16, 16, 128)),
        ('["N // 16", "M // 16 - 7"]', (SIXTEENS, 16, 16), "1 x -6 x 1", (16, 16, 16)),
        ('["N // 16", "abs1"]', (f"{SIXTEENS} up to 4096", 16, 16), "1 x 0 x 1", (1808, 16, 16)),
        ('["N // 16 - M // 16 + 3", 1]', (SIXTEENS, SIXTEENS, 16), "0 x 1 x 1", (64, 16, 16)),
    ],
)  # fmt: skip
def test_the_smallest_size_without_a_grid_is_found(
    grid: str, sizes: tuple[str | int, ...], blocks: str, empty: tuple[int, ...], tmp_path: Path
) -> None:
    path = tmp_path / "contract.toml"
    far = "max(M // 16 - 113, 113 - M // 16)"  # 0 at a number that is no usual one
    text = re.sub(r"grid = .*", f"grid = {grid.replace('abs1', far)}", stated(SIMT, *sizes))
    path.write_text(text, encoding="utf-8")
    result = verify(SIMT, path).result
    assert result.verdict == "refuted" and [finding.kind for finding in result.findings] == ["illegal"]
    at = ", ".join(f"{name} = {number}" for name, number in zip("MNK", empty, strict=True))
    assert f"a grid of {blocks} blocks launches nothing at {at}" in result.findings[0].message


@pytest.mark.sweep
def test_a_size_of_the_launch_that_is_not_shown_says_in_which_line(tmp_path: Path) -> None:
    path = tmp_path / "contract.toml"
    path.write_text(stated(SIMT, f"{SIXTEENS} up to 1024", 16, 16), encoding="utf-8")
    far = "setp.eq.s32 %p1, %r20, 1008;\n@%p1 mov.f32 %f67, 0f00000000;\n"
    (rows,) = verify(edited(tmp_path, SIMT, (AFTER, AFTER + far)), path).result.quantified
    assert (rows.method, rows.reason.partition(":")[0]) == (Method.LISTED, "the launch depends on M")
    assert re.search(
        r"\.ptx:\d+: .*it is not shown that a block stores the values of the formula to C", rows.reason
    )


def test_multiples_of_what_tiles_are_no_multiples_of_are_parts_of_tiles() -> None:
    proof = prove(SIMT, stated(SIMT, "any multiple of 6 up to 4096", "any multiple of 24 up to 4096", 16))
    assert {domain.name: domain.step for domain in proof.domains} == {"M": 6, "N": 24}


def test_the_first_line_says_for_which_sizes(tmp_path: Path) -> None:
    path = tmp_path / "contract.toml"
    up_to = f"{SIXTEENS} up to 4096"
    path.write_text(stated(SIMT, up_to, up_to, 16), encoding="utf-8")
    result = verify(SIMT, path, every=True).result
    assert (result.verdict, result.strength) == ("verified", " (value, for every M, N as stated)")
    assert {(each.method, each.shown_to) for each in result.quantified} == {(Method.BLOCKS, 4096)}
    assert result.stats["obligations"]
    validate("verify", json.loads(json.dumps(result.document())))


def test_tiles_in_groups_are_shown_for_every_grid() -> None:
    proof = prove(TRITON, of_triton(TRITON.name, "any multiple of 32", "any multiple of 64", 32))
    assert proof.equality is Equality.VALUE
    assert [obligation.name for obligation in proof.obligations if obligation.name.endswith("order")] == [
        "groups of 2 tiles of M: order",
        "the last group of tiles of M: order",
    ]


@pytest.mark.sweep
def test_blocks_whose_number_is_read_again_are_shown_by_group(tmp_path: Path) -> None:
    text = TRITON.read_text(encoding="utf-8")
    (number,) = re.findall(r"mov\.u32 \t(%r\d+), %ctaid\.x;", text)
    last = text.rindex("st.global")
    line = text.rindex("\n", 0, last) + 1
    path = tmp_path / TRITON.name
    path.write_text(f"{text[:line]}\tmov.u32 {number}, %ctaid.x;\n{text[line:]}", encoding="utf-8")
    proof = prove(path, of_triton(TRITON.name, "any multiple of 32", "any multiple of 64", 32))
    assert {obligation.name.partition(" at ")[0].partition(":")[0] for obligation in proof.obligations} == {
        "groups of 2 tiles of M",
        "the last group of tiles of M",
    }
    assert not [obligation for obligation in proof.obligations if obligation.name.endswith("order")]


@pytest.mark.sweep
def test_all_sizes_are_shown_together() -> None:
    text = of_triton(TRITON.name, "any multiple of 32", "any multiple of 64", "any multiple of 32")
    proof = prove(TRITON, text, "K")
    assert proof.last is not None and proof.last.most >= 8192


@pytest.mark.sweep
def test_a_size_that_is_a_number_has_tiles_too() -> None:
    proof = prove(TRITON, of_triton(TRITON.name, "any multiple of 32", 192, 32))
    assert {domain.name: domain.most for domain in proof.domains}["N"] == 192


AFTER = "$L__BB0_7:\n"
FAULTS: dict[str, tuple[tuple[str, str], ...]] = {
    "rows and columns of blocks exchanged": (
        ("mov.u32 \t%r23, %ctaid.y;", "mov.u32 %r23, %ctaid.x;"),
        ("mov.u32 \t%r25, %ctaid.x;", "mov.u32 %r25, %ctaid.y;"),
    ),
    "the next tile of C": ((AFTER, AFTER + "add.s32 %r5, %r5, 16;\n"),),
    "a mask with the other size": (("setp.ge.s32 \t%p10, %r2, %r20;", "setp.ge.s32 %p10, %r2, %r21;"),),
    "a mask without the last row": (
        ("setp.ge.s32 \t%p10, %r2, %r20;", "add.s32 %r20, %r20, -1;\nsetp.ge.s32 %p10, %r2, %r20;"),
    ),
    "rows of 10 bits": (("add.s32 \t%r2, %r24, %r35;", "add.s32 %r2, %r24, %r35;\nand.b32 %r2, %r2, 1023;"),),
    "wrong in one block": ((AFTER, AFTER + "setp.eq.s32 %p1, %r25, 8;\n@%p1 mov.f32 %f67, 0f00000000;\n"),),
    "wrong from 2048 rows on": (
        (AFTER, AFTER + "setp.ge.s32 %p1, %r20, 2048;\n@%p1 mov.f32 %f67, 0f00000000;\n"),
    ),
    "the tile above of A": (("mad.lo.s32 \t%r32, %r22, %r2, %r37;", "mad.lo.s32 %r32, %r22, %r35, %r37;"),),
}


@pytest.mark.parametrize("fault", few(FAULTS, "rows and columns of blocks exchanged", "wrong in one block"))
def test_what_is_wrong_in_some_blocks_is_not_shown(fault: str, tmp_path: Path) -> None:
    path = edited(tmp_path, SIMT, *FAULTS[fault])
    with pytest.raises(UnsupportedError):
        prove(path, stated(SIMT, f"{SIXTEENS} up to 4096", f"{SIXTEENS} up to 4096", 16))


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "grid",
    [
        '["N // 16", "M // 32"]', '["N // 16", "M // 16 - 1"]', '["M // 16", "N // 16"]',
        '["N // 16", "N // 16"]', '["N // 16", 4]',
        '["(M // 16) * (N // 16)"]', '["N // 8", "M // 8"]', '["N", "M"]',
    ],
)  # fmt: skip
def test_grids_that_are_not_one_block_for_each_tile_are_not_shown(grid: str) -> None:
    text = stated(SIMT, f"{SIXTEENS} up to 4096", f"{SIXTEENS} up to 4096", 16)
    with pytest.raises(UnsupportedError):
        prove(SIMT, re.sub(r"grid = .*", f"grid = {grid}", text))


def test_sizes_that_follow_from_others_are_not_taken_for_numbers() -> None:
    text = stated(SIMT, f"{SIXTEENS} up to 4096", "2 * M", 16)
    with pytest.raises(UnsupportedError, match="depends on other sizes"):
        prove(SIMT, text)


def test_scalars_that_are_sizes_are_no_numbers_of_a_formula() -> None:
    text = stated(SIMT, f"{SIXTEENS} up to 4096", f"{SIXTEENS} up to 4096", 16)
    text = text.replace('name = "M"', 'name = "rows"').replace("sum(k,", "rows * sum(k,")
    with pytest.raises(
        UnsupportedError, match="it is not shown that a block stores the values of the formula to C"
    ):
        prove(SIMT, text)


def test_what_is_stored_beside_the_outputs_is_not_left_out(tmp_path: Path) -> None:
    path = edited(
        tmp_path,
        SIMT,
        (".address_size 64", ".address_size 64\n.global .align 4 .b8 kept[4];"),
        (AFTER, AFTER + "mov.u64 %rd12, kept;\nst.global.f32 [%rd12], %f67;\n"),
    )
    with pytest.raises(UnsupportedError, match=r"outside the outputs|races?|different values"):
        prove(path, stated(SIMT, f"{SIXTEENS} up to 4096", f"{SIXTEENS} up to 4096", 16))


@pytest.mark.sweep
@pytest.mark.parametrize(("rows", "columns"), [("any", 64), ("any multiple of 32", 64), (32, "any")])
def test_tiles_that_are_not_whole_are_not_taken_for_whole(rows: str | int, columns: str | int) -> None:
    with pytest.raises(UnsupportedError):
        prove(TRITON, of_triton(TRITON.name, rows, columns, 32))
    kernel = CORPUS / "mma_f16_sm80.ptx"
    grid = 'grid = ["(N + 63) // 64", "(M + 63) // 64"]'
    with pytest.raises(UnsupportedError):
        prove(kernel, re.sub(r"grid = .*", grid, stated(kernel, rows, columns, 32)))


@pytest.mark.sweep
def test_parts_of_tiles_are_masked() -> None:
    proof = prove(SIMT, stated(SIMT, "any", "any", 16))
    assert all(46300 < domain.most <= 46340 and domain.step == 1 for domain in proof.domains)


@pytest.mark.sweep
@pytest.mark.parametrize(
    "name", ["mma_f16_sm80.ptx", "mma_f64_sm80.ptx", "mma_s4_sm80.ptx", "wmma_f16_sm80.ptx"]
)
def test_matrix_instructions_are_shown_for_every_block(name: str) -> None:
    kernel = CORPUS / name
    grid = re.findall(r"\d+", contract_of(kernel.name).read_text(encoding="utf-8").partition("grid")[2])
    columns, rows = (f"any multiple of {tile} up to 4096" for tile in grid[:2])
    assert prove(kernel, stated(kernel, rows, columns, 64)).domains


@pytest.mark.sweep
def test_parts_of_tiles_in_groups_are_masked() -> None:
    proof = prove(RAGGED, of_triton(RAGGED.name, "any up to 4096", "any multiple of 32 up to 4096", 32))
    assert {domain.name for domain in proof.domains} == {"M", "N"}


MASKS: dict[str, tuple[tuple[str, str], ...]] = {
    "one row too many is stored": (("setp.ge.s32 \t%p10, %r2, %r20;", "setp.gt.s32 %p10, %r2, %r20;"),),
    "one row too few is stored": (
        ("setp.ge.s32 \t%p10, %r2, %r20;", "add.s32 %r34, %r2, 1;\nsetp.ge.s32 %p10, %r34, %r20;"),
    ),
    "rows are compared with columns": (("setp.ge.s32 \t%p10, %r2, %r20;", "setp.ge.s32 %p10, %r2, %r21;"),),
    "columns are not masked": (("or.pred  \t%p11, %p10, %p9;", "or.pred %p11, %p10, %p10;"),),
    "either mask is enough": (("or.pred  \t%p11, %p10, %p9;", "and.pred %p11, %p10, %p9;"),),
    "one row too many is loaded": (("setp.ge.s32 \t%p3, %r2, %r20;", "setp.gt.s32 %p3, %r2, %r20;"),),
    "one row too few is loaded": (
        ("setp.ge.s32 \t%p3, %r2, %r20;", "add.s32 %r34, %r2, 1;\nsetp.ge.s32 %p3, %r34, %r20;"),
    ),
    "columns are loaded by a mask of rows": (
        ("setp.ge.s32 \t%p6, %r5, %r21;", "setp.ge.s32 %p6, %r5, %r20;"),
    ),
}


@pytest.mark.parametrize("fault", few(MASKS, "one row too many is stored", "rows are compared with columns"))
def test_masks_that_are_wrong_are_not_shown(fault: str, tmp_path: Path) -> None:
    path = edited(tmp_path, SIMT, *MASKS[fault])
    with pytest.raises(UnsupportedError):
        prove(path, stated(SIMT, "any up to 4096", "any up to 4096", 16))


@pytest.mark.sweep
def test_masks_of_compilers_that_are_wrong_are_not_shown() -> None:
    name = "gemm_f16_f32_f32_32x32x32_s2_ragged_sm80_fault_no_n_mask_store.ptx"
    with pytest.raises(UnsupportedError):
        text = of_triton(name, "any multiple of 32 up to 4096", "any up to 4096", 32)
        prove(triton_contracts.CORPUS / name, text)


ORDERS = {
    "no last group": (("min.s32 \t%r55, %r54, 2;", "mov.u32 %r55, 2;"),),
    "a last group of one tile": (("min.s32 \t%r55, %r54, 2;", "min.s32 %r55, %r54, 1;"),),
    "a larger group than its width": (("min.s32 \t%r55, %r54, 2;", "min.s32 %r55, %r54, 4;"),),
    "groups of other tiles": (("sub.s32 \t%r54, %r43, %r53;", "sub.s32 %r54, %r49, %r53;"),),
    "another order in a grid of 9 by 7 tiles": (
        (
            "add.s32 \t%r61, %r60, %r53;",
            "add.s32 %r61, %r60, %r53;\nsetp.eq.s32 %p1, %r43, 9;\nsetp.eq.and.s32 %p1, %r49, 7, %p1;\n"
            "selp.b32 %r61, %r60, %r61, %p1;",
        ),
    ),
    "a width of tiles of M": (("shl.b32 \t%r51, %r49, 1;", "shl.b32 %r51, %r43, 1;"),),
}


@pytest.mark.parametrize("fault", few(ORDERS, "another order in a grid of 9 by 7 tiles"))
def test_orders_of_blocks_that_miss_tiles_are_not_shown(fault: str, tmp_path: Path) -> None:
    path = edited(tmp_path, TRITON, *ORDERS[fault])
    sizes = "any multiple of 32 up to 4096", "any multiple of 64 up to 4096"
    with pytest.raises(UnsupportedError):
        prove(path, of_triton(TRITON.name, *sizes, 32))


@pytest.mark.sweep
def test_another_order_in_one_grid_is_refuted_by_the_sizes_that_stand_in_for_all(tmp_path: Path) -> None:
    path = tmp_path / "contract.toml"
    sizes = "any multiple of 32 up to 4096", "any multiple of 64 up to 4096"
    path.write_text(of_triton(TRITON.name, *sizes, 32), encoding="utf-8")
    kernel = edited(tmp_path, TRITON, *ORDERS["another order in a grid of 9 by 7 tiles"])
    result = verify(kernel, path).result
    assert result.verdict == "refuted"
    assert result.stats["sizes"][-1] == {"M": 9 * 32, "N": 7 * 64, "K": 32}


@pytest.mark.sweep
@pytest.mark.parametrize("kernel", [SIMT, TRITON], ids=["cuda", "triton"])
def test_random_sizes_of_domains_shown_are_verified(kernel: Path, tmp_path: Path) -> None:
    path = tmp_path / "contract.toml"
    random = np.random.default_rng(3)
    tile = (16, 16) if kernel is SIMT else (32, 64)
    for _ in range(6):
        rows, columns = (
            int(step * number) for step, number in zip(tile, random.integers(1, 6, 2), strict=True)
        )
        text = (
            stated(SIMT, rows, columns, 32) if kernel is SIMT else of_triton(kernel.name, rows, columns, 32)
        )
        path.write_text(text, encoding="utf-8")
        assert verify(kernel, path).result.verdict == "verified"


def of_rows(name: str) -> tuple[Path, str]:
    """Return a kernel of rows, and its contract for any number of them, a block each."""
    text = row_contracts.contract(name).replace("M = 2\n", 'M = "any up to 65536"\n')
    return row_contracts.CORPUS / name, text.replace('grid = ["2"]', 'grid = ["M"]')


@pytest.mark.parametrize("name", few(["softmax", "rms_norm", "layer_norm", "add_rms_norm"], "softmax"))
def test_rows_are_shown_for_every_number_of_them(name: str) -> None:
    (rows,) = prove(*of_rows(f"{name}.ptx")).domains
    assert (rows.step, rows.most) == (1, 65536)


def test_rows_that_are_wrong_are_not_shown() -> None:
    with pytest.raises(UnsupportedError):
        prove(*of_rows("add_rms_norm_fault_norm_of_x.ptx"))


def test_what_fails_is_not_tried_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(block_proofs, "_SEARCH", -1)
    name = "gemm_f16_f32_f32_32x64x32_s2_sm80_fault_b_advance.ptx"
    text = of_triton(name, "any multiple of 32 up to 4096", "any multiple of 64 up to 4096", 64)
    with pytest.raises(UnsupportedError, match="no proof found in -1 s: "):
        prove(triton_contracts.CORPUS / name, text)
