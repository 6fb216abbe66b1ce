"""Shuffles, votes and reductions against loops over the lanes of a warp."""

from __future__ import annotations

import numpy as np
import pytest
from ptx_instructions import THREADS, amounts, execute, signed, words

WARP = 32
ALL = "0xffffffff"


def _source(mode: str, lane: int, b: int, c: int) -> tuple[int, bool]:
    """Return the lane read and whether it is in range: the pseudo-code of PTX ISA 9.1 section 9.7.9.6."""
    amount, clamp, segment = b & 31, c & 31, c >> 8 & 31
    greatest = (lane & segment) | (clamp & ~segment & 31)
    least = lane & segment
    source = {
        "up": lane - amount,
        "down": lane + amount,
        "bfly": lane ^ amount,
        "idx": least | (amount & ~segment & 31),
    }[mode]
    inside = source >= greatest if mode == "up" else source <= greatest
    return (source, True) if inside else (lane, False)


@pytest.mark.parametrize("data", [[], ["a"]])
@pytest.mark.parametrize("mode", ["up", "down", "bfly", "idx"])
@pytest.mark.parametrize("form", ["shfl.{}.b32 d|p, a, b, c", f"shfl.sync.{{}}.b32 d|p, a, b, c, {ALL}"])
def test_shuffles_read_the_lane_that_their_mode_says(form: str, mode: str, data: list[str]) -> None:
    held, b, c = words(32, 1), amounts(2), words(32, 3)
    operands = {"a": ("b32", held), "b": ("b32", b), "c": ("b32", c)}
    done = execute(f"{form.format(mode)};", operands, {"d": "b32", "p": "pred"}, data)
    assert done.findings == ()
    for thread in range(THREADS):
        lane, inside = _source(mode, thread % WARP, int(b[thread]), int(c[thread]))
        assert done.results["d"][thread] == held[thread // WARP * WARP + lane]
        assert done.results["p"][thread] == inside


def test_a_butterfly_of_data_adds_up_a_warp() -> None:
    steps = "".join(
        f"shfl.sync.bfly.b32 t, a, {distance}, 31, {ALL}; add.s32 a, a, t;" for distance in (16, 8, 4, 2, 1)
    )
    held = words(32, 1)
    done = execute(f".reg .b32 t; {steps} mov.b32 d, a;", {"a": ("b32", held)}, {"d": "b32"}, ["a"])
    sums = held.reshape(-1, WARP).sum(axis=1) & np.uint64(0xFFFFFFFF)
    assert (done.results["d"] == np.repeat(sums, WARP)).all()


def test_a_shuffle_from_a_thread_that_does_not_run_is_undefined() -> None:
    text = "setp.lt.u32 p, l, 20; @p shfl.sync.down.b32 d, l, 4, 31, 0xfffff; @!p mov.b32 d, 99;"
    operands = {"l": ("b32", np.arange(THREADS) % WARP)}
    done = execute(f".reg .pred p; {text}", operands, {"d": "b32"})
    assert done.findings == ()
    for thread in range(THREADS):
        lane = thread % WARP
        undefined = 16 <= lane < 20
        expected = 99 if lane >= 20 else lane + 4
        assert (done.results["d"][thread] == expected) is not undefined


def test_a_thread_that_its_mask_leaves_out_is_found() -> None:
    done = execute("shfl.sync.idx.b32 d, a, 0, 31, 0xfffffffe;", {"a": ("b32", words(32, 1))}, {"d": "b32"})
    assert {finding.kind for finding in done.findings} == {"undefined"}
    assert "outside its mask" in done.findings[0].message
    assert done.findings[0].thread == "block 0, thread 0"


def test_a_mask_with_threads_that_run_apart_is_not_modelled() -> None:
    text = f"setp.lt.u32 p, a, 7; @p shfl.sync.idx.b32 d, a, 0, 31, {ALL};"
    operands = {"a": ("b32", np.arange(THREADS) % WARP)}
    done = execute(f".reg .pred p; {text}", operands, {"d": "b32"})
    (finding,) = done.findings
    assert (finding.kind, done.kernel.splitlines()[finding.line - 1]) == (
        "unsupported",
        f".reg .pred p; {text}",
    )


@pytest.mark.parametrize("mask", [None, 0xFFFFFFFF])
def test_votes(mask: int | None) -> None:
    rng = np.random.default_rng(1)
    answers = np.concatenate([rng.integers(0, 2, WARP), np.zeros(WARP), np.ones(WARP)]).astype(np.uint64)
    sync, tail = ("", "") if mask is None else (".sync", f", {mask:#x}")
    text = (
        f"vote{sync}.all.pred p, a{tail}; vote{sync}.any.pred q, a{tail}; "
        f"vote{sync}.uni.pred r, a{tail}; vote{sync}.ballot.b32 d, !a{tail};"
    )
    results = {"p": "pred", "q": "pred", "r": "pred", "d": "b32"}
    done = execute(text, {"a": ("pred", answers)}, results)
    assert done.findings == ()
    for thread in range(THREADS):
        votes = [bool(vote) for vote in answers.reshape(-1, WARP)[thread // WARP]]
        ballot = sum((not vote) << lane for lane, vote in enumerate(votes))
        expected = all(votes), any(votes), len(set(votes)) == 1, ballot
        assert tuple(int(done.results[name][thread]) for name in results) == expected


def test_only_the_threads_that_run_take_part() -> None:
    text = "setp.lt.u32 p, a, 20; @p activemask.b32 d; @p vote.sync.ballot.b32 e, q, 0xfffff;"
    lanes = np.arange(THREADS) % WARP
    operands = {"a": ("b32", lanes), "q": ("pred", lanes % 2)}
    done = execute(f".reg .pred p; mov.b32 d, 0; mov.b32 e, 0; {text}", operands, {"d": "b32", "e": "b32"})
    assert done.findings == ()
    assert (done.results["d"] == np.where(lanes < 20, 0xFFFFF, 0)).all()
    assert (done.results["e"] == np.where(lanes < 20, 0xAAAAA, 0)).all()


def test_matches() -> None:
    rng = np.random.default_rng(2)
    values = np.concatenate([rng.integers(0, 4, 2 * WARP), np.full(WARP, 7)]).astype(np.uint64)
    text = f"match.any.sync.b32 d, a, {ALL}; match.all.sync.b32 e|p, a, {ALL};"
    done = execute(text, {"a": ("b32", values)}, {"d": "b32", "e": "b32", "p": "pred"})
    for thread in range(THREADS):
        warp = values.reshape(-1, WARP)[thread // WARP]
        alike = sum(int(other == values[thread]) << lane for lane, other in enumerate(warp))
        every = alike == 0xFFFFFFFF
        found = tuple(int(done.results[name][thread]) for name in "dep")
        assert found == (alike, alike * every, every)


@pytest.mark.parametrize("data", [[], ["a"]])
@pytest.mark.parametrize(
    "form", ["add.u32", "add.s32", "min.s32", "max.s32", "min.u32", "max.u32", "and.b32", "or.b32", "xor.b32"]
)
def test_reductions(form: str, data: list[str]) -> None:
    name, kind = form.split(".")
    held = words(32, 5)
    text = f".reg .pred p; setp.lt.u32 p, l, 21; @p redux.sync.{form} d, a, 0x1fffff; @!p mov.b32 d, 3;"
    operands = {"a": ("b32", held), "l": ("b32", np.arange(THREADS) % WARP)}
    done = execute(text, operands, {"d": "b32"}, data)
    assert done.findings == ()
    for thread in range(THREADS):
        lanes = [int(word) for word in held.reshape(-1, WARP)[thread // WARP][:21]]
        if kind == "s32":
            lanes = [signed(word, 32) for word in lanes]
        expected = {"add": sum, "min": min, "max": max}.get(name, _folded(name))(lanes) & 0xFFFFFFFF
        assert done.results["d"][thread] == (expected if thread % WARP < 21 else 3)


def _folded(name: str) -> object:
    combine = {"and": int.__and__, "or": int.__or__, "xor": int.__xor__}.get(name)

    def fold(values: list[int]) -> int:
        total = values[0]
        for value in values[1:]:
            assert combine is not None
            total = combine(total, value)
        return total

    return fold
