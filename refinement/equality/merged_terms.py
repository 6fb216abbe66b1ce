"""Both sides of a comparison without choices that are products or statistics of an order in disguise."""

from __future__ import annotations

from typing import NamedTuple

from ...spec.formats import FloatFormat, Format
from ..normal_forms.forms import NormalForms
from ..normal_forms.functions.library_functions import exact
from ..terms.interning import Ids
from .order_statistics import OrderStatistics
from .proportional_choices import ProportionalChoices


class Merged(NamedTuple):
    """Both sides without choices in proportion and orders of statistics, and how many of these there were."""

    actual: Ids
    expected: Ids
    merges: int


def merged_terms(forms: NormalForms, actual: Ids, expected: Ids, fmt: Format) -> Merged:
    """Return terms (n,) with products for choices in proportion, and functions for what writes them out.

    Statistics of the order of the same numbers are the same terms.
    """
    made, count = [actual, expected], 0
    if isinstance(fmt, FloatFormat) and ProportionalChoices.may_apply(forms.store):
        merges = ProportionalChoices(forms.store)
        made = [merges.values(forms.software.replaced(terms, exact)) for terms in made]
        count = merges.count
    if isinstance(fmt, FloatFormat) and OrderStatistics.may_apply(forms.store):
        statistics = OrderStatistics(forms)
        made = [statistics.values(terms) for terms in made]
        count += statistics.count
    return Merged(made[0], made[1], count)
