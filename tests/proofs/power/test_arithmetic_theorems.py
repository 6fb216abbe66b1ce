"""The theorems on masks, integers and signs hold, say something, and notice mutants of the specification."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from theorem_checks import unexpected, vacuous
from theorem_mutants import Mutant, Patch, assert_refuted, each, of

from mmaproof.proofs.decision import decide
from mmaproof.proofs.obligation import Status, Theorem
from mmaproof.proofs.power import integers, masking, signs
from mmaproof.smt.solvers import solve_with_z3
from mmaproof.spec.algebra import Algebra, Array
from mmaproof.spec.formats import S8, FloatFormat, IntegerFormat
from mmaproof.spec.power import rank_k_update as spec
from mmaproof.spec.power.catalogue import RankKUpdate
from mmaproof.spec.power.rank_k_update import Live
from mmaproof.spec.rounding import Rounding

THEOREMS = (*masking.THEOREMS, *integers.THEOREMS, *signs.THEOREMS)


@pytest.mark.parametrize("theorem", THEOREMS, ids=lambda theorem: theorem.id)
def test_every_obligation_has_the_expected_verdict(theorem: Theorem) -> None:
    assert unexpected([theorem]) == {}


def test_assumptions_can_be_met() -> None:
    assert vacuous([masking.zeroing_floats, integers.sum_of_products]) == []


# -- mutants: each wraps or replaces a function of the specification

Update = Callable[..., Array]


def _wrap(patch: pytest.MonkeyPatch, mutant: Callable[..., Array]) -> None:
    """Put ``mutant(original, alg, update, x, y, acc, live, rounding, choices)`` in place of the semantics."""
    patch.setattr(spec, "rank_k_update", partial(mutant, spec.rank_k_update))


def _everything_live(live: Live) -> Live:
    return Live(*(mask | ~mask for mask in live))


def _masks_read_as(patch: pytest.MonkeyPatch, reading: Callable[[Live], Live]) -> None:
    def mutant(true: Update, *arguments: Any) -> Array:
        *operands, live, rounding, choices = arguments
        return true(*operands, reading(live), rounding, choices)

    _wrap(patch, mutant)


def _pmsk_is_dropped(patch: pytest.MonkeyPatch) -> None:
    _masks_read_as(patch, lambda live: live._replace(products=_everything_live(live).products))


def _pmsk_is_read_backwards(patch: pytest.MonkeyPatch) -> None:
    _masks_read_as(patch, lambda live: live._replace(products=live.products[..., ::-1]))


def _xmsk_and_ymsk_are_swapped(patch: pytest.MonkeyPatch) -> None:
    _masks_read_as(patch, lambda live: Live(live.columns, live.rows, live.products))


def _masks_do_not_disable(patch: pytest.MonkeyPatch) -> None:
    _masks_read_as(patch, lambda live: _everything_live(live)._replace(products=live.products))


def _a_disabled_element_keeps_its_value(patch: pytest.MonkeyPatch) -> None:
    def mutant(true: Update, *arguments: Any) -> Array:
        alg, _, _, _, acc, live, *_ = arguments
        return alg.where(live.elements, true(*arguments), acc)

    _wrap(patch, mutant)


def _pmsk_masks_x_alone(patch: pytest.MonkeyPatch) -> None:
    def mutant(true: Update, *arguments: Any) -> Array:
        alg, update, x, y, acc, live, *rest = arguments
        x = alg.where(live.products[..., None, :], x, alg.constant(0, update.family.x))
        return true(alg, update, x, y, acc, live._replace(products=_everything_live(live).products), *rest)

    _wrap(patch, mutant)


def _the_accumulator_is_ignored(patch: pytest.MonkeyPatch) -> None:
    def mutant(true: Update, alg: Algebra, update: RankKUpdate, x: Array, y: Array, *rest: Any) -> Array:
        alone = {"pp": "", "spp": "s"}.get(update.suffix, update.suffix)
        return true(alg, replace(update, suffix=alone), x, y, *rest)

    _wrap(patch, mutant)


def _each_reads_as(suffixes: dict[str, str]) -> Patch:
    def patch_suffixes(patch: pytest.MonkeyPatch) -> None:
        def mutant(true: Update, alg: Algebra, update: RankKUpdate, *rest: Any) -> Array:
            return true(alg, replace(update, suffix=suffixes.get(update.suffix, update.suffix)), *rest)

        _wrap(patch, mutant)

    return patch_suffixes


def _pn_is_np(patch: pytest.MonkeyPatch) -> None:
    _each_reads_as({"pn": "np"})(patch)


def _nn_is_pn(patch: pytest.MonkeyPatch) -> None:
    _each_reads_as({"nn": "pn"})(patch)


def _the_accumulator_is_never_negated(patch: pytest.MonkeyPatch) -> None:
    _each_reads_as({"pn": "pp", "nn": "np"})(patch)


def _modulo_saturates(patch: pytest.MonkeyPatch) -> None:
    _each_reads_as({"pp": "spp", "": "s"})(patch)


def _saturating_wraps(patch: pytest.MonkeyPatch) -> None:
    _each_reads_as({"spp": "pp", "s": ""})(patch)


def _the_product_is_saturated_first(patch: pytest.MonkeyPatch) -> None:
    exact = spec.exact_sum

    def mutant(alg: Algebra, update: RankKUpdate, x: Array, y: Array, acc: Array, live: Live) -> Array:
        alone = replace(update, suffix="")
        fmt = update.family.result
        assert isinstance(fmt, IntegerFormat)
        total = alg.integer(alg.saturate(exact(alg, alone, x, y, acc, live), fmt), fmt)
        return total + alg.integer(acc, fmt) if update.accumulates else total

    patch.setattr(spec, "exact_sum", mutant)


def _u8_is_read_as_s8(patch: pytest.MonkeyPatch) -> None:
    exact = spec.exact_sum

    def mutant(alg: Algebra, update: RankKUpdate, *rest: Any) -> Array:
        return exact(alg, replace(update, family=replace(update.family, y=S8)), *rest)

    patch.setattr(spec, "exact_sum", mutant)


def _x_and_y_are_swapped(patch: pytest.MonkeyPatch) -> None:
    exact = spec.exact_sum

    def mutant(alg: Algebra, update: RankKUpdate, *rest: Any) -> Array:
        family = update.family
        return exact(alg, replace(update, family=replace(family, x=family.y, y=family.x)), *rest)

    patch.setattr(spec, "exact_sum", mutant)


def _the_last_product_is_left_out(patch: pytest.MonkeyPatch) -> None:
    exact = spec.exact_sum

    def mutant(alg: Algebra, update: RankKUpdate, x: Array, y: Array, acc: Array, live: Live) -> Array:
        kept = live._replace(products=live.products[..., :-1])
        return exact(alg, update, x[..., :-1], y[..., :-1], acc, kept)

    patch.setattr(spec, "exact_sum", mutant)


def _nothing_is_reported_as_clamped(patch: pytest.MonkeyPatch) -> None:
    def mutant(alg: Algebra, update: RankKUpdate, x: Array, y: Array, acc: Array, live: Live) -> Array:
        none: Array = live.elements & ~live.elements
        return none

    patch.setattr(spec, "saturation", mutant)


def _a_disabled_element_counts_as_clamped(patch: pytest.MonkeyPatch) -> None:
    true = spec.saturation

    def mutant(alg: Algebra, update: RankKUpdate, x: Array, y: Array, acc: Array, live: Live) -> Array:
        everywhere = _everything_live(live)._replace(products=live.products)
        return true(alg, update, x, y, acc, everywhere)

    patch.setattr(spec, "saturation", mutant)


def _the_result_is_not_negated(patch: pytest.MonkeyPatch) -> None:
    true = spec.float_sum

    def mutant(alg: Algebra, update: RankKUpdate, *rest: Any) -> Array:
        return true(
            alg, replace(update, suffix={"np": "pn", "nn": "pp"}.get(update.suffix, update.suffix)), *rest
        )

    patch.setattr(spec, "float_sum", mutant)


def _negation_always_comes_first(patch: pytest.MonkeyPatch) -> None:
    true = spec.float_sum

    def mutant(*arguments: Any) -> Array:
        return true(*arguments[:-1], replace(arguments[-1], negation="before-rounding"))

    patch.setattr(spec, "float_sum", mutant)


def _negation_never_mirrors_the_direction(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Rounding, "mirrored", property(lambda self: self))


def _every_direction_mirrors(patch: pytest.MonkeyPatch) -> None:
    other = {0: 1, 1: 0, 2: 3, 3: 2}
    patch.setattr(Rounding, "mirrored", property(lambda self: Rounding(other[self.value])))


def _the_direction_is_ignored(patch: pytest.MonkeyPatch) -> None:
    def mutant(true: Update, *arguments: Any) -> Array:
        *rest, _, choices = arguments
        return true(*rest, Rounding.NEAREST_EVEN, choices)

    _wrap(patch, mutant)


def _two_products_are_negated_last(patch: pytest.MonkeyPatch) -> None:
    true = spec.float_sum

    def mutant(alg: Algebra, update: RankKUpdate, *rest: Any) -> Array:
        positive = replace(update, suffix={"np": "pn", "nn": "pp"}.get(update.suffix, update.suffix))
        computed, fmt = true(alg, positive, *rest), update.family.result
        assert isinstance(fmt, FloatFormat)
        return alg.negate(spec.Operand(computed, fmt)) if update.negative_product else computed

    patch.setattr(spec, "float_sum", mutant)


REFUTED_MUTANTS: list[Mutant] = [
    (_pmsk_is_dropped, masking.live_part, "pmxvi8ger4pp"),
    (_pmsk_is_dropped, masking.live_part, "pmxvbf16ger2pp"),
    (_pmsk_is_dropped, masking.zeroing, "pmxvi16ger2spp"),
    (_pmsk_is_dropped, masking.no_product, "pmxvi4ger8pp"),
    (_pmsk_is_read_backwards, masking.live_part, "pmxvi4ger8"),
    (_pmsk_is_read_backwards, masking.live_part, "pmxvf16ger2nn"),
    (_pmsk_is_read_backwards, masking.zeroing, "pmxvi16ger2"),
    (_xmsk_and_ymsk_are_swapped, masking.disabled, "pmxvi8ger4"),
    (_xmsk_and_ymsk_are_swapped, masking.live_part, "pmxvf32gerpp"),
    (_xmsk_and_ymsk_are_swapped, masking.zeroing, "pmxvi8ger4pp"),
    (_a_disabled_element_keeps_its_value, masking.disabled, "pmxvi16ger2spp"),
    (_a_disabled_element_keeps_its_value, masking.disabled, "pmxvf64gernp"),
    (_a_disabled_element_keeps_its_value, masking.zeroing, "pmxvi4ger8pp"),
    (_masks_do_not_disable, masking.disabled, "pmxvf16ger2"),
    (_pmsk_masks_x_alone, masking.live_part, "pmxvf16ger2pp"),
    (_the_accumulator_is_ignored, masking.no_product, "pmxvi16ger2pp"),
    (_the_accumulator_is_ignored, integers.one_clamp, "xvi8ger4spp"),
    (_modulo_saturates, integers.order, "xvi16ger2pp"),
    (_saturating_wraps, integers.saturation, "pmxvi16ger2s"),
    (_saturating_wraps, integers.saturation, "pmxvi8ger4spp"),
    (_u8_is_read_as_s8, integers.one_clamp, "xvi8ger4spp"),
    (_x_and_y_are_swapped, integers.one_clamp, "xvi8ger4spp"),
    (_the_last_product_is_left_out, integers.one_clamp, "xvi8ger4spp"),
    (_nothing_is_reported_as_clamped, integers.saturation, "pmxvi16ger2spp"),
    (_a_disabled_element_counts_as_clamped, integers.saturation, "pmxvi16ger2s"),
    (_pn_is_np, signs.negative_accumulator, "xvf32gerpn"),
    (_pn_is_np, signs.negative_accumulator, "xvbf16ger2pn"),
    (_the_accumulator_is_never_negated, signs.negative_accumulator, "xvf64gernn"),
    (_the_accumulator_is_never_negated, signs.negative_accumulator, "xvf16ger2pn"),
    (_nn_is_pn, signs.negated_result, "xvf32gernn"),
    (_the_result_is_not_negated, signs.negated_result, "xvf32gernp"),
    (_the_result_is_not_negated, signs.negated_result, "xvf64gernn"),
    (_negation_always_comes_first, signs.negated_result, "xvf64gernp"),
    (_every_direction_mirrors, signs.negation_choice, "xvf32gernp/symmetric"),
]


@each(REFUTED_MUTANTS)
def test_mutants_of_what_is_proved_are_refuted(
    monkeypatch: pytest.MonkeyPatch, mutate: Patch, theorem: Theorem, name: str
) -> None:
    obligation = of(theorem, name)
    assert obligation.expect is Status.PROVED
    mutate(monkeypatch)
    assert_refuted(decide(obligation, partial(solve_with_z3, timeout=4)))


SURVIVING: list[Mutant] = [
    (_a_disabled_element_keeps_its_value, masking.equation_3, "pmxvi8ger4pp"),
    (_the_product_is_saturated_first, integers.one_clamp, "xvi16ger2spp"),
    (_saturating_wraps, integers.order, "xvi8ger4spp"),
    (_negation_always_comes_first, signs.negation_choice, "xvf32gernp/upward"),
    (_negation_never_mirrors_the_direction, signs.negation_choice, "xvf64gernn/downward"),
    (_the_direction_is_ignored, signs.negation_choice, "xvf32gernn/upward"),
    (_the_direction_is_ignored, signs.negated_product, "xvf64gernp/directed"),
    (_two_products_are_negated_last, signs.negated_result, "xvf16ger2np"),
    (_two_products_are_negated_last, signs.negated_result, "xvbf16ger2nn"),
]


@each(SURVIVING)
def test_mutants_of_what_is_refuted_have_no_counterexample(
    monkeypatch: pytest.MonkeyPatch, mutate: Patch, theorem: Theorem, name: str
) -> None:
    obligation = of(theorem, name)
    assert obligation.expect is Status.REFUTED
    mutate(monkeypatch)
    assert decide(obligation, partial(solve_with_z3, timeout=2)).status in (Status.PROVED, Status.UNKNOWN)
