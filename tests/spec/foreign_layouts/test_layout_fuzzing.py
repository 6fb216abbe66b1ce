"""Whatever is written in place of a layout, the answer is a verdict or one clear line."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mmaproof.spec.errors import InputError, UnsupportedError
from mmaproof.spec.foreign_layouts.against import compare_layout
from mmaproof.spec.foreign_layouts.cute import CuteLayout
from mmaproof.spec.foreign_layouts.cute_text import parse_composed, parse_layout
from mmaproof.spec.foreign_layouts.linear import LinearLayout, parse_linear, spell_basis
from mmaproof.spec.foreign_layouts.rows import parse_rows

MMA = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
OPERANDS = [
    (MMA, "a"),
    (MMA, "b"),
    ("xvf32ger", "acc"),
    ("ldmatrix.sync.aligned.m8n8.x4.shared.b16", "addresses"),
    ("mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", "metadata"),
]

PIECES = [
    "((4,8),(2,2,2)):((32,1),(16,8,128))",
    "Layout<Shape<_4,_8>,Stride<_1,_4>>",
    "Swizzle<3,3,3> o ",
    "(",
    ")",
    ":",
    ",",
    "<",
    ">",
    "_4",
    "8",
    "-1",
    "0",
    " ",
    "\n",
    "\\n",
    "{",
    "}",
    "[",
    "]",
    "=",
    "->",
    "<-",
    "o",
    "at",
    "register",
    "lane",
    "warp",
    "block",
    "offset",
    "[[0,1],[8,0]]",
    " - register=1 -> (0, 1)",
    "lane=1 -> (0, 2)",
    "warp is a size 1 dimension",
    "where out dims are: [dim0 (size 16)]",
    "#ttg.linear<{",
    "}>",
    "shape=[16, 8]",
    "lane,element,row,column\n",
    "0,0,0,0\n",
    '{"elements": [',
    '{"lane": 0, "element": 0, "row": 0, "column": 0}',
    "ldmatrix.sync.aligned.m8n8.x4.shared.b16",
    "[0,1]",
    "(16,64):(64,1)",
    "smem_ptr[16b](unset)",
    "99999999999",
    "make_shape(",
    "Int<4>{}",
    "∘",
    "é",
    "\x00",
    '"',
    "'",
    "1e9",
    "٣",
]
texts = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=14).map("".join),
    st.text(max_size=60),
    st.text(alphabet="()_:,<>0123456789 -[]{}=lanerigst", max_size=60),
)


@given(st.sampled_from(OPERANDS), texts)
@example(OPERANDS[0], "ldmatrix.sync.aligned.m8n8.x4.shared.b16[0,,1] <- (16,64):(64,1)")
@example(OPERANDS[0], "ldmatrix.sync.aligned.x4.shared.b16 <- (16,64):(64,1)")
def test_any_text_has_a_verdict_or_one_reason(which: tuple[str, str], text: str) -> None:
    try:
        found = compare_layout(*which, text)
    except (InputError, UnsupportedError) as reason:
        assert str(reason)
        assert len(str(reason)) < 600
    else:
        assert all(found.lines())


@pytest.mark.parametrize("parse", [parse_layout, parse_composed, parse_linear, parse_rows])
@given(text=texts)
def test_every_parser_reads_or_refuses(parse: object, text: str) -> None:
    assert callable(parse)
    try:
        parse(text)
    except InputError as reason:
        assert len(str(reason)) < 600


trees = st.recursive(
    st.integers(1, 4), lambda inner: st.lists(inner, min_size=1, max_size=3).map(tuple), max_leaves=5
)


@given(trees, trees)
def test_what_is_written_is_read_back(shape: object, stride: object) -> None:
    layout = CuteLayout(shape, stride)  # type: ignore[arg-type]
    assert parse_layout(str(layout)) == layout
    marked = "".join(f"_{c}" if c.isdigit() else f" {c} " for c in str(layout))
    assert parse_layout(marked) == layout
    if layout.congruent:
        assert layout.size == len(layout.image())


@pytest.mark.parametrize(
    "text",
    [
        "((4,8),(2,2)):((16,1),(8,64))",
        "((_4,_8),(_2,_2)):((_16,_1),(_8,_64))",
        "((4, 8), (2, 2)):((16, 1), (8, 64))",
        "using BLayout = Layout<Shape <Shape < _4,_8>,Shape <_2, _2>>,\n"
        "                       Stride<Stride<_16,_1>,Stride<_8,_64>>>;",
        "cute::Layout<cute::tuple<cute::tuple<cute::C<4>, cute::C<8>>, cute::tuple<cute::C<2>, cute::C<2>>>, "
        "cute::tuple<cute::tuple<cute::C<16>, cute::C<1>>, cute::tuple<cute::C<8>, cute::C<64>>>>{}",
        "auto b = make_layout(make_shape(make_shape(Int<4>{}, 8), make_shape(2, 2)),  // (T32,V4) -> (N,K)\n"
        "  make_stride(make_stride(16, Int<1>{}), make_stride(8, 64u)));",
    ],
)
def test_every_spelling_of_a_cute_layout_is_read(text: str) -> None:
    assert str(parse_layout(text)) == "((4,8),(2,2)):((16,1),(8,64))"
    assert compare_layout(MMA, "b", text).equal


vectors = st.lists(st.tuples(st.integers(0, 99), st.integers(0, 99)), max_size=4).map(tuple)


@given(st.fixed_dictionaries({"register": vectors, "lane": vectors, "warp": vectors}))
def test_vectors_that_are_written_are_read_back(bases: dict[str, tuple[tuple[int, int], ...]]) -> None:
    written = ", ".join(f"{holder} = {spell_basis(basis)}" for holder, basis in bases.items())
    assert parse_linear(f"#ttg.linear<{{{written}}}>") == LinearLayout(dict(bases))
