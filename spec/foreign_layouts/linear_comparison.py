"""A linear layout against a distribution, and which vectors must change to make it equal."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from ..algebra import Array
from ..errors import InputError
from ..layout import Axis, Layout
from ..layout_terms import log2
from .comparison import Claim, Comparison, Verdict, changed_images, compare, equal
from .distribution import Distribution
from .linear import WARP_BITS, Basis, LinearLayout, spell_vector


def compare_linear(layout: LinearLayout, candidates: Iterable[Distribution]) -> Comparison:
    """Compare a linear layout with the candidate of its coordinates and domain.

    A layout of more registers, warps and blocks than the instruction has must repeat its tile.

    Raises
    ------
    InputError
        If it has coordinates or holders that the operand does not have.
    """
    known = [_held_as_bits(candidate) for candidate in candidates if candidate.axes[0].name != "offset"]
    whole = known[-1]
    fitting = [candidate for candidate in known if len(candidate.axes) == layout.rank]
    if not fitting:
        counts = " or ".join(dict.fromkeys(str(len(candidate.axes)) for candidate in known))
        raise InputError(f"an element of {whole.title} has {counts} coordinates, not {layout.rank}")
    _require_holders(layout, whole)
    owner, number = (axis.name for axis in whole.layout.source)
    if whole.holders[0] == "thread":
        layout = layout.threads_as_lanes(log2(whole.domain[0]))
    lanes, registers = 1 << len(layout.basis(owner)), 1 << len(layout.basis(number))
    expected = next((c for c in fitting if c.domain[0] == lanes and c.domain[1] <= registers), fitting[-1])
    layout = layout.reordered(_coordinate_order(layout, expected))
    canonical = linear_layout(expected)
    told = None if canonical is None else str(canonical)
    owners, numbers = expected.domain
    if owners != lanes or numbers > registers:
        witness = f"it has {lanes} {owner}s of {registers} {number}s; {expected.domain_text}"
        return Comparison(Verdict.WRONG_SIZE, witness, expected=told)
    claimed = layout.layout(expected.layout.source, expected.axes)
    found = compare(Claim.of_grid(claimed.images()), expected)
    beyond = _repeated(layout, expected)
    if found.equal:
        found = beyond
    if not found.equal:
        found = _with_exchanged(found, claimed.images(), expected)
    repair = _linear_repair(claimed, expected) if beyond.equal and not found.equal else None
    return replace(found, expected=told, repair=repair)


def _held_as_bits(candidate: Distribution) -> Distribution:
    """Name the holders as linear layouts do: a lane has registers of one element, a buffer offsets."""
    owners, numbers = candidate.layout.source
    names = held = candidate.holders
    if names[0] in ("lane", "thread"):
        names = ("lane", "register")
    if names[1] == "offset":
        names = held = ("buffer", "offset")
        owners, numbers = Axis("", 1), Axis("", candidate.layout.points)
    source = tuple(Axis(name, axis.extent) for name, axis in zip(names, (owners, numbers), strict=True))
    return replace(candidate, holders=held, layout=candidate.layout.regrouped(source=source))


def _require_holders(layout: LinearLayout, whole: Distribution) -> None:
    known = [axis.name for axis in whole.layout.source]
    known += ["warp", "block"] if "lane" in known else []
    for holder, basis in layout.bases.items():
        if basis and holder not in known:
            if holder == "offset":
                raise InputError(
                    f"{whole.title} is held by {whole.holders[0]}s; 'offset' is for shared memory"
                )
            raise InputError(f"{whole.title} has no {holder}s: it is held by {' and '.join(known)}")


def _coordinate_order(layout: LinearLayout, expected: Distribution) -> list[int]:
    """Return which coordinate of the layout is which axis: by name where they are known ones."""
    for names in ([f"dim{place}" for place in range(layout.rank)], [axis.name for axis in expected.axes]):
        if sorted(layout.names) == sorted(names):
            return [layout.names.index(name) for name in names]
    return list(range(layout.rank))


def _repeated(layout: LinearLayout, expected: Distribution) -> Comparison:
    """Look whether what lies beyond the one instruction repeats its tile whole."""
    number = expected.layout.source[1]
    held = log2(number.extent)
    extents = [axis.extent for axis in expected.axes]
    beyond: dict[str, tuple[int, Basis]] = {
        number.name: (held, layout.basis(number.name)[held:]),
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
    copies = LinearLayout({"tile": tuple(vector for _, basis in beyond.values() for vector in basis)})
    tile = Axis("tile", 1 << len(copies.basis("tile")))
    tiles = len(np.unique(copies.layout([tile], expected.axes).images(), axis=0))
    found = equal(expected)
    if tiles > 1:
        found = found.with_notes(f"the tile of the instruction is repeated {tiles} times")
    if tiles < tile.extent:
        found = found.with_notes("some registers, warps or blocks hold copies of others")
    return found


def _with_exchanged(found: Comparison, claimed: Array, expected: Distribution) -> Comparison:
    rank = len(expected.axes)
    exchanged = claimed[..., [*range(rank - 2), rank - 1, rank - 2]]  # of one coordinate that is none's
    if np.array_equal(exchanged, expected.coordinates):
        first, second = (axis.name for axis in expected.axes[-2:])
        return found.with_notes(
            f"it is equal if its coordinates are ({second}, {first}), not ({first}, {second})"
        )
    return found


def linear_layout(expected: Distribution) -> LinearLayout | None:
    """Return a distribution as vectors of its holders' bits; None where it is not linear."""
    named, by_threads = _held_as_bits(expected).layout, expected.holders[0] == "thread"
    if named.carries:
        return None
    bases: dict[str, list[tuple[int, ...]]] = {axis.name: [] for axis in reversed(named.source)}
    for digit in sorted(named.digits, key=lambda digit: digit.weight):
        bases[named.source[digit.axis].name].append(digit.image)
    found = LinearLayout({holder: tuple(basis) for holder, basis in bases.items() if holder != "buffer"})
    return found.threads_by_warps() if len(found.basis("lane")) > WARP_BITS and by_threads else found


def _linear_repair(claimed: Layout, expected: Distribution) -> str | None:
    """Say which vectors, changed to the specified ones, make the layout equal."""
    changes = changed_images(claimed, expected.layout)
    if changes is None:
        return None
    named = (
        f"{claimed.source[given.axis].name}={given.weight} -> {spell_vector(given.image)} "
        f"to {spell_vector(wanted.image)}"
        for given, wanted in sorted(changes, key=lambda change: (-change[0].axis, change[0].weight))
    )
    return f"change {', '.join(named)}"
