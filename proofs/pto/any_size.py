"""What biases and accumulators add to products of any size, from theorems about blocks."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ..obligation import Case, Deduction, Equality, Method, theorem
from .blocked import SEEDED_ONLY, any_trip_count, any_trip_count_reals, tiles
from .operands import is_integer, typed
from .products import SOURCE, bias


@theorem(
    "pto/product/any-size",
    "for every M, N and K a bias is an accumulator of equal rows, and an accumulator is added to the product",
    "D(bias)[i, j] = D(acc with C[i, j] = bias[0, j])[i, j]: modulo 2^32, f32 bit for bit in the order of K; "
    "D(acc) = C + D(plain) over the reals",
    SOURCE,
)
def any_size() -> Iterator[Case]:
    """Yield a deduction for the bias and one for the accumulator, for each types."""
    for name, formats in typed().items():
        plain, accumulating, biased = (f"{name}/tmatmul{suffix}" for suffix in ("", ".acc", ".bias"))
        of_elements = [f"{tiles.id}/{form}" for form in (accumulating, biased)]
        chains = [f"{any_trip_count.id}/{form}" for form in (accumulating, biased)]
        yield Case(
            f"bias/{name}",
            partial(Deduction, (f"{bias.id}/{name}/seeded", *chains, *of_elements)),
            method=Method.DEDUCTION,
            choices="all" if is_integer(formats) else SEEDED_ONLY,
            statement="an element is a function of its row, its column and its start (tiles), and of these "
            "the chain over K (any-trip-count), from bias[0, j] or from C[i, j]: the same where these are",
        )
        totals = [f"{any_trip_count_reals.id}/{form}" for form in (plain, accumulating)]
        yield Case(
            f"accumulator/{name}",
            partial(Deduction, (*totals, *(f"{tiles.id}/{form}" for form in (plain, accumulating)))),
            equality=Equality.VALUE,
            method=Method.DEDUCTION,
            statement="an element is a function of its row, its column and its start (tiles), and of these "
            "start + Σ over K (any-trip-count-reals): start = 0, or C[i, j]",
        )


THEOREMS = (any_size,)
