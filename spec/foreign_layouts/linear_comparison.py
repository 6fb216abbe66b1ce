"""A linear layout against a distribution, and which vectors must change to make it equal."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from ..algebra import Array
from ..errors import InputError
from .comparison import MAX_CHANGES, Claim, Comparison, Verdict, compare
from .distribution import Distribution
from .linear import Basis, LinearLayout, span, spell_basis, spell_vector


def compare_linear(layout: LinearLayout, candidates: Iterable[Distribution]) -> Comparison:
    """Compare a linear layout with the candidate of its coordinates and domain.

    A layout of more registers, warps and blocks than the instruction has must repeat its tile.

    Raises
    ------
    InputError
        If it has coordinates or holders that the operand does not have.
    """
    known = list(candidates)
    fitting = [candidate for candidate in known if len(candidate.axes) == layout.rank]
    if not fitting:
        counts = " or ".join(dict.fromkeys(str(len(candidate.axes)) for candidate in known))
        raise InputError(f"an element of {known[-1].title} has {counts} coordinates, not {layout.rank}")
    if layout.basis("offset"):
        raise InputError(
            f"{known[-1].title} is held by {known[-1].holders[0]}s; 'offset' is for shared memory"
        )
    lanes, registers = 1 << len(layout.basis("lane")), layout.basis("register")
    if known[-1].holders[0] != "lane":
        raise InputError(f"{known[-1].title} has no lanes: a linear layout can't describe it")
    expected = next(
        (c for c in fitting if c.domain[0] == lanes and c.domain[1] <= 1 << len(registers)), fitting[-1]
    )
    layout = layout.reordered(_coordinate_order(layout, expected))
    canonical = linear_layout(expected)
    told = None
    if canonical is not None:
        told = ", ".join(f"{holder} = {spell_basis(basis)}" for holder, basis in canonical.bases.items())
    owners, numbers = expected.domain
    if owners != lanes or numbers > 1 << len(registers):
        witness = f"it has {lanes} lanes of {1 << len(registers)} registers; {expected.domain_text}"
        return Comparison(Verdict.WRONG_SIZE, witness, expected=told)
    held = numbers.bit_length() - 1
    found = compare(Claim.of_grid(_grid(layout, held, layout.rank)), expected)
    found = _repeated(found, layout, held, expected) if found.equal else found
    if not found.equal:
        found = _with_exchanged(found, layout, held, expected)
    repair = _linear_repair(layout, held, expected, canonical)
    return replace(found, expected=told, repair=None if found.equal else repair)


def _grid(layout: LinearLayout, held: int, rank: int) -> Array:
    lanes, registers = span(layout.basis("lane"), rank), span(layout.basis("register")[:held], rank)
    return lanes[:, None] ^ registers


def _coordinate_order(layout: LinearLayout, expected: Distribution) -> list[int]:
    """Return which coordinate of the layout is which axis: by name where they are known ones."""
    for names in ([f"dim{place}" for place in range(layout.rank)], [axis.name for axis in expected.axes]):
        if sorted(layout.names) == sorted(names):
            return [layout.names.index(name) for name in names]
    return list(range(layout.rank))


def _repeated(found: Comparison, layout: LinearLayout, held: int, expected: Distribution) -> Comparison:
    """Look whether what lies beyond the one instruction that was found equal repeats its tile whole."""
    extents = [axis.extent for axis in expected.axes]
    beyond: dict[str, tuple[int, Basis]] = {
        "register": (held, layout.basis("register")[held:]),
        "warp": (0, layout.basis("warp")),
        "block": (0, layout.basis("block")),
    }
    for holder, (first, basis) in beyond.items():
        for bit, vector in enumerate(basis, first):
            if any(place % extent for place, extent in zip(vector, extents, strict=True)):
                witness = (
                    f"{holder}={1 << bit} -> {spell_vector(vector)} is no step from one {expected.tile_text}"
                )
                return Comparison(Verdict.OTHER_BIJECTION, f"{witness} to another")
    steps = tuple(vector for _, basis in beyond.values() for vector in basis)
    tiles = len(np.unique(span(steps, layout.rank), axis=0))
    if tiles > 1:
        found = found.with_notes(f"the tile of the instruction is repeated {tiles} times")
    if tiles < 1 << len(steps):
        found = found.with_notes("some registers, warps or blocks hold copies of others")
    return found


def _with_exchanged(found: Comparison, layout: LinearLayout, held: int, expected: Distribution) -> Comparison:
    exchanged = layout.reordered([*range(layout.rank - 2), layout.rank - 1, layout.rank - 2])
    if layout.rank > 1 and np.array_equal(_grid(exchanged, held, layout.rank), expected.coordinates):
        first, second = (axis.name for axis in expected.axes[-2:])
        return found.with_notes(
            f"it is equal if its coordinates are ({second}, {first}), not ({first}, {second})"
        )
    return found


def linear_layout(expected: Distribution) -> LinearLayout | None:
    """Return a distribution as vectors of registers and lanes; None where it is not linear."""
    if expected.layout.carries:
        return None
    found: dict[str, list[tuple[int, ...]]] = {"register": [], "lane": []}
    for digit in sorted(expected.layout.digits, key=lambda digit: digit.weight):
        found["register" if digit.axis else "lane"].append(digit.image)
    return LinearLayout({holder: tuple(basis) for holder, basis in found.items()})


def _linear_repair(
    layout: LinearLayout, held: int, expected: Distribution, canonical: LinearLayout | None
) -> str | None:
    """Say which vectors, changed to the specified ones, make the layout equal."""
    if canonical is None or not _repeated(Comparison(Verdict.EQUAL, ""), layout, held, expected).equal:
        return None
    changes = [
        f"{holder}={1 << bit} -> {spell_vector(given)} to {spell_vector(wanted)}"
        for holder, basis in canonical.bases.items()
        for bit, (given, wanted) in enumerate(zip(layout.basis(holder), basis, strict=False))
        if given != wanted
    ]
    return f"change {', '.join(changes)}" if 0 < len(changes) <= MAX_CHANGES else None
