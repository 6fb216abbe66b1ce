"""Sizes at which problems are verified: smaller ones than their own; all that needs no PyTorch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from mmaproof.api.torch import sizes
from mmaproof.api.torch.outcome import TorchResult
from mmaproof.api.torch.recording import Recording
from mmaproof.api.torch.untrusted import Limits, Modules, Part, Recorded
from mmaproof.api.torch.verification import _Attempt, _climbed


def test_smaller_sizes_keep_factors_of_two() -> None:
    own: sizes.Sizes = {"batch_size": 128, "N": 16384, "M": 1000, "kernel": 3, "shape": (4096, 1000)}
    for steps in sizes.ladder(own)[:-1]:
        for name in ("N", "M"):
            small, large = steps[name], own[name]
            assert (
                isinstance(small, int) and isinstance(large, int) and large % sizes.factor_of_two(small) == 0
            )
        assert steps["kernel"] == 3
    largest = sizes.ladder(own)[-1]["shape"]
    assert isinstance(largest, tuple) and largest[0] == 256
    assert sizes.keeps_factors(sizes.ladder({"N": 16384})[-1], {"N": 16384})
    assert not sizes.keeps_factors({"N": 8}, {"N": 16384})
    assert sizes.keeps_factors({"N": 40}, {"N": 1000})


def test_what_is_wrong_is_judged_again_at_no_smaller_sizes() -> None:
    """An array of shared memory that is too short for 64 columns is so for 1024, not for 32."""
    own: sizes.Sizes = {"batch_size": 16, "dim": 1024, "rows": 1000, "groups": 8, "kernel": 3}
    for wrong in sizes.ladder(own):
        again = sizes.telling(own, (), wrong)
        assert all(wrong[name] <= again[name] <= own[name] for name in own)  # type: ignore[operator]
    assert sizes.telling({"dim": 1024}, (), {"dim": 10}) == {"dim": 32}
    assert sizes.telling({"shape": (1024, 64)}, (), {"shape": (64, 64)}) == {"shape": (96, 64)}


def test_different_sizes_stay_different() -> None:
    found = sizes.smaller({"M": 512, "N": 256, "K": 1024}, 16)
    assert len(set(found.values())) == 3
    assert sizes.smaller({"M": 32768, "N": 32}, 16) == {"M": 48, "N": 16}


def test_sizes_are_the_numbers_at_the_top(tmp_path: Path) -> None:
    path = tmp_path / "problem.py"
    text = "N = 4\nshape = (8, 9)\neps = 1e-5\nflag = True\nM = 2 * N\ndef f():\n    K = 3\n"
    path.write_text(text + "height = width = 16 * 8\ndepth, low = 7, -1\nK, eta = 3, 0.5\n", encoding="utf-8")
    assert sizes.constants(path) == {
        "N": 4, "shape": (8, 9), "height": 128, "width": 128, "depth": 7, "low": -1,
    }  # fmt: skip


def test_groups_have_several_channels() -> None:
    found = sizes.smaller({"features": 64, "num_groups": 16}, 2)
    assert found == {"features": 2 * found["num_groups"], "num_groups": 2}


def test_the_smallest_sizes_of_norms_have_few_elements() -> None:
    own: sizes.Sizes = {"batch_size": 112, "features": 64, "num_groups": 8, "dim1": 512, "dim2": 512}
    least = sizes.ladder(own)[0]
    assert least == {"batch_size": 3, "features": 4, "num_groups": 2, "dim1": 6, "dim2": 6}


def test_sizes_in_proportion_keep_what_one_is_of_another() -> None:
    """A layer norm over a width that a transposed convolution doubles, and over as many channels."""
    own: sizes.Sizes = {"batch_size": 32, "channels": 64, "D": 16, "W": 32, "kernel_size": 4}
    found = sizes.in_proportion(own)
    assert found[0] == {"batch_size": 3, "channels": 4, "D": 1, "W": 2, "kernel_size": 4}
    assert all(each["channels"] == 2 * each["W"] for each in found)  # type: ignore[operator]
    assert sizes.in_proportion({"batch_size": 4, "N": 1001}) == []


def test_a_reference_that_takes_all_memory_is_not_run(tmp_path: Path) -> None:
    modules = Modules(tmp_path / "p.py", tmp_path / "s.py", tmp_path, None, "sm_80", Limits())
    attempt = _Attempt(modules, (), memory_only=False)
    found = Recorded(Part(Recording()), (Part(Recording()),), 1, {"N": 1 << 16}, 1 + sizes.BEYOND, ())
    blank = TorchResult("unsupported", "p.py", "s.py", found.sizes, False)
    result = attempt._judged(found, blank)
    assert (result.verdict, attempt.beyond) == ("undecided", [{"N": 1 << 16}])
    assert "32,000,001 operations at these sizes" in result.findings[0]


def test_a_batch_is_another_number_unless_it_must_not_be() -> None:
    own: sizes.Sizes = {"batch_size": 128, "features": 128}
    assert sizes.smaller(own, 8) == {"batch_size": 2, "features": 8}
    assert len(set(sizes.smaller(own, 8, together=True).values())) == 1


def test_sizes_that_tell_have_tiles_and_numbers_of_the_candidate() -> None:
    own: sizes.Sizes = {"batch_size": 64, "M": 4096, "N": 1000, "K": 512, "kernel": 3}
    wrong: sizes.Sizes = {"batch_size": 2, "M": 10, "N": 10, "K": 6, "kernel": 3}
    found = sizes.telling(own, {512, 7}, wrong)
    assert found == {"batch_size": 2, "M": 32, "N": 24, "K": 512, "kernel": 3}
    assert sizes.keeps_factors(found, own, sizes.TILE, batches=False)


@pytest.mark.parametrize("in_time", [False, True])
def test_less_and_less_work_is_tried(in_time: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where one set of sizes takes too long the next is far smaller, and only the smallest has all time.

    Where it is not time that lacks, the smallest ones are next.
    """
    own: sizes.Sizes = {"batch_size": 64, "N": 8192}
    steps = sizes.ladder(own)
    attempt = _Attempt(
        Modules(tmp_path / "p.py", tmp_path / "s.py", tmp_path, None, "sm_80", Limits(own=0)),
        (),
        memory_only=False,
    )
    tried: list[tuple[int, bool]] = []

    def at(steps: Sequence[sizes.Sizes], own: sizes.Sizes, work: int, *, hasty: bool = False) -> TorchResult:
        tried.append((work, hasty))
        attempt.out_of_time = not in_time
        chosen = steps[min(len(steps) - 1, 2) if work else 0]
        return TorchResult("undecided", "p.py", "s.py", chosen, False, launches=("kernel",))

    monkeypatch.setattr(attempt, "at", at)
    result = _climbed(attempt, own, steps)
    assert result.sizes == steps[0]
    less = [0] if in_time else [sizes.WORK // 4, sizes.WORK // 16]
    assert tried == [(work, True) for work in (sizes.WORK, *less)]
