"""Random kernels: the interpreter in several orders, and the machine on numbers and on terms, bit for bit."""

import os
import re

import pytest
from interpreter.ptx_comparison import Given, Memory, differences, interpreted, run_machine
from interpreter.ptx_interpreter import SCHEDULES
from interpreter.ptx_programs import program
from ptx_machine import kernel, kinds

from mmaproof.refinement.findings.finding import Kind

IN_CI = 300
PER_TEST = 25
ALL = 10_000
REFUSED_ONCE = (1521, 3820)
"""Directed quotients and roots of known numbers were taken for unknown, so that branches could not be."""

SWEPT = range(*map(int, os.environ.get("MMAPROOF_SEEDS", f"{IN_CI}:{ALL}").split(":")))
"""Seeds that the sweep runs, ``first:end``; a range that was cut off goes on where it ended."""

_UNDECIDED = re.compile(r"unsupported:|undecided:")


def compared(seed: int, *, on_terms: bool) -> tuple[list[str], bool]:
    """Return what differs of a program, and whether the machine ran it on terms."""
    given = program(seed)

    def wanted(*, once: bool) -> Memory:
        schedule = SCHEDULES[seed % len(SCHEDULES)]
        return interpreted(given.text, given.arrays, given.grid, given.block, schedule, seed, once=once)

    first = wanted(once=True)
    found: list[str] = []
    ran = False
    for terms in (False, True) if on_terms else (False,):
        got, done = run_machine(given.text, given.arrays, given.grid, given.block, on_terms=terms)
        said = [str(finding) for finding in done.findings]
        if said and all(_UNDECIDED.search(each) for each in said) and (terms or "mma.sync" in given.text):
            continue  # data decide over what it does not model on terms, which products always are
        ran |= terms
        wrong = said or differences(given.arrays, first, got)
        if wrong and not said:
            wrong = differences(given.arrays, wanted(once=False), got)
        found += [f"{seed}: {each}" for each in wrong]
    return found, ran


@pytest.mark.sample(5)
@pytest.mark.parametrize("first", range(0, IN_CI, PER_TEST))
def test_programs(first: int) -> None:
    """On numbers all of them, on terms every fifth."""
    outcomes = [compared(seed, on_terms=seed % 5 == 0) for seed in range(first, first + PER_TEST)]
    assert [each for found, _ in outcomes for each in found] == []


def test_terms_are_run_too() -> None:
    """Where data decide, the machine may refuse to run on terms; of many programs it does not."""
    assert sum(compared(seed, on_terms=True)[1] for seed in range(10)) >= 3


@pytest.mark.parametrize("seed", REFUSED_ONCE)
def test_programs_that_once_were_refused(seed: int) -> None:
    assert compared(seed, on_terms=False)[0] == []


@pytest.mark.sweep
@pytest.mark.parametrize("first", SWEPT[::100])
def test_more_programs(first: int) -> None:
    outcomes = [compared(seed, on_terms=True) for seed in range(first, min(first + 100, SWEPT.stop))]
    assert [each for found, _ in outcomes for each in found] == []


@pytest.mark.parametrize("seed", range(0, 40, 8))
def test_the_order_of_threads_does_not_matter(seed: int) -> None:
    """The programs have no races."""
    given = program(seed)
    first, *others = (
        interpreted(given.text, given.arrays, given.grid, given.block, schedule, seed)
        for schedule in SCHEDULES
    )
    for other in others:
        assert differences(given.arrays, first, other) == []


def test_programs_have_what_they_are_to_have() -> None:
    """Of each kind of statement there are several in those that every run looks at."""
    text = "\n".join(program(seed).text for seed in range(IN_CI))
    wanted = (
        *("bra $L", "shfl.sync.up", "shfl.sync.down", "shfl.sync.bfly", "shfl.sync.idx", "vote.sync"),
        *("match.any", "match.all", "redux.sync", "bar.sync 1", "barrier.sync", "bar.red.popc", "cp.async"),
        *("mbarrier.test_wait", "mma.sync", "movmatrix", "ldmatrix", "red.global", "atom.global"),
        *("ld.global.v4", "ld.global.s8", "ld.local", "st.shared", "cvt.", "fma.", "lop3", "prmt", "@!%p"),
    )
    assert {each: text.count(each) for each in wanted if text.count(each) < 5} == {}


RACE = """
ld.param.u64 %d0, [p0]; mov.u32 %r0, %tid.x; mul.wide.u32 %d1, %r0, 4; add.s64 %d0, %d0, %d1;
mov.u64 %d2, tile; add.s64 %d3, %d2, %d1; st.shared.u32 [%d3], %r0;
xor.b32 %r1, %r0, 1; mul.wide.u32 %d4, %r1, 4; add.s64 %d4, %d2, %d4; ld.shared.u32 %r2, [%d4];
st.global.u32 [%d0], %r2;
"""


def test_what_races_depends_on_the_order() -> None:
    """The comparison can fail: without a barrier, orders differ, and the machine says so."""
    text = kernel(RACE, 1, ".shared .align 4 .b8 tile[128];")
    arrays = (Given("C", "u32", None, 32),)
    runs = [interpreted(text, arrays, schedule=schedule) for schedule in SCHEDULES]
    assert any(differences(arrays, runs[0], run) for run in runs[1:])
    assert Kind.RACE in kinds(run_machine(text, arrays, on_terms=False)[1])
