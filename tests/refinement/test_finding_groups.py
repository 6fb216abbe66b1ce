"""Findings of one cause are one finding: of a missing barrier, and of what several lines do alike."""

from __future__ import annotations

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from mmaproof.refinement.findings.finding import KernelFinding, Kind
from mmaproof.refinement.findings.groups import of_all_cases, one_for_each_cause


def race(earlier: int, line: int, count: int = 1) -> KernelFinding:
    return KernelFinding(
        Kind.RACE, f"reads, which line {earlier} writes", "k.ptx", line, "block 0", "", "", count, earlier
    )


def test_races_that_one_barrier_ends_are_one_finding() -> None:
    (found,) = one_for_each_cause([race(100, 102), race(88, 103), race(100, 105), race(88, 106, 2)])
    assert (found.line, found.other_line, found.count) == (102, 100, 5)
    says = "reads, which line 100 writes; so do lines 88 and 103; 100 and 105; 88 and 106"
    assert found.message == says


def test_races_that_need_two_barriers_are_two() -> None:
    found = one_for_each_cause([race(10, 20), race(30, 40), race(12, 45), race(35, 50)])
    assert [(each.other_line, each.line, each.count) for each in found] == [(10, 20, 1), (30, 40, 3)]


def test_races_across_the_turns_of_a_loop_are_of_their_own() -> None:
    found = one_for_each_cause([race(10, 20), race(20, 10), race(25, 10), race(15, 15)])
    assert [(each.other_line, each.line, each.count) for each in found] == [(10, 20, 1), (20, 10, 3)]


def test_what_several_lines_do_alike_is_one_finding() -> None:
    said = [KernelFinding(Kind.UNINITIALISED, "reads tile+0x0", "k.ptx", line) for line in (7, 9, 11, 13, 15)]
    other = KernelFinding(Kind.UNINITIALISED, "reads tile+0x4", "k.ptx", 9)
    found = one_for_each_cause([said[0], other, *said[1:]])
    assert [each.line for each in found] == [7, 9]
    assert (found[0].message, found[0].count) == ("reads tile+0x0; so in lines 9, 11, 13, and 1 more", 5)
    assert found[1] == other


def test_races_between_blocks_are_left_apart() -> None:
    found = [KernelFinding(Kind.RACE, f"writes C+{line}", "k.ptx", line, "block 1") for line in (5, 6)]
    assert one_for_each_cause(found) == found


@given(st.lists(st.builds(race, st.integers(1, 8), st.integers(1, 8)), max_size=10, unique=True))
def test_there_are_as_many_findings_as_barriers_are_needed(races: list[KernelFinding]) -> None:
    found = one_for_each_cause(races)
    forward = [each for each in races if each.other_line < each.line]
    needed = next(
        count
        for count in range(len(races) + 1)
        if any(
            all(any(each.other_line < place <= each.line for place in places) for each in forward)
            for places in combinations(range(1, 9), count)
        )
    )
    assert len(found) == needed + (len(forward) < len(races))
    assert sum(each.count for each in found) == len(races)


def test_what_is_wrong_in_several_cases_is_one_finding() -> None:
    def found(message: str, count: int = 1) -> KernelFinding:
        return KernelFinding(Kind.WRONG_VALUE, message, "k.ptx", 7, count=count)

    told = of_all_cases(
        [
            ("if beta = 0: ", [found("if beta = 0: C[0] lacks a", 3)]),
            ("if beta ≠ 0: ", [found("if beta ≠ 0: C[0] lacks b"), found("if beta ≠ 0: C[0] lacks a", 5)]),
        ]
    )
    assert told == [
        found("if beta = 0, and if beta ≠ 0: C[0] lacks a", 5),
        found("if beta ≠ 0: C[0] lacks b"),
    ]
    assert of_all_cases([("", [found("C[0] lacks a")]), ("", [found("C[0] lacks b")])]) == [
        found("C[0] lacks a"),
        found("C[0] lacks b"),
    ]
