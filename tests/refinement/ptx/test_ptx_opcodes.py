"""The table of opcodes says what becomes of each; hints change nothing, traps and discarded lines do."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest
from ptx_machine import BODY, Bench, kernel, kinds, written

from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.ptx.instruction_set import DECODERS
from mmaproof.refinement.ptx.opcodes import REFUSED, opcode_rows
from mmaproof.refinement.ptx.run.program import SORTS
from mmaproof.spec.errors import UnsupportedError
from mmaproof.spec.formats import U32

ROWS = {row["opcode"]: row for row in opcode_rows()}
COPY = "ld.param.u64 %d0, [p0]; ld.param.u64 %d1, [p1]; ld.global.u32 %r1, [%d0]; st.global.u32 [%d1], %r1;"


STATUSES = {"modelled", "ignored: no effect on values", "unsupported"}
KERNELS = Path(__file__).parents[2] / "kernels"

STATEMENT = re.compile(
    r"(?:^|[;{}])\s*(?:\$?\w+:\s*)?(?:@!?%?\w+\s+)?([a-z][a-z0-9]+)(?=[.;\s])", re.MULTILINE
)
"""The opcode of a statement in PTX."""

ASSEMBLY = re.compile(r"\basm\b(?:\s+volatile)?\s*\(((?:\s|\"(?:[^\"\\]|\\.)*\")*)")
"""The text of assembly in CUDA C++."""


def headers() -> list[Path]:
    """Return CUDA's headers where its packages are installed; skip where they are not."""
    package = importlib.util.find_spec("nvidia")
    places = [] if package is None else [Path(folder) for folder in package.submodule_search_locations or ()]
    found = [path for place in places for path in place.glob("*/include/**/*.h*")]
    return found or pytest.skip("CUDA's headers (nvidia-cuda-runtime) are not installed")


def test_what_compilers_wrote_into_the_corpora_is_listed() -> None:
    used = set()
    for path in KERNELS.rglob("*.ptx"):
        body = re.sub(r"//.*|/\*.*?\*/", "", path.read_text(encoding="utf-8")).partition("\n{")[2]
        used |= set(STATEMENT.findall(body))
    assert len(used) > 40
    assert used <= set(ROWS)


def test_what_the_headers_of_cuda_are_written_with_is_listed() -> None:
    used = set()
    for path in headers():
        for text in ASSEMBLY.findall(path.read_text(encoding="utf-8", errors="replace")):
            lines = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', text)).replace("\\n", "\n").replace("\\t", " ")
            used |= set(STATEMENT.findall(lines))
    assert len(used) > 30
    assert used <= set(ROWS)


def test_every_opcode_has_one_status() -> None:
    assert {row["status"] for row in ROWS.values()} == STATUSES


def test_every_opcode_is_listed_once_and_none_that_is_modelled_is_missing() -> None:
    assert len(ROWS) == len(opcode_rows())
    modelled = {opcode for opcode, row in ROWS.items() if row["status"] != "unsupported"}
    assert modelled == set(DECODERS) | set(SORTS)


@pytest.mark.parametrize("opcode", [opcode for opcode, row in ROWS.items() if row["status"] == "unsupported"])
def test_what_is_not_supported_is_refused_with_its_line(opcode: str) -> None:
    text = kernel(f"{opcode}.b32 %r0, %r1;", 0)
    if opcode == "brx":
        with pytest.raises(UnsupportedError, match=f":{BODY}: brx"):
            Bench().run(text, [])
        return
    found = kinds(Bench().run(text, []))
    judged = {Kind.ILLEGAL: [BODY]} if opcode == "wgmma" else {}  # by the specification
    assert found == {Kind.UNSUPPORTED: [BODY], **judged}


FORMS = {
    ("atom", "b128"): "atom.global.exch.b128 %q0, [%d0], %q1;",
    ("st", "bulk"): "st.bulk.weak.shared::cta [%r0], 32, 0;",
}  # fmt: skip
"""A form with each modifier that is said to be refused."""


def test_every_refused_modifier_has_a_form_that_is_fed() -> None:
    assert {(opcode, each) for opcode, refused in REFUSED.items() for each in refused} == set(FORMS)
    assert all(f"not .{each}" in ROWS[opcode]["limits"] for opcode, each in FORMS)


@pytest.mark.parametrize("form", FORMS.values(), ids=lambda form: form.split()[0])
def test_a_form_that_is_said_to_be_refused_is(form: str) -> None:
    body = f"{COPY} mov.u32 %r0, 0; mov.u32 %r1, 0; mov.u32 %r2, 0;\n{form}"
    text = kernel(body, 2, ".shared .align 8 .b8 s[64]; .reg .b128 %q<4>;", "sm_100a")
    bench = Bench()
    done = bench.run(text, [bench.given("a", [7] * 32, U32), written("c", 128)])
    assert [(finding.kind, finding.line) for finding in done.findings] == [(Kind.UNSUPPORTED, BODY + 1)]


def test_forms_without_what_is_refused_are_not() -> None:
    body = f"""{COPY} mov.u32 %r0, s; mov.u64 %d3, 1;
    @%p0 atom.global.add.u32 %r1, [%d0], 1; @%p0 red.global.add.u32 [%d0], 1; st.shared.u32 [%r0], 1;
    barrier.cta.sync.aligned 0; cp.async.ca.shared.global [%r0], [%d0], 4; cp.async.wait_all; bar.sync 0;
    ld.shared::cta.u32 %r2, [%r0];
    mbarrier.init.shared::cta.b64 [%r0+8], 1; mbarrier.inval.shared.b64 [%r0+8];"""
    bench = Bench()
    text = kernel(body.replace("ld.param.u64 %d0", "setp.eq.u64 %p0, 1, 0; ld.param.u64 %d0", 1), 2,
                  ".shared .align 8 .b8 s[64];")  # fmt: skip
    done = bench.run(text, [bench.given("a", [7] * 32, U32), written("c", 128)], block=1)
    assert done.findings == ()


@pytest.mark.parametrize(
    "hint",
    [
        "createpolicy.fractional.L2::evict_first.b64 %d5, 1.0; ld.global.L2::cache_hint.u32 %r1, [%d0], %d5;",
        "createpolicy.cvt.L2.b64 %d5, 0x10000000;",
        "applypriority.global.L2::evict_normal [%d0], 128;",
        "prefetch.global.L2 [%d0];",
        "nanosleep.u32 100; pmevent 3; membar.gl; fence.acq_rel.gpu;",
        "griddepcontrol.wait; griddepcontrol.launch_dependents;",
        "brkpt;",
    ],
)
def test_hints_change_no_value(hint: str) -> None:
    bench = Bench()
    source = bench.given("a", [7] * 32, U32, alignment=128)
    done = bench.run(
        kernel(COPY.replace("ld.global", f"{hint} ld.global"), 2), [source, written("c", 4)], block=1
    )
    assert done.findings == ()
    np.testing.assert_array_equal(bench.left(done, "c", U32), [7])


def test_a_discarded_line_holds_nothing() -> None:
    bench = Bench()
    body = f"{COPY} discard.global.L2 [%d1], 128; st.global.u32 [%d1+4], %r1;"
    source = bench.given("a", [7] * 32, U32)
    done = bench.run(kernel(body, 2), [source, written("c", 128, alignment=128)], block=1)
    assert done.findings == ()
    lanes = done.contents["c"].lanes
    undefined = bench.store.are("undefined", lanes.terms)
    np.testing.assert_array_equal(undefined, [True] * 4 + [False] * 4 + [True] * 120)


@pytest.mark.parametrize(("threads", "found"), [(32, {}), (33, {Kind.UNDEFINED: [BODY + 1]})])
def test_a_trap_is_told_where_it_is_reached(threads: int, found: dict[Kind, list[int]]) -> None:
    body = "mov.u32 %r0, %tid.x; setp.ge.u32 %p0, %r0, 32;\n@%p0 trap;"
    assert kinds(Bench().run(kernel(body, 0), [], block=threads)) == found
