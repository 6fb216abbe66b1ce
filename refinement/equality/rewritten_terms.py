"""Terms in forms that are compared more easily: what the kernel and the contract write in different ways.

Each function rewrites both sides, and returns None where nothing changes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...spec.formats import Format
from ..analysis.real_ranges import RealRanges
from ..normal_forms.forms import NormalForms
from ..terms.interning import Ids
from .bounded_words import BoundedWords, packs
from .clamped_conversions import ClampedConversions, converts, saturates
from .decided_comparisons import DecidedComparisons
from .halved_sums import HalvedSums, takes_low_bits
from .halves_away import HalvesAway, rounds
from .narrow_sums import NarrowSums, takes_high_bits
from .sliced_choices import SlicedChoices, slices_choices
from .truncated_floats import TruncatedFloats
from .two_valued_inputs import TwoValuedInputs


class Rewritten(NamedTuple):
    """Terms (n,) that are equal to those that were compared; also for NaNs, or `of_nans` is false."""

    actual: Ids
    expected: Ids
    of_nans: bool


def decided(forms: NormalForms, actual: Ids, expected: Ids, fmt: Format) -> Rewritten | None:
    """Return terms without what ranges or signs decide, and with choices for inputs of two values.

    None if nothing is decided.
    """
    sides = (DecidedComparisons(forms), actual), (DecidedComparisons(forms, exact=True), expected)
    found = [decisions.numbers(decisions.values(terms), fmt) for decisions, terms in sides]
    if forms.store.ends:
        choices = TwoValuedInputs(forms.store)
        found = [choices.values(terms) for terms in found]
    if (found[0] == actual).all() and (found[1] == expected).all():
        return None
    return Rewritten(found[0], found[1], of_nans=False)


def truncated(forms: NormalForms, actual: Ids, expected: Ids, fmt: Format) -> Rewritten | None:
    """Return terms with conversions for floats whose low bits are dropped; None if there are none."""
    floats = TruncatedFloats(forms.store)
    found = floats.converted(actual, fmt), floats.converted(expected, fmt)
    changed = any((new != old).any() for new, old in zip(found, (actual, expected), strict=True))
    return Rewritten(*found, of_nans=False) if changed else None


def halves_away(forms: NormalForms, actual: Ids, expected: Ids, _: Format) -> Rewritten | None:
    """Return terms with roundings whose halves go away from zero in one form; None if there are none."""
    if not any(map(rounds, forms.store.operations)):
        return None
    both = np.stack([actual, expected])
    found = HalvesAway(forms.store).values(both)
    return None if (found == both).all() else Rewritten(found[0], found[1], of_nans=False)


def whole(forms: NormalForms, actual: Ids, expected: Ids, _: Format) -> Rewritten | None:
    """Return terms with conversions to integers, bits of sums and of choices, and packed words in one form.

    None if they are in it.
    """
    store = forms.store
    rewritten = (converts, saturates, takes_low_bits, takes_high_bits, packs)
    if not any(is_one(operation) for operation in store.operations for is_one in rewritten):
        return None
    both = np.stack([actual, expected])
    sliced = SlicedChoices(store).values(both) if slices_choices(store) else both
    converted = ClampedConversions(
        store, RealRanges(store, forms.quantifier.magnitudes, quotients=True)
    ).values(sliced)
    found = converted
    if any(map(packs, store.operations)):
        found = BoundedWords(forms.quantifier.magnitudes).values(found)
    found = HalvedSums(store).values(NarrowSums(store).values(found))
    if (found == both).all():
        return None
    return Rewritten(found[0], found[1], of_nans=bool((converted == sliced).all()))
