"""Views of global memory in kernels: their layouts, their partitions, their types."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.findings.result import Result
from tests.pto_kernels import verified

_M, _N, _K = 64, 16, 32
_MAT = "!pto.tile_buf<mat, {}xf16, blayout=col_major, slayout=row_major>"
_LEFT = "!pto.tile_buf<left, 64x32xf16, blayout=col_major, slayout=row_major>"
_RIGHT = "!pto.tile_buf<right, 32x16xf16, slayout=col_major>"
_ACC = "!pto.tile_buf<acc, 64x16xf32, blayout=col_major, slayout=row_major, fractal=1024>"

ROWS = "sum(k < 32, A[i, k] * B[k, j])"
COLUMNS = "sum(k < 32, A[k, i] * B[k, j])"
FRACTALS = "sum(k < 32, A[0, k // 16, i // 16, i % 16, k % 16] * B[k, j])"
CANONICAL = (1, 2, 4, 16, 16), (2048, 1024, 256, 16, 1)
NZ = " {layout = #pto.layout<nz>}"


def kernel(
    shape: Sequence[int | str],
    strides: Sequence[int | str],
    sizes: Sequence[int],
    layout: str = "",
    offsets: Sequence[int] = (),
    stated: str = "",
) -> str:
    """Return a product of 64x32 elements of A, by a view and a partition of it, and B."""
    numbers = sorted(
        {stride for stride in (*shape, *strides, *sizes, *offsets, 0, 1, _M, _N, _K) if stride != "%n"}
    )

    def listed(given: Sequence[int | str]) -> str:
        return ", ".join(each if isinstance(each, str) else f"%c{each}" for each in given)

    constants = "\n    ".join(f"%c{number} = arith.constant {number} : index" for number in numbers)
    view, part = ("x".join("?" * len(shape)) + "xf16",) * 2
    return f"""
module attributes {{pto.target_arch = "a5"}} {{
  func.func @k(%cp: !pto.ptr<f32>, %ap: !pto.ptr<f16>, %bp: !pto.ptr<f16>, %n: index) {{
    {constants}
    %av = pto.make_tensor_view %ap, shape = [{listed(shape)}], strides = [{listed(strides)}]{layout}
      : !pto.tensor_view<{stated or view}>
    %bv = pto.make_tensor_view %bp, shape = [%c32, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf16>
    %cv = pto.make_tensor_view %cp, shape = [%c64, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
    %aw = pto.partition_view %av, offsets = [{listed(offsets or (0,) * len(shape))}],
      sizes = [{listed(sizes)}]
      : !pto.tensor_view<{view}> -> !pto.partition_tensor_view<{part}>
    %bw = pto.partition_view %bv, offsets = [%c0, %c0], sizes = [%c32, %c16]
      : !pto.tensor_view<?x?xf16> -> !pto.partition_tensor_view<32x16xf16>
    %cw = pto.partition_view %cv, offsets = [%c0, %c0], sizes = [%c64, %c16]
      : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<64x16xf32>
    %am = pto.alloc_tile : {_MAT.format("64x32")}
    %bm = pto.alloc_tile : {_MAT.format("32x16")}
    %l = pto.alloc_tile : {_LEFT}
    %r = pto.alloc_tile : {_RIGHT}
    %c = pto.alloc_tile : {_ACC}
    pto.tload ins(%aw : !pto.partition_tensor_view<{part}>) outs(%am : {_MAT.format("64x32")})
    pto.tload ins(%bw : !pto.partition_tensor_view<32x16xf16>) outs(%bm : {_MAT.format("32x16")})
    pto.tmov ins(%am : {_MAT.format("64x32")}) outs(%l : {_LEFT})
    pto.tmov ins(%bm : {_MAT.format("32x16")}) outs(%r : {_RIGHT})
    pto.tmatmul ins(%l, %r : {_LEFT}, {_RIGHT}) outs(%c : {_ACC})
    pto.tstore ins(%c : {_ACC}) outs(%cw : !pto.partition_tensor_view<64x16xf32>)
    return
  }}
}}
"""


def contract(shape: Sequence[int], formula: str, number: int = 0) -> str:
    return f"""
[kernel]
isa = "pto"

[[param]]
name = "C"
type = "f32"
shape = [64, 16]
access = "out"

[[param]]
name = "A"
type = "f16"
shape = {list(shape)}

[[param]]
name = "B"
type = "f16"
shape = [32, 16]

[[param]]
name = "n"
type = "s64"
value = {number}

[ensures]
formula = "C[i, j] = {formula}"
"""


def outcome(tmp_path: Path, text: str, shape: Sequence[int], formula: str, number: int = 0) -> Result:
    return verified(tmp_path, text, contract(shape, formula, number)).result


@pytest.mark.parametrize("layout", ["", NZ])
def test_fractals_are_loaded_as_such(tmp_path: Path, layout: str) -> None:
    text = kernel(*CANONICAL, CANONICAL[0], layout)
    found = outcome(tmp_path, text, CANONICAL[0], FRACTALS)
    assert found.verdict == "verified"
    assert any("ND or NZ" in assumption for assumption in found.assumptions) is (not layout)
    assert outcome(tmp_path, text, (64, 32), ROWS).verdict == "refuted"


def test_fractals_that_releases_disagree_on_are_stored_as_nobody_knows(tmp_path: Path) -> None:
    text = kernel((64, 32), (32, 1), (64, 32)).replace("shape = [%c64, %c16], strides = [%c16, %c1]", "FIVE")
    shape, strides = "[%c1, %c2, %c4, %c16, %c8]", "[%c1024, %c512, %c128, %c8, %c1]"
    numbers = "".join(f"%d{each} = arith.constant {each} : index\n" for each in (2, 4, 8, 128, 512, 1024))
    five = f"shape = {shape}, strides = {strides}"
    for each in (2, 4, 8, 128, 512, 1024):
        five = five.replace(f"%c{each},", f"%d{each},").replace(f"%c{each}]", f"%d{each}]")
    text = text.replace("FIVE", five).replace("%av = pto.make", f"{numbers}%av = pto.make")
    text = text.replace(
        "%cw = pto.partition_view %cv, offsets = [%c0, %c0], sizes = [%c64, %c16]",
        "%cw = pto.partition_view %cv, offsets = [%c0, %c0, %c0, %c0, %c0],"
        " sizes = [%c1, %d2, %d4, %c16, %d8]",
    )
    text = text.replace("!pto.tensor_view<?x?xf32>", "!pto.tensor_view<?x?x?x?x?xf32>")
    text = text.replace("partition_tensor_view<64x16xf32>", "partition_tensor_view<1x2x4x16x8xf32>")
    formula = "C[h, b, a, i, j] = sum(k < 32, A[16 * a + i, k] * B[k, 8 * b + j])"
    of = contract((64, 32), "?").replace("C[i, j] = ?", formula).replace("[64, 16]", "[1, 2, 4, 16, 8]")
    (finding,) = verified(tmp_path, text, of).result.findings
    assert finding.kind is Kind.UNSUPPORTED and "ND or NZ: give it a layout" in finding.message
    explicit = text.replace(five, f"{five} {{layout = #pto.layout<nz>}}")
    assert verified(tmp_path, explicit, of).result.verdict == "verified"


@pytest.mark.parametrize(
    ("strides", "layout", "shape", "formula", "verdict"),
    [
        ((48, 1), "", (64, 48), ROWS, "verified"),
        ((1, 80), "", (32, 80), COLUMNS, "unsupported"),  # ptoas takes it for ND
        ((1, "%n"), "", (32, 64), COLUMNS, "unsupported"),  # and what it doesn't know too
        (("%n", 1), "", (64, 64), ROWS, "verified"),
        ((1, 80), " {layout = #pto.layout<dn>}", (32, 80), COLUMNS, "verified"),
        ((1, 64), "", (32, 64), COLUMNS, "verified"),
        ((1, 64), " {layout = #pto.layout<nd>}", (32, 64), COLUMNS, "unsupported"),
    ],
)
def test_strides_decide_only_where_ptoas_knows_them(
    tmp_path: Path,
    strides: tuple[int | str, ...],
    layout: str,
    shape: tuple[int, ...],
    formula: str,
    verdict: str,
) -> None:
    text = kernel((64, 32), strides, (64, 32), layout)
    if formula == COLUMNS and verdict == "verified":
        text = text.replace(_MAT.format("64x32"), "!pto.tile_buf<mat, 64x32xf16, slayout=col_major>")
    assert outcome(tmp_path, text, shape, formula, 64).verdict == verdict


@pytest.mark.parametrize(
    ("shape", "strides", "layout", "message"),
    [
        ((1, 2, 4, 16, 16), (2048, 512, 128, 8, 1), NZ, "stride 3 of NZ is 16"),
        ((1, 2, 4, 8, 32), (2048, 1024, 256, 32, 1), NZ, "extent 3 of NZ is 16"),
        ((1, 2, 4, 16, 16), (2048, 512, 256, 16, 1), NZ, "stride 1 of NZ is 1024 at least"),
    ],
)
def test_a_layout_that_extents_contradict(
    tmp_path: Path, shape: tuple[int, ...], strides: tuple[int, ...], layout: str, message: str
) -> None:
    found = outcome(tmp_path, kernel(shape, strides, shape, layout), (4096,), "0")
    assert [finding.kind for finding in found.findings] == [Kind.ILLEGAL]
    assert message in found.findings[0].message


@pytest.mark.parametrize(
    ("shape", "offsets", "message"),
    [
        ((64, 31), (0, 0), "elements 0 to 31 of dimension 1 of %av, which has 31"),
        ((64, 64), (1, 0), "elements 1 to 64 of dimension 0"),
        ((64, 64), (0, 33), "elements 33 to 64 of dimension 1"),
    ],
)
def test_a_partition_leaves_its_view(
    tmp_path: Path, shape: tuple[int, int], offsets: tuple[int, int], message: str
) -> None:
    text = kernel(shape, (64, 1), (64, 32), offsets=offsets)
    found = outcome(tmp_path, text, (128, 64), "0").findings
    assert any(each.kind is Kind.OUT_OF_BOUNDS and message in each.message for each in found)


def test_types_of_views_say_what_numbers_say(tmp_path: Path) -> None:
    text = kernel((64, 32), (32, 1), (64, 32), stated="64x31xf16")
    found = outcome(tmp_path, text, (64, 32), ROWS).findings
    assert [each.kind for each in found] == [Kind.ILLEGAL] and "64x31xf16" in found[0].message


def test_a_load_has_the_layout_of_its_view(tmp_path: Path) -> None:
    text = kernel((64, 32), (32, 1), (64, 32))
    old = f"outs(%am : {_MAT.format('64x32')})\n    pto.tload"
    assert old in text
    for layout, verdict in (("nd", "verified"), ("dn", "unsupported")):
        said = text.replace(old, old.replace("\n", f" {{layout = #pto.layout<{layout}>}}\n"))
        assert outcome(tmp_path, said, (64, 32), ROWS).verdict == verdict


COLUMN = """
module attributes {pto.target_arch = "a5"} {
  func.func @k(%yp: !pto.ptr<f32>, %xp: !pto.ptr<f32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %xv = pto.make_tensor_view %xp, shape = [%c16, %c1], strides = [%c1, LAST] : !pto.tensor_view<?x?xf32>
    %yv = pto.make_tensor_view %yp, shape = [%c16, %c1], strides = [%c1, LAST] : !pto.tensor_view<?x?xf32>
    %xw = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c16, %c1] : !pto.tensor_view<?x?xf32>
    %yw = pto.partition_view %yv, offsets = [%c0, %c0], sizes = [%c16, %c1] : !pto.tensor_view<?x?xf32>
    %t = pto.alloc_tile : TILE
    pto.tload ins(%xw : !pto.partition_tensor_view<16x1xf32>) outs(%t : TILE)
    pto.tadd ins(%t, %t : TILE, TILE) outs(%t : TILE)
    pto.tstore ins(%t : TILE) outs(%yw : !pto.partition_tensor_view<16x1xf32>)
    return
  }
}
"""


@pytest.mark.parametrize("last", ["%c1", "%c16"])
@pytest.mark.parametrize("tile", ["vec, 16x1xf32, blayout=col_major", "vec, 16x8xf32, valid=16x1"])
def test_a_column_is_of_the_layout_that_its_tile_has(tmp_path: Path, tile: str, last: str) -> None:
    text = COLUMN.replace("TILE", f"!pto.tile_buf<{tile}>").replace("LAST", last)
    of = contract((16, 1), "2 * A[i, j]").replace("[64, 16]", "[16, 1]").replace("f16", "f32")
    of = "\n\n".join(each for each in of.split("\n\n") if '"B"' not in each and '"n"' not in each)
    assert verified(tmp_path, text, of).result.verdict == "verified"
