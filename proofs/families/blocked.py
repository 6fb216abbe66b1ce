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

Kernels fill the last block of K up with zeros. An instruction set gives its instructions on one product;
that more products are one after the other is what `blocked.step` says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, partial

import numpy as np

from ...spec.algebra import Algebra
from ...spec.formats import as_float
from ..induction import Same, induction
from ..obligation import Case, Equality, Equation, Inputs, Method, Property, Status, Theorem
from .block_products import BlockProduct, Blocks
from .chains import Chain, adds, over_bits, over_the_reals, polynomial, split_loops, splits, tiled


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
        b = as_float(block.operands[second].format)
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
