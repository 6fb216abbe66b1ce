"""Loads and stores: what they move, in every state space, and what is reported of those that go wrong."""

from __future__ import annotations

import numpy as np
import pytest
from ptx_machine import BODY, Bench, kernel, kinds, written

from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.ptx.run.launching import Number
from mmaproof.spec.errors import InputError
from mmaproof.spec.formats import F16, F32, U8, U16, U32, format_named

ADDRESSES = """
ld.param.u64 %d0, [p0];
ld.param.u64 %d1, [p1];
mov.u32 %r0, %tid.x;
mul.wide.u32 %d2, %r0, 4;
add.s64 %d3, %d0, %d2;
add.s64 %d4, %d1, %d2;
"""
"""From ``p0`` in ``%d3``, to ``p1`` in ``%d4``, four bytes for each thread."""


def copied(body: str, declared: str = "", **how: int) -> tuple[Bench, object, np.ndarray]:
    """Run a kernel that copies 64 words from p0 to p1, and return what comes out."""
    bench = Bench()
    source = bench.given("a", np.arange(64) * 0x01020304, U32)
    done = bench.run(kernel(ADDRESSES + body, 2, declared), [source, written("c", 256)], block=64, **how)
    assert done.findings == ()
    return bench, done, bench.left(done, "c", U32)


@pytest.mark.parametrize(
    ("body", "declared"),
    [
        ("ld.global.u32 %r1, [%d3]; st.global.u32 [%d4], %r1;", ""),
        ("ld.u32 %r1, [%d3]; st.u32 [%d4], %r1;", ""),
        ("ld.global.v4.u8 {%h0, %h1, %h2, %h3}, [%d3]; st.global.v4.b8 [%d4], {%h0, %h1, %h2, %h3};", ""),
        ("ld.global.v2.b16 {%h0, %h1}, [%d3]; st.global.b16 [%d4+2], %h1; st.global.b16 [%d4], %h0;", ""),
        (
            "ld.global.nc.L1::no_allocate.f32 %f1, [%d3]; st.local.f32 [own+4], %f1;"
            "ld.local.b32 %r1, [own+4]; st.global.b32 [%d4], %r1;",
            ".local .align 8 .b8 own[8];",
        ),
        (
            "ld.global.u32 %r1, [%d3]; cvta.local.u64 %d5, own; st.u32 [%d5], %r1; ld.local.u32 %r2, [own];"
            "ld.local.u32 %r2, [own]; st.global.u32 [%d4], %r2;",
            ".local .align 8 .b8 own[8];",
        ),
        (
            "mov.u32 %r2, tile; mad.lo.u32 %r3, %r0, 4, %r2; ld.global.u32 %r1, [%d3];"
            "st.shared.u32 [%r3], %r1; bar.sync 0; cvt.u64.u32 %d5, %r3; cvta.shared.u64 %d6, %d5;"
            "ld.u32 %r4, [%d6]; st.u32 [%d4], %r4;",
            ".shared .align 4 .b8 tile[256];",
        ),
    ],
)  # fmt: skip
def test_bytes_arrive_through_every_space(body: str, declared: str) -> None:
    _, _, left = copied(body, declared)
    np.testing.assert_array_equal(left, np.arange(64) * 0x01020304)


def test_blocks_and_threads_have_memory_of_their_own() -> None:
    body = """
    mov.u32 %r5, %ctaid.x;
    st.shared.u32 [tile], %r5;
    st.local.u32 [own], %r0;
    bar.sync 0;
    ld.shared.u32 %r6, [tile];
    ld.local.u32 %r7, [own];
    mad.lo.u32 %r8, %r6, 100, %r7;
    mad.lo.u32 %r9, %r5, 32, %r0;
    mul.wide.u32 %d5, %r9, 4;
    add.s64 %d6, %d1, %d5;
    st.global.u32 [%d6], %r8;
    """
    declared = ".shared .align 4 .b8 tile[4]; .local .align 4 .b8 own[4];"
    bench = Bench()
    arguments = [Number(0), written("c", 256 * 3)]
    done = bench.run(kernel(ADDRESSES + body, 2, declared), arguments, grid=6, block=32)
    expected = (100 * np.arange(6)[:, None] + np.arange(32)).reshape(-1)
    assert done.findings == ()
    np.testing.assert_array_equal(bench.left(done, "c", U32), expected)


def test_narrow_loads_extend_with_their_sign() -> None:
    bench = Bench()
    body = """
    ld.param.u64 %d0, [p0]; ld.param.u64 %d1, [p1];
    ld.global.s8 %r1, [%d0]; ld.global.u8 %r2, [%d0]; ld.global.s8 %d2, [%d0];
    st.global.v2.u32 [%d1], {%r1, %r2}; st.global.u64 [%d1+8], %d2;
    """
    done = bench.run(kernel(body, 2), [bench.given("a", [0x85], U8), written("c", 16)], block=1)
    expected = [0xFFFFFF85, 0x85, 0xFFFFFF85, 0xFFFFFFFF]
    np.testing.assert_array_equal(bench.left(done, "c", U32), expected)


def test_constants_and_initialised_variables_hold_their_values() -> None:
    body = """
    ld.param.u64 %d0, [p0];
    ld.const.u32 %r1, [table+4]; ld.global.u32 %r2, [counts]; ld.global.u32 %r3, [counts+8];
    st.global.u32 [%d0], %r1; st.global.v2.u32 [%d0+8], {%r2, %r3}; st.global.u32 [%d0+4], %r1;
    """
    text = kernel(body).replace(
        ".visible", ".const .align 4 .u32 table[2] = {7, 9}; .global .align 4 .u32 counts[3] = {5};\n.visible"
    )
    bench = Bench()
    done = bench.run(text, [written("c", 16)], block=1)
    assert done.findings == ()
    np.testing.assert_array_equal(bench.left(done, "c", U32), [9, 9, 5, 0])


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("ld.global.u32 %r1, [%d3+4];", Kind.OUT_OF_BOUNDS),
        ("ld.global.u32 %r1, [%d3+-4];", Kind.OUT_OF_BOUNDS),
        ("st.global.u32 [%d4+4], %r0;", Kind.OUT_OF_BOUNDS),
        ("ld.u32 %r1, [%d3+4];", Kind.OUT_OF_BOUNDS),
        ("ld.global.u32 %r1, [8];", Kind.OUT_OF_BOUNDS),
        ("st.shared.u32 [tile+16], %r0;", Kind.OUT_OF_BOUNDS),
        ("st.global.u32 [%d3], %r0;", Kind.OUT_OF_BOUNDS),
        ("ld.global.u32 %r1, [%d0+2];", Kind.MISALIGNED),
        ("ld.global.v2.u32 {%r1, %r2}, [%d0+4];", Kind.MISALIGNED),
        ("ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%d0+16];", Kind.MISALIGNED),
        ("ld.shared.u32 %r1, [tile]; st.global.u32 [%d4], %r1;", Kind.UNINITIALISED),
        ("ld.global.u32 %r1, [%d4]; st.global.u32 [%d4], %r1;", Kind.UNINITIALISED),
        ("ld.local.u32 %r1, [own]; st.global.u32 [%d4], %r1;", Kind.UNINITIALISED),
        (
            "ld.shared.u32 %r1, [tile]; add.u32 %r1, %r1, %r0; st.local.u32 [own], %r1;"
            "ld.local.u32 %r2, [own]; st.global.u32 [%d4], %r2;",
            Kind.UNINITIALISED,
        ),
    ],
)
def test_accesses_that_go_wrong_are_reported(body: str, kind: Kind) -> None:
    bench = Bench()
    declared = ".shared .align 4 .b8 tile[16]; .local .align 4 .b8 own[4];"
    # The buffer is aligned to 8 bytes and no better, so that 16 more are no multiple of 16.
    source = bench.given("a", np.zeros(64), U32, alignment=8)
    done = bench.run(kernel(ADDRESSES + body, 2, declared), [source, written("c", 256)], block=64)
    line = BODY + len(ADDRESSES.strip().splitlines())
    assert kinds(done) == {kind: [line]}
    assert done.complete


@pytest.mark.parametrize(
    ("instruction", "legal"),
    [
        ("ld.global.u32 %r1, [tile];", False),
        ("ld.volatile.local.u32 %r1, [tile];", False),
        ("st.shared.u32 [own], %r1;", False),
        ("ld.shared.u32 %r1, [p0];", False),
        ("atom.global.add.u32 %r1, [tile], 1;", False),
        ("cp.async.ca.shared.global [tile], [tile], 16;", False),
        ("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [own];", False),
        ("st.shared::cta.u32 [tile], %r1;", True),
        ("st.u32 [tile], %r1;", True),
        ("ld.param.u32 %r1, [p0];", True),
    ],
)
def test_the_address_of_a_variable_is_taken_in_its_own_space(instruction: str, legal: bool) -> None:
    """ptxas refuses a mismatch, even where it is not reached."""
    bench = Bench()
    declared = ".shared .align 16 .b8 tile[16]; .local .align 4 .b8 own[4];"
    body = f"bra done;\n{instruction}\ndone:"
    done = bench.run(kernel(body, 1, declared), [written("c", 4)], block=32)
    assert kinds(done) == ({} if legal else {Kind.ILLEGAL: [BODY + 1]})


def test_findings_count_threads_and_name_the_first() -> None:
    bench = Bench()
    source = bench.given("a", np.zeros(40), U32)
    done = bench.run(kernel(ADDRESSES + "ld.global.u32 %r1, [%d3];", 2), [source, written("c", 4)], block=64)
    (finding,) = done.findings
    assert finding.thread == "block 0, thread 40"
    assert "a+0xa0" in finding.message
    assert done.occurrences[finding.kind, finding.line] == 24


def test_an_access_out_of_bounds_does_not_stop_the_others() -> None:
    bench = Bench()
    source = bench.given("a", np.arange(8), U32)
    body = "ld.global.u32 %r1, [%d3]; st.global.u32 [%d4], %r1;"
    done = bench.run(kernel(ADDRESSES + body, 2), [source, written("c", 128)], block=32)
    assert done.complete
    np.testing.assert_array_equal(bench.left(done, "c", U32)[:8], np.arange(8))


@pytest.mark.parametrize("space", ["shared", "local"])
def test_what_nobody_has_written_may_be_read_and_dropped(space: str) -> None:
    """As a software pipeline does after its last tile, with the fragments of the one after that."""
    bench = Bench()
    read = f"ld.{space}.u32 %r1, [own]; add.u32 %r2, %r1, %r0;"
    declared = f".{space} .align 4 .b8 own[4];"
    done = bench.run(
        kernel(f"{ADDRESSES}{read} st.global.u32 [%d4], %r0;", 2, declared), [0, written("c", 128)]
    )
    assert done.findings == ()
    branching = f"{read} setp.lt.u32 %p0, %r2, 9; @%p0 bra there; st.global.u32 [%d4], %r0;\nthere:"
    for used in (branching, f"{read} cvt.u64.u32 %d5, %r2; st.global.u32 [%d5], %r0;"):
        done = bench.run(kernel(ADDRESSES + used, 2, declared), [0, written("c", 128)])
        assert Kind.UNINITIALISED in kinds(done)


@pytest.mark.parametrize(
    ("offset", "found"), [(0, Kind.RACE), (16, Kind.UNINITIALISED), (256, Kind.UNINITIALISED)]
)
def test_a_pending_copy_excuses_only_what_it_covers(offset: int, found: Kind) -> None:
    """Whoever reads under a copy races with it; what no copy goes to was never written."""
    bench = Bench()
    body = f"""
    mov.u32 %r10, tile; setp.eq.u32 %p0, %r0, 0;
    @%p0 cp.async.cg.shared.global [%r10], [%d0], 16; cp.async.commit_group;
    add.u32 %r10, %r10, {offset}; @%p0 ld.shared.v4.u32 {{%r1, %r2, %r3, %r4}}, [%r10];
    @%p0 st.global.u32 [%d4], %r4;
    """
    text = kernel(ADDRESSES + body, 2, ".shared .align 16 .b8 tile[512];")
    done = bench.run(text, [bench.given("a", np.arange(64), U32), written("c", 256)], block=32)
    assert list(kinds(done)) == [found]


def test_loads_of_a_traced_run_are_kept_by_line() -> None:
    bench = Bench()
    body = "setp.lt.u32 %p0, %r0, 8;\n@%p0 ld.global.u32 %r1, [%d3];\nld.global.u32 %r2, [%d0];"
    given = [bench.given("a", np.arange(64), U32), 0]
    done = bench.run(kernel(ADDRESSES + body, 2), given, block=64, traced=True)
    first = BODY + len(ADDRESSES.strip().splitlines()) + 1
    assert set(done.loads) == {first, first + 1}
    np.testing.assert_array_equal(bench.store.arguments(done.loads[first])[:, 0], np.arange(8))
    assert len(done.loads[first + 1]) == 1


def test_the_last_store_to_each_byte_is_known() -> None:
    bench = Bench()
    body = "st.global.u32 [%d4], %r0;\nsetp.lt.u32 %p0, %r0, 8;\n@%p0 st.global.u32 [%d4], 5;"
    done = bench.run(kernel(ADDRESSES + body, 2), [0, written("c", 144)], block=32)
    first = BODY + len(ADDRESSES.strip().splitlines())
    contents = done.contents["c"]
    np.testing.assert_array_equal(contents.lines[::4], [first + 2] * 8 + [first] * 24 + [0] * 4)
    np.testing.assert_array_equal(contents.threads[::4], [*range(32), -1, -1, -1, -1])


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("ld.global.u32 %r1, [%d3]; cvt.u64.u32 %d5, %r1; ld.global.u32 %r2, [%d5];", "depends on data"),
        ("ld.global.acquire.gpu.u32 %r1, [%d3]; st.global.u32 [%d4], %r1;", ".acquire"),
        ("mov.u64 %d5, %gridid; ld.global.u32 %r1, [%d5];", "%gridid"),
        ("mov.u32 %r1, %reserved_smem_offset_cap;", "%reserved_smem_offset_cap"),
        ("tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [t, {%r1}];", "not modelled"),
    ],
)
def test_what_is_not_modelled_stops_the_run(body: str, message: str) -> None:
    bench = Bench()
    text = kernel(ADDRESSES + body, 2, ".shared .b32 t;")
    done = bench.run(text, [bench.given("a", np.zeros(64), U32), written("c", 256)], block=64)
    assert not done.complete
    (finding,) = done.findings
    assert finding.kind is Kind.UNSUPPORTED
    assert message in finding.message
    assert finding.line == BODY + len(ADDRESSES.strip().splitlines())


def test_code_that_does_not_run_needs_no_model() -> None:
    body = "bra done; tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [t, {%r1}]; done: st.global.u32 [%d4], %r0;"
    bench = Bench()
    done = bench.run(kernel(ADDRESSES + body, 2, ".shared .b32 t;"), [0, written("c", 128)], block=32)
    assert done.complete
    assert done.findings == ()


@pytest.mark.parametrize(
    ("arguments", "how", "message"),
    [
        ([0], {}, r"takes 2 arguments, not 1: p0 \(u64\), p1 \(u64\)"),
        ([0, 1 << 64], {}, "doesn't fit"),
        ([0, 0], {"block": 64}, r"blocks of \(128, 1, 1\)"),
    ],
)
def test_launches_that_can_not_be_are_refused(
    arguments: list[int], how: dict[str, int], message: str
) -> None:
    text = kernel("").replace("(.param .u64 p0)", "(.param .u64 p0, .param .u64 p1) .reqntid 128")
    with pytest.raises(InputError, match=message):
        Bench().run(text, arguments, **({"block": 128} | how))


def test_formats_keep_their_bits() -> None:
    for fmt in (F16, F32, U16, format_named("e4m3")):
        bench = Bench()
        source = bench.given("a", np.arange(256 // fmt.bits * 8), fmt)
        body = "ld.global.u32 %r1, [%d3]; st.global.u32 [%d4], %r1;"
        done = bench.run(kernel(ADDRESSES + body, 2), [source, written("c", 256)], block=64)
        np.testing.assert_array_equal(bench.left(done, "c", fmt), np.arange(256 // fmt.bits * 8))


@pytest.mark.parametrize(("coherent", "found"), [("", {}), (".nc", {Kind.UNDEFINED: [BODY + 8]})])
def test_what_the_kernel_writes_is_not_read_past_coherence(
    coherent: str, found: dict[Kind, list[int]]
) -> None:
    body = f"""{ADDRESSES.strip()}
    ld.global.nc.u32 %r1, [%d3]; st.global.u32 [%d4], %r1;
    bar.sync 0;
    ld.global{coherent}.u32 %r2, [%d4]; st.global.u32 [%d4], %r2;"""
    bench = Bench()
    source = bench.given("a", np.arange(64), U32)
    done = bench.run(kernel(body, 2), [source, written("c", 256)], block=64)
    assert kinds(done) == found
