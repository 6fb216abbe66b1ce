"""Blocks by the place of their tile alone, for any numbering of blocks.

A grid whose blocks are numbered in groups is gone through by several positions: whole groups and the last
one. What a block holds once it knows its tile is the same in all of them, as a polynomial in the tile's
place. It is found by reading the coefficients of the positions' symbols back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...spec.errors import UnsupportedError
from ..contract.size_domains import SizeDomain
from .block_positions import BlockPosition, Form, Position, positions, sum_of
from .integer_forms import Rows, Symbols


@dataclass(frozen=True)
class Place:
    """The place of a tile, and the blocks at it.

    Attributes
    ----------
    position : BlockPosition
        The place; how blocks are numbered is left out.
    blocks : list of BlockPosition
        The blocks.
    """

    position: BlockPosition
    blocks: list[BlockPosition]


def places(
    blocks: Sequence[BlockPosition], domains: Sequence[SizeDomain], most_blocks: Mapping[str, int]
) -> list[Place]:
    """Return the places of the tiles of some blocks, which together stand for all of a grid."""
    by_name: dict[str, Place] = {}
    ends = {domain.name: most_blocks[domain.name] for domain in domains}
    for block in blocks:
        chosen = tuple(_place(each, ends[each.domain.name]) for each in block.positions)
        position = BlockPosition(chosen, {}, {})
        by_name.setdefault(position.name, Place(position, [])).blocks.append(block)
    return list(by_name.values())


def _place(position: Position, most_blocks: int) -> Position:
    alone = positions(position.domain, position.tile, 1, most_blocks)
    return next((each for each in alone if (each.rest is None) == (position.rest is None)), position)


class Translation:
    """Substitution of a block's symbols by those of its tile's place.

    Parameters
    ----------
    place, block : BlockPosition
        The place, and the block.
    of_place, of_block : Symbols
        Their symbols; others are in both.

    Attributes
    ----------
    forms : dict of str to Form
        What the symbols of the place are, in those of the block.
    images : Rows (monomials of the place, monomials of the block)
        What its monomials are.

    Raises
    ------
    UnsupportedError
        If one does not follow from the other.
    """

    def __init__(
        self, place: BlockPosition, block: BlockPosition, of_place: Symbols, of_block: Symbols
    ) -> None:
        self._place, self._block = of_place, of_block
        forms: dict[str, Form] = {
            symbol: {(symbol,): 1} for group in of_place.groups for symbol in group.symbols
        }
        for own, other in zip(place.positions, block.positions, strict=True):
            forms |= _meant(own, other)
        self.forms = forms
        rows = [self._image(monomial) for monomial in of_place.monomials]
        self.images = np.stack(rows)
        self._keys = [self._key(monomial) for monomial in of_place.monomials]
        for own, other in zip(place.positions, block.positions, strict=True):
            if (self._form_of(own.size) != of_block.form(other.size)).any():
                raise UnsupportedError(f"{other.domain.name} has another value at this block position")

    def _image(self, monomial: Sequence[str]) -> Rows:
        row = self._block.form({(): 1})[None]
        for symbol in monomial:
            row, possible = self._block.multiplied(row, self._block.form(self.forms[symbol])[None])
            assert possible.all()
        found: Rows = row[0]
        return found

    def _form_of(self, form: Form) -> Rows:
        """Return what a form in the symbols of the place is in those of the block."""
        found: Rows = self._place.form(form) @ self.images
        return found

    def _key(self, monomial: Sequence[str]) -> int:
        """Return the column in which of this monomial's degree only this monomial shows."""
        return self._block.column(*(self._own(symbol) for symbol in monomial))

    def _own(self, symbol: str) -> str:
        """Return a symbol of the block in what stands for one of the place, and for no other one."""
        (group,) = (each.symbols for each in self._place.groups if symbol in each.symbols)
        others = [self.forms[other] for other in group if other != symbol]
        theirs = {name for form in others for names in form for name in names}
        own = [name for names in self.forms[symbol] for name in names if name not in theirs]
        if not own:
            raise UnsupportedError(f"{symbol} does not follow from the block index")
        return own[-1]

    def translated(self, rows: Rows) -> Rows | None:
        """Return polynomials (n, monomials) in the symbols of the place; None if some are none."""
        left, found = rows.copy(), np.zeros((len(rows), len(self._place)), dtype=np.int64)
        for column in range(len(self._place))[::-1]:  # those of the highest degree first
            image, key = self.images[column], self._keys[column]
            found[:, column] = left[:, key] // image[key]
            left -= found[:, column, None] * image
        return None if left.any() else found


def _meant(place: Position, block: Position) -> dict[str, Form]:
    """Return what the symbols of a place are, in those of a block."""
    if place.group.symbols == block.group.symbols:
        return {}
    rests = {symbol for names in block.size for symbol in names if symbol in place.group.symbols}
    found: dict[str, Form] = {symbol: {(symbol,): 1} for symbol in rests}
    named = [symbol for symbol in place.group.symbols if symbol not in rests]
    whole = sum_of(block.count, {(): -1}) if rests else block.count
    found |= dict(zip(named, (whole, block.block), strict=False))
    return found
