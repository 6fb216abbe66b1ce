"""Equality of two arrays of terms: as bits, else over the ring or the reals."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...spec.float_encoding import is_nan
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
from ..terms.instances import TermInstances
from ..terms.interning import Ids
from ..terms.store import CONSTANT, Operation, TermStore, bits
from ..terms.traversal import by_operation
from .arg_extrema import ArgExtrema
from .distinguishing_inputs import DistinguishingInputs
from .instances_of_pairs import without_instances
from .lifted_masks import LiftedMasks
from .order_cases import OrderCases
from .proportional_choices import ProportionalChoices
from .rewritten_terms import decided, halves_away, truncated, whole
from .shared_subterms import SharedSubterms
from .sign_cases import SignCases
from .special_values import SpecialValues

Indices = NDArray[np.intp]

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


_POLE = "what divides, or has a logarithm, is 0 for all inputs"
_CONSTANT = "for all inputs it may be NaN, or another infinity"
_CHOSEN = "where a select yields an infinity or a 0, it may be NaN"


def compared_as(fmt: Format) -> Format:
    """Return the format in which outputs of a format are compared: integers modulo a power of two."""
    return bits(fmt.bits) if isinstance(fmt, IntegerFormat) else fmt


def compare(
    forms: NormalForms, actual: Ids, expected: Ids, fmt: Format, *, patient: bool = True
) -> Comparison:
    """Compare terms (n,) with the terms expected, both read in a format.

    Integers are equal as bits where their polynomials are equal modulo ``2**fmt.bits`` and no float is
    rounded on the way; what is not the identical term can otherwise only be equal over the reals, where no
    operation rounds or overflows. What is found equal is evaluated again by the checker, on its own.

    Raises
    ------
    ObjectionError
        If the checker finds numbers on which terms that are shown to be equal are not: a defect.
    ExpansionError
        If not patient, as soon as there is a sum of too many products, though another way may do.
    """
    identical: NDArray[np.bool_] = actual == expected
    forms.quantifier.is_patient = patient
    try:
        found = _of_merges(forms, actual, expected, fmt, identical)
        if found is None or not found.equal.all():
            plain = _compared(forms, actual, expected, fmt, identical)
            if not plain.equal.all():
                plain = _rewritten(forms, actual, expected, fmt, plain)
            if not plain.equal.all():
                plain = _of_choices(forms, actual, expected, fmt, plain)
            if found is None or plain.equal.sum() >= found.equal.sum():
                found = plain
    finally:
        forms.quantifier.is_patient = True
    actual, expected = found.evaluated or (actual, expected)
    both = _are_nans(forms.store, actual, fmt) & _are_nans(forms.store, expected, fmt)
    members = np.flatnonzero(found.equal & ~both)
    read = compared_as(fmt)
    try:
        again = checked(forms.store, actual[members], expected[members], read, taken(forms))
    except ObjectionError as objection:
        objection.member = int(members[objection.member])
        raise
    return replace(found, equal=found.equal | both, checked=again)


def _of_merges(
    forms: NormalForms, actual: Ids, expected: Ids, fmt: Format, identical: NDArray[np.bool_]
) -> Comparison | None:
    """Return what is found of terms with products in the place of choices in proportion; None without any.

    They are equal over the reals, but round otherwise: of roundings and special values those of the terms
    themselves are told.
    """
    store = forms.store
    if not isinstance(fmt, FloatFormat) or not ProportionalChoices.may_apply(store):
        return None
    resolved = decided(forms, actual, expected, fmt)
    terms = (actual, expected) if resolved is None else (resolved.actual, resolved.expected)
    merges = ProportionalChoices(store)
    made = [merges.values(forms.software.replaced(each)) for each in terms]
    if not merges.count:
        return None
    return _compared(forms, made[0], made[1], fmt, identical, computed=(actual, expected))


def _rewritten(forms: NormalForms, actual: Ids, expected: Ids, fmt: Format, found: Comparison) -> Comparison:
    """Return what is found of terms (n,) that are not all shown equal, or of others equal to them."""
    terms, of_nans, identical = (actual, expected), True, found.identical
    evaluated: tuple[Ids, Ids] | None = None
    for rewrite in (decided, truncated, halves_away, whole):
        if (rewritten := rewrite(forms, *terms, fmt)) is None:
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


def _of_choices(forms: NormalForms, actual: Ids, expected: Ids, fmt: Format, found: Comparison) -> Comparison:
    """Return what is found of terms (n,) with choices multiplied out, if more are equal.

    They are equal over the reals, but round otherwise, as `_of_merges`.
    """
    if not any(each.name == operations.SELECT for each in forms.store.operations):
        return found
    masks, left = LiftedMasks(forms), np.flatnonzero(~found.equal)
    made = [masks.values(forms.software.replaced(each)) for each in (actual, expected)]
    differing = partial(_multiplied_out, left)
    again = _compared(
        forms, made[0], made[1], fmt, found.identical, computed=(actual, expected), differing=differing
    )
    return again if again.equal.sum() > found.equal.sum() else found


def _multiplied_out(
    left: Indices, forms: NormalForms, actual: Ids, expected: Ids, members: Indices, fmt: Format
) -> tuple[Indices, str | None]:
    """Return which terms of those that are left are not shown equal by products with truths."""
    choices, members = ChoiceForms(forms), np.intersect1d(members, left)
    try:
        members = without_instances(choices, actual, expected, members, fmt)
        for some in (members[:_FIRST], members[_FIRST:]):
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


def _are_nans(store: TermStore, terms: Ids, fmt: Format) -> NDArray[np.bool_]:
    """Tell which terms (n,) are known to be NaNs of a format, whichever these are."""
    found = np.zeros(len(terms), dtype=bool)
    if isinstance(fmt, FloatFormat):
        found |= store.are(CONSTANT, terms) & is_nan(store.constant_values(terms).astype(fmt.storage), fmt)
        found |= store.are_computed_nans(terms, fmt)
    return found


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
    read, tell = compared_as(fmt), differing or _differing
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
        if _have_poles(forms, np.concatenate([each[equal & ~identical] for each in (actual, expected)])):
            equal, reason = identical.copy(), _POLE
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
        unknown, alone = _overflows(forms, actual[rounded], expected[rounded])
        undergone = replace(undergone, unbounded=tuple(sorted(map(str, unknown))))
        sides = [forms.overflows.within(terms[rounded], alone) for terms in (actual, expected)]
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


def _have_poles(forms: NormalForms, terms: Ids) -> bool:
    """Tell whether there is, for all inputs, no number that some of the terms (n,) are."""
    if not (forms.poles and len(terms)):
        return False
    poles = np.array(sorted(forms.poles), dtype=np.int32)
    return bool((forms.overflows.within(terms, poles) != NONE).any())


def _overflows(forms: NormalForms, actual: Ids, expected: Ids) -> tuple[set[FloatFormat], Ids]:
    """Return the formats to which roundings may overflow, and the roundings that one side alone does.

    The two sides are equal over the reals. What both round to the same format fails in both.
    """
    kernel, contract = (forms.overflows.of(terms) for terms in (actual, expected))
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


def _rounded_quantities(forms: NormalForms, terms: Ids) -> NDArray[np.int64]:
    """Return numbers (n,) that are equal for roundings of equal quantities to formats of one range."""
    found = np.empty(len(terms), dtype=np.int64)
    for operation, members in by_operation(forms.store, terms):
        fmt = operation.result
        assert isinstance(fmt, FloatFormat)
        numbers = forms.identifiers(members, fmt).astype(np.int64)
        found[np.isin(terms, members)] = (numbers << np.int64(16)) | fmt.bits << 8 | fmt.exponent_bits
    return found


_FIRST, _AT_A_TIME = 8, 512
"""Members that are compared thoroughly at first, and at a time."""

_SAMPLE = 8
"""Members of which one at least must be an instance of another, for all to be compared with that."""

_FEW = 4
"""Part of the members that are done with in one round, below which the others are compared all together."""


def _differing(
    forms: NormalForms, actual: Ids, expected: Ids, members: Indices, fmt: Format
) -> tuple[Indices, str | None]:
    """Return which terms are not shown equal, and if it is so, that too many products would decide it.

    Where only a thorough comparison can tell, it ends with the first members that differ: all that are
    left then count as not shown.
    """
    plain = ~(forms.are_slow(actual[members]) | forms.are_slow(expected[members]))
    slow, members = members[~plain], members[plain]
    members = without_instances(forms, actual, expected, members, fmt)
    found = forms.difference(actual[members], expected[members], fmt)
    doubtful = members[np.unique(found.owners)]
    if len(forms.certain(found)):
        return np.union1d(doubtful, slow), None
    differing, reason = _thoroughly(forms, actual, expected, doubtful, fmt)
    if len(differing):
        return np.union1d(differing, slow), reason
    return _by_shape(forms, actual, expected, slow, fmt)


def _by_shape(
    forms: NormalForms, actual: Ids, expected: Ids, members: Indices, fmt: Format
) -> tuple[Indices, str | None]:
    """Return which terms are not shown equal, as `_differing`, of each shape looking at one.

    What is not an instance of that is looked at again, all together if few are: there would be many rounds.
    """
    instances = TermInstances(forms.store)
    pairs = np.stack([actual, expected], axis=1)
    shapes = instances.shapes(pairs[members].reshape(-1)).reshape(-1, 2)
    classes = np.unique(shapes, axis=0, return_inverse=True)[1].reshape(-1)
    while len(members):
        _, first = np.unique(classes, return_index=True)
        first = np.sort(first)[:_AT_A_TIME]
        differing, reason = _thoroughly(forms, actual, expected, members[first], fmt)
        left = np.ones(len(members), dtype=bool)
        left[first] = np.isin(members[first], differing)
        for one in first[~left[first]]:
            others = np.flatnonzero(left & (classes == classes[one]))
            some = others[:: len(others) // _SAMPLE + 1]
            for tried in (some, others):
                same = instances.of(pairs[members[one]], pairs[members[tried]])
                left[tried[same]] = False
                if not same.any():
                    break
        few = _FEW * left.sum() > (_FEW - 1) * len(members)
        members, classes = members[left], classes[left]
        if len(differing):
            return members, reason
        if few:
            return _thoroughly(forms, actual, expected, members, fmt)
    return members, None


def _thoroughly(
    forms: NormalForms, actual: Ids, expected: Ids, members: Indices, fmt: Format
) -> tuple[Indices, str | None]:
    """Return which terms are not shown equal, with as many sums expanded as needed."""
    differing, reason = _at_once(forms, actual, expected, members, fmt)
    if not len(differing):
        return differing, reason
    at_once = partial(_unequal_at_once, forms)
    signs = SignCases(forms, at_once)
    ways = (ArgExtrema(forms), signs, OrderCases(forms, at_once)) if forms.splits_orders else (signs,)
    for cases in ways:
        differing = differing[cases.unequal(actual[differing], expected[differing], fmt)]
    return differing, reason if len(differing) else None


def _is_first_unequal(forms: NormalForms, actual: Ids, expected: Ids, fmt: Format) -> bool:
    """Tell whether multiplying out does not show the first of several terms, nor then the others."""
    if len(actual) < 2:
        return False
    with suppress(OutweighedMaskError, ExpansionError):
        return bool(len(forms.unequal(actual[:1], expected[:1], fmt)))
    return False


def _unequal_at_once(
    forms: NormalForms, actual: Ids, expected: Ids, fmt: Format, *, shares: bool = True
) -> Indices:
    """Return which terms (n,) are not shown equal, or not to be numbers for any inputs."""
    differing = _at_once(forms, actual, expected, np.arange(len(actual)), fmt, shares=shares)[0]
    return np.arange(len(actual)) if _have_poles(forms, np.concatenate([actual, expected])) else differing


def _at_once(
    forms: NormalForms,
    actual: Ids,
    expected: Ids,
    members: Indices,
    fmt: Format,
    *,
    shares: bool = True,
) -> tuple[Indices, str | None]:
    """Return what `_thoroughly` does where nothing is supposed of what terms choose by."""
    left = members
    ways = [forms.unequal, forms.outer.unequal, forms.unequal_unmasked]
    if shares:
        shared = SharedSubterms(forms, partial(_unequal_at_once, forms, shares=False)).unequal
        ways.insert(0 if _is_first_unequal(forms, actual[left], expected[left], fmt) else 1, shared)
    for unequal in ways:
        with suppress(OutweighedMaskError):
            try:
                left = left[unequal(actual[left], expected[left], fmt)]
            except ExpansionError:
                if not forms.quantifier.is_patient:
                    raise
                break  # the others expand more sums
    start = 0
    while start < len(left):
        some = left[start : start + (_AT_A_TIME if start else _FIRST)]
        try:
            wrong = some[forms.thorough.unequal(actual[some], expected[some], fmt)]
        except ExpansionError as error:
            if not forms.quantifier.is_patient:
                raise
            return left[start:], str(error)
        start += len(some)
        if len(wrong):
            return np.concatenate([wrong, left[start:]]), None
    return left[:0], None
