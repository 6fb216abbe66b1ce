"""The sides of rules as terms, as a kernel would compute them, and the functions that compare them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from functools import partial
from importlib import import_module
from types import CodeType, FrameType, FunctionType
from typing import Any, NamedTuple

import numpy as np

from mmaproof.refinement.analysis.literal_constants import LN_OF_2, LOG2_OF_E, literal
from mmaproof.refinement.equality.clamped_conversions import ClampedConversions
from mmaproof.refinement.equality.equivalence import compare
from mmaproof.refinement.normal_forms.choice_products import ChoiceForms
from mmaproof.refinement.normal_forms.forms import NormalForms
from mmaproof.refinement.ptx.registers.values import Value
from mmaproof.refinement.ptx.scalar.term_words import TermWords
from mmaproof.refinement.rules.expression import evaluate, names
from mmaproof.refinement.rules.rule import Rule, Theory
from mmaproof.refinement.terms import bit_slices, operations
from mmaproof.refinement.terms.choices import chosen
from mmaproof.refinement.terms.evaluation import apply
from mmaproof.refinement.terms.interning import Ids
from mmaproof.refinement.terms.store import TermStore, bits
from mmaproof.refinement.terms.truth_tables import A, B
from mmaproof.spec.float_encoding import encode
from mmaproof.spec.formats import BF16, E5M2, F16, F32, F64, S8, S32, TF32, FloatFormat, Format
from mmaproof.spec.ptx.scalar.bits import shifted_right
from mmaproof.spec.rounding import Rounding

Functions = dict[str, Callable[..., Any]]


class Shape(NamedTuple):
    """In what the terms of a rule are.

    Attributes
    ----------
    real : FloatFormat
        Of real numbers.
    width, count : int
        Of words, and how many bits ``k`` are.
    """

    real: FloatFormat = F32
    width: int = 32
    count: int = 5


def shapes(rule: Rule) -> tuple[Shape, ...]:
    """Return the shapes in which a rule's terms can be."""
    match rule.theory:
        case Theory.BITS:
            return tuple(Shape(F32, width, count) for width in (16, 32) for count in (1, 5, 9))
        case Theory.INTEGERS | Theory.FLOAT:
            return (Shape(),)
    return Shape(F32), Shape(F64)


FLOATS: Mapping[str, FloatFormat] = {"f16": F16, "bf16": BF16, "f32": F32, "e5m2": E5M2}
LIMIT = 1000
"""Bounds of integers whose sums and products are not to overflow."""


_USUAL = Shape()


class RuleTerms:
    """Builds the terms of rules in a store of its own.

    Parameters
    ----------
    rule : Rule
        What is built.
    guarded : bool
        Whether its variables are such that the engine sees that they meet the guard; else any inputs.
    shape : Shape
        In what they are.
    maker : int
        Which of several ways to be seen so.
    """

    def __init__(self, rule: Rule, shape: Shape = _USUAL, *, guarded: bool = True, maker: int = 0) -> None:
        self.store = TermStore()
        self._real, self._width, self._count = shape
        self.rule, self._guarded, self._maker = rule, guarded, maker
        self._inputs = 0
        self.functions, self.format = self._algebra()
        variables = dict.fromkeys(
            name for text in (rule.left, rule.right, rule.condition or "0") for name in names(text)
        )
        self.variables = {name: self._variable(name) for name in variables}

    def side(self, text: str) -> Ids:
        """Return the term that an expression is."""
        return self._term(evaluate(text, self.functions, self.variables))

    def equal(self, left: str, right: str) -> bool:
        """Tell whether the engine shows two expressions equal."""
        one, other = self.side(left), self.side(right)
        if (one == other).all():
            return True
        if (self.store.widths(one) != self.store.widths(other)).any():
            return False
        fmt = self._read(one)
        if self.rule.place.startswith("equality.limited_numbers:"):  # read where integers are made of floats
            whole = operations.convert(S8, self._real, Rounding.TOWARD_ZERO)
            one, other = (
                ClampedConversions(self.store).values(self._apply(whole, side)) for side in (one, other)
            )
            return bool((one == other).all())
        forms = NormalForms(self.store)
        if self.rule.theory is Theory.FLOAT or self.rule.place.startswith("equality."):
            return bool(compare(forms, one, other, fmt).equal.all())
        if self.rule.place.startswith("normal_forms.choice_products:"):
            return not len(ChoiceForms(forms).unequal(one, other, fmt))
        kinds: tuple[Callable[[], NormalForms], ...] = (
            lambda: forms, lambda: forms.outer, lambda: forms.thorough, lambda: forms.masked,
        )  # fmt: skip
        if self.rule.holds:
            kinds = kinds[:3]
        return any(not len(kind().unequal(one, other, fmt)) for kind in kinds)

    # -- variables
    def _variable(self, name: str) -> Any:
        known = {
            "width": self._width, "k": self._count,
            "log2_of_e": self.store.constants([literal(LOG2_OF_E, self._real)], self._real.bits),
            "ln_of_2": self.store.constants([literal(LN_OF_2, self._real)], self._real.bits),
        }  # fmt: skip
        if name in known:
            return known[name]
        sort = self.rule.sorts.get(name, "")
        if sort == "bit":
            return self._input(bits(1))
        if not self._guarded:
            if sort.startswith("constant"):
                return self.functions["number"](int(self.rule.fails[name]))
            sort = sort if sort in FLOATS else ""
        return self._sorts()[sort.partition(" ")[0] if sort.startswith("constant") else sort](sort)

    def _sorts(self) -> Mapping[str, Callable[[str], Any]]:
        """Return how variables are made that the engine knows something of."""
        f, store = self.functions, self.store
        w = self._width
        real = partial(self._input, self._real)

        def field(low: int, width: int, below: int = 0) -> Ids:
            """Return bits of an input between constants."""
            word = self._input(bits(width))
            parts = [word] if not low else [store.constants([below], low), word]
            missing = w - low - width
            parts += [store.constants([0], missing)] if missing else []
            return bit_slices.concatenate(store, parts)

        def magnitude(x: Ids) -> Any:
            return f["max"](x, f["negated"](x))

        def product() -> Any:
            return f["*"](*(bit_slices.sign_extend(store, self._input(S8), 64) for _ in "xy"))

        def not_negative() -> Ids:
            found = self._input(operations.signed(w))
            store.bounded[int(found[0])] = 0, 2 ** (w - 1) - 1
            return found

        def computed(fmt: Any) -> Ids:
            return self._apply(operations.fused(fmt, ((fmt, fmt),)), *(self._input(fmt) for _ in "xy"))

        nonnegative: tuple[Callable[[], Any], ...] = (
            lambda: f["ex2"](real()), lambda: f["sqrt"](real()),
            lambda: magnitude(real()),
        )  # fmt: skip
        return {
            "": lambda _: self._input(self.format if self.rule.theory is not Theory.BITS else bits(w)),
            "constant": lambda sort: f["number"](int(sort.split()[1])),
            "nonnegative": lambda _: nonnegative[self._maker % len(nonnegative)](),
            "positive": lambda _: f["+"](f["number"](1), f["ex2"](real())),
            "root": lambda _: nonnegative[self._maker % 2](),
            "computed": lambda _: computed(self.format),
            "u24": lambda _: bit_slices.zero_extend(store, self._input(operations.unsigned(24)), w),
            "s24": lambda _: bit_slices.sign_extend(store, self._input(operations.signed(24)), w),
            "s8": lambda _: bit_slices.sign_extend(store, self._input(S8), w),
            "short": lambda _: bit_slices.sign_extend(store, self._input(S8), w),
            "unsigned": lambda _: not_negative(),
            "product": lambda _: product(),
            "even bits": lambda _: field(0, w // 2),
            "odd bits": lambda _: field(w // 2, w // 2),
            "below half": lambda _: bit_slices.zero_extend(store, self._input(bits(w - 1)), w),
            "above half": lambda _: bit_slices.concatenate(
                store, [self._input(bits(w - 1)), store.constants([1], 1)]
            ),
            **{name: lambda sort: self._input(FLOATS[sort]) for name in FLOATS},
        }  # fmt: skip

    def _input(self, fmt: Format) -> Ids:
        self._inputs += 1
        found = self.store.inputs(f"v{self._inputs}", fmt, np.array([0]))
        if self.rule.theory is Theory.INTEGERS and fmt == S32:
            self.store.bounded[int(found[0])] = (-LIMIT, LIMIT)
        return found

    def _term(self, value: Any) -> Ids:
        """Return a term, of a literal its encoding."""
        if not isinstance(value, int | Fraction):
            return value
        theory = self.rule.theory
        if theory in (Theory.INTEGERS, Theory.BITS):
            width = self._width if theory is Theory.BITS else 32
            return self.store.constants([int(value) & ((1 << width) - 1)], width)
        number = np.array([float(value)])
        return self.store.constants(encode(number, self._real, Rounding.NEAREST_EVEN), self._real.bits)

    def _read(self, term: Ids) -> Format:
        """Return the format in which a side is compared."""
        width = int(self.store.widths(term)[0])
        if self.rule.theory is Theory.BITS:
            return operations.signed(width) if self.rule.left.startswith("signed(") else bits(width)
        if self.rule.theory is Theory.FLOAT:
            results = {"_bf16(": BF16, "_tf32(": F32, "as_f32": F32}
            return next((fmt for name, fmt in results.items() if name in self.rule.left), self.format)
        return self.format

    # -- operations
    def _algebra(self) -> tuple[Functions, Format]:
        match self.rule.theory:
            case Theory.INTEGERS:
                return self._integers(), S32
            case Theory.BITS:
                return self._words(), bits(self._width)
            case Theory.FLOAT:
                fmt = next((FLOATS[sort] for sort in self.rule.sorts.values() if sort in FLOATS), F16)
                return self._floats(fmt), fmt
        return self._reals(), self._real

    def _apply(self, operation: operations.Operation, *given: Any) -> Ids:
        return apply(self.store, operation, *map(self._term, given))

    def _applied(self, operation: operations.Operation) -> Callable[..., Any]:
        return partial(self._apply, operation)

    def _ordered(self, fmt: Format) -> Functions:
        """Return comparisons, choices and extrema of numbers of a format."""

        def bitwise(table: int) -> Callable[..., Ids]:
            return lambda p, q: bit_slices.bitwise(self.store, table, p, q, p)

        return {
            **{
                sign: self._applied(operations.compare_as(fmt, sign))
                for sign in ("<", "<=", ">", ">=", "==", "!=")
            },
            "and": bitwise(A & B), "or": bitwise(A | B), "either": bitwise(A ^ B),
            "not": lambda p: bit_slices.bitwise(self.store, 0xFF ^ A, p, p, p),
            "where": lambda p, x, y: chosen(self.store, p, self._term(x), self._term(y)),
            "max": self._applied(operations.extremum(fmt, "max")),
            "min": self._applied(operations.extremum(fmt, "min")),
        }  # fmt: skip

    def _reals(self) -> Functions:
        real = self._real

        def literal_or(compute: Callable[..., Any], operation: Callable[..., Any]) -> Callable[..., Any]:
            def of(*given: Any) -> Any:
                plain = all(isinstance(each, Fraction) for each in given)
                return compute(*given) if plain else operation(*given)

            return of

        negate = self._applied(operations.negate(real))
        add = self._applied(operations.fused(real, (), (real, real)))
        unary = ("ex2", "lg2", "rcp", "sqrt", "rsqrt", "tanh", "erf", "sin", "cos", *operations.INTEGRAL)
        return {
            **self._ordered(real),
            "number": Fraction,
            "negated": literal_or(lambda x: -x, negate),
            "+": literal_or(lambda x, y: x + y, add),
            "-": literal_or(lambda x, y: x - y, lambda x, y: add(x, negate(y))),
            "*": literal_or(lambda x, y: x * y, self._applied(operations.fused(real, ((real, real),)))),
            "/": lambda x, y: x / y,
            "quotient": self._applied(operations.function("div", real, real, real)),
            **{name: self._applied(operations.function(name, real, real)) for name in unary},
        }  # fmt: skip

    def _integers(self) -> Functions:
        add = self._applied(operations.ring(32, 0, 2))
        return {
            **self._ordered(S32),
            "number": int,
            "negated": lambda x: -x if isinstance(x, int) else self._apply(operations.negate(S32), x),
            "+": add,
            "-": lambda x, y: add(x, self._apply(operations.negate(S32), y)),
            "*": self._applied(operations.ring(32, 1, 0)),
            "saturated": lambda x: bit_slices.sign_extend(
                self.store, self._apply(operations.convert(S8, S32, None, saturate=True), x), 32
            ),
        }  # fmt: skip

    def _words(self) -> Functions:
        store = self.store

        def word(value: Any, other: Any) -> Ids:
            if not isinstance(value, int):
                return value
            width = int(store.widths(other)[0])
            return store.constants([value & ((1 << width) - 1)], width)

        def modular(compute: Callable[[Any, Any], Any], products: int) -> Callable[..., Any]:
            def of(x: Any, y: Any) -> Any:
                if isinstance(x, int) and isinstance(y, int):
                    return compute(x, y)
                x, y = word(x, y), word(y, x)
                width = int(store.widths(x)[0])
                return apply(store, operations.ring(width, products, 0 if products else 2), x, y)

            return of

        def negative(x: Any) -> Any:
            if isinstance(x, int):
                return -x
            return apply(store, operations.negate(bits(int(store.widths(x)[0]))), x)

        def combined(table: int) -> Callable[..., Any]:
            def of(x: Any, y: Any) -> Any:
                x, y = word(x, y), word(y, x)
                return bit_slices.bitwise(store, table, x, y, x)

            return of

        def low(x: Any, count: int) -> Any:
            if isinstance(x, int):
                return store.constants([x & ((1 << count) - 1)], count)
            return bit_slices.extract(store, x, 0, count)

        def high(x: Ids, count: int) -> Ids:
            return bit_slices.extract(store, x, count, int(store.widths(x)[0]) - count)

        def difference(x: Any, y: Any) -> Any:
            if isinstance(x, int) and isinstance(y, int):
                return x - y
            if isinstance(x, int) and not x:
                return negative(y)
            return add(x, negative(word(y, x)))

        def shifted(x: Ids, count: int, *, signed: bool) -> Ids:
            """Return what a PTX instruction shifts right."""
            width = int(store.widths(x)[0])
            alg = TermWords(store, len(x), "shr")
            plan = partial(shifted_right, width, signed=signed)
            word = Value(width, np.zeros(len(x), dtype=np.uint64), x)
            return alg.shift(plan, width, word, alg.constant(count, 32)).as_terms(store)

        add = modular(lambda x, y: x + y, 0)
        return {
            **self._ordered(bits(self._width)),
            "where": lambda p, x, y: chosen(store, p, x, y),
            "number": int,
            "negated": negative, "+": add, "-": difference, "*": modular(lambda x, y: x * y, 1), "**": pow,
            "&": combined(A & B), "|": combined(A | B), "^": combined(A ^ B),
            "<<": lambda x, count: bit_slices.shift_left(store, x, count),
            ">>": lambda x, count: shifted(x, count, signed=False),
            "arithmetic_shift": lambda x, count: shifted(x, count, signed=True),
            "low": low, "high": high,
            "zeros": lambda count: store.constants([0], count),
            "concatenated": lambda x, y: bit_slices.concatenate(store, [y, x]),
            "sign_extended": lambda x, count: apply(
                store, operations.extend(int(store.widths(x)[0]) + count, int(store.widths(x)[0])), x
            ),
            "signed": lambda x: apply(store, operations.extend(64, int(store.widths(x)[0])), x),
            "unsigned": lambda x: bit_slices.zero_extend(store, x, 64),
        }  # fmt: skip

    def _floats(self, fmt: FloatFormat) -> Functions:
        store, nearest = self.store, Rounding.NEAREST_EVEN

        def masked(table: int, mask: int) -> Callable[[Ids], Ids]:
            def of(x: Ids) -> Ids:
                return bit_slices.bitwise(store, table, x, store.constants([mask], fmt.bits), x)

            return of

        def converted(result: FloatFormat, source: FloatFormat, rounding: Rounding = nearest) -> Any:
            return self._applied(operations.fused(result, (), (source,), rounding))

        def plus(x: Ids, number: int) -> Ids:
            return self._apply(operations.ring(32, 0, 2), x, store.constants([number], 32))

        def carried(x: Ids, low: int) -> Ids:
            even = bit_slices.zero_extend(store, bit_slices.extract(store, x, low, 1), 32)
            return plus(self._apply(operations.ring(32, 0, 2), x, even), (1 << low - 1) - 1)

        def drawn(x: Ids, low: int) -> Ids:
            return bit_slices.zero_extend(store, bit_slices.extract(store, x, 0, low), 32)

        def added(x: Ids, bits: Ids, low: int) -> Ids:
            return self._apply(operations.ring(32, 0, 2), x, drawn(bits, low))

        def chosen(condition: Ids, one: Ids, other: Ids) -> Ids:
            return self._apply(operations.select(int(store.widths(one)[0])), condition, one, other)

        def neighbour(result: FloatFormat, low: int) -> Callable[[Ids, Ids], Ids]:
            toward = Rounding.DOWNWARD, Rounding.UPWARD, Rounding.TOWARD_ZERO
            down, up, to_zero = (converted(result, F32, each) for each in toward)

            def of(x: Ids, bits: Ids) -> Ids:
                carry = bit_slices.extract(store, added(drawn(x, low), bits, low), low, 1)
                away = chosen(bit_slices.extract(store, x, 31, 1), down(x), up(x))
                return chosen(carry, away, to_zero(x))

            return of

        infinity = 0 if fmt.infinity is None else fmt.infinity
        nearest_tf32, away = converted(TF32, F32), self._applied(operations.convert(TF32, F32, None))
        cut = converted(TF32, F32, Rounding.TOWARD_ZERO)
        every = (1 << fmt.bits) - 1
        return {
            **self._ordered(fmt),
            "max": self._applied(operations.extremum(fmt, "max", nan="nan()" not in self.rule.left)),
            "number": lambda value: store.constants([int(np.float16(value).view(np.uint16))], 16),
            "negated": self._applied(operations.negate(fmt)),
            "is_number": lambda x: self._apply(operations.compare(fmt, "num"), x, x),
            "infinity": lambda: store.constants([infinity], fmt.bits),
            "nan": lambda: store.constants([infinity + 1], fmt.bits),
            "sign_cleared": masked(A & B, every ^ fmt.sign_mask),
            "sign_set": masked(A | B, fmt.sign_mask),
            "sign_flipped": masked(A ^ B, fmt.sign_mask),
            "as_bf16": lambda x: bit_slices.extract(store, x, 16, 16),
            "toward_zero_bf16": converted(BF16, F32, Rounding.TOWARD_ZERO),
            "as_tf32": masked(A & B, every ^ 0x1FFF),
            "toward_zero_tf32": lambda x: self._apply(operations.fused(F32, (), (TF32,)), cut(x)),
            "carried_bf16": lambda x: bit_slices.extract(store, carried(x, 16), 16, 16),
            "carried_tf32": lambda x: masked(A & B, every ^ 0x1FFF)(carried(x, 13)),
            "half_added_bf16": lambda x: bit_slices.extract(store, plus(x, 0x8000), 16, 16),
            "half_added_tf32": lambda x: masked(A & B, every ^ 0x1FFF)(plus(x, 0x1000)),
            "added_bf16": lambda x, r: bit_slices.extract(store, added(x, r, 16), 16, 16),
            "added_tf32": lambda x, r: masked(A & B, every ^ 0x1FFF)(added(x, r, 13)),
            "neighbour_bf16": neighbour(BF16, 16),
            "neighbour_tf32": lambda x, r: self._apply(
                operations.fused(F32, (), (TF32,)), neighbour(TF32, 13)(x, r)
            ),
            "nearest_bf16": converted(BF16, F32),
            "nearest_tf32": lambda x: self._apply(operations.fused(F32, (), (TF32,)), nearest_tf32(x)),
            "nearest_away_bf16": self._applied(operations.convert(BF16, F32, None)),
            "nearest_away_tf32": lambda x: self._apply(operations.fused(F32, (), (TF32,)), away(x)),
            "as_f32": lambda x: bit_slices.concatenate(store, [store.constants([0], 16), x]),
            "widened": converted(F32, fmt), "narrowed": converted(fmt, F32),
            "widened_e5m2": converted(F16, E5M2), "to_e5m2": converted(E5M2, F16),
        }  # fmt: skip


def code_of(place: str) -> CodeType:
    """Return the code of a function of the engine."""
    module, _, path = place.partition(":")
    found: Any = import_module(f"mmaproof.refinement.{module}")
    for name in path.split("."):
        found = getattr(found, name)
    found = getattr(found, "__wrapped__", found)
    assert isinstance(found, FunctionType)
    return found.__code__


@contextmanager
def called() -> Iterator[set[CodeType]]:
    """Collect the code of the functions that are called within."""
    found: set[CodeType] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            found.add(frame.f_code)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield found
    finally:
        sys.setprofile(before)
