"""Arrays of terms for numpy programs: reference functions run on symbols.

Integers are exact, whatever their size; a float is a real number, rounded where ``astype`` says so. What
such a program decides on must be known: sizes, indices, arrays of plain numbers, never data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...spec.errors import MmaproofError
from ...spec.formats import FORMATS, FloatFormat, Format, IntegerFormat, numpy_type
from ...spec.rounding import Rounding
from ..analysis.intervals import Interval
from ..terms.interning import Ids
from ..terms.store import TermStore
from .term_arithmetic import TermArithmetic, Value


class NotModelledError(MmaproofError):
    """An operation of a numpy program that arrays of terms lack."""


class NumpyFunctions(Protocol):
    """The protocol of numpy's functions on arrays of terms; see `array_functions`."""

    def ufunc(
        self, ufunc: np.ufunc, method: str, arrays: Sequence[TermArray], options: Mapping[str, Any]
    ) -> Any:
        """Return what a universal function gives."""

    def function(
        self, function: Callable[..., Any], arguments: Sequence[Any], options: Mapping[str, Any]
    ) -> Any:
        """Return what another function gives."""


@dataclass(frozen=True)
class TermSpace:
    """The store, and settings, in which a program makes terms.

    Attributes
    ----------
    store : TermStore
        The store.
    working : FloatFormat
        What real numbers are computed in.
    numpy : NumpyFunctions
        What numpy's functions are.
    """

    store: TermStore
    working: FloatFormat
    numpy: NumpyFunctions

    def arithmetic(self, rank: int) -> TermArithmetic:
        """Return arithmetic on arrays of a rank."""
        return TermArithmetic(self.store, rank, self.working)

    def array(self, numbers: Any) -> TermArray:
        """Return an array of terms as it is, or of plain numbers as constants.

        Raises
        ------
        NotModelledError
            If they are no integers or floats.
        """
        if isinstance(numbers, TermArray):
            return numbers
        plain = np.asarray(numbers)
        make = self.arithmetic(plain.ndim)
        if plain.dtype.kind in "iub":
            low, high = (int(plain.min()), int(plain.max())) if plain.size else (0, 0)
            fmt = Interval(low, high).narrowest()
            terms = make.integers(plain.astype(np.int64), fmt.bits).reshape(plain.shape)
            return TermArray(self, Value(terms, fmt), Interval(low, high))
        if plain.dtype.kind in "fV":
            return TermArray(
                self, Value(make.reals(plain.astype(np.float64)).terms.reshape(plain.shape), self.working)
            )
        raise NotModelledError(f"numbers of {plain.dtype}")


class TermArray(np.lib.mixins.NDArrayOperatorsMixin):
    """An array of terms; numpy's operators and the functions of `array_functions` work on it.

    Parameters
    ----------
    space : TermSpace
        Where its terms are.
    value : Value
        Terms of any shape, and how they are read.
    within : Interval, optional
        What integers it may hold; by default, all of the format.
    """

    __array_priority__ = 1000

    def __init__(self, space: TermSpace, value: Value, within: Interval | None = None) -> None:
        self.space, self.value = space, value
        fmt = value.format
        self.within = within or (Interval.of(fmt) if isinstance(fmt, IntegerFormat) else None)

    # -- what numpy programs ask an array
    @property
    def shape(self) -> tuple[int, ...]:
        """Extents."""
        return self.value.terms.shape

    @property
    def ndim(self) -> int:
        """How many axes there are."""
        return self.value.terms.ndim

    @property
    def size(self) -> int:
        """How many elements there are."""
        return self.value.terms.size

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type that numpy has for the format."""
        return numpy_type(self.value.format)

    @property
    def T(self) -> TermArray:  # noqa: N802 - numpy's name
        """The array with its axes reversed."""
        return self.transpose()

    @property
    def is_real(self) -> bool:
        """Whether it holds real numbers, not integers."""
        return isinstance(self.value.format, FloatFormat)

    def __len__(self) -> int:
        return len(self.value.terms)

    def __bool__(self) -> bool:
        raise NotModelledError("a branch on data (np.where chooses by data)")

    def __getitem__(self, key: Any) -> TermArray:
        return self.moved(self.value.terms[key])

    def __setitem__(self, key: Any, value: Any) -> None:
        given = self.lifted(value).cast(self.value.format)
        terms = self.value.terms.copy()
        terms[key] = given.value.terms
        self.value = Value(terms, self.value.format)
        if self.within is not None and given.within is not None:
            self.within = self.within.union(given.within)

    def moved(self, terms: Ids) -> TermArray:
        """Return other terms of the same kind."""
        return TermArray(self.space, Value(np.asarray(terms), self.value.format), self.within)

    def reshape(self, *shape: Any) -> TermArray:
        """See `numpy.ndarray.reshape`."""
        return self.moved(self.value.terms.reshape(*shape))

    def transpose(self, *axes: Any) -> TermArray:
        """See `numpy.ndarray.transpose`."""
        return self.moved(self.value.terms.transpose(*axes))

    def copy(self) -> TermArray:
        """See `numpy.ndarray.copy`."""
        return self.moved(self.value.terms.copy())

    def ravel(self) -> TermArray:
        """See `numpy.ndarray.ravel`."""
        return self.moved(self.value.terms.ravel())

    flatten = ravel

    def sum(self, axis: Any = None, **options: Any) -> TermArray:
        """See `numpy.ndarray.sum`."""
        total: TermArray = np.sum(self, axis=axis, **options)
        return total

    def mean(self, axis: Any = None, **options: Any) -> TermArray:
        """See `numpy.ndarray.mean`."""
        mean: TermArray = np.mean(self, axis=axis, **options)
        return mean

    def astype(self, dtype: Any, **_: Any) -> TermArray:
        """Return the numbers in another format: floats are rounded to nearest even, integers wrap.

        A float becomes an integer toward zero, and clamps; a format of 8 bits or fewer clamps.
        """
        return self.cast(format_of(dtype))

    # -- kinds of numbers
    def lifted(self, other: Any) -> TermArray:
        """Return another operand as terms of this space."""
        return self.space.array(other)

    def as_real(self) -> TermArray:
        """Return it as real numbers."""
        if self.is_real:
            return self
        make = self.space.arithmetic(self.ndim)
        return TermArray(self.space, make.from_integers(self.value, self.space.working))

    def cast(self, fmt: Format) -> TermArray:
        """Return it in another format; see `astype`."""
        make = self.space.arithmetic(self.ndim)
        if fmt == self.value.format:
            return self
        if isinstance(fmt, FloatFormat):
            convert = make.rounded if self.is_real else make.from_integers
            return TermArray(self.space, convert(self.value, fmt))
        assert isinstance(fmt, IntegerFormat)
        if self.is_real:
            return TermArray(self.space, make.to_integers(self.value, fmt, Rounding.TOWARD_ZERO))
        inside = self.within if self.within is not None and self.within.within(fmt) else None
        return TermArray(self.space, Value(make.resized(self.value, fmt.bits), fmt), inside)

    def words(self, bits: int) -> Ids:
        """Return integers modulo a power of two."""
        return self.space.arithmetic(self.ndim).resized(self.value, bits)

    # -- numpy's protocols
    def __array__(self, *_: Any, **__: Any) -> NDArray[Any]:
        raise NotModelledError("the program has data where a known number is needed")

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        return self.space.numpy.ufunc(ufunc, method, [self.lifted(each) for each in inputs], options)

    def __array_function__(
        self, function: Callable[..., Any], _: Any, arguments: Sequence[Any], options: Mapping[str, Any]
    ) -> Any:
        return self.space.numpy.function(function, arguments, options)


def format_of(dtype: Any) -> Format:
    """Return the format of numpy's type.

    Raises
    ------
    NotModelledError
        If there is none.
    """
    wanted = np.dtype(dtype)
    for fmt in FORMATS.values():
        if fmt.name not in ("tf32", "ue4m3", "b1") and numpy_type(fmt) == wanted:
            return fmt
    raise NotModelledError(f"numbers of {wanted}")
