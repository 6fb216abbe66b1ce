"""Arrays of a user, whichever instruction set they are for."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mmaproof.spec.operand_arrays import blocks


@given(count=st.integers(0, 50), length=st.integers(0, 60))
def test_blocks_have_every_item_once_even_where_one_item_is_too_much(count: int, length: int) -> None:
    items = list(range(count))
    found = [items[block] for block in blocks(count, length)]
    assert [item for block in found for item in block] == items
    assert all(1 <= len(block) <= max(1, length) for block in found)
