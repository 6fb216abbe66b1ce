"""``mmaproof run``: arrays from a file to a file."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from command_line import mmaproof

from mmaproof.spec.power.choices import OPEN_POINTS, PRESETS


def executed(folder: Path, instruction: str, *options: str, **arrays: np.ndarray) -> dict[str, np.ndarray]:
    np.savez(folder / "in.npz", **arrays)
    result = mmaproof("run", instruction, folder / "in.npz", "--out", folder / "out.npz", *options)
    assert (result.status, result.err) == (0, "")
    with np.load(folder / "out.npz", allow_pickle=False) as archive:
        results = {name: archive[name] for name in archive.files}
    assert sorted(result.out.splitlines()) == sorted(f"{n} {a.dtype} {a.shape}" for n, a in results.items())
    return results


def test_a_matrix_product(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x, y = rng.integers(-128, 128, (5, 4, 4)), rng.integers(0, 256, (5, 4, 4))
    acc = rng.integers(-1000, 1000, (5, 4, 4))
    results = executed(tmp_path, "xvi8ger4pp a0,vs34,vs35", x=x, y=y, acc=acc)
    np.testing.assert_array_equal(results["acc"], acc + x @ y.transpose(0, 2, 1))
    assert results.keys() == {"acc", "acc_bits"}


def test_saturation_is_written(tmp_path: Path) -> None:
    low = np.full((4, 2), -32768)
    results = executed(tmp_path, "xvi16ger2s", x=low, y=low)
    assert (results["acc"] == 2**31 - 1).all() and results["saturated"].all()


def test_registers_rounding_and_choices(tmp_path: Path) -> None:
    word = np.frombuffer(bytes.fromhex("3f800001") * 4, dtype=np.uint8)
    arrays = {"x": word, "y": word, "acc": np.zeros(64, dtype=np.uint8)}
    results = executed(tmp_path, "xvf32gernp", "--registers", "--rounding", "upward", **arrays)
    assert results["acc"].tobytes().hex() == "bf800003" * 16
    options = ("--registers", "--rounding", "2", "--choice", "qemu-7.2")
    assert executed(tmp_path, "xvf32gernp", *options, **arrays)["acc"].tobytes().hex() == "bf800002" * 16
    options = (
        "--registers",
        "--rounding",
        "2",
        "--choice",
        "qemu-7.2",
        "--choice",
        "negation=after-rounding",
    )
    assert executed(tmp_path, "xvf32gernp", *options, **arrays)["acc"].tobytes().hex() == "bf800003" * 16


def test_a_move(tmp_path: Path) -> None:
    registers = np.arange(64, dtype=np.uint8).reshape(4, 16)
    results = executed(tmp_path, "xxmtacc a3", "--registers", vsr=registers)
    np.testing.assert_array_equal(results["acc"], np.arange(64))


def test_every_choice_is_listed() -> None:
    result = mmaproof("run", "--list-choices")
    assert result.status == 0
    words = result.out.split()
    assert all(f"{point.name}={option}" in words for point in OPEN_POINTS for option in point.option_names)
    assert all(name in words for name in PRESETS)


def printed(instruction: str, *arguments: str) -> str:
    result = mmaproof("run", instruction, *arguments)
    assert (result.status, result.err) == (0, "")
    return result.out


def test_numbers_are_written_on_the_command_line(tmp_path: Path) -> None:
    out = printed("xvi8ger4pp", "x=-1", "y=" + ",".join(map(str, range(16))), "acc=0x10")
    y = np.arange(16).reshape(4, 4)
    rows = np.array2string(16 - np.tile(y.sum(1), (4, 1))).splitlines()
    assert out.splitlines() == ["acc: int32 (4, 4)", *(f"  {row}" for row in rows)]
    assert "nan" in printed("xvf32ger", "x_bits=0x7fc00000", "y=1")


@pytest.mark.parametrize(
    "instruction",
    [
        "xvf64gerpp",
        "xvbf16ger2",
        "xvi16ger2spp",
        "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32",
        "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0",
        "v_mfma_f32_32x32x4_2b_bf16",
        "%c = tmatmul %a, %b : (!pto.tile<16x32xf16>, !pto.tile<32x16xf16>) -> !pto.tile<16x16xf32>",
    ],
)
def test_operands_are_drawn_from_a_seed(instruction: str, tmp_path: Path) -> None:
    once, again, other = (printed(instruction, "--random", seed) for seed in ("1", "1", "2"))
    assert once == again != other
    assert not re.search("nan|inf", once)
    result = mmaproof("run", instruction, "--random", "1", "--out", tmp_path / "out.npz")
    assert result.status == 0 and len(np.load(tmp_path / "out.npz").files) >= 2


def test_given_numbers_are_kept_and_others_drawn() -> None:
    out = printed("xvf32gerpp", "x=0", "--random", "7")
    drawn = printed("xvf32gerpp", "x=0", "y=1", "--random", "7")
    assert out == drawn  # what is added to nothing is the same accumulator


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["x=1,2", "y=1"], "x has 2 numbers; (4, 1) takes 4, or one for all"),
        (["x=1", "y=1", "z=1"], "no operand 'z'"),
        (["x=1", "x=2"], "given twice"),
        (["x=one", "y=1"], "x=one is not NAME=NUMBERS"),
        (["x=1,1e999", "y=1"], "x=1,1e999 has a number that 64 bits don't hold"),
        (["x=-1e-999", "y=1"], "a number that 64 bits don't hold"),
        (["x=0x1p9999", "y=1"], "a number that 64 bits don't hold"),
        (["x=0x1p-9999", "y=1"], "a number that 64 bits don't hold"),
        (["x=99999999999999999999", "y=1"], "more than 64 bits"),
        (["x=1"], "no array 'y'"),
        (["x=1", "in.npz"], "one file, or NAME=NUMBERS"),
        (["in.npz", "--random", "1"], "one file, or NAME=NUMBERS"),
        (["--random", "-1"], "from 0 up"),
        ([], "--random SEED"),
    ],
)
def test_wrong_numbers_are_wrong_use(arguments: list[str], message: str) -> None:
    result = mmaproof("run", "xvf32ger", *arguments)
    assert result.wrong_use and message in result.err


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("power99", "unknown target 'power99'"),
        ("sm_80", "power has no target 'sm_80'; it has power8"),
        ("power9", "xvf32ger is illegal on power9: target-isa"),
    ],
)
def test_a_target_that_has_no_such_instruction_is_wrong_use(target: str, message: str) -> None:
    result = mmaproof("run", "xvf32ger", "x=1", "y=1", "--target", target)
    assert result.wrong_use and message in result.err
