"""Quotients, roots, and functions that hardware approximates.

A correctly rounded quotient or root of data is an uninterpreted function: of its plain name to nearest, else
of the name with its modifiers. So is what hardware only approximates, of numbers too but special ones. A
quotient by a known number is a product over the reals, and by a power of two to the bit.

Source: PTX ISA 9.1 sections 9.7.3 to 9.7.5.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from ....spec.formats import F16, FloatFormat
from ...terms import operations
from ...terms.evaluation import apply, evaluate
from ...terms.interning import Ids
from ...terms.store import Operation, TermStore
from ..registers.value_operations import evaluated, lanewise, opaque, with_open_nans
from ..registers.values import KNOWN, Value
from ..state.execution import Decoders
from ..state.handlers import Modifiers, pointwise
from .floating import HALVES, ROUNDINGS, SINGLE_AND_DOUBLE, TYPES, Plan


def quotient(modifiers: Modifiers, arity: int, approximations: Sequence[str]) -> Plan:
    """Decode ``div``, ``rcp`` and ``sqrt``: rounded, or one of some approximations."""
    opcode = modifiers.instruction.opcode
    how = modifiers.one_of((*ROUNDINGS, *approximations))
    flush = modifiers.flag("ftz")
    name = modifiers.type(SINGLE_AND_DOUBLE)
    if name == "f64" and how not in ROUNDINGS and (opcode, how, flush) != ("rcp", "approx", True):
        raise modifiers.unsupported(f".{how} is not supported for .f64")
    if name == "f64" and flush and how in ROUNDINGS:
        raise modifiers.unsupported(".ftz is not for .f64")
    fmt = TYPES[name].format
    suffixes = [how, *(["ftz"] if flush else [])]
    if how not in ROUNDINGS:
        return _approximated(opcode, suffixes, fmt, arity)
    operation = operations.function(
        ".".join([opcode, *(suffixes if suffixes != ["rn"] else [])]), fmt, *(fmt,) * arity
    )

    def rule(store: TermStore, values: Sequence[Value]) -> Value:
        result = evaluated(store, operation, values, partial(apply, store, operation))
        if opcode != "div":
            return result
        return _by_constants(store, str(operation.attribute), fmt, values, result)

    return (fmt.bits,) * arity, rule


def _by_constants(
    store: TermStore, name: str, fmt: FloatFormat, values: Sequence[Value], result: Value
) -> Value:
    """Tell of quotients that are terms what they are divided by, where that is known and not extreme."""
    dividend, divisor = values
    if result.terms is None:
        return result
    known = result.terms != KNOWN
    if divisor.terms is not None:
        known &= divisor.terms == KNOWN
    exponents = (divisor.numbers >> np.uint64(fmt.fraction_bits)) & np.uint64(2 * fmt.bias + 1)
    fractions = divisor.numbers & np.uint64((1 << fmt.fraction_bits) - 1)
    chosen = known & (exponents > 0) & (exponents < 2 * fmt.bias - 1)
    flush = "ftz" in name.split(".")
    zero = (exponents == 0) & ((fractions == 0) | flush)
    exact = known & zero  # a quotient by 0 is a product with an infinity
    if name == "div":  # and one by a power of two is exact
        exact |= chosen & (fractions == 0)
    reciprocal = operations.function("rcp.ftz" if flush else "rcp", fmt, fmt)
    inverse = Value(fmt.bits, evaluate(reciprocal, [divisor.numbers]))
    product = operations.fused(fmt, ((fmt, fmt),), flush=flush)
    result = _replaced(store, result, exact, partial(apply, store, product), [dividend, inverse])
    chosen &= ~exact
    by_constant = partial(store.apply, operations.quotient(name, fmt))
    return _replaced(store, result, chosen, by_constant, values)


def _replaced(
    store: TermStore,
    result: Value,
    where: NDArray[np.bool_],
    make: Callable[..., Ids],
    values: Sequence[Value],
) -> Value:
    members = np.flatnonzero(where)
    if not len(members):
        return result
    terms = make(*(value.at(members).as_terms(store) for value in values))
    return result.updated(members, Value(result.width, np.zeros(len(members), dtype=np.uint64), terms))


def _approximated(opcode: str, suffixes: Sequence[str], fmt: FloatFormat, arity: int = 1) -> Plan:
    operation = operations.function(".".join([opcode, *suffixes]), fmt, *(fmt,) * arity)

    def rule(store: TermStore, values: Sequence[Value]) -> Value:
        result = opaque(store, operation, *values)
        if opcode == "div":
            return _by_constants(store, str(operation.attribute), fmt, values, result)
        return _at_documented(store, operation, fmt, values[0], result)

    return (fmt.bits,) * arity, rule


def _at_documented(
    store: TermStore, operation: Operation, fmt: FloatFormat, argument: Value, result: Value
) -> Value:
    """Put in what the manual's tables of special values say: at zeros, infinities and NaNs, and NaN results.

    The manual says so of every approximation. An infinity or a NaN is no number over the reals; as an unknown
    term of the function it would be taken for one.
    """
    assert result.terms is not None
    known = np.ones(len(argument), dtype=bool) if argument.terms is None else argument.terms == KNOWN
    if not known.any():
        return result
    words = evaluate(operation, [argument.numbers])
    fields = np.uint64((1 << fmt.magnitude_bits) - 1)
    magnitudes = argument.numbers & fields
    least = 1 << fmt.fraction_bits if "ftz" in str(operation.attribute).split(".") else 1
    special = (magnitudes < np.uint64(least)) | (magnitudes > np.uint64(fmt.largest))
    documented = known & (special | ((words & fields) > np.uint64(fmt.infinity or fmt.largest)))
    terms = np.where(documented, KNOWN, result.terms).astype(np.int32)
    numbers = np.where(documented, words, result.numbers)
    found = Value(result.width, numbers, None if documented.all() else terms)
    return with_open_nans(store, found, fmt)


_APPROXIMATIONS: MappingProxyType[str, tuple[str, ...]] = MappingProxyType(
    {
        "rsqrt": ("f32", "f64"),
        "sin": ("f32",),
        "cos": ("f32",),
        "lg2": ("f32",),
        "ex2": ("f32", *HALVES),
        "tanh": ("f32", *HALVES),
    }
)
"""Types of the functions that hardware approximates."""


def _approximation(modifiers: Modifiers) -> Plan:
    opcode = modifiers.instruction.opcode
    modifiers.one_of(("approx",))
    kind = TYPES[modifiers.type(_APPROXIMATIONS[opcode])]
    flush = opcode != "tanh" and kind.format != F16 and modifiers.flag("ftz")
    suffixes = ["approx", *(["ftz"] if flush else [])]
    widths, rule = _approximated(opcode, suffixes, kind.format)
    return tuple(width * kind.lanes for width in widths), lanewise(kind.lanes, rule)


FLOATING_QUOTIENTS: Decoders = MappingProxyType(
    {"div": pointwise(partial(quotient, arity=2, approximations=("approx", "full")))}
)
"""Decodes ``div`` of floats."""

HANDLERS: Decoders = MappingProxyType(
    {
        "rcp": pointwise(partial(quotient, arity=1, approximations=("approx",))),
        "sqrt": pointwise(partial(quotient, arity=1, approximations=("approx",))),
        **{opcode: pointwise(_approximation) for opcode in _APPROXIMATIONS},
    }
)
"""Decoders of this module's instructions."""
