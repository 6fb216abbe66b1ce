"""Ragged K where the matrix unit takes whole C0 groups: what lanes beyond k do to the sum."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from ...spec.algebra import Algebra
from ...spec.formats import F16, F32
from ...spec.pto import cube
from ...spec.pto.buffers import read, write
from ...spec.pto.catalogue import OPERATIONS, ROLE_LOCATIONS
from ...spec.pto.choices import UNSPECIFIED, Choices
from ...spec.pto.element_types import ELEMENT_TYPES
from ...spec.pto.placement import physical
from ...spec.pto.sizes import Sizes, operand_extents
from ...spec.pto.targets import A2A3, A5, Profile, alias
from ..families.zero_lanes import zero_lanes
from ..obligation import Case, Equation, Inputs, Method, Property, Status, Theorem, Variable, theorem
from .blocked import block
from .operands import multiplied, typed, variables

zero_lane = Theorem(
    "pto/blocked/zero-lane",
    "lanes beyond k that hold zeros in A and B add nothing: ragged K, where k counts in whole C0 groups",
    "acc(C, 0, 0) = C: the same number; of integers the same bits, with zeros in A alone too",
    "tilelang-ascend issue 1341 and pull request 1723",
    lambda: zero_lanes({name: block(".acc", formats, 1) for name, formats in typed().items()}),
)


@theorem(
    "pto/blocked/granules",
    "a matrix unit that takes whole C0 groups of K computes what lies behind k, zero or stale (pinned)",
    "k = 18 counts in whole groups of 16 ⇒ D on buffers = form(A and B with zero lanes appended), which "
    "pto/blocked/zero-lane compares with form(A, B)",
    "tilelang-ascend issue 1341 and pull request 1723",
)
def granules() -> Iterator[Case]:
    """Yield lanes that a load has filled with zeros, and lanes that nothing has written."""
    for profile in (A2A3, A5):
        goal, stale = (partial(_granules, profile, zeros=zeros) for zeros in (True, False))
        yield Case(f"{profile}/zeros", goal, method=Method.STRUCTURAL, choices=GRANULES)
        yield Case(
            f"{profile}/stale",
            stale,
            Status.REFUTED,
            choices=GRANULES,
            statement="the same with tiles of which only k lanes were written",
        )


GRANULES = f"accumulation={UNSPECIFIED}, k-tail=granules"


def _granules(profile: Profile, *, zeros: bool) -> Property:
    m, k, n = 16, 18, 16
    operation, group = OPERATIONS["tmatmul"], 32  # two groups of C0 = 16 elements
    element = {"a": "f16", "b": "f16", "d": "f32"}
    used, whole = operand_extents(m, k, n), operand_extents(m, group, n)
    tiles = {
        role: alias(profile, ROLE_LOCATIONS[role], ELEMENT_TYPES[element[role]], whole[role], used[role])
        for role in element
    }
    formats = {"a": F16, "b": F16, "d": F32}
    choices = Choices(accumulation=UNSPECIFIED, k_tail="granules")

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        tail = (*v["a"].shape[:-1], group - k)
        nothing = np.broadcast_to(alg.constant(0, F16), tail)
        appended = {
            "a": np.concatenate([v["a"], nothing], axis=-1),
            "b": np.concatenate([v["b"], nothing.swapaxes(-1, -2)], axis=-2),
        }
        buffers = {}
        for role, tile in tiles.items():
            before = np.broadcast_to(v[f"before_{role}"], (*v["a"].shape[:-2], tile.rows * tile.columns))
            place = physical(tile)
            written = {"d": None, **(appended if zeros else {"a": v["a"], "b": v["b"]})}[role]
            buffers[role] = before if written is None else write(role, before, place, written)
        d = cube.multiply(alg, operation, profile, tiles, buffers, Sizes(m, k, n), choices)
        expected = multiplied(alg, "", appended, formats, choices)
        yield Equation(read("d", d, physical(tiles["d"]), m, n), expected, F32, label="D")

    before = (Variable(f"before_{role}", fmt, (1,)) for role, fmt in formats.items())
    return Property((*variables(formats, (m, k, n)), *before), claim)


THEOREMS = (zero_lane, granules)
