"""Products that both modules leave to PyTorch are data where they are the same, and only there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from mmaproof.api.torch.recording import Launch, Operation, Passed, Pointer, Recording, Storage, View
from mmaproof.api.torch.shared_products import with_shared_products_as_data

X, W = (View(number, "float32", (4, 4), (4, 1), 0) for number in (0, 1))
H, Y = (View(number, "float32", (4, 4), (4, 1), 0) for number in (2, 3))
TURNED = replace(W, strides=(1, 4))
LAUNCH, ON_H = (
    Launch("k", "k.ptx", (1, 1, 1), (32, 1, 1), 0, (Passed(8, ((0, Pointer(number, 0)),)),), "m.py:9")
    for number in (3, 2)
)


def recorded(*steps: Any, result: View = Y) -> Recording:
    """Return what happens to x, a weight, and two other storages."""
    storages = [
        Storage("float32", 16, "input", "x", None, (4, 4)),
        Storage("float32", 16, "parameter", "weight", None, (4, 4)),
        Storage("float32", 16, "result", "h", None, (4, 4)),
        Storage("float32", 16, "result", "y", None, (4, 4)),
    ]
    return Recording(storages, list(steps), [X], [result])


def does(name: str, *arguments: Any, to: View = H, **options: Any) -> Operation:
    """Return an operation."""
    return Operation(name, arguments, options, (to,), "m.py:1")


REFERENCE = recorded(does("mm", X, TURNED), does("relu", H, to=Y))


def shared(candidate: Recording, reference: Recording = REFERENCE) -> tuple[str, ...]:
    """Return which products are data."""
    return with_shared_products_as_data(candidate, reference)[2]


def test_a_product_that_both_have_is_data() -> None:
    candidate, reference, what = with_shared_products_as_data(
        recorded(does("mm", X, TURNED), does("relu", H, to=Y)), REFERENCE
    )
    assert what == ("mm in m.py:1",)
    for recording in (candidate, reference):
        names = [step.name for step in recording.steps if isinstance(step, Operation)]
        assert names == ["copy", "relu"] and recording.storages[4].origin == "input"
    assert candidate.storages[4] == reference.storages[4]
    assert candidate.steps[0] == does("copy", replace(X, storage=4))


@pytest.mark.parametrize(
    "steps",
    [
        (does("mm", X, TURNED, to=replace(H, strides=(1, 4))),),
        (does("mm", X, TURNED), does("relu", H)),
        (does("mm", X, TURNED), ON_H),
        (does("relu", H, to=Y), does("mm", X, TURNED)),
        (does("mm", X, TURNED), does("mm", X, TURNED, to=Y)),
    ],
)
def test_where_and_how_long_it_is_in_memory_does_not_matter(steps: tuple[Any, ...]) -> None:
    assert shared(recorded(*steps, does("relu", H, to=Y))) == ("mm in m.py:1",)


def test_what_a_product_is_of_may_be_computed_alike() -> None:
    steps = does("relu", X), does("mm", H, W, to=Y)
    assert shared(recorded(*steps), recorded(*steps)) == ("mm in m.py:1",)
    assert not shared(recorded(does("abs", X), steps[1]), recorded(*steps))


@pytest.mark.parametrize(
    "steps",
    [
        (does("mm", X, W),),  # the weight is not transposed
        (does("mm", TURNED, X),),
        (does("mm", replace(X, offset=1), TURNED),),
        (does("bmm", X, TURNED),),
        (does("mm", X, TURNED, alpha=2),),
        (does("mul", W, 2.0, to=W), does("mm", X, TURNED)),
        (LAUNCH, does("mm", X, replace(Y, strides=(1, 4)))),
    ],
)
def test_others_are_not(steps: tuple[Any, ...]) -> None:
    assert not shared(recorded(*steps, does("relu", H, to=Y)))


def test_what_launches_write_is_alike_in_no_other_module() -> None:
    steps = LAUNCH, does("mm", X, Y)
    assert not shared(recorded(*steps), recorded(*steps))


def test_products_of_what_a_launch_may_change_are_others() -> None:
    changed = recorded(does("mm", X, TURNED), ON_H, does("mm", H, W, to=Y))
    kept = recorded(does("mm", X, TURNED), does("mm", H, W, to=Y))
    overwritten = recorded(does("mm", X, TURNED), does("mm", H, W, to=Y), does("relu", H))
    assert len(shared(changed, kept)) == len(shared(changed, overwritten)) == 1
    assert len(shared(kept, overwritten)) == 2


def test_a_result_that_is_not_negative_is_computed() -> None:
    """Kernels may rely on that."""
    reference = recorded(does("relu", X), does("sqrt", H, to=Y))
    assert not shared(reference, reference)
