"""Arrays of number and exponent terms, on which numpy's functions work as the specification calls them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..spec.algebra import Array
from ..spec.errors import UnsupportedError
from .real_terms import Facts, PowerOfTwo, RealTerm
from .z3_algebra import elementwise


class TermArray(np.ndarray[Any, Any]):
    """An object array of `RealTerm`s, or of exponents (integers and Z3 terms), or of conditions."""

    facts: Facts

    @classmethod
    def of(cls, facts: Facts, elements: Any) -> TermArray:
        """Return elements, an array or one of them, as an array."""
        if not isinstance(elements, np.ndarray):
            only = np.empty((), dtype=object)
            only[()] = elements
            elements = only
        found: TermArray = elements.astype(object).view(cls)
        found.facts = facts
        return found

    def __array_finalize__(self, base: Any) -> None:
        """Keep the facts of the array that this one is made of."""
        if base is not None:
            self.facts = getattr(base, "facts", None)  # type: ignore[assignment]

    def __array_ufunc__(self, ufunc: Any, method: Any, *inputs: Any, **kwargs: Any) -> Any:
        """Apply a function elementwise; what numpy can't do with terms, by its meaning."""
        out = kwargs.pop("out", None)
        plain = [each.view(np.ndarray) if isinstance(each, TermArray) else each for each in inputs]
        if ufunc is np.maximum:
            found: Any = self._largest(method, plain, kwargs)
        elif ufunc is np.frexp:
            above = elementwise(RealTerm.exponent_above, plain[0])
            return plain[0], TermArray.of(self.facts, above)
        elif ufunc is np.ldexp:
            found = elementwise(_power_of_two, *plain)
        elif ufunc is np.equal:
            found = elementwise(_is, *plain)
        else:
            found = getattr(ufunc, method)(*(_objects(each) for each in plain), **kwargs)
        result = TermArray.of(self.facts, found)
        if out is None:
            return result
        out[0][...] = result
        return out[0]

    def _largest(self, method: str, inputs: list[Any], options: Mapping[str, Any]) -> Array:
        def largest(*exponents: Any) -> Any:
            return self.facts.largest(exponents)

        if method == "__call__":
            return elementwise(largest, *inputs)
        if method != "reduce" or options.get("axis") != 0:
            raise UnsupportedError("the largest of terms, but not along the first axis")
        (terms,) = inputs
        found = np.empty(terms.shape[1:], dtype=object)
        for index in np.ndindex(found.shape):
            found[index] = largest(*terms[(slice(None), *index)])
        return found

    def __array_function__(
        self, func: Any, types: Any, args: Iterable[Any], kwargs: Mapping[str, Any]
    ) -> Any:
        """Apply one of numpy's other functions."""
        if func is np.where:
            condition, then, otherwise = (_objects(np.asarray(argument)) for argument in args)
            return TermArray.of(self.facts, elementwise(self.facts.chosen, condition, then, otherwise))
        return super().__array_function__(func, types, args, kwargs)


def _objects(values: Any) -> Any:
    """Return numbers of numpy as Python's."""
    return values.view(np.ndarray).astype(object) if isinstance(values, np.ndarray) else values


def _power_of_two(factor: float, exponent: Any) -> PowerOfTwo:
    if factor != 1:
        raise UnsupportedError("a number times a power of two, made by ldexp")
    return PowerOfTwo(exponent)


def _is(left: Any, right: Any) -> Any:
    number, other = (left, right) if isinstance(left, RealTerm) else (right, left)
    if not isinstance(other, RealTerm):
        other = RealTerm.number(number.facts, other)
    return number.term == other.term
