"""Accuracy clauses: how far results may be from the real values of the formulas."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite

from ...spec.formats import IntegerFormat
from ..formula.definitions import Definition
from ..formula.parser import parse_error_formula
from ..formula.tree import Binary, Formula, Negative, Node, Number, Source, factors
from .toml_document import Table, shown

_POWER = re.compile(r"2\s*(?:\^|\*\*)\s*(-?\d{1,4})")
_LARGEST_POWER = 1024


@dataclass(frozen=True)
class ErrorFormula:
    """An error limit: ``factor`` times a sum of products of absolute values.

    Attributes
    ----------
    factor : Fraction
        The numbers that all of it is multiplied with.
    formula : Formula
        For the output's elements, what these are multiplied with.
    text : str
        As the contract has it.
    """

    factor: Fraction
    formula: Formula
    text: str


@dataclass(frozen=True)
class AccuracyClause:
    """The allowed errors of results.

    Attributes
    ----------
    max_relative : Fraction, optional
        As a part of the sum of the magnitudes of what a formula adds up.
    errors : mapping of str to ErrorFormula
        By output.
    where : str
        ``file:line`` of it.
    """

    max_relative: Fraction | None
    errors: Mapping[str, ErrorFormula]
    where: str


def read_accuracy(
    ensures: Table, formulas: Sequence[Formula], definitions: Mapping[str, Definition]
) -> AccuracyClause | None:
    """Read what ``[ensures]`` says of errors; None if nothing.

    Raises
    ------
    InputError
        If ``max_relative`` is no positive number, or ``error`` no formula for each output.
    """
    keys = [key for key in ("max_relative", "error") if key in ensures.values]
    if not keys:
        return None
    if "error" in keys and not formulas:
        raise ensures.error("error", "error bounds the formulas of [ensures], but there are none")
    errors = _errors(ensures, formulas, definitions) if "error" in keys else {}
    relative = _relative(ensures) if "max_relative" in keys else None
    return AccuracyClause(relative, errors, str(ensures.where(keys[0])))


def check_accuracy(
    clause: AccuracyClause, table: Table, formats: Mapping[str, object], outputs: Collection[str]
) -> None:
    """Refuse bounds of errors of integers, which have none; raises InputError."""
    for name in clause.errors:
        if isinstance(formats[name], IntegerFormat):
            raise table.error(
                "error", f"{name} is an integer array ({formats[name]}), which has no error bound"
            )
    if clause.max_relative is not None and all(isinstance(formats[name], IntegerFormat) for name in outputs):
        raise table.error("max_relative", "every output is an integer array, which has no error bound")


def _relative(ensures: Table) -> Fraction:
    value = ensures.values["max_relative"]
    allowed = 'a number above 0 such as 1e-3, or a power of two such as "2^-10"'
    error = ensures.error("max_relative", f"max_relative must be {allowed}, not {shown(value)}")
    if isinstance(value, str) and (power := _POWER.fullmatch(value.strip())):
        exponent = int(power.group(1))
        if abs(exponent) > _LARGEST_POWER:
            raise error
        return Fraction(2) ** exponent
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise error
    try:
        number = float(value)
    except (ValueError, OverflowError):
        raise error from None
    if not isfinite(number) or number <= 0:
        raise error
    return Fraction(number)


def _errors(
    ensures: Table, formulas: Sequence[Formula], definitions: Mapping[str, Definition]
) -> dict[str, ErrorFormula]:
    value = ensures.values["error"]
    texts = value if isinstance(value, list) else [value]
    if not all(isinstance(text, str) for text in texts) or len(texts) != len(formulas):
        many = f"a list of {len(formulas)} strings, one for each formula" if len(formulas) > 1 else "a string"
        raise ensures.error("error", f"error must be {many}, not {shown(value)}")
    found = {}
    for text, formula in zip(texts, formulas, strict=True):
        source = Source(text, "error", ensures.where("error"))
        bound = parse_error_formula(source, formula, definitions)
        factor, rest = _split(bound.body)
        if factor <= 0:
            raise source.error(bound.body.at, "an error bound must be greater than 0")
        whole = Formula(source, bound.target, rest, bound.condition)
        found[formula.output] = ErrorFormula(factor, whole, text)
    return found


def _split(node: Node) -> tuple[Fraction, Node]:
    """Return the numbers among the factors of a product, and the rest."""
    factor, rest = Fraction(1), []
    for each in factors(node):
        if isinstance(each, Negative):
            inner, within = _split(each.operand)
            factor *= -inner
            rest.append(within)
        elif isinstance(each, Number):
            factor *= each.value
        else:
            rest.append(each)
    if not rest:
        return factor, Number(node.at, Fraction(1), whole=False)
    return factor, _multiplied(rest)


def _multiplied(parts: Sequence[Node]) -> Node:
    result = parts[0]
    for part in parts[1:]:
        result = Binary(result.at, "*", result, part)
    return result
