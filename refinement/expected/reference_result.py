"""Formulas of a contract evaluated by plain numpy on concrete inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from math import prod
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...spec.errors import InputError
from ...spec.float_encoding import decode, encode
from ...spec.formats import F64, S64, FloatFormat, Format, IntegerFormat
from ...spec.rounding import Rounding
from ..analysis.intervals import Interval
from ..contract.arguments import Array, Scalar
from ..contract.contract import Instance
from ..formula.tree import (
    LOGICAL,
    Binary,
    Cast,
    Choice,
    Element,
    Extremum,
    Function,
    Infinite,
    Inverse,
    Lookup,
    Name,
    Negative,
    Node,
    Number,
    ReducedExtremum,
    ReducedProduct,
    Sum,
    factors,
    walk,
)
from ..terms.evaluation import error_function
from .formula_space import FormulaSpace, Scope, Truths
from .integer_ranges import range_of

Values = NDArray[Any]
"""Numbers over a formula's space: float64, or int64, or Python's integers where int64 is too narrow."""

_RELATIONS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal,
        "==": np.equal, "!=": np.not_equal,
    }
)  # fmt: skip

_FUNCTIONS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        "exp2": np.exp2, "log2": np.log2, "rcp": lambda x: 1 / x, "sqrt": np.sqrt,
        "rsqrt": lambda x: 1 / np.sqrt(x), "sin": np.sin, "cos": np.cos, "tanh": np.tanh,
        "erf": error_function,
        "rint": np.rint, "trunc": np.trunc, "floor": np.floor, "ceil": np.ceil,
        "fma": lambda x, y, z: x * y + z,
    }
)  # fmt: skip


def reference(instance: Instance, arrays: Mapping[str, NDArray[Any]]) -> dict[str, Values]:
    """Return what a kernel's outputs are to be.

    Parameters
    ----------
    instance : Instance
        A contract at one set of sizes.
    arrays : mapping of str to array
        Encodings of every array that is read, ``inout`` ones before the kernel, by linear index or in their
        shape; and, with one element, of every scalar without a value.

    Returns
    -------
    dict of str to array (shape)
        Integers of the output's format; or real numbers in float64, exact but for its own roundings and
        the casts in the formula (the output's own format is not applied). What the formula does not cover
        is what was there, 0 where that is not known.

    Raises
    ------
    InputError
        If an array is missing, or an index leaves one.
    """
    with np.errstate(all="ignore"):
        return {output.name: _Reference(instance, output, arrays).result() for output in instance.outputs}


def formula_values(instance: Instance, arrays: Mapping[str, NDArray[Any]]) -> dict[str, Values]:
    """Return what outputs are to be, by linear index, as their formats hold it; see `reference`."""
    found = reference(instance, arrays)
    return {output.name: stored(found[output.name], output.format).reshape(-1) for output in instance.outputs}


def stored(values: Values, fmt: Format) -> Values:
    """Return the results of a formula as an output of a format holds them."""
    if not isinstance(fmt, FloatFormat):
        return values
    with np.errstate(all="ignore"):
        return _rounded(values, fmt)


def magnitudes(instance: Instance, arrays: Mapping[str, NDArray[Any]]) -> dict[str, Values]:
    """Return the sums of the magnitudes of what is added up in a kernel's outputs; see `reference`.

    They are NaN where there is no such sum: in functions, and in integers made of real numbers.
    """
    with np.errstate(all="ignore"):
        return {output.name: _Magnitudes(instance, output, arrays).result() for output in instance.outputs}


class _Reference:
    def __init__(self, instance: Instance, output: Array, arrays: Mapping[str, NDArray[Any]]) -> None:
        self.instance = instance
        self.output = output
        self.arrays = arrays
        self.formula = instance.contract.formula(output.name)
        self.space = FormulaSpace(instance, self.formula)
        self.kinds = self.space.kinds
        self.working = self.kinds.working_format(self.formula)

    def result(self) -> Values:
        """Return the output."""
        scope, fmt = self.space.scope, self.output.format
        if isinstance(fmt, IntegerFormat):
            found = _wrapped(self._integer(self.formula.body, scope), fmt)
        else:
            found = self._real(self.formula.body, scope)
        known = self.output.name in self.arrays
        whole = self._contents(self.output) if known else np.zeros(self.output.elements)
        whole = whole.astype(found.dtype)
        linear, holds = self.space.target
        whole[linear[holds]] = self.space.over_output(found)[holds]
        return whole.reshape(self.output.shape)

    # -- leaves
    def _contents(self, parameter: Array | Scalar) -> Values:
        """Return the numbers of an array by linear index, or of a scalar."""
        if isinstance(parameter, Array) and parameter.contents is not None:
            bits: NDArray[Any] = parameter.contents
        elif isinstance(parameter, Scalar) and parameter.value is not None:
            bits = np.array([parameter.value])
        elif parameter.name in self.arrays:
            bits = np.asarray(self.arrays[parameter.name]).reshape(-1)
        else:
            raise InputError(f"no values for {parameter.name}")
        return _numbers(bits, parameter.format)

    def _leaf(self, node: Element | Name, scope: Scope) -> Values:
        if isinstance(node, Name):
            return self._contents(self.instance.scalars[node.name]).reshape((1,) * self.space.rank)
        places = self.space.linear(node, scope, lambda index: self._integer(index, scope).astype(np.int64))
        return self._contents(self.instance.arrays[node.array])[places]

    def _value(self, node: Node, scope: Scope) -> Values:
        return self._real(node, scope) if self.kinds.is_real(node) else self._integer(node, scope)

    def _branch(self, node: Choice, scope: Scope, *, real: bool) -> Values:
        condition = self._truths(node.condition, scope)
        evaluate = self._real if real else self._integer
        then = evaluate(node.then, scope.restricted(condition))
        return np.where(condition, then, evaluate(node.otherwise, scope.restricted(~condition)))

    def _truths(self, node: Node, scope: Scope) -> Truths:
        """Return where a condition holds, by indices or by data."""
        if self.kinds.is_concrete(node):
            return self.space.truths(node, scope)
        if isinstance(node, Inverse):
            return ~self._truths(node.operand, scope)
        assert isinstance(node, Binary)
        if node.operator not in LOGICAL:
            left, right = (self._value(operand, scope) for operand in node.operands)
            return np.asarray(_RELATIONS[node.operator](left, right), dtype=bool)
        left = self._truths(node.left, scope)
        if node.operator == "and":
            return left & self._truths(node.right, scope.restricted(left))
        return left | self._truths(node.right, scope.restricted(~left))

    # -- integers
    def _integer(self, node: Node, scope: Scope) -> Values:
        if self.kinds.is_concrete(node):
            return self.space.numbers(node, scope)
        match node:
            case Element() | Name():
                return self._leaf(node, scope)
            case Choice():
                return self._branch(node, scope, real=False)
            case Extremum():
                choose = np.maximum if node.which == "max" else np.minimum
                left, right = (self._integer(operand, scope) for operand in node.operands)
                return np.asarray(choose(*_exactly(self._fits(node, scope), left, right)))
            case Cast():
                assert isinstance(node.format, IntegerFormat)
                if self.kinds.is_real(node.operand):
                    return _clamped(self._real(node.operand, scope), node.format, nearest=node.nearest)
                return _wrapped(self._integer(node.operand, scope), node.format)
            case ReducedExtremum():
                inside, axes = self.space.summed(node, scope)
                return _extreme(node.which, self._integer(node.body, inside), axes)
            case Sum():
                inside, axes = self.space.summed(node, scope)
                given = [self._integer(factor, inside) for factor in factors(node.body)]
                return _summed(_exactly(self._fits(node, scope), *given), axes)
        given = _exactly(
            self._fits(node, scope), *(self._integer(operand, scope) for operand in node.operands)
        )
        return _arithmetic(node, given)

    def _fits(self, node: Node, scope: Scope) -> bool:
        return bool(range_of(self.space, node, scope).within(S64))

    # -- real numbers
    def _real(self, node: Node, scope: Scope) -> Values:
        if isinstance(node, Number):
            return self._literal(np.full((1,) * self.space.rank, float(node.value)))
        if not self.kinds.is_real(node):
            return self._integer(node, scope).astype(np.float64)
        found = self._computed(node, scope)
        return self._literal(found) if isinstance(node, Binary) and self._is_known(node) else found

    def _is_known(self, node: Node) -> bool:
        """Tell whether a number is no data: compilers fold it as it would be computed, each step rounded."""
        elements = (each for each in walk(node) if isinstance(each, Element))
        scalars = (self.instance.scalars.get(each.name) for each in walk(node) if isinstance(each, Name))
        return all(self.instance.arrays[element.array].contents is not None for element in elements) and all(
            scalar is None or scalar.value is not None for scalar in scalars
        )

    def _computed(self, node: Node, scope: Scope) -> Values:
        match node:
            case Infinite():
                return np.full((1,) * self.space.rank, np.inf)
            case Element() | Name():
                return self._leaf(node, scope)
            case Choice():
                return self._branch(node, scope, real=True)
            case Extremum():
                choose = np.fmax if node.which == "max" else np.fmin
                return np.asarray(choose(*(self._real(operand, scope) for operand in node.operands)))
            case Cast():
                assert isinstance(node.format, FloatFormat)
                return _rounded(self._value(node.operand, scope).astype(np.float64), node.format)
            case Lookup() | Function():
                return self._applied(node, scope)
            case Sum():
                inside, axes = self.space.summed(node, scope)
                return _summed([self._real(factor, inside) for factor in factors(node.body)], axes)
            case ReducedProduct():
                inside, axes = self.space.summed(node, scope)
                return _multiplied(self._real(node.body, inside), axes)
            case ReducedExtremum():
                inside, axes = self.space.summed(node, scope)
                return _extreme(node.which, self._real(node.body, inside), axes)
            case Binary(operator="/") if self.kinds.is_divisor(node.right):
                return self._real(node.left, scope) * self._literal(self._inverse(node.right, scope))
            case Binary(operator="/"):
                return self._real(node.left, scope) / self._real(node.right, scope)
        return _arithmetic(node, [self._real(operand, scope) for operand in node.operands])

    def _applied(self, node: Lookup | Function, scope: Scope) -> Values:
        if isinstance(node, Lookup):
            entries = self._integer(node.entry, scope).astype(np.intp)
            table = [self._real(each, scope) for each in node.table]
            held = np.stack(np.broadcast_arrays(entries, *table)[1:])
            places = np.broadcast_to(entries, held.shape[1:])[None]
            return np.asarray(np.take_along_axis(held, places, axis=0)[0])
        return np.asarray(
            _FUNCTIONS[node.name](*(self._real(argument, scope) for argument in node.arguments))
        )

    def _literal(self, numbers: Values) -> Values:
        return _rounded(numbers, self.working)

    def _inverse(self, node: Node, scope: Scope) -> Values:
        return 1 / self.space.divisors(node, scope).astype(np.float64)


class _Magnitudes(_Reference):
    """Evaluates a formula over the reals with the magnitude of every number, and sums for differences."""

    def result(self) -> Values:
        if isinstance(self.output.format, IntegerFormat):
            return np.zeros(self.output.shape)
        return super().result()

    def _contents(self, parameter: Array | Scalar) -> Values:
        return np.abs(super()._contents(parameter))

    def _literal(self, numbers: Values) -> Values:
        return np.abs(super()._literal(numbers))

    def _truths(self, node: Node, scope: Scope) -> Truths:
        return _Reference(self.instance, self.output, self.arrays)._truths(node, scope)

    def _real(self, node: Node, scope: Scope) -> Values:
        match node:
            case Lookup():
                return np.asarray(reduce(np.maximum, (self._real(each, scope) for each in node.table)))
            case Function() if node.name != "fma":
                return np.full((1,) * self.space.rank, np.nan)
            case Cast(format=FloatFormat()) if node.format.bits > 8:
                return self._real(node.operand, scope)
            case Binary(operator="/") if not self.kinds.is_divisor(node.right):
                return np.full((1,) * self.space.rank, np.nan)
            case Negative():
                return self._real(node.operand, scope)
            case Binary(operator="-"):
                return self._real(node.left, scope) + self._real(node.right, scope)
        if not self.kinds.is_real(node) and not isinstance(node, Number | Element | Name):
            return np.full((1,) * self.space.rank, np.nan)
        return super()._real(node, scope)


def _numbers(bits: NDArray[Any], fmt: Format) -> Values:
    """Return what encodings stand for."""
    words = bits.astype(np.uint64)
    if isinstance(fmt, FloatFormat):
        return decode(words.astype(fmt.storage), fmt)
    assert isinstance(fmt, IntegerFormat)
    return _wrapped(words.astype(object) if fmt.bits > 32 else words.astype(np.int64), fmt)


def _exactly(fits: bool, *arrays: Values) -> list[Values]:
    """Return integers as int64 where that is wide enough, else as Python's."""
    plain = fits and all(array.dtype == np.int64 for array in arrays)
    return [array if plain else array.astype(object) for array in arrays]


_ARITHMETIC: Mapping[str, Callable[[Any, Any], Any]] = MappingProxyType(
    {
        "+": np.add, "-": np.subtract, "*": np.multiply, "//": np.floor_divide, "%": np.mod,
        "<<": np.left_shift, ">>": np.right_shift, "&": np.bitwise_and,
    }
)  # fmt: skip


def _arithmetic(node: Node, given: Sequence[Values]) -> Values:
    if isinstance(node, Negative):
        return np.asarray(-given[0])
    assert isinstance(node, Binary)
    left, right = given
    return np.asarray(_ARITHMETIC[node.operator](left, right))


def _wrapped(values: Values, fmt: IntegerFormat) -> Values:
    """Return integers modulo the range of a format."""
    if values.dtype == np.int64 and fmt.bits <= 32:
        low = values & ((1 << fmt.bits) - 1)
        return low - ((low > fmt.maximum).astype(np.int64) << fmt.bits)
    found = (values.astype(object) - fmt.minimum) % (1 << fmt.bits) + fmt.minimum
    return found.astype(np.int64) if Interval.of(fmt).within(S64) else found


def _clamped(values: Values, fmt: IntegerFormat, *, nearest: bool) -> Values:
    whole = np.rint(values) if nearest else np.trunc(values)
    kept = np.clip(np.where(np.isnan(whole), 0, whole), fmt.minimum, fmt.maximum)
    exact = np.array([min(int(each), fmt.maximum) for each in kept.reshape(-1)], dtype=object)
    return exact.reshape(kept.shape) if fmt.bits > 63 else exact.reshape(kept.shape).astype(np.int64)


def _rounded(values: Values, fmt: FloatFormat) -> Values:
    """Return real numbers rounded to a format; those of 8 bits and fewer clamp what is beyond them.

    Below the least number of an unsigned format that is this number: 0 of ``ue4m3``, 2^-127 of ``ue8m0``.
    """
    if fmt == F64:
        return values
    if fmt.bits <= 8:
        largest = float(decode(np.array(fmt.largest, dtype=fmt.storage), fmt))
        least = -largest if fmt.signed else float(decode(np.zeros((), dtype=fmt.storage), fmt))
        values = np.clip(values, least, largest)
    return decode(encode(np.asarray(values, dtype=np.float64), fmt, Rounding.NEAREST_EVEN), fmt)


def _extreme(which: str, values: Values, axes: Mapping[int, int]) -> Values:
    """Return the greatest or least over axes; of real numbers, without regard to NaN."""
    choose = {"max": (np.fmax, np.maximum), "min": (np.fmin, np.minimum)}[which][values.dtype != np.float64]
    found = values
    for axis in axes:
        found = choose.reduce(found, axis=axis, keepdims=True)
    return np.asarray(found)


def _multiplied(values: Values, axes: Mapping[int, int]) -> Values:
    """Return the product over axes of an array that broadcasts to them."""
    shape = [axes.get(axis, size) for axis, size in enumerate(values.shape)]
    return np.asarray(np.prod(np.broadcast_to(values, shape), axis=tuple(axes), keepdims=True))


def _summed(given: Sequence[Values], axes: Mapping[int, int]) -> Values:
    """Return the sum over axes of a product of arrays that broadcast."""
    shape = np.broadcast_shapes(*(array.shape for array in given))
    kept = [axis for axis, size in enumerate(shape) if axis not in axes and size > 1]
    operands: list[Any] = []
    for array in given:
        labels = [axis for axis, size in enumerate(array.shape) if size != 1]
        operands += [array.reshape([array.shape[axis] for axis in labels]), labels]
    total = np.einsum(*operands, kept, optimize=True)
    absent = prod(extent for axis, extent in axes.items() if shape[axis] == 1)
    sizes = [1 if axis in axes else size for axis, size in enumerate(shape)]
    return np.asarray(total * absent).reshape(sizes)
