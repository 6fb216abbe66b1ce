"""The table of verdicts: how it is made, compared, and that the frozen one is what the corpora give."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from source_modules import REPOSITORY

sys.path.insert(0, str(REPOSITORY))
from tools.verdicts import sweep, table
from tools.verdicts.__main__ import main
from tools.verdicts.cases import Case, every_case
from tools.verdicts.measurement import COST_COLUMNS, VERDICT_COLUMNS, Row, measured

CASES = {each.key: each for each in every_case()}
CONTRACT = """
[kernel]
isa = "ptx"
[launch]
grid = 1
block = 4
[[param]]
name = "X"
type = "f32"
shape = [4]
[[param]]
name = "Y"
type = "f32"
shape = [4]
access = "out"
[ensures]
formula = "Y[i] = X[i] + X[i]"
"""
KERNEL = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry twice(.param .u64 X, .param .u64 Y)
{
    .reg .b64 %rd<4>;
    .reg .f32 %f<2>;
    .reg .b32 %r<1>;
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %rd0, %r0, 4;
    ld.param.u64 %rd1, [X];
    add.s64 %rd1, %rd1, %rd0;
    ld.global.f32 %f0, [%rd1];
    OPERATION;
    ld.param.u64 %rd2, [Y];
    add.s64 %rd2, %rd2, %rd0;
    st.global.f32 [%rd2], %f1;
    ret;
}
"""


def case(name: str, operation: str) -> Case:
    def place(folder: Path) -> tuple[Path, Path]:
        kernel, contract = folder / "kernel.ptx", folder / "contract.toml"
        kernel.write_text(KERNEL.replace("OPERATION", operation), encoding="utf-8")
        contract.write_text(CONTRACT, encoding="utf-8")
        return kernel, contract

    return Case("small", name, place)


RIGHT = case("right", "mul.f32 %f1, %f0, 0f40000000")
WRONG = case("wrong", "mul.f32 %f1, %f0, 0f40400000")
NO_PTX = case("no ptx", "mul.f32 %f1 ]")


def swept(folder: Path, *cases: Case, jobs: int = 2, seconds: int = 60) -> tuple[list[Row], list[Row]]:
    sweep.swept(cases, folder, jobs, seconds)
    return table.of_folder(folder)


def test_a_table_says_what_is_found(tmp_path: Path) -> None:
    verdicts, costs = swept(tmp_path, RIGHT, WRONG, NO_PTX)
    assert [row[1:4] for row in verdicts] == [
        ("right", "all", "verified"),
        ("wrong", "all", "refuted"),
        ("no ptx", "all", "InputError"),
    ]
    right, wrong, unread = (dict(zip(VERDICT_COLUMNS, row, strict=True)) for row in verdicts)
    assert right["equality"] == "value" and right["checked"] == right["by_residues"] == "4"
    assert wrong["findings"].startswith("wrong-value:") and str(tmp_path) not in wrong["findings"]
    assert unread["findings"].startswith("kernel.ptx:")
    assert [row[:2] for row in costs] == [row[:2] for row in verdicts]
    assert all(len(row) == len(COST_COLUMNS) and float(row[5]) > 1 for row in costs)


def test_what_is_known_is_not_verified_again(tmp_path: Path) -> None:
    before, _ = swept(tmp_path, WRONG)

    def place(folder: Path) -> tuple[Path, Path]:
        raise AssertionError("verified again")

    again, _ = swept(tmp_path, RIGHT, Case("small", "wrong", place))
    assert [row[1] for row in again] == ["right", "wrong"]
    assert again[1:] == before


def test_a_kernel_that_takes_too_long_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(each: Case) -> tuple[list[Row], Row]:
        while True:
            time.sleep(0 if each is WRONG else 60)

    monkeypatch.setattr(sweep, "measured", endless)
    monkeypatch.setattr(sweep, "_CLOCK", 2)
    verdicts, costs = swept(tmp_path, WRONG, RIGHT, seconds=1)
    assert [row[3] for row in verdicts] == ["timeout", "timeout"]
    assert all(row[2] == "" and row[5] for row in costs)


def ended(way: Callable[[], object]) -> Callable[[Case], tuple[list[Row], Row]]:
    def measure(each: Case) -> tuple[list[Row], Row]:
        way()
        raise AssertionError

    return measure


@pytest.mark.parametrize(
    ("way", "told"),
    [(lambda: os.kill(os.getpid(), signal.SIGKILL), "signal 9"), (lambda: sys.exit(3), "no answer")],
)
def test_a_process_that_ends_early_is_a_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: Callable[[], object], told: str
) -> None:
    monkeypatch.setattr(sweep, "measured", ended(way))
    assert swept(tmp_path, RIGHT)[0][0][3] == told


def test_every_difference_of_a_verdict_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    swept(old, RIGHT, WRONG)
    swept(new, RIGHT, WRONG)
    assert main(["compare", str(old), str(new)]) == 0
    verdicts, _ = table.of_folder(new)
    for column in range(3, len(VERDICT_COLUMNS)):
        changed = [(*row[:column], row[column] + "x", *row[column + 1 :]) for row in verdicts[:1]]
        table.write(new / table.VERDICTS, VERDICT_COLUMNS, [*changed, *verdicts[1:]])
        capsys.readouterr()
        assert main(["compare", str(old), str(new)]) == 1
        assert VERDICT_COLUMNS[column] in capsys.readouterr().out
        assert main(["compare", str(old), str(new), "wrong"]) == 0
    table.write(new / table.VERDICTS, VERDICT_COLUMNS, verdicts[:1])
    assert main(["compare", str(old), str(new)]) == 1
    assert main(["compare", str(new), str(old)]) == 1


def test_costs_that_differ_by_a_fifth_are_told_and_noise_is_not() -> None:
    old = [("c", "k", "10.0", "1.0", "1.0", "100")]
    assert list(table.differing_costs(old, [("c", "k", "11.9", "9.0", "9.0", "119")])) == []
    slower, larger = ("c", "k", "12.1", "1", "1", "100"), ("c", "k", "10", "1", "1", "151")
    assert list(table.differing_costs(old, [slower])) == ["c: k: cpu_seconds was 10, is 12.1"]
    assert list(table.differing_costs([slower], old)) == ["c: k: cpu_seconds was 12.1, is 10"]
    assert list(table.differing_costs(old, [larger])) == ["c: k: peak_mib was 100, is 151"]
    assert list(table.differing_costs(old, [("c", "k", "", "", "", "100")])) == []
    shares = list(table.shares([("c", "k", "10.0", "1.0", "2.5", "100")]))
    assert shares[-1] == "all: 1 kernels, 10 s; checker 10.0%, runs on numbers 25.0%"


def test_rows_of_several_sizes_and_their_sum() -> None:
    rows, cost = measured(CASES["CUDA", "mma_f16_sm80.ptx"])
    whole, *of_sizes = (dict(zip(VERDICT_COLUMNS, row, strict=True)) for row in rows)
    assert whole["sizes"] == "all" and len(of_sizes) > 1
    for column in ("checked", "by_residues", "by_points"):
        assert int(whole[column]) == sum(int(row[column]) for row in of_sizes)
    assert 0 <= float(cost[3]) < float(cost[2])
