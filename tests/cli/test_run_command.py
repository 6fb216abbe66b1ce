"""``mmaproof run``: arrays from a file to a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
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
