"""Blocked = full: what a multiplication adds to a sum, in loops over any K, split K, and tiles of D.

An instruction set says what its instructions are as `BlockProduct`s, by the names that obligations have,
and has the theorems for any trip count, over the reals, for split K and for tiles::

    def blocks() -> dict[str, BlockProduct]:
        return {form.name: _block(form) for form in FORMS}

    def _block(form: Form) -> BlockProduct:
        operands = {
            "a": BlockOperand(form.a, ("m", form.k)),
            "b": BlockOperand(form.b, (form.k, "n")),
            "c": BlockOperand(form.d, ("m", "n")),
        }
        return BlockProduct(
            operands,
            form.d,
            lambda alg, v, choices: product(alg, form, v["a"], v["b"], v["c"], choices),
            lambda alg, v, choices: one_after_the_other(
                alg, v["c"], outer(v["a"], v["b"], (form.a, form.b)), form.d
            ),
            (Choices(accumulation="sequential"),),
            "accumulation=sequential",
        )

    THEOREMS = theorems(Loops("mfma", "mfma", SOURCE, blocks))
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

from ...spec.algebra import Algebra, Array
from ...spec.formats import Format, IntegerFormat
from ...spec.rounding import Rounding
from ..induction import induction
from ..invariants import Commutes, Image, Recursion, Same, Terms
from ..obligation import (
    RN,
    Case,
    Equality,
    Equation,
    Inputs,
    Method,
    Property,
    RingProperty,
    Status,
    Theorem,
    Variable,
)
from .sums import added

ROWS = COLUMNS = (slice(0, 2), slice(2, 3))
"""Tiles of a D of 3 x 3: the second is ragged."""


@dataclass(frozen=True)
class BlockOperand:
    """An operand of a multiplication.

    Attributes
    ----------
    format : Format
        Of its elements.
    axes : tuple of (str or int)
        ``m`` for the rows of D, ``n`` for its columns; a number is an extent that D does not have.
    """

    format: Format
    axes: tuple[str | int, ...] = ()

    def shape(self, m: int, n: int) -> tuple[int, ...]:
        """Return the extents for a D of m rows and n columns."""
        extents = {"m": m, "n": n}
        return tuple(extents[axis] if isinstance(axis, str) else axis for axis in self.axes)

    def part(self, array: Array, rows: slice, columns: slice) -> Array:
        """Return what a tile of D needs of the operand."""
        if not self.axes:
            return array
        places: dict[str | int, slice] = {"m": rows, "n": columns}
        index: Any = (..., *(places.get(axis, slice(None)) for axis in self.axes))
        part: Array = array[index]
        return part


def variables(operands: Mapping[str, BlockOperand], m: int = 1, n: int = 1) -> tuple[Variable, ...]:
    """Return operands for a D of m rows and n columns."""
    return tuple(Variable(name, operand.format, operand.shape(m, n)) for name, operand in operands.items())


def sum_of_products(v: Inputs) -> Array:
    """Return the polynomials Σ a[i, k]·b[k, j] (…, m, n)."""
    total: Array = (v["a"][..., :, :, None] * v["b"][..., None, :, :]).sum(axis=-2)
    return total


def sum_onto_c(v: Inputs) -> Array:
    """Return the polynomials c[i, j] + Σ a[i, k]·b[k, j]."""
    total: Array = v["c"] + sum_of_products(v)
    return total


Compute = Callable[[Algebra, Inputs, Any], Array]
"""Computes D (…, m, n) from operands by name, in a reading of what an instruction set leaves open."""


@dataclass(frozen=True)
class BlockProduct:
    """A multiplication that adds a block of products to a sum.

    Attributes
    ----------
    operands : mapping of str to BlockOperand
        By name; one of format `RN` is a rounding direction, and called ``rounding``.
    result : Format
        Of D.
    multiply : callable
        The instruction.
    expected : callable
        The sum as it is stated without the instruction.
    readings : tuple
        The readings that theorems compare the two in.
    choices : str
        What obligations on bits call these readings.
    accumulator : str
        The operand that the sum starts from: the D of the block before.
    total : callable
        The sum as a polynomial.
    pinned : mapping
        For floats, encodings of operands and of ``q``, for which it shows whether q is added to the
        accumulator or to D.
    """

    operands: Mapping[str, BlockOperand]
    result: Format
    multiply: Compute
    expected: Compute
    readings: tuple[Any, ...]
    choices: str = "all"
    accumulator: str = "c"
    total: Callable[[Inputs], Array] = sum_onto_c
    pinned: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_integer(self) -> bool:
        """Whether it sums integers."""
        return isinstance(self.result, IntegerFormat)

    @property
    def repeats(self) -> bool:
        """Whether D can be the accumulator of the next block."""
        return self.accumulator in self.operands and self.operands[self.accumulator].format == self.result

    def variables(self, m: int = 1, n: int = 1) -> tuple[Variable, ...]:
        """Return the operands for a D of m rows and n columns; every element is the same function."""
        return variables(self.operands, m, n)


Blocks = Mapping[str, BlockProduct]
"""Blocks by the names that obligations have."""


@dataclass(frozen=True)
class Chain(Recursion):
    """D as the instruction computes it, and as it is stated without it, each from its own D before."""

    block: BlockProduct

    @property
    def result(self) -> Format:
        """The format of D."""
        return self.block.result

    @property
    def readings(self) -> tuple[Any, ...]:
        """The block's."""
        return self.block.readings

    @property
    def begins(self) -> bool:
        """Whether the sum starts from nothing that came before."""
        return self.block.accumulator not in self.block.operands

    def state(self, v: Inputs) -> Array:
        """Return the accumulator."""
        before: Array = v[self.block.accumulator]
        return before

    def following(self, alg: Algebra, v: Inputs, before: Terms | None, reading: Any) -> Terms:
        """Return both D."""
        one, other = ({**v, self.block.accumulator: term} if before else v for term in before or (None, None))
        return self.block.multiply(alg, one, reading), self._stated(alg, other, reading)

    def _stated(self, alg: Algebra, v: Inputs, reading: Any) -> Array:
        return self.block.expected(alg, v, reading)


@dataclass(frozen=True)
class Totals(Chain):
    """The same over the reals or the integers, where the order of a sum doesn't matter."""

    def _stated(self, alg: Algebra, v: Inputs, reading: Any) -> Array:
        return self.block.total(v)


@dataclass(frozen=True)
class TwoLoops(Chain):
    """D of two loops of the same instructions on the same operands, which start from different C."""

    def _stated(self, alg: Algebra, v: Inputs, reading: Any) -> Array:
        return self.block.multiply(alg, v, reading)


@dataclass(frozen=True)
class LaterBy(Image):
    """The second loop's D is the first one's, and q added to it; q is the same for every n."""

    result: Format

    @property
    def text(self) -> str:
        """P(n)."""
        return "loop_n(p) + q = loop_n(p + q)"

    def image(self, alg: Algebra, v: Inputs, term: Array) -> Array:
        """Return D + q."""
        return added(alg, term, v["q"], self.result, v.get("rounding", Rounding.NEAREST_EVEN))


def adds(block: BlockProduct, m: int = 1, n: int = 1) -> Property:
    """Return the claim that an instruction computes the sum that is stated without it."""
    return Property(block.variables(m, n), Commutes(Same(), Chain(block)))


def polynomial(block: BlockProduct, m: int = 1, n: int = 1) -> RingProperty:
    """Return the claim that an instruction computes the total, over the reals or the integers."""
    claim = Commutes(Same(), Totals(block))
    return RingProperty(without_rounding(block.variables(m, n)), claim, {"rounding": Rounding.NEAREST_EVEN})


def without_rounding(variables: Iterable[Variable]) -> tuple[Variable, ...]:
    """Return the variables of a ring, in which nothing is rounded."""
    return tuple(variable for variable in variables if variable.format != RN)


def added_later(block: BlockProduct) -> Property:
    """Return the claim that what is added to the accumulator may be added to D instead."""
    q = Variable("q", block.operands[block.accumulator].format, (1, 1))
    claim = Commutes(LaterBy(block.result), TwoLoops(block))
    return Property((*block.variables(), q), claim, pinned=block.pinned or None)


def added_later_over_the_reals(block: BlockProduct) -> RingProperty:
    """Return the same claim of polynomials."""
    prop = added_later(block)
    return RingProperty(without_rounding(prop.variables), prop.claim, {"rounding": Rounding.NEAREST_EVEN})


def tiled(block: BlockProduct) -> Property:
    """Return the claim that a tile of D is the D of its parts of the operands."""

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        for reading in block.readings:
            whole = block.multiply(alg, v, reading)
            for rows in ROWS:
                for columns in COLUMNS:
                    parts = {name: o.part(v[name], rows, columns) for name, o in block.operands.items()}
                    part = block.multiply(alg, parts, reading)
                    yield Equation(whole[..., rows, columns], part, block.result, label="tile")

    return Property(block.variables(ROWS[-1].stop, COLUMNS[-1].stop), claim)


def over_bits(claim: Callable[[BlockProduct], Property], blocks: Blocks) -> Iterator[Case]:
    """Yield a claim on encodings of each block."""
    return (Case(name, partial(claim, block), choices=block.choices) for name, block in blocks.items())


def over_the_reals(claim: Callable[[BlockProduct], RingProperty], blocks: Blocks) -> Iterator[Case]:
    """Yield a claim on polynomials of each block."""
    for name, block in blocks.items():
        yield Case(name, partial(claim, block), equality=Equality.VALUE, method=Method.STRUCTURAL)


def splits(blocks: Blocks, in_a_ring: Blocks) -> Iterator[Case]:
    """Yield `added_later`: of integers a proof; of floats one over the reals, and the refutation."""
    for name, block in blocks.items():
        if block.is_integer:
            yield Case(name, partial(added_later, block))
            continue
        yield from over_the_reals(added_later_over_the_reals, {f"{name}/reals": in_a_ring[name]})
        yield Case(f"{name}/bits", partial(added_later, block), Status.REFUTED, choices=block.choices)


def split_loops(step: Theorem, blocks: Blocks, in_a_ring: Blocks) -> Iterator[Case]:
    """Yield the induction on split K: modulo 2**bits for integers, over the reals for floats."""
    for name, block in blocks.items():
        exact = block.is_integer
        premise = f"{step.id}/{name}" if exact else f"{step.id}/{name}/reals"
        decided = block if exact else in_a_ring[name]
        goal = partial(induction, LaterBy(block.result), {premise: TwoLoops(decided)})
        equality = Equality.BITS if exact else Equality.VALUE
        yield Case(name, goal, equality=equality, method=Method.INDUCTION)


@dataclass(frozen=True)
class Loops:
    """What an instruction set supplies for the theorems on loops of its instructions.

    Attributes
    ----------
    isa, instruction : str
        How ids and statements call it.
    source : str
        Where the instruction set, or a kernel, states it.
    blocks : callable
        Returns the instructions by name.
    in_a_ring, of_tiles : callable, optional
        The same of float instructions for the theorems over the reals, and for those on tiles, where
        their operands or readings are others.
    premises : callable
        Maps a name to what else its loop follows from.
    details : mapping of str to str
        What the statement of a theorem (``step``, ``any-k``, ``reals``, ``tiles``) says besides.
    family : str
        What ids call the family.
    """

    isa: str
    instruction: str
    source: str
    blocks: Callable[[], Blocks]
    in_a_ring: Callable[[], Blocks] | None = None
    of_tiles: Callable[[], Blocks] | None = None
    premises: Callable[[str], Iterable[str]] = lambda name: ()
    details: Mapping[str, str] = field(default_factory=dict)
    family: str = "blocked"

    def __post_init__(self) -> None:
        # A block is equal to itself alone: an induction and its step must have the same.
        for name in ("blocks", "in_a_ring", "of_tiles"):
            if (make := getattr(self, name)) is not None:
                object.__setattr__(self, name, cache(make))

    def repeating(self) -> Blocks:
        """Return the instructions whose D can be the C of the next."""
        return {name: block for name, block in self.blocks().items() if block.repeats}

    def floats(self) -> Blocks:
        """Return the float instructions, as the theorems over the reals take them."""
        blocks = (self.in_a_ring or self.blocks)()
        return {name: block for name, block in blocks.items() if not block.is_integer}

    def theorem(self, name: str, title: str, statement: str, cases: Callable[[], Iterator[Case]]) -> Theorem:
        """Return a theorem of the family."""
        text = statement + self.details.get(name, "")
        return Theorem(f"{self.isa}/{self.family}/{name}", title, text, self.source, cases)


def step(loops: Loops) -> Theorem:
    """Return that an instruction adds its products; where C has another type than D, the base alone."""
    return loops.theorem(
        "step",
        "an instruction adds the next k products to the partial result, in their order",
        f"acc = P_t ⇒ {loops.instruction}(A_t, B_t, acc) = P_{{t+1}}, for each element of D",
        lambda: over_bits(adds, loops.blocks()),
    )


def any_k(loops: Loops) -> Theorem:
    """Return the induction over the blocks of K; D_0 = C = P_0 needs no proof."""

    def cases() -> Iterator[Case]:
        for name, block in loops.repeating().items():
            steps = {f"{loops.isa}/{loops.family}/step/{name}": Chain(block)}
            goal = partial(induction, Same(), steps, lemmas=tuple(loops.premises(name)))
            yield Case(name, goal, method=Method.INDUCTION, choices=block.choices)

    return loops.theorem(
        "any-k",
        "a loop of any number of instructions computes the full row times the full column, onto C",
        f"∀ n ≥ 0: D_n = P_n where D_0 = C and D_{{t+1}} = {loops.instruction}(A_t, B_t, D_t); "
        "integers modulo 2^32, floats bit for bit in the sequential order",
        cases,
    )


def reals(loops: Loops) -> Theorem:
    """Return that a float instruction adds the sum of its products as polynomials."""
    return loops.theorem(
        "reals",
        "over the reals the loop's step adds the sum of its products",
        f"{loops.instruction}(A_t, B_t, acc) = acc + Σ_k a[k]·b[k] as polynomials",
        lambda: over_the_reals(polynomial, loops.floats()),
    )


def split_k_step(loops: Loops) -> Theorem:
    """Return that an addition to the accumulator may come later."""
    return loops.theorem(
        "split-k-step",
        "what is added to the accumulator before a step may be added after it, but for roundings (pinned)",
        f"{loops.instruction}(A_t, B_t, p) + q = {loops.instruction}(A_t, B_t, p + q)",
        lambda: splits(loops.repeating(), loops.floats()),
    )


def split_k(loops: Loops) -> Theorem:
    """Return the induction that splits a loop in two."""
    return loops.theorem(
        "split-k",
        "the sum of the loops over two parts of K, one of them from 0, is the loop over K",
        "∀ n: loop_n(p) + q = loop_n(p + q), hence loop over K₁ from C + loop over K₂ from 0 = "
        "loop over K₁ then K₂ from C",
        lambda: split_loops(split_k_step(loops), loops.repeating(), loops.floats()),
    )


def tiles(loops: Loops) -> Theorem:
    """Return that tiles of D are independent."""
    return loops.theorem(
        "tiles",
        "a tile of C depends on its rows of A, its columns of B and its C only, however products are "
        "accumulated",
        f"{loops.instruction}(A, B, C)[tile i, j] = "
        f"{loops.instruction}(A[rows i], B[columns j], C[tile i, j])",
        lambda: over_bits(tiled, (loops.of_tiles or loops.blocks)()),
    )


def theorems(loops: Loops) -> tuple[Theorem, ...]:
    """Return the whole family."""
    return tuple(make(loops) for make in (step, any_k, reals, split_k_step, split_k, tiles))
