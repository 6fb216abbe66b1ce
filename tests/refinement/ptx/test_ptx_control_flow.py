"""Blocks and post-dominators against their definitions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mmaproof.refinement.ptx.text.control_flow import control_flow, immediate_post_dominators
from mmaproof.refinement.ptx.text.parser import parse
from mmaproof.spec.errors import UnsupportedError


@st.composite
def graphs(draw):
    """Successors by node, the number of nodes being the end."""
    count = draw(st.integers(1, 10))
    target = st.integers(0, count)
    return [draw(st.lists(target, max_size=3, unique=True)) for _ in range(count)]


def reaches_end(successors, start, without=None):
    seen, pending = set(), [start]
    while pending:
        node = pending.pop()
        if node in seen or node == without:
            continue
        if node == len(successors):
            return True
        seen.add(node)
        pending += successors[node]
    return False


@given(graphs())
def test_a_post_dominator_is_on_every_way_to_the_end_and_none_is_nearer(successors):
    end = len(successors)
    found = immediate_post_dominators(successors)
    for node in range(end):
        if not reaches_end(successors, node):
            assert found[node] is None
            continue
        everywhere = {
            other
            for other in range(end + 1)
            if other != node and not (other != end and reaches_end(successors, node, without=other))
        }
        nearest = found[node]
        assert nearest in everywhere
        for other in everywhere - {nearest}:
            assert other == end or not reaches_end(successors, nearest, without=other)


@st.composite
def programs(draw):
    """A function of branches with and without guards, returns and other instructions."""
    count = draw(st.integers(1, 12))
    lines = []
    for index in range(count):
        label = draw(st.integers(0, count))
        guard = draw(st.sampled_from(["", "@p "]))
        kind = draw(
            st.sampled_from(["mov.b32 %r1, 0;", f"{guard}bra L{label};", f"{guard}ret;", f"{guard}exit;"])
        )
        lines.append(f"L{index}: {kind}")
    body = "\n".join([*lines, f"L{count}:"])
    text = f".version 8.0\n.target sm_80\n.entry k()\n{{ .reg .pred p; .reg .b32 %r<2>;\n{body}\n}}"
    return parse(text).functions["k"]


def steps(function, index):
    """Return where an instruction leads, read off its text."""
    instruction = function.body[index]
    if instruction.opcode == "mov":
        return {index + 1}
    there = (
        function.labels[instruction.operands[0].name] if instruction.opcode == "bra" else len(function.body)
    )
    return {there, index + 1} if instruction.predicate else {there}


@given(programs())
def test_blocks_partition_the_body_and_lead_where_their_last_instruction_does(function):
    flow = control_flow(function)
    length = len(function.body)
    assert [i for block in flow.blocks for i in range(block.start, block.stop)] == list(range(length))
    entered = [*(block.start for block in flow.blocks), length]
    for number, block in enumerate(flow.blocks):
        assert {flow.block_of[i] for i in range(block.start, block.stop)} == {number}
        assert {entered[successor] for successor in block.successors} == steps(function, block.stop - 1)
        for index in range(block.start, block.stop - 1):
            assert steps(function, index) == {index + 1}


@given(programs())
def test_threads_meet_at_the_first_instruction_that_all_ways_share(function):
    flow = control_flow(function)
    successors = [sorted(steps(function, index)) for index in range(len(function.body))]
    expected = immediate_post_dominators(successors)
    for block in flow.blocks:
        last = block.stop - 1
        assert flow.reconvergence(last) == expected[last]


def test_a_loop_and_a_choice():
    function = parse(
        """.version 8.0
        .target sm_80
        .entry k() { .reg .pred p, q; .reg .b32 %r<2>;
          mov.b32 %r1, 0;
          loop: @p bra other;
            mov.b32 %r1, 1;
            bra next;
          other: mov.b32 %r1, 2;
          next: @q bra loop;
          ret;
        }"""
    ).functions["k"]
    flow = control_flow(function)
    assert [(block.start, block.stop) for block in flow.blocks] == [
        (0, 1),
        (1, 2),
        (2, 4),
        (4, 5),
        (5, 6),
        (6, 7),
    ]
    assert [block.successors for block in flow.blocks] == [(1,), (2, 3), (4,), (4,), (5, 1), (6,)]
    assert flow.reconvergence(1) == 5
    assert flow.reconvergence(5) == 6
    assert flow.reconvergence(6) == flow.end == 7


def test_a_branch_to_a_register_is_not_supported():
    function = parse(
        """.version 8.0
        .target sm_80
        .entry k() { .reg .b32 %r<2>;
          targets: .branchtargets here;
          brx.idx %r1, targets;
          here: ret;
        }"""
    ).functions["k"]
    with pytest.raises(UnsupportedError, match=r"kernel\.ptx:5: brx\.idx"):
        control_flow(function, "kernel.ptx")
