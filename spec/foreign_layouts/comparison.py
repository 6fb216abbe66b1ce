"""A layout that somebody claims, compared with the one an instruction set specifies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from ..algebra import Array
from ..layout import Digit, Layout, unit
from .distribution import Distribution
from .permutations import permutation_between

MAX_CHANGES = 2
"""Strides or vectors that a repair may change; beyond that the specified layout says it better."""


class Verdict(StrEnum):
    """What a claimed layout is; only the first agrees with the instruction set."""

    EQUAL = "equal"
    INCONGRUENT = "incongruent"
    WRONG_SIZE = "wrong-size"
    OUT_OF_RANGE = "out-of-range"
    COLLISION = "collision"
    GAP = "gap"
    OTHER_BIJECTION = "other-bijection"
    UNDELIVERABLE = "undeliverable"

    @property
    def meaning(self) -> str:
        """The verdict in one line."""
        return _MEANINGS[self]


_MEANINGS = {
    Verdict.EQUAL: "every holder holds the element that the instruction set says",
    Verdict.INCONGRUENT: "shape and stride are not nested alike",
    Verdict.WRONG_SIZE: "it does not have as many holders, or elements for each, as the operand",
    Verdict.OUT_OF_RANGE: "a holder or an element does not exist",
    Verdict.COLLISION: "more holders have an element than the instruction set says",
    Verdict.GAP: "nobody holds an element",
    Verdict.OTHER_BIJECTION: "every element is held, but not by the holders that the instruction set says",
    Verdict.UNDELIVERABLE: "no addresses make the load deliver the operand from this memory layout",
}


@dataclass(frozen=True)
class Claim:
    """Who holds which element, as somebody says; one entry for each element held.

    Attributes
    ----------
    owners, numbers : array (n,)
        The holders, as `Distribution` numbers them; all exist, and none occurs twice.
    coordinates : array (n, axes)
        The element that each holds.
    """

    owners: Array
    numbers: Array
    coordinates: Array

    @classmethod
    def of_grid(cls, coordinates: Array) -> Claim:
        """Return the claim of coordinates (owners, numbers, axes)."""
        owners, numbers = np.indices(coordinates.shape[:2]).reshape(2, -1)
        return cls(owners, numbers, coordinates.reshape(len(owners), -1))


@dataclass(frozen=True)
class Comparison:
    """How a claimed layout compares with the specified one.

    Attributes
    ----------
    verdict : Verdict
        What it is.
    witness : str
        The first holder or element that shows it, in one line.
    permutation : str, optional
        What is permuted, where a bijection differs by nothing but that.
    repair : str, optional
        The strides or basis vectors that, changed, make it equal.
    expected : str, optional
        The specified layout in the notation of the claim.
    notes : tuple of str
        What else there is to know.
    """

    verdict: Verdict
    witness: str
    permutation: str | None = None
    repair: str | None = None
    expected: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def equal(self) -> bool:
        """Whether it agrees with the instruction set."""
        return self.verdict is Verdict.EQUAL

    def lines(self) -> Iterator[str]:
        """Yield what there is to say, the verdict with its witness first."""
        yield f"{self.verdict}: {self.witness}"
        for title, text in (("permutation", self.permutation), ("repair", self.repair)):
            if text is not None:
                yield f"{title}: {text}"
        if self.expected is not None and not self.equal:
            yield f"expected: {self.expected}"
        yield from (f"note: {note}" for note in self.notes)

    def document(self) -> dict[str, object]:
        """Return the comparison as JSON."""
        return {
            "equal": self.equal,
            "verdict": self.verdict.value,
            "witness": self.witness,
            "permutation": self.permutation,
            "repair": self.repair,
            "expected": self.expected,
            "notes": list(self.notes),
        }

    def with_notes(self, *notes: str) -> Comparison:
        """Return it with more notes."""
        return replace(self, notes=(*self.notes, *notes))


def compare(claim: Claim, expected: Distribution) -> Comparison:
    """Say how a claim compares with a distribution; the first defect in the order of `Verdict` decides."""
    return (
        _outside(claim, expected)
        or _badly_covering(claim, expected)
        or _differing(claim, expected)
        or equal(expected)
    )


def equal(expected: Distribution) -> Comparison:
    """Say that a claim is a distribution."""
    whole = f"the {expected.tile_text} is held as specified for {expected.title}"
    return Comparison(Verdict.EQUAL, whole, notes=(expected.convention,) if expected.convention else ())


def changed_images(claimed: Layout, expected: Layout) -> list[tuple[Digit, Digit]] | None:
    """Return the digits that need other images for a map to equal another, each with the one it needs.

    None where they alone do not make it equal, or more than `MAX_CHANGES` must change.
    """
    wanted = tuple(
        replace(digit, image=expected.forward(*unit(digit.axis, digit.weight, len(claimed.source))))
        if digit.extent > 1
        else digit
        for digit in claimed.digits
    )
    if not np.array_equal(replace(claimed, digits=wanted).images(), expected.images()):
        return None
    changes = [pair for pair in zip(claimed.digits, wanted, strict=True) if pair[0] != pair[1]]
    return changes if len(changes) <= MAX_CHANGES else None


def _outside(claim: Claim, expected: Distribution) -> Comparison | None:
    extents = np.array([axis.extent for axis in expected.axes])
    outside = ((claim.coordinates < 0) | (claim.coordinates >= extents)).any(axis=-1)
    if not outside.any():
        return None
    first = int(np.argmax(outside))
    who = expected.holder(int(claim.owners[first]), int(claim.numbers[first]))
    where = expected.element(claim.coordinates[first])
    return Comparison(
        Verdict.OUT_OF_RANGE, f"{who} holds ({where}), which is outside the {expected.tile_text}"
    )


def _badly_covering(claim: Claim, expected: Distribution) -> Comparison | None:
    """Look for an element with more or fewer holders than specified."""
    held = expected.flat(claim.coordinates)
    wanted = np.bincount(expected.flat(expected.coordinates).ravel(), minlength=expected.size)
    counted = np.bincount(held, minlength=expected.size)
    missing, crowded = counted < wanted, counted > wanted
    if not missing.any() and not crowded.any():
        return None
    lost = "" if not missing.any() else f"({expected.element_at(int(np.argmax(missing)))})"
    nobody = int(missing.sum())
    if not crowded.any():
        specified = int(wanted[np.argmax(missing)])
        who = "nobody" if specified == 1 else f"fewer than {specified}"
        return Comparison(Verdict.GAP, f"{who} holds {lost}, one of {nobody} such elements")
    element = int(np.argmax(crowded))
    holders = np.flatnonzero(held == element)[: int(wanted[element]) + 1]
    named = [expected.holder(int(claim.owners[h]), int(claim.numbers[h])) for h in holders]
    witness = f"{' and '.join(named)} hold ({expected.element_at(element)})"
    if nobody:
        witness += f", and {nobody} elements have too few holders, first {lost}"
    return Comparison(Verdict.COLLISION, witness)


def _differing(claim: Claim, expected: Distribution) -> Comparison | None:
    order = np.lexsort((claim.numbers, claim.owners))
    owners, numbers, coordinates = claim.owners[order], claim.numbers[order], claim.coordinates[order]
    wrong = (expected.coordinates[owners, numbers] != coordinates).any(axis=-1)
    if not wrong.any():
        return None
    first = int(np.argmax(wrong))
    owner, number = int(owners[first]), int(numbers[first])
    witness = (
        f"{expected.holder(owner, number)} holds ({expected.element(coordinates[first])}), "
        f"specified is ({expected.element(expected.coordinates[owner, number])}); "
        f"{int(wrong.sum())} of {len(wrong)} differ"
    )
    grid = coordinates.reshape(expected.coordinates.shape)
    return Comparison(Verdict.OTHER_BIJECTION, witness, permutation_between(grid, expected))
