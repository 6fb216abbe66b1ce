"""Sums of PTO's floats: one step, chains of roundings, what is printed, and results of 16 bits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import product

from ...spec.algebra import Algebra, Array, Operand
from ...spec.formats import BF16, F16, F32, U16, U32, FloatFormat, IntegerFormat, as_float
from ...spec.pto.catalogue import OPERATIONS
from ...spec.pto.choices import Choices
from ...spec.pto.error_bounds import error_bounds
from ...spec.pto.movers import converted
from ...spec.pto.resolution import applied
from ...spec.pto.targets import PROFILES
from ..families import rounded_chains
from ..families.block_products import Blocks
from ..families.exact_steps import one_term, small_integers
from ..families.rounded_chains import RoundedSum
from ..obligation import Case, Certificate, Equation, Inputs, Property, Status, Variable, holds, theorem
from ..table_theorem import answered, table_theorem
from .blocked import LENGTHS, SEEDED_ONLY, block, float_forms, one_more, step
from .operands import STARTS, float_types, typed
from .scaling import scaled_block
from .stated import tables
from .verdicts import spelled_tile

SOURCE = "pto-isa headers at 3186c381 (TMatmul, TMatmul_MX)"


def _of_one_product() -> Blocks:
    """Return every form and types, and the scaled ones that accumulate, on one product."""
    found = {
        f"{name}/tmatmul{suffix}": block(suffix, formats, 1)
        for name, formats in float_types()
        for suffix in STARTS
    }
    for name, formats in typed(microscaled=True).items():
        found[f"{name}/tmatmul.mx.acc"] = scaled_block(".acc", formats, 1)
    return found


NARROWING_SOURCE = "pto-isa headers at 3186c381 (TMov, TStore); no document states the rounding"

NEAREST = Choices(conversion="nearest-even")

MOVES = ("tmov", "textract", "tinsert", "tstore")
"""The operations that take elements out of the accumulator."""

WORDS = {F32: U32, F16: U16, BF16: U16}
"""Magnitudes of floats are compared as encodings, which order them."""

NOT_NEGATIVE = IntegerFormat("difference", 32, signed=False)


def _moved(alg: Algebra, bits: Array, fmt: FloatFormat) -> Array:
    return converted(alg, bits, F32, fmt, NEAREST)


def _magnitude(alg: Algebra, bits: Array, fmt: FloatFormat) -> Array:
    return alg.integer(bits & (fmt.sign_mask - 1), WORDS[fmt])


def _at_most(alg: Algebra, left: Array, right: Array) -> Array:
    return alg.in_range(right - left, NOT_NEGATIVE)


def least_infinite(fmt: FloatFormat) -> int:
    """Return the encoding in f32 of what is half a unit above the format's largest number."""
    exponent = fmt.maximum_exponent + F32.bias << F32.fraction_bits
    below = (1 << F32.fraction_bits) - (1 << F32.fraction_bits - fmt.fraction_bits - 1)
    return exponent | below


def _overflow(fmt: FloatFormat, alg: Algebra, v: Inputs) -> Iterator[Equation]:
    x = v["x"]
    moved = _moved(alg, x, fmt)
    limit, size = alg.whole(least_infinite(fmt)), _magnitude(alg, x, F32)
    number = ~alg.is_nan(Operand(x, F32))
    infinite = alg.is_infinite(Operand(moved, fmt))
    yield Equation(infinite, _at_most(alg, limit, size), where=number, label="infinite")
    before, after = (alg.same(bits & f.sign_mask, alg.constant(0, f)) for bits, f in ((x, F32), (moved, fmt)))
    yield Equation(before, after, where=number, label="sign")


def _saturated(fmt: FloatFormat, alg: Algebra, v: Inputs) -> Iterator[Equation]:
    x = v["x"]
    number = Operand(x, F32)
    finite = ~(alg.is_nan(number) | alg.is_infinite(number))
    yield holds(alg, ~alg.is_infinite(Operand(_moved(alg, x, fmt), fmt)), "finite", finite)


def _exact(fmt: FloatFormat, alg: Algebra, v: Inputs) -> Iterator[Equation]:
    number = ~alg.is_nan(Operand(v["y"], fmt))
    wide = converted(alg, v["y"], fmt, F32, NEAREST)
    yield Equation(_moved(alg, wide, fmt), v["y"], fmt, number, "moved = y")


def _monotone(fmt: FloatFormat, alg: Algebra, v: Inputs) -> Iterator[Equation]:
    x, z = v["x"], v["z"]
    ordered = ~alg.is_nan(Operand(z, F32)) & _at_most(alg, _magnitude(alg, x, F32), _magnitude(alg, z, F32))
    lesser, greater = (_magnitude(alg, _moved(alg, each, fmt), fmt) for each in (x, z))
    yield holds(alg, _at_most(alg, lesser, greater), "ordered", ordered)


@theorem(
    "pto/numerics/narrowed",
    "f16 and bf16 that leave the accumulator keep exact sums and their order; none saturates (pinned)",
    "y of the type ⇒ moved(y) = y; |x| ≤ |z| ⇒ |moved(x)| ≤ |moved(z)|, and the sign stays; moved(x) is an "
    "infinity ⇔ |x| is half a unit above the largest number or more. To fp8 and integers the headers "
    "convert with a quantisation only (pto/legal/conversions), which is not modelled",
    NARROWING_SOURCE,
)
def narrowed() -> Iterator[Case]:
    """Yield what is exact, ordered and too large, and that all is finite (pinned), of f16 and bf16."""
    choices = f"conversion={NEAREST.conversion}"
    wide = (Variable("x", F32, (1,)),)
    for fmt in (F16, BF16):
        for name, claim, variables in (
            ("exact", _exact, (Variable("y", fmt, (1,)),)),
            ("monotone", _monotone, (*wide, Variable("z", F32, (1,)))),
            ("overflow", _overflow, wide),
        ):
            yield Case(f"{fmt}/{name}", partial(_about, fmt, claim, variables), choices=choices)
        yield Case(
            f"{fmt}/saturated",
            partial(_about, fmt, _saturated, wide, {"x": F32.largest}),
            Status.REFUTED,
            choices=choices,
            statement="x finite ⇒ moved(x) is finite",
        )


Claimed = Callable[[FloatFormat, Algebra, Inputs], Iterator[Equation]]


def _about(
    fmt: FloatFormat, claim: Claimed, variables: tuple[Variable, ...], pinned: dict[str, int] | None = None
) -> Property:
    return Property(variables, partial(claim, fmt), pinned=pinned, abstract=False)


CHAINS_SOURCE = "pto-isa headers (TMatmul, TGemv); pto-isa issue 280"

SHORT_ROW = 3
"""Products of the block that shows what order, and one more, change; every further one adds alike."""


def sums() -> dict[str, RoundedSum]:
    """Return every form and types: one fused multiply-add for each product, k increasing."""
    found = {}
    for name, _, formats in float_forms():
        result = as_float(formats["d"])
        proved = (*(f"{step.id}/{name}/k{k}" for k in LENGTHS), f"{one_more.id}/{name}")
        found[name] = RoundedSum(result, proved, True, SEEDED_ONLY)
    return found


@cache
def blocks() -> Blocks:
    """Return a short block of every form and types."""
    return {name: block(suffix, formats, SHORT_ROW) for name, suffix, formats in float_forms()}


def accumulating() -> Blocks:
    """Return the blocks that start from the accumulator."""
    return {name: each for name, each in blocks().items() if each.accumulator in each.operands}


printed = table_theorem(
    "pto/numerics/printed-bound",
    "the printed bound counts a rounding for each product, and one where C or the bias is added last",
    "∀ operations and types of D, ∀ profiles that have them: of moves and integers nothing is printed; of "
    "floats the exponent is k, on the simulator k + 1 with an accumulator or a bias, and the unit 2^-24",
    "pto-isa headers (TMatmul, TGemv); pto-isa issue 280; IEEE 754, binary32",
    lambda: {profile: partial(_printed, profile) for profile in tables.PROFILES},
)


def _printed(profile: str) -> Certificate:
    expected: dict[tuple[str, str], tuple[str, ...]] = {}
    for name, element in product(tables.OPERATIONS, ("f32", "i32", "unknown")):
        if profile == "A2A3" and ".mx" in name:
            continue
        one_more = profile == "CPU" and name.endswith((".acc", ".bias"))
        floats = element != "i32" and name.startswith(("tmatmul", "tgemv"))
        formula = f"|D - exact| ≤ ((1 + 2^-24)^{'(k + 1)' if one_more else 'k'} - 1)·S"
        expected[name, element] = (formula,) * floats

    def said(name: str, element: str) -> tuple[str, ...]:
        known = {} if element == "unknown" else {"d": spelled_tile(f"acc 16x16x{element} Nz", profile)}
        lines = error_bounds(applied(OPERATIONS[name], known, PROFILES[profile]))
        return tuple(line.partition(": ")[2] for line in lines)

    return answered(expected, said)


THEOREMS = (
    one_term("pto", SOURCE, _of_one_product),
    narrowed,
    rounded_chains.bound("pto", CHAINS_SOURCE, sums, "r = K products, k increasing from C, the bias or 0"),
    rounded_chains.order("pto", CHAINS_SOURCE, accumulating, None),
    rounded_chains.monotone("pto", CHAINS_SOURCE, sums),
    small_integers("pto", CHAINS_SOURCE, sums, blocks),
    printed,
)
