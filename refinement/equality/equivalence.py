"""Equality of two arrays of terms: as bits, else over the ring or the reals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...spec.formats import FloatFormat, Format, IntegerFormat
from ..analysis.discharged_hypotheses import discharged
from ..analysis.rounding_depth import Roundings, roundings
from ..checker.evaluated import Checked, ObjectionError, Taken, checked
from ..normal_forms.choice_products import ChoiceForms
from ..normal_forms.elementary_forms import OutweighedMaskError
from ..normal_forms.forms import NormalForms
from ..normal_forms.polynomials import ExpansionError
from ..terms import operations
from ..terms.domains import NONE, Domain
from ..terms.interning import Ids
from ..terms.store import Operation, bits
from ..terms.traversal import by_operation
from .differing_terms import MOST_AT_FIRST, Indices, differing_members, with_poles
from .distinguishing_inputs import DistinguishingInputs
from .finite_masks import FiniteMasks
from .instances_of_pairs import without_instances
from .lifted_masks import LiftedMasks
from .limited_arguments import without_limited
from .merged_terms import Merged, merged_terms
from .order_cases import OrderCases
from .rewritten_terms import Rewritten, decided, halves_away, truncated, whole
from .special_values import SpecialValues, are_nans
from .vanishing_divisors import vanishing_divisors

Differing = Callable[[NormalForms, Ids, Ids, Indices, Format], tuple[Indices, str | None]]
"""Tells which of some members of terms (n,) are not shown equal, and why some may yet be."""


@dataclass(frozen=True)
class Comparison:
    """The result of comparing terms (n,) with expected ones.

    Attributes
    ----------
    identical : array (n,)
        Which are the same bits.
    equal : array (n,)
        Which are equal, as bits or over the reals.
    roundings : Roundings, optional
        What those that are equal, but not as bits, have undergone.
    reason : str, optional
        Why some of those that are not shown equal may yet be.
    overflowing : array (n,), optional
        Of those whose polynomials are equal, but not they: a rounding that only one side does of what is
        known to go beyond its format, or to be 0 in it; else `overflow.NONE`.
    checked : Checked
        What of those that are equal, but not the identical terms, was evaluated again by the checker.
    special : SpecialValues, optional
        Where the terms are NaN or infinite.
    read : pair of arrays (n,), optional
        The terms that are equal to those that were compared, but for NaNs, if these are not shown equal as
        they are (`truncated_floats`).
    evaluated : pair of arrays (n,), optional
        The terms that the checker evaluated, if not those that were compared.
    """

    identical: NDArray[np.bool_]
    equal: NDArray[np.bool_]
    roundings: Roundings | None = None
    reason: str | None = None
    overflowing: Ids | None = None
    checked: Checked = field(default_factory=Checked)
    special: SpecialValues | None = None
    read: tuple[Ids, Ids] | None = None
    evaluated: tuple[Ids, Ids] | None = None


class Refuted(Protocol):
    """Tells which terms (n,) are seen not to be what is expected, on a few inputs."""

    def __call__(self, actual: Ids, expected: Ids, fmt: Format, *, soon: bool = False) -> NDArray[np.bool_]:
        """Tell which are; if `soon`, after two sets of inputs where these refute none."""
        ...


_POLE = "a divisor, or the argument of a logarithm, is 0 for all inputs"
_CONSTANT = "it may be NaN, or an infinity of the other sign, for all inputs"
_CHOSEN = "where a select yields an infinity or a 0, it may be NaN"


def compared_as(fmt: Format) -> Format:
    """Return the format in which outputs of a format are compared: integers modulo a power of two."""
    return bits(fmt.bits) if isinstance(fmt, IntegerFormat) else fmt


def compare(
    forms: NormalForms,
    actual: Ids,
    expected: Ids,
    fmt: Format,
    *,
    patient: bool = True,
    refuted: Refuted | None = None,
) -> Comparison:
    """Compare terms (n,) with the terms expected, both read in a format.

    Integers are equal as bits where their polynomials are equal modulo ``2**fmt.bits`` and no float is
    rounded on the way; what is not the identical term can otherwise only be equal over the reals, where no
    operation rounds or overflows. What is found equal is evaluated again by the checker, on its own.

    Parameters
    ----------
    forms : NormalForms
        Of the terms.
    patient : bool
        Whether other ways are tried after a sum of too many products.
    refuted : callable, optional
        What it tells of all terms that are not soon shown to be equal is not tried to be shown at length.

    Raises
    ------
    ObjectionError
        If the checker finds numbers on which terms that are shown to be equal are not: a defect.
    ExpansionError
        If not patient, as soon as there is a sum of too many products, though another way may do.
    """
    found, both = shown(forms, actual, expected, fmt, patient=patient, refuted=refuted)
    actual, expected = found.evaluated or (actual, expected)
    members = np.flatnonzero(found.equal & ~both)
    return replace(found, checked=evaluated_again(forms, actual, expected, fmt, members))


def evaluated_again(forms: NormalForms, actual: Ids, expected: Ids, fmt: Format, members: Indices) -> Checked:
    """Let the checker evaluate some of terms (n,) that are shown to be equal.

    Raises
    ------
    ObjectionError
        As `compare`, with the place among the terms.
    """
    try:
        return checked(forms.store, actual[members], expected[members], compared_as(fmt), taken(forms))
    except ObjectionError as objection:
        objection.member = int(members[objection.member])
        raise


def shown(
    forms: NormalForms, actual: Ids, expected: Ids, fmt: Format, *, patient: bool, refuted: Refuted | None
) -> tuple[Comparison, NDArray[np.bool_]]:
    """Return what `compare` finds before the checker evaluates it, and which terms are NaNs on both sides."""
    identical: NDArray[np.bool_] = actual == expected
    forms.quantifier.is_patient = patient
    try:
        decide = cache(partial(decided, forms, actual, expected, fmt))
        first = merged_terms(forms, actual, expected, fmt)
        merged = cache(partial(_of_merges, forms, actual, expected, fmt, first))
        found = merged() if first.merges else None
        if found is None or not found.equal.all():
            plain = _compared(forms, actual, expected, fmt, identical)
            found = plain if plain.equal.all() else merged() or plain
            if not found.equal.all():
                plain = _at_length(forms, actual, expected, fmt, plain, decide, refuted)
            found = plain if plain.equal.sum() >= found.equal.sum() else found
    finally:
        forms.quantifier.is_patient = True
    equal, reason = without_limited(forms, actual, expected, found.equal, found.reason)
    found = replace(found, equal=equal, reason=reason)
    actual, expected = found.evaluated or (actual, expected)
    both = are_nans(forms.store, actual, fmt) & are_nans(forms.store, expected, fmt)
    found = _without_poles(forms, actual, expected, found, both)
    return replace(found, equal=found.equal | both), both


def _without_poles(
    forms: NormalForms, actual: Ids, expected: Ids, found: Comparison, both: NDArray[np.bool_]
) -> Comparison:
    """Return what is found without terms (n,) that divide by what is 0 for all inputs, if not bit by bit."""
    terms = np.stack([actual, expected])
    some = found.equal & ~found.identical & ~both
    poles = vanishing_divisors(forms.store, terms[:, some].reshape(-1))
    if not len(poles):
        return found
    some &= (forms.overflows.within(terms.reshape(-1), poles).reshape(terms.shape) != NONE).any(axis=0)
    return replace(found, equal=found.equal & ~some, reason=_POLE if some.any() else found.reason)


def _at_length(
    forms: NormalForms,
    actual: Ids,
    expected: Ids,
    fmt: Format,
    found: Comparison,
    decide: Callable[[], Rewritten | None],
    refuted: Refuted | None,
) -> Comparison:
    """Return what is found of terms (n,) that are not all shown equal as they are."""

    def is_refuted(left: NDArray[np.bool_]) -> bool:
        return refuted is not None and bool(refuted(actual[left], expected[left], fmt).all())

    before = ~found.equal
    if is_refuted(before):
        return found
    found = _rewritten(forms, actual, expected, fmt, found, decide)
    left = ~found.equal
    if not left.any() or ((left != before).any() and is_refuted(left)):
        return found
    resolved = decide()
    terms = (actual, expected) if resolved is None else (resolved.actual, resolved.expected)
    found = _of_choices(forms, *terms, fmt, found, computed=(actual, expected))
    return found if found.equal.all() else _of_masks(forms, *terms, fmt, found)


def _of_merges(
    forms: NormalForms, actual: Ids, expected: Ids, fmt: Format, merged: Merged
) -> Comparison | None:
    """Return what is found of terms (n,) by products in the place of choices in proportion; None without any.

    They are equal over the reals, but round otherwise: of roundings and special values those of the terms
    themselves are told. Comparisons are decided last: those in a function written out hide that it is one.
    """
    merges, rest = merged.merges, decided(forms, merged.actual, merged.expected, fmt)
    if rest is not None:
        merged = merged_terms(forms, rest.actual, rest.expected, fmt)
    if not merges + merged.merges:
        return None
    sides = merged.actual, merged.expected
    return _compared(forms, *sides, fmt, actual == expected, computed=(actual, expected))


def _rewritten(
    forms: NormalForms,
    actual: Ids,
    expected: Ids,
    fmt: Format,
    found: Comparison,
    decide: Callable[[], Rewritten | None],
) -> Comparison:
    """Return what is found of terms (n,) that are not all shown equal, or of others equal to them."""
    terms, of_nans, identical = (actual, expected), True, found.identical
    evaluated: tuple[Ids, Ids] | None = None
    for rewrite in (decided, truncated, halves_away, whole):
        rewritten = decide() if rewrite is decided else rewrite(forms, *terms, fmt)
        if rewritten is None:
            continue
        made, of_nans_too = (rewritten.actual, rewritten.expected), of_nans and rewritten.of_nans
        known = identical | (made[0] == made[1]) & of_nans_too
        of_terms = _compared(forms, *made, fmt, known)
        if rewrite is decided and of_terms.equal.any():
            of_terms = replace(
                of_terms,
                roundings=_undergone(forms, actual, expected, replace(of_terms, identical=identical)),
            )
        better = of_terms.equal.sum() > found.equal.sum()
        if better:
            identical = of_terms.identical if of_nans_too else identical
            if rewrite is truncated:  # of its bits, what roundings leave is another number
                evaluated = made
            found = replace(of_terms, identical=identical, read=made, evaluated=evaluated)
        if better or rewrite in (decided, halves_away):  # others are tried on what these make
            terms, of_nans = made, of_nans_too
    return found


def _of_masks(forms: NormalForms, actual: Ids, expected: Ids, fmt: Format, found: Comparison) -> Comparison:
    """Return what is found of terms (n,) with -∞ for finite masks of the kernel, if more are equal.

    A kernel that is NaN then where its contract need not be is not taken for equal.
    """
    masks = FiniteMasks(forms.store)
    made = masks.values(actual)
    if (made == actual).all():
        return found
    before = forms.needs_masks, set(forms.elementary.masks)
    forms.needs_masks = True
    forms.elementary.masks |= masks.constants
    again = _compared(forms, made, expected, fmt, found.identical)
    if not again.equal.all():
        again = _of_choices(forms, made, expected, fmt, again, computed=(made, expected))
    if again.equal.sum() > found.equal.sum():
        return again
    forms.needs_masks, forms.elementary.masks = before
    return found


def _of_choices(
    forms: NormalForms,
    actual: Ids,
    expected: Ids,
    fmt: Format,
    found: Comparison,
    *,
    computed: tuple[Ids, Ids],
) -> Comparison:
    """Return what is found of terms (n,) with choices multiplied out, if more are equal.

    They are equal over the reals to those that are `computed`, but round otherwise, as `_of_merges`.
    """
    if not any(operation.name == operations.SELECT for operation in forms.store.operations):
        return found
    masks, left = LiftedMasks(forms), np.flatnonzero(~found.equal)
    made = [masks.values(forms.software.replaced(each)) for each in (actual, expected)]
    differing = partial(_multiplied_out, left)
    again = _compared(forms, made[0], made[1], fmt, found.identical, computed=computed, differing=differing)
    return again if again.equal.sum() > found.equal.sum() else found


def _multiplied_out(
    left: Indices, forms: NormalForms, actual: Ids, expected: Ids, members: Indices, fmt: Format
) -> tuple[Indices, str | None]:
    """Return which terms of those that are left are not shown equal by products with truths."""
    choices, members = ChoiceForms(forms), np.intersect1d(members, left)
    try:
        members = without_instances(choices, actual, expected, members, fmt)
        for some in (members[:MOST_AT_FIRST], members[MOST_AT_FIRST:]):
            if len(some) and len(choices.unequal(actual[some], expected[some], fmt)):
                return members, None
    except ExpansionError as error:
        return members, str(error)
    return members[:0], None


def _undergone(forms: NormalForms, actual: Ids, expected: Ids, found: Comparison) -> Roundings | None:
    """Return the roundings of terms of which comparisons are decided: what was compared counts, too."""
    rounded = found.equal & ~found.identical
    if not rounded.any():
        return found.roundings
    undergone = roundings(forms.store, actual[rounded], expected[rounded])
    undergone = replace(undergone, approximations=(*undergone.approximations, *forms.uncounted))
    if forms.overflows.has_ranges():
        unknown, _ = _overflows(forms, actual[rounded], expected[rounded])
        undergone = replace(undergone, unbounded=tuple(sorted(map(str, unknown))))
    both = np.concatenate([actual[rounded], expected[rounded]])
    return discharged(forms.overflows.ranges, both, undergone)


_WRITTEN_OUT = 2.0**-18
"""How far a polynomial that is taken for a function may be from it where the checker evaluates both."""


def taken(forms: NormalForms) -> Taken:
    """Return what the checker is told of how terms were shown to be equal."""
    tolerance = _WRITTEN_OUT if forms.software.recognised else 0.0
    inputs = DistinguishingInputs(forms.store)
    return Taken(tolerance, forms.needs_masks, forms.store.admitted, inputs.of)


def _compared(
    forms: NormalForms,
    actual: Ids,
    expected: Ids,
    fmt: Format,
    identical: NDArray[np.bool_],
    *,
    computed: tuple[Ids, Ids] | None = None,
    differing: Differing | None = None,
) -> Comparison:
    """Compare terms (n,), of which some are known to be the identical bits.

    Where these stand for others that are `computed`, equal to them over the reals, roundings and special
    values are those of the others. Which are `differing` is told in another way, if one is given.
    """
    others = np.flatnonzero(actual != expected)
    read, tell = compared_as(fmt), differing or differing_members
    unequal, reason = tell(forms, actual, expected, others, read)
    if len(unequal) and forms.quantifier.near_fractions:
        before = len(unequal)
        unequal, reason = tell(forms.of_fractions, actual, expected, unequal, read)
        forms.needs_fractions |= len(unequal) < before
    equal = np.ones(len(actual), dtype=bool)
    equal[unequal] = False
    actual, expected = computed or (actual, expected)
    if isinstance(fmt, FloatFormat):  # of what is no number, only the bits can be equal
        classes = forms.quantifier.classes
        infinite = classes.never_finite(actual, fmt) | classes.never_finite(expected, fmt)
        equal &= identical | ~infinite
        poles = equal & ~identical & (with_poles(forms, actual) | with_poles(forms, expected))
        if poles.any():
            equal, reason = equal & ~poles, _POLE
    special, some = SpecialValues(forms), np.flatnonzero(equal & ~identical)
    unlike = special.unlike(actual[some], expected[some], fmt)
    if unlike.somewhere.any():
        equal[some[unlike.somewhere]] = False
        reason = _CONSTANT if unlike.everywhere.any() else _CHOSEN
    rounded = equal & ~identical
    both = np.concatenate([actual[rounded], expected[rounded]])
    if isinstance(fmt, IntegerFormat) and not roundings(forms.store, both).counts:
        identical = identical | _equal_bits(forms, actual, expected, rounded)
        rounded = equal & ~identical
    if not rounded.any():
        return Comparison(identical, equal, None, reason, special=special)
    undergone = roundings(forms.store, actual[rounded], expected[rounded])
    undergone = replace(undergone, approximations=(*undergone.approximations, *forms.uncounted))
    overflowing = np.full(len(actual), NONE, dtype=np.int32)
    if forms.overflows.has_ranges():
        replaced = actual[rounded], expected[rounded]
        if forms.software.recognised:  # functions that are written out do not overflow within
            replaced = forms.software.replaced(replaced[0]), forms.software.replaced(replaced[1])
        unknown, alone = _overflows(forms, *replaced)
        undergone = replace(undergone, unbounded=tuple(sorted(map(str, unknown))))
        sides = [forms.overflows.within(terms, alone) for terms in replaced]
        overflowing[rounded] = np.where(sides[0] == NONE, sides[1], sides[0])
        equal &= overflowing == NONE
        undergone = discharged(forms.overflows.ranges, both, undergone)
    return Comparison(identical, equal, undergone, reason, overflowing, special=special)


def _equal_bits(
    forms: NormalForms, actual: Ids, expected: Ids, equal: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Tell which integers (n,), of those equal over the real numbers, are so whatever floats they depend on.

    No comparison holds of a NaN, and of a NaN and a number there is a maximum.
    """
    found, members = equal.copy(), np.flatnonzero(equal)
    reads = _ReadsFloats(forms.store)
    members = members[reads.values(actual[members]) | reads.values(expected[members])]
    found[members[OrderCases(forms).unequal(actual[members], expected[members], bits(1))]] = False
    return found


class _ReadsFloats(Domain):
    """Whether a term depends on words as floats."""

    dtype = bool

    def applied(self, operation: Operation, terms: Ids, given: list[Any]) -> Any:
        """Return whether an operation reads floats, or arguments depend on some."""
        reads = any(isinstance(fmt, FloatFormat) for fmt in operation.operands)
        return reads | self.join.reduce(given, axis=0)


def _overflows(forms: NormalForms, actual: Ids, expected: Ids) -> tuple[set[FloatFormat], Ids]:
    """Return the formats to which roundings may overflow, and the roundings that one side alone does.

    The two sides are equal over the reals. What both round to the same format fails in both.
    """
    kernel, contract = (forms.overflows.of(terms) for terms in (actual, expected))
    if forms.needs_masks:
        kernel = replace(kernel, lost=_unmasked(forms, kernel.lost))
    unknown = set(kernel.unknown | contract.unknown)
    alone = [kernel.failing, contract.failing]
    if all(map(len, alone)):
        both = np.isin(actual, kernel.failing) & np.isin(expected, contract.failing)
        both &= forms.store.widths(actual) == forms.store.widths(expected)
        alone = [np.setdiff1d(alone[0], actual[both]), np.setdiff1d(alone[1], expected[both])]
        keys = [_rounded_quantities(forms, terms) for terms in (*alone, kernel.failing, contract.failing)]
        alone = [alone[0][~np.isin(keys[0], keys[3])], alone[1][~np.isin(keys[1], keys[2])]]
        shared = np.setdiff1d(np.concatenate([kernel.possible, contract.possible]), np.concatenate(alone))
        formats = (operation.result for operation, _ in by_operation(forms.store, shared))
        unknown |= {fmt for fmt in formats if isinstance(fmt, FloatFormat)}
    return unknown, np.union1d(*alone).astype(np.int32)


def _unmasked(forms: NormalForms, roundings: Ids) -> Ids:
    """Return those of some roundings that are not of 0, which finite masks stand for."""
    left = [roundings[:0]]
    for operation, members in by_operation(forms.store, roundings):
        fmt = operation.result
        assert isinstance(fmt, FloatFormat)
        zeros = forms.store.constants(np.zeros(len(members), dtype=np.uint64), fmt.bits)
        try:
            left.append(members[forms.unequal_unmasked(members, zeros, fmt)])
        except (ExpansionError, OutweighedMaskError):
            left.append(members)
    return np.sort(np.concatenate(left))


def _rounded_quantities(forms: NormalForms, terms: Ids) -> NDArray[np.int64]:
    """Return numbers (n,) that are equal for roundings of equal quantities to formats of one range."""
    found = np.empty(len(terms), dtype=np.int64)
    for operation, members in by_operation(forms.store, terms):
        fmt = operation.result
        assert isinstance(fmt, FloatFormat)
        numbers = forms.identifiers(members, fmt).astype(np.int64)
        found[np.isin(terms, members)] = (numbers << np.int64(16)) | fmt.bits << 8 | fmt.exponent_bits
    return found
