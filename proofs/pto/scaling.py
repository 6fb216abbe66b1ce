"""Products with scale factors: exact scaling, unit factors, and factors that move out of sums."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from ...spec.algebra import Algebra, Array, Operand
from ...spec.formats import UE8M0, FloatFormat
from ...spec.matrix_product import scaled
from ...spec.pto.choices import UNSPECIFIED, Choices
from ...spec.pto.products import SCALED
from ...spec.pto.sizes import SCALE_GROUP, scale_groups
from ..families import blocked, scaling
from ..families.block_products import BlockOperand, BlockProduct, power_of_two
from ..families.blocked import Loops
from ..obligation import (
    Case,
    Equality,
    Inputs,
    Method,
    Property,
    RingProperty,
    Status,
    Theorem,
    theorem,
)
from ..table_theorem import table_theorem
from .blocked import SEEDED_ONLY as PLAIN_SEEDED
from .blocked import block, plain_sum
from .operands import (
    ADDED_LAST_CHOICES,
    ARBITRARY_CHOICES,
    SEEDED_CHOICES,
    STARTS,
    Formats,
    floating,
    multiplied,
    reading,
    typed,
)

SOURCE = "pto-isa headers at 3186c381 (TMatmul_MX, A5 and CPU); OCP Microscaling Formats 1.0"

K = SCALE_GROUP + 2
"""Two groups of elements, the second of them ragged."""

SEEDED_ONLY = reading(SEEDED_CHOICES, "microscaled-sum")


def elements() -> dict[str, FloatFormat]:
    """Return the element types that can be scaled."""
    return {
        fmt.name: fmt
        for formats in typed(microscaled=True).values()
        if isinstance(fmt := formats["a"], FloatFormat)
    }


exact = table_theorem(
    "pto/microscaling/exact",
    "an element times its scale factor is exact",
    "∀ x, s: the product in the format that is multiplied is the number x · s, which f64 holds",
    SOURCE,
    lambda: {name: partial(scaling.exact, fmt, UE8M0, SCALED, False) for name, fmt in elements().items()},
)


unit = table_theorem(
    "pto/microscaling/unit",
    "scale factor 1 (0x7F) changes no element",
    "∀ x: x · 1 = x, signed zeros, infinities and NaNs included",
    SOURCE,
    lambda: {name: partial(scaling.unit, fmt, UE8M0, SCALED, False) for name, fmt in elements().items()},
)


def scaled_block(suffix: str, formats: Formats, k: int, *readings: Choices) -> BlockProduct:
    """Return ``tmatmul.mx`` of a form on k products; K need not be whole groups."""
    plain, groups = block(suffix, formats, k, *readings), scale_groups(k)
    operands = {
        **plain.operands,
        "scale_a": BlockOperand(UE8M0, ("m", groups)),
        "scale_b": BlockOperand(UE8M0, (groups, "n")),
    }
    starts = (*STARTS[suffix], *scaling.SCALES)
    of_group = np.arange(k) // SCALE_GROUP

    def multiply(alg: Algebra, v: Inputs, reading: Choices) -> Array:
        start = {role: v[role] for role in starts}
        return multiplied(alg, ".mx" + suffix, v, formats, reading, start=start)

    def expected(alg: Algebra, v: Inputs, reading: Choices) -> Array:
        a, b = (
            scaled(alg, Operand(v[role], floating(formats, role)), Operand(factors, UE8M0), SCALED).bits
            for role, factors in (("a", v["scale_a"][..., of_group]), ("b", v["scale_b"][..., of_group, :]))
        )
        return plain_sum(alg, suffix, {**v, "a": a, "b": b}, {**formats, "a": SCALED, "b": SCALED})

    def total(v: Inputs) -> Array:
        a, b = v["a"] * v["scale_a"][..., of_group], v["b"] * v["scale_b"][..., of_group, :]
        return plain.total({**v, "a": a, "b": b})

    read_as = SEEDED_ONLY if plain.choices == PLAIN_SEEDED else plain.choices
    return replace(
        plain, operands=operands, multiply=multiply, expected=expected, total=total, choices=read_as
    )


unit_row = Theorem(
    "pto/microscaling/unit-row",
    "if scale factor 1 changes no element, products with all factors 1 are those without factors",
    "(x[t] · 1 = x[t] and y[t] · 1 = y[t] as numbers, for all t) ⇒ tmatmul.mx(all factors 1) = tmatmul, "
    "also .acc and .bias",
    SOURCE,
    lambda: (
        Case(f"{name}/tmatmul.mx{suffix}", partial(_unit_row, formats, suffix), choices=SEEDED_ONLY)
        for name, formats in typed(microscaled=True).items()
        for suffix in STARTS
    ),
)


def _unit_row(formats: Formats, suffix: str) -> Property:
    with_factors, without = scaled_block(suffix, formats, K), block(suffix, formats, K)
    return scaling.unit_row(with_factors, without, partial(_elements, formats), SCALED)


def _elements(formats: Formats, alg: Algebra, v: Inputs) -> tuple[Operand, Operand]:
    return Operand(v["a"], floating(formats, "a")), Operand(v["b"], floating(formats, "b"))


@theorem(
    "pto/microscaling/plain",
    "with every scale factor 1 tmatmul.mx is tmatmul",
    "tmatmul.mx(all factors 1) = tmatmul, for all elements",
    SOURCE,
)
def plain() -> Iterator[Case]:
    """Yield one obligation per types and form, from its row and from its elements."""
    of_elements = {obligation.id.rpartition("/")[2]: obligation for obligation in unit.obligations()}
    rows = {
        obligation.id.removeprefix(f"{unit_row.id}/"): obligation for obligation in unit_row.obligations()
    }
    for name, formats in typed(microscaled=True).items():
        units = {fmt: of_elements[fmt] for fmt in (formats["a"].name, formats["b"].name)}
        for suffix in STARTS:
            case = f"{name}/tmatmul.mx{suffix}"
            goal = partial(scaling.unscaled, rows[case], units, partial(_elements, formats))
            yield Case(case, goal, method=Method.DEDUCTION, choices=SEEDED_ONLY)


@theorem(
    "pto/microscaling/commutes",
    "a scale factor commutes with the product: it may scale the sum of its group",
    "C + Σ_t (sa·x[t])·(sb·y[t]) = C + Σ_groups sa·sb·(Σ_t x[t]·y[t]), group g is t with t div 32 = g; over "
    "the reals, the last group being ragged; not in f32 (pinned)",
    SOURCE,
)
def commutes() -> Iterator[Case]:
    """Yield every types over the reals, and the refutation in f32."""
    for name, formats in typed(microscaled=True).items():
        yield Case(name, partial(_commutes, formats), equality=Equality.VALUE, method=Method.STRUCTURAL)
        yield Case(
            f"f32/{name}",
            partial(_scaled_afterwards, formats),
            Status.REFUTED,
            choices=SEEDED_ONLY,
            statement="D(scale factors) = (D(no factors) · sa) · sb in f32: the sum may overflow in between",
        )


def _commutes(formats: Formats) -> RingProperty:
    with_factors = scaled_block(".acc", formats, K, SEEDED_CHOICES, ADDED_LAST_CHOICES)
    return scaling.commutes(with_factors, block("", formats, K), SCALE_GROUP)


def _scaled_afterwards(formats: Formats) -> Property:
    # elements of 1, factors 2^127 and 2^-127: eight products are 8, and leave f32 in between
    ones = {role: power_of_two(formats[role], 0) for role in "ab"}
    pinned = {**ones, "scale_a": UE8M0.largest, "scale_b": 0}
    return scaling.scaled_afterwards(scaled_block("", formats, 8), block("", formats, 8), pinned)


# -- loops
BLOCKS = (K, 2 * SCALE_GROUP)
"""Products in a block: a ragged group, and whole ones."""


def _accumulating(*readings: Choices) -> Callable[[], dict[str, BlockProduct]]:
    """Return what returns ``tmatmul.mx.acc`` of every types and length of a block."""
    return lambda: {
        f"{name}/k{k}": _pinned(scaled_block(".acc", formats, k, *readings))
        for name, formats in typed(microscaled=True).items()
        for k in BLOCKS
    }


def _pinned(accumulating: BlockProduct) -> BlockProduct:
    """Return a block with ones that survive in C = 0 and are lost one by one in q = 2^24."""
    operands, one = accumulating.operands, scaling.ONE[UE8M0]
    ones = {role: power_of_two(operands[role].format, 0) for role in "ab"}
    q = power_of_two(accumulating.result, 24)
    return replace(accumulating, pinned={**ones, "scale_a": one, "scale_b": one, "c": 0, "q": q})


def _arbitrary() -> dict[str, BlockProduct]:
    arbitrary = f"accumulation={UNSPECIFIED}"
    blocks = _accumulating(ARBITRARY_CHOICES)()
    return {name: replace(each, choices=arbitrary) for name, each in blocks.items()}


LOOPS = blocked.theorems(
    Loops(
        "pto",
        "tmatmul.mx.acc",
        SOURCE,
        _accumulating(),
        in_a_ring=_accumulating(SEEDED_CHOICES, ADDED_LAST_CHOICES),
        of_tiles=_arbitrary,
        details={
            "step": "; every factor times the scale factor of its group of 32; the last may be ragged",
            "any-k": "; groups of 32 begin with every block",
            "reals": ", a and b being multiplied by their scale factors",
            "tiles": ", scale factors of A with its rows, those of B with its columns",
        },
        family="microscaling",
    )
)

THEOREMS = (exact, unit, unit_row, plain, commutes, *LOOPS)
