"""Ragged K: lanes beyond K that hold zeros add nothing to a sum.

Kernels fill the last block of K up with zeros. An instruction set gives its instructions on one product;
that more products are one after the other is what `blocked.step` says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from ...spec.algebra import Algebra
from ...spec.formats import FloatFormat
from ..obligation import Case, Equality, Equation, Inputs, Property, Status, Theorem
from .block_products import BlockProduct, Blocks


def zero_lanes(blocks: Blocks) -> Iterator[Case]:
    """Yield the proofs, and what is lost: the sign of -0, and stale infinities where only A is 0 (pinned).

    Where B has neither infinities nor NaNs, zeros in A alone do as well.
    """
    for name, block in blocks.items():
        first, second = list(block.operands)[:2]
        both, only_a = (partial(_zero_lane, block, zeros) for zeros in ((first, second), (first,)))
        if block.is_integer:
            yield Case(name, both)
            yield Case(f"only-{first}/{name}", only_a)
            continue
        yield Case(name, both, equality=Equality.IEEE, choices=block.choices)
        yield Case(f"bits/{name}", both, Status.REFUTED, choices=block.choices)
        b = block.operands[second].format
        assert isinstance(b, FloatFormat)
        finite = b.infinity is None and b.default_nan is None
        yield Case(
            f"only-{first}/{name}", only_a, Status.PROVED if finite else Status.REFUTED, Equality.IEEE,
            choices=block.choices, statement="acc(C, 0, b) = C whatever b is",
        )  # fmt: skip


def _zero_lane(block: BlockProduct, zeros: tuple[str, ...]) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        batch = v[block.accumulator].shape[:-2]
        lane = {
            name: np.broadcast_to(alg.constant(0, operand.format), (*batch, *operand.shape(1, 1)))
            for name, operand in block.operands.items()
            if name in zeros
        }
        for reading in block.readings:
            d = block.multiply(alg, {**v, **lane}, reading)
            yield Equation(d, v[block.accumulator], block.result, label="C")

    first = next(iter(block.operands))
    wanted = tuple(variable for variable in block.variables() if variable.name != first)
    return Property(wanted, claim, abstract=False)


def zero_lane(isa: str, source: str, blocks: Callable[[], Blocks]) -> Theorem:
    """Return the theorem on instructions on one product."""
    return Theorem(
        f"{isa}/blocked/zero-lane",
        "lanes beyond K that hold zeros in A and B add nothing: ragged K, filled up with zeros",
        "acc(C, 0, 0) = C: the same number; of integers the same bits, with zeros in A alone too",
        source,
        lambda: zero_lanes(blocks()),
    )
