"""Layouts as data: both directions, rank and formula of maps that are drawn, and of digits of any radix."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest
import z3
from hypothesis import given
from hypothesis import strategies as st

from mmaproof.spec.layout import Axis, Digit, Layout, bits_of
from mmaproof.spec.rearrangement import rearranged


def axes(prefix: str, bits: int, cuts: list[int]) -> tuple[Axis, ...]:
    """Return coordinates of so many bits altogether."""
    places = [0, *sorted(cuts), bits]
    return tuple(Axis(f"{prefix}{n}", 1 << (places[n + 1] - places[n])) for n in range(len(places) - 1))


@st.composite
def linear_layouts(draw: st.DrawFn) -> Layout:
    """Draw images of bits, singular or not, and the image of the first point."""
    bits = draw(st.integers(0, 7))
    cuts = st.lists(st.integers(0, bits), max_size=2)
    source, target = axes("s", bits, draw(cuts)), axes("t", bits, draw(cuts))
    image = st.tuples(*(st.integers(0, axis.extent - 1) for axis in target))
    digits = tuple(Digit(axis, weight, 2, draw(image)) for axis, weight in bits_of(source))
    return Layout("drawn", source, target, digits, draw(image))


@st.composite
def orders(draw: st.DrawFn) -> Layout:
    """Draw digits of any radix, each in a coordinate of its own, in two orders."""
    extents = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    names = [f"d{place}" for place in range(len(extents))]
    after = draw(st.permutations(range(len(extents))))
    source = tuple(Axis(f"s{place}", extent) for place, extent in enumerate(extents))
    order = f"{' '.join(names)} -> {' '.join(names[place] for place in after)}"
    return rearranged(
        "drawn", source, (Axis("t", prod(extents)),), order, **dict(zip(names, extents, strict=True))
    )


def images(layout: Layout) -> list[tuple[int, ...]]:
    """Return the image of every point, in order."""
    points = np.indices([axis.extent for axis in layout.source]).reshape(len(layout.source), -1)
    held = [np.broadcast_to(c, points.shape[1:]) for c in layout.forward(*points)]
    return [tuple(map(int, image)) for image in zip(*held, strict=True)]


@given(linear_layouts())
def test_the_rank_says_how_many_elements_are_reached(layout: Layout) -> None:
    assert len(set(images(layout))) == 1 << layout.rank
    assert (layout.rank_defect() is None) == (len(set(images(layout))) == layout.points)
    assert (layout.defect() is None) == (layout.rank_defect() is None)


@given(linear_layouts())
def test_every_bit_that_is_set_moves_the_element_by_its_image(layout: Layout) -> None:
    digits = dict(zip(bits_of(layout.source), layout.digits, strict=True))
    for point, image in zip(
        np.ndindex(*(axis.extent for axis in layout.source)), images(layout), strict=True
    ):
        moved = [digit.image for (axis, weight), digit in digits.items() if point[axis] & weight]
        assert image == tuple(np.bitwise_xor.reduce([layout.origin, *moved]))


@given(st.one_of(linear_layouts(), orders()))
def test_the_inverse_comes_back_to_what_is_reached(layout: Layout) -> None:
    for image in images(layout):
        assert layout.forward(*layout.inverse(*image)) == image


@given(st.one_of(linear_layouts(), orders()))
def test_the_formula_is_the_map(layout: Layout) -> None:
    parts = dict(part.split(" = ") for part in layout.formula.replace("·", "*").split("; "))
    points = np.ndindex(*(axis.extent for axis in layout.source))
    for point, image in zip(points, images(layout), strict=True):
        values = {axis.name: coordinate for axis, coordinate in zip(layout.source, point, strict=True)}
        assert tuple(eval(parts[axis.name], {}, values) for axis in layout.target) == image


@given(linear_layouts())
def test_terms_are_evaluated_as_numbers_are(layout: Layout) -> None:
    symbols = [z3.BitVec(axis.name, 16) for axis in layout.source]
    for point, image in zip(
        np.ndindex(*(axis.extent for axis in layout.source)), images(layout), strict=True
    ):
        chosen = [(s, z3.BitVecVal(int(c), 16)) for s, c in zip(symbols, point, strict=True)]
        terms = layout.forward(*symbols)
        assert tuple(z3.simplify(z3.substitute(term, *chosen)).as_long() for term in terms) == image


@given(orders())
def test_digits_in_another_order_are_a_bijection(layout: Layout) -> None:
    assert layout.defect() is None
    assert sorted(images(layout)) == [(place,) for place in range(layout.points)]


@pytest.mark.parametrize(
    ("order", "extents"),
    [
        ("a b -> b c", {"a": 4, "b": 4, "c": 4}),
        ("a -> a", {"a": 8}),
        ("a b -> b a", {"a": 8, "b": 4}),
        ("a b c -> b a c", {"a": 2, "b": 3, "c": 5}),
    ],
    ids=("other digits", "too few", "too many", "across a coordinate"),
)
def test_digits_that_do_not_fill_the_coordinates_are_refused(order: str, extents: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r"do not fill|different digits"):
        rearranged("wrong", (Axis("s", 4), Axis("t", 4)), (Axis("u", 16),), order, **extents)


def test_strides_with_a_gap_are_no_bijection() -> None:
    digits = (Digit(0, 1, 3, (2,)), Digit(1, 1, 2, (1,)))
    right = Layout("right", (Axis("s", 3), Axis("t", 2)), (Axis("u", 6),), digits, carries=True)
    wrong = Layout("wrong", right.source, right.target, (Digit(0, 1, 3, (3,)), digits[1]), carries=True)
    assert right.defect() is None
    assert wrong.defect() == "wrong: no digit continues the first 2 of 6 us"


SQUARE = (Axis("s", 2), Axis("t", 2)), (Axis("u", 2), Axis("v", 2))


@pytest.mark.parametrize(
    ("digits", "carries", "reason"),
    [
        ((Digit(0, 1, 2, (1, 0)), Digit(0, 1, 2, (0, 1))), False, "no digit continues the first 1 of 2 ts"),
        ((Digit(0, 1, 2, (1, 1)), Digit(1, 1, 2, (1, 1))), False, "the rank is 1, not 2"),
        ((Digit(0, 1, 2, (1, 1)), Digit(1, 1, 2, (0, 0))), True, "does not move along one coordinate"),
        ((Digit(0, 1, 2, (1, 0)), Digit(1, 1, 2, (2, 0))), True, "an image has the u 2 of 2"),
    ],
    ids=("a bit twice", "dependent", "two coordinates", "outside"),
)
def test_digits_that_only_count_right_are_no_bijection(
    digits: tuple[Digit, ...], carries: bool, reason: str
) -> None:
    layout = Layout("wrong", *SQUARE, digits, carries=carries)
    assert reason in str(layout.rank_defect())


@given(orders())
def test_other_coordinates_of_the_same_numbers_have_the_same_images(layout: Layout) -> None:
    flat = layout.regrouped(target=[Axis("high", 1), layout.target[0]])
    assert images(flat) == [(0, *image) for image in images(layout)]
    inverse = layout.inverted.regrouped(target=[Axis("number", layout.points)])
    extents = [axis.extent for axis in layout.source]
    assert [np.ravel_multi_index(image, extents) for image in images(layout.inverted)] == [
        number for (number,) in images(inverse)
    ]
