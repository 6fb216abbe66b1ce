"""What products are compared on: no two rows of A or columns of B can be exchanged without a difference."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from mmaproof.proofs.comparison import whole_numbers
from mmaproof.proofs.mfma import results
from mmaproof.proofs.mfma.stated.instructions import INSTRUCTIONS
from mmaproof.proofs.pto import texts
from mmaproof.proofs.ptx import executed


def operands() -> Iterator[tuple[str, dict[str, np.ndarray]]]:
    for (target, _), row in INSTRUCTIONS.items():
        if target in ("gfx90a", "gfx942", "gfx950"):
            yield row["name"], results._operands(results._Instruction(row["name"], target))
    yield from ((text, executed._operands(text)) for text in executed.products.PRODUCTS)
    for text, _, sizes, roles in texts.executions.PRODUCTS:
        yield text, texts._product_operands(*sizes, roles)


def test_an_exchange_of_rows_or_columns_changes_every_product() -> None:
    seen = 0
    for text, given in operands():
        total = given["a"] @ given["b"]
        found = [("rows of A", rows) for rows in total.reshape(-1, *total.shape[-2:])]
        if given["b"].ndim == 2:  # one B for all batches
            found.append(("columns of B", np.moveaxis(total, -1, 0).reshape(total.shape[-1], -1)))
        else:
            found += [("columns of B", rows.T) for _, rows in found]
        for name, rows in found:
            assert len(np.unique(rows, axis=0)) == len(rows), (text, name)
        seen += 1
    assert seen > 100


@pytest.mark.parametrize("shape", [(7,), (3, 5), (2, 40, 40)])
def test_all_numbers_come_equally_often(shape: tuple[int, ...]) -> None:
    found = whole_numbers(shape, 3, 1)
    _, counts = np.unique(found, return_counts=True)
    assert found.shape == shape and len(counts) == 7 and counts.max() - counts.min() <= 1
    assert (found == whole_numbers(shape, 3, 1)).all() and (found != whole_numbers(shape, 3, 2)).any()
