"""Evaluation of operations on encodings, and constant folding.

Floating-point arithmetic is the spec's own; what a matrix unit leaves open (its order of accumulation)
is read as fused multiply-adds in increasing k, one of the results that it may give.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...spec.algebra import Operand
from ...spec.errors import UnsupportedError
from ...spec.float_arithmetic import sum_to_odd
from ...spec.float_encoding import decode, default_nan, encode, is_nan
from ...spec.float_quotients import quotient, square_root
from ...spec.formats import F64, FloatFormat, Format, IntegerFormat
from ...spec.matrix_product import block_scaled, chain, rounded
from ...spec.numpy_algebra import NumpyAlgebra
from ...spec.rounding import Rounding
from . import operations
from .interning import Ids
from .operations import Accumulation, Sum
from .store import CONCATENATION, CONSTANT, Operation, TermStore

Words = NDArray[np.uint64]
"""Encodings of up to 64 bits."""

ALGEBRA = NumpyAlgebra()


def apply(store: TermStore, operation: Operation, *arguments: Any) -> Ids:
    """Return the terms of an operation; where all arguments are constants, the constant result.

    Operands that commute are put in one order: the sums of a butterfly are the same term in every lane.
    """
    given: Sequence[Ids] = np.broadcast_arrays(
        *(np.asarray(argument, dtype=np.int32) for argument in arguments)
    )
    if operation.name in (operations.FUSED, operations.RING, operations.EXTREMUM):
        given = _ordered(operation, given)
    if operation.name in (operations.DOT, operations.SCALED_DOT, operations.FUNCTION):
        return store.apply(operation, *given)
    nans = [
        store.are_computed_nans(argument, fmt)
        for argument, fmt in zip(given, operation.operands, strict=True)
    ]
    known = np.logical_and.reduce(
        [store.are(CONSTANT, argument) | nan for argument, nan in zip(given, nans, strict=True)]
    )
    if not known.any():
        return store.apply(operation, *given)
    values = [
        np.where(nan[known], _nan(fmt), store.constant_values(argument[known]))
        for argument, nan, fmt in zip(given, nans, operation.operands, strict=True)
    ]
    constants = with_open_nans(store, evaluate(operation, values), operation.result)
    if known.all():
        return constants.reshape(known.shape)
    result = store.apply(operation, *given)
    result[known] = constants
    return result


def _nan(fmt: Format) -> np.uint64:
    """Return the encoding by which a NaN of unknown bits is computed with; 0 where there is none."""
    return np.uint64(default_nan(fmt) if isinstance(fmt, FloatFormat) else 0)


def with_open_nans(store: TermStore, words: Words, fmt: Format) -> Ids:
    """Return computed numbers (n,) as constants, NaNs as terms of unknown bits where these are open."""
    constants = store.constants(words, fmt.bits)
    if store.open_nans and isinstance(fmt, FloatFormat):
        nans = is_nan(words.astype(fmt.storage), fmt)
        if nans.any():
            constants[nans] = store.computed_nans(int(nans.sum()), fmt)
    return constants


def _ordered(operation: Operation, given: Sequence[Ids]) -> Sequence[Ids]:
    """Return arguments with the factors of a product, and two addends, in increasing order."""
    how = operation.attribute
    products = how.products if isinstance(how, Sum) else 0
    pairs = [(2 * index, 2 * index + 1) for index in range(products)]
    if len(given) - 2 * products == 2:
        pairs.append((2 * products, 2 * products + 1))
    ordered = list(given)
    for first, second in pairs:
        if operation.operands[first] == operation.operands[second]:
            one, other = given[first], given[second]
            ordered[first], ordered[second] = np.minimum(one, other), np.maximum(one, other)
    return ordered


def evaluate(operation: Operation, arguments: Sequence[Words]) -> Words:
    """Return the encodings of an operation's results.

    Parameters
    ----------
    operation : Operation
        Anything but a leaf.
    arguments : sequence of uint64 arrays (…), a vector (…, n)
        Encodings; `scaled_dot` takes its five operands one by one, a concatenation its elements (…, n).

    Raises
    ------
    UnsupportedError
        If the operation has no value that can be computed.
    """
    if operation.name not in _EVALUATIONS:
        raise UnsupportedError(f"{operation} can't be evaluated")
    with np.errstate(all="ignore"):
        value = _EVALUATIONS[operation.name](operation, [np.asarray(a, dtype=np.uint64) for a in arguments])
    return np.asarray(value).astype(np.uint64) & ones(operation.result.bits)


def ones(width: int) -> np.uint64:
    """Return `width` ones."""
    return np.uint64((1 << width) - 1)


def signed_values(words: Words, width: int) -> NDArray[np.int64]:
    """Return two's complement numbers."""
    shift = np.uint64(64 - width)
    return (words << shift).view(np.int64) >> np.int64(64 - width)


def integers(words: Words, fmt: Format) -> NDArray[Any]:
    """Return the integers that encodings stand for, int64 or (unsigned) uint64."""
    assert isinstance(fmt, IntegerFormat)
    return signed_values(words, fmt.bits) if fmt.signed else words


def _operand(words: Words, fmt: Format) -> Operand:
    assert isinstance(fmt, FloatFormat)
    return Operand(words.astype(fmt.storage), fmt)


def _flushed(operand: Operand) -> Operand:
    """Return an operand with zeros of the same sign for subnormals."""
    bits, fmt = operand
    magnitude = (bits >> fmt.padding_bits) & ((1 << fmt.magnitude_bits) - 1)
    subnormal = magnitude < (1 << fmt.fraction_bits)
    return Operand(np.where(subnormal, bits & fmt.storage.type(fmt.sign_mask), bits), fmt)


def _fused(operation: Operation, arguments: Sequence[Words]) -> Any:
    assert isinstance(operation.result, FloatFormat) and isinstance(operation.attribute, Sum)
    how = operation.attribute
    given = [_operand(w, fmt) for w, fmt in zip(arguments, operation.operands, strict=True)]
    if how.flush:
        given = [_flushed(each) for each in given]
    products = [(given[2 * i], given[2 * i + 1]) for i in range(how.products)]
    bits = ALGEBRA.fused(operation.result, how.rounding, products, given[2 * how.products :])
    return _flushed(Operand(bits, operation.result)).bits if how.flush else bits


def _ring(operation: Operation, arguments: Sequence[Words]) -> Words:
    assert isinstance(operation.attribute, Sum)
    products = 2 * operation.attribute.products
    total = np.zeros((), dtype=np.uint64)
    for left, right in zip(arguments[:products:2], arguments[1:products:2], strict=True):
        total = total + left * right
    for addend in arguments[products:]:
        total = total + addend
    return total


def _negate(operation: Operation, arguments: Sequence[Words]) -> Any:
    (words,) = arguments
    if isinstance(operation.result, IntegerFormat):
        return np.uint64(0) - words
    return ALGEBRA.negate(_operand(words, operation.result))


def _extend(operation: Operation, arguments: Sequence[Words]) -> Words:
    return signed_values(arguments[0], operation.operands[0].bits).view(np.uint64)


def _dot(operation: Operation, arguments: Sequence[Words]) -> Any:
    x, y, c = arguments
    left, right, addend = operation.operands
    if not isinstance(operation.result, FloatFormat):
        assert isinstance(operation.attribute, Accumulation) and isinstance(operation.result, IntegerFormat)
        exact = (integers(x, left).astype(np.int64) * integers(y, right).astype(np.int64)).sum(-1)
        exact = exact + integers(c, addend).astype(np.int64)
        encode_integer = ALGEBRA.saturate if operation.attribute.saturate else ALGEBRA.wrap
        return encode_integer(exact, operation.result)
    return _chain(operation.result, _operand(x, left), _operand(y, right), _operand(c, addend))


def _chain(result: FloatFormat, x: Operand, y: Operand, c: Operand) -> Any:
    step = rounded(ALGEBRA)
    return chain(step, result, x, y, step(result, (), [c])).bits


def _scaled_dot(operation: Operation, arguments: Sequence[Words]) -> Any:
    from ...spec.ptx.block_scaling import SCALED

    assert isinstance(operation.result, FloatFormat)
    x, y, c, scale_x, scale_y = (
        _operand(words, fmt) for words, fmt in zip(arguments, operation.operands, strict=True)
    )
    left, right = (
        block_scaled(ALGEBRA, factor, scale, factor.bits.shape[-1] // scale.bits.shape[-1], SCALED)
        for factor, scale in ((x, scale_x), (y, scale_y))
    )
    return _chain(operation.result, left, right, c)


def _convert(operation: Operation, arguments: Sequence[Words]) -> Any:
    (words,), (source,), target = arguments, operation.operands, operation.result
    assert isinstance(operation.attribute, tuple)
    rounding, saturate, flush = operation.attribute
    if isinstance(source, IntegerFormat) and isinstance(target, IntegerFormat):
        return _clamped(integers(words, source), target) if saturate else integers(words, source)
    if isinstance(source, IntegerFormat):
        assert isinstance(target, FloatFormat)
        values = integers(words, source)
        if saturate:  # beyond the largest number, as within half a step of it, clamping gives that number
            most = int(target.exact(target.largest) or 0)
            least = -most if target.signed and source.signed else 0
            values = np.clip(values, max(least, source.minimum), min(most, source.maximum))
        return _from_integers(values, target, rounding)
    operand = _flushed(_operand(words, source)) if flush else _operand(words, source)
    if isinstance(target, IntegerFormat):
        reals = decode(operand.bits, operand.format)
        return np.where(np.isnan(reals), 0, _clamped(FUNCTIONS[WHOLE[rounding]](reals), target))
    assert isinstance(target, FloatFormat)
    bits = (
        _nearest_away(operand, target) if rounding is None else ALGEBRA.fused(target, rounding, (), [operand])
    )
    if saturate:
        reals = decode(operand.bits, operand.format)
        largest = np.array(target.largest << target.padding_bits, target.storage)
        over = np.abs(decode(bits, target)) > np.abs(decode(largest, target))
        over |= (decode(bits, target) != decode(bits, target)) & ~np.isnan(reals)
        sign = np.where(np.signbit(reals), target.sign_mask, 0)
        bits = np.where(over, sign | largest, bits)
        if not target.signed:  # what is below the least number becomes it
            bits = np.where(reals < decode(np.zeros(1, target.storage), target), 0, bits)
    return bits


def _nearest_away(operand: Operand, target: FloatFormat) -> Any:
    """Round to nearest, ties away from zero: a step outwards in float64, finer than any tie, breaks them."""
    assert operand.format.precision < F64.precision
    reals = decode(*operand)
    return encode(np.nextafter(reals, np.copysign(np.inf, reals)), target, Rounding.NEAREST_EVEN)


def _from_integers(values: NDArray[Any], target: FloatFormat, rounding: Rounding) -> Any:
    """Round integers of up to 64 bits once: the sum of their halves, rounded to odd, loses nothing."""
    low = (values & values.dtype.type(0xFFFFFFFF)).astype(np.float64)
    high = (values >> values.dtype.type(32)).astype(np.float64) * 2.0**32
    if target == F64:
        halves = [Operand(half.view(np.uint64), F64) for half in (high, low)]
        return ALGEBRA.fused(target, rounding, (), halves)
    return encode(sum_to_odd(high, low), target, rounding)


WHOLE: MappingProxyType[Rounding, str] = MappingProxyType(
    {
        Rounding.NEAREST_EVEN: "rint",
        Rounding.TOWARD_ZERO: "trunc",
        Rounding.UPWARD: "ceil",
        Rounding.DOWNWARD: "floor",
    }
)
"""The functions that round to integers, by how they do."""


def _clamped(values: NDArray[Any], target: IntegerFormat) -> Any:
    above = values >= target.maximum + 1  # a power of two, which a float has where it lacks the maximum
    below = values < target.minimum
    kept = np.where(above | below, 0, values).astype(np.int64 if target.signed else np.uint64)
    limits = np.where(above, np.uint64(target.maximum), np.int64(target.minimum).view(np.uint64))
    return np.where(above | below, limits, kept.view(np.uint64))


def _compare(operation: Operation, arguments: Sequence[Words]) -> Any:
    left, right = (_numbers(words, fmt) for words, fmt in zip(arguments, operation.operands, strict=True))
    relation = str(operation.attribute)
    unordered = np.zeros(np.broadcast_shapes(left.shape, right.shape), dtype=bool)
    if isinstance(operation.operands[0], FloatFormat):
        unordered = np.isnan(left) | np.isnan(right)
    match relation:
        case "num":
            return ~unordered
        case "nan":
            return unordered
    answer = _RELATIONS[_PLAIN.get(relation, relation)](left, right)
    return answer | unordered if relation in _PLAIN else answer & ~unordered


def order(fmt: Format, left: Words, right: Words) -> NDArray[np.int8]:
    """Return which of two numbers is greater: 1 the left, -1 the right, 0 none, 2 where one is a NaN."""
    first, second = _numbers(left, fmt), _numbers(right, fmt)
    greater = (first > second).astype(np.int8) - (first < second).astype(np.int8)
    if not isinstance(fmt, FloatFormat):
        return greater
    return np.where(np.isnan(first) | np.isnan(second), np.int8(2), greater)


_RELATIONS = MappingProxyType(
    {
        "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
        "ge": np.greater_equal, "lo": np.less, "ls": np.less_equal, "hi": np.greater, "hs": np.greater_equal,
    }
)  # fmt: skip
_PLAIN = MappingProxyType({f"{name}u": name for name in ("eq", "ne", "lt", "le", "gt", "ge")})
"""Relations that also hold where an operand is a NaN."""


def _numbers(words: Words, fmt: Format) -> NDArray[Any]:
    return decode(words.astype(fmt.storage), fmt) if isinstance(fmt, FloatFormat) else integers(words, fmt)


def _select(_: Operation, arguments: Sequence[Words]) -> Any:
    condition, then, otherwise = arguments
    return np.where(condition.astype(bool), then, otherwise)


def _extremum(operation: Operation, arguments: Sequence[Words]) -> Any:
    assert isinstance(operation.attribute, tuple)
    which, propagates, flush = operation.attribute
    fmt = operation.result
    left, right = np.broadcast_arrays(*arguments)
    if isinstance(fmt, FloatFormat):
        if flush:
            left, right = (_flushed(_operand(word, fmt)).bits.astype(np.uint64) for word in (left, right))
        nans = [np.isnan(_numbers(word, fmt)) for word in (left, right)]
        order = [_numbers(word, fmt) for word in (left, right)]
        negative = (left & np.uint64(fmt.sign_mask)) != 0  # -0 is less than +0
        first = np.where(order[0] == order[1], negative, order[0] < order[1])
        least, greatest = np.where(first, left, right), np.where(first, right, left)
        value = greatest if which == "max" else least
        either, both = nans[0] | nans[1], nans[0] & nans[1]
        other = np.where(nans[0], right, left)
        nan = np.uint64(default_nan(fmt))
        return np.where(either, nan if propagates else np.where(both, nan, other), value)
    numbers = [integers(word, fmt) for word in (left, right)]
    smaller = numbers[0] < numbers[1]
    return np.where(smaller == (which == "min"), left, right)


def _bitwise(operation: Operation, arguments: Sequence[Words]) -> Words:
    assert isinstance(operation.attribute, int)
    a, b, c = np.broadcast_arrays(*arguments)
    result = np.zeros(a.shape, dtype=np.uint64)
    for index in range(8):
        if operation.attribute >> index & 1:
            rows = (a if index & 4 else ~a) & (b if index & 2 else ~b) & (c if index & 1 else ~c)
            result |= rows
    return result


def _concatenation(operation: Operation, arguments: Sequence[Words]) -> Words:
    (elements,) = arguments
    assert isinstance(operation.attribute, tuple)
    result, position = np.zeros(elements.shape[:-1], dtype=np.uint64), 0
    for index, (low, width, _, repeats) in enumerate(operation.attribute):
        field = elements[..., index] >> np.uint64(low)
        field = (field & np.uint64(1)) * ones(width) if repeats else field & ones(width)
        result |= field << np.uint64(position)
        position += width
    return result


def _function(operation: Operation, arguments: Sequence[Words]) -> Any:
    name, fmt = str(operation.attribute), operation.result
    if isinstance(fmt, IntegerFormat) and name in ("div", "rem"):
        return _quotient(fmt, *arguments, remainder=name == "rem")
    plain, *modifiers = name.split(".")
    compute = FUNCTIONS.get(plain)
    if compute is None or not isinstance(fmt, FloatFormat):
        raise UnsupportedError(f"{operation} can't be evaluated")
    flush = "ftz" in modifiers
    given = [_operand(words, o) for words, o in zip(arguments, operation.operands, strict=True)]
    reals = [decode(*(_flushed(each) if flush else each)) for each in given]
    directed = next((_DIRECTED[modifier] for modifier in modifiers if modifier in _DIRECTED), None)
    if directed is not None and plain in ("div", "rcp", "sqrt"):
        bits = _directed(plain, reals, fmt, directed)
    else:
        bits = encode(np.asarray(compute(*reals), dtype=np.float64), fmt, Rounding.NEAREST_EVEN)
    return _flushed(Operand(bits, fmt)).bits if flush else bits


_DIRECTED = MappingProxyType({"rz": Rounding.TOWARD_ZERO, "rm": Rounding.DOWNWARD, "rp": Rounding.UPWARD})
"""Roundings of quotients and roots, other than to nearest, by the modifier in a function's name."""


def _directed(name: str, reals: Sequence[NDArray[np.float64]], fmt: FloatFormat, rounding: Rounding) -> Any:
    """Return a quotient, a reciprocal or a root rounded in one direction."""
    shape = np.broadcast_shapes(*(real.shape for real in reals))
    flat = [np.broadcast_to(real, shape).reshape(-1) for real in reals]
    if name == "sqrt":
        return square_root(flat[0], fmt, rounding).reshape(shape)
    dividend, divisor = (np.ones_like(flat[0]), flat[0]) if name == "rcp" else flat
    return quotient(dividend, divisor, fmt, rounding).reshape(shape)


def _quotient(fmt: IntegerFormat, a: Words, b: Words, *, remainder: bool) -> Words:
    """Divide towards zero; by 0, which the documents leave open, as by 1."""
    divisor = np.where(b == 0, np.uint64(1), b)
    if not fmt.signed:
        return a % divisor if remainder else a // divisor
    negative = integers(a, fmt) < 0
    x, y = _magnitude(a, fmt), _magnitude(divisor, fmt)
    if not remainder:
        negative = negative != (integers(divisor, fmt) < 0)
    magnitude = x % y if remainder else x // y
    return np.where(negative, np.uint64(0) - magnitude, magnitude)


def _magnitude(words: Words, fmt: IntegerFormat) -> Words:
    return np.where(integers(words, fmt) < 0, (np.uint64(0) - words) & ones(fmt.bits), words)


def error_function(numbers: Any) -> NDArray[np.float64]:
    """Return erf of numbers."""
    reals = np.asarray(numbers, dtype=np.float64)
    return np.array([math.erf(each) for each in reals.reshape(-1)]).reshape(reals.shape)


FUNCTIONS: MappingProxyType[str, Callable[..., Any]] = MappingProxyType(
    {
        "ex2": np.exp2, "lg2": np.log2, "rcp": lambda x: 1 / x, "sqrt": np.sqrt, "div": np.divide,
        "rsqrt": lambda x: 1 / np.sqrt(x), "sin": np.sin, "cos": np.cos, "tanh": np.tanh,
        "erf": error_function,
        "rint": np.rint, "trunc": np.trunc, "floor": np.floor, "ceil": np.ceil,
    }
)  # fmt: skip
"""Nearest results of functions that hardware only approximates, for replay."""

_EVALUATIONS: MappingProxyType[str, Callable[[Operation, Sequence[Words]], Any]] = MappingProxyType(
    {
        operations.FUSED: _fused,
        operations.RING: _ring,
        operations.NEGATE: _negate,
        operations.EXTEND: _extend,
        operations.DOT: _dot,
        operations.SCALED_DOT: _scaled_dot,
        operations.CONVERT: _convert,
        operations.COMPARE: _compare,
        operations.SELECT: _select,
        operations.EXTREMUM: _extremum,
        operations.BITWISE: _bitwise,
        operations.FUNCTION: _function,
        operations.QUOTIENT: _function,
        CONCATENATION: _concatenation,
    }
)
