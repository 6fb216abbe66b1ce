"""What a reference is run on at a problem's own sizes."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")


def test_weights_and_inputs_of_one_sign() -> None:
    from mmaproof.api.torch.own_reference import of_one_sign

    x, index, weight = torch.tensor([-1.0, 2.0]), torch.tensor([-1]), torch.tensor([3.0, -4.0])
    draws = of_one_sign([[x, index, 5], [-x, index, 5]], {"w": weight, "count": index})
    number, (first, same, five) = next(draws)
    assert (number, first.tolist(), weight.tolist()) == (2, [1.0, 2.0], [3.0, 4.0])
    assert same.tolist() == [-1] and five == 5
    number, (second, *_) = next(draws)
    assert (number, second.tolist(), weight.tolist()) == (3, [1.0, 2.0], [-3.0, -4.0])


def test_without_weights_inputs_have_one_sign() -> None:
    from mmaproof.api.torch.own_reference import of_one_sign

    x = torch.tensor([-1.0, 2.0])
    given = [(number, each.tolist()) for number, (each,) in of_one_sign([[x], [x]], {})]
    assert given == [(2, [1.0, 2.0]), (3, [-1.0, -2.0])]
