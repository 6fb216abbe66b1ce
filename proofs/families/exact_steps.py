"""One step of every float product in the exact theory of floating point; no operation is uninterpreted.

An instruction set gives its products, of as few elements as there are, as `BlockProduct`s. What other
theorems say of whole rows leaves float operations open; here a solver has to know what they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from math import prod

import numpy as np

from ...spec.algebra import Algebra, Array, Operand
from ...spec.formats import F64, FloatFormat, Format
from ...spec.rounding import Rounding
from ..obligation import Case, Equality, Equation, Inputs, Property, Theorem, Variable
from .block_products import BlockProduct, Blocks
from .scaling import ONE, SCALES
from .sums import power_of_two


def one_term(isa: str, source: str, blocks: Callable[[], Blocks]) -> Theorem:
    """Return the theorem that a step rounds one term once, and keeps an accumulator.

    Parameters
    ----------
    isa, source : str
        Whose products, and where it states them.
    blocks : callable
        Returns the products, by the names that obligations have: of operands ``a``, ``b``, perhaps
        ``scale_a`` and ``scale_b``, and an accumulator.
    """
    return Theorem(
        f"{isa}/numerics/one-term",
        "a product with 1 is its factor in the accumulator's type, one with 0 leaves the accumulator",
        "scale factors 1, every product 0 but x · 1 ⇒ D = fl(x), where C = 0 or there is none; every "
        "product 0 ⇒ D = C in the type of D: the same number, or both NaN, for every x and C",
        source,
        lambda: _cases(_once_per_factor(blocks())),
    )


def _once_per_factor(blocks: Blocks) -> Blocks:
    """Return the first product for each format of A; of B's format, the products have 1 and 0 only."""
    found: dict[tuple[Format, str], str] = {}
    for name, block in blocks.items():
        a, b = (block.operands[role].format for role in "ab")
        found.setdefault((a, name.removeprefix(f"{a}-{b}-")), name)
    return {name: blocks[name] for name in found.values()}


def _cases(blocks: Blocks) -> Iterator[Case]:
    for name, block in blocks.items():
        if block.is_integer:
            continue
        for case, claim in (("factor", _factor), ("accumulator", _accumulator)):
            if case == "factor" and block.operands["a"].format == F64:
                continue  # no solver decides in a minute that a fused f64 product with 1 is its factor
            if case == "accumulator" and block.accumulator not in block.operands:
                continue
            goal = partial(claim, block)
            yield Case(f"{name}/{case}", goal, equality=Equality.IEEE, choices=block.choices)


def _factor(block: BlockProduct) -> Property:
    """Claim that a term, times 1 and scale factors 1, is rounded to each of the types it goes through."""
    a = _float(block.operands["a"].format)
    through = (
        [_float(block.operands[block.accumulator].format)] if block.accumulator in block.operands else []
    )
    one = {"b": power_of_two(block.operands["b"].format, 0)}

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        term = Operand(v["x"], a)
        for fmt in dict.fromkeys([*through, _float(block.result)]):
            term = Operand(alg.fused(fmt, Rounding.NEAREST_EVEN, (), [term]), fmt)
        for reading in block.readings:
            found = _executed(alg, block, {"a": v["x"]}, one, reading)
            yield Equation(found, term.bits, block.result, label="fl(x)")

    return Property((Variable("x", a),), claim, abstract=False)


def _accumulator(block: BlockProduct) -> Property:
    """Claim that C is there in the type of D when the product is 0 · 0."""
    c, d = _float(block.operands[block.accumulator].format), _float(block.result)

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        kept = v["c"] if c == d else alg.fused(d, Rounding.NEAREST_EVEN, (), [Operand(v["c"], c)])
        for reading in block.readings:
            found = _executed(alg, block, {block.accumulator: v["c"]}, {}, reading)
            yield Equation(found, kept, d, label="c")

    return Property((Variable("c", c),), claim, abstract=False)


def _executed(
    alg: Algebra,
    block: BlockProduct,
    given: Mapping[str, Array],
    constants: Mapping[str, int],
    reading: object,
) -> Array:
    """Execute a step on elements that are given, or constants; every other is 0, and a scale factor 1."""
    operands = {}
    for name, operand in block.operands.items():
        rest = alg.constant(ONE[_float(operand.format)] if name in SCALES else 0, operand.format)
        first = given.get(name)
        if first is None:
            first = alg.constant(constants[name], operand.format) if name in constants else rest
        shape = operand.shape(1, 1)
        others = np.broadcast_to(rest, (*first.shape, prod(shape) - 1))
        elements = np.concatenate([first[..., None], others], axis=-1)
        operands[name] = elements.reshape(*first.shape, *shape)
    found: Array = block.multiply(alg, operands, reading)[..., 0, 0]
    return found


def _float(fmt: Format) -> FloatFormat:
    assert isinstance(fmt, FloatFormat)
    return fmt
