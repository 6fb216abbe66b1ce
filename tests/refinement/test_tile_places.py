"""Polynomials in the place of a tile are found in those of the blocks that have it, and no others are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mmaproof.refinement.contract.size_domains import SizeDomain
from mmaproof.refinement.sizes.block_positions import BlockOrder, BlockPosition
from mmaproof.refinement.sizes.integer_forms import Group, Symbols
from mmaproof.refinement.sizes.tile_places import Place, Translation, places

MOST = {"M": 100, "N": 100}
TURNS = Group(("n", "u"), ((0.0, 0.0), (9.0, 9.0)))


def _places(step: int, group: int = 8) -> list[Place]:
    domains = [SizeDomain(name, "", step, step, 4096) for name in "MN"]
    order = BlockOrder({"M": 64, "N": 32}, {}, "M", "N", group)
    return places(order.positions(domains, MOST), domains, MOST)


def _symbols(position: BlockPosition) -> Symbols:
    return Symbols([TURNS, *position.groups], 2)


CASES = [(each, block) for step in (64, 16) for each in _places(step) for block in each.blocks]


@pytest.mark.parametrize(("step", "found"), [(64, [2]), (16, [2, 2, 2, 2])])
def test_blocks_of_whole_groups_and_of_the_last_one_have_the_same_places(step: int, found: list[int]) -> None:
    assert [len(place.blocks) for place in _places(step)] == found


@pytest.mark.parametrize(("place", "block"), CASES, ids=lambda each: getattr(each, "name", None) or "place")
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_polynomials_of_the_place_are_found_again(
    place: Place, block: BlockPosition, data: st.DataObject
) -> None:
    own, other = _symbols(place.position), _symbols(block)
    numbers = data.draw(st.lists(st.integers(-99, 99), min_size=len(own), max_size=len(own)))
    row = np.array([numbers], dtype=np.int64)
    translation = Translation(place.position, block, own, other)
    point = {name: data.draw(st.integers(0, 50)) for group in other.groups for name in group.symbols}
    images = sum(
        number * np.prod([_value(translation.forms.get(name, {(name,): 1}), point) for name in monomial])
        for number, monomial in zip(numbers, own.monomials, strict=True)
    )
    moved = row @ translation.images
    assert images == _value({names: int(moved[0, other.column(*names)]) for names in other.monomials}, point)
    assert (translation.translated(moved) == row).all()


@pytest.mark.parametrize("block", _places(64)[0].blocks, ids=lambda each: each.name)
def test_the_number_of_a_block_does_not_follow_from_its_place(block: BlockPosition) -> None:
    other = _symbols(block)
    translation = Translation(_places(64)[0].position, block, _symbols(_places(64)[0].position), other)
    assert translation.translated(other.form(block.indices[0])[None]) is None


def _value(form: object, point: dict[str, int]) -> int:
    assert isinstance(form, dict)
    return sum(int(number) * int(np.prod([point[name] for name in names])) for names, number in form.items())
