"""Lines of one pitch, one after the other, fill a buffer: for every pitch and any number of lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from ...spec.algebra import Algebra, Array
from ...spec.formats import U64, Format
from ..induction import induction
from ..invariants import Commutes, Image, Instance, Recursion, Terms, Transition
from ..obligation import Case, Inputs, Method, Property, Variable, immediate, theorem
from .indices import SIZE_BITS, at_most, below, number

SOURCE = "pto-isa headers at 3186c381: a buffer is its lines of blocks"

PLACE_BITS = 2 * SIZE_BITS
"""Width of places and pitches: the sum of two is less than 2**63."""


@dataclass(frozen=True)
class Below:
    """That words are less than ``2**PLACE_BITS``."""

    names: tuple[str, ...]

    def __call__(self, alg: Algebra, v: Inputs) -> Iterator[Array]:
        """Yield the conditions."""
        rest = immediate(U64.bits - PLACE_BITS)
        for name in self.names:
            yield alg.same(alg.extract(v[name], PLACE_BITS, rest), alg.constant(0, rest))


@dataclass(frozen=True)
class OneLineEach(Image):
    """Every place before the end of n lines is in exactly one of them, any other in none."""

    @property
    def text(self) -> str:
        """P(n)."""
        return "|{t < n : t·pitch ≤ x < t·pitch + pitch}| = (1 if x < n·pitch, else 0)"

    def image(self, alg: Algebra, v: Inputs, term: Array) -> Array:
        """Return how many lines have the place x, from where the lines end."""
        return alg.where(below(alg, v["x"], term), number(alg, 1), number(alg, 0))

    def instance(self, transition: Transition) -> Instance:
        """Return the claim about ends and places of which no sum overflows."""
        assert isinstance(transition, Lines)
        return Instance(Commutes(self, transition), Below(transition.words))


@dataclass(frozen=True)
class Lines(Recursion):
    """Where n lines end, and how many of them have the place x: of no line, or of one line more."""

    first: bool = False

    @property
    def begins(self) -> bool:
        """Whether there is no line yet."""
        return self.first

    @property
    def words(self) -> tuple[str, ...]:
        """The variables: a place, a pitch, and the end of the lines before."""
        return ("x",) if self.first else ("x", "pitch", "end")

    @property
    def result(self) -> Format:
        """The format of a number of lines."""
        return U64

    def state(self, v: Inputs) -> Array:
        """Return the end of the lines."""
        end: Array = v["end"]
        return end

    def following(self, alg: Algebra, v: Inputs, before: Terms | None, reading: Any) -> Terms:
        """Return the end of the lines, and how many have x."""
        if before is None:
            return number(alg, 0), number(alg, 0)
        end, lines = before
        behind = end + v["pitch"]
        inside = at_most(alg, end, v["x"]) & below(alg, v["x"], behind)
        return behind, lines + alg.where(inside, number(alg, 1), number(alg, 0))


def _instance(lines: Lines) -> Property:
    claim, assuming = OneLineEach().instance(lines)
    variables = tuple(Variable(name, U64, (1,)) for name in lines.words)
    return Property(variables, claim, assuming, abstract=False)


@theorem(
    "pto/layout/next-line",
    "one more line of any pitch extends a buffer without gap or overlap",
    "no line has a place; each x < end is in one of the lines before, any other in none ⇒ with the line "
    "[end, end + pitch), each x < end + pitch is in one, any other in none; for all of them below 2^62",
    SOURCE,
)
def next_line() -> Iterator[Case]:
    """Yield base and step of the induction."""
    yield Case("none", partial(_instance, Lines(first=True)), statement="a buffer of no lines has no place")
    yield Case("one-more", partial(_instance, Lines()))


@theorem(
    "pto/layout/lines",
    "lines of any pitch, one after the other, have each place of their buffer once and no other",
    "∀ n ≥ 0, pitch, x, up to 2^62: |{t < n : t·pitch ≤ x < t·pitch + pitch}| = (1 if x < n·pitch, else 0), "
    "a line ending where it begins plus pitch: t·pitch + pitch = (t + 1)·pitch",
    SOURCE,
)
def any_lines() -> Iterator[Case]:
    """Yield the induction."""
    goal = partial(
        induction,
        OneLineEach(),
        {f"{next_line.id}/one-more": Lines()},
        {f"{next_line.id}/none": Lines(first=True)},
    )
    yield Case("any-number", goal, method=Method.INDUCTION)


THEOREMS = (next_line, any_lines)
