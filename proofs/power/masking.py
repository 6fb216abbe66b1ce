"""Masking: what the ``pm`` forms compute, for all masks at once, and which exceptions they raise."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from ...spec.algebra import Algebra, Array, Operand
from ...spec.formats import FloatFormat
from ...spec.power.catalogue import UPDATES, RankKUpdate
from ...spec.power.choices import Choices
from ...spec.power.float_exceptions import Exceptions, raised
from ...spec.power.rank_k_update import Live
from ..obligation import Case, Equation, Inputs, Property, Status, Theorem, holds, theorem
from .operands import FLOAT, INTEGER, all_live, live, operand_variables, readings, updated

SOURCE = "Power ISA 3.1 section 7.2.1.3; Moreira et al. section II-C"


disabled = Theorem(
    "power/masking/disabled",
    "a disabled element is +0, also when accumulating",
    "∀ x, y, acc, masks, RN: ¬(XMSK[i] ∧ YMSK[j]) ⇒ ACC'[i,j] = 0 (all bits)",
    SOURCE,
    lambda: (Case(f"pm{update.mnemonic}", partial(_disabled, update)) for update in UPDATES.values()),
)


def _disabled(update: RankKUpdate) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        fmt = update.family.result
        off = ~live(alg, update, v).elements
        for choices in readings(update):
            yield Equation(
                updated(alg, update, v, choices), alg.constant(0, fmt), fmt, off, f"disabled, {choices}"
            )

    return Property(operand_variables(update), claim)


live_part = Theorem(
    "power/masking/live",
    "a live element is the unmasked instruction on the live products",
    "∀ x, y, acc, masks, RN: XMSK[i] ∧ YMSK[j] ⇒ pm(x, y, acc)[i,j] = unmasked(x', y', acc)[i,j], where "
    "x'[i,p] = PMSK[p] ? x[i,p] : +0 and likewise y'",
    SOURCE,
    lambda: (Case(f"pm{update.mnemonic}", partial(_live_part, update)) for update in UPDATES.values()),
)


def _live_part(update: RankKUpdate) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        family = update.family
        masks = live(alg, update, v)
        kept = masks.products[..., None, :]
        x = alg.where(kept, v["x"], alg.constant(0, family.x))
        y = alg.where(kept, v["y"], alg.constant(0, family.y))
        for choices in readings(update):
            masked = updated(alg, update, v, choices)
            unmasked = updated(alg, update, v, choices, x=x, y=y, live=all_live(alg, update))
            yield Equation(masked, unmasked, family.result, masks.elements, f"live, {choices}")

    return Property(operand_variables(update), claim)


def _zeroed(alg: Algebra, update: RankKUpdate, v: Inputs) -> tuple[Array, Array, Array]:
    """Return x, y and acc with every masked-off row, column, product and element replaced by 0."""
    family = update.family
    masks = live(alg, update, v)
    x_live = masks.rows[..., :, None] & masks.products[..., None, :]
    y_live = masks.columns[..., :, None] & masks.products[..., None, :]
    x = alg.where(x_live, v["x"], alg.constant(0, family.x))
    y = alg.where(y_live, v["y"], alg.constant(0, family.y))
    acc = alg.where(masks.elements, v["acc"], alg.constant(0, family.result))
    return x, y, acc


def _zeroing(update: RankKUpdate, finite: bool = False, pinned: dict[str, int] | None = None) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        x, y, acc = _zeroed(alg, update, v)
        masked = updated(alg, update, v, Choices())
        unmasked = updated(alg, update, v, Choices(), x=x, y=y, acc=acc, live=all_live(alg, update))
        masks = live(alg, update, v)
        cases = (masks.elements, ~masks.rows[..., :, None], ~masks.columns[..., None, :])
        yield holds(alg, cases[0] | cases[1] | cases[2], "the cases are all")
        for case in cases:
            yield Equation(masked, unmasked, update.family.result, case, "masked = zeroed")

    return Property(operand_variables(update), claim, partial(_finite, update) if finite else None, pinned)


def _finite(update: RankKUpdate, alg: Algebra, v: Inputs) -> Iterable[Array]:
    for name, fmt in (("x", update.family.x), ("y", update.family.y), ("acc", update.family.result)):
        assert isinstance(fmt, FloatFormat)
        operand = Operand(v[name], fmt)
        yield ~(alg.is_nan(operand) | alg.is_infinite(operand))


zeroing = Theorem(
    "power/masking/zeroing",
    "masking integers is zeroing operands and accumulator",
    "∀ x, y, acc, masks: pm(x, y, acc) = unmasked(x', y', acc'), masked-off rows, columns, products and "
    "accumulator elements replaced by 0",
    SOURCE,
    lambda: (Case(f"pm{update.mnemonic}", partial(_zeroing, update)) for update in INTEGER),
)


@theorem(
    "power/masking/zeroing-floats",
    "masking floats is not zeroing operands (pinned)",
    "pm(x, y, acc) = unmasked(x', y', acc') is false: 0·Inf and NaN are not 0, and a zero product has a sign",
    SOURCE,
)
def zeroing_floats() -> Iterator[Case]:
    """Yield three refutations per float mnemonic: infinity, signalling NaN, finite values (a -0)."""
    for update in FLOAT:
        fmt = update.family.x
        assert isinstance(fmt, FloatFormat) and fmt.infinity is not None
        for name, y in (("infinity", fmt.infinity), ("signalling-nan", fmt.infinity + 1)):
            pinned = {"y": y, "xmsk": 7, "ymsk": 15, "pmsk": 3} | (
                {"ymsk": 3} if update.family.columns == 2 else {}
            )
            yield Case(
                f"pm{update.mnemonic}/{name}", partial(_zeroing, update, False, pinned), Status.REFUTED
            )
        yield Case(f"pm{update.mnemonic}/finite", partial(_zeroing, update, True), Status.REFUTED)


equation_3 = Theorem(
    "power/masking/equation-3",
    "equation (3) of the paper: a disabled element keeps its old value (pinned)",
    "pm(x, y, acc)[i,j] = Σ_p PMSK[p]·XMSK[i]·x[i,p]·YMSK[j]·y[j,p] + acc[i,j] "
    "is false where the element is disabled",
    "Moreira et al. equation (3), against Power ISA 3.1 section 7.2.1.3",
    lambda: (
        Case(f"pm{update.mnemonic}", partial(_equation_3, update), Status.REFUTED)
        for update in UPDATES.values()
        if update.accumulates
    ),
)


def _equation_3(update: RankKUpdate) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        x, y, _ = _zeroed(alg, update, v)
        reading = updated(alg, update, v, Choices(), x=x, y=y, live=all_live(alg, update))
        yield Equation(
            updated(alg, update, v, Choices()), reading, update.family.result, label="ISA = equation (3)"
        )

    one = {name: _one(getattr(update.family, name)) for name in ("x", "y")}
    return Property(operand_variables(update), claim, pinned={**one, "acc": _one(update.family.result)})


def _one(fmt: object) -> int:
    return fmt.bias << fmt.fraction_bits if isinstance(fmt, FloatFormat) else 1


@theorem(
    "power/masking/no-product",
    "with PMSK = 0 an accumulating integer form keeps its live elements; a float form does not (pinned)",
    "PMSK = 0 ∧ XMSK[i] ∧ YMSK[j] ⇒ ACC'[i,j] = acc[i,j]",
    SOURCE,
)
def no_product() -> Iterator[Case]:
    """Yield a proof per accumulating integer mnemonic, two refutations per accumulating f16 and bf16 one."""
    for update in UPDATES.values():
        if not update.accumulates or update.family.rank == 1:
            continue
        if update in INTEGER:
            yield Case(f"pm{update.mnemonic}", partial(_no_product, update))
            continue
        fmt = update.family.result
        assert isinstance(fmt, FloatFormat) and fmt.infinity is not None
        # -0 where the sum of zeros is +0, +0 where the accumulator or everything is negated.
        zero = {"pp": fmt.sign_mask, "pn": fmt.sign_mask, "np": 0, "nn": fmt.sign_mask}[update.suffix]
        direction = 3 if update.suffix == "np" else 0
        for name, acc in (("signed-zero", zero), ("signalling-nan", fmt.infinity + 1)):
            pinned = {"acc": acc, "xmsk": 15, "ymsk": 15, "rounding": direction}
            yield Case(f"pm{update.mnemonic}/{name}", partial(_no_product, update, pinned), Status.REFUTED)


def _no_product(update: RankKUpdate, pinned: dict[str, int] | None = None) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        masks = live(alg, update, v)
        none_live = masks._replace(products=masks.products & ~masks.products)
        kept = updated(alg, update, v, Choices(), live=none_live)
        yield Equation(kept, v["acc"], update.family.result, masks.elements, "PMSK = 0 keeps the accumulator")

    return Property(operand_variables(update), claim, pinned=pinned)


EXCEPTIONS_SOURCE = "Moreira et al. section II-C; Power ISA 3.1 section 7.2.1.3"

CHOICES = Choices(bf16_sum="single")
"""The reading with no rounding but those of the ISA's steps in f32; NaNs and signs raise the same in all."""


def _raised(alg: Algebra, update: RankKUpdate, v: Inputs, x: Array, y: Array, masks: Live) -> Exceptions:
    return raised(alg, update, x, y, v["acc"], masks, v["rounding"], CHOICES)


exceptions = Theorem(
    "power/masking/exceptions",
    "a disabled row or column raises no exception and sets no bit of FPSCR; a disabled product neither",
    "∀ x, y, acc, masks, RN: ¬(XMSK[i] ∧ YMSK[j]) ⇒ element (i, j) raises none of OX, UX, XX, VXSNAN, VXISI, "
    "VXIMZ; otherwise it raises what the unmasked form does on the live "
    "products, +0 in the place of the others' operands. A sticky bit is set if any element raises it",
    EXCEPTIONS_SOURCE,
    lambda: (
        Case(f"pm{update.mnemonic}", partial(_exceptions, update), choices="bf16-sum=single")
        for update in FLOAT
    ),
)


def _exceptions(update: RankKUpdate) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        family, masks = update.family, live(alg, update, v)
        kept = masks.products[..., None, :]
        x = alg.where(kept, v["x"], alg.constant(0, family.x))
        y = alg.where(kept, v["y"], alg.constant(0, family.y))
        masked = _raised(alg, update, v, v["x"], v["y"], masks)
        unmasked = _raised(alg, update, v, x, y, all_live(alg, update))
        for name, some, every in zip(Exceptions._fields, masked, unmasked, strict=True):
            yield Equation(some, some & ~some, None, ~masks.elements, f"{name}, disabled")
            yield Equation(some, every, None, masks.elements, f"{name}, enabled")

    return Property(operand_variables(update), claim)


THEOREMS = (
    disabled,
    live_part,
    zeroing,
    zeroing_floats,
    equation_3,
    no_product,
    exceptions,
)
