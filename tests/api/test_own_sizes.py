"""Launches at a problem's own sizes: recordings made by hand, of kernels in PTX, without PyTorch."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ptx_machine import kernel

from mmaproof.api.torch import own_comparison, own_launches
from mmaproof.api.torch.ends_of_arrays import shifted_to
from mmaproof.api.torch.outcome import TorchResult, with_own_run
from mmaproof.api.torch.own_launches import some_blocks
from mmaproof.api.torch.own_numbers import Numbers
from mmaproof.api.torch.own_run import OwnRun
from mmaproof.api.torch.own_sizes import memory_at_own_sizes, run_at_own_sizes
from mmaproof.api.torch.recording import (
    Launch,
    Operation,
    Passed,
    Pointer,
    Recording,
    Step,
    Storage,
    View,
    Word,
)
from mmaproof.api.torch.sizes import with_smaller_batches, with_smaller_extents

SUM = """
ld.param.u64 %d0, [p0]; ld.param.u64 %d1, [p1];
mov.u32 %r0, %ctaid.x; mov.u32 %r1, %tid.x; mov.u32 %r2, %ntid.x;
mad.lo.u32 %r0, %r0, %r2, %r1; setp.ge.u32 %p0, %r0, ROWS; @%p0 ret;
mul.lo.u32 %r3, %r0, COLUMNS; mul.wide.u32 %d2, %r3, 4; add.s64 %d0, %d0, %d2;
mul.wide.u32 %d3, %r0, 4; add.s64 %d1, %d1, %d3; mov.f32 %f0, 0f00000000; mov.u32 %r4, 0;
$LOOP: ld.global.f32 %f1, [%d0]; add.f32 %f0, %f0, %f1; add.s64 %d0, %d0, 4; add.u32 %r4, %r4, 1;
setp.lt.u32 %p1, %r4, BOUND; @%p1 bra $LOOP; st.global.f32 [%d1], %f0;
"""
"""Sums of rows, one thread for each."""


class Problem:
    """Sums of rows, recorded and computed.

    Parameters
    ----------
    folder : Path
        Of the files.
    rows, columns : int
        The shape of x.
    """

    def __init__(self, folder: Path, rows: int, columns: int) -> None:
        self.folder, self.rows, self.columns = folder, rows, columns
        x = np.random.default_rng(0).standard_normal((rows, columns)).astype(np.float32)
        files = {}
        for draw in range(2):
            given = x * np.float32(1 + 3 * draw)
            exact = given.astype(np.float64).sum(axis=1)
            for name, array in (
                ("input x", given),
                ("result 0", exact.astype(np.float32)),
                ("exact 0", exact),
            ):
                np.save(folder / f"{len(files)}.npy", array)
                files[f"{draw} {name}"] = [f"{len(files)}.npy", str(array.dtype)]
        self.numbers = Numbers(folder, files)

    def launch(
        self, block: int = 64, blocks: int = 0, bound: str = "COLUMNS", source: int = 0, target: int = 1
    ) -> Launch:
        text = (
            SUM.replace("BOUND", bound).replace("ROWS", str(self.rows)).replace("COLUMNS", str(self.columns))
        )
        path = self.folder / "kernel.ptx"
        path.write_text(kernel(text, 2, ""), encoding="utf-8")
        passed = tuple(Passed(8, ((0, Pointer(number, 0)),)) for number in (source, target))
        grid = blocks or -(-self.rows // block)
        return Launch("k", str(path), (grid, 1, 1), (block, 1, 1), 0, passed, "")

    def recording(self, *steps: Step, more: tuple[Storage, ...] = ()) -> Recording:
        x = View(0, "float32", (self.rows, self.columns), (self.columns, 1), 0)
        y = View(1, "float32", (self.rows,), (1,), 0)
        storages = [
            Storage("float32", self.rows * self.columns, "input", "x", None, x.shape),
            Storage("float32", self.rows, "empty", "y", None, y.shape),
            *more,
        ]
        return Recording(storages, list(steps), [x], [y])

    def ran(self, *steps: Step, seconds: float = 20, more: tuple[Storage, ...] = ()) -> OwnRun:
        return run_at_own_sizes(self.recording(*steps, more=more), self.numbers, OwnRun({}), seconds)


class WholeSums(Problem):
    """Sums of rows times a number, rounded down to integers."""

    def __init__(self, folder: Path, rows: int, columns: int) -> None:
        super().__init__(folder, rows, columns)
        for draw in range(2):
            steps = np.floor(self.numbers.array(f"{draw} exact 0") * 2.0**14).astype(np.int32)
            for name in ("result", "exact"):
                np.save(folder / f"{draw} {name}.npy", steps)
                self.numbers.files[f"{draw} {name} 0"] = [f"{draw} {name}.npy", "int32"]

    def whole(self, factor: str) -> OwnRun:
        """Run the kernel with a factor, as a float in hexadecimal."""
        launch = self.launch()
        stored = "st.global.f32 [%d1], %f0"
        text = (
            Path(launch.ptx)
            .read_text(encoding="utf-8")
            .replace(
                stored, f"mul.f32 %f0, %f0, {factor}; cvt.rmi.s32.f32 %r5, %f0; st.global.u32 [%d1], %r5"
            )
        )
        Path(launch.ptx).write_text(text, encoding="utf-8")
        recording = self.recording(launch)
        recording.storages[1] = replace(recording.storages[1], dtype="int32")
        recording.results[0] = replace(recording.results[0], dtype="int32")
        return run_at_own_sizes(recording, self.numbers, OwnRun({}), 20)


@pytest.fixture
def problem(tmp_path: Path) -> Problem:
    return Problem(tmp_path, 300, 70)


def test_a_right_kernel_agrees(problem: Problem) -> None:
    found = problem.ran(problem.launch())
    assert found.shows and not found.open
    assert found.launches == (("k", 5, 5),) and found.compared == 300
    assert found.claim == (
        "at the problem's own sizes 5 of 5 blocks were run on numbers, 300 of 300 elements compared"
    )


def test_draws_of_one_sign_are_named(problem: Problem) -> None:
    files = problem.numbers.files
    files.update({f"{2 + int(name[0])}{name[1:]}": each for name, each in files.items()})
    recording = problem.recording(problem.launch(bound="64"))
    (found,) = run_at_own_sizes(recording, problem.numbers, OwnRun({}), 20, draws=(2, 3)).findings
    assert "with the magnitudes of weights and of what get_inputs() gives" in found


def test_a_constant_bound_of_a_loop_is_a_wrong_value(problem: Problem) -> None:
    (found,) = problem.ran(problem.launch(bound="64")).findings
    assert found.startswith("wrong-value: result 0 at [0] is ") and "torch.manual_seed(1)" in found


def test_sums_in_another_order_are_right(tmp_path: Path) -> None:
    """A sum of thousands of numbers one after the other errs more than PyTorch's."""
    wide = Problem(tmp_path, 4, 20_000)
    assert wide.ran(wide.launch()).shows


def test_integers_next_to_a_step_are_not_wrong(tmp_path: Path) -> None:
    assert WholeSums(tmp_path, 1000, 70).whole("0f46800000").shows


def test_few_integers_next_to_a_step_are_not_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two more runs leave one of them on its side, and change no other."""
    monkeypatch.setattr(own_comparison, "SPREADS", 0)
    assert WholeSums(tmp_path, 50, 70).whole("0f46800000").shows


def test_integers_that_no_rounding_explains_are_wrong(tmp_path: Path) -> None:
    (found,) = WholeSums(tmp_path, 1000, 70).whole("0f46800200").findings
    assert found.startswith("wrong-value")


@pytest.mark.parametrize(("up", "down", "shown"), [("7C8", "028", True), ("7E0", "010", False)])
def test_what_overflows_for_greater_numbers_alone_is_no_finding(
    problem: Problem, up: str, down: str, shown: bool
) -> None:
    """A sum that overflows is cut off at 2^127, and scaled back."""
    launch = problem.launch()
    body = f"mul.f32 %f2, %f0, 0f{up}00000; min.f32 %f2, %f2, 0f7F000000; max.f32 %f2, %f2, 0fFF000000; "
    body += f"mul.f32 %f0, %f2, 0f{down}00000; "
    text, stored = Path(launch.ptx).read_text(encoding="utf-8"), "st.global.f32 [%d1], %f0"
    Path(launch.ptx).write_text(text.replace(stored, body + stored), encoding="utf-8")
    found = problem.ran(launch)
    assert (not found.findings) == shown
    assert any("overflow" in each for each in found.open) == shown


def test_rows_that_no_block_has_are_missing(problem: Problem) -> None:
    (found,) = problem.ran(problem.launch(blocks=4)).findings
    assert found == "missing-output: result 0 is unwritten at [256], one of 44 elements"


def test_accesses_beyond_an_array_are_findings(problem: Problem) -> None:
    (found,) = problem.ran(problem.launch(bound="71")).findings
    assert "out-of-bounds: 4 bytes at byte 84000 of x, which has 84000" in found


@pytest.fixture
def many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Problem:
    """Return a problem of which there is time alone for the blocks that are run first."""
    monkeypatch.setattr(own_launches, "ALL", 0)
    monkeypatch.setattr(own_launches.Launches, "_while_there_is_time", lambda *_: [])
    return Problem(tmp_path, 100_000, 4)


def test_of_many_blocks_some_are_run(many: Problem) -> None:
    found = many.ran(many.launch(block=1), seconds=5.0)
    ((_, run, every),) = found.launches
    assert run == len(some_blocks((100_000, 1, 1))) and every == 100_000 and found.compared == run
    assert found.shows


def test_ends_of_results_that_no_block_writes_are_missing(many: Problem) -> None:
    """Of blocks that were not run the places of their stores are computed, where data do not decide them."""
    (found,) = many.ran(many.launch(block=8, blocks=12_375)).findings
    assert found == "missing-output: result 0 is unwritten at [99000], one of 1000 elements"


def test_ends_of_results_are_in_doubt_where_data_decide_what_is_written(many: Problem) -> None:
    launch = many.launch(block=1, blocks=99_000)
    text = Path(launch.ptx).read_text(encoding="utf-8")
    chosen = "setp.eq.f32 %p7, %f0, 0f7F800000; @!%p7 st.global.f32 [%d1], %f0"
    Path(launch.ptx).write_text(text.replace("st.global.f32 [%d1], %f0", chosen), encoding="utf-8")
    found = many.ran(launch, seconds=5.0)
    assert not found.shows and not found.findings
    assert "no block that was run writes result 0 at [99999]" in found.doubts[0]


def test_elements_between_that_no_block_writes_are_missing(many: Problem) -> None:
    launch = many.launch(block=8)
    text = Path(launch.ptx).read_text(encoding="utf-8")
    all_but_one = "setp.ne.u32 %p7, %r0, 777; @%p7 st.global.f32 [%d1], %f0"
    Path(launch.ptx).write_text(text.replace("st.global.f32 [%d1], %f0", all_but_one), encoding="utf-8")
    (found,) = many.ran(launch).findings
    assert found == "missing-output: result 0 is unwritten at [777], one of 1 elements"


def test_a_block_that_was_not_run_stores_beyond_an_array(many: Problem) -> None:
    """Of all threads of the grid one that is in no block that is run stores far away."""
    launch = many.launch(block=8, blocks=12_375)
    text = Path(launch.ptx).read_text(encoding="utf-8")
    far = "setp.eq.u32 %p7, %r0, 777; selp.u32 %r6, 1048576, 0, %p7; mul.wide.u32 %d7, %r6, 4;"
    far += " add.s64 %d1, %d1, %d7; st.global.f32 [%d1], %f0"
    Path(launch.ptx).write_text(text.replace("st.global.f32 [%d1], %f0", far), encoding="utf-8")
    (found,) = many.ran(launch).findings
    assert "out-of-bounds: 4 bytes at byte 4197412 of y" in found and "by block 97, thread 1" in found


@pytest.mark.parametrize("idle", [1, 2, 700])
def test_blocks_at_the_end_of_a_grid_may_have_nothing_to_do(many: Problem, idle: int) -> None:
    """The last block that writes is looked for: grids are rounded up, and some have one more."""
    found = many.ran(many.launch(block=1, blocks=100_000 + idle), seconds=5.0)
    assert found.shows and not found.open


STRIDED = """
ld.param.u64 %d0, [p0]; ld.param.u64 %d1, [p1];
mov.u32 %r0, %ctaid.x; mov.u32 %r1, %tid.x; mov.u32 %r2, %ntid.x; mov.u32 %r5, %nctaid.x;
mad.lo.u32 %r0, %r0, %r2, %r1; mul.lo.u32 %r5, %r5, %r2;
$LOOP: setp.ge.u32 %p0, %r0, ROWS; @%p0 ret; mul.wide.u32 %d2, %r0, 4; add.s64 %d3, %d0, %d2;
ld.global.f32 %f1, [%d3]; add.s64 %d4, %d1, %d2; st.global.f32 [%d4], %f1;
add.u32 %r0, %r0, %r5; bra $LOOP;
"""
"""Sums of rows of one number; each thread goes on with the grid's stride."""


@pytest.mark.parametrize(("rows", "shows"), [("100000", True), ("99999", False)])
def test_blocks_that_go_on_with_the_stride_of_a_grid(
    rows: str, shows: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither the first nor the last block writes the last element."""
    monkeypatch.setattr(own_launches, "ALL", 0)
    monkeypatch.setattr(own_launches.Launches, "_while_there_is_time", lambda *_: [])
    problem = Problem(tmp_path, 100_000, 1)
    launch = problem.launch(block=32, blocks=400)
    Path(launch.ptx).write_text(kernel(STRIDED.replace("ROWS", rows), 2, ""), encoding="utf-8")
    found = problem.ran(launch)
    missing = "missing-output: result 0 is unwritten at [99999], one of 1 elements"
    assert (found.shows, found.findings) == (shows, () if shows else (missing,)) and not found.open


def test_an_end_that_no_block_writes_is_looked_for_in_all(tmp_path: Path) -> None:
    few = Problem(tmp_path, 100_000, 1)
    (found,) = few.ran(few.launch(blocks=100_000 // 64)).findings
    assert "missing-output: result 0 is unwritten at [99968], one of 32 elements" in found


@pytest.mark.parametrize(
    ("place", "blocks"),
    [(0, [0]), (4 * 96 + 16, [1]), (95 * 96 + 95, [5 + 6 * 11]), (96 * 96, []), (8 * 96, [6])],
)
def test_blocks_are_shifts_of_one_another(place: int, blocks: list[int]) -> None:
    """Blocks write tiles of 8 rows and 16 columns of 96."""
    tile = (np.arange(8)[:, None] * 96 + np.arange(16)).reshape(-1)
    base = 16 + 8 * 96
    written = [base + tile, base + 16 + tile, base + 8 * 96 + tile]
    assert shifted_to(place, written, (1, 1, 0), (6, 12, 1)) == blocks
    assert shifted_to(place, [tile, tile[1:], tile], (1, 1, 0), (6, 12, 1)) == []


def test_launches_behind_one_that_was_not_run_whole_are_not_compared(many: Problem) -> None:
    """They read what blocks that were not run may have written; what none can have they must not."""
    copy = Storage("float32", 400_000, "empty", "copy", None, (100_000, 4))
    first, second = many.launch(target=2), many.launch(source=2)
    parts = [Passed(8, ((0, Pointer(2, 400_000 * part)),)) for part in range(4)]
    whole = [replace(first, passed=(first.passed[0], part)) for part in parts]
    found = many.ran(*whole, second, more=(copy,))
    assert found.compared == 0 and not found.findings
    (wrong,) = many.ran(*whole[:3], second, more=(copy,)).findings
    assert "copy is read in line 17 of the PTX before it is written" in wrong
    (wrong,) = many.ran(second, seconds=5.0, more=(copy,)).findings
    assert "copy is read in line 17 of the PTX before it is written" in wrong


def test_steps_of_the_host_are_computed_between_launches(problem: Problem) -> None:
    x = View(0, "float32", (300, 70), (70, 1), 0)
    double = Operation("mul", (x, 2.0), {}, (replace(x, storage=2),), "here")
    copy = Storage("float32", 21_000, "result", "copy", None, (300, 70))
    launch = problem.launch(source=2)
    (found,) = problem.ran(double, launch, more=(copy,)).findings
    assert "wrong-value" in found
    half = Operation("mul", (replace(x, storage=2), 0.5), {}, (replace(x, storage=2),), "here")
    assert problem.ran(double, half, launch, more=(copy,)).shows


@pytest.mark.parametrize("factor", [1.0, 1.1])
def test_roundings_of_the_host_are_drawn_as_those_of_a_kernel(problem: Problem, factor: float) -> None:
    x = View(0, "float32", (300, 70), (70, 1), 0)
    half = replace(x, storage=2, dtype="float16")
    steps = (
        Operation("mul", (x, 1.0), {}, (half,), "here"),
        Operation("mul", (half, factor), {}, (replace(x, storage=3),), "here"),
    )
    more = tuple(Storage(each, 21_000, "result", each, None, (300, 70)) for each in ("float16", "float32"))
    assert problem.ran(*steps, problem.launch(source=3), more=more).shows == (factor == 1)


def test_steps_of_the_host_that_take_too_long_are_told(
    problem: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    def turns(self: object, operation: object) -> None:
        while True:
            pass

    monkeypatch.setattr(own_launches.Launches, "_operation", turns)
    x = View(0, "float32", (300, 70), (70, 1), 0)
    step = Operation("mul", (x, 2.0), {}, (replace(x, storage=2),), "here")
    copy = Storage("float32", 21_000, "result", "copy", None, (300, 70))
    found = problem.ran(step, problem.launch(source=2), more=(copy,), seconds=0.1)
    assert found.open == ("the host's steps exceed the time limit",) and not found.findings


def test_launches_that_no_hardware_does_are_findings(problem: Problem) -> None:
    launch = replace(problem.launch(), grid=(5, 70_000, 1))
    assert "the grid has 70000 along y; at most 65535" in problem.ran(launch).findings[0]


def test_a_budget_that_is_exceeded_is_told(problem: Problem) -> None:
    found = problem.ran(problem.launch(bound="0x7FFFFFFF"), seconds=0.2)
    assert not found.shows
    found = problem.ran(problem.launch(), seconds=0.0)
    assert found.open == ("k exceeds the time limit",) and not found.findings
    assert found.claim == ("no results were compared at the problem's own sizes: k exceeds the time limit")


def test_memory_of_arrays_too_large_for_numbers(tmp_path: Path) -> None:
    """An index that 32 bits do not hold: the product of row and columns wraps."""
    small = Problem(tmp_path, 4, 4)
    large = Problem.__new__(Problem)
    large.folder, large.rows, large.columns = tmp_path, 1 << 19, 1 << 14
    launch = large.launch(block=32, bound="1")
    recorded = large.recording(launch)
    right = memory_at_own_sizes(recorded, OwnRun({}), {}, 10)
    assert (right.findings, right.doubts) == ((), ())
    wide = Path(launch.ptx).read_text(encoding="utf-8")
    signed = wide.replace("mul.wide.u32 %d2", "mul.wide.s32 %d2")
    Path(launch.ptx).write_text(signed, encoding="utf-8")
    found = memory_at_own_sizes(recorded, OwnRun({}), {"rows": 1 << 19}, 10)
    assert "out-of-bounds" in found.findings[0] and found.sizes == {"rows": 1 << 19}
    assert small.numbers.has_draw(1)


def test_ends_of_arrays_too_large_for_numbers_are_looked_for(tmp_path: Path) -> None:
    """Threads go on with the stride of the grid: its corners do not write the last element."""
    problem = Problem(tmp_path, 100_000, 1)
    launch = problem.launch(block=32, blocks=400)
    Path(launch.ptx).write_text(kernel(STRIDED.replace("ROWS", "100000"), 2, ""), encoding="utf-8")
    found = memory_at_own_sizes(problem.recording(launch), OwnRun({}), {}, 10)
    assert not found.findings and not found.doubts and found.memory


def test_results_to_which_nothing_writes_are_in_doubt(tmp_path: Path) -> None:
    """A number of elements that 32 bits do not hold is negative, and no thread has anything to do."""
    large = Problem.__new__(Problem)
    large.folder, large.rows, large.columns = tmp_path, 1 << 19, 1 << 14
    launch = large.launch(block=32, bound="1")
    text = Path(launch.ptx).read_text(encoding="utf-8")
    none = text.replace("setp.ge.u32 %p0, %r0", "setp.ge.s32 %p0, %r0").replace("524288; @", "-2147483648; @")
    assert none != text
    Path(launch.ptx).write_text(none, encoding="utf-8")
    found = memory_at_own_sizes(large.recording(launch), OwnRun({}), {}, 10)
    assert found.doubts == ("no block that was run writes to result 0",)


def test_other_configurations_of_inputs(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        Numbers(tmp_path, {"0 input x": ["none.npy", "float32"]}).array("0 input x")
    assert Numbers(tmp_path).array("0 input x") is None


def test_blocks_are_those_at_the_corners_and_some_between() -> None:
    found = some_blocks((10, 20, 3))
    corners = {x + 10 * (y + 20 * z) for x in (0, 9) for y in (0, 19) for z in (0, 2)}
    assert corners < set(found) and len(found) == 11
    assert some_blocks((1, 1, 1)) == [0]
    assert some_blocks((10, 20, 3)) == found


def test_batches_are_halved() -> None:
    found = with_smaller_batches({"batch_size": 5, "dim": 100})
    assert found == [{"batch_size": size, "dim": 100} for size in (5, 2, 1)]
    assert with_smaller_batches({"rows": 5}) == [{"rows": 5}]


def test_extents_are_halved_where_they_stay_multiples_of_tiles_and_the_candidate_does_not_name_them() -> None:
    found = with_smaller_extents(
        {"batch_size": 1, "depth": 128, "height": 64, "width": 256, "odd": 1000}, {256}
    )
    assert found == [
        {"batch_size": 1, "depth": 64, "height": 64, "width": 256, "odd": 1000},
        {"batch_size": 1, "depth": 32, "height": 64, "width": 256, "odd": 1000},
        {"batch_size": 1, "depth": 32, "height": 32, "width": 256, "odd": 1000},
    ]
    assert with_smaller_extents({"rows": 32, "columns": (64, 64)}, ()) == []


def result(**more: Any) -> TorchResult:
    return TorchResult("verified", "p.py", "s.py", {"n": 8}, launches=("kernel",), **more)


def test_verdicts_with_what_was_run() -> None:
    run = OwnRun({"n": 4096}, launches=(("kernel", 6, 4096),), compared=6, results=4096)
    shown = with_own_run(result(), run)
    assert shown.verdict == "verified" and shown.sizes == {"n": 8}
    assert shown.claim == (
        "1 launch and 0 steps of the host; for all data; at the problem's own sizes 6 of 4,096 blocks were "
        "run on numbers, 6 of 4,096 elements compared"
    )
    wrong = with_own_run(result(bound="b", hypotheses=("h",)), replace(run, findings=("wrong-value",)))
    assert wrong.verdict == "refuted" and wrong.sizes == {"n": 4096} and wrong.own_sizes
    assert wrong.findings == ("wrong-value",) and not wrong.hypotheses and "for all data" not in wrong.claim
    doubtful = with_own_run(result(), replace(run, doubts=("none writes the end",)))
    assert doubtful.verdict == "undecided"
    assert doubtful.findings == ("at the problem's own sizes: none writes the end",)
    assert with_own_run(result(), replace(run, open=("late",))).notes == ("at the problem's own sizes: late",)


def test_words_are_passed_as_they_are(problem: Problem) -> None:
    launch = problem.launch()
    assert own_launches._bytes(Passed(4, ((0, Word(4, 7)),))) == b"\7\0\0\0"
    assert launch.passed[0].size == 8
