"""The layouts that ptoas infers for views of global memory."""

from __future__ import annotations

from itertools import product
from math import prod

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mmaproof.spec.pto.assembly import parse_module
from mmaproof.spec.pto.element_types import ELEMENT_TYPES, ElementType
from mmaproof.spec.pto.global_memory import GlobalView, ViewOrder
from mmaproof.spec.pto.module_legality import judge_module
from mmaproof.spec.pto.targets import A5
from mmaproof.spec.pto.tile import DYNAMIC
from mmaproof.spec.pto.view_declarations import known_names
from mmaproof.spec.pto.view_layouts import RELEASES, contradiction, inferred, orders

ND, DN, NZ = ViewOrder.ND, ViewOrder.DN, ViewOrder.NZ
F32, F16, I8 = (ELEMENT_TYPES[name] for name in ("f32", "f16", "i8"))
EARLIER, LATER = RELEASES
extents = st.integers(1, 20)


def dense(*shape: int) -> tuple[int, ...]:
    return tuple(prod(shape[axis + 1 :]) for axis in range(len(shape)))


@pytest.mark.parametrize(
    ("shape", "strides", "earlier", "later"),
    [
        ((16, 1), (1, 1), (ND, DN), (ND, DN)),  # issue 190
        ((1, 8, 8, 16, 8), (8192, 1024, 128, 8, 1), (ND,), (NZ,)),  # issue 527, the first case
        ((4, 1, 16, 8, 16), (2048, 2048, 128, 16, 1), (NZ,), (ND,)),  # issue 527, the second case
        ((16, 8, 16), (128, 16, 1), (NZ,), (ND,)),
        ((1, 1, 1, 16, 8), (128, 128, 128, 8, 1), (ND,), (ND,)),
        ((2, 8, 8, 16, 8), (8192, 1024, 128, 8, 1), (ND,), (ND,)),
        ((64, 32), (1, 64), (DN,), (DN,)),
        ((64, 32), (1, 80), (ND,), (ND,)),
        ((64, 32), (48, 1), (ND,), (ND,)),
        ((1, 32), (7, 1), (ND, DN), (ND, DN)),
        ((32,), (1,), (ND, DN), (ND, DN)),
    ],
)
def test_what_is_inferred(
    shape: tuple[int, ...], strides: tuple[int, ...], earlier: tuple[ViewOrder], later: tuple[ViewOrder]
) -> None:
    assert (inferred(shape, strides, F32, EARLIER), inferred(shape, strides, F32, LATER)) == (earlier, later)


def test_fractals_of_f16_that_every_release_takes_for_such() -> None:
    shape = (1, 2, 16, 16, 16)
    assert orders([(shape, dense(*shape))], F16) == (NZ,)
    assert orders([(shape, dense(*shape))], I8) == (ND,)


@given(rows=extents, columns=extents, row_step=extents, column_step=extents, front=st.integers(1, 3))
def test_either_of_two_layouts_names_the_same_elements(
    rows: int, columns: int, row_step: int, column_step: int, front: int
) -> None:
    found = orders(
        [((1,) * (front - 1) + (rows, columns), (5,) * (front - 1) + (row_step, column_step))], F32
    )
    offsets = [
        GlobalView((1, 1, 1, rows, columns), (0, 0, 0, row_step, column_step), order).offset(
            *np.indices((rows, columns))
        )
        for order in found
    ]
    assert all(np.array_equal(offsets[0], other) for other in offsets)


@given(rows=st.integers(2, 40), columns=st.integers(2, 40), gap=st.integers(0, 3))
def test_a_matrix_without_gaps_has_the_layout_of_its_lines(rows: int, columns: int, gap: int) -> None:
    assert orders([((rows, columns), (columns + gap, 1))], F32) == (ND,)
    assert orders([((rows, columns), (1, rows + gap))], F32) == ((DN,) if gap == 0 else (ND,))


@given(
    shape=st.lists(extents, min_size=1, max_size=5),
    strides=st.lists(extents, min_size=5, max_size=5),
    unknown=st.integers(0, 9),
)
def test_what_is_not_known_makes_it_row_major(shape: list[int], strides: list[int], unknown: int) -> None:
    numbers = [*shape, *strides[: len(shape)]]
    written = [DYNAMIC if at == unknown % len(numbers) else each for at, each in enumerate(numbers)]
    assert orders([(written[: len(shape)], written[len(shape) :])], F16) == (ND,)


@given(
    outer=st.tuples(st.integers(1, 3), st.integers(1, 4), st.integers(1, 4)),
    element=st.sampled_from([F32, F16, I8]),
)
def test_what_the_later_release_infers_may_be_written(outer: tuple[int, ...], element: ElementType) -> None:
    shape = (*outer, 16, 32 // element.storage_bytes)
    assert contradiction("NZ", shape, dense(*shape), element) is None
    single = outer[0] == 1 and outer[1:] != (1, 1)
    assert (inferred(shape, dense(*shape), element, LATER) == (NZ,)) is single


@given(axis=st.integers(0, 4), of_stride=st.booleans(), number=st.integers(0, 4096))
def test_a_written_layout_is_contradicted_by_each_wrong_number(
    axis: int, of_stride: bool, number: int
) -> None:
    shape = (1, 3, 4, 16, 16)
    strides = dense(*shape)
    assume(number != (strides if of_stride else shape)[axis])
    changed = tuple(number if at == axis else each for at, each in enumerate(strides if of_stride else shape))
    why = contradiction("NZ", *((shape, changed) if of_stride else (changed, strides)), F16)
    if of_stride and axis < 2:
        assert (why is None) is (axis == 0 and number % 16 == 0 and number >= strides[axis])
    elif axis in (1, 2) and not of_stride:
        assert (why is None) is (number < shape[axis])  # fractals that a greater stride leaves out
    else:
        assert (why is None) is (axis == 0 and not of_stride)
    assert contradiction("ND", shape, changed, F16) is None


def test_the_numbers_that_a_text_knows() -> None:
    text = """module { func.func @f(%p: !pto.ptr<f32>, %n: index) {
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %m = arith.muli %c8, %c8 : index
      %x = arith.muli %c8, %n : index
      scf.for %i = %c1 to %n step %c1 {
        %v = pto.make_tensor_view %p, shape = [%m, %x], strides = [%i, %c1] : !pto.tensor_view<?x?xf32>
      }
    } }"""
    (names,) = known_names(parse_module(text).body).values()
    assert names == ({"%c1"}, {"%m"})


LOAD = """module {{ func.func @f(%p: !pto.ptr<f32>, %n: index) {{
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %v = pto.make_tensor_view %p, shape = [%c16, %c64], strides = [{strides}]{layout}
    : !pto.tensor_view<?x?xf32>
  %w = pto.partition_view %v, offsets = [%n, %n], sizes = [%c16, %c16] : !pto.tensor_view<?x?xf32>
    -> !pto.partition_tensor_view<16x16xf32>
  %t = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32{tile}>
  pto.tload ins(%w : !pto.partition_tensor_view<16x16xf32>) outs(%t : !pto.tile_buf<vec, 16x16xf32{tile}>)
}} }}"""


@pytest.mark.parametrize(
    ("strides", "layout", "columns", "rows"),
    [
        ("%c64, %c1", "", False, True),
        ("%c1, %c16", "", True, False),
        ("%n, %c1", "", False, True),
        ("%c1, %n", "", False, True),
        ("%c1, %n", " {layout = #pto.layout<dn>}", True, False),
        ("%c1, %c16", " {layout = #pto.layout<nd>}", False, True),
    ],
)
def test_a_load_is_judged_by_the_layout_of_its_view(
    strides: str, layout: str, columns: bool, rows: bool
) -> None:
    for tile, legal in (("", rows), (", blayout=col_major", columns)):
        module = parse_module(LOAD.format(strides=strides, layout=layout, tile=tile))
        violations = judge_module(module, A5).violations
        assert [violation.rule.id for violation in violations] == ([] if legal else ["load-layout"])


def test_releases_agree_but_on_fractals() -> None:
    for shape in product((1, 2, 16), repeat=2):
        for strides in product((1, 2, 16, 32), repeat=2):
            earlier, later = (inferred(shape, strides, F16, release) for release in RELEASES)
            assert earlier == later != (NZ,)
