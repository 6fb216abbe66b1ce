"""The integers: Python's own, and Z3's as terms; unlike ring elements they are compared and divided."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import z3

from ..spec.algebra import Array
from ..spec.errors import UnsupportedError
from ..spec.formats import Format
from .ring_algebra import RingAlgebra
from .z3_algebra import elementwise


class IntegerAlgebra(RingAlgebra):
    """Python's integers in numpy object arrays; a word is the integer that it stands for."""

    def assemble(self, fields: Array, fmt: Format, positions: Sequence[int], word: Format) -> Array:
        """Return the one field of a word, in which it lies lowest.

        Raises
        ------
        UnsupportedError
            If words of several fields are asked for.
        """
        if tuple(positions) != (0,):
            raise UnsupportedError("an integer has no fields")
        return fields[..., 0]

    def below(self, left: Array, right: Array) -> Array:
        """Return the condition left < right."""
        return np.asarray(elementwise(lambda a, b: a < b, left, right), dtype=bool)


class IntegerTermAlgebra(IntegerAlgebra):
    """Integers as Z3 terms, `IntegerTerm`s; conditions are Z3 Booleans."""

    def where(self, condition: Array, then: Array, otherwise: Array) -> Array:
        """Build if-then-else terms."""
        return elementwise(
            lambda c, a, b: IntegerTerm(z3.If(c, _term(a), _term(b))), condition, then, otherwise
        )

    def same(self, left: Array, right: Array) -> Array:
        """Build equalities."""
        return elementwise(lambda a, b: _term(a) == _term(b), left, right)

    def below(self, left: Array, right: Array) -> Array:
        """Build comparisons."""
        return elementwise(lambda a, b: _term(a) < _term(b), left, right)


class IntegerTerm:
    """An integer term, with the operators of Python's integers; shifts and masks are by numbers.

    Divisors are not negative: for negative ones SMT-LIB rounds quotients otherwise than Python.

    Parameters
    ----------
    term : Z3 term
        Of sort Int.
    opaque : bool
        Whether products, quotients and remainders of two terms that are no numbers are any functions of the
        two: what holds for all functions holds for these.
    """

    __slots__ = ("opaque", "term")

    def __init__(self, term: Any, opaque: bool = False) -> None:
        self.term = term
        self.opaque = opaque

    def _of(self, term: Any) -> IntegerTerm:
        return IntegerTerm(term, self.opaque)

    def __add__(self, other: Any) -> IntegerTerm:
        return self._of(self.term + _term(other))

    __radd__ = __add__

    def __neg__(self) -> IntegerTerm:
        return self._of(-self.term)

    def __sub__(self, other: Any) -> IntegerTerm:
        return self._of(self.term - _term(other))

    def __rsub__(self, other: Any) -> IntegerTerm:
        return self._of(_term(other) - self.term)

    def __mul__(self, other: Any) -> IntegerTerm:
        left, right = sorted((self.term, _term(other)), key=lambda term: term.sexpr())
        return self._of(self._any_of("product", left, right, lambda: left * right))

    __rmul__ = __mul__

    def __floordiv__(self, other: Any) -> IntegerTerm:
        divisor = _term(other)
        return self._of(self._any_of("quotient", self.term, divisor, lambda: self.term / divisor))

    def __mod__(self, other: Any) -> IntegerTerm:
        divisor = _term(other)
        return self._of(self._any_of("remainder", self.term, divisor, lambda: self.term % divisor))

    def _any_of(self, name: str, left: Any, right: Any, exactly: Any) -> Any:
        numbers = z3.is_int_value(right) or (name == "product" and z3.is_int_value(left))
        if numbers or not self.opaque:
            return exactly()
        integer = z3.IntSort()
        return z3.Function(name, integer, integer, integer)(left, right)

    def __lshift__(self, places: int) -> IntegerTerm:
        return self * (1 << places)

    def __rshift__(self, places: int) -> IntegerTerm:
        return self // (1 << places) if places else self

    def __and__(self, mask: int) -> IntegerTerm:
        """Keep the low bits, as many as a mask of ones (or its complement) says, or clear them."""
        low = mask if mask >= 0 else ~mask
        if low & (low + 1):
            raise UnsupportedError(f"the mask {mask:#x} is neither low bits nor all but these")
        rest = self % (low + 1)
        return rest if mask >= 0 else self - rest


def integer_variables(shapes: dict[str, tuple[int, ...]], opaque: bool = False) -> dict[str, Array]:
    """Return arrays of integer constants ``name_i_j``; see `IntegerTerm`."""
    arrays = {}
    for name, shape in shapes.items():
        arrays[name] = np.empty(shape, dtype=object)
        for index in np.ndindex(shape):
            constant = z3.Int("_".join([name, *map(str, index)]))
            arrays[name][index] = IntegerTerm(constant, opaque)
    return arrays


def _term(value: Any) -> Any:
    if isinstance(value, IntegerTerm):
        return value.term
    return value if z3.is_expr(value) else z3.IntVal(int(value))
