"""What the verifier says of float classes is what every pair of floats of a format with infinities does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from ...refinement.rules.float_class_tables import CLASSES, PRODUCTS, QUOTIENTS, SUMS, Table
from ...spec.algebra import Operand
from ...spec.float_encoding import decode
from ...spec.formats import E5M2
from ...spec.numpy_algebra import NumpyAlgebra
from ...spec.rounding import Rounding
from ..obligation import Case, Certificate, Equality, Method, Status, theorem

TABLES: Mapping[str, Table] = MappingProxyType({"sums": SUMS, "products": PRODUCTS, "quotients": QUOTIENTS})

_EXACT: Mapping[str, Callable[[Any, Any], Any]] = MappingProxyType(
    {"sums": np.add, "products": np.multiply, "quotients": np.divide}
)
"""On floats of 8 bits in f64 these neither overflow nor underflow, and sums and products are not rounded."""

_EVERY = np.arange(256, dtype=np.uint8)
_POINTS = len(_EVERY) ** 2
_BOTH_SIGNS = frozenset("+-")


def _pairs() -> tuple[Any, Any]:
    one, other = np.meshgrid(_EVERY, _EVERY, indexing="ij")
    return one.reshape(-1), other.reshape(-1)


def _classes(numbers: Any) -> Any:
    """Return the places in `CLASSES` of numbers (n,)."""
    signs = np.sign(np.nan_to_num(numbers)).astype(np.int64) + CLASSES.index("0")
    infinite = np.where(numbers > 0, CLASSES.index("+inf"), CLASSES.index("-inf"))
    signs = np.where(np.isinf(numbers), infinite, signs)
    return np.where(np.isnan(numbers), CLASSES.index("nan"), signs)


def _observed(one: Any, other: Any, results: Any) -> Iterator[tuple[tuple[str, str], frozenset[str]]]:
    """Yield pairs of classes, and the classes of what was made of all pairs of numbers of these."""
    left, right, found = map(_classes, (one, other, results))
    for row, first in enumerate(CLASSES):
        for column, second in enumerate(CLASSES):
            places = np.unique(found[(left == row) & (right == column)])
            yield (first, second), frozenset(CLASSES[each] for each in places)


def _numbers() -> tuple[Any, Any]:
    one, other = _pairs()
    return decode(one, E5M2), decode(other, E5M2)


@np.errstate(all="ignore")
def unlike(name: str, table: Table) -> str | None:
    """Return the first pair of classes of which a table says anything else than all pairs of numbers do."""
    one, other = _numbers()
    for pair, found in _observed(one, other, _EXACT[name](one, other)):
        cancelled = {"0"} if name == "sums" and set(pair) == _BOTH_SIGNS else set()
        if found - cancelled != table[pair]:
            said, seen = (" or ".join(sorted(each)) for each in (table[pair], found))
            return f"{name} of {pair[0]} and {pair[1]}: {seen}, where the table says {said}"
    return None


def _rounded(name: str) -> str | None:
    """Return the first pair of floats whose rounded result is of another class."""
    one, other = _pairs()
    alg = NumpyAlgebra()
    operands = Operand(one, E5M2), Operand(other, E5M2)
    products, addends = ([operands], []) if name == "products" else ([], list(operands))
    found = decode(alg.fused(E5M2, Rounding.NEAREST_EVEN, products, addends), E5M2)
    numbers = decode(one, E5M2), decode(other, E5M2)
    classes = [_classes(each) for each in (*numbers, found)]
    for place in range(len(one)):
        left, right, result = (CLASSES[each[place]] for each in classes)
        if result not in TABLES[name][left, right]:
            return f"{numbers[0][place]:g} and {numbers[1][place]:g} make {found[place]:g}, which is {result}"
    return None


@theorem(
    "engine/domains/float-classes",
    "float classes of sums, products and quotients",
    "the classes of x ∘ y, for all x and y of two classes, are those of the table, and no others",
    "refinement.rules.float_class_tables, which the verifier reads",
)
def float_classes() -> Iterator[Case]:
    """Yield a certificate for each table, and the counterexamples of rounded results."""
    for name, table in TABLES.items():
        yield Case(
            name,
            partial(Certificate, partial(unlike, name, table), _POINTS),
            equality=Equality.VALUE,
            method=Method.CERTIFICATE,
            statement=f"over the extended reals, all pairs of {E5M2}: the classes of {name} are the table's"
            + ("; a sum of both signs that is 0 is excluded" if name == "sums" else ""),
        )
    for name in ("sums", "products"):
        yield Case(
            f"{name}/rounded",
            partial(Certificate, partial(_rounded, name), _POINTS),
            Status.REFUTED,
            Equality.VALUE,
            Method.CERTIFICATE,
            statement=f"the classes of {name} that are rounded to {E5M2} are those of the table "
            "(they overflow, underflow or cancel)",
        )


THEOREMS = (float_classes,)
