"""The layout that ptoas gives a view of global memory: as written, or inferred from extents and strides.

ptoas infers a layout where extents and strides are constants of the text, and else takes ND. Releases differ
in which views they take for NZ; of a view whose rows or columns are one, ND and DN name the same elements.

Source: ptoas, InferPTOLayout.cpp up to a56b18c3 (issues 190 and 353), and PTOLayoutUtils.cpp from 961fe924 on
(issue 527).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import prod

from .element_types import ElementType
from .global_memory import Five, ViewOrder, five_dimensions
from .tile import DYNAMIC, Extent

Orders = tuple[ViewOrder, ...]
"""The layouts that a view may have, each once, in the order of `ViewOrder`."""

FRACTAL_ROWS = 16
_LINE_BYTES = 32
_AXES = 5


@dataclass(frozen=True)
class Release:
    """How releases of ptoas recognise fractals.

    Attributes
    ----------
    name : str
        The commit that shows it.
    is_fractal : callable
        From five extents, five strides and the elements in 32 bytes, to whether a view is taken for NZ.
    least_rank : int
        Views of fewer dimensions are never taken for NZ.
    """

    name: str
    is_fractal: Callable[[Five, Five, int], bool]
    least_rank: int


def _lines(shape: Five, strides: Five, line: int) -> bool:
    """Sixteen in dimension 2, 32 bytes in dimension 3, lines without gaps: what the first releases ask."""
    return shape[2] == FRACTAL_ROWS and shape[3] == line and strides[4] == 1 and strides[3] == shape[4]


def _canonical(shape: Five, strides: Five, line: int) -> bool:
    """``[1, columns/C0, rows/16, 16, C0]`` without gaps, of two fractals at least."""
    dense = tuple(prod(shape[axis + 1 :]) for axis in range(_AXES))
    several = shape[1] > 1 or shape[2] > 1
    return shape[0] == 1 and shape[3:] == (FRACTAL_ROWS, line) and strides == dense and several


RELEASES = (Release("a56b18c3", _lines, 0), Release("961fe924", _canonical, _AXES))


def inferred(
    shape: Sequence[Extent], strides: Sequence[Extent], element: ElementType, release: Release
) -> Orders:
    """Return the layout that a release infers; two where ND and DN name the same elements.

    Parameters
    ----------
    shape, strides : sequence of int or DYNAMIC
        Of at most five dimensions; strides in elements. What ptoas does not know is DYNAMIC.
    element : ElementType
        Of the elements.
    release : Release
        Whose inference.
    """
    if not 1 <= len(shape) == len(strides) <= _AXES or element.bits < 8:
        return (ViewOrder.ND,)
    extents, steps_known = (
        [number for number in numbers if isinstance(number, int) and number >= 0]
        for numbers in (shape, strides)
    )
    if len(extents) < len(shape) or len(steps_known) < len(strides):
        return (ViewOrder.ND,)
    whole, steps = _aligned(extents, steps_known)
    if len(shape) >= release.least_rank and release.is_fractal(
        whole, steps, _LINE_BYTES // element.storage_bytes
    ):
        return (ViewOrder.NZ,)
    by_rows = _is_line_by_line(whole[4], steps[4], whole[3], steps[3])
    by_columns = _is_line_by_line(whole[3], steps[3], whole[4], steps[4])
    if by_rows and by_columns:
        return ViewOrder.ND, ViewOrder.DN
    return (ViewOrder.DN,) if by_columns else (ViewOrder.ND,)


def _is_line_by_line(inner: int, inner_stride: int, outer: int, outer_stride: int) -> bool:
    """Tell whether lines lie without gaps; the stride of a single line or element is free."""
    if inner != 1 and inner_stride != 1:
        return False
    return outer == 1 or outer_stride == inner


def orders(readings: Iterable[tuple[Sequence[Extent], Sequence[Extent]]], element: ElementType) -> Orders:
    """Return every layout that some release infers from some reading of a view's extents and strides."""
    found = {
        order
        for shape, strides in readings
        for release in RELEASES
        for order in inferred(shape, strides, element, release)
    }
    return tuple(order for order in ViewOrder if order in found)


def contradiction(
    layout: str, shape: Sequence[Extent], strides: Sequence[Extent], element: ElementType
) -> str | None:
    """Return why a view can't have the layout that is written of it; None where nothing is against it.

    ND and DN are believed whatever the strides are; NZ has whole fractals, one behind the other along
    dimension 2, and no overlap. DYNAMIC fits everything; dimensions left out in front have one element.
    """
    if layout != ViewOrder.NZ:
        return None
    shape = five_dimensions(shape)
    strides = (*(DYNAMIC,) * (_AXES - len(strides)), *strides)
    line = _LINE_BYTES // element.storage_bytes
    wanted = (
        ("extent", shape, 3, FRACTAL_ROWS),
        ("extent", shape, 4, line),
        ("stride", strides, 4, 1),
        ("stride", strides, 3, line),
        ("stride", strides, 2, FRACTAL_ROWS * line),
    )
    for what, numbers, axis, expected in wanted:
        if isinstance(numbers[axis], int) and numbers[axis] != expected:
            return f"{what} {axis} of NZ is {expected} for {element}, not {numbers[axis]}"
    for axis in (1, 0):
        step, extent, inner = strides[axis], shape[axis + 1], strides[axis + 1]
        if isinstance(step, int) and step % line:
            return f"stride {axis} of NZ is a multiple of {line} for {element}, not {step}"
        if (
            isinstance(step, int)
            and isinstance(extent, int)
            and isinstance(inner, int)
            and step < extent * inner
        ):
            return f"stride {axis} of NZ is {extent * inner} at least, not {step}"
    return None


def _aligned(shape: Sequence[int], strides: Sequence[int]) -> tuple[Five, Five]:
    """Return five dimensions; those in front have one element, and the stride of what is behind them."""
    whole, steps = [1] * (_AXES - len(shape)) + list(shape), list(strides)
    while len(steps) < _AXES:
        steps.insert(0, whole[_AXES - len(steps)] * steps[0])
    return five(whole), five(steps)


def five(numbers: Sequence[int]) -> Five:
    """Return five numbers, as a tuple of so many."""
    first, second, third, fourth, fifth = numbers
    return first, second, third, fourth, fifth
