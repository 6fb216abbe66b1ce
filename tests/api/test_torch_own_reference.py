"""What a reference is run on at a problem's own sizes."""

from __future__ import annotations

import numpy as np
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


def test_scales_keep_their_sign_beside_matrices() -> None:
    from mmaproof.api.torch.own_reference import of_one_sign

    matrix, scale = torch.tensor([[-1.0, 2.0], [3.0, -4.0]]), torch.tensor([[-5.0], [6.0]])
    for number, _ in of_one_sign([[], []], {"weight": matrix, "scale": scale}):
        sign = 1 if number == 2 else -1
        assert (matrix * sign).tolist() == [[1, 2], [3, 4]]
        assert scale.tolist() == [[5], [6]]


def test_without_weights_inputs_have_one_sign() -> None:
    from mmaproof.api.torch.own_reference import of_one_sign

    x = torch.tensor([-1.0, 2.0])
    given = [(number, each.tolist()) for number, (each,) in of_one_sign([[x], [x]], {})]
    assert given == [(2, [1.0, 2.0]), (3, [-1.0, -2.0])]


def test_a_counterexample_is_repeated_along_every_axis() -> None:
    from mmaproof.api.torch.own_reference import repeated

    small = {"x_x": np.array([[1.0, 2.0], [3.0, 4.0]]), "p_fc_bias": np.array([5.0, 6.0])}
    x, other = torch.zeros(3, 4).t(), torch.arange(3)
    held = {"fc.bias": torch.zeros(3), "fc.weight": torch.ones(2)}
    ((number, given),) = repeated(small, ["x", "y", "p"], [x, other, 2], held)
    assert number == 4
    assert given[0].tolist() == [[1, 2, 1], [3, 4, 3], [1, 2, 1], [3, 4, 3]]
    assert given[0].stride() == x.stride()
    assert given[1:] == [other, 2]
    assert held["fc.bias"].tolist() == [5, 6, 5]
    assert held["fc.weight"].tolist() == [1, 1]
