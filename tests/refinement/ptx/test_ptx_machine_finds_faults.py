"""Kernels of the corpus with one fault in their synchronisation or bounds: each is found, where it is."""

from __future__ import annotations

import re

import numpy as np
import pytest
from cuda_contracts import CORPUS
from ptx_machine import Bench, kinds, written

from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.ptx.text.parser import parse
from mmaproof.spec.formats import F16

SOURCE = CORPUS / "mma_f16_sm120a.ptx"
TEXT = SOURCE.read_text(encoding="utf-8")
M, N, K = 64, 128, 96


def found(text: str, *, m: int = M, c_bytes: int = 4 * M * N) -> set[Kind]:
    bench = Bench()
    zeros = np.zeros(K * max(M, N), dtype=np.uint16)
    arguments = [
        bench.given("a", zeros[: m * K], F16),
        bench.given("b", zeros[: K * N], F16),
        written("c", c_bytes),
        N,
        K,
    ]
    done = bench.run(parse(text, str(SOURCE)), arguments, grid=(N // 64, M // 64, 1), block=128)
    assert done.complete
    return set(kinds(done))


def without(text: str, instruction: str, which: int) -> str:
    """Take one occurrence of an instruction away, from 0; -1 is the last."""
    parts = text.split(instruction)
    cut = which % (len(parts) - 1)
    return instruction.join(parts[: cut + 1]) + instruction.join(["", *parts[cut + 1 :]]).removeprefix(
        instruction
    )


def test_the_kernel_is_correct() -> None:
    assert found(TEXT) == set()


@pytest.mark.parametrize("which", range(TEXT.count("bar.sync")))
def test_every_barrier_is_needed(which: int) -> None:
    assert found(without(TEXT, "bar.sync \t0;", which)) == {Kind.RACE}


def test_every_wait_is_needed() -> None:
    assert found(TEXT.replace("cp.async.wait_group 1;", "")) == {Kind.RACE}
    assert found(TEXT.replace("cp.async.wait_group 1;", "cp.async.wait_group 2;")) == {Kind.RACE}


def test_a_commit_is_needed() -> None:
    assert found(without(TEXT, "cp.async.commit_group;", -1)) == {Kind.RACE}


def test_buffers_that_are_too_small_are_seen() -> None:
    assert found(TEXT, c_bytes=4 * M * N - 4) == {Kind.OUT_OF_BOUNDS}
    assert found(TEXT, m=M - 1) == {Kind.OUT_OF_BOUNDS}


COPIES = [match.span() for match in re.finditer(r"cp\.async\.cg\.shared\.global[^;]*;", TEXT)]


@pytest.mark.parametrize("copy", COPIES)
def test_every_copy_is_needed(copy: tuple[int, int]) -> None:
    start, end = copy
    assert found(TEXT[:start] + TEXT[end:]) == {Kind.UNINITIALISED}
