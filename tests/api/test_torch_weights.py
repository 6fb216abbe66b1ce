"""Which weight of a reference each weight of a candidate is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from mmaproof.api.torch.recording import NotRecordedError

torch = pytest.importorskip("torch")


def matched(own: Any) -> dict[str, str]:
    """Return what a candidate's weight of a module with the weights w and v is."""
    from mmaproof.api.torch.weights import copied, matched

    v = torch.ones(4)
    return matched({"own": own}, {"w": copied(weight()), "v": copied(v)})


def weight() -> Any:
    return torch.arange(16.0).reshape(4, 4)


def test_the_same_numbers_are_the_same_weight() -> None:
    assert matched(weight()) == {"own": "w"}


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (lambda w: w.t(), "has the numbers of none"),
        (lambda w: w.t().contiguous().t(), r"strides \(1, 4\) from element 0, not \(4, 1\)"),
        (lambda w: torch.cat([w, w])[4:], "from element 16, not"),
        (lambda w: torch.cat([w, w])[:4], "lies in memory in another way"),
    ],
)
def test_kernels_see_where_elements_are(other: Callable[[Any], Any], message: str) -> None:
    """A kernel that takes a weight for row-major is wrong where its memory is transposed."""
    with pytest.raises(NotRecordedError, match=message):
        matched(other(weight()))


def test_strides_of_one_element_are_as_they_may_be() -> None:
    from mmaproof.api.torch.weights import copied, matched

    row = torch.arange(4.0).reshape(1, 4)
    assert matched({"own": row.t().contiguous().t()}, {"w": copied(row)}) == {"own": "w"}
