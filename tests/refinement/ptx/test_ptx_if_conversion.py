"""Branches on data: both ways are run, and what they leave is what the right way alone leaves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from example_counts import examples
from hypothesis import given, settings
from hypothesis import strategies as st
from ptx_machine import BODY, Bench, kernel, kinds, written

from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.machine.memory import ByteLanes
from mmaproof.refinement.ptx.run import if_conversion
from mmaproof.refinement.ptx.run.launching import Pointer, Scalar
from mmaproof.refinement.ptx.run.machine import Run
from mmaproof.refinement.ptx.state.address_spaces import Buffer
from mmaproof.refinement.ptx.text.parser import parse
from mmaproof.refinement.terms.assignments import Assignment
from mmaproof.spec.formats import U32

THREADS = 32
WORDS = 4
"""That each thread reads of `a`, and has of `c`."""

UPDATED = 4 * THREADS * WORDS
"""Where in `c` the words begin that atomics update: four of each thread, and one of all."""

SETUP = """
ld.param.u64 %d0, [p0]; ld.param.u64 %d1, [p1]; mov.u32 %r0, %tid.x;
mad.wide.u32 %d2, %r0, 16, %d0; mad.wide.u32 %d3, %r0, 16, %d1;
ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%d2]; mov.u32 %r5, 0; mov.u32 %r6, %r0;
"""

# -- random programs


@dataclass
class Writer:
    """Writes a program from choices that are drawn."""

    draw: Any
    labels: int = 0
    predicates: int = 0

    def label(self) -> str:
        self.labels += 1
        return f"l{self.labels}"

    def register(self, *, written: bool = False) -> str:
        return f"%r{self.draw(st.integers(1 if written else 0, 6))}"

    def condition(self) -> tuple[str, str]:
        """Return an instruction, and the predicate that it writes."""
        self.predicates += 1
        relation = self.draw(st.sampled_from(["lt", "ge", "eq", "ne"]))
        other = self.draw(st.sampled_from(["1", "2", "%r0", self.register()]))
        predicate = f"%q{self.predicates}"
        return f"setp.{relation}.u32 {predicate}, {self.register()}, {other};", predicate

    def simple(self) -> str:
        kinds = [
            "sum",
            "product",
            "move",
            "store",
            "byte",
            "load",
            "choice",
            "update",
            "count",
            "updated",
            "over",
        ]
        kind = self.draw(st.sampled_from(kinds))
        slot = 4 * self.draw(st.integers(0, WORDS - 1))
        match kind:
            case "sum":
                return f"add.u32 {self.register(written=True)}, {self.register()}, {self.register()};"
            case "product":
                return f"mul.lo.u32 {self.register(written=True)}, {self.register()}, 3;"
            case "move":
                return f"mov.u32 {self.register(written=True)}, {self.register()};"
            case "store":
                return f"st.global.u32 [%d3+{slot}], {self.register()};"
            case "byte":
                return f"st.global.u8 [%d3+{slot + self.draw(st.integers(0, 3))}], {self.register()};"
            case "load":
                return f"ld.global.u32 {self.register(written=True)}, [%d3+{slot}];"
            case "update":
                return f"red.global.add.u32 [%d3+{UPDATED + slot}], {self.register()};"
            case "count":
                return f"red.global.add.u32 [%d1+{2 * UPDATED}], {self.register()};"
            case "updated":
                return f"ld.global.u32 {self.register(written=True)}, [%d3+{UPDATED + slot}];"
            case "over":
                return f"st.global.u32 [%d3+{UPDATED + slot}], {self.register()};"
        compared, predicate = self.condition()
        sides = f"{self.register()}, {self.register()}"
        return f"{compared} selp.u32 {self.register(written=True)}, {sides}, {predicate};"

    def statements(self, depth: int) -> Iterator[str]:
        kinds = ["simple", "simple", "guarded"]
        kinds += ["if", "if", "if-else", "loop", "leave"] if depth else []
        for _ in range(self.draw(st.integers(1, 4))):
            match self.draw(st.sampled_from(kinds)):
                case "simple":
                    yield self.simple()
                case "guarded":
                    compared, predicate = self.condition()
                    sign = self.draw(st.sampled_from(["", "!"]))
                    *before, act = self.simple().split("; ")
                    yield " ".join([compared, *(f"{each};" for each in before), f"@{sign}{predicate} {act}"])
                case "if":
                    compared, predicate = self.condition()
                    behind = self.label()
                    yield f"{compared} @{predicate} bra {behind};"
                    yield from self.statements(depth - 1)
                    yield f"{behind}:"
                case "if-else":
                    compared, predicate = self.condition()
                    otherwise, behind = self.label(), self.label()
                    yield f"{compared} @!{predicate} bra {otherwise};"
                    yield from self.statements(depth - 1)
                    yield f"bra {behind}; {otherwise}:"
                    yield from self.statements(depth - 1)
                    yield f"{behind}:"
                case "loop":
                    again, counter = self.label(), f"%n{depth}"
                    yield f"mov.u32 {counter}, 0; {again}:"
                    yield from self.statements(depth - 1)
                    self.predicates += 1
                    limit = self.draw(st.sampled_from(["2", "%r7"]))
                    more = f"%q{self.predicates}"
                    yield f"add.u32 {counter}, {counter}, 1; setp.lt.u32 {more}, {counter}, {limit};"
                    yield f"@{more} bra {again};"
                case "leave":
                    compared, predicate = self.condition()
                    yield f"{compared} @{predicate} {self.draw(st.sampled_from(['ret', 'exit']))};"


@st.composite
def programs(draw: Any) -> str:
    """Draw the body of a kernel whose thread reads four words of `a` and reads and writes four of `c`."""
    writer = Writer(draw)
    body = "\n".join(writer.statements(3))
    declared = f".reg .pred %q<{writer.predicates + 1}>; .reg .b32 %n<4>;"
    stores = "\n".join(f"st.global.u32 [%d3+{4 * slot}], %r{slot + 1};" for slot in range(2))
    trips = "and.b32 %r7, %r0, 1; add.u32 %r7, %r7, 1;"
    return kernel(f"{SETUP} {trips}\n{body}\n{stores}", 2, declared)


def known(bench: Bench, name: str, words: Any, *, writable: bool = False) -> Pointer:
    """Return a pointer to numbers that are no data."""
    lanes = ByteLanes(bench.store, 4 * len(words))
    lanes.write(np.arange(0, len(lanes), 4), bench.store.constants(words, 32))
    return Pointer(Buffer(name, len(lanes), 32, (lanes.terms, lanes.lows), writable))


def values_left(bench: Bench, done: Run, inputs: dict[str, Any]) -> Any:
    lanes = done.contents["c"].lanes
    words = lanes.read(np.arange(0, len(lanes), 4), 4)
    return Assignment(bench.store, inputs).values(words)


@settings(max_examples=examples(40), deadline=None)
@given(programs(), st.integers(0, 1 << 20))
def test_what_is_chosen_is_what_the_right_way_leaves(text: str, seed: int) -> None:
    random, bench, module = np.random.default_rng(seed), Bench(), parse(text, "kernel.ptx")
    given_data = [
        bench.given("a", np.zeros(THREADS * WORDS), U32),
        bench.given("c", np.zeros(2 * THREADS * WORDS + 1), U32, writable=True),
    ]
    done = bench.run(module, given_data)
    if not done.complete:  # a loop that data leave, or an atomic behind a store, at most
        assert list(kinds(done)) == [Kind.UNSUPPORTED]
        message = done.findings[0].message
        assert (
            "it controls the number of iterations of a loop" in message
            or "an atomic behind a store" in message
        )
        return
    assert done.findings == ()
    for _ in range(2):
        lengths = {"a": THREADS * WORDS, "c": 2 * THREADS * WORDS + 1}
        words = {name: random.integers(0, 4, count).astype(np.uint64) for name, count in lengths.items()}
        numbers = Bench()
        alone = numbers.run(
            module, [known(numbers, "a", words["a"]), known(numbers, "c", words["c"], writable=True)]
        )
        assert (alone.complete, alone.findings) == (True, ())
        np.testing.assert_array_equal(
            values_left(bench, done, words), values_left(numbers, alone, {}), err_msg=text
        )


# -- what is right


def run(body: str, *, size: int = THREADS * WORDS * 4, declared: str = "", block: int = THREADS) -> Run:
    bench = Bench()
    data = bench.given("a", np.zeros(THREADS * WORDS), U32)
    return bench.run(kernel(SETUP + body, 2, declared), [data, written("c", size)], block=block)


BIG = "setp.gt.u32 %p1, %r1, 10;"


def test_a_register_that_one_way_alone_writes_is_undefined_on_the_other() -> None:
    bench = Bench()
    data = bench.given("a", np.zeros(THREADS * WORDS), U32)
    body = f"{SETUP} {BIG} @%p1 bra done; mov.u32 %r9, 1; done: st.global.u32 [%d3], %r9;"
    done = bench.run(kernel(body, 2), [data, written("c", 16 * THREADS)])
    term = done.contents["c"].lanes.terms[:1]
    for word, expected in ((0, {1}), (11, {0x5A5A5A5A, 0xA5A5A5A5})):
        inputs = {"a": np.full(THREADS * WORDS, word)}
        found = {
            int(Assignment(bench.store, inputs, undefined=filled).values(term)[0]) for filled in (0x5A, 0xA5)
        }
        assert found == expected


def test_memory_that_both_ways_write_is_defined() -> None:
    bench = Bench()
    data = bench.given("a", np.zeros(THREADS * WORDS), U32)
    body = f"""{SETUP} {BIG} @%p1 bra big; setp.gt.u32 %p2, %r2, 10; @%p2 bra middle;
    st.global.u32 [%d3], %r1; bra done;
    middle: st.global.u16 [%d3], 7; st.global.u16 [%d3+2], 0; bra done;
    big: st.global.u32 [%d3], 8;
    done:"""
    done = bench.run(kernel(body, 2), [data, written("c", 16 * THREADS)])
    assert done.findings == ()
    terms = done.contents["c"].lanes.read(np.arange(0, 16 * THREADS, 16), 4)
    words = np.random.default_rng(1).integers(0, 21, (THREADS, WORDS))
    found = Assignment(bench.store, {"a": words.reshape(-1)}).values(terms)
    np.testing.assert_array_equal(
        found, np.where(words[:, 0] > 10, 8, np.where(words[:, 1] > 10, 7, words[:, 0]))
    )


def test_the_carry_of_the_way_that_is_taken_is_added() -> None:
    bench = Bench()
    data = bench.given("a", np.zeros(THREADS * WORDS), U32)
    body = f"""{SETUP} {BIG} add.cc.u32 %r7, %r6, 0; @%p1 bra big;
    add.cc.u32 %r7, %r2, 0xFFFFFFFF;
    big: addc.u32 %r8, %r3, 0; st.global.u32 [%d3], %r8;"""
    done = bench.run(kernel(body, 2), [data, written("c", 16 * THREADS)])
    assert done.findings == ()
    terms = done.contents["c"].lanes.read(np.arange(0, 16 * THREADS, 16), 4)
    words = np.random.default_rng(1).integers(0, 21, (THREADS, WORDS))
    words[::2, 1] = 0
    found = Assignment(bench.store, {"a": words.reshape(-1)}, undefined=0xA5).values(terms)
    carry = (words[:, 0] <= 10) & (words[:, 1] > 0)
    np.testing.assert_array_equal(found, words[:, 2] + carry)


def test_threads_of_which_nothing_depends_on_data_go_their_own_way() -> None:
    """Half of a warp compares its number, the other half data; a barrier waits for all."""
    bench = Bench()
    data = bench.given("a", np.zeros(THREADS * WORDS), U32)
    body = f"""{SETUP} setp.lt.u32 %p0, %r0, 16; selp.u32 %r7, %r0, %r1, %p0;
    setp.lt.u32 %p1, %r7, 8; mov.u32 %r8, 5; @%p1 bra small; mov.u32 %r8, 6; small: bar.sync 0;
    st.global.u32 [%d3], %r8;"""
    done = bench.run(kernel(body, 2), [data, written("c", 16 * THREADS)])
    assert done.findings == ()
    terms = done.contents["c"].lanes.read(np.arange(0, 16 * THREADS, 16), 4)
    words = np.random.default_rng(1).integers(0, 16, (THREADS, WORDS))
    compared = np.where(np.arange(THREADS) < 16, np.arange(THREADS), words[:, 0])
    found = Assignment(bench.store, {"a": words.reshape(-1)}).values(terms)
    np.testing.assert_array_equal(found, np.where(compared < 8, 5, 6))


@pytest.mark.parametrize("whole", [True, False])
def test_exchanges_are_on_ways_of_whole_warps_alone(whole: bool) -> None:
    """Where the word of the warp's first thread decides, all go one way; else each goes its own."""
    bench = Bench()
    data = bench.given("a", np.zeros(THREADS * WORDS), U32)
    word = "shfl.sync.idx.b32 %r7, %r1, 0, 31, -1;" if whole else "mov.u32 %r7, %r1;"
    body = f"""{SETUP} {word} mov.u32 %r8, %r2; setp.gt.u32 %p1, %r7, 10; @%p1 bra done;
    shfl.sync.bfly.b32 %r8, %r2, 1, 31, -1; done: st.global.u32 [%d3], %r8;"""
    done = bench.run(kernel(body, 2), [data, written("c", 16 * THREADS)])
    assert done.complete == whole
    if not whole:
        return
    assert done.findings == ()
    terms = done.contents["c"].lanes.read(np.arange(0, 16 * THREADS, 16), 4)
    for first in (3, 11):
        words = np.random.default_rng(1).integers(0, 20, (THREADS, WORDS))
        words[0, 0] = first
        found = Assignment(bench.store, {"a": words.reshape(-1)}).values(terms)
        own = np.arange(THREADS)
        np.testing.assert_array_equal(found, words[own if first > 10 else own ^ 1, 1])


@pytest.mark.parametrize("most", [1, 6, 30])
def test_a_loop_that_data_end_runs_as_often_as_they_say(most: int) -> None:
    bench = Bench()
    data = bench.given("a", np.zeros(THREADS * WORDS), U32)
    body = f"""{SETUP} mov.u32 %r7, 0; mov.u32 %r8, 0;
    again: add.u32 %r8, %r8, %r2; add.u32 %r7, %r7, 1;
    setp.lt.u32 %p1, %r7, %r1; setp.lt.and.u32 %p1, %r7, {most}, %p1; @%p1 bra again;
    st.global.u32 [%d3], %r8;"""
    done = bench.run(kernel(body, 2), [data, written("c", 16 * THREADS)])
    assert done.findings == ()
    terms = done.contents["c"].lanes.read(np.arange(0, 16 * THREADS, 16), 4)
    words = np.random.default_rng(1).integers(0, most + 3, (THREADS, WORDS))
    found = Assignment(bench.store, {"a": words.reshape(-1)}).values(terms)
    np.testing.assert_array_equal(found, words[:, 1] * np.clip(words[:, 0], 1, most))


# -- what is refused


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (f"{BIG} @%p1 bra done;\nbar.sync 0; done:", "it controls bar.sync in line "),
        (
            f"{BIG} @%p1 bra done;\nshfl.sync.idx.b32 %r2, %r1, 0, 31, -1; done:",
            "controls shfl.sync.idx.b32 in",
        ),
        (f"{BIG} @%p1 bra done;\ntrap; done:", "it controls trap in line"),
        (f"{BIG} @%p1 ret;\nbar.sync 0;", "it controls bar.sync in line "),
        (
            f"again: add.u32 %r1, %r1, 1; {BIG}\n@!%p1 bra again;",
            "it controls the number of iterations of a loop",
        ),
        (f"{BIG}\n@%p1 bar.sync 0;", ""),
    ],
)
def test_what_others_take_part_in_or_has_no_end_is_refused(body: str, reason: str) -> None:
    done = run(body)
    (finding,) = done.findings
    assert (done.complete, finding.kind) == (False, Kind.UNSUPPORTED)
    assert "the guard " in finding.message and "depends on data" in finding.message
    assert reason in finding.message


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (
            "@%p1 atom.global.exch.b32 %r2, [%d3], 1;",
            "atom.global.exch.b32 under a condition on data; allowed: add",
        ),
        ("@%p1 bra done; red.global.inc.u32 [%d3], 7; done:", "red.global.inc.u32 under a condition on data"),
        (
            "@%p1 bra done; st.global.u32 [%d3], 1; red.global.add.u32 [%d3], 1; done:",
            "an atomic behind a store to c+0x0, on one way of a branch on data",
        ),
        (
            "@%p1 bra done; st.global.u32 [%d3], 1; setp.lt.u32 %p2, %r2, 3;\n"
            "@%p2 red.global.add.u32 [%d3], 1; done:",
            "an atomic behind a store to c+0x0, on one way of a branch on data",
        ),
    ],
)
def test_updates_that_depend_on_their_order_are_refused(body: str, reason: str) -> None:
    done = run(f"{BIG}\n{body}")
    (finding,) = done.findings
    assert (done.complete, finding.kind) == (False, Kind.UNSUPPORTED)
    assert reason in finding.message


@pytest.mark.parametrize(
    ("update", "first", "left"),
    [
        ("add.u32", 7, lambda words: 7 + int(words[words <= 10].sum())),
        ("max.s32", -3, lambda words: max([-3, *words[words <= 10]])),
        ("min.u32", 9, lambda words: min([9, *words[words <= 10]])),
        ("and.b32", 13, lambda words: np.bitwise_and.reduce([13, *words[words <= 10]])),
        ("xor.b32", 5, lambda words: np.bitwise_xor.reduce([5, *words[words <= 10]])),
    ],
)
def test_all_threads_update_one_word_where_data_lead_them(update: str, first: int, left: Any) -> None:
    bench = Bench()
    data = bench.given("a", np.zeros(THREADS * WORDS), U32)
    body = f"{SETUP} {BIG} @%p1 bra done; atom.global.{update} %r9, [%d1], %r1; done:"
    done = bench.run(kernel(body, 2), [data, known(bench, "c", [first & 0xFFFFFFFF], writable=True)])
    assert (done.complete, done.findings) == (True, ())
    for seed, least in ((1, 0), (2, 11), (3, 5)):
        words = np.random.default_rng(seed).integers(least, 21, (THREADS, WORDS))
        found = values_left(bench, done, {"a": words.reshape(-1)})
        assert int(found[0]) == int(left(words[:, 0])) & 0xFFFFFFFF


def test_regions_have_a_limit() -> None:
    done = run(f"{BIG} @%p1 bra done; {'add.u32 %r2, %r2, 1; ' * 1100} done:")
    assert "it controls 1100 instructions; at most 1024" in done.findings[0].message


@pytest.mark.parametrize("more", ["setp.lt.u32 %p2, %r2, 90; @%p2 bra again;", "bra again;"])
def test_loops_within_a_branch_have_a_limit(more: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(if_conversion, "MOST_STEPS", 100)
    body = f"@%p1 bra done; mov.u32 %r2, 0; again: add.u32 %r2, %r2, 1; {more} done:"
    done = run(f"{BIG} {body}")
    assert (done.complete, list(kinds(done))) == (False, [Kind.UNSUPPORTED])
    assert "controls more than 100 instructions" in done.findings[0].message


def test_conditions_on_scalars_alone_are_left_to_cases() -> None:
    bench = Bench()
    scalar = int(bench.store.inputs("n", U32, 0))
    text = kernel(
        f"ld.param.u32 %r1, [p0]; ld.param.u64 %d3, [p1]; {BIG} @%p1 ret; st.global.u32 [%d3], %r1;", 2
    ).replace(".u64 p0", ".u32 p0")
    done = bench.run(text, [Scalar(scalar), written("c", 4)], block=1)
    assert (done.complete, list(kinds(done))) == (False, [Kind.UNSUPPORTED])
    assert len(done.depends)


def test_conditions_on_what_nobody_wrote_are_findings() -> None:
    done = run("setp.gt.u32 %p1, %r9, 10; @%p1 bra done; mov.u32 %r2, 1; done:")
    assert list(kinds(done)) == [Kind.UNINITIALISED]
    assert "%r9" in done.findings[0].message


# -- faults on one way


def test_an_access_out_of_bounds_on_a_way_that_data_lead_is_found() -> None:
    done = run(f"{BIG}\n@!%p1 bra done;\nst.global.u32 [%d3+1024], 1;\ndone:")
    assert kinds(done) == {Kind.OUT_OF_BOUNDS: [BODY + 5]}


def test_a_fault_on_a_way_that_may_never_be_taken_is_undecided() -> None:
    body = f"{BIG} setp.lt.u32 %p2, %r1, 5;\n@!%p1 bra done;\n@%p2 st.global.u32 [%d3+1024], 1;\ndone:"
    done = run(body)
    assert kinds(done) == {Kind.UNDECIDED: [BODY + 5]}
    assert "if data lead here, which is not known: st.global.u32 of 4 bytes" in done.findings[0].message


@pytest.mark.parametrize("other", ["ld.global.u32 %r2, [%d1];", "st.global.u32 [%d1], %r2;"])
def test_races_of_stores_on_data_are_never_overlooked(other: str) -> None:
    """Thread 0 stores if data say so, thread 1 accesses the same place."""
    body = f"""{BIG} setp.eq.u32 %p2, %r0, 0; setp.eq.u32 %p3, %r0, 1; @!%p2 bra second;
    @%p1 st.global.u32 [%d1], %r1;
    second: @%p3 {other}"""
    found = kinds(run(body))
    assert found.pop(Kind.UNDECIDED) == [BODY + 5]
    assert not found.keys() - {Kind.UNINITIALISED}


@pytest.mark.parametrize("other", ["ld.global.u32 %r2, [%d1];", "st.global.u32 [%d1], %r2;"])
@pytest.mark.parametrize(("also", "kind"), [("%p1", Kind.RACE), ("%p4", Kind.UNDECIDED)])
def test_stores_on_data_race_with_what_happens_for_all_data(other: str, also: str, kind: Kind) -> None:
    """Thread 1 accesses a place, where thread 0 then stores if some data say so, or if none can."""
    body = f"""{BIG} setp.lt.u32 %p4, %r1, 5; and.pred %p4, %p4, %p1; setp.eq.u32 %p2, %r0, 0;
    setp.eq.u32 %p3, %r0, 1; @%p3 {other}
    @%p2 bra stores; bra done; stores: @{also} st.global.u32 [%d1], %r1; done:"""
    found = kinds(run(body))
    assert found.pop(kind) == [BODY + 5]
    assert not found.keys() - {Kind.UNINITIALISED}


def test_threads_that_decide_differently_over_one_place_are_refused() -> None:
    done = run(f"{BIG}\n@%p1 st.global.u32 [%d1], 1;")
    assert not done.complete
    assert {Kind.UNSUPPORTED} <= kinds(done).keys() <= {Kind.UNSUPPORTED, Kind.UNDECIDED}
    assert any(
        "threads under branches on different data write the same place, c+0x0" in finding.message
        for finding in done.findings
    )


def test_local_memory_is_chosen_too() -> None:
    bench = Bench()
    data = bench.given("a", np.arange(THREADS * WORDS), U32)
    body = f"""{SETUP} mov.u64 %d4, own; {BIG} st.local.u32 [%d4], 3; @!%p1 bra done;
    st.local.u32 [%d4], %r1; done: ld.local.u32 %r2, [%d4]; st.global.u32 [%d3], %r2;"""
    done = bench.run(kernel(body, 2, ".local .align 4 .b8 own[4];"), [data, written("c", 16 * THREADS)])
    assert done.findings == ()
    terms = done.contents["c"].lanes.read(np.arange(0, 16 * THREADS, 16), 4)
    first = np.arange(0, THREADS * WORDS, WORDS)
    np.testing.assert_array_equal(
        Assignment(bench.store, bench.inputs).values(terms), np.where(first > 10, first, 3)
    )


def test_choices_that_are_made_already_leave_nothing() -> None:
    """``@p`` and ``@!p`` make one choice, and so does a condition within itself."""
    bench = Bench()
    data = bench.given("a", np.zeros(THREADS * WORDS), U32)
    body = f"""{SETUP} {BIG} mov.u32 %r7, 0; @%p1 mov.u32 %r7, %r2; @!%p1 mov.u32 %r7, %r3;
    selp.u32 %r8, %r2, %r3, %p1; @%p1 bra done; @%p1 mov.u32 %r8, 9; mov.u32 %r8, %r3; done:
    st.global.u32 [%d3], %r7; st.global.u32 [%d3+4], %r8;"""
    done = bench.run(kernel(body, 2), [data, written("c", 16 * THREADS)])
    terms = done.contents["c"].lanes.read(np.array([0, 4]), 4)
    assert terms[0] == terms[1]
    assert bench.store.operation(int(terms[0])).name == "select"
