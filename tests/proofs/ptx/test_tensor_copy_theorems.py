"""Theorems about tensor copies and maps: mutants that must be refuted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from theorem_checks import decided
from theorem_mutants import of, refutation_of

from mmaproof.proofs.obligation import Status
from mmaproof.proofs.ptx import tensor_copies
from mmaproof.spec.layout import Digit, Layout
from mmaproof.spec.ptx.asynchronous import tensor_copies as copies
from mmaproof.spec.ptx.asynchronous import tensor_map
from mmaproof.spec.ptx.asynchronous.tensor_map import TensorMap
from mmaproof.spec.ptx.matrix_descriptor import swizzled

Patch = pytest.MonkeyPatch


def _addressed(patch: Patch, change: Any) -> None:
    """Replace where elements are, for the executor and for theorems."""
    patch.setattr(copies, "shared_address", change)
    patch.setattr(tensor_copies, "shared_address", change)


def boxes_are_not_swizzled(patch: Patch) -> None:
    found = copies.shared_address
    _addressed(patch, lambda tensor, indices, start: found(replace(tensor, swizzle=0), indices, start))


def the_pattern_begins_at_the_box(patch: Patch) -> None:
    def address(tensor: TensorMap, indices: Sequence[Any], start: Any) -> Any:
        (number,) = tensor.order.forward(*indices)
        return swizzled(number * tensor.element_bytes, tensor.swizzle) + start

    _addressed(patch, address)


def other_bits_are_swizzled(patch: Patch) -> None:
    def other(address: Any, width: int) -> Any:
        return address ^ (((address >> 8) & (max(width // 16, 1) - 1)) << 4)

    patch.setattr(copies, "swizzled", other)


def _ordered(patch: Patch, change: Any) -> None:
    order = TensorMap.order.func  # type: ignore[attr-defined]
    patch.setattr(TensorMap, "order", property(lambda self: change(order(self))))


def _scaled(layout: Layout, factor: int) -> Layout:
    digits = tuple(
        Digit(d.axis, d.weight, d.extent, (d.image[0] * (factor if d.axis else 1),)) for d in layout.digits
    )
    return replace(layout, digits=digits)


def rows_lie_apart(patch: Patch) -> None:
    _ordered(patch, lambda layout: _scaled(layout, 2))


def all_rows_lie_together(patch: Patch) -> None:
    _ordered(patch, lambda layout: _scaled(layout, 0))


def only_what_is_inside_counts(patch: Patch) -> None:
    found = TensorMap.box_bytes.fget  # type: ignore[attr-defined]
    patch.setattr(TensorMap, "box_bytes", property(lambda self: found(self) - self.element_bytes))


def steps_are_forgotten(patch: Patch) -> None:
    patch.setattr(TensorMap, "every", property(lambda self: (1,) * self.rank))


def _inside(patch: Patch, change: Any) -> None:
    found = copies.source

    def source(tensor: TensorMap, coordinates: Sequence[int]) -> Any:
        address, inside = found(tensor, coordinates)
        return address, change(inside)

    patch.setattr(copies, "source", source)


def everything_is_inside(patch: Patch) -> None:
    _inside(patch, np.ones_like)


def nothing_is_inside(patch: Patch) -> None:
    _inside(patch, np.zeros_like)


def stores_write_everything(patch: Patch) -> None:
    written = copies._written
    patch.setattr(
        copies,
        "_written",
        lambda memory, places, data, where: written(memory, places, data, np.ones_like(where)),
    )


def bytes_backwards(patch: Patch) -> None:
    found = copies._bytes_of
    patch.setattr(copies, "_bytes_of", lambda tensor, address: found(tensor, address)[..., ::-1])


def _rule_of(name: str) -> Any:
    def without(patch: Patch) -> None:
        rules = tuple(rule for rule in tensor_map.TENSOR_MAP_RULES if rule.id != name)
        assert len(rules) == len(tensor_map.TENSOR_MAP_RULES) - 1
        patch.setattr(tensor_map, "TENSOR_MAP_RULES", rules)

    without.__name__ = f"without_{name}"
    return without


def a_box_of_257(patch: Patch) -> None:
    patch.setattr(tensor_map, "MOST_BOX", 257)


def test_swizzling_from_the_box_would_make_the_pinned_claim_true(monkeypatch: Patch) -> None:
    claim = of(tensor_copies.box, "not-aligned")
    assert decided(claim).status is Status.REFUTED
    the_pattern_begins_at_the_box(monkeypatch)
    assert decided(claim).status is Status.PROVED


test_a_fault_is_refuted = refutation_of(
    (
        (boxes_are_not_swizzled, tensor_copies.tile, "k-major-128/16-bit"),
        (boxes_are_not_swizzled, tensor_copies.read, "mn-major-64/16-bit"),
        (other_bits_are_swizzled, tensor_copies.tile, "k-major-32/8-bit"),
        (other_bits_are_swizzled, tensor_copies.examples, "places"),
        (rows_lie_apart, tensor_copies.tile, "k-major-0/32-bit"),
        (rows_lie_apart, tensor_copies.box, "0/16-bit/3d"),
        (all_rows_lie_together, tensor_copies.box, "64/8-bit/2d"),
        (only_what_is_inside_counts, tensor_copies.box, "0/8-bit/1d"),
        (only_what_is_inside_counts, tensor_copies.counted, "0/8-bit/1d"),
        (steps_are_forgotten, tensor_copies.examples, "places"),
        (everything_is_inside, tensor_copies.edges, "outside/0"),
        (nothing_is_inside, tensor_copies.edges, "inside/32"),
        (stores_write_everything, tensor_copies.edges, "beyond-the-end/0"),
        *(
            (_rule_of(rule.id), tensor_copies.examples, "faults")
            for rule in tensor_map.TENSOR_MAP_RULES
        ),
        (a_box_of_257, tensor_copies.examples, "faults"),
    )
)  # fmt: skip
