"""Integer arithmetic: ranges, overflow, saturation, order of accumulation."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ...spec.algebra import Algebra, Array
from ...spec.formats import S32, IntegerFormat
from ...spec.power import rank_k_update as spec
from ...spec.power.catalogue import I4, I8, I16, UPDATES, IntegerFamily, RankKUpdate
from ...spec.power.choices import Choices
from ..obligation import Case, Equation, Inputs, Property, Status, Theorem, Variable, holds, theorem
from .operands import INTEGER, all_live, live, operand_variables, updated

SOURCE = "Power ISA 3.1 section 7.2.1.3 (xvi4ger8, xvi8ger4, xvi16ger2); Moreira et al. section II-B2"


def family_of(update: RankKUpdate) -> IntegerFamily:
    """Return an integer update's family, typed as such."""
    assert isinstance(update.family, IntegerFamily)
    return update.family


def product_range(family: IntegerFamily) -> tuple[int, int]:
    """Return the least and the greatest product of one x and one y."""
    corners = [
        x * y for x in (family.x.minimum, family.x.maximum) for y in (family.y.minimum, family.y.maximum)
    ]
    return min(corners), max(corners)


def within(alg: Algebra, value: Array, low: int, high: int) -> Array:
    """Return the condition low ≤ value ≤ high, through the range of formats wide enough."""
    width = IntegerFormat("wide", 48, signed=True)
    above = alg.in_range(value - alg.whole(low), IntegerFormat("from zero", width.bits, signed=False))
    below = alg.in_range(alg.whole(high) - value, IntegerFormat("from zero", width.bits, signed=False))
    return above & below


@theorem(
    "power/integers/product-range",
    "the range of one product",
    "min ≤ ext(x)·ext(y) ≤ max, both attained, and ext(x)·0 = 0·ext(y) = 0",
    SOURCE,
)
def one_product() -> Iterator[Case]:
    """Yield a proof and two refutations (of tighter bounds) per family."""
    for family in (I4, I8, I16):
        low, high = product_range(family)
        text = f"{low} ≤ ext(x)·ext(y) ≤ {high}"
        yield Case(family.name, partial(_product_range, family, low, high), statement=text)
        for name, bounds in (("minimum-attained", (low + 1, high)), ("maximum-attained", (low, high - 1))):
            yield Case(
                f"{family.name}/{name}",
                partial(_product_range, family, *bounds),
                Status.REFUTED,
                statement=f"{bounds[0]} ≤ ext(x)·ext(y) ≤ {bounds[1]}",
            )


def _product_range(family: IntegerFamily, low: int, high: int) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        x, y = alg.integer(v["x"], family.x), alg.integer(v["y"], family.y)
        yield holds(alg, within(alg, x * y, low, high), "product in range")
        zero = alg.whole(0)
        yield Equation(zero * y, zero, label="0·y")
        yield Equation(x * zero, zero, label="x·0")

    return Property((Variable("x", family.x), Variable("y", family.y)), claim, abstract=False)


@theorem(
    "power/integers/sum-range",
    "the range of k products, and of k products with an accumulator",
    "products in their range ⇒ k·min ≤ S ≤ k·max, and S + acc is a signed 33-bit integer",
    SOURCE,
)
def sum_of_products() -> Iterator[Case]:
    """Yield one obligation per family; the products' range is `product-range`."""
    for family in (I4, I8, I16):
        low, high = (family.rank * bound for bound in product_range(family))
        text = f"{low} ≤ Σ_p x[p]·y[p] ≤ {high}, and S + acc fits 33 bits"
        yield Case(family.name, partial(_sum_range, family), statement=text)


def _sum_range(family: IntegerFamily) -> Property:
    low, high = product_range(family)
    wide = IntegerFormat("product", 32, signed=True)

    def products(alg: Algebra, v: Inputs) -> Array:
        return alg.integer(v["products"], wide)

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        total = products(alg, v).sum(axis=-1)
        yield holds(alg, within(alg, total, family.rank * low, family.rank * high), "sum in range")
        with_acc = total + alg.integer(v["acc"], S32)
        yield holds(alg, alg.in_range(with_acc, IntegerFormat("s33", 33, signed=True)), "33 bits")

    def assuming(alg: Algebra, v: Inputs) -> Iterator[Array]:
        yield within(alg, products(alg, v), low, high)

    variables = (Variable("products", wide, (family.rank,)), Variable("acc", S32))
    return Property(variables, claim, assuming, abstract=False)


@theorem(
    "power/integers/overflow",
    "without accumulator int8 and int4 never overflow, int16 in exactly one case",
    "S = Σ_p x[p]·y[p] is a signed 32-bit integer, for int16 unless all four operands are -32768",
    SOURCE,
)
def overflow() -> Iterator[Case]:
    """Yield the three families, and the refutation that int16 needs no exception."""
    for family in (I4, I8, I16):
        yield Case(family.name, partial(_overflow, family))
    yield Case("xvi16ger2/without-exception", partial(_always_in_range, I16), Status.REFUTED)


def _total(alg: Algebra, family: IntegerFamily, v: Inputs) -> Array:
    total: Array = (alg.integer(v["x"], family.x) * alg.integer(v["y"], family.y)).sum(axis=-1)
    return total


def _row_variables(family: IntegerFamily) -> tuple[Variable, ...]:
    return Variable("x", family.x, (1, family.rank)), Variable("y", family.y, (1, family.rank))


def _overflow(family: IntegerFamily) -> Property:
    if family is not I16:
        return _always_in_range(family)

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        least = alg.constant(1 << (family.x.bits - 1), family.x)
        both = alg.same(v["x"], least) & alg.same(v["y"], least)
        in_range = alg.in_range(_total(alg, family, v), S32)
        yield Equation(in_range, ~(both[..., 0] & both[..., 1]), label="in range = not all -32768")

    return Property(_row_variables(family), claim, abstract=False)


def _always_in_range(family: IntegerFamily) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        yield holds(alg, alg.in_range(_total(alg, family, v), S32), "sum in range")

    return Property(_row_variables(family), claim, abstract=False)


def _modulo_form(update: RankKUpdate) -> RankKUpdate:
    return UPDATES[update.family.name + ("pp" if update.accumulates else "")]


SATURATING = tuple(update for update in INTEGER if update.saturates)


saturation = Theorem(
    "power/integers/saturation",
    "a saturating form is the modulo form unless the exact sum leaves the range",
    "∀ masks: S [+ acc] in range ⇒ saturating = modulo; otherwise the nearest end, and VSCR.SAT is set",
    SOURCE,
    lambda: (Case(f"pm{update.mnemonic}", partial(_saturation, update)) for update in SATURATING),
)


def _saturation(update: RankKUpdate) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        masks = live(alg, update, v)
        clamped = spec.saturation(alg, update, v["x"], v["y"], v["acc"], masks)
        saturating = updated(alg, update, v, Choices())
        modulo = updated(alg, _modulo_form(update), v, Choices())
        total = spec.exact_sum(alg, update, v["x"], v["y"], v["acc"], masks)
        in_range = alg.in_range(total, S32)
        yield Equation(clamped, masks.elements & ~in_range, label="clamped = live and out of range")
        yield Equation(saturating, modulo, S32, in_range, "in range")
        yield Equation(saturating, modulo, S32, ~masks.elements, "disabled")
        positive = alg.in_range(total, IntegerFormat("u40", 40, signed=False))
        yield Equation(saturating, alg.constant(S32.maximum, S32), S32, clamped & positive, "above the range")
        least = alg.constant(1 << 31, S32)
        yield Equation(saturating, least, S32, clamped & ~positive, "below the range")

    return Property(operand_variables(update), claim)


@theorem(
    "power/integers/one-clamp",
    "saturation clamps once, accumulator included",
    "spp = clamp(S + acc); clamping S first changes int16 (pinned), never int8",
    SOURCE,
)
def one_clamp() -> Iterator[Case]:
    """Yield int8's proof and int16's refutation of clamp(clamp(S) + acc)."""
    yield Case("xvi8ger4spp", partial(_two_clamps, UPDATES["xvi8ger4spp"]))
    least = {"x": 0x8000, "y": 0x8000, "acc": 1 << 31}
    yield Case("xvi16ger2spp", partial(_two_clamps, UPDATES["xvi16ger2spp"], least), Status.REFUTED)


def _two_clamps(update: RankKUpdate, pinned: dict[str, int] | None = None) -> Property:
    family = family_of(update)

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        x, y, acc = v["x"], v["y"], v["acc"][..., None]
        one = live(alg, update, {})
        one = one._replace(rows=one.rows[:1], columns=one.columns[:1])
        once = spec.rank_k_update(alg, update, x, y, acc, one, None, Choices())
        first = alg.saturate(_total(alg, family, v), S32)
        twice = alg.saturate(alg.integer(first, S32) + alg.integer(v["acc"], S32), S32)
        yield Equation(once[..., 0], twice, S32, label="one clamp = two clamps")

    variables = (*_row_variables(family), Variable("acc", S32, (1,)))
    return Property(variables, claim, pinned=pinned, abstract=False)


order = Theorem(
    "power/integers/order",
    "the order of two accumulating updates matters only with saturation",
    "update(update(acc, x, y), x', y') = update(update(acc, x', y'), x, y): "
    "true modulo 2^32, false saturating (pinned)",
    SOURCE,
    lambda: (
        Case(
            update.mnemonic, partial(_order, update), (Status.REFUTED if update.saturates else Status.PROVED)
        )
        for update in INTEGER
        if update.accumulates
    ),
)


def _order(update: RankKUpdate) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        first, second = {"x": v["x"], "y": v["y"]}, {"x": v["x2"], "y": v["y2"]}
        masks = all_live(alg, update)

        def both(one: Inputs, other: Inputs) -> Array:
            acc = updated(alg, update, v, Choices(), **one, live=masks)
            return updated(alg, update, v, Choices(), **other, acc=acc, live=masks)

        yield Equation(both(first, second), both(second, first), S32, label="either order")

    variables = operand_variables(update, masks=False)
    again = tuple(Variable(f"{w.name}2", w.format, w.shape) for w in variables if w.name != "acc")
    return Property(variables + again, claim)


THEOREMS = (one_product, sum_of_products, overflow, saturation, one_clamp, order)
