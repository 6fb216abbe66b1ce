"""Terms of a certificate at a random point: as real numbers, as integers, as words modulo a power of two.

Roundings to more than 8 bits are the identity. A word is an integer that it is modulo a power of two: sums
and products have the value that they have without. It is read as a signed or an unsigned number only where
bounds show that this is the same one. Everything else is a function of which nothing is known.
"""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from math import inf

from ...spec.formats import F32, TF32, FloatFormat, Format, IntegerFormat
from ..rules.relations import SIGNS
from .document import LEAVES, Operation, Section, bits
from .residues import UNARY, Point, Residue, negated, number, plus, times, total

NARROW = 8
"""Bits of the widest format a conversion to which is a function of its own."""

_SIGN_OF = {name: sign for sign, name in SIGNS.items()}


class Evaluation:
    """Residues of terms, in the order of the document.

    Parameters
    ----------
    section : Section
        The terms.
    point : Point
        Where they are evaluated.

    Attributes
    ----------
    rounded : list of bool
        Of each term, whether floating-point arithmetic is part of it.
    """

    def __init__(self, section: Section, point: Point) -> None:
        self._terms, self._literals, self._point = section.terms, section.literals, point
        self._known: dict[tuple[int, Format], Residue] = {}
        self._rows: dict[tuple[int, Format], list[Residue]] = {}
        self.rounded: list[bool] = []

    def compute(self, term: int) -> None:
        """Evaluate the next term."""
        operation, arguments = self._terms[term]
        floats = any(isinstance(operand, FloatFormat) for operand in (operation.result, *operation.operands))
        is_leaf = operation.name in LEAVES
        self.rounded.append(not is_leaf and (floats or any(self.rounded[argument] for argument in arguments)))
        if operation.name not in ("constant", "vector"):
            self.read(term, operation.result)

    def read(self, term: int, fmt: Format) -> Residue:
        """Return a term read in a format."""
        found = self._known.get((term, fmt))
        if found is None:
            found = self._read(term, fmt)
            if found is None:
                found = _of_format(self._point.applied("read", term, fmt.name), fmt)
            self._known[term, fmt] = found
        return found

    def _read(self, term: int, fmt: Format) -> Residue | None:
        operation, arguments = self._terms[term]
        own = operation.result
        if operation.name == "constant":
            return self._constant(arguments[0], fmt)
        if isinstance(fmt, FloatFormat):
            if operation.name == "select" and fmt.bits == own.bits:
                return self._point.chosen(*map(self.read, arguments, (operation.operands[0], fmt, fmt)))
            if own != fmt:
                is_tf32 = own == F32 or operation.name in ("fused", "convert")
                return self.read(term, own) if is_tf32 and {own, fmt} == {F32, TF32} else None
        elif fmt != bits(own.bits):
            assert isinstance(fmt, IntegerFormat)
            word = self.read(term, bits(own.bits))
            fits = fmt == bits(fmt.bits) or (fmt.minimum <= word.least and word.most <= fmt.maximum)
            return word if fits and fmt.bits <= own.bits and isinstance(own, IntegerFormat) else None
        elif isinstance(own, FloatFormat):
            return None  # the bits of a rounded number
        if operation.name in LEAVES:
            return _of_format(self._point.applied("term", term), own)
        return self._value(term) or _of_format(self._unknown(term), own)

    def arguments(self, term: int) -> list[Residue]:
        """Return the arguments of a term, each read as the operation does; of vectors all elements."""
        operation, arguments = self._terms[term]
        formats = operation.operands or tuple(
            self._terms[argument].operation.result for argument in arguments
        )
        return [
            residue for one, fmt in zip(arguments, formats, strict=False) for residue in self._row(one, fmt)
        ]

    def _row(self, term: int, fmt: Format) -> list[Residue]:
        """Return a term, or the elements of a vector, read in a format; fields of a word as words."""
        if self._terms[term].operation.name != "vector":
            return [self.read(term, fmt)]
        if (term, fmt) not in self._rows:
            self._rows[term, fmt] = [
                self.read(argument, fmt if fmt.bits else bits(self._terms[argument].operation.result.bits))
                for argument in self._terms[term].arguments
            ]
        return self._rows[term, fmt]

    def _unknown(self, term: int) -> Residue:
        """Return a function of arguments of which nothing is known but its name."""
        operation, given = self._terms[term].operation, self.arguments(term)
        if operation.name == "fused":
            given = [_sum_of_products(operation, given)]
        is_function = operation.name in ("function", "quotient") and _is_real(operation)
        how = _stem(operation) if is_function else repr(operation[1:])
        return self._point.function(f"{operation.name} {how}", *given)

    def _value(self, term: int) -> Residue | None:
        """Return what an operation gives, if more is known of it than its name."""
        operation = self._terms[term].operation
        functions, attribute = self._point.functions, operation.attribute
        match operation.name:
            case "fused" | "ring" if self.rounds(term):
                return _sum_of_products(operation, self.arguments(term))
            case "negate":
                return negated(*self.arguments(term))
            case "extend" | "convert" if self.rounds(term):
                return self.arguments(term)[0]
            case "dot" | "scaled_dot" if not attribute[2]:
                return self._dot(term)
            case "select":
                return self._point.chosen(*self.arguments(term))
            case "extremum":
                return functions[attribute[0]](*self.arguments(term))
            case "compare":
                return self._comparison(operation, *self.arguments(term)).within(0, 1)
            case "function" | "quotient" if _is_real(operation):
                stem, given = _stem(operation), self.arguments(term)
                if stem in UNARY or stem == "div":
                    return functions["/" if stem == "div" else stem](*given)
        return None

    def rounds(self, term: int) -> bool:
        """Tell whether an operation is the exact one, but for a rounding."""
        operation, arguments = self._terms[term]
        result = operation.result
        if isinstance(result, IntegerFormat):
            if operation.name == "convert":
                given = self.read(arguments[0], operation.operands[0])
                is_whole = isinstance(operation.operands[0], IntegerFormat)
                return is_whole and result.minimum <= given.least and given.most <= result.maximum
            return True
        assert isinstance(result, FloatFormat)
        if operation.name == "convert" and operation.attribute[1]:
            (source,) = operation.operands
            if not isinstance(source, FloatFormat) or source.maximum_exponent > result.maximum_exponent:
                return False
        # it leaves a third of the digits behind the point: sums with it are rounded to whole numbers
        great = 1 << max(0, result.precision - 1 - result.precision // 3)
        numbers = [
            fmt.exact(self._terms[each].arguments[0])
            for each, fmt in zip(arguments, operation.operands, strict=True)
            if self._terms[each].operation.name == "constant" and isinstance(fmt, FloatFormat)
        ]
        is_great = operation.name == "fused" and any(each and abs(each) >= great for each in numbers)
        return result.bits > NARROW and not is_great

    def _constant(self, word: int, fmt: Format) -> Residue:
        if isinstance(fmt, IntegerFormat):  # modulo a power of two, the number with a sign
            value, half = word % (1 << fmt.bits), 1 << (fmt.bits - 1)
            negative = value >= half > 1 and (fmt.signed or fmt == bits(fmt.bits))
            return number(value - 2 * half if negative else value)
        assert isinstance(fmt, FloatFormat)
        exact = fmt.exact(word)
        if exact is not None:
            name, *ratio = self._literals.get((word, fmt), ("one", exact.numerator, exact.denominator))
            return times(number(Fraction(*ratio)), self._point.constants.get(name, number(1)))
        if word >> fmt.padding_bits & ~(fmt.sign_mask >> fmt.padding_bits) != fmt.infinity:
            return self._point.applied("no number", word, fmt.name)
        return self._point.functions["-" if word & fmt.sign_mask else "+"](number(0), self._point.infinity)

    def _dot(self, term: int) -> Residue:
        """Return an addend, as a word if it is an integer, and the products of two vectors."""
        operation, (first, second, addend) = self._terms[term]
        formats = operation.operands
        left, right = self._row(first, formats[0]), self._row(second, formats[1])
        if operation.name == "scaled_dot":
            addend, *scales = self._terms[addend].arguments
            left, right = map(_scaled, (left, right), (self._row(scale, formats[3]) for scale in scales))
        real = isinstance(formats[2], FloatFormat)
        return plus(
            total(left, right), self.read(addend, formats[2] if real else bits(operation.result.bits))
        )

    def _comparison(self, operation: Operation, left: Residue, right: Residue) -> Residue:
        """Return a comparison; of words modulo a power of two it is a function of which nothing is known."""
        fmt, sign = operation.operands[0], str(operation.attribute)
        floats = isinstance(fmt, FloatFormat)
        if floats and sign == "num" and left == right:
            return self._point.functions["is_number"](left)
        sign = _SIGN_OF.get(sign.removesuffix("u") if floats else sign, "")
        if sign and fmt != bits(fmt.bits):
            return self._point.functions[sign](left, right)
        return self._point.function(f"compare {operation.attribute} {fmt}", left, right)


def _sum_of_products(operation: Operation, given: list[Residue]) -> Residue:
    factors = 2 * operation.attribute[0]
    return reduce(plus, given[factors:], total(given[:factors:2], given[1:factors:2]))


def _scaled(factors: list[Residue], scales: list[Residue]) -> list[Residue]:
    """Return factors of which as many neighbours share a scale."""
    return [times(each, scales[place * len(scales) // len(factors)]) for place, each in enumerate(factors)]


def _is_real(operation: Operation) -> bool:
    return all(isinstance(operand, FloatFormat) for operand in (operation.result, *operation.operands))


def _stem(operation: Operation) -> str:
    return str(operation.attribute).partition(".")[0]


def _of_format(found: Residue, fmt: Format) -> Residue:
    if isinstance(fmt, IntegerFormat):
        return found.within(fmt.minimum, fmt.maximum)
    return found.within(0, inf) if isinstance(fmt, FloatFormat) and not fmt.signed else found
