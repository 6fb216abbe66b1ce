"""The tile that a grid's extent suggests."""

from __future__ import annotations

import pytest

from mmaproof.refinement.formula.parser import parse_expression
from mmaproof.refinement.formula.tree import Source
from mmaproof.refinement.ptx.any_size.grid_tiles import tile_of


@pytest.mark.parametrize(
    ("extent", "tile"),
    [
        ("(N + 511) // 512", 512),
        ("(N // 4 + 127) // 128", 512),
        ("(N // 2 // 3 + 6) // 7", 42),
        ("(M // 4 + 127) // 128 * ((N + 31) // 32)", 32),
        ("N", 1),
    ],
)
def test_a_size_that_is_divided_in_steps_has_a_tile_of_all_divisors(extent: str, tile: int) -> None:
    assert tile_of(parse_expression(Source(extent, "grid")), "N") == tile
