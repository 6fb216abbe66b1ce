"""Text that is nearly PTX: it is read, or an `InputError` says where it is wrong; nothing else happens."""

import re
from pathlib import Path

import pytest
from example_counts import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from mmaproof.refinement.ptx.text.parser import parse, read
from mmaproof.spec.errors import InputError

REPOSITORY = Path(__file__).parents[3]
TEXTS = [
    (REPOSITORY / name).read_text()
    for name in (
        "examples/verify/mma_s4_sm80.ptx",
        "examples/verify/mma_mxf4_sm120a.ptx",
        "tests/kernels/triton/gemm_f16_f32_f32_32x32x32_s1_sm80.ptx",
    )
]
BLOCKS = """\
.version 8.0
.target sm_80
.address_size 64
.global .align 4 .u32 table[2][2] = {{1, 2}, {-3, 0x4}};
.func (.reg .b32 out) twice(.reg .b32 in) { add.s32 out, in, in; ret; }
.visible .entry kernel(.param .u64 .ptr .global .align 16 a, .param .align 8 .b8 s[24]) .maxntid 128, 1, 1 {
  .reg .pred p, q; .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .v2 .f32 %v; .shared .align 16 .b8 tile[64];
  loop: @!p bra done;
  { .reg .pred p; setp.eq.and.u32 p|q, %r1, 017, !q; @p bra loop; ld.global.v2.b32 {%r1, _}, [%rd1+-8]; }
  call.uni (%r1), twice, (%r2); mov.u64 %rd1, tile+16; mov.f32 %v.x, 0f3F800000; mov.u32 %r1, %tid.x;
  done: ret; /* end */
}
"""
TOKEN = re.compile(r"\s+|[\w$%.]+|.", re.DOTALL)
FRAGMENTS = [
    *"{}[]()<>,;:+-*/!@|=\"'#\\\0é", "//", "/*", "*/", "\n", "_", "0x", "0f", "08", "1e", ".", ".b32", ".reg",
    ".param", ".entry", "%r1", "%r99999999999", "%p", "%tid.x", "WARP_SZ", "ret;", "generic(", "@!",
    ".section .x {", "99" * 50,
]  # fmt: skip


def check(text: str) -> None:
    try:
        module = parse(text, "fuzzed.ptx")
    except InputError as error:
        assert re.match(r"fuzzed\.ptx(:\d+(:\d+)?)?: ", str(error))
        return
    assert parse(str(module)) == module


@st.composite
def mutated(draw, texts):
    tokens = TOKEN.findall(draw(st.sampled_from(texts)))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(tokens) - 1))
        match draw(st.sampled_from(["delete", "insert", "replace", "swap", "repeat", "cut", "borrow"])):
            case "delete":
                del tokens[at]
            case "insert":
                tokens.insert(at, draw(st.sampled_from(FRAGMENTS)))
            case "replace":
                tokens[at] = draw(st.sampled_from(FRAGMENTS))
            case "swap":
                other = draw(st.integers(0, len(tokens) - 1))
                tokens[at], tokens[other] = tokens[other], tokens[at]
            case "repeat":
                tokens[at:at] = tokens[at : at + draw(st.integers(1, 20))]
            case "cut":
                del tokens[at : at + draw(st.integers(1, 40))]
            case "borrow":
                tokens[at] = tokens[draw(st.integers(0, len(tokens) - 1))]
        tokens = tokens or [""]
    return "".join(tokens)


@given(mutated(TEXTS))
@settings(max_examples=examples(60), deadline=None)
def test_changed_kernels(text):
    check(text)


@given(mutated([BLOCKS]))
@settings(max_examples=examples(250), deadline=None)
def test_changed_blocks_and_declarations(text):
    check(text)


@given(st.lists(st.sampled_from([*FRAGMENTS, *TOKEN.findall(BLOCKS)]), max_size=40).map("".join))
@settings(max_examples=examples(150), deadline=None)
def test_loose_fragments(text):
    check(text)
    check(f".version 8.0\n.target sm_80\n.entry k() {{\n{text}\n}}")


@given(st.text(max_size=60))
@settings(max_examples=examples(100), deadline=None)
def test_any_text(text):
    check(text)
    check(f".version 8.0\n.target sm_80\n.entry k() {{ {text} }}")


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("kernel.cu", "is not PTX, but CUDA C\\+\\+: compile it first"),
        ("kernel.py", "is not PTX, but Python: Triton keeps"),
        ("kernel.ptx", r"1:1: expected"),
    ],
)
def test_the_source_of_a_kernel_is_told_from_its_ptx(tmp_path: Path, name: str, hint: str) -> None:
    place = tmp_path / name
    place.write_text("void kernel() {}\n", encoding="utf-8")
    with pytest.raises(InputError, match=hint):
        read(place)
