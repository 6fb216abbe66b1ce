"""The document of a certificate: its parts as they are read, with references that can only go back.

``docs/certificates.md`` describes it. A term is a row of the number of its operation and its arguments: of a
constant the word, of an input the index, of a vector its elements, else earlier terms.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from ...spec.errors import InputError
from ...spec.formats import FORMATS, FloatFormat, Format, IntegerFormat

SCHEMA = 1
"""The version of the document."""

LEAVES = ("constant", "input", "undefined")
"""Operations whose arguments are no terms."""


class RefusedError(Exception):
    """Something in a certificate is wrong."""


MALFORMED = (LookupError, TypeError, ValueError, ArithmeticError, AssertionError, AttributeError, SyntaxError)
"""What reading parts of a certificate raises that are not as they have to be."""


class Operation(NamedTuple):
    """An operation: its name, the formats of its result and operands, and what else determines it."""

    name: str
    result: Format
    operands: tuple[Format, ...]
    attribute: Any


class Term(NamedTuple):
    """An operation and its arguments."""

    operation: Operation
    arguments: tuple[int, ...]


class Step(NamedTuple):
    """Instances of rows, each beginning with the expression that the one before it ends with.

    A row with a minus before its name is read from right to left. Variables are expressions, in which
    ``t12`` is the term 12.
    """

    before: int
    rows: tuple[str, ...]
    variables: Mapping[str, str]


class Equation(NamedTuple):
    """Elements of an output, each with the terms of both sides, that are equal as ``relation`` says."""

    output: str
    format: Format
    relation: str
    elements: Sequence[Sequence[int]]


class Section(NamedTuple):
    """What is shown at one set of sizes, in one case of scalars."""

    title: str
    terms: Sequence[Term]
    literals: Mapping[tuple[int, Format], tuple[str, int, int]]
    steps: Sequence[Step]
    equations: Sequence[Equation]
    supposed: Sequence[str]
    open: Sequence[str]


def bits(width: int) -> IntegerFormat:
    """Return the format of words that are integers modulo a power of two."""
    return IntegerFormat(f"b{width}", width, signed=False)


@cache
def format_of(name: str) -> Format:
    """Return a format by its name: ``f32``, or ``s``, ``u`` or ``b`` and any width."""
    if isinstance(found := FORMATS.get(name), FloatFormat):
        return found
    if name[:1] not in ("s", "u", "b") or not name[1:].isdecimal():
        raise InputError(f"{name!r} is not a format of a certificate")
    return IntegerFormat(name, int(name[1:]), signed=name[0] == "s")


def read(path: Path) -> dict[str, Any]:
    """Read a certificate, compressed if its name ends in ``.gz``.

    Raises
    ------
    InputError
        If the file is none.
    """
    try:
        with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as stream:
            document = json.load(stream)
    except (OSError, EOFError, ValueError, RecursionError) as error:
        raise InputError(
            f"can't be read as a certificate: {getattr(error, 'strerror', None) or error}", str(path)
        ) from error
    if not isinstance(document, dict) or document.get("certificate") != SCHEMA:
        raise InputError(f"is not a certificate of version {SCHEMA}", str(path))
    return document


def section(given: Mapping[str, Any]) -> Section:
    """Return a section of a document.

    Raises
    ------
    RefusedError
        If a part is missing, or refers to one that does not stand before it.
    """
    try:
        operations = [
            Operation(name, format_of(result), tuple(map(format_of, operands)), _fixed(attribute))
            for name, result, operands, attribute in given["operations"]
        ]
        terms = [Term(operations[row[0]], tuple(row[1:])) for row in given["terms"]]
        literals = {
            (word, format_of(name)): (irrational, numerator, denominator)
            for word, name, irrational, numerator, denominator in given["literals"]
        }
        steps = [Step(each["before"], tuple(each["rows"]), each["variables"]) for each in given["steps"]]
        equations = [
            Equation(each["output"], format_of(each["format"]), each["relation"], each["elements"])
            for each in given["equations"]
        ]
        for place, (operation, arguments) in enumerate(terms):
            wanted = range(1 << 64) if operation.name in LEAVES else range(place)
            if not all(type(argument) is int and argument in wanted for argument in arguments):
                raise ValueError(f"term {place} refers to a later term")
    except MALFORMED as error:
        raise RefusedError(f"the certificate is malformed: {error!r}") from error
    return Section(given["title"], terms, literals, steps, equations, given["supposed"], given["open"])


def _fixed(attribute: Any) -> Any:
    return tuple(map(_fixed, attribute)) if isinstance(attribute, list) else attribute
